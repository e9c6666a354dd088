"""Docstrings on the page of the package as they stand in the source: prose as prose, equations and tables in their own type.

They are written to be read in `help()`: Unicode equations, arguments as `name : (shape) [unit]`. Marks that
reStructuredText would take for its own are escaped; `code` in single back quotes becomes code.
"""

import re

LITERAL = re.compile(r"^(\s|>>> )|^[\w, ()]+ : |^returns\s+:", re.M)


def paragraph(lines):
    """Prose, escaped; or a literal block, where a line is indented, an argument or an example."""
    block = "\n".join(lines)
    if LITERAL.search(block):
        language = "pycon" if ">>> " in block else "text"
        return [f".. code-block:: {language}", "", *(f"   {line}" for line in lines), ""]
    pieces = re.split(r"(`+[^`]+`+)", block)
    prose = [f"``{p.strip('`')}``" if k % 2 else re.sub(r"([\\*_|])", r"\\\1", p) for k, p in enumerate(pieces)]
    return [*"".join(prose).split("\n"), ""]


def plain(app, what, name, obj, options, lines):
    """Replace the lines of a docstring in place."""
    blocks, block = [], []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            blocks.append(block)
            block = []
    lines[:] = [line for block in blocks for line in paragraph(block)]


def setup(app):
    app.connect("autodoc-process-docstring", plain)
    return {"parallel_read_safe": True}
