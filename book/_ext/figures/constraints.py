"""Figures of mechanisms with loops and of redundant supports."""

import sympy
from sympy import Matrix, Max, Piecewise, Symbol, atan2, cos, pi, sin, sqrt, symbols

from lagrangebook.draw import BLUE, GOLD, GREEN, GREY, RED, VIOLET
from lagrangebook.kinematics import point_bias, point_jacobian
from lagrangebook.lagrange import coordinates
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import five_bar as five_bar_model, two_link

from .energy import arm_marks, reach, sense, switches, two_links
from .form import (Check, Drag, Figure, Panel, Parameter, Readout, Switch, X, Y, bar, curve, dot, ground,
                   line, moved)

G = 9.81


def matrix(values):
    return Matrix(values.tolist())


def column(names):
    return Matrix(symbols(names, real=True))


def solve2(A, b):
    """A⁻¹ b of a 2 × 2 matrix."""
    return Matrix([A[1, 1] * b[0] - A[0, 1] * b[1], A[0, 0] * b[1] - A[1, 0] * b[0]]) / (
        A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    )


def named(name, values):
    """Symbols in the shape of a matrix, and the group of lets that defines them."""
    symbol = Matrix(*values.shape, lambda i, j: Symbol(f"{name}_{i}{j}", real=True))
    return symbol, dict(zip(symbol, values))


def five_bar():
    """A closed mechanism at speed, its motors off: the way that is left to it, and the force in its pin."""
    model, reach_, span = five_bar_model().model, 0.3, 0.2
    q, qd, _ = coordinates("q", 4)
    (left, right), (leftd, rightd) = (q[0], q[2]), (qd[0], qd[2])
    forget = switches("forget")[0]
    P, R = Matrix([cos(left), sin(left)]) * 0.25, Matrix([span + 0.25 * cos(right), 0.25 * sin(right)])
    gap = R - P
    across = Matrix([-gap[1], gap[0]])
    tip = (P + R) / 2 + across * sqrt(Max(1e-6, reach_**2 / gap.dot(gap) - 0.25))
    tip_, group_tip = named("tip", tip)
    angles = {
        q[1]: atan2(tip_[1] - P[1], tip_[0] - P[0]) - left,
        q[3]: atan2(tip_[1] - R[1], tip_[0] - R[0]) - right,
    }
    ends = ((1, (reach_, 0, 0)), (3, (reach_, 0, 0)))
    J = (matrix(point_jacobian(model, q, *ends[0])) - matrix(point_jacobian(model, q, *ends[1])))[:2, :]
    J_, group_J = named("J", J)
    driven = Matrix.hstack(J_[:, 0], J_[:, 2]) * Matrix([leftd, rightd])
    distal = -solve2(Matrix.hstack(J_[:, 1], J_[:, 3]), driven)
    gamma = Matrix((point_bias(model, q, qd, *ends[0]) - point_bias(model, q, qd, *ends[1]))[:2].tolist())
    M_, group_M = named("M", matrix(crba(model, q)))
    h_, group_h = named(
        "h", Matrix((coriolis(model, q, qd) @ qd).tolist()) + Matrix(gravity(model, q).tolist())
    )
    gamma_, group_gamma = named("gamma", gamma)

    def over_M(b):
        return Matrix([*solve2(M_[:2, :2], b[:2, :]), *solve2(M_[2:, 2:], b[2:, :])])

    W_, group_W = named("W", J_ * Matrix.hstack(over_M(J_.T[:, 0]), over_M(J_.T[:, 1])))
    lam_, group_lam = named("lam", -solve2(W_, J_ * over_M(-h_) + (1 - forget) * gamma_))
    qdd_, group_qdd = named("qdd", over_M(J_.T * lam_ - h_))
    residual = J_ * qdd_ + gamma_
    velocity = (
        0.25 * leftd * Matrix([-sin(left), cos(left)])
        + reach_ * (leftd + qd[1]) * Matrix([P[1] - tip_[1], tip_[0] - P[0]]) / reach_
    )
    at, bars = tuple(tip_), [
        line((0, 0), tuple(P)),
        line(tuple(P), tuple(tip_)),
        line((span, 0), tuple(R), color=VIOLET),
        line(tuple(R), tuple(tip_), color=VIOLET),
    ]
    lets = (
        group_tip,
        angles,
        group_J,
        {qd[1]: distal[0], qd[3]: distal[1]},
        group_M,
        group_h,
        group_gamma,
        group_W,
        group_lam,
        group_qdd,
    )
    pins = [dot(p, BLUE, radius=5) for p in ((0, 0), tuple(P), (span, 0), tuple(R))]
    return Figure(
        "A five-bar with the velocity of its pin, and with the force of the pin on the left arm. Both "
        "cranks turn, the motors are off.",
        (
            Parameter(left, "left crank q₁", "rad", 1.4, 2.45, 2.2),
            Parameter(right, "right crank q₃", "rad", 0.7, 1.75, 0.9),
            Parameter(leftd, "rate q̇₁", "rad/s", -8, 8, 6, 0.1),
            Parameter(rightd, "rate q̇₃", "rad/s", -8, 8, -6, 0.1),
        ),
        (
            Panel(
                (-0.35, 0.55),
                (-0.1, 0.65),
                (
                    *ground(0, -0.03, 0.05),
                    *ground(span, -0.03, 0.05),
                    *bars,
                    *pins,
                    *sense((0, 0), 0.08, left + 0.2, label="+q₁"),
                    *sense((span, 0), 0.08, right + 0.2, label="+q₃"),
                    moved(at, velocity, "velocity", GOLD, 0.06),
                    moved(at, lam_, "λ", RED, 0.03),
                    dot(at, RED, radius=5),
                ),
            ),
        ),
        (Readout("λ_x", lam_[0], "N"), Readout("λ_y", lam_[1], "N")),
        (Switch(forget, "Forget J̇q̇"),),
        (
            Check("The rates lie in the null space: J q̇ = 0", sqrt(sum(x**2 for x in J_ * qd)), "m/s"),
            Check("The pin stays closed: J q̈ + J̇ q̇ = 0", sqrt(sum(x**2 for x in residual)), "m/s²"),
        ),
        (
            Drag(0, tuple(P), {left: Piecewise((atan2(Y, X), Y > 0), (pi, X < 0), (0, True))}),
            Drag(0, tuple(R), {right: atan2(Max(Y, 0), X - span)}),
        ),
        lets=lets,
    )


