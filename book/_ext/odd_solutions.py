"""Writes pages from exercises/*.ipynb before each build: the statements of each part, book/<part>/exercises.md, and
the solutions of the odd ones, book/back/solutions.md. The even ones stay out of the site."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATEMENTS = """# Exercises: {part}

The exercises of this part, chapter by chapter, from warm-up (level 1) to a project (level 3). Solutions of the odd ones are in
{{doc}}`../back/solutions`; the even ones are left to you. {{ref}}`A notebook to work in <exercises-in-a-notebook>` has the
same statements, room for answers and checks of them.
"""
SOLUTIONS = """# Solutions of odd exercises

One solution each, folded; other forms of it may be as right. Try first: a solution read before an attempt teaches little.
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
    """A question: headings inside it become bold, links leave from a folder of the book."""
    return re.sub(r"^#+\s*(.+)$", r"**\1**", text(cell), flags=re.M).replace("../book/", "../")


def is_odd(question):
    return int(question.rpartition("-")[2]) % 2


def title(path, cells):
    words = next((m[1] for c in cells if (m := re.match(r"#\s+(?:Exercises:\s*)?(.+)", text(c)))), path.stem)
    return words[0].upper() + words[1:]


def effort(own):
    """What a question asks for, in small print; an odd one leads to its solution."""
    words = [f"level {own['level']}", f"{own['minutes']} minutes"] if "level" in own else []
    words += [f"{{ref}}`solution <solution-{own['question']}>`"] if is_odd(own["question"]) else []
    return f"*{own.get('objective', 'Exercise')}:* {', '.join(words)}"


def statements(path, cells):
    """The exercises of one chapter: what is given, and what is asked."""
    parts = [f"(exercises-{path.stem})=\n## {title(path, cells)}"]
    for cell in cells:
        if "setup" in cell["metadata"].get("tags", []):
            parts.append(folded("Given", fence(text(cell), "python")))
        elif "question" in facts(cell):
            parts += [statement(cell), effort(facts(cell))]
    return "\n\n".join(parts)


def solutions(path, cells):
    """The odd solutions of one chapter."""
    parts = [f"## {title(path, cells)}\n\nTo the {{ref}}`statements <exercises-{path.stem}>`."]
    asked = {facts(cell)["question"]: facts(cell) for cell in cells if "question" in facts(cell)}
    for question in filter(is_odd, asked):
        shown = []
        for cell in (cell for cell in cells if facts(cell).get("answer") == question):
            shown += [fence(text(cell), "python"), *([fence(output(cell), "text")] if output(cell) else [])]
        name = f"Exercise {question.rpartition('-')[2]}: {asked[question].get('objective', path.stem)}"
        parts.append(f"(solution-{question})=\n\n" + folded(name, *shown))
    return "\n\n".join(parts)


def chapters():
    """[(part's caption, its folder, [banks of its chapters])] in the order of the table of contents."""
    for part in (ROOT / "_toc.yml").read_text(encoding="utf8").split("- caption: ")[1:]:
        caption, files = part.partition("\n")[0].strip(), re.findall(r"file: (book/\S+)/(\w+)", part)
        banks = [path for _, name in files if (path := ROOT / "exercises" / f"{name}.ipynb").exists()]
        if banks:
            yield caption, ROOT / files[0][0], banks


def put(page, *parts):
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n\n".join(parts) + "\n", encoding="utf8", newline="\n")


def write(app=None, config=None):
    solved = []
    for caption, folder, banks in chapters():
        read = [(path, json.loads(path.read_text(encoding="utf8"))["cells"]) for path in banks]
        put(folder / "exercises.md", STATEMENTS.format(part=caption), *(statements(*own) for own in read))
        solved += [solutions(*own) for own in read]
    put(ROOT / "book" / "back" / "solutions.md", SOLUTIONS, *solved)


def setup(app):
    app.connect("config-inited", write, priority=10)
    return {"parallel_read_safe": True}
