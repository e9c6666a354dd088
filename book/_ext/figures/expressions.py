"""The expressions of a figure as functions, in JavaScript and in Python."""

import math
from typing import Any

import sympy

from .form import TIME, Figure, X, Y


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
    head = f"def outer(p):\n    {names}, = p\n    def inner({inner}):\n"
    return f"{head}{text}        return [{results}]\n    return inner\n"


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
    result = {
        "values": [(fixed, ())],
        "curves": [(list(m.points[0]), (m.over[0],)) for m in marks if m.kind == "curve"],
        "paths": [(list(m.points[0]), (TIME,)) for m in marks if m.kind == "path"],
        "drags": [(list(drag.sets.values()), (X, Y)) for drag in figure.drags],
    }
    if figure.motion:
        result["motion"] = [(list(figure.motion.rates or figure.motion.step), ())]
    return result