def effective_mass():
    """W = J M⁻¹ Jᵀ at the hand: how it answers a force of one newton from any side."""
    model = two_link(g=0)
    q, qd, _ = coordinates("q", 2)
    angle, t = Symbol("angle", real=True), Symbol("t", real=True)
    bare, upside = switches("bare", "upside")
    J_, group_J = named("J", matrix(point_jacobian(model, q, 1, (0.4, 0, 0)))[:2, :])
    M_, group_M = named("M", matrix(crba(model, q)))
    inverse = Matrix.hstack(solve2(M_, Matrix([1, 0])), solve2(M_, Matrix([0, 1])))
    inner = (1 - bare - upside + bare * upside) * inverse + bare * sympy.eye(2) + (1 - bare) * upside * M_
    W_, group_W = named("W", J_ * inner * J_.T)
    hand, f = two_links(q)[1], Matrix([cos(angle), sin(angle)])
    a, about = W_ * f, W_ * Matrix([cos(t), sin(t)])
    rates = inverse * J_.T * f  # after an impulse of 1 N s
    return Figure(
        "A two-link arm with the ellipse of accelerations that its hand has under a force of one newton "
        "from any side. Force and acceleration rarely point the same way.",
        (
            Parameter(q[0], "shoulder q₁", "rad", -3.1, 3.1, 0.3),
            Parameter(q[1], "elbow q₂", "rad", -3.1, 3.1, 1.2),
            Parameter(angle, "force direction", "rad", -3.1, 3.1, 0.4),
        ),
        (
            Panel(
                (-1.0, 1.0),
                (-1.0, 1.0),
                (
                    *arm_marks(q),
                    curve(
                        (hand[0] + 0.2 * about[0], hand[1] + 0.2 * about[1]),
                        t,
                        0,
                        2 * pi,
                        color=VIOLET,
                        label="",
                    ),
                    moved(hand, f, "f", RED, 0.35),
                    moved(hand, a, "a", GOLD, 0.2),
                    dot(hand),
                ),
            ),
        ),
        (
            Readout("acceleration a", sqrt(a.dot(a)), "m/s² per N"),
            Readout("effective mass", 1 / f.dot(a), "kg"),
        ),
        (Switch(bare, "Forget the masses: J Jᵀ"), Switch(upside, "Forget to invert: J M Jᵀ")),
        (
            Check(
                "½ fᵀWf = kinetic energy after an impulse f",
                (f.dot(a) - (rates.T * M_ * rates)[0]) / 2,
                "J",
            ),
        ),
        (Drag(0, hand, reach(q)),),
        lets=(group_J, group_M, group_W),
    )


