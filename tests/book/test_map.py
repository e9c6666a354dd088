"""The map of the chapters: no chapter needs a later one, and the picture holds every chapter and every need."""

import re
import sys

import pytest
from book_pages import ROOT, notebooks, read, toc

sys.path.append(str(ROOT / "book" / "_ext"))
chapter_map = pytest.importorskip("chapter_map", reason="needs the packages that build the book")

BOOK = chapter_map.chapters()
PAGE = (ROOT / "book" / "back" / "map.md").read_text(encoding="utf8")
MARKED = {path.stem: read(path).metadata.lagrangebook for path in notebooks() if "lagrangebook" in read(path).metadata}


@pytest.mark.parametrize("name", sorted(MARKED))
def test_a_chapter_needs_only_chapters_that_come_before_it(name):
    order = [page.rpartition("/")[2] for page in toc()]
    assert [need for need in MARKED[name]["needs"] if need not in MARKED or order.index(need) >= order.index(name)] == []


@pytest.mark.parametrize("name", sorted(MARKED))
def test_a_chapter_says_what_it_teaches_how_long_it_takes_and_on_which_path_it_lies(name):
    facts = MARKED[name]
    assert facts["objectives"] and all(objective.strip() for objective in facts["objectives"])
    assert 10 <= facts["minutes"] <= 120
    assert facts["paths"] and set(facts["paths"]) <= set(chapter_map.PATHS)


def test_the_map_holds_every_numbered_chapter_and_one_arc_for_each_need():
    drawn = chapter_map.picture(BOOK)
    assert set(BOOK) == {path.stem for path in notebooks() if path.parent.name not in ("book", "back")}
    assert all(f">{name}</text>" in drawn for name in BOOK)
    assert drawn.count("<path ") == sum(len(chapter["needs"]) for chapter in BOOK.values())


def test_the_page_lists_the_objectives_of_every_part():
    assert re.findall(r"\{objectives\} (.+)", PAGE) == list(dict.fromkeys(chapter["part"] for chapter in BOOK.values()))


def test_what_a_path_leans_on_is_closed_under_need():
    for path in chapter_map.PATHS:
        marked, needed = chapter_map.leaned_on(path, BOOK)
        assert marked and not marked & needed
        assert {need for name in marked | needed for need in BOOK[name]["needs"]} <= marked | needed
