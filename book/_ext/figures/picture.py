"""The still picture of a figure in SVG. Its script draws the same marks, see figures.js."""

import html
import math

from .expressions import callable_of, functions
from .form import Figure, Mark, Panel

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 340, 46, 10, 10, 40
CURVE_POINTS = 121
GREY = "#7a8089"


def clip(name: str, panel: int) -> str:
    return f"clip-{name}-{panel}"


def size(panel: Panel) -> tuple[float, float]:
    """Width and height of a panel's drawing."""
    across = WIDTH - LEFT - RIGHT
    equal = across * (panel.y[1] - panel.y[0]) / (panel.x[1] - panel.x[0])
    return WIDTH, TOP + BOTTOM + (equal if panel.height is None else panel.height)


def scale(panel: Panel) -> list[float]:
    """[x0, per x, y0, per y]: a point is drawn at (x0 + x·per x, y0 + y·per y)."""
    per_x = (WIDTH - LEFT - RIGHT) / (panel.x[1] - panel.x[0])
    per_y = -(size(panel)[1] - TOP - BOTTOM) / (panel.y[1] - panel.y[0])
    return [LEFT - panel.x[0] * per_x, per_x, TOP - panel.y[1] * per_y, per_y]


def ticks(low: float, high: float, count: int) -> list[float]:
    """About `count` round numbers in a range."""
    rough = (high - low) / count
    power = 10 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [step * k for k in range(first, math.floor(high / step + 1e-9) + 1)]


def frame(panel: Panel) -> str:
    """Axes, ticks and their names; nothing for a sketch without scales."""
    (w, h), (x0, kx, y0, ky) = size(panel), scale(panel)
    if not panel.xlabel and not panel.ylabel:
        return ""
    bottom, parts = h - BOTTOM, []
    for t in ticks(*panel.x, 5) if panel.xlabel else ():
        parts.append(
            f'<path d="M{x0 + t * kx:.1f} {TOP}V{bottom:.1f}" stroke="{GREY}" stroke-opacity=".2"/>'
            f'<text x="{x0 + t * kx:.1f}" y="{bottom + 15:.1f}" text-anchor="middle">{number(t)}</text>'
        )
    for t in ticks(*panel.y, max(2, round((bottom - TOP) / 45))) if panel.ylabel else ():
        parts.append(
            f'<path d="M{LEFT} {y0 + t * ky:.1f}H{w - RIGHT}" stroke="{GREY}" stroke-opacity=".2"/>'
            f'<text x="{LEFT - 5}" y="{y0 + t * ky + 4:.1f}" text-anchor="end">{number(t)}</text>'
        )
    xlabel, ylabel = html.escape(panel.xlabel), html.escape(panel.ylabel)
    middle, centred = (TOP + bottom) / 2, 'text-anchor="middle"'
    parts += [
        f'<path d="M{LEFT} {TOP}V{bottom:.1f}H{w - RIGHT}" fill="none" stroke="{GREY}"/>',
        f'<text x="{(LEFT + w - RIGHT) / 2:.1f}" y="{h - 6:.1f}" {centred}>{xlabel}</text>',
        f'<text transform="translate(11 {middle:.1f}) rotate(-90)" {centred}>{ylabel}</text>',
    ]
    return "".join(parts)


def number(value: float, digits: int | None = None) -> str:
    text = f"{value:.6g}" if digits is None else f"{value:.{digits}f}"
    text = text.replace("-", "−")
    return text[1:] if text.startswith("−") and not text.strip("−0.") else text


