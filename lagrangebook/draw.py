"""Pictures of mechanisms and of their motion, in a palette that reads on light and on dark pages.

Every function takes a matplotlib axes and returns the artists it drew. Importing the module sets the house
style: transparent SVG that is the same to the byte on every run.
"""

import base64
import hashlib
import io
import re
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from .kinematics import center_of_mass, poses
from .model import GROUND, Model
from .simulate import Trajectory
from .spatial import Array

GREY, BLUE, RED, GREEN, GOLD, VIOLET = "#7a8089", "#418bd8", "#b84a36", "#319b8f", "#c48008", "#8362a8"
PALETTE = (BLUE, RED, GREEN, GOLD, VIOLET, GREY)

STYLE = {
    "axes.edgecolor": GREY, "axes.labelcolor": GREY, "axes.titlecolor": GREY, "text.color": GREY,
    "xtick.color": GREY, "ytick.color": GREY, "grid.color": GREY, "axes.grid": True, "grid.alpha": 0.2,
    "axes.facecolor": "none", "figure.facecolor": "none", "savefig.facecolor": "none",
    "savefig.transparent": True, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.prop_cycle": matplotlib.cycler(color=PALETTE),
    "lines.linewidth": 1.8, "font.size": 10, "svg.hashsalt": "lagrangebook", "svg.fonttype": "path",
    "animation.html": "jshtml", "figure.constrained_layout.use": True}

BUTTONS = {"minus": "−", "fast-backward": "|◂", "step-backward": "◂", "play fa-flip-horizontal": "◀",
           "pause": "||", "play": "▶", "step-forward": "▸", "fast-forward": "▸|", "plus": "+"}


def _set_house_style() -> None:
    matplotlib.rcParams.update(STYLE)
    try:
        from IPython import get_ipython
        if get_ipython() is not None:
            from matplotlib_inline.backend_inline import set_matplotlib_formats
            set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})
    except ImportError:         # outside a notebook there is nothing to set
        pass


_set_house_style()


def figure(width: float = 6.0, height: float = 3.6, **subplots: Any) -> tuple:
    """(fig, ax) of the given size in inches, in the house style; keywords go to `plt.subplots`."""
    return plt.subplots(figsize=(width, height), **subplots)


def plane(model: Model) -> tuple[int, int]:
    """The two world axes to draw in: x–y for what falls along y, else x–z."""
    return (0, 1) if model.gravity[1] != 0 or model.gravity[2] == 0 else (0, 2)


def skeleton(model: Model, q: Array, tips: dict[int, Array] | None = None) -> dict[int, list[Array]]:
    """World lines (2, 3) of each body, from its joint to its children's joints; a last body ends at its tip.

    The tip is `tips[i]` in body axes, else twice the centre of mass, as on a uniform rod, or the point mass
    itself. A slider's first line is its way from the place of its joint.
    """
    world, lines = poses(model, q), {}
    for i, body in model.outward:
        com = np.asarray(body.inertia.com, dtype=float)
        tip = (tips or {}).get(i, 2 * com if np.any(np.asarray(body.inertia.about_com)) else com)
        ends = [world[j].p for j, other in model.outward
                if other.parent == i and other.joint.kind != "prismatic"]
        lines[i] = [np.array([world[i].p, end]) for end in ends or [world[i].R @ tip + world[i].p]]
        if body.joint.kind == "prismatic":
            start = (world[body.parent] @ body.placement if body.parent != GROUND else body.placement).p
            lines[i].insert(0, np.array([start, world[i].p]))
    return lines


