"""Figures of the part on contact and constraints."""

import sympy
from sympy import Matrix, Max, Min, Piecewise, Symbol, atan, atan2, cos, pi, sin, sqrt, symbols

from lagrangebook.draw import BLUE, GOLD, GREEN, GREY, RED, VIOLET
from lagrangebook.kinematics import point_bias, point_jacobian
from lagrangebook.lagrange import coordinates
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import five_bar as five_bar_model, two_link

from .energy import arm_marks, reach, sense, switches, two_links
from .form import (TIME, Check, Drag, Figure, Motion, Panel, Parameter, Readout, Switch, X, Y, area, bar, curve, dot, ground,
                   line, moved, path)

G = 9.81


def matrix(values):
    return Matrix(values.tolist())


def column(names):
    return Matrix(symbols(names, real=True))


def solve2(A, b):
    """A⁻¹ b of a 2 × 2 matrix."""
    return Matrix([A[1, 1] * b[0] - A[0, 1] * b[1], A[0, 0] * b[1] - A[1, 0] * b[0]]) / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])


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
    angles = {q[1]: atan2(tip_[1] - P[1], tip_[0] - P[0]) - left, q[3]: atan2(tip_[1] - R[1], tip_[0] - R[0]) - right}
    ends = ((1, (reach_, 0, 0)), (3, (reach_, 0, 0)))
    J = (matrix(point_jacobian(model, q, *ends[0])) - matrix(point_jacobian(model, q, *ends[1])))[:2, :]
    J_, group_J = named("J", J)
    driven = Matrix.hstack(J_[:, 0], J_[:, 2]) * Matrix([leftd, rightd])
    distal = -solve2(Matrix.hstack(J_[:, 1], J_[:, 3]), driven)
    gamma = Matrix((point_bias(model, q, qd, *ends[0]) - point_bias(model, q, qd, *ends[1]))[:2].tolist())
    M_, group_M = named("M", matrix(crba(model, q)))
    h_, group_h = named("h", Matrix((coriolis(model, q, qd) @ qd).tolist()) + Matrix(gravity(model, q).tolist()))
    gamma_, group_gamma = named("gamma", gamma)

    def over_M(b):
        return Matrix([*solve2(M_[:2, :2], b[:2, :]), *solve2(M_[2:, 2:], b[2:, :])])
    W_, group_W = named("W", J_ * Matrix.hstack(over_M(J_.T[:, 0]), over_M(J_.T[:, 1])))
    lam_, group_lam = named("lam", -solve2(W_, J_ * over_M(-h_) + (1 - forget) * gamma_))
    qdd_, group_qdd = named("qdd", over_M(J_.T * lam_ - h_))
    residual = J_ * qdd_ + gamma_
    velocity = 0.25 * leftd * Matrix([-sin(left), cos(left)]) + reach_ * (leftd + qd[1]) * Matrix([P[1] - tip_[1], tip_[0] - P[0]]) / reach_
    at, bars = tuple(tip_), [line((0, 0), tuple(P)), line(tuple(P), tuple(tip_)), line((span, 0), tuple(R), color=VIOLET),
                             line(tuple(R), tuple(tip_), color=VIOLET)]
    lets = (group_tip, angles, group_J, {qd[1]: distal[0], qd[3]: distal[1]}, group_M, group_h, group_gamma, group_W, group_lam,
            group_qdd)
    pins = [dot(p, BLUE, radius=5) for p in ((0, 0), tuple(P), (span, 0), tuple(R))]
    return Figure(
        "A five-bar with the velocity of its pin, and with the force of the pin on the left arm. Both cranks turn, the motors are off.",
        (Parameter(left, "left crank q₁", "rad", 1.4, 2.45, 2.2), Parameter(right, "right crank q₃", "rad", 0.7, 1.75, 0.9),
         Parameter(leftd, "rate q̇₁", "rad/s", -8, 8, 6, 0.1), Parameter(rightd, "rate q̇₃", "rad/s", -8, 8, -6, 0.1)),
        (Panel((-0.35, 0.55), (-0.1, 0.65), (*ground(0, -0.03, 0.05), *ground(span, -0.03, 0.05), *bars, *pins,
                                             *sense((0, 0), 0.08, left + 0.2, label="+q₁"), *sense((span, 0), 0.08, right + 0.2, label="+q₃"),
                                             moved(at, velocity, "velocity", GOLD, 0.06), moved(at, lam_, "λ", RED, 0.03),
                                             dot(at, RED, radius=5))),),
        (Readout("λ_x", lam_[0], "N"), Readout("λ_y", lam_[1], "N")),
        (Switch(forget, "Forget J̇q̇"),),
        (Check("The rates lie in the null space: J q̇ = 0", sqrt(sum(x**2 for x in J_ * qd)), "m/s"),
         Check("The pin stays closed: J q̈ + J̇ q̇ = 0", sqrt(sum(x**2 for x in residual)), "m/s²")),
        (Drag(0, tuple(P), {left: Piecewise((atan2(Y, X), Y > 0), (pi, X < 0), (0, True))}),
         Drag(0, tuple(R), {right: atan2(Max(Y, 0), X - span)})), lets=lets)


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
    rates = inverse * J_.T * f                                              # after an impulse of 1 N s
    return Figure(
        "A two-link arm with the ellipse of accelerations that its hand has under a force of one newton from any side. Force and "
        "acceleration rarely point the same way.",
        (Parameter(q[0], "shoulder q₁", "rad", -3.1, 3.1, 0.3), Parameter(q[1], "elbow q₂", "rad", -3.1, 3.1, 1.2),
         Parameter(angle, "force direction", "rad", -3.1, 3.1, 0.4)),
        (Panel((-1.0, 1.0), (-1.0, 1.0), (*arm_marks(q), curve((hand[0] + 0.2 * about[0], hand[1] + 0.2 * about[1]), t, 0, 2 * pi,
                                                               color=VIOLET, label=""),
                                          moved(hand, f, "f", RED, 0.35), moved(hand, a, "acceleration", GOLD, 0.2), dot(hand))),),
        (Readout("acceleration", sqrt(a.dot(a)), "m/s² per N"), Readout("effective mass", 1 / f.dot(a), "kg")),
        (Switch(bare, "Forget the masses: J Jᵀ"), Switch(upside, "Forget to invert: J M Jᵀ")),
        (Check("Half fᵀWf = kinetic energy after an impulse f", (f.dot(a) - (rates.T * M_ * rates)[0]) / 2, "J"),),
        (Drag(0, hand, reach(q)),), lets=(group_J, group_M, group_W))


