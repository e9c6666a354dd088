"""Figures of the parts on energy and on the standard form."""

import sympy
from sympy import Piecewise, Rational, Symbol, acos, atan2, cos, pi, sin, sqrt, symbols

from lagrangebook import lagrange
from lagrangebook.draw import BLUE, GOLD, GREEN, GREY, RED, VIOLET
from lagrangebook.kinematics import kinetic_energy, potential_energy
from lagrangebook.lagrange import coordinates, gravity_terms, kinetic_matrix, lagrange_equations
from lagrangebook.mass_matrix import coriolis, crba
from lagrangebook.mechanisms import pendulum, rp_arm as rp_model, two_link

from .form import (TIME, Check, Drag, Figure, Motion, Panel, Parameter, Readout, Switch, X, Y, bar, curve,
                   dot, ground, line, moved, path, text)

HALF = Rational(1, 2)
THETA = "angle θ"


def switches(*names):
    return symbols(names, real=True)


def sense(at, radius, start, color=GREEN, label="", sweep=1.4):
    """The arc of a positive angle, named outside."""
    t, middle = Symbol("t", real=True), start + sweep / 2
    name = (at[0] + 1.5 * radius * cos(middle), at[1] + 1.5 * radius * sin(middle))
    return (
        curve(
            (at[0] + radius * cos(t), at[1] + radius * sin(t)),
            t,
            start,
            start + sweep,
            color=color,
            head=True,
        ),
        text(name, label),
    )


def rate(E, q, qd, qdd):
    """dE/dt (scalar) along a motion."""
    return sum(E.diff(x) * v + E.diff(v) * a for x, v, a in zip(q, qd, qdd))


def rp_arm():
    """Torque and force of the arm that turns and extends with constant rates; gravity is off."""
    q, qd, qdd = coordinates(["theta", "d"])
    (theta, d), (thetad, dd) = q, qd
    half, slope = switches("no_half", "no_slope")
    K = kinetic_energy(rp_model(g=0), q, qd)
    still = dict.fromkeys(qdd, 0)
    torque, force = lagrange_equations((1 + half) * K, q, qd, qdd).subs(still) + slope * sympy.Matrix(
        [(1 + half) * K.diff(x) for x in q]
    )
    momentum = K.diff(thetad)
    tip, out = (d * cos(theta), d * sin(theta)), (cos(theta), sin(theta))
    speed = Symbol("speed", real=True)
    arm = (
        *ground(0, -0.06, 0.1),
        line((0, 0), tip),
        line(tip, ((d + 0.12) * out[0], (d + 0.12) * out[1]), width=3, opacity=0.4),
        dot((0, 0), BLUE, radius=6),
        dot((0.3 * out[0], 0.3 * out[1])),
        *sense((0, 0), 0.18, theta + 0.15, label="+θ"),
        moved(
            tip,
            (out[0] * dd - d * out[1] * thetad, out[1] * dd + d * out[0] * thetad),
            "velocity",
            GOLD,
            0.25,
        ),
        moved((tip[0] + 0.07 * out[1], tip[1] - 0.07 * out[0]), out, "F₂", RED, 0.12 * force),
        dot(tip, RED, radius=6),
        curve(
            (0.5 * cos(speed), 0.5 * sin(speed)),
            speed,
            theta + 0.15,
            theta + 0.15 + torque / 2,
            color=RED,
            head=True,
            label="τ₁",
        ),
    )
    graph = (
        curve((speed, torque.subs(dd, speed)), speed, -1, 1, color=BLUE, label="τ₁"),
        curve((speed, force.subs(dd, speed)), speed, -1, 1, color=RED, label="F₂"),
        dot((dd, torque), BLUE),
        dot((dd, force), RED),
    )
    return Figure(
        "An arm that turns and extends. Arrows show the velocity of its slider, the force along the arm "
        "and the torque at the pivot. Beside it torque and force over the speed of extension: the "
        "torque is a line through zero, the force does not change.",
        (
            Parameter(theta, THETA, "rad", -1.5, 1.5, 0.6),
            Parameter(d, "extension d", "m", 0.35, 1.2, 0.8),
            Parameter(thetad, "turning θ̇", "rad/s", -2, 2, 1.1, 0.05),
            Parameter(dd, "extending ḋ", "m/s", -1, 1, 0.4, 0.05),
        ),
        (
            Panel((-0.3, 1.4), (-0.6, 1.1), arm),
            Panel((-1, 1.25), (-8, 8), graph, "extending ḋ [m/s]", "τ₁ [N m], F₂ [N]", 250),
        ),
        (Readout("τ₁", torque, "N m"), Readout("F₂", force, "N")),
        (Switch(half, "Drop the ½ of the kinetic energy"), Switch(slope, "Leave out ∂K/∂q")),
        (
            Check(
                "Power of the motors = change of kinetic energy",
                torque * thetad + force * dd - rate(K, q, qd, (0, 0)),
                "W",
            ),
            Check("Torque = change of angular momentum", torque - rate(momentum, q, qd, (0, 0)), "N m"),
        ),
        (Drag(0, tip, {theta: atan2(Y, X), d: sqrt(X**2 + Y**2)}),),
    )


