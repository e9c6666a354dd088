"""The formula card prints tested equations only, as they stand in their chapters."""

import re
import sys

import pytest
from book_equations import bindings
from book_pages import ROOT

sys.path.append(str(ROOT / "book" / "_ext"))
card = pytest.importorskip("formula_card", reason="needs the packages that build the book")

TEXT = (ROOT / "book" / "back" / "formula_card.md").read_text(encoding="utf8")
BLOCKS = re.findall(r"^## ([^\n]+)\n\n```\{formulas\}\n(.*?)^```$", TEXT, re.M | re.S)
LINES = [line for _, block in BLOCKS for line in card.lines(block.splitlines())]


def test_every_line_of_the_card_is_an_equation_that_a_test_evaluates():
    bound, printed = {binding.label for binding in bindings()}, card.tested()
    assert len(LINES) > 50
    assert [label for label, *_ in LINES if label not in bound or label not in printed] == []


def test_every_line_of_the_card_says_what_it_is_and_stands_there_once():
    assert all(len(line) == 2 for line in LINES)
    assert len({label for label, _ in LINES}) == len(LINES)
    assert len({words for _, words in LINES}) == len(LINES)


def test_the_card_follows_the_book_from_energy_to_impact():
    assert [title for title, _ in BLOCKS] == [
        "Energy", "Lagrange", "M, V, C and G", "Newton and Euler", "Spatial vectors", "Standard form", "Friction", "Control",
        "Identification", "Constraints", "Contact", "Impact"]


def test_a_formula_loses_the_punctuation_of_its_sentence_and_nothing_else():
    assert card.bare(r"P = f \cdot v ,") == r"P = f \cdot v"
    assert card.bare(r"E = K\, .") == "E = K"
    assert card.bare(r"a \,\dot q") == r"a \,\dot q"
