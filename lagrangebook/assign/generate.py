"""From the bank to a set: the folder to hand out, and the private key that it is graded with.

    ps1/release/    what students get: one notebook and the data files that its chapters name, nothing else
    ps1/private/    set.json (questions, references, seed) and policy.toml (deadline, late work); yours alone

A set is made only if it keeps four promises: the reference scores full, the blank notebook zero, every named
mistake its own message, and no file of the release holds a line of a solution.
"""

import ast
import json
import re
import secrets
import shutil
from dataclasses import asdict
from pathlib import Path

from lagrangebook import check

from .bank import bank, choose, varied
from .jail import PACKAGE, Jail, Limits
from .judge import Key, step

BLANK = "answer_{} = None  # your answer"
POLICY = '''# How this set is counted. Change it at any time; `grade` counts again without running anything.
due = ""              # "2026-12-01T23:59+01:00"; empty: no deadline. The roster may hold others
grace = 15            # minutes after the deadline that cost nothing
late = 0.1            # share of the points lost for each day begun
cutoff = 7            # days after which nothing counts; 0: no end
attempt = "latest"    # or "best": which of several attempts counts
'''
HEAD = """# {title}

Write each answer under its question: assign it to the variable that the question names, `answer_1` and so
on, or define the function of that name. Cells may be added, moved and split as you like; only these
variables count. Every cell has to run within {cell:.0f} seconds when the notebook is run from top to bottom.
"""


class Refused(ValueError):
    """A set that breaks a promise; the sentences say which."""


# -- the notebooks -------------------------------------------------------------------------------------------


def renamed(source, names):
    """The code or text with the variables of the bank, answer_5, under their names in the set."""
    return re.sub(r"\banswer_\d+\b", lambda match: names.get(match[0], match[0]), source)


def markdown(name, source, attachments=None):
    cell = {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}
    return cell | ({"attachments": attachments} if attachments else {})


def code(name, source):
    return {"cell_type": "code", "id": name, "metadata": {}, "source": source, "outputs": [],
            "execution_count": None}


def notebook(cells, title):
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel, "title": title}, "nbformat": 4,
            "nbformat_minor": 5}


def stub(question, number):
    """The blank answer; for a function with the arguments that it takes, as the statement names them."""
    blank = BLANK.format(number)
    if question.facts["kind"] == "function":
        functions = [node for node in ast.parse(question.reference).body if isinstance(node, ast.FunctionDef)]
        own = [node for node in functions if node.name == question.variable]
        blank += f": a function answer_{number}({', '.join(a.arg for a in own[0].args.args)})" if own else ": a function"
    return blank


def statement(question, number, names):
    body = re.sub(r"\A\s*\*\*\d+\.\*\*\s*", "", renamed(question.statement, names))
    points = question.facts["points"]
    return f"**{number}.** {body}\n\n*{points} point{'s' * (points != 1)}*"


def reference_code(question, own, names):
    """The reference under the set's names, after the references it builds on where those are not in the
    set."""
    before = "".join(reference_code(other, own, names)
                     for other in own.builds_on(question) if other.id not in names)
    mine = {q.variable: names.get(q.id, f"other_{q.variable}") for q in own.questions.values()}
    return before + renamed(question.reference, mine) + "\n"


def notebooks(title, chosen, chapters, limits, self_check):
    """(what students get, the same with every answer filled in)."""
    released, solved, seen = [markdown("title", HEAD.format(title=title, cell=limits.cell))], [], None
    names = {question.id: f"answer_{number}" for number, question in enumerate(chosen, 1)}
    if self_check:
        released.append(code("check", "from lagrangebook.check import check"))
    for number, question in enumerate(chosen, 1):
        own = chapters[question.chapter]
        if own.name != seen:
            seen, setup = own.name, [code(f"setup-{number}-{k}", source)
                                     for k, source in enumerate(own.setup, 1)]
            released += [markdown(f"chapter-{number}", f"## {own.title}"), *setup]
            solved += setup
        mine = {q.variable: names[q.id] for q in own.questions.values() if q.id in names}
        released.append(markdown(f"question-{number}", statement(question, number, mine),
                                 question.attachments))
        released.append(code(f"answer-{number}", stub(question, number)))
        if self_check:
            released.append(code(f"check-{number}", f'check("{question.id}", answer_{number})'))
        solved.append(code(f"answer-{number}", reference_code(question, own, names)))
    return notebook(released, title), notebook(solved, title)