def four_legs():
    """A table on four legs, seen from above: the forces that balance are a line of answers."""
    x, y, s = symbols("x y s", real=True)
    equal, ignore = switches("equal", "ignore")
    feet = ((0.6, 0.4), (-0.6, 0.4), (-0.6, -0.4), (0.6, -0.4))
    table, load = 20 * G, 10 * G
    A = Matrix([[1, 1, 1, 1], [foot[0] for foot in feet], [foot[1] for foot in feet]])
    b = Matrix([table + load, load * x, load * y])
    least = A.T * (A * A.T).inv() * b
    alone = Matrix([1, -1, 1, -1]) * s
    forces = [(1 - equal) * (f + n) + equal * (table + load) / 4 for f, n in zip(least, alone)]
    balance = A * Matrix(forces) - b
    colors, t = (BLUE, RED, GREEN, GOLD), Symbol("t", real=True)
    disc = [curve((foot[0] + sqrt(abs(f)) * 0.012 * cos(t), foot[1] + sqrt(abs(f)) * 0.012 * sin(t)), t, 0, 2 * pi, color=color, width=3)
            for foot, f, color in zip(feet, forces, colors)]
    bars = [mark for k, (f, color) in enumerate(zip(forces, colors)) for mark in bar(k + 0.8, f, color, f"leg {k + 1}", -85)]
    push = Max(0, *(-f for f in forces))
    return Figure(
        "A table from above with its load, circles around the feet as large as their forces; beside it the four forces as bars.",
        (Parameter(x, "load at x", "m", -0.6, 0.6, 0.3), Parameter(y, "load at y", "m", -0.4, 0.4, -0.1),
         Parameter(s, "free part s", "N", -120, 120, 0, 1)),
        (Panel((-0.95, 0.95), (-0.75, 0.75), (line(*feet, feet[0], color=GREY, width=2), *disc, dot((x, y), GREY, radius=9, label="load"))),
         Panel((0, 4.6), (-100, 250), (*bars, line((0, 0), (4.6, 0), color=GREY, width=1)), "", "force of a leg [N]", 200)),
        tuple(Readout(f"λ{'₁₂₃₄'[k]}", f, "N", 1) for k, f in enumerate(forces)),
        (Switch(equal, "Give each leg a quarter"),),
        (Check("The legs carry the weight", balance[0], "N"),
         Check("The moments balance", sqrt(balance[1]**2 + balance[2]**2), "N m"),
         Check("No leg pulls at the floor", push, "N")),
        (Drag(0, (x, y), {x: X, y: Y}),))


