"""The built site: all pages there, links that lead somewhere, nothing fetched from elsewhere, no page too heavy."""

import re
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from book_pages import toc
from book_site import SITE, pages, parsed

PAGES = pages()
EXTRA = {"genindex.html", "search.html", "py-modindex.html"}
FETCHED = {"script": "src", "img": "src", "iframe": "src", "video": "src", "audio": "src", "source": "src", "embed": "src", "object": "data"}
FETCHED_RELATIONS = {"stylesheet", "preload", "prefetch", "icon", "shortcut", "manifest", "preconnect", "dns-prefetch"}
pytestmark = [pytest.mark.site, pytest.mark.skipif(not PAGES, reason="no site here: python make.py test builds it")]

each = pytest.mark.parametrize("page", PAGES)


def test_the_site_has_the_pages_of_the_table_of_contents():
    assert {page.removesuffix(".html") for page in set(PAGES) - EXTRA} == set(toc())


def fetched(page):
    """Addresses that a browser loads with a page."""
    for tag, attributes in parsed(page).tags:
        if tag == "link" and FETCHED_RELATIONS & set((attributes.get("rel") or "").split()):
            yield attributes.get("href")
        elif attributes.get(FETCHED.get(tag, "")):
            yield attributes[FETCHED[tag]]


@each
def test_every_internal_link_and_anchor_resolves(page):
    for link in [*parsed(page).links, *filter(None, fetched(page))]:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or link == "#":
            continue
        target = unquote(urlsplit(urljoin(f"http://x/{page}", parts.path)).path).lstrip("/") if parts.path else page
        assert (SITE / target).is_file(), f"{page} links to {link}"
        if parts.fragment and target.endswith(".html") and target not in EXTRA:
            assert unquote(parts.fragment) in parsed(target).ids, f"{page} links to {link}"


@each
def test_no_page_asks_another_host_for_anything(page):
    foreign = [link for link in fetched(page) if link and urlsplit(link).netloc]
    assert foreign == []
    text = (SITE / page).read_text(encoding="utf8")
    assert re.findall(r"@import\s+url|url\(\s*[\"']?https?:", text) == []


def test_no_style_sheet_asks_another_host_for_anything():
    for sheet in SITE.rglob("*.css"):
        text = sheet.read_text(encoding="utf8", errors="replace")
        assert not re.search(r"@import[^;]*https?:|url\(\s*[\"']?(?:https?:)?//", text), sheet.relative_to(SITE)


@each
def test_every_picture_has_alternative_text(page):
    pictures = [attributes for tag, attributes in parsed(page).tags if tag == "img"]
    assert [a.get("src", "")[:80] for a in pictures if not (a.get("alt") or a.get("aria-label") or a.get("role") == "presentation")] == []


@each
def test_no_page_is_too_heavy_for_a_telephone(page):
    """Text at most 3 MB, with its pictures at most 5 MB; the shared scripts and fonts are fetched once."""
    text = (SITE / page).stat().st_size
    local = {urljoin(f"http://x/{page}", a["src"]) for tag, a in parsed(page).tags if tag == "img" and a.get("src")}
    files = [SITE / urlsplit(address).path.lstrip("/") for address in local if not address.startswith("data:")]
    assert text <= 3e6
    assert text + sum(file.stat().st_size for file in files) <= 5e6


@each
def test_no_label_is_printed_as_text(page):
    text = re.sub(r"<(script|style|code|pre)\b.*?</\1>", "", (SITE / page).read_text(encoding="utf8"), flags=re.S)
    assert re.findall(r">\s*\(eq-[\w-]+\)|\{(?:eq|ref|doc|numref)\}`", text) == []


@each
def test_a_title_is_words(page):
    title = re.search(r"<title>(.*?)</title>", (SITE / page).read_text(encoding="utf8"), re.S)[1]
    assert not re.search(r"[\\$]", title)