# -- the key -------------------------------------------------------------------------------------------------


def keyed(chosen, chapters, seed):
    """(the questions with references and mistakes as data, CPU s of the slowest answer). Runs the
    instructor's notebooks."""
    used = dict.fromkeys(question.chapter for question in chosen)
    own = {name: chapters[name].space(chosen) for name in used}
    slowest, keys = max(seconds for _, seconds in own.values()), []
    for number, question in enumerate(chosen, 1):
        try:
            key = check.key(question.facts, own[question.chapter][0], seed)
            json.dumps(key, allow_nan=False)
        except Exception as error:
            raise Refused(f"{question.id}: its key cannot be made: {type(error).__name__}: {error}") from error
        keys.append(key | {"variable": f"answer_{number}"})
    return keys, slowest


def private_key(name, title, chosen, chapters, seed, choice):
    """The contents of set.json; the limits leave room for a program that is ten times slower than the
    reference."""
    questions, slowest = keyed(chosen, chapters, seed)
    limits = Limits(cell=max(Limits.cell, round(5 * slowest)), wall=max(Limits.wall, round(15 * slowest)))
    used = dict.fromkeys(question.chapter for question in chosen)
    files = sorted({file for chapter in used for file in chapters[chapter].files})
    return {"name": name, "title": title, "seed": seed, "choice": choice, "questions": questions,
            "setups": {chapter: list(chapters[chapter].setup) for chapter in used}, "files": files,
            "limits": asdict(limits)}


# -- the promises --------------------------------------------------------------------------------------------


def squeezed(source):
    return re.sub(r"\s+", "", source)


def solution_lines(chosen):
    """What may not go out: lines of references, code and messages of mistakes; but no line that says
    nothing."""
    for question in chosen:
        lines = [line for line in question.reference.splitlines()
                 if not re.match(r"\s*(?:def|import|from)\b", line)]
        lines += [line.partition("=")[2] for line in lines if re.match(r"\s*answer_\d+\s*=", line)]
        lines += [text for mistake in question.facts["mistakes"]
                  for text in (mistake["code"], mistake["message"])]
        for line in lines:
            line = squeezed(line.partition("#")[0] if "#" in line else line)
            if len(line) >= 12:
                yield question.id, line


def leaks(folder, chosen, keys):
    """Sentences on every solution line, and every number that is an answer, in any file of a folder."""
    secret = list(solution_lines(chosen))
    secret += [(key["question"], str(key["reference"])) for key in keys
               if isinstance(key["reference"], float) and len(str(key["reference"])) >= 6]
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        content = path.read_bytes().decode("utf8", "replace")
        if path.suffix == ".ipynb":
            content += "\n".join(cell["source"] for cell in json.loads(content)["cells"])
        content = squeezed(content)
        yield from (f"{path.name} holds a line of the solution of {name}: {line[:60]}"
                    for name, line in secret if line in content)


def broken(set_, release, solution, jail):
    """Sentences on every promise that the set breaks when it is graded."""
    key = Key(set_)
    for result in step(key, json.dumps(solution).encode(), jail)["questions"]:
        if result["passed"] is False or (result["passed"] is None and result["kind"] != "text"):
            yield f"{result['question']}: its own reference does not score full: {result['message']}"
    for result in step(key, json.dumps(release).encode(), jail)["questions"]:
        if result["passed"] is not False or result["score"]:
            yield f"{result['question']}: the blank notebook scores {result['score']}, not zero"
    for question in set_["questions"]:
        for mistake in question["mistakes"]:
            verdict = key.verdict(question, mistake["data"])
            if verdict.passed is not False or verdict.message != mistake["message"]:
                yield f"{question['question']}: the mistake {mistake['code']!r} gets {verdict.message!r}"


