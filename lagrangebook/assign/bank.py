"""The instructor's notebooks: chapters, their setup cells, their questions and reference answers.

A bank is a folder with one notebook for each chapter. Its cells say what they are in their metadata:

    a code cell tagged "setup"                          imports, symbols, parameters; students get it
    a markdown cell with {"lagrangebook": {"question": "energy-3", "kind": ..., ...}}     the statement
    code cells with {"lagrangebook": {"answer": "energy-3"}}     the reference: the last one assigns or defines
                                                                 `answer_3`

Everything else (notes, checks, outputs) stays with the instructor. A question's or a setup cell's "variants",
{"0.8": ["0.6", "0.7", "0.9"]}, lists numbers that may be exchanged, as they stand in the text, by a seed.
"""

import json
import random
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path

KINDS = ("equation", "expression", "matrix", "number", "function", "trajectory", "choice", "text")
FACTS = ("question", "kind", "level", "minutes", "points", "objective", "chapter", "mistakes")


@dataclass(frozen=True, eq=False)
class Question:
    """One question: its metadata as written, the statement, and the code of the reference answer."""

    facts: dict
    statement: str
    reference: str
    attachments: dict

    @property
    def id(self):
        return self.facts["question"]

    @property
    def chapter(self):
        return self.facts["chapter"]

    @property
    def variable(self):
        """The name of the answer in the bank: question 3 of a chapter assigns `answer_3`."""
        return f"answer_{self.id.rpartition('-')[2]}"


@dataclass(frozen=True, eq=False)
class Chapter:
    """One notebook of the bank. `code` is all its code in order, as (kind, source), kind "setup", a
    question's id or ""."""

    name: str
    title: str
    setup: tuple
    questions: dict
    code: tuple
    variants: dict
    files: tuple

    def space(self, chosen):
        """(the namespace that these questions' code leaves behind, CPU s of the slowest answer). Runs the
        instructor's code."""
        space, slowest = {"__name__": "__main__"}, 0.0
        needed = {question.id for question in self.needed(chosen)}
        for kind, source in self.code:
            if kind in needed or kind not in self.questions:
                began = time.process_time()
                exec(compile(source, f"<{self.name} {kind}>", "exec", dont_inherit=True), space)
                slowest = max(slowest, (time.process_time() - began) * (kind in needed))
        return space, slowest

    def builds_on(self, question):
        """Questions whose answer this question's reference uses."""
        used = re.findall(r"\banswer_\d+\b", question.reference)
        return [other for other in self.questions.values()
                if other.variable in used and other.id != question.id]

    def needed(self, chosen):
        """The questions, and those that their references build on."""
        found = [question for question in chosen if question.chapter == self.name]
        for question in found:
            found += [other for other in self.builds_on(question) if other not in found]
        return found


def text(cell):
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def chapter(path):
    """Read one notebook of the bank; mistakes in it are named with their cell."""
    path = Path(path)
    notebook = json.loads(path.read_text(encoding="utf8"))
    facts, code, setup, variants, title = {}, [], [], {}, path.stem
    for cell in notebook["cells"]:
        own, source = cell["metadata"].get("lagrangebook", {}), text(cell)
        if "question" in own:
            missing = [fact for fact in FACTS if fact not in own]
            if missing or own["kind"] not in KINDS:
                raise ValueError(f"{path.name}, cell {cell.get('id')}: lacks {missing}, or its kind is none of {KINDS}")
            facts[own["question"]] = own, source, cell.get("attachments", {})
        elif "setup" in cell["metadata"].get("tags", ()):
            setup.append(source)
            variants |= own.get("variants", {})
        elif source.startswith("# ") and cell["cell_type"] == "markdown":
            title = source.partition("\n")[0][2:].removeprefix("Exercises: ")
        if cell["cell_type"] == "code":
            code.append(("setup" if source in setup else own.get("answer", ""), source))
    references = {name: "\n\n".join(source for kind, source in code if kind == name) for name, _ in code}
    lacking = [name for name in facts if name not in references]
    if lacking:
        raise ValueError(f"{path.name}: no code cell answers {', '.join(lacking)}")
    questions = {name: Question(own, source, references[name], images)
                 for name, (own, source, images) in facts.items()}
    files = tuple(notebook["metadata"].get("lagrangebook", {}).get("files", ()))
    return Chapter(path.stem, title, tuple(setup), questions, tuple(code), variants, files)


def bank(folder):
    """All chapters of a folder, by name."""
    paths = sorted(Path(folder).glob("*.ipynb"))
    if not paths:
        raise ValueError(f"{folder} holds no notebooks; --bank names the folder of the instructor's notebooks, like exercises")
    return {path.stem: chapter(path) for path in paths}


def choose(chapters, ids=(), names=(), levels=(), kinds=(), minutes=None):
    """Questions by id, or by chapter, level and kind, and then as many as fit into the minutes."""
    everything = [question for own in chapters.values() for question in own.questions.values()]
    known = {question.id: question for question in everything}
    unknown = [name for name in ids if name not in known] + [name for name in names if name not in chapters]
    if unknown:
        raise ValueError(f"the bank has no {', '.join(unknown)}; `list` shows what it has")
    chosen = [known[name] for name in ids] or [question for question in everything if (
        (not names or question.chapter in names) and (not levels or question.facts["level"] in levels)
        and (not kinds or question.facts["kind"] in kinds))]
    total, fitting = 0, []
    for question in chosen:
        if minutes is None or total + question.facts["minutes"] <= minutes:
            total, fitting = total + question.facts["minutes"], [*fitting, question]
    return fitting


# -- variants ------------------------------------------------------------------------------------------------


def exchange(source, numbers):
    """The text with numbers exchanged: whole numbers as written, neither part of a longer one nor of a
    name."""
    if not numbers:
        return source
    pattern = "|".join(re.escape(old) for old in sorted(numbers, key=len, reverse=True))
    return re.sub(rf"(?<![\w.])(?:{pattern})(?![\w]|\.\d)", lambda match: numbers[match[0]], source)


def drawn(variants, seed, name):
    """One value for each listed number, fixed by the seed and the name it belongs to."""
    draw = random.Random(f"{seed}/{name}")
    return {old: str(draw.choice(list(new))) for old, new in sorted(variants.items())}


def varied(own, seed):
    """The chapter with its listed numbers exchanged: in setup, statements, references and mistakes alike."""
    common = drawn(own.variants, seed, own.name)
    changes = {name: common | drawn(question.facts.get("variants", {}), seed, name)
               for name, question in own.questions.items()}
    questions = {name: varied_question(question, changes[name]) for name, question in own.questions.items()}
    code = tuple((kind, exchange(source, changes.get(kind, common))) for kind, source in own.code)
    setup = tuple(exchange(source, common) for source in own.setup)
    return replace(own, questions=questions, code=code, setup=setup)


def varied_question(question, numbers):
    absent = [old for old in question.facts.get("variants", {})
              if exchange(question.statement, {old: ""}) == question.statement]
    if absent:
        raise ValueError(f"{question.id}: the statement has no {', '.join(absent)} to vary")
    mistakes = [mistake | {"code": exchange(mistake["code"], numbers),
                           "message": exchange(mistake["message"], numbers)}
                for mistake in question.facts["mistakes"]]
    number, dot, rest = question.statement.partition(".** ")     # "**3.**" is no number of the exercise
    numbered = dot and len(number) < 8
    statement = number + dot + exchange(rest, numbers) if numbered else exchange(question.statement, numbers)
    return replace(question, statement=statement, reference=exchange(question.reference, numbers),
                   facts=question.facts | {"mistakes": mistakes})
