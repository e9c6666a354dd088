"""The page on what the book leaves out names only works that the bibliography holds, and no work is listed in vain."""

import re

from book_pages import ROOT, markdown, sources

ENTRIES = re.findall(r"^@\w+\{([^,]+),", (ROOT / "book" / "references.bib").read_text(encoding="utf8"), re.M)


def cited(pages):
    found = [keys for page in pages for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", markdown(page))]
    return {key.strip() for keys in found for key in keys.split(",")}


def test_every_work_that_the_page_names_is_in_the_bibliography_once():
    assert cited([ROOT / "book" / "back" / "leaving.md"]) <= set(ENTRIES)
    assert len(set(ENTRIES)) == len(ENTRIES)


def test_every_work_of_the_bibliography_is_cited_in_the_book_and_the_other_way_round():
    assert cited(sources()) == set(ENTRIES)
