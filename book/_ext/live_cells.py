"""Cells that run in the page: what `book/_live` needs to know of a notebook, and the runtime beside it.

Without a runtime (`python make.py pyodide`) the site has no live cells. A cell with the tag `not-live` says why in its
metadata, `"lagrangebook": {"not-live": "the reason"}`.
"""

import ast
import json
import re
import shutil
from pathlib import Path

from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
RUNTIME, SCRIPTS = ROOT / "_build" / "pyodide", ROOT / "book" / "_live"
DATA = re.compile(r"^[\w./-]+\.(?:json|urdf|csv|toml)$")


def code_cells(notebook):
    """The code cells of a notebook, read from its file."""
    return [cell for cell in json.loads(Path(notebook).read_text(encoding="utf8"))["cells"] if cell["cell_type"] == "code"]


def source(cell):
    return "".join(cell["source"])


def reason(cell):
    """Why a cell does not run in a page, or ""."""
    tagged = "not-live" in cell["metadata"].get("tags", [])
    return cell["metadata"].get("lagrangebook", {}).get("not-live", "it needs what a browser does not have") if tagged else ""


def files(cells):
    """Files of the checkout that cells name, as a path from its root."""
    strings = {node.value for cell in cells if not reason(cell) for node in ast.walk(ast.parse(source(cell)))
               if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return sorted(text for text in strings if DATA.match(text) and (ROOT / text).is_file())


def facts(docname, notebook):
    """What the page says to its script: every code cell in order, those without a visible input too."""
    cells = code_cells(notebook)
    told = [{"id": f"cell-{cell['id']}", "code": source(cell), "notLive": reason(cell),
             "raises": "raises-exception" in cell["metadata"].get("tags", [])} for cell in cells]
    return {"folder": docname.rpartition("/")[0], "files": files(cells), "cells": told}


def is_live(app, docname):
    return app.builder.format == "html" and RUNTIME.is_dir() and app.env.doc2path(docname, False).endswith(".ipynb")


def name_cells(app, doctree, docname):
    """Every cell of the page carries its notebook's id."""
    if is_live(app, docname):
        cells = json.loads(Path(app.env.doc2path(docname)).read_text(encoding="utf8"))["cells"]
        for node in doctree.findall(nodes.container):
            if node.get("nb_element") == "cell_code":
                node["ids"] = [f"cell-{cells[node['cell_index']]['id']}"]


def add_script(app, pagename, templatename, context, doctree):
    if doctree is not None and is_live(app, pagename):
        told = json.dumps(facts(pagename, app.env.doc2path(pagename))).replace("</", "<\\/")
        context["body"] += f'<script type="application/json" id="live-cells">{told}</script>'
        app.add_js_file("live/live.js", loading_method="defer")
        app.add_css_file("live/live.css")


def copy_scripts(app):
    """Before the pages are written, so that their addresses carry the scripts' digests."""
    if app.builder.format == "html" and RUNTIME.is_dir():
        shutil.copytree(SCRIPTS, Path(app.outdir) / "_static" / "live", dirs_exist_ok=True)


def copy_runtime(app, error):
    """The runtime and the data files, beside the site's other static files."""
    pages = [page for page in app.env.found_docs if is_live(app, page)]
    if error or not pages:
        return
    static = Path(app.outdir) / "_static"
    shutil.copytree(RUNTIME, static / "pyodide", dirs_exist_ok=True)
    for path in {path for page in pages for path in files(code_cells(app.env.doc2path(page)))}:
        target = static / "live" / "files" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)


def setup(app):
    app.connect("doctree-resolved", name_cells)
    app.connect("html-page-context", add_script)
    app.connect("builder-inited", copy_scripts)
    app.connect("build-finished", copy_runtime)
    return {"parallel_read_safe": True}
