"""What is released holds no even solution: wheel and sdist are the package's folder, and the folder has none."""

import json
import re
import tomllib

import pytest
from book_pages import ROOT

from lagrangebook.assign.bank import bank

BANK = bank(ROOT / "exercises")


def squeezed(text):
    return re.sub(r"\s+", "", text)


def even_references():
    return {name: squeezed(question.reference) for chapter in BANK.values() for name, question in chapter.questions.items()
            if int(name.rpartition("-")[2]) % 2 == 0}


@pytest.fixture(scope="module")
def released():
    """Every file that the package's folder brings into wheel and sdist, as text without white space."""
    files = [path for path in (ROOT / "lagrangebook").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(ROOT).as_posix(): path.read_bytes().decode("utf8", "replace") for path in files}


def test_wheel_and_sdist_are_the_package_and_nothing_is_added_to_them():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
    assert project["build-system"]["build-backend"] == "flit_core.buildapi"      # takes the module's folder
    assert "flit" not in project.get("tool", {})                                 # no [tool.flit.sdist] include
    assert not (ROOT / "lagrangebook" / "exercises").exists()


def test_no_file_of_the_package_holds_the_reference_of_an_even_exercise(released):
    everything = {name: squeezed(text) for name, text in released.items()}
    held = [(name, question) for question, reference in even_references().items()
            for name, text in everything.items() if reference in text]
    assert held == []


def test_no_notebook_is_released_and_the_students_checks_hold_no_code_of_answers(released):
    assert [name for name in released if name.endswith(".ipynb")] == []
    for name, text in released.items():
        if name.startswith("lagrangebook/data/checks/"):
            for question, own in json.loads(text).items():
                assert not {"reference", "answer", "solution"} & set(own), f"{name}: {question}"
                assert not re.search(r'"answer_\d+ = |def answer_', json.dumps(own)), f"{name}: {question}"
