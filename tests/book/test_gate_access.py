"""Pages for every reader: axe's rules of WCAG 2.2 AA in light and dark, no sideways scroll on any screen.

A third of the pages, another third each day, as many as the time allows; all of them with `python make.py test --full`.
Equations, which MathJax sets and speaks, are taken out before: thousands of outlines in which axe would look for text.
"""

import time
from pathlib import Path

import pytest
from book_browser import CHROMIUM, address, browser, third  # noqa: F401  (fixtures)
from book_site import SITE, pages

axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

PAGES = pages()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
AXE = "axe.run(document, {resultTypes: ['violations'], runOnly: %s})"
ALL, CONTRAST = AXE % {"type": "tag", "values": RULES}, AXE % {"type": "rule", "values": ["color-contrast"]}
WIDTHS = (768, 1440)                    # 390 stands in test_gate_browser
BUDGET = 45                             # s after which no further page is begun
EMPTY = "document.querySelectorAll('mjx-container').forEach((equation) => equation.replaceChildren('x'))"
SET = "window.MathJax?.startup ? MathJax.startup.promise.then(() => 0) : 0"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
    pytest.mark.skipif(not PAGES, reason="no site here: python make.py test builds it"),
]


def violations(result):
    """One line per broken rule: how often, and the first place."""
    return [f"{v['id']}: {len(v['nodes'])} times, {v['nodes'][0]['html'][:120]}" for v in result["violations"]]


def pytest_generate_tests(metafunc):
    if "page" in metafunc.fixturenames:
        metafunc.parametrize("page", third(PAGES, metafunc.config))


@pytest.fixture(scope="module")
def look(browser, address, request):  # noqa: F811
    """page -> what is wrong on it, by kind; skipped when the time is over."""
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf8")
    context = browser.new_context(color_scheme="light")
    end = time.monotonic() + (3600 if request.config.getoption("--full") else BUDGET)

    def findings(page):
        if time.monotonic() > end:
            pytest.skip(f"not begun within {BUDGET} s; python make.py test --full looks at every page")
        tab = context.new_page()
        tab.goto(f"{address}/{page}", wait_until="load")
        tab.evaluate(SET)
        wide = []
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            wide += [width] if tab.evaluate("document.documentElement.scrollWidth > window.innerWidth") else []
        tab.evaluate(EMPTY)
        tab.evaluate(script + "; 0")
        light = violations(tab.evaluate(ALL))
        tab.evaluate("document.documentElement.dataset.theme = 'dark'")
        dark = violations(tab.evaluate(CONTRAST))
        tab.close()
        return {"sideways at": wide, "light": light, "dark": dark}

    yield findings
    context.close()


def test_axe_finds_nothing_and_no_page_scrolls_sideways(look, page):
    assert look(page) == {"sideways at": [], "light": [], "dark": []}


def test_axe_sees_a_picture_without_words(browser):  # noqa: F811
    tab = browser.new_page()
    tab.set_content("<html lang=en><title>x</title><main><h1>x</h1><img src='data:,'></main>")
    tab.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf8") + "; 0")
    found = violations(tab.evaluate(ALL))
    tab.close()
    assert [line.partition(":")[0] for line in found] == ["image-alt"]
