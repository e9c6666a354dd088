"""Writes book/back/solutions.md before each build: every exercise, and the solutions of the odd ones folded under them."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "book" / "back" / "solutions.md"
OPENING = """# Exercises and solutions

Every exercise of the book, chapter by chapter. The solutions of the odd ones are folded under them; the even ones are left to you.
"""


def text(cell):
    return "".join(cell["source"]).strip()


def facts(cell):
    return cell["metadata"].get("lagrangebook", {})


def output(cell):
    """What the cell printed or showed, as plain text."""
    shown = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.get("outputs", [])]
    return "".join("".join(piece) for piece in shown).strip()


def fence(code, language):
    return f"````{{code-block}} {language}\n{code}\n````"


def solution(cell):
    parts = [fence(text(cell), "python")] + ([fence(output(cell), "text")] if output(cell) else [])
    body = "\n\n".join(parts)
    return f":::::{{dropdown}} Solution of {facts(cell)['answer']}\n\n{body}\n:::::"


def question(cell):
    """A statement under a heading of its own; headings inside it become bold, links leave from book/back."""
    statement = re.sub(r"^#+\s*(.+)$", r"**\1**", text(cell), flags=re.M).replace("`../book/", "`../")
    return f"### {facts(cell)['question']}\n\n{statement}"


def chapter(path):
    """The exercises of one chapter, odd solutions included."""
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    title = next((m[1] for c in cells if (m := re.match(r"#\s+(.+)", text(c)))), path.stem)
    parts = [f"(exercises-{path.stem})=\n## {title}"]
    for cell in cells:
        if "setup" in cell["metadata"].get("tags", []):
            parts.append(f":::::{{dropdown}} Given\n\n{fence(text(cell), 'python')}\n:::::")
        elif "question" in facts(cell):
            parts.append(question(cell))
        elif "answer" in facts(cell) and int(facts(cell)["answer"].rpartition("-")[2]) % 2:
            parts.append(solution(cell))
    return "\n\n".join(parts)


def order(path):
    """Chapters in the order of the table of contents."""
    toc = (ROOT / "_toc.yml").read_text(encoding="utf8")
    return toc.find(f"/{path.stem}\n") % (len(toc) + 1), path.stem


def write(app=None, config=None):
    chapters = [chapter(path) for path in sorted((ROOT / "exercises").glob("*.ipynb"), key=order)]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n\n".join([OPENING, *chapters]) + "\n", encoding="utf8", newline="\n")


def setup(app):
    app.connect("config-inited", write, priority=10)
    return {"parallel_read_safe": True}