def mechanism(ax: Any, model: Model, q: Array, labels: bool = True, tips: dict[int, Array] | None = None,
              color: str = BLUE, alpha: float = 1.0) -> list:
    """A mechanism at q in its plane: links, joints (circle, square on its slide), centres of mass, ground.

    With labels also gravity and every +q: an arc for an axis across the picture, a double arrow for one in it
    (right-hand rule), an arrow for a slide.
    """
    a, b = plane(model)
    lines, world, rest = skeleton(model, q, tips), poses(model, q), skeleton(model, model.zero, tips)
    every = [line[:, [a, b]] for parts in lines.values() for line in parts]
    size = np.ptp(np.concatenate(every), axis=0).max() or 1.0
    middle = np.mean([np.max(np.concatenate(every), axis=0), np.min(np.concatenate(every), axis=0)], axis=0)
    ax.update_datalim([middle - 0.35 * size, middle + 0.35 * size])         # what is narrow gets room
    stroke = dict(color=color, lw=4, alpha=alpha, solid_capstyle="round")
    artists = [ax.plot(*line.T, "-", **stroke)[0] for line in every]
    for i, body in model.outward:
        along = np.degrees(np.arctan2(*_joint_axis(model, world, i)[[b, a]]))
        marks = {"revolute": ("o", 8), "prismatic": ((4, 0, 45 + along), 11)}
        (shape, ms), at = marks.get(body.joint.kind, ("D", 8)), world[i].p[[a, b]]
        artists += ax.plot(*at, marker=shape, ms=ms, mfc="none", mec=color, mew=2, alpha=alpha)
        if body.inertia.mass:
            com = world[i].R @ body.inertia.com + world[i].p
            artists += ax.plot(*com[[a, b]], "o", ms=5, color=RED, alpha=alpha)
        if labels:
            artists += _positive_q(ax, model, world, i, size, lines[i][0][:, [a, b]])
        if body.parent == GROUND and body.joint.kind not in ("free", "planar"):
            width = 0.1 * (np.ptp(np.concatenate(sum(rest.values(), [])), axis=0).max() or 1.0)
            hangs = body.joint.kind == "revolute" and np.diff(rest[i][0][:, b]) < -2 * width
            artists += ground(ax, body.placement.p[[a, b]], width, above=hangs)
    ax.set_aspect("equal")
    ax.set(xlabel="x [m]", ylabel=f"{'xyz'[b]} [m]")
    return artists + (gravity_mark(ax, model) if labels else [])


def _joint_axis(model: Model, world: list, i: int) -> Array:
    """The joint's axis (3,) in the world."""
    body = model.bodies[i]
    return (world[body.parent].R if body.parent != GROUND else np.eye(3)) @ body.placement.R @ body.joint.axis


def _positive_q(ax: Any, model: Model, world: list, i: int, size: float, link: Array) -> list:
    kind, name, (a, b) = model.bodies[i].joint.kind, f"+$q_{{{model.slice_v(i).start + 1}}}$", plane(model)
    at, axis = world[i].p[[a, b]], _joint_axis(model, world, i)
    across = np.cross(np.eye(3)[a], np.eye(3)[b]) @ axis
    if kind == "revolute" and abs(across) > 0.5:
        ahead = np.arctan2(*np.diff(link, axis=0)[0][::-1]) + 0.3 * np.sign(across)     # from the link onward
        return angle_mark(ax, at, 0.16 * size, np.sign(across), name, ahead)
    if kind == "revolute":
        near, far = 0.17 * size * axis[[a, b]], 0.22 * size * axis[[a, b]]
        return arrow(ax, at, near) + arrow(ax, at, far, label=name)
    return arrow(ax, at, axis[[a, b]] * 0.22 * size, label=name) if kind == "prismatic" else []


def gravity_mark(ax: Any, model: Model) -> list:
    """The direction of the free fall, beside the upper right corner; nothing without gravity."""
    g = np.asarray(model.gravity, dtype=float)[list(plane(model))]
    if not g.any():
        return []
    away, head = -30 * g / np.linalg.norm(g), dict(arrowstyle="-|>", color=GREY)
    return [ax.annotate("$g$", (1.1, 0.8), xycoords="axes fraction", xytext=away, textcoords="offset points",
                        ha="center", va="center", arrowprops=head)]


def arrow(ax: Any, at: Array, along: Array, color: str = GREEN, label: str = "") -> list:
    """An arrow from `at` by the vector `along`, named at its tip."""
    tip = np.asarray(at) + along
    head = dict(arrowstyle="-|>", color=color, lw=1.8, shrinkA=0, shrinkB=0)
    room = ax.plot(*tip, ",", alpha=0)
    return [*room, ax.annotate("", tip, at, arrowprops=head),
            ax.annotate(label, tip, xytext=(4, 4), textcoords="offset points", color=color)]


def angle_mark(ax: Any, at: Array, radius: float, sense: float = 1.0, label: str = "",
               start: float = 0.5) -> list:
    """An arc with an arrow head: the positive sense of an angle (+1 counter-clockwise in the picture)."""
    angles = start + sense * np.linspace(0, 1.6, 24)
    x, y = at[0] + radius * np.cos(angles), at[1] + radius * np.sin(angles)
    head = dict(arrowstyle="-|>", color=GREEN, lw=1.5)
    return [*ax.plot(x, y, "-", color=GREEN, lw=1.5),
            ax.annotate("", (x[-1], y[-1]), (x[-3], y[-3]), arrowprops=head),
            ax.annotate(label, (x[12], y[12]), xytext=13 * np.array([np.cos(angles[12]), np.sin(angles[12])]),
                        textcoords="offset points", ha="center", va="center", color=GREEN)]