def drawn(mark: Mark, points: list, clip: str, height: float) -> str:
    """One mark in SVG, at points of the picture: lines and areas cut at the axes, no arrow shorter than 3."""
    if mark.head and math.dist(points[0], points[-1]) < 3:
        return ""
    (x, y), ahead, cut = points[-1], direction(points), f'clip-path="url(#{clip})"'
    corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    shapes = {
        "text": "",
        "dot": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{mark.radius:g}" fill="{mark.color}"/>',
        "area": f'<polyline points="{corners}" fill="{mark.color}" opacity="{mark.opacity:g}" {cut}/>',
    }
    text = (
        shapes.get(mark.kind)
        if mark.kind in shapes
        else (
            f'<polyline points="{corners}" fill="none" opacity="{mark.opacity:g}" stroke="{mark.color}" '
            f'stroke-width="{mark.width:g}" stroke-dasharray="{mark.dash}" {cut}/>'
        )
    )
    if mark.head:
        u, v = 9 * ahead[0], 9 * ahead[1]
        head = ((x, y), (x - u - 0.4 * v, y - v + 0.4 * u), (x - u + 0.4 * v, y - v - 0.4 * u))
        text += (
            f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in head)}" fill="{mark.color}" {cut}/>'
        )
    if mark.label:
        middle = mark.head or mark.kind == "text"
        x, y = (
            (x + (9 + 3.5 * len(mark.label)) * ahead[0], y + 13 * ahead[1] + 4) if middle else (x + 6, y - 6)
        )
        room = (4 if middle else 7) * len(mark.label)
        x, y = min(max(x, LEFT), WIDTH - room), min(max(y, 12), height - 4)
        anchor = "middle" if middle else "start"
        text += f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(mark.label)}</text>'
    return text


def direction(points: list) -> tuple[float, float]:
    """The unit vector along the last piece of a line; (0, 0) for a point."""
    (a, b), (c, d) = points[-2:] if len(points) > 1 else points * 2
    length = math.hypot(c - a, d - b) or 1
    return (c - a) / length, (d - b) / length


class Evaluated:
    """A figure with numbers for its parameters, in Python."""

    def __init__(self, figure: Figure, p: list | None = None):
        self.figure, self.p = figure, list(figure.start if p is None else p)
        self.code = {
            kind: [callable_of(figure, *f) for f in parts] for kind, parts in functions(figure).items()
        }
        self.at(self.p)

    def at(self, p: list) -> "Evaluated":
        n, m = len(self.figure.readouts), len(self.figure.checks)
        self.p, self.values = list(p), self.code["values"][0](p)()
        self.readouts, self.checks, self.rest = self.values[:n], self.values[n : n + m], self.values[n + m :]
        return self

    def path(self) -> list:
        """[parameters] at every step of the motion."""
        motion, p, all_p = self.figure.motion, list(self.p), [list(self.p)]
        places = [self.figure.symbols.index(s) for s in motion.state]
        for _ in range(motion.steps):
            p = self.advanced(p, places)
            all_p.append(p)
        return all_p

    def advanced(self, p: list, places: list) -> list:
        f, dt = self.code["motion"][0], self.figure.motion.dt

        def shifted(rates: list, by: float) -> list:
            moved = list(p)
            for place, rate in zip(places, rates):
                moved[place] = p[place] + by * rate
            return moved

        if not self.figure.motion.rates:
            moved = list(p)
            for place, value in zip(places, f(p)()):
                moved[place] = value
            return moved
        k1 = f(p)()
        k2 = f(shifted(k1, dt / 2))()
        k3 = f(shifted(k2, dt / 2))()
        k4 = f(shifted(k3, dt))()
        return shifted([a + 2 * b + 2 * c + d for a, b, c, d in zip(k1, k2, k3, k4)], dt / 6)

    def pictures(self, name: str) -> list[str]:
        """The marks of each panel in SVG."""
        rest, curves, paths = iter(self.rest), iter(self.code["curves"]), iter(self.code["paths"])
        travelled = self.path() if self.figure.motion else []
        pictures = []
        for k_panel, panel in enumerate(self.figure.panels):
            x0, kx, y0, ky = scale(panel)
            text = []
            for mark in panel.marks:
                if mark.kind == "curve":
                    low, high, point = next(rest), next(rest), next(curves)(self.p)
                    points = [point(low + (high - low) * k / (CURVE_POINTS - 1)) for k in range(CURVE_POINTS)]
                elif mark.kind == "path":
                    f = next(paths)
                    points = [f(p)(k * self.figure.motion.dt) for k, p in enumerate(travelled)]
                else:
                    points = [(next(rest), next(rest)) for _ in mark.points]
                points = [(x0 + x * kx, y0 + y * ky) for x, y in points]
                text.append(drawn(mark, points, clip(name, k_panel), size(panel)[1]))
            pictures.append("".join(text))
        return pictures