def four_legs():
    """A table on four legs, seen from above: the forces that balance are a line of answers."""
    x, y, s = symbols("x y s", real=True)
    equal = switches("equal")[0]
    feet = ((0.6, 0.4), (-0.6, 0.4), (-0.6, -0.4), (0.6, -0.4))
    table, load = 20 * G, 10 * G
    A = Matrix([[1, 1, 1, 1], [foot[0] for foot in feet], [foot[1] for foot in feet]])
    b = Matrix([table + load, load * x, load * y])
    least = A.T * (A * A.T).inv() * b
    alone = Matrix([1, -1, 1, -1]) * s
    forces = [(1 - equal) * (f + n) + equal * (table + load) / 4 for f, n in zip(least, alone)]
    balance = A * Matrix(forces) - b
    colors, t = (BLUE, RED, GREEN, GOLD), Symbol("t", real=True)
    disc = [
        curve(
            (foot[0] + sqrt(abs(f)) * 0.012 * cos(t), foot[1] + sqrt(abs(f)) * 0.012 * sin(t)),
            t,
            0,
            2 * pi,
            color=color,
            width=3,
        )
        for foot, f, color in zip(feet, forces, colors)
    ]
    bars = [
        mark
        for k, (f, color) in enumerate(zip(forces, colors))
        for mark in bar(k + 0.8, f, color, f"leg {k + 1}", -85)
    ]
    push = Max(0, *(-f for f in forces))
    return Figure(
        "A table from above with its load, circles around the feet as large as their forces; beside it "
        "the four forces as bars.",
        (
            Parameter(x, "load at x", "m", -0.6, 0.6, 0.3),
            Parameter(y, "load at y", "m", -0.4, 0.4, -0.1),
            Parameter(s, "free part s", "N", -120, 120, 0, 1),
        ),
        (
            Panel(
                (-0.95, 0.95),
                (-0.75, 0.75),
                (line(*feet, feet[0], color=GREY, width=2), *disc, dot((x, y), GREY, radius=9, label="load")),
            ),
            Panel(
                (0, 4.6),
                (-100, 250),
                (*bars, line((0, 0), (4.6, 0), color=GREY, width=1)),
                "",
                "force of a leg [N]",
                200,
            ),
        ),
        tuple(Readout(f"λ{'₁₂₃₄'[k]}", f, "N", 1) for k, f in enumerate(forces)),
        (Switch(equal, "Give each leg a quarter"),),
        (
            Check("The legs carry the weight", balance[0], "N"),
            Check("The moments balance", sqrt(balance[1] ** 2 + balance[2] ** 2), "N m"),
            Check("No leg pulls at the floor", push, "N"),
        ),
        (Drag(0, (x, y), {x: X, y: Y}),),
    )
