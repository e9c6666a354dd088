"""A figure written down: its expressions in JavaScript and in Python, its still picture in SVG, its place in a page."""

import html
import json
import math
import re
from typing import Any

import sympy

from .form import TIME, Check, Figure, Mark, Panel, X, Y

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 340, 46, 10, 10, 40
CURVE_POINTS = 121
GREY = "#7a8089"


# -- expressions ---------------------------------------------------------------------------------------------


def needed(lets: tuple[dict, ...], outputs: list) -> list[dict]:
    """The intermediate results that the outputs use, in order."""
    wanted, groups = set().union(*(sympy.sympify(e).free_symbols for e in outputs)), []
    for group in reversed(lets):
        group = {name: e for name, e in group.items() if name in wanted}
        wanted |= set().union(*(sympy.sympify(e).free_symbols for e in group.values()))
        groups.insert(0, group)
    return [group for group in groups if group]


def assignments(groups: list[dict], outputs: list) -> tuple[list, list]:
    """[(name, expression)] in order with common subexpressions once, and the outputs in terms of them."""
    fresh, lines = sympy.numbered_symbols("s_"), []
    for group in [*groups, {}]:
        given = [sympy.sympify(e) for e in (group.values() if group else outputs)]
        shared, rest = sympy.cse(given, symbols=fresh)
        lines += shared
        if group:
            lines += zip(group, rest)
    return lines, rest


def function(figure: Figure, outputs: list, arguments: tuple = (), language: str = "js") -> str:
    """The text of f(p)(arguments) -> outputs: p are the parameters, then the switches."""
    lines, outputs = assignments(needed(figure.lets, outputs), list(outputs))
    write = {"js": sympy.jscode, "py": sympy.pycode}[language]
    results = ", ".join(write(e) for e in outputs)
    names, inner = ", ".join(map(str, figure.symbols)), ", ".join(map(str, arguments))
    if language == "js":
        text = " ".join(f"const {name} = {write(e)};" for name, e in lines)
        return f"(p) => {{ const [{names}] = p; return ({inner}) => {{ {text} return [{results}]; }}; }}"
    text = "".join(f"        {name} = {write(e)}\n" for name, e in lines)
    return f"def outer(p):\n    {names}, = p\n    def inner({inner}):\n{text}        return [{results}]\n    return inner\n"


def callable_of(figure: Figure, outputs: list, arguments: tuple = ()) -> Any:
    """The same function in Python."""
    space: dict = {"math": math}
    exec(function(figure, outputs, arguments, "py"), space)
    return space["outer"]


def functions(figure: Figure) -> dict[str, list]:
    """{name: (outputs, arguments)} of everything that a figure computes."""
    marks = [mark for panel in figure.panels for mark in panel.marks]
    fixed = [*(r.value for r in figure.readouts), *(c.residual for c in figure.checks)]
    for mark in marks:
        fixed += [c for point in mark.points for c in point] if mark.kind not in ("curve", "path") else []
        fixed += mark.over[1:] if mark.kind == "curve" else ()
    fixed += [c for drag in figure.drags for c in drag.at]
    result = {"values": [(fixed, ())],
              "curves": [(list(m.points[0]), (m.over[0],)) for m in marks if m.kind == "curve"],
              "paths": [(list(m.points[0]), (TIME,)) for m in marks if m.kind == "path"],
              "drags": [(list(drag.sets.values()), (X, Y)) for drag in figure.drags]}
    if figure.motion:
        result["motion"] = [(list(figure.motion.rates or figure.motion.step), ())]
    return result


def script(name: str, figure: Figure) -> str:
    """The figure as a JavaScript file."""
    code = ",\n".join(f"{json.dumps(kind)}: [{', '.join(function(figure, *f) for f in parts)}]"
                      for kind, parts in functions(figure).items())
    return f"liveFigures.define({json.dumps(name)}, {json.dumps(specification(figure), ensure_ascii=False)}, {{\n{code}}});\n"


def specification(figure: Figure) -> dict:
    """All but the functions, for the script."""
    index = {symbol: i for i, symbol in enumerate(figure.symbols)}
    motion = figure.motion
    return {
        "start": figure.start,
        "parameters": [{"label": p.label, "unit": p.unit, "low": p.low, "high": p.high, "step": p.step}
                       for p in figure.parameters],
        "switches": [s.label for s in figure.switches],
        "readouts": [{"label": r.label, "unit": r.unit, "digits": r.digits} for r in figure.readouts],
        "checks": [{"label": c.label, "unit": c.unit} for c in figure.checks],
        "panels": [{"scale": scale(panel), "height": size(panel)[1], "marks": [style(m) for m in panel.marks]} for panel in figure.panels],
        "drags": [{"panel": d.panel, "sets": [index[s] for s in d.sets]} for d in figure.drags],
        "motion": motion and {"state": [index[s] for s in motion.state], "dt": motion.dt, "steps": motion.steps,
                              "smooth": bool(motion.rates)}}


def style(mark: Mark) -> dict:
    return {"kind": mark.kind, "n": len(mark.points), "color": mark.color, "width": mark.width, "dash": mark.dash,
            "head": mark.head, "label": mark.label, "radius": mark.radius, "opacity": mark.opacity}


