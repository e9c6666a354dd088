"""A figure written down: its script, and its place in a page."""

import html
import json
import re

from .expressions import function, functions
from .form import Check, Figure, Mark
from .picture import BOTTOM, LEFT, RIGHT, TOP, Evaluated, clip, frame, number, scale, size


def script(name: str, figure: Figure) -> str:
    """The figure as a JavaScript file."""
    code = ",\n".join(
        f"{json.dumps(kind)}: [{', '.join(function(figure, *f) for f in parts)}]"
        for kind, parts in functions(figure).items()
    )
    about = json.dumps(specification(figure), ensure_ascii=False)
    return f"liveFigures.define({json.dumps(name)}, {about}, {{\n{code}}});\n"


def specification(figure: Figure) -> dict:
    """All but the functions, for the script."""
    index = {symbol: i for i, symbol in enumerate(figure.symbols)}
    motion = figure.motion
    return {
        "start": figure.start,
        "parameters": [
            {"label": p.label, "unit": p.unit, "low": p.low, "high": p.high, "step": p.step}
            for p in figure.parameters
        ],
        "switches": [s.label for s in figure.switches],
        "readouts": [{"label": r.label, "unit": r.unit, "digits": r.digits} for r in figure.readouts],
        "checks": [{"label": c.label, "unit": c.unit} for c in figure.checks],
        "panels": [
            {"scale": scale(panel), "height": size(panel)[1], "marks": [style(m) for m in panel.marks]}
            for panel in figure.panels
        ],
        "drags": [{"panel": d.panel, "sets": [index[s] for s in d.sets]} for d in figure.drags],
        "motion": motion
        and {
            "state": [index[s] for s in motion.state],
            "dt": motion.dt,
            "steps": motion.steps,
            "smooth": bool(motion.rates),
        },
    }


def style(mark: Mark) -> dict:
    return {
        "kind": mark.kind,
        "n": len(mark.points),
        "color": mark.color,
        "width": mark.width,
        "dash": mark.dash,
        "head": mark.head,
        "label": mark.label,
        "radius": mark.radius,
        "opacity": mark.opacity,
    }


def words(text: str) -> str:
    """HTML, with x_N as a subscript."""
    return re.sub(r"_(\w)", r"<sub>\1</sub>", html.escape(text))


def verdict(check: Check, residual: float) -> str:
    holds = abs(residual) < 1e-6
    mark, rest = ("✓", "holds") if holds else ("✗", f"off by {abs(residual):.3g} {check.unit}")
    return (
        f'<li class="{"holds" if holds else "fails"}"><span>{mark}</span> {words(check.label)}: {rest}</li>'
    )


def page(name: str, figure: Figure) -> str:
    """The figure in a page up to its caption: a still that the script brings to life."""
    state, panels = Evaluated(figure), []
    for k, (panel, marks) in enumerate(zip(figure.panels, state.pictures(name))):
        w, h = size(panel)
        window = f'<rect x="{LEFT}" y="{TOP}" width="{w - LEFT - RIGHT}" height="{h - TOP - BOTTOM:.1f}"/>'
        panels.append(
            f'<svg viewBox="0 0 {w} {h:.1f}"><clipPath id="{clip(name, k)}">{window}</clipPath>'
            f'<g class="axes">{frame(panel)}</g><g class="marks">{marks}</g></svg>'
        )
    readouts = "".join(
        f"<span>{words(r.label)} = <output>{number(v, r.digits)}</output> {html.escape(r.unit)}</span>"
        for r, v in zip(figure.readouts, state.readouts)
    )
    checks = "".join(verdict(c, v) for c, v in zip(figure.checks, state.checks))
    return (
        f'<figure class="live" id="live-{name}" data-figure="{name}">'
        f'<div class="panels" role="img" aria-label="{html.escape(figure.alt)}">{"".join(panels)}</div>'
        f'<p class="readouts">{readouts}</p><ul class="checks">{checks}</ul>'
        f'<div class="controls"></div><figcaption>'
    )
