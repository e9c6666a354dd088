"""The directive `claims`: one topic of book/data/claims.json, a block per claim that reads on a telephone."""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

DATA = Path(__file__).resolve().parents[1] / "data" / "claims.json"


def printed(text):
    """Minus signs and powers of ten as a book prints them."""
    return re.sub(r"(?<=\d)e(-\d+)", r"$\\cdot 10^{\1}$", re.sub(r"(?<![\w$}-])-(?=\d)", "−", text))


def checked(claim):
    """Where the claim is checked, as Markdown."""
    where = claim["where"]
    page = f"{{doc}}`/book/{where['chapter']}`"
    if "cell" in where:
        name = f"cell `{where['cell']}`"
    else:
        path, _, function = where["test"].partition("::")
        name = f"`{function}` in `{path.rpartition('/')[2]}`"
    again = " Numbers recomputed in `test_claims.py`." if claim["values"] else ""
    return f"*Checked:* {printed(claim['check'])} See {page}, {name}.{again}"


class Claims(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        self.env.note_dependency(str(DATA))
        claims = [c for c in json.loads(DATA.read_text(encoding="utf8"))["claims"] if c["topic"] == self.arguments[0]]
        if not claims:
            raise self.error(f"no claim has the topic {self.arguments[0]!r}")
        return [self.block(claim) for claim in claims]

    def block(self, claim):
        label = f"claim-{claim['id']}"
        node = nodes.container(classes=["claim", claim["verdict"].replace(" ", "-")], ids=[label], names=[label])
        self.state.document.note_explicit_target(node)
        lines = [f"**{claim['id']}** · **{claim['verdict']}**", printed(claim["claim"]), f"*Right:* {printed(claim['right'])}", checked(claim)]
        text = nodes.Element()
        for line in lines:
            text += self.parse_text_to_nodes(line)
        node += text.children
        return node


def setup(app):
    app.add_directive("claims", Claims)
    return {"parallel_read_safe": True}
