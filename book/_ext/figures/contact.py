"""Figures of friction, contact and impact."""

from sympy import Max, Min, Piecewise, exp, sqrt, symbols

from lagrangebook.draw import BLUE, GOLD, GREEN, GREY, RED, VIOLET

from .constraints import G
from .energy import switches
from .form import (TIME, Check, Drag, Figure, Motion, Panel, Parameter, Readout, Switch, X, Y, area, arrow,
                   curve, dot, line, moved, path)


def friction():
    """Friction over speed: Stribeck's curve, a step at zero."""
    v, Fc, Fs, vs, Fv, u = symbols("v F_c F_s v_s F_v u", real=True)
    no_sign, reversed_sign = switches("no_sign", "reversed")
    level = Fc + (Fs - Fc) * exp(-((u / vs) ** 2))
    sign = Piecewise((1, u > 0), (-1, u < 0), (0, True))
    F = (1 - 2 * reversed_sign) * ((no_sign + (1 - no_sign) * sign) * level + Fv * u)
    side = (1 - 2 * reversed_sign) * (level + Fv * u)
    left = (1 - 2 * reversed_sign) * ((2 * no_sign - 1) * level + Fv * u)
    now = F.subs(u, v)
    return Figure(
        "Friction over speed. It jumps at zero from minus to plus the break-away force, falls to the "
        "Coulomb force and then rises with the viscous part.",
        (
            Parameter(v, "speed v", "rad/s", -0.6, 0.6, -0.2),
            Parameter(Fc, "sliding F_c", "N m", 0, 6, 4, 0.1),
            Parameter(Fs, "break-away F_s", "N m", 0, 8, 6, 0.1),
            Parameter(vs, "Stribeck speed v_s", "rad/s", 0.02, 0.2, 0.05),
            Parameter(Fv, "viscous F_v", "N m s/rad", 0, 8, 2, 0.1),
        ),
        (
            Panel(
                (-0.6, 0.6),
                (-14, 14),
                (
                    line((-0.6, 0), (0.6, 0), color=GREY, width=1),
                    curve((u, left), u, -0.6, 0, color=BLUE),
                    curve((u, side), u, 0, 0.6, color=BLUE),
                    line((0, left.subs(u, 0)), (0, side.subs(u, 0)), color=BLUE, width=2, dash="4 3"),
                    arrow((v, 0), (v, now), "F", RED),
                ),
                "speed [rad/s]",
                "friction F [N m]",
                250,
            ),
        ),
        (Readout("F", now, "N m"), Readout("lost power", now * v, "W")),
        (Switch(no_sign, "Forget the sign of v"), Switch(reversed_sign, "Turn the sign around")),
        (Check("Friction never feeds energy in: F·v ≥ 0", Max(0, -now * v), "W"),),
    )


