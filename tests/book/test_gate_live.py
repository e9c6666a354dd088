"""Live cells in a browser: the outputs of the book, Stop and Reset, errors, edits, and no other host asked.

The first cells of a third of the chapters, another third each day, as many as the time allows; what was not begun is
counted as skipped. `python make.py test --full` runs every cell of every chapter.
"""

import re
import time

import pytest
from book_browser import CHROMIUM, KNOWN, address, browser, third  # noqa: F401  (fixtures)
from book_pages import ROOT, code_cells, toc
from book_site import SITE

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
TOLERANCE = 1e-9
SLOWEST = 300_000                   # ms that a chapter may take
BUDGET, FIRST = 100, 10             # s after which no chapter is begun; cells of each that are run
COMPARED = ("stdout", "stderr", "error", "text/plain", "text/latex")
KINDS = ("text/html", "image/svg+xml", "text/latex", "text/plain")
IDLE = "document.querySelector('.live-status').textContent && document.querySelector('.live-page button').hidden"
CHAPTERS = [page for page in toc() if (SITE / f"{page}.html").exists() and 'id="live-cells"' in
            (SITE / f"{page}.html").read_text(encoding="utf8")]
OUTPUTS = """() => Object.fromEntries([...document.querySelectorAll(".cell[data-live]")].map((cell) => [cell.id, {
    state: cell.dataset.live, said: cell.querySelector(".live-state")?.textContent,
    outputs: [...cell.querySelectorAll(".live-output > .output")].map((n) => [n.dataset.kind, n.dataset.tex || n.textContent]),
}]))"""
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
    pytest.mark.skipif(not CHAPTERS, reason="a site without live cells: python make.py pyodide, then build it"),
]


def pytest_generate_tests(metafunc):
    if "chapter" in metafunc.fixturenames:
        metafunc.parametrize("chapter", third(CHAPTERS, metafunc.config))


# -- the outputs of the book ---------------------------------------------------------------------------------


def output(stored):
    """(kind, text) of an output of a notebook."""
    if stored.output_type == "stream":
        return stored.name, stored.text
    if stored.output_type == "error":
        return "error", f"{stored.ename}: {stored.evalue}"
    return next((kind, stored.data[kind]) for kind in KINDS if kind in stored.data)


def stored(page):
    """{cell: [(kind, text)]} of a notebook's outputs, pictures and players aside."""
    cells = code_cells(ROOT / f"{page}.ipynb")
    return {f"cell-{cell.id}": [out for out in map(output, cell.outputs) if out[0] in COMPARED] for cell in cells}


def unit(number):
    """One unit in the last printed place."""
    digits, _, power = number.partition("e")
    return 10.0 ** (int(power or 0) - len(digits.partition(".")[2])) if "." in digits or power else 0.0


def agree(live, printed):
    """The same words, and numbers that differ by no more than their last printed digit."""
    if re.sub(r"\s", "", NUMBER.sub("#", live)) != re.sub(r"\s", "", NUMBER.sub("#", printed)):
        return False
    pairs = zip(NUMBER.findall(live), NUMBER.findall(printed))
    return all(abs(float(a) - float(b)) <= 1.5 * max(unit(a), unit(b)) + TOLERANCE for a, b in pairs)


def differences(seen, printed):
    """What a chapter's live cells showed that its notebook does not say, and cells that did not end well."""
    for cell, now in seen.items():
        if now["state"] != "done":
            yield f"{cell}: {now['state']}, {now['said']} {now['outputs'][-1:]}"
        if now["said"] is None:             # a picture without its code: nothing is shown anew
            continue
        outputs = [(kind, text) for kind, text in now["outputs"] if kind in COMPARED]
        if [kind for kind, _ in outputs] != [kind for kind, _ in printed[cell]]:
            yield f"{cell}: {outputs} instead of {printed[cell]}"
            continue
        for (kind, text), (_, wanted) in zip(outputs, printed[cell]):
            text = text[text.rfind(wanted.partition(":")[0]):] if kind == "error" else text
            if not agree(text, wanted):
                yield f"{cell}: {text!r} instead of {wanted!r}"


@pytest.fixture(scope="module")
def seen(browser, address, request):  # noqa: F811
    """What each chapter's cells showed, two pages at a time: {page: (outputs, requests to other hosts)}; none after the budget."""
    found, begun, full, chosen = {}, time.monotonic(), request.config.getoption("--full"), third(CHAPTERS, request.config)
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    for pair in (chosen[k:k + 2] for k in range(0, len(chosen), 2)):
        if not full and time.monotonic() - begun > BUDGET:
            break
        tabs = []
        for page in pair:
            tab, foreign = context.new_page(), []
            tab.on("request", lambda request, foreign=foreign: foreign.append(request.url)
                   if not request.url.startswith((address, "data:", "blob:")) else None)
            tab.goto(f"{address}/{page}.html")
            buttons = tab.locator(".live-run")
            buttons.nth(min(buttons.count(), buttons.count() if full else FIRST) - 1).click()
            tabs.append((page, tab, foreign))
        for page, tab, foreign in tabs:
            tab.wait_for_function(IDLE, timeout=SLOWEST)
            found[page] = tab.evaluate(OUTPUTS), foreign
            tab.close()
    context.close()
    return found


