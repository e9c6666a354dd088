"""Figures that answer: ```{live} name``` with a caption puts a figure of `figures` into a page.

The page holds a still picture of it, drawn at build time. A script brings it to life: sliders, handles,
"Break it". Without JavaScript, and in print, the still remains.
"""

from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from figures import FIGURES
from figures.write import page, script


class Live(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self):
        name = self.arguments[0]
        if name not in FIGURES:
            raise self.error(f"no figure {name!r}; there are {', '.join(FIGURES)}")
        used = self.env.metadata[self.env.docname].setdefault("live_figures", [])
        used.append(name)
        opening = nodes.raw("", page(name, FIGURES[name]()), format="html")
        return [
            opening,
            *self.parse_content_to_nodes(),
            nodes.raw("", "</figcaption></figure>", format="html"),
        ]


def write_scripts(app, env):
    """One file for each figure that a page shows."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for name in {name for page in env.metadata.values() for name in page.get("live_figures", ())}:
        (folder / f"{name}.js").write_text(script(name, FIGURES[name]()), encoding="utf8", newline="\n")


def add_scripts(app, pagename, templatename, context, doctree):
    names = app.env.metadata.get(pagename, {}).get("live_figures", ())
    for file in ("figures.js", *(f"figures/{name}.js" for name in names)) if names else ():
        app.add_js_file(file, loading_method="defer")


def setup(app):
    app.add_directive("live", Live)
    app.connect("env-updated", write_scripts)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True}