def contact_law():
    """A block on a table, pulled upward: gap acceleration and contact force, at most one of them nonzero."""
    m, u, z = symbols("m u z", real=True)
    glued, ghost = switches("glued", "ghost")
    free = u / m - G                                                        # acceleration without contact
    lam = (1 - glued) * (1 - ghost) * Max(0, -m * free) - (glued - glued * ghost) * m * free
    a = free + lam / m
    corner = [line((0, 12), (0, 0), (45, 0), color=GREY, width=5, opacity=0.5)]
    box = (area((-0.5, 0), (0.5, 0), (0.5, 0.8), (-0.5, 0.8), color=BLUE, opacity=0.6),
           line((-1.4, 0), (1.4, 0), color=GREY, width=2), moved((-0.25, 0.4), (0, -1), "mg", GREY, m * G / 30),
           moved((0, 0.8), (0, 1), "pull u", GREEN, u / 30), moved((0.25, 0), (0, 1), "λ", RED, lam / 30, width=3))
    return Figure(
        "A block on a table with its weight, a pull upward and the force of the table. Beside it contact acceleration over contact "
        "force: the solution is where the line of the dynamics meets the corner of the two axes.",
        (Parameter(u, "pull u", "N", 0, 40, 8, 0.1), Parameter(m, "mass m", "kg", 1, 4, 2, 0.1)),
        (Panel((-1.4, 1.4), (-0.8, 2.2), box, "", "", 220),
         Panel((-25, 45), (-12, 12), (line((-25, 0), (45, 0), color=GREY, width=1), line((0, -12), (0, 12), color=GREY, width=1), *corner,
                                      curve((z, free + z / m), z, -25, 45, color=BLUE), dot((lam, a), RED, radius=6)),
               "force λ [N]", "acceleration of the gap [m/s²]", 250)),
        (Readout("λ", lam, "N"), Readout("acceleration", a, "m/s²")),
        (Switch(glued, "Glue the block to the table"), Switch(ghost, "Forget the table")),
        (Check("The table only pushes: λ ≥ 0", Max(0, -lam), "N"), Check("Nothing sinks in: acceleration ≥ 0", Max(0, -a), "m/s²"),
         Check("One of both is zero: λ · acceleration = 0", lam * a, "W/s")),
        (Drag(0, (0, 0.8 + u / 30), {u: 30 * (Y - 0.8)}),))