def two_links(q, l1=0.5, l2=0.4):
    """Elbow and hand of the two-link arm."""
    elbow = (l1 * cos(q[0]), l1 * sin(q[0]))
    return elbow, (elbow[0] + l2 * cos(q[0] + q[1]), elbow[1] + l2 * sin(q[0] + q[1]))


def arm_marks(q, names=("+q₁", "+q₂")):
    elbow, hand = two_links(q)
    return [
        *ground(0, -0.06, 0.1),
        line((0, 0), elbow),
        line(elbow, hand),
        dot((0, 0), BLUE, radius=6),
        dot(elbow, BLUE, radius=6),
        *sense((0, 0), 0.16, q[0] + 0.2, label=names[0]),
        *sense(elbow, 0.16, q[0] + q[1] + 0.2, label=names[1]),
    ]


def reach(q, l1=0.5, l2=0.4):
    """The angles that put the hand at the pointer (X, Y), elbow as it is bent now."""
    c = sympy.Min(1, sympy.Max(-1, (X**2 + Y**2 - l1**2 - l2**2) / (2 * l1 * l2)))
    bend = acos(c) * Piecewise((1, q[1] >= 0), (-1, True))
    return {q[0]: atan2(Y, X) - atan2(l2 * sin(bend), l1 + l2 * cos(bend)), q[1]: bend}


def wrong_omega(model, qd):
    """½ I₂ (q̇₂² − (q̇₁ + q̇₂)²): what K loses when the forearm is thought to turn at q̇₂ only."""
    I = model.bodies[1].inertia.about_com[2, 2]
    return HALF * I * (qd[1] ** 2 - (qd[0] + qd[1]) ** 2)


def velocity_terms_of(model, q, qd, slope, transposed):
    """V of the kinetic energy: Ṁ q̇ − ½ ∂(q̇ᵀ M q̇)/∂q, or one of its misreadings."""
    M = kinetic_matrix(sympy.expand(kinetic_energy(model, q, qd)), qd)
    C, K = lagrange.christoffel(M, q, qd), (HALF * qd.T * M * qd)[0]
    broken = slope * sympy.Matrix([K.diff(x) for x in q]) + transposed * (C.T - C) * qd
    return lagrange.velocity_terms(M, q, qd) + broken


