"""The directive `formulas`: one line per label, its LaTeX taken from the page where it stands, so that the two cannot differ."""

import re
import sys
from functools import lru_cache
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "book"))

from book_equations import bindings, labelled  # noqa: E402
from book_pages import markdown, sources  # noqa: E402


@lru_cache(maxsize=1)
def tested():
    """Label to LaTeX, of every labelled equation of the book that a test evaluates."""
    bound = {binding.label for binding in bindings()}
    return {label: latex for path in sources() for label, latex in labelled(markdown(path)) if label in bound}


def lines(text):
    """The (label, words) pairs of a block: a label, then what the equation is."""
    return [tuple(line.split(maxsplit=1)) for line in text if line.strip()]


def bare(latex):
    """The formula without the punctuation of the sentence that it closed."""
    return re.sub(r"\s*(?:\\,)?\s*[.,;]\s*$", "", latex.strip())


class Formulas(SphinxDirective):
    has_content = True

    def run(self):
        equations, card = tested(), nodes.container(classes=["formula-card"])
        for label, words in lines(self.content):
            if label not in equations:
                raise self.error(f"{label}: no tested equation of the book has this label")
            row = nodes.container(classes=["formula"])
            row += self.parse_text_to_nodes(f"{words} {{eq}}`{label}`")
            row += nodes.math_block("", bare(equations[label]), nowrap=False, number=None, label=None)
            card += row
        return [card]


def setup(app):
    app.add_directive("formulas", Formulas)
    return {"parallel_read_safe": True}
