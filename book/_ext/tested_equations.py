"""Prints beside each labelled equation the test that evaluates it, small and folded."""

import html
import sys
from pathlib import Path

from docutils import nodes

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "book"))

from book_equations import bindings, exemptions  # noqa: E402


def note(label, tests, reasons):
    """The line under one equation, or nothing for a label that is neither bound nor exempt."""
    if label in tests:
        where = "<br>".join(f"<code>{html.escape(test)}</code>" for test in tests[label])
        return f'<details class="tested-equation"><summary>tested</summary>{where}</details>'
    if label in reasons:
        reason = html.escape(reasons[label])
        return f'<details class="tested-equation exempt"><summary>not tested</summary>{reason}</details>'
    return ""


def mark(app, doctree, docname):
    if app.builder.format != "html":
        return
    tests, reasons = {}, exemptions()
    for binding in bindings():
        tests.setdefault(binding.label, []).append(binding.test)
    for equation in list(doctree.findall(nodes.math_block)):
        text = note(equation.get("label"), tests, reasons)
        if text:
            index = equation.parent.index(equation)
            equation.parent.insert(index + 1, nodes.raw("", text, format="html"))


def setup(app):
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True}