def velocity_terms():
    """Torques that motion alone asks for, split into squares and products of the rates."""
    model = two_link()
    q, qd, _ = coordinates("q", 2)
    slope, transposed = switches("no_slope", "transposed")
    V = velocity_terms_of(model, q, qd, slope, transposed)
    parts = [
        [sympy.expand(v).coeff(qd[0], a).coeff(qd[1], b) * qd[0] ** a * qd[1] ** b for v in V]
        for a, b in ((2, 0), (1, 1), (0, 2))
    ]
    true = sympy.Matrix((coriolis(model, q, qd) @ qd).tolist())
    Mdot = sympy.Matrix(crba(model, q).tolist()).applyfunc(
        lambda e: sum(sympy.sympify(e).diff(x) * v for x, v in zip(q, qd))
    )
    bars = [
        mark
        for k, (part, name, color) in enumerate(zip(parts, ("q̇₁²", "q̇₁q̇₂", "q̇₂²"), (BLUE, GREEN, GOLD)))
        for j in range(2)
        for mark in bar(0.6 + k + 3.4 * j, part[j], color, name, -6.5)
    ]
    return Figure(
        "A two-link arm, and the velocity torques of both joints as bars: the shoulder has terms in the "
        "product and in the square of the elbow's rate, the elbow has one in the square of the "
        "shoulder's rate.",
        (
            Parameter(q[0], "shoulder q₁", "rad", -3.1, 3.1, 0.3),
            Parameter(q[1], "elbow q₂", "rad", -3.1, 3.1, 0.9),
            Parameter(qd[0], "rate q̇₁", "rad/s", -4, 4, 3.0, 0.1),
            Parameter(qd[1], "rate q̇₂", "rad/s", -4, 4, 3.5, 0.1),
        ),
        (
            Panel((-0.95, 0.95), (-0.95, 0.95), tuple(arm_marks(q))),
            Panel(
                (0, 6.6),
                (-7, 7),
                (
                    *bars,
                    line((0, 0), (6.6, 0), color=GREY, width=1),
                    text((1.6, 6.4), "shoulder"),
                    text((5.0, 6.4), "elbow"),
                ),
                "",
                "torque [N m]",
                284,
            ),
        ),
        (Readout("V₁", V[0], "N m"), Readout("V₂", V[1], "N m")),
        (Switch(slope, "Leave out ∂K/∂q"), Switch(transposed, "Take Cᵀ for C")),
        (
            Check("q̇ᵀV = ½ q̇ᵀṀq̇", (qd.T * V)[0] - (qd.T * Mdot * qd)[0] / 2, "W"),
            Check("V = Cq̇ of the recursion", sqrt(sum((a - b) ** 2 for a, b in zip(V, true))), "N m"),
        ),
        (Drag(0, two_links(q)[1], reach(q)),),
    )


def double_pendulum():
    """Two rods with their masses at the ends, and where they will be in the next two seconds."""
    model = pendulum(2)
    q, qd, _ = coordinates("q", 2)
    omega, twice = switches("wrong_omega", "twice")
    K, U = kinetic_energy(model, q, qd), potential_energy(model, q)
    # the second mass as if its rod turned at q̇₂: its velocity loses q̇₁ in the second rod's part
    bob = (cos(q[0]) * qd[0] + cos(q[0] + q[1]) * qd[1], sin(q[0]) * qd[0] + sin(q[0] + q[1]) * qd[1])
    wrong = HALF * (qd[0] ** 2 + bob[0] ** 2 + bob[1] ** 2)
    M = kinetic_matrix(sympy.expand((1 - omega) * K + omega * wrong), qd)
    rest = lagrange.velocity_terms(M, q, qd) + (1 + twice) * gravity_terms(U, q)
    a, b, c = symbols("a b c", real=True)
    r = symbols("r1 r2", real=True)
    qdd = ((b * r[1] - c * r[0]) / (a * c - b**2), (b * r[0] - a * r[1]) / (a * c - b**2))
    lets = ({a: M[0, 0], b: M[0, 1], c: M[1, 1], r[0]: rest[0], r[1]: rest[1]},)
    first = (sin(q[0]), -cos(q[0]))
    second = (first[0] + sin(q[0] + q[1]), first[1] - cos(q[0] + q[1]))
    power = rate(K + U, q, qd, qdd)
    return Figure(
        "A double pendulum with the path of its lower mass, and its energies over the next two seconds: "
        "kinetic and potential change, their sum is a level line.",
        (
            Parameter(q[0], "upper q₁", "rad", -3.15, 3.15, 1.6),
            Parameter(q[1], "lower q₂", "rad", -3.15, 3.15, 0.8),
            Parameter(qd[0], "rate q̇₁", "rad/s", -8, 8, 1.5, 0.1),
            Parameter(qd[1], "rate q̇₂", "rad/s", -8, 8, -2, 0.1),
        ),
        (
            Panel(
                (-2.2, 2.2),
                (-2.2, 2.2),
                (
                    path(second, color=GREY, width=1.2),
                    *ground(0, 0.06, 0.25, hangs=True),
                    line((0, 0), first),
                    line(first, second),
                    dot((0, 0), BLUE, radius=5),
                    dot(first, radius=6),
                    dot(second, radius=6),
                    *sense((0, 0), 0.4, q[0] - pi / 2 + 0.2, label="+q₁"),
                    *sense(first, 0.4, q[0] + q[1] - pi / 2 + 0.2, label="+q₂"),
                ),
            ),
            Panel(
                (0, 2.3),
                (-40, 60),
                (
                    path((TIME, K), color=BLUE, label="K"),
                    path((TIME, U), color=GREEN, label="U"),
                    path((TIME, K + U), color=RED, label="sum", dash="5 3"),
                ),
                "time from now [s]",
                "energy [J]",
                284,
            ),
        ),
        (Readout("K", K, "J"), Readout("U", U, "J"), Readout("K + U", K + U, "J")),
        (Switch(omega, "Let the lower rod turn at q̇₂ only"), Switch(twice, "Count gravity twice")),
        (Check("Nothing drives and nothing rubs: d(K + U)/dt = 0", power, "W"),),
        (
            Drag(0, first, {q[0]: atan2(X, -Y)}),
            Drag(0, second, {q[1]: atan2(X - first[0], first[1] - Y) - q[0]}),
        ),
        Motion((*q, *qd), 0.01, 200, rates=(*qd, *qdd)),
        lets,
    )


