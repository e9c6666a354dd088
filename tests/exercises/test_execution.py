"""Every exercise says what it is (test_checks.py runs and grades its reference), and the book holds no even solution."""

import re

import pytest
from book_pages import ROOT, code_cells, name, notebooks, read

BANK = notebooks("exercises")
KINDS = {"equation", "expression", "matrix", "number", "function", "trajectory", "choice", "text"}
FACTS = {"question", "kind", "level", "minutes", "points", "objective", "chapter"}


def each(paths):
    return pytest.mark.parametrize("path", paths, ids=name)


def facts(path, key):
    """The `lagrangebook` metadata of a bank's cells that hold this key, as (facts, cell)."""
    cells = ((cell.metadata.get("lagrangebook", {}), cell) for cell in read(path).cells)
    return [(own, cell) for own, cell in cells if key in own]


@each(BANK)
def test_a_bank_has_five_questions_with_their_facts(path):
    questions = [own for own, _ in facts(path, "question")]
    assert len(questions) >= 5
    for number, own in enumerate(questions, 1):
        assert own["question"] == f"{path.stem}-{number}"
        assert FACTS <= set(own), f"{own['question']} lacks {FACTS - set(own)}"
        assert own["kind"] in KINDS and own["level"] in (1, 2, 3) and own["chapter"] == path.stem
    answered = [own["answer"] for own, _ in facts(path, "answer")]      # a long answer may take several cells, one after the other
    assert [name for name, after in zip(answered, [*answered[1:], None]) if name != after] == [own["question"] for own in questions]


@each(BANK)
def test_a_reference_is_told_in_short_cells(path):
    for cell in code_cells(path):
        assert sum(bool(line.strip()) for line in cell.source.splitlines()) <= 15, cell.source


@each(BANK)
def test_a_bank_asks_for_an_explanation_and_ends_in_a_project(path):
    questions = [own for own, _ in facts(path, "question")]
    assert any(own["kind"] in ("text", "choice") for own in questions)
    assert questions[-1]["level"] == 3 and questions[-1].get("rubric")


def test_the_book_holds_no_solution_of_an_even_exercise():
    page = ROOT / "book" / "back" / "solutions.md"
    if not page.exists():
        pytest.skip("the page is written when the book is built")
    text = page.read_text(encoding="utf8")
    for path in BANK:
        for own, cell in facts(path, "answer"):
            odd = int(own["answer"].rpartition("-")[2]) % 2
            assert (cell.source.strip() in text) == bool(odd), own["answer"]
    assigned = re.findall(r"^\s*(?:def )?answer_(\d+)\b(?:\s*=[^=]|\()", text, re.M)
    assert [number for number in assigned if int(number) % 2 == 0] == []


def test_the_pages_of_statements_hold_every_question_and_no_solution():
    pages = sorted((ROOT / "book").glob("*/exercises.md"))
    if not pages:
        pytest.skip("the pages are written when the book is built")
    text = "\n".join(page.read_text(encoding="utf8") for page in pages)
    for path in BANK:
        assert text.count(f"(exercises-{path.stem})=") == 1
        for own, cell in facts(path, "answer"):
            solution = cell.source.strip()
            assert len(solution) < 25 or solution not in text, own["answer"]
    assert re.findall(r"^(?:def )?answer_\d+\s*(?:=[^=]|\()", text, re.M) == []
