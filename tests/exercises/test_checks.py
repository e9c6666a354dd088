"""Every question of the bank, graded: its reference is right, a blank is not, each named mistake is called by its name.

The same of what students hold (lagrangebook/data/checks, written by `python make.py checks`).
"""

import json
import runpy
from datetime import date

import pytest
from book_pages import ROOT, name, notebooks

from lagrangebook import check
from lagrangebook.assign.bank import chapter, varied
from lagrangebook.check.compare import judge, target

BANK = notebooks("exercises")
STORED = ROOT / "lagrangebook" / "data" / "checks"
BLANKS = (None, {"other": "ellipsis"}, "", [], {"outputs": [None], "modified": False})
PRIVATE = 20261201      # any seed but the public one
current = runpy.run_path(str(ROOT / "book" / "_ext" / "checks.py"))["current"]


def assert_judged(target, key):
    """The reference passes (a person reads a text), blanks fail, each mistake fails with its own sentence and credit."""
    verdict = judge(target, key["reference"])
    assert verdict.passed is (None if key["kind"] == "text" else True), (key["question"], verdict)
    for blank in BLANKS:
        assert judge(target, blank).passed is False and judge(target, blank).score == 0, (key["question"], blank)
    for mistake in key["mistakes"]:
        verdict = judge(target, mistake["data"])
        assert verdict.passed is False, (key["question"], mistake["code"])
        assert verdict.message == mistake["message"], (key["question"], mistake["code"], verdict.message)
        assert verdict.score == mistake.get("credit", 0)


@pytest.mark.parametrize("path", BANK, ids=name)
def test_references_pass_blanks_fail_and_mistakes_are_named(path):
    bank = chapter(path)
    space, _ = bank.space(list(bank.questions.values()))
    setup = {}
    for source in bank.setup:
        exec(compile(source, name(path), "exec"), setup)      # our own bank
    assert current(bank), f"{path.name} has changed since its checks were written: python make.py checks"
    stored = json.loads((STORED / f"{path.stem}.json").read_text(encoding="utf8"))
    for question in bank.questions.values():
        public = json.loads(json.dumps(check.key(question.facts, space), allow_nan=False))
        assert_judged(stored[question.id], public)
        private = check.key(question.facts, space, PRIVATE)
        assert_judged(target(private, private["reference"], PRIVATE), private)
        if question.facts["kind"] == "function":      # the jail has the setup cells alone
            own = check.answer(question.facts, space[question.variable], setup, PRIVATE)
            assert check.compare(private, private["reference"], own, PRIVATE), question.id
        else:
            verdict = check.check(question.id, space[question.variable])
            assert verdict.passed is not False, (question.id, verdict)


VARIED = [path for path in BANK if path.stem != "speed"]        # the chapters of parts 1 to 4


@pytest.mark.parametrize("path", VARIED, ids=name)
def test_a_chapter_has_two_questions_whose_numbers_can_be_exchanged(path):
    assert sum(bool(question.facts.get("variants")) for question in chapter(path).questions.values()) >= 2


@pytest.mark.parametrize("path", VARIED[date.today().toordinal() % 3::3], ids=name)
def test_with_other_numbers_references_pass_and_mistakes_are_named(path):
    """One variant of a third of the chapters, another third each day; questions without numbers to exchange aside."""
    own = varied(chapter(path), seed=5)
    chosen = [question for question in own.questions.values() if question.facts.get("variants")]
    space, _ = own.space(chosen)
    for question in chosen:
        key = check.key(question.facts, space, PRIVATE)
        assert_judged(target(key, key["reference"], PRIVATE), key)


@pytest.mark.parametrize("path", BANK, ids=name)
def test_a_check_holds_neither_formula_nor_number_that_answers_it(path):
    file = STORED / f"{path.stem}.json"
    bank, stored = chapter(path), json.loads(file.read_text(encoding="utf8"))
    text = file.read_text(encoding="utf8")
    assert set(stored) == {*bank.questions, "sources"}
    for question in bank.questions.values():
        own = stored[question.id]
        assert own["form"] != "numbers" or all(type(hashes) is list for hashes in own["part"]["entries"])
        for line in question.reference.splitlines():
            formula = line.partition("answer_")[2].partition("=")[2].strip()
            assert len(formula) < 12 or json.dumps(formula)[1:-1] not in text, question.id
        for mistake in question.facts["mistakes"]:
            assert len(mistake["code"]) < 12 or json.dumps(mistake["code"])[1:-1] not in text, question.id