def friction_cone():
    """A block that is pushed: the floor answers inside its cone, or on its edge."""
    fx, fy, mu = symbols("f_x f_y mu", real=True)
    always, weight = switches("always", "weight_only")
    m = 2.0
    need = m * G - fy
    normal = Max(0, (1 - weight) * need + weight * m * G)
    most = mu * normal
    side = Piecewise((1, fx > 0), (-1, fx < 0), (0, True))
    tangent = (1 - always) * Max(-most, Min(most, -fx)) - always * most * side
    ax, ay, unit = (fx + tangent) / m, (fy + normal - m * G) / m, 0.04
    cone = area((0, 0), (-1.1 * mu, 1.1), (1.1 * mu, 1.1), color=GREEN, opacity=0.18)
    block = (area((-0.5, 0), (0.5, 0), (0.5, 0.6), (-0.5, 0.6), color=BLUE, opacity=0.45), line((-1.7, 0), (1.7, 0), color=GREY, width=2),
             cone, moved((0, 0.6), (fx, fy), "push", GOLD, unit), moved((0, 0), (tangent, normal), "reaction", RED, unit, width=3),
             moved((0, 0.3), (ax, 0), "acceleration", VIOLET, 0.1))
    return Figure(
        "A block on a floor with a push at its top, the friction cone at its foot and the floor's reaction, which stays in the cone.",
        (Parameter(fx, "push sideways f_x", "N", -25, 25, 12, 0.5), Parameter(fy, "push upward f_y", "N", -25, 25, -8, 0.5),
         Parameter(mu, "friction μ", "", 0, 1.2, 0.5, 0.05)),
        (Panel((-1.7, 1.7), (-0.2, 1.8), block, "", ""),),
        (Readout("λ_N", normal, "N"), Readout("λ_T", tangent, "N"), Readout("limit μ λ_N", most, "N")),
        (Switch(always, "Let friction always be μ λ_N"), Switch(weight, "Take the weight for λ_N")),
        (Check("The floor keeps the block from sinking and does not lift it: λ_N · a_y = 0, a_y ≥ 0",
               sqrt((normal * ay)**2 + Max(0, -ay)**2), "W/s"),
         Check("The reaction lies in the cone: |λ_T| ≤ μ λ_N", Max(0, abs(tangent) - mu * Max(0, need)), "N"),
         Check("Friction never moves a block against the push: a_x · f_x ≥ 0", Max(0, -ax * fx), "N m/s²")),
        (Drag(0, (unit * fx, 0.6 + unit * fy), {fx: X / unit, fy: (Y - 0.6) / unit}),))


def bouncing_ball():
    """A ball that falls and bounces: time steps with impacts."""
    y, v, e = symbols("y v e", real=True)
    inverse, twice = switches("inverse", "twice")
    m, dt = 1.0, 0.005
    free = v - (1 + twice) * G * dt                                         # the velocity after a step without impact
    bounce = e + inverse * (1 / Max(e, 0.5) - e)
    after = Piecewise((Max(free, -bounce * v), y + dt / 2 * v <= 0), (free, True))
    h = y + v**2 / (2 * G)                                                  # where it would stand still
    down = -sqrt(2 * G * h)
    up, impulse = -bounce * down, -m * (1 + e) * down
    levels = [line((0, e**(2 * k) * h), (2.1, e**(2 * k) * h), color=color, width=1.5, dash="5 3", label=label)
              for k, (color, label) in enumerate(((GREY, "h"), (GREEN, "e²h"), (GOLD, "e⁴h")))]
    return Figure(
        "The height of a bouncing ball over the next two seconds, between level lines at h, e²h and e⁴h: each bounce returns to the "
        "next lower line.",
        (Parameter(y, "height y", "m", 0, 1.5, 1.0), Parameter(v, "speed v", "m/s", -5, 5, 0, 0.1),
         Parameter(e, "restitution e", "", 0, 1, 0.7)),
        (Panel((-0.1, 2.4), (0, 2), (line((-0.1, 0), (2.4, 0), color=GREY, width=2), *levels, path((TIME, y), color=BLUE),
                                     dot((0, y), RED, radius=8)), "time from now [s]", "height [m]", 250),),
        (Readout("speed before", -down, "m/s"), Readout("speed after", up, "m/s"), Readout("impulse", impulse, "N s"),
         Readout("energy lost", m * (down**2 - up**2) / 2, "J")),
        (Switch(inverse, "Divide by e instead of multiplying"), Switch(twice, "Count gravity twice")),
        (Check("The impulse is the change of momentum", m * (up - down) - impulse, "N s"),
         Check("An impact gives no energy", Max(0, m * (up**2 - down**2) / 2), "J"),
         Check("In flight dv/dt = −g", (free - v) / dt + G, "m/s²")),
        (Drag(0, (0, y), {y: Y, v: 0 * Y}),),
        Motion((y, v), dt, 400, step=(y + dt / 2 * (v + after), after)))