# -- the still picture ---------------------------------------------------------------------------------------


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
        parts.append(f'<path d="M{x0 + t * kx:.1f} {TOP}V{bottom:.1f}" stroke="{GREY}" stroke-opacity=".2"/>'
                     f'<text x="{x0 + t * kx:.1f}" y="{bottom + 15:.1f}" text-anchor="middle">{number(t)}</text>')
    for t in ticks(*panel.y, max(2, round((bottom - TOP) / 45))) if panel.ylabel else ():
        parts.append(f'<path d="M{LEFT} {y0 + t * ky:.1f}H{w - RIGHT}" stroke="{GREY}" stroke-opacity=".2"/>'
                     f'<text x="{LEFT - 5}" y="{y0 + t * ky + 4:.1f}" text-anchor="end">{number(t)}</text>')
    middle = (TOP + bottom) / 2
    parts += [f'<path d="M{LEFT} {TOP}V{bottom:.1f}H{w - RIGHT}" fill="none" stroke="{GREY}"/>',
              f'<text x="{(LEFT + w - RIGHT) / 2:.1f}" y="{h - 6:.1f}" text-anchor="middle">{html.escape(panel.xlabel)}</text>',
              f'<text transform="translate(11 {middle:.1f}) rotate(-90)" text-anchor="middle">{html.escape(panel.ylabel)}</text>']
    return "".join(parts)


def number(value: float, digits: int | None = None) -> str:
    text = f"{value:.6g}" if digits is None else f"{value:.{digits}f}"
    text = text.replace("-", "−")
    return text[1:] if text.startswith("−") and not text.strip("−0.") else text


def drawn(mark: Mark, points: list, clip: str, height: float) -> str:
    """One mark in SVG at these points of the picture, lines and areas cut at the axes; an arrow shorter than 3 is nothing."""
    if mark.head and math.dist(points[0], points[-1]) < 3:
        return ""
    (x, y), ahead, cut = points[-1], direction(points), f'clip-path="url(#{clip})"'
    corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    shapes = {
        "text": "", "dot": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{mark.radius:g}" fill="{mark.color}"/>',
        "area": f'<polyline points="{corners}" fill="{mark.color}" opacity="{mark.opacity:g}" {cut}/>'}
    text = shapes.get(mark.kind) if mark.kind in shapes else (
        f'<polyline points="{corners}" fill="none" opacity="{mark.opacity:g}" stroke="{mark.color}" '
        f'stroke-width="{mark.width:g}" stroke-dasharray="{mark.dash}" {cut}/>')
    if mark.head:
        u, v = 9 * ahead[0], 9 * ahead[1]
        head = ((x, y), (x - u - 0.4 * v, y - v + 0.4 * u), (x - u + 0.4 * v, y - v - 0.4 * u))
        text += f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in head)}" fill="{mark.color}" {cut}/>'
    if mark.label:
        middle = mark.head or mark.kind == "text"
        x, y = (x + (9 + 3.5 * len(mark.label)) * ahead[0], y + 13 * ahead[1] + 4) if middle else (x + 6, y - 6)
        x, y = min(max(x, LEFT), WIDTH - 16), min(max(y, 12), height - 4)
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
        self.code = {kind: [callable_of(figure, *f) for f in parts] for kind, parts in functions(figure).items()}
        self.at(self.p)

    def at(self, p: list) -> "Evaluated":
        n, m = len(self.figure.readouts), len(self.figure.checks)
        self.p, self.values = list(p), self.code["values"][0](p)()
        self.readouts, self.checks, self.rest = self.values[:n], self.values[n:n + m], self.values[n + m:]
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


def clip(name: str, panel: int) -> str:
    return f"clip-{name}-{panel}"


def words(text: str) -> str:
    """HTML, with x_N as a subscript."""
    return re.sub(r"_(\w)", r"<sub>\1</sub>", html.escape(text))


def verdict(check: Check, residual: float) -> str:
    holds = abs(residual) < 1e-6
    mark, rest = ("✓", "holds") if holds else ("✗", f"off by {abs(residual):.3g} {check.unit}")
    return f'<li class="{"holds" if holds else "fails"}"><span>{mark}</span> {words(check.label)}: {rest}</li>'


def page(name: str, figure: Figure) -> str:
    """The figure in a page up to its caption: a still that the script brings to life."""
    state, panels = Evaluated(figure), []
    for k, (panel, marks) in enumerate(zip(figure.panels, state.pictures(name))):
        w, h = size(panel)
        window = f'<rect x="{LEFT}" y="{TOP}" width="{w - LEFT - RIGHT}" height="{h - TOP - BOTTOM:.1f}"/>'
        panels.append(f'<svg viewBox="0 0 {w} {h:.1f}"><clipPath id="{clip(name, k)}">{window}</clipPath>'
                      f'<g class="axes">{frame(panel)}</g><g class="marks">{marks}</g></svg>')
    readouts = "".join(f"<span>{words(r.label)} = <output>{number(v, r.digits)}</output> {html.escape(r.unit)}</span>"
                       for r, v in zip(figure.readouts, state.readouts))
    checks = "".join(verdict(c, v) for c, v in zip(figure.checks, state.checks))
    return (f'<figure class="live" id="live-{name}" data-figure="{name}">'
            f'<div class="panels" role="img" aria-label="{html.escape(figure.alt)}">{"".join(panels)}</div>'
            f'<p class="readouts">{readouts}</p><ul class="checks">{checks}</ul><div class="controls"></div><figcaption>')
