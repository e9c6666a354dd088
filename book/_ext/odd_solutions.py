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
    """What the cell printed or showed, as plain text; pictures aside."""
    data = [o.get("data", {}) for o in cell.get("outputs", [])]
    shown = [piece.get("text/plain", "") for piece in data if not any(kind.startswith("image/") for kind in piece)]
    printed = [o["text"] for o in cell.get("outputs", []) if "text" in o]
    return "".join("".join(piece) for piece in printed + shown).strip()


def fence(code, language):
    return f"````{{code-block}} {language}\n{code}\n````"


def folded(title, *parts):
    body = "\n\n".join(parts)
    return f":::::{{dropdown}} {title}\n\n{body}\n:::::"


def statement(cell):
    """A question: headings inside it become bold, links leave from book/back."""
    return re.sub(r"^#+\s*(.+)$", r"**\1**", text(cell), flags=re.M).replace("../book/", "../")


def is_odd(question):
    return int(question.rpartition("-")[2]) % 2


def chapter(path):
    """The exercises of one chapter, odd solutions included."""
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    title = next((m[1] for c in cells if (m := re.match(r"#\s+(?:Exercises:\s*)?(.+)", text(c)))), path.stem)
    parts = [f"(exercises-{path.stem})=\n## {title[0].upper()}{title[1:]}"]
    for cell in cells:
        if "setup" in cell["metadata"].get("tags", []):
            parts.append(folded("Given", fence(text(cell), "python")))
        elif "question" in facts(cell):
            parts.append(statement(cell))
        elif "answer" in facts(cell) and is_odd(facts(cell)["answer"]):
            shown = [fence(output(cell), "text")] if output(cell) else []
            parts.append(folded("Solution", fence(text(cell), "python"), *shown))
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
