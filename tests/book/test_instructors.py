"""The instructors' page: its questions exist, its plan names chapters, and its commands grade a class of five."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys

import pytest
from book_pages import ROOT, toc

from lagrangebook.assign.__main__ import arguments
from lagrangebook.assign.bank import bank, varied
from lagrangebook.assign.generate import POLICY
from lagrangebook.assign.jail import isolation

PAGE = (ROOT / "book" / "back" / "instructors.md").read_text(encoding="utf8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```", PAGE, re.M | re.S)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]
ROWS = re.findall(r"^\|[^|\n]*\| `(\w+-\d)` \| (\w+) \| (\d) \| (\d+) \|$", PAGE, re.M)


@pytest.fixture(scope="module")
def questions():
    return {name: own for chapter in bank(ROOT / "exercises").values() for name, own in chapter.questions.items()}


def test_each_part_starts_with_four_questions_of_the_bank_as_printed(questions):
    assert len(ROWS) == 16
    for name, kind, level, minutes in ROWS:
        own = questions[name].facts
        assert (own["kind"], str(own["level"]), str(own["minutes"])) == (kind, level, minutes), name
    for first in range(0, 16, 4):
        assert ROWS[first + 3][1] in ("text", "choice")
    odd = [name for name, *_ in ROWS if int(name[-1]) % 2]
    assert all(questions[name].facts["kind"] == "text" for name in odd)


def test_the_plan_names_chapters_of_the_book():
    named = re.findall(r"\{doc\}`\.\./([a-z_/]+)`", PAGE)
    assert len(named) > 20 and {f"book/{name}" for name in named} <= set(toc())
    assert re.findall(r"^\| (\d+) \|", PAGE, re.M) == [str(week) for week in range(1, 13)]


def test_a_set_is_handed_out_after_its_chapters():
    weeks = re.findall(r"^\| \d+ \| (.*?) \| ?(.*)\|$", PAGE, re.M)
    for number, word in enumerate(("first set", "second set", "third set", "fourth set")):
        (week,) = [k for k, (_, handed) in enumerate(weeks) if word in handed]
        read = " ".join(chapters for chapters, _ in weeks[:week + 1])
        for name, *_ in ROWS[4 * number:4 * number + 4]:
            assert f"/{name[:-2]}`" in read, f"{word}: {name}"


def test_every_printed_command_is_one_and_names_questions_that_exist(questions):
    ours = [shlex.split(line)[3:] for line in COMMANDS if line.startswith("python -m lagrangebook.assign")]
    assert {words[0] for words in ours} > {"list", "generate", "selftest", "grade", "report", "export", "gradescope"}
    for words in ours:
        if words != ["--help"]:
            options = arguments().parse_args(words)
            own = options.questions if options.command == "generate" and options.bank == "exercises" else []
            assert set(own) <= set(questions), words


def test_every_question_of_the_printed_variant_has_numbers_to_exchange():
    (words,) = [line.split() for line in COMMANDS if "--variant" in line]
    for name in words[words.index("quiz") + 1:words.index("--variant")]:
        own = bank(ROOT / "exercises")[name.rpartition("-")[0]]
        assert varied(own, 7).questions[name].statement != own.questions[name].statement, name


def test_the_printed_policy_is_the_one_that_a_set_gets():
    (printed,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)
    def keys(text):
        return re.findall(r"^(\w+) = ", text, re.M)
    assert keys(printed) == keys(POLICY) and printed.splitlines()[1:] == POLICY.splitlines()[2:]


# -- the whole path, as printed ------------------------------------------------------------------------------


def class_of_five(folder):
    """Beside the two of the page: one half right, one wrong everywhere, one right with lost metadata and cells."""
    release = json.loads((folder / "ps1/release/ps1.ipynb").read_text(encoding="utf8"))
    solution = json.loads((folder / "ps1/private/solution.ipynb").read_text(encoding="utf8"))
    solved = {cell["id"]: cell["source"] for cell in solution["cells"]}

    def hand_in(student, answers, keep=lambda cell: True, strip=False):
        cells = [dict(cell, source=answers.get(cell["id"], cell["source"])) for cell in release["cells"] if keep(cell)]
        cells = [{"cell_type": cell["cell_type"], "source": cell["source"], "metadata": {}} for cell in cells] if strip else cells
        notebook = release | {"cells": cells} | ({"metadata": {}} if strip else {})
        (folder / "submissions" / f"{student}.ipynb").write_text(json.dumps(notebook), encoding="utf8")

    hand_in("cleo", {"answer-2": solved["answer-2"]})
    hand_in("dan", {"answer-1": "answer_1 = m * x", "answer-2": "answer_2 = rdd", "answer-3": "answer_3 = 3", "answer-4": "answer_4 = ''"})
    hand_in("eva", solved, keep=lambda cell: cell["cell_type"] == "code" and "check" not in cell["source"], strip=True)


def rows(path):
    with open(path, newline="", encoding="utf8") as file:
        return list(csv.DictReader(file))


def mark_by_hand(folder):
    marks = rows(folder / "marks.csv")
    assert {own["question"] for own in marks} == {"rp_arm-7"}
    text = "student,question,points,comment\n" + "".join(f"{own['student']},{own['question']},{own['of']},\n" for own in marks)
    (folder / "marks.csv").write_text(text, encoding="utf8")


def run(folder, line):
    """One printed line in the shell, with this Python; what it printed."""
    paths = {"PATH": f"{folder}/bin{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, shell=True, cwd=folder, env=os.environ | paths, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """The folder in which every printed command has run, in order."""
    if isolation() != "bubblewrap":
        pytest.skip("the page's commands want bubblewrap")
    folder = tmp_path_factory.mktemp("term")
    (folder / "bin").mkdir()
    (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    (folder / "bin" / "python").chmod(0o755)
    (folder / "exercises").symlink_to(ROOT / "exercises")
    (roster,) = re.findall(r"^```text\n(student,.*?)^```", PAGE, re.M | re.S)
    more = "cleo,Cleo Marsh,,,,\ndan,Dan Abara,,,,\neva,Eva Lindt,,,,\nfay,Fay Ito,,,,\n"
    (folder / "class.csv").write_text(roster + more, encoding="utf8")
    after = {"cp ps1/release/ps1.ipynb submissions/ben.ipynb": class_of_five, "cp ps1/to_mark.csv marks.csv": mark_by_hand}
    printed = []
    for line in COMMANDS:
        printed.append(run(folder, line))
        after.get(line, lambda folder: None)(folder)
    return folder, printed


@pytest.mark.slow
def test_the_printed_commands_give_every_student_the_marks_that_were_earned(term, questions):
    folder, _ = term
    set_ = ("energy-4", "lagrange-6", "kinetic_matrix-4", "rp_arm-7")
    full = sum(questions[name].facts["points"] for name in set_)
    grades = {own["student"]: own for own in rows(folder / "ps1/grades.csv")}
    totals = {student: float(own["total"]) for student, own in grades.items()}
    assert totals["ada"] == totals["eva"] == full
    assert totals["ben"] == totals["dan"] == totals["fay"] == 0 and grades["fay"]["status"] == "missing"
    assert totals["cleo"] == questions["lagrange-6"].facts["points"]


@pytest.mark.slow
def test_the_printed_commands_leave_the_files_that_the_page_names(term):
    folder, _ = term
    for name in ("ps1/canvas.csv", "ps1/moodle.csv", "grades.csv", "ps1/report.md", "ps1/similarity.csv",
                 "ps1/private/gradescope.zip", "quiz/release/quiz.ipynb", "midterm/release/midterm.ipynb"):
        assert (folder / name).stat().st_size, name
    assert len(list((folder / "ps1/feedback").glob("*.html"))) == 6
    assert {"ada", "eva"} in [{own["student"], own["and"]} for own in rows(folder / "ps1/similarity.csv")]


@pytest.mark.slow
def test_self_checks_go_out_with_the_books_own_questions_and_with_no_others(term):
    folder, _ = term
    checks = {name: "check(" in (folder / name / "release" / f"{name}.ipynb").read_text(encoding="utf8")
              for name in ("ps1", "quiz", "midterm")}
    assert checks == {"ps1": True, "quiz": False, "midterm": False}