def test_live_cells_show_what_the_book_prints(seen, chapter):
    if chapter not in seen:
        pytest.skip(f"not begun within {BUDGET} s; python make.py test --full runs every cell of every chapter")
    outputs, foreign = seen[chapter]
    assert foreign == []
    assert list(differences(outputs, stored(chapter))) == []
    assert len(outputs) >= 2, "next to nothing ran"


def test_a_wrong_digit_a_wrong_word_and_a_missing_output_are_seen():
    printed = {"cell-a": [("text/plain", "array([0.12, 3])")]}

    def found(text, state="done"):
        outputs = [["text/plain", text]] if text else []
        return list(differences({"cell-a": {"state": state, "said": "done", "outputs": outputs}}, printed))
    assert not found("array([0.12,\n       3])") and not found("array([0.13, 3])")
    assert found("array([0.14, 3])") and found("array([0.12, 4])") and found("list([0.12, 3])") and found("")
    assert found("array([0.12, 3])", state="error")


# -- one page, as a reader handles it ------------------------------------------------------------------------


@pytest.fixture
def page(browser, address):  # noqa: F811
    """A page with live cells; .asked are the addresses asked for, .errors what the console says."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    tab = context.new_page()
    tab.asked, tab.errors = [], []
    tab.on("request", lambda request: tab.asked.append(request.url))
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.goto(f"{address}/{CHAPTERS[0]}.html")
    yield tab
    context.close()


def write(tab, code, number=0):
    """Type over the code of a cell and run it from the keyboard."""
    cell = tab.locator(".cell pre[contenteditable]").nth(number)
    cell.focus()
    tab.keyboard.press("Control+A")
    tab.keyboard.insert_text(code)
    tab.keyboard.press("Shift+Enter")
    return tab.locator(".cell:has(pre[contenteditable])").nth(number)


def state(cell, wanted):
    cell.page.wait_for_function("([cell, wanted]) => cell.dataset.live === wanted", arg=[cell.element_handle(), wanted], timeout=60_000)


def test_a_reader_edits_fails_stops_and_resets(page, address):  # noqa: F811
    assert not [url for url in page.asked if "/pyodide/" in url or "worker" in url], "fetched before the first Run"
    printed = page.locator(".cell pre[contenteditable]").first.text_content()
    cell = write(page, "for k in range(3):\n    print(k * k)\nk + 40")
    state(cell, "done")
    assert [o.text_content().split() for o in cell.locator(".live-output .output").all()] == [["0", "1", "4"], ["42"]]

    cell = write(page, "def f(x):\n    return 1 / x\nf(0)")
    state(cell, "error")
    assert re.search(r'(?s)"<cell \d+>", line 3.*return 1 / x.*ZeroDivisionError', cell.locator(".live-output").text_content())
    assert "ZeroDivisionError" in page.locator(".live-status").text_content()

    cell = write(page, "while True: pass")
    state(cell, "running")
    page.locator(".live-page").get_by_role("button", name="Stop").click()
    state(cell, "stopped")
    assert "Every value is lost" in page.locator(".live-status").text_content()
    assert cell.locator("pre[contenteditable]").inner_text().strip() == "while True: pass"

    page.locator(".live-page").get_by_role("button", name="Reset").click()
    assert page.locator(".cell pre[contenteditable]").first.text_content() == printed
    assert page.locator(".live-output").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert not [url for url in page.asked if not url.startswith((address, "data:", "blob:"))]
    assert not [error for error in page.errors if not any(known in error for known in KNOWN)]


def test_a_reader_checks_an_answer_in_the_page(page):
    """F = −(3 + 0.5 · 0.8) N m in the first exercise on friction; the page tells the right answer from the wrong sign."""
    cell = write(page, "from lagrangebook.check import check\nprint(*(check('friction-1', x).message for x in (-3.4, 3.4)))")
    state(cell, "done")
    assert cell.locator(".live-output").text_content().split(".")[:2] == ["Right", " The sign is wrong"]


def test_a_runtime_that_does_not_come_is_said(page):
    page.route("**/pyodide.js", lambda route: route.abort())
    page.locator(".live-run").first.click()
    page.wait_for_function(IDLE, timeout=60_000)
    assert "could not be loaded" in page.locator(".live-status").text_content()


def test_enter_indents_and_restore_brings_the_printed_code_back(page):
    cell = page.locator(".cell pre[contenteditable]").first
    printed = cell.text_content()
    cell.focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("for k in range(2):")
    page.keyboard.press("Enter")
    page.keyboard.insert_text("k")
    assert cell.inner_text().rstrip() == "for k in range(2):\n    k"
    page.get_by_role("button", name="Restore the printed code").first.click()
    assert cell.text_content() == printed
