"""The text and the computation say the same: equations, numbers, labels, titles, paths."""

import io
import re
import tokenize
import tomllib
from collections import Counter
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from book_equations import bare, bindings, exemptions, labelled
from book_pages import GENERATED, ROOT, code_cells, markdown, name, notebooks, read, sources, toc, without_code

PAGES = sources()
EQUATIONS = [(label, latex, name(path)) for path in PAGES for label, latex in labelled(markdown(path))]
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?![\w]|\.\d)")
VALUE = re.compile(r"\d+\.?\d*(?:[eE][-+]?\d+)?")
TARGET = re.compile(r"^\(([^)\s]+)\)=\s*$", re.M)


def each(paths):
    return pytest.mark.parametrize("path", paths, ids=name)


# -- equations ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label, latex, page", EQUATIONS, ids=[label for label, *_ in EQUATIONS])
def test_a_labelled_equation_is_tested_as_it_is_printed(label, latex, page):
    bound = [binding for binding in bindings() if binding.label == label]
    assert bool(bound) != (label in exemptions()), f"{page}: {label} needs a test or an exemption, and not both"
    for binding in bound:
        assert bare(binding.latex) == bare(latex), f"{page} and {binding.test} print different equations"


def test_every_tested_or_exempt_label_stands_in_the_book():
    labels = {label for label, *_ in EQUATIONS}
    assert {binding.label for binding in bindings()} - labels == set()
    assert set(exemptions()) - labels == set()


def test_every_exemption_has_its_reason():
    assert [label for label, reason in exemptions().items() if len(reason.split()) < 2] == []


def test_no_label_is_given_twice():
    labels = [label for label, *_ in EQUATIONS]
    labels += [target for path in PAGES for target in TARGET.findall(markdown(path))]
    assert [label for label, times in Counter(labels).items() if times > 1] == []


@each(PAGES)
def test_labels_stand_where_they_become_targets(path):
    """Neither a label inside an amsmath environment nor one in a list item is a target: it prints as text."""
    text = without_code(markdown(path))
    assert "\\label{" not in text
    assert not re.search(r"^\s*(?:[-*+]|\d+[.)])\s.*\$\$.*\$\$\s*\(", text, re.M)
    assert not re.search(r"^[ \t]+\$\$[ \t]*\([\w-]+\)", text, re.M)


# -- numbers --------------------------------------------------------------------------------------------------


def prose(text):
    """Markdown without code, roles, links' addresses, comments and directives' options."""
    text = without_code(text)
    text = re.sub(r"<!--.*?-->|\{[\w:-]+\}`[^`]*`|\]\([^)]*\)|https?://\S+|^:\w+:.*$", " ", text, flags=re.S | re.M)
    return re.sub(r"(?<=\d)(?:\\,|\{,\}|,)(?=\d{3})", "", text)


def literals(source):
    """The number literals of a code cell."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NUMBER and "j" not in token.string.lower():
            yield float(eval(token.string))  # noqa: S307  (a number token)


def values(path):
    """Every number that a notebook computes, prints or takes as a parameter."""
    for cell in code_cells(path):
        yield from literals(cell.source)
        for output in cell.outputs:
            data = {kind: text for kind, text in output.get("data", {}).items() if not kind.startswith("image/")}
            for text in (output.get("text", ""), output.get("evalue", ""), *data.values()):
                if "base64" not in text:
                    yield from (float(value) for value in VALUE.findall(text))


def allowed(path):
    chapters = tomllib.loads((ROOT / "tests" / "book" / "numbers.toml").read_text(encoding="utf8"))
    return chapters.get(path.stem, {})


def agrees(number, value, percent=False):
    """A printed decimal is the value, rounded to its digits."""
    half = 0.5 * 10.0 ** -len(number.partition(".")[2])
    return any(abs(scale * value - float(number)) <= half * (1 + 1e-9) for scale in ((1, 100) if percent else (1,)))


@each(notebooks("book"))
def test_every_decimal_number_in_the_text_is_computed_there(path):
    text, computed, strangers = prose(markdown(path)), set(values(path)), []
    for match in NUMBER.finditer(text):
        percent = re.match(r"\s*\\?[,~]?\s*\\?%", text[match.end():])
        if match[0] not in allowed(path) and not any(agrees(match[0], value, percent) for value in computed):
            strangers.append(text[max(0, match.start() - 30):match.end() + 20].replace("\n", " "))
    assert not strangers, "no output, parameter or entry of numbers.toml agrees:\n" + "\n".join(strangers)


def test_every_allowed_number_is_used_and_has_its_reason():
    chapters = tomllib.loads((ROOT / "tests" / "book" / "numbers.toml").read_text(encoding="utf8"))
    pages = {path.stem: prose(markdown(path)) for path in notebooks("book")}
    for chapter, numbers in chapters.items():
        unused = set(numbers) - set(NUMBER.findall(pages.get(chapter, "")))
        assert unused == set(), chapter
        assert all(len(reason.split()) > 1 for reason in numbers.values()), chapter


# -- exercises, titles and paths ------------------------------------------------------------------------------


@each([path for path in notebooks("book") if (ROOT / "exercises" / path.name).exists()])
def test_a_chapter_leads_to_its_exercises(path):
    assert re.search(rf"\{{ref\}}`[^`]*exercises-{path.stem}\b", markdown(path)), f"{{ref}}`exercises-{path.stem}`"


@each(PAGES)
def test_a_page_has_one_title_and_it_is_free_of_tex(path):
    text = re.sub(r"^(```+|~~~+).*?^\1\s*$", "", markdown(path), flags=re.M | re.S)
    titles = re.findall(r"^# (.+)$", text, re.M)
    assert len(titles) == 1
    assert not re.search(r"[$\\]", titles[0])


def test_the_table_of_contents_lists_each_page_once_with_slashes():
    pages = toc()
    assert len(set(pages)) == len(pages)
    for page in pages:
        assert "\\" not in page and not PureWindowsPath(page).drive and not PurePosixPath(page).suffix, page
        assert PureWindowsPath(page).as_posix() == page
        found = [suffix for suffix in (".ipynb", ".md") if (ROOT / f"{page}{suffix}").is_file()]
        assert len(found) == 1 or page in GENERATED, f"{page}: found {found or 'nothing'}"


def test_every_page_that_is_written_is_in_the_table_of_contents():
    written = {name(path.with_suffix("")) for path in PAGES}
    assert written - set(toc()) == set()


def test_the_page_of_the_package_has_every_module():
    files = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / "lagrangebook").rglob("*.py"))
    modules = {".".join(file.parts) for file in files if file.name not in ("__init__", "__main__")}
    page = (ROOT / "book" / "back" / "api.md").read_text(encoding="utf8")
    assert set(re.findall(r"automodule:: (\S+)", page)) == modules


@each(PAGES + notebooks("exercises"))
def test_no_path_of_one_machine_is_written_down(path):
    cells = [] if path.suffix == ".md" else [cell.source for cell in read(path).cells]
    text = path.read_text(encoding="utf8") if path.suffix == ".md" else "\n".join(cells)
    assert not re.search(r"\b[A-Z]:\\\\?\w|(?<![\w.])/(?:home|tmp|Users|root|work)/", text)
    links = re.findall(r"\]\(([^)\s]+)\)|\{(?:doc|download)\}`(?:[^<`]*<)?([^>`]+)>?`", text)
    assert [link for pair in links for link in pair if "\\" in link] == []