def contact_law():
    """A block on a table, pulled upward: gap acceleration and contact force, at most one of them nonzero."""
    m, u, z = symbols("m u z", real=True)
    glued, ghost = switches("glued", "ghost")
    free = u / m - G  # acceleration without contact
    lam = (1 - glued) * (1 - ghost) * Max(0, -m * free) - (glued - glued * ghost) * m * free
    a = free + lam / m
    corner = [line((0, 12), (0, 0), (45, 0), color=GREY, width=5, opacity=0.5)]
    box = (
        area((-0.5, 0), (0.5, 0), (0.5, 0.8), (-0.5, 0.8), color=BLUE, opacity=0.6),
        line((-1.4, 0), (1.4, 0), color=GREY, width=2),
        moved((-0.25, 0.4), (0, -1), "mg", GREY, m * G / 30),
        moved((0, 0.8), (0, 1), "pull u", GREEN, u / 30),
        moved((0.25, 0), (0, 1), "λ", RED, lam / 30, width=3),
    )
    return Figure(
        "A block on a table with its weight, a pull upward and the force of the table. Beside it "
        "contact acceleration over contact force: the solution is where the line of the dynamics meets "
        "the corner of the two axes.",
        (Parameter(u, "pull u", "N", 0, 40, 8, 0.1), Parameter(m, "mass m", "kg", 1, 4, 2, 0.1)),
        (
            Panel((-1.4, 1.4), (-0.8, 2.2), box, "", "", 220),
            Panel(
                (-25, 45),
                (-12, 12),
                (
                    line((-25, 0), (45, 0), color=GREY, width=1),
                    line((0, -12), (0, 12), color=GREY, width=1),
                    *corner,
                    curve((z, free + z / m), z, -25, 45, color=BLUE),
                    dot((lam, a), RED, radius=6),
                ),
                "force λ [N]",
                "acceleration of the gap [m/s²]",
                250,
            ),
        ),
        (Readout("λ", lam, "N"), Readout("acceleration", a, "m/s²")),
        (Switch(glued, "Glue the block to the table"), Switch(ghost, "Forget the table")),
        (
            Check("The table only pushes: λ ≥ 0", Max(0, -lam), "N"),
            Check("Nothing sinks in: acceleration ≥ 0", Max(0, -a), "m/s²"),
            Check("One of both is zero: λ · acceleration = 0", lam * a, "W/s"),
        ),
        (Drag(0, (0, 0.8 + u / 30), {u: 30 * (Y - 0.8)}),),
    )


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
    block = (
        area((-0.5, 0), (0.5, 0), (0.5, 0.6), (-0.5, 0.6), color=BLUE, opacity=0.45),
        line((-1.7, 0), (1.7, 0), color=GREY, width=2),
        cone,
        moved((0, 0.6), (fx, fy), "push", GOLD, unit),
        moved((0, 0), (tangent, normal), "reaction", RED, unit, width=3),
        moved((0, 0.3), (ax, 0), "a", VIOLET, 0.1),
    )
    return Figure(
        "A block on a floor with a push at its top, the friction cone at its foot and the floor's "
        "reaction, which stays in the cone.",
        (
            Parameter(fx, "push sideways f_x", "N", -25, 25, 12, 0.5),
            Parameter(fy, "push upward f_y", "N", -25, 25, -8, 0.5),
            Parameter(mu, "friction μ", "", 0, 1.2, 0.5, 0.05),
        ),
        (Panel((-1.7, 1.7), (-0.2, 1.8), block, "", ""),),
        (Readout("λ_N", normal, "N"), Readout("λ_T", tangent, "N"), Readout("limit μ λ_N", most, "N")),
        (Switch(always, "Let friction always be μ λ_N"), Switch(weight, "Take the weight for λ_N")),
        (
            Check(
                "The floor keeps the block from sinking and does not lift it: λ_N · a_y = 0, a_y ≥ 0",
                sqrt((normal * ay) ** 2 + Max(0, -ay) ** 2),
                "W/s",
            ),
            Check(
                "The reaction lies in the cone: |λ_T| ≤ μ λ_N", Max(0, abs(tangent) - mu * Max(0, need)), "N"
            ),
            Check("Friction never moves a block against the push: a_x · f_x ≥ 0", Max(0, -ax * fx), "N m/s²"),
        ),
        (Drag(0, (unit * fx, 0.6 + unit * fy), {fx: X / unit, fy: (Y - 0.6) / unit}),),
    )


def bouncing_ball():
    """A ball that falls and bounces: time steps with impacts."""
    y, v, e = symbols("y v e", real=True)
    inverse, twice = switches("inverse", "twice")
    m, dt = 1.0, 0.005
    free = v - (1 + twice) * G * dt  # the velocity after a step without impact
    bounce = e + inverse * (1 / Max(e, 0.5) - e)
    after = Piecewise((Max(free, -bounce * v), y + dt / 2 * v <= 0), (free, True))
    h = y + v**2 / (2 * G)  # where it would stand still
    down = -sqrt(2 * G * h)
    up, impulse = -bounce * down, -m * (1 + e) * down
    levels = [
        line((0, e ** (2 * k) * h), (2.1, e ** (2 * k) * h), color=color, width=1.5, dash="5 3", label=label)
        for k, (color, label) in enumerate(((GREY, "h"), (GREEN, "e²h"), (GOLD, "e⁴h")))
    ]
    return Figure(
        "The height of a bouncing ball over the next two seconds, between level lines at h, e²h and "
        "e⁴h: each bounce returns to the next lower line.",
        (
            Parameter(y, "height y", "m", 0, 1.5, 1.0),
            Parameter(v, "speed v", "m/s", -5, 5, 0, 0.1),
            Parameter(e, "restitution e", "", 0, 1, 0.7),
        ),
        (
            Panel(
                (-0.1, 2.4),
                (0, 2),
                (
                    line((-0.1, 0), (2.4, 0), color=GREY, width=2),
                    *levels,
                    path((TIME, y), color=BLUE),
                    dot((0, y), RED, radius=8),
                ),
                "time from now [s]",
                "height [m]",
                250,
            ),
        ),
        (
            Readout("speed before", -down, "m/s"),
            Readout("speed after", up, "m/s"),
            Readout("impulse", impulse, "N s"),
            Readout("energy lost", m * (down**2 - up**2) / 2, "J"),
        ),
        (Switch(inverse, "Divide by e instead of multiplying"), Switch(twice, "Count gravity twice")),
        (
            Check("The impulse is the change of momentum", m * (up - down) - impulse, "N s"),
            Check("An impact gives no energy", Max(0, m * (up**2 - down**2) / 2), "J"),
            Check("In flight dv/dt = −g", (free - v) / dt + G, "m/s²"),
        ),
        (Drag(0, (0, y), {y: Y, v: 0 * Y}),),
        Motion((y, v), dt, 400, step=(y + dt / 2 * (v + after), after)),
    )