def selftest(folder, level):
    """The broken promises of a set as it lies there, on this machine."""
    set_ = json.loads((Path(folder) / "private" / "set.json").read_text(encoding="utf8"))
    release, solution = (json.loads(path.read_text(encoding="utf8")) for path in
                         (Path(folder) / "release" / f"{set_['name']}.ipynb",
                          Path(folder) / "private" / "solution.ipynb"))
    jail = Jail(level, Limits(**set_["limits"]), files=files_of(folder, set_))
    return list(broken(set_, release, solution, jail))


def files_of(folder, set_):
    return [Path(folder) / "release" / Path(file).name for file in set_["files"]]


# -- the set -------------------------------------------------------------------------------------------------


def generate(folder, choice, source, level, title=None, variant=None):
    """Make the set in `folder` from the bank `source`. `choice` are the arguments of `choose`; a set that is
    there already keeps its choice, its title and its seed unless new ones are given. Refused where a promise
    is broken."""
    folder, old = Path(folder), {}
    private = folder / "private"
    if (private / "set.json").exists():
        old = json.loads((private / "set.json").read_text(encoding="utf8"))
    choice = {"arguments": choice or old["choice"]["arguments"],
              "variant": variant if variant is not None else old.get("choice", {}).get("variant")}
    chapters = bank(source)
    if choice["variant"] is not None:
        chapters = {name: varied(own, choice["variant"]) for name, own in chapters.items()}
    chosen = choose(chapters, **choice["arguments"])
    if not chosen:
        raise Refused("no question fits; `list` shows what the bank has")
    for question in chosen:
        for other in chapters[question.chapter].builds_on(question):
            if other not in chosen and re.search(rf"\b{other.variable}\b", question.statement):
                raise Refused(f"{question.id} builds on {other.id}: choose both, or neither")
    seed, title = old.get("seed", secrets.randbelow(1 << 31)), title or old.get("title", folder.name)
    set_ = private_key(folder.name, title, chosen, chapters, seed, choice)
    limits = Limits(**set_["limits"])
    self_check = choice["variant"] is None and Path(source).resolve() == PACKAGE.parent / "exercises"
    release, solution = notebooks(title, chosen, chapters, limits, self_check)
    return write(folder, source, set_, release, solution, chosen, level)


def write(folder, source, set_, release, solution, chosen, level):
    """Try the set in a folder beside its place; put it there only if it keeps its promises."""
    trial = folder.with_name(f".{folder.name}-trial")
    shutil.rmtree(trial, ignore_errors=True)
    (trial / "release").mkdir(parents=True)
    (trial / "private").mkdir(mode=0o700)
    try:
        for file in set_["files"]:
            shutil.copy(Path(source) / file, trial / "release" / Path(file).name)
        dump(trial / "release" / f"{set_['name']}.ipynb", release)
        jail = Jail(level, Limits(**set_["limits"]), files=files_of(trial, set_))
        faults = [*broken(set_, release, solution, jail)]
        faults += leaks(trial / "release", chosen, set_["questions"])
        if faults:
            raise Refused("\n".join(faults))
        dump(trial / "private" / "set.json", set_)
        dump(trial / "private" / "solution.ipynb", solution)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(folder / "release", ignore_errors=True)
        shutil.move(trial / "release", folder / "release")
        (folder / "private").mkdir(mode=0o700, exist_ok=True)
        for file in (trial / "private").iterdir():
            file.replace(folder / "private" / file.name)
        policy = folder / "private" / "policy.toml"
        if not policy.exists():
            policy.write_text(POLICY, encoding="utf8")
    finally:
        shutil.rmtree(trial, ignore_errors=True)
    return set_


def dump(path, data):
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf8")
    if path.parent.name == "private":
        path.chmod(0o600)