def ground(ax: Any, at: Array, width: float, above: bool = False) -> list:
    """The hatched ground under a joint, or above one that hangs."""
    (x, y), down = at, width if above else -width
    strokes = [ax.plot([x + s * width, x + (s - 0.35) * width], [y + 0.5 * down, y + 0.85 * down],
                       color=GREY, lw=1)[0] for s in (-0.6, -0.2, 0.2, 0.6, 1.0)]
    return [*strokes, *ax.plot([x - width, x + width], [y + 0.5 * down] * 2, color=GREY, lw=1.5)]


def energies(ax: Any, trajectory: Trajectory) -> list:
    """The energy ledger over time [J]: kinetic, potential, their sum, and the works that are not zero."""
    ledger = trajectory.energy
    curves = {"kinetic": ledger.kinetic, "potential": ledger.potential, "total": ledger.total,
              "drive": ledger.actuator, "friction": -ledger.dissipation,
              "moving constraint": ledger.constraint, "impact": -ledger.impact}
    artists = [ax.plot(trajectory.t, curve, label=name, color=colour, ls="--" if name == "total" else "-")[0]
               for (name, curve), colour in zip(curves.items(), (BLUE, GREEN, GREY, RED, GOLD, VIOLET, RED))
               if name in ("kinetic", "potential", "total") or np.any(curve != 0)]
    ax.set(xlabel="time [s]", ylabel="energy [J]")
    ax.legend(ncols=2)
    return artists


def phase_portrait(ax: Any, trajectory: Trajectory, joint: int = 0, unit: str = "rad") -> list:
    """q̇ over q of one joint, its start marked."""
    q, qd = trajectory.q[:, joint], trajectory.qd[:, joint]
    line = ax.plot(q, qd)
    ax.set(xlabel=f"$q_{{{joint + 1}}}$ [{unit}]", ylabel=rf"$\dot q_{{{joint + 1}}}$ [{unit}/s]")
    return line + ax.plot(q[0], qd[0], "o", color=RED)


def animate(model: Model, trajectory: Trajectory, frames: int = 20,
            tips: dict[int, Array] | None = None) -> Any:
    """The motion as an HTML player that waits for Play; deterministic, and with nothing fetched."""
    from IPython.display import HTML
    from matplotlib.animation import FuncAnimation

    a, b = plane(model)
    picks = np.linspace(0, len(trajectory.t) - 1, frames).astype(int)
    skeletons = [skeleton(model, trajectory.q[k], tips).values() for k in picks]
    points = np.concatenate([line[:, [a, b]] for bodies in skeletons for lines in bodies for line in lines])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.1 * max(high - low)
    fig, ax = plt.subplots(figsize=(4.2, 3.4), dpi=80)

    def draw_frame(k: int) -> list:
        ax.clear()
        artists = mechanism(ax, model, trajectory.q[k], labels=False, tips=tips)
        ax.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin),
               title=f"t = {trajectory.t[k]:.2f} s")
        return artists

    draw_frame(picks[0])
    fig.canvas.draw()
    fig.set_layout_engine("none")           # every frame in the layout of the first
    interval = 1000 * np.ptp(trajectory.t) / frames
    animation = FuncAnimation(fig, draw_frame, frames=picks, interval=interval)
    with matplotlib.rc_context({"savefig.transparent": False, "savefig.facecolor": "white"}):
        html = animation.to_jshtml(default_mode="once", embed_frames=True)
    plt.close(fig)
    html = re.sub(r'base64,([^"]+)"', lambda frame: f'base64,{_smaller(frame[1])}"', html)
    html = re.sub(r'<link rel="stylesheet"\s+href="https?://[^>]*>', "", html)
    html = re.sub(r'<i class="fa fa-([a-z -]+)"></i>', lambda icon: BUTTONS[icon[1]], html)
    html = re.sub(r"[0-9a-f]{32}", "PLAYER", html).replace("<img ", f'<img alt="{model.name} in motion" ')
    player = hashlib.sha256(html.encode()).hexdigest()[:8]
    return HTML(html.replace("PLAYER", player))


def _smaller(frame: str) -> str:
    """A PNG in base64, in 32 colours."""
    from PIL import Image
    picture, file = Image.open(io.BytesIO(base64.b64decode(frame.replace("\\\n", "")))), io.BytesIO()
    picture.convert("RGB").quantize(32).save(file, "png", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def still(ax: Any, model: Model, trajectory: Trajectory, frames: int = 6,
          tips: dict[int, Array] | None = None) -> list:
    """The same motion for print: several instants laid over each other, later ones darker."""
    picks = np.linspace(0, len(trajectory.t) - 1, frames).astype(int)
    return [artist for k, alpha in zip(picks, np.linspace(0.25, 1, frames))
            for artist in mechanism(ax, model, trajectory.q[k], labels=False, tips=tips, alpha=alpha)]