def mass_matrix():
    """M over posture, as the ellipse of rates that one joule pays for."""
    model = two_link()
    q, qd, _ = coordinates("q", 2)
    omega, half = switches("wrong_omega", "no_half")
    K = kinetic_energy(model, q, qd) + omega * wrong_omega(model, qd)
    M = (1 + half) * kinetic_matrix(sympy.expand(K), qd)
    true = crba(model, q)
    a, b, c, t = symbols("a b c t", real=True)
    # q̇ = L⁻ᵀ (cos t, sin t) √2 has q̇ᵀ M q̇ = 2, with M = L Lᵀ
    upper, lower = sqrt(2) * cos(t) / sqrt(a), sqrt(2) * sin(t) / sqrt(c - b**2 / a)
    difference = sqrt(sum((M[i, j] - true[i, j]) ** 2 for i in range(2) for j in range(2)))
    return Figure(
        "A two-link arm, and the ellipse of the joint rates that have one joule of kinetic energy. It "
        "leans when the elbow is stretched and stands upright when the coupling is zero.",
        (
            Parameter(q[0], "shoulder q₁", "rad", -3.1, 3.1, 0.3),
            Parameter(q[1], "elbow q₂", "rad", -3.1, 3.1, 0.9),
        ),
        (
            Panel((-0.95, 0.95), (-0.95, 0.95), tuple(arm_marks(q))),
            Panel(
                (-7, 7),
                (-7, 7),
                (
                    curve((upper - b / a * lower, lower), t, 0, 2 * pi, color=VIOLET, label="K = 1 J"),
                    line((-7, 0), (7, 0), color=GREY, width=1),
                    line((0, -7), (0, 7), color=GREY, width=1),
                ),
                "q̇₁ [rad/s]",
                "q̇₂ [rad/s]",
            ),
        ),
        (
            Readout("M₁₁", M[0, 0], "kg m²", 3),
            Readout("M₁₂", M[0, 1], "kg m²", 3),
            Readout("M₂₂", M[1, 1], "kg m²", 3),
            Readout("det M", a * c - b**2, "kg² m⁴", 4),
        ),
        (Switch(omega, "Let the forearm turn at q̇₂ only"), Switch(half, "Drop the ½ of the kinetic energy")),
        (
            Check("M from energy = M from composite bodies", difference, "kg m²"),
            Check("M₂₂ = inertia of the forearm about the elbow", M[1, 1] - 2 * 0.4**2 / 3, "kg m²"),
        ),
        (Drag(0, two_links(q)[1], reach(q)),),
        lets=({a: M[0, 0], b: M[0, 1], c: M[1, 1]},),
    )
