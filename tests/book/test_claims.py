"""The page of claims: complete, each checked where it says so, its numbers recomputed."""

import json
import re
from collections import Counter

import claims_closed  # noqa: F401  (registers its numbers)
import numpy as np
import pytest
from book_pages import ROOT, read, toc
from claims_open import RECOMPUTED

DATA = json.loads((ROOT / "book" / "data" / "claims.json").read_text(encoding="utf8"))
CLAIMS = {claim["id"]: claim for claim in DATA["claims"]}
LECTURES = {"000": 38, "001": 38, "002": 42, "003": 53}
VERDICTS = {"confirmed": 73, "confirmed with conditions": 41, "imprecise": 33, "wrong": 24}


def test_every_claim_of_the_four_lectures_stands_there_once():
    assert len(CLAIMS) == len(DATA["claims"])
    assert set(CLAIMS) == {f"{lecture}-{k:02}" for lecture, last in LECTURES.items() for k in range(1, last + 1)}


def test_every_claim_says_how_it_was_checked_and_what_is_right():
    for claim in DATA["claims"]:
        assert claim["topic"] in DATA["topics"] and claim["verdict"] in VERDICTS, claim["id"]
        assert all(len(claim[key].split()) >= least for key, least in (("claim", 5), ("check", 1), ("right", 1))), claim["id"]


def test_the_counts_by_verdict_agree():
    assert Counter(claim["verdict"] for claim in DATA["claims"]) == VERDICTS


@pytest.mark.parametrize("claim", DATA["claims"], ids=CLAIMS)
def test_the_check_that_a_claim_names_exists(claim):
    where = claim["where"]
    assert f"book/{where['chapter']}" in toc()
    if "cell" in where:
        assert where["cell"] in [cell.id for cell in read(ROOT / "book" / f"{where['chapter']}.ipynb").cells]
    else:
        path, _, function = where["test"].partition("::")
        assert re.search(rf"^def {function}\(", (ROOT / path).read_text(encoding="utf8"), re.M)


def test_every_number_marked_as_recomputed_is():
    assert set(RECOMPUTED) == {identity for identity, claim in CLAIMS.items() if claim["values"]}
    assert len(RECOMPUTED) >= 60


@pytest.mark.parametrize("identity", [claim["id"] for claim in DATA["claims"] if claim["values"]])
def test_the_package_computes_the_numbers_of_a_claim(identity):
    """To the last digit that the page prints."""
    claim = CLAIMS[identity]
    found = np.array([float(value) for value in RECOMPUTED[identity]()])
    half = [0.5 * 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
            for digits, _, exponent in (value.partition("e") for value in claim["values"])]
    assert len(found) == len(claim["values"])
    assert np.all(abs(found - [float(value) for value in claim["values"]]) <= np.array(half) * 1.001), found


def test_every_recomputed_number_is_printed():
    for claim in DATA["claims"]:
        printed = claim["check"] + claim["right"]
        assert [value for value in claim["values"] if value not in printed] == [], claim["id"]
