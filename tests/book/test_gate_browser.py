"""Every page in a browser, from a sub-folder of a server, at 390 pixels: equations set, nothing fetched from elsewhere."""

from collections import defaultdict

import pytest
from book_browser import CHROMIUM, KNOWN, address, browser  # noqa: F401  (fixtures)
from book_site import SITE, pages

PAGES = pages()
FACTS = """async () => {
    if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
    const text = (node) => node.textContent.trim().slice(0, 80);
    const wide = (node) => node.getBoundingClientRect().right > window.innerWidth + 1;
    const scrolls = document.documentElement.scrollWidth > window.innerWidth;
    return {
        merror: [...document.querySelectorAll("[data-mml-node=merror], mjx-merror, [data-mjx-error]")].map(text),
        unset: [...document.querySelectorAll(".math")].filter((n) => !n.querySelector("mjx-container")).map(text),
        undefined: [...document.querySelectorAll("mjx-container [fill=red], mjx-container [mathcolor=red]")].map(text),
        broken: [...document.images].filter((i) => i.complete && !i.naturalWidth && i.src).map((i) => i.src.slice(0, 99)),
        sideways: scrolls ? [...document.querySelectorAll("article *")].filter(wide).map((n) => n.outerHTML.slice(0, 99)).slice(0, 3)
                             .concat(document.documentElement.scrollWidth) : [],
    };
}"""
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
    pytest.mark.skipif(not PAGES, reason="no site here: python make.py test builds it"),
]


@pytest.fixture(scope="module")
def seen(browser, address):  # noqa: F811
    """What was seen on each page: {kind: {page: findings}}."""
    found = defaultdict(dict)
    context = browser.new_context(viewport={"width": 390, "height": 844})
    for page in PAGES:
        errors, requests = [], []
        tab = context.new_page()
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(f"{address}/{page}", wait_until="load")
        facts = tab.evaluate(FACTS)
        facts["console"] = [error for error in errors if not any(known in error for known in KNOWN)]
        facts["foreign"] = [url for url in requests if not url.startswith((address, "data:", "blob:"))]
        tab.close()
        for kind, findings in facts.items():
            if findings:
                found[kind][page] = findings
    context.close()
    return found


@pytest.mark.parametrize("kind", ["merror", "unset", "undefined"])
def test_mathjax_sets_all_tex(seen, kind):
    assert seen[kind] == {}


def test_no_page_scrolls_sideways_on_a_telephone(seen):
    assert seen["sideways"] == {}


def test_no_page_fetches_from_another_host(seen):
    assert seen["foreign"] == {}


def test_no_picture_is_broken(seen):
    assert seen["broken"] == {}


def test_no_page_reports_an_error(seen):
    assert seen["console"] == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_open_from_a_file_in_both_themes(browser, theme):  # noqa: F811
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme)
    tab = context.new_page()
    tab.goto((SITE / "book" / "index.html").as_uri())
    facts = tab.evaluate(FACTS)
    shown = tab.evaluate("document.documentElement.dataset.theme")
    context.close()
    assert shown == theme
    assert not facts["unset"] and not facts["merror"]
