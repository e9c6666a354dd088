"""What nbval does not see in a notebook: stripped cells, stale counts, missing figures, warnings, addresses, long cells."""

import re
import statistics
import subprocess
import sys

import pytest
from book_pages import ROOT, code_cells, name, notebooks, read

BOOK = notebooks("book")
EVERY = BOOK + notebooks("exercises")
FORBIDDEN_TAGS = {"nbval-skip", "nbval-ignore-output", "skip-execution", "hide-cell", "remove-cell", "remove-output"}
ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{5,}|0x[0-9a-fA-F]{8,}")
PROGRESS = re.compile(r"\r|\d+%\|| it/s\]|s/it\]")
PICTURE = re.compile(r"image/|<img|<svg|<video")
PATH = re.compile(r"(?:/(?:home|tmp|root|Users)/|[A-Z]:\\)\w+|site-packages")


def each(paths):
    return pytest.mark.parametrize("path", paths, ids=name)


def outputs(cell):
    """The texts of a cell's outputs, pictures aside."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.text
        for kind, data in output.get("data", {}).items():
            if not kind.startswith("image/") and not PICTURE.search(data):
                yield data


def pictures(cell):
    """The outputs of a cell that are pictures or animations."""
    return [o for o in cell.outputs if any(PICTURE.search(f"{k} {v}") for k, v in o.get("data", {}).items())]


def draws(cell):
    return re.search(r"\bplt\.show\(|\bHTML\(|\bplayer\(", cell.source)


def tags(cell):
    return set(cell.metadata.get("tags", ()))


@each(EVERY)
def test_every_cell_has_been_run_in_order(path):
    counts = [cell.execution_count for cell in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1)), "run: python make.py refresh"
    stored = [(c.execution_count, o.execution_count) for c in code_cells(path) for o in c.outputs if "execution_count" in o]
    assert all(cell == output for cell, output in stored)


@each(EVERY)
def test_no_cell_warns_or_counts_progress_or_prints_addresses_and_paths(path):
    for cell in code_cells(path):
        assert not [o for o in cell.outputs if o.get("name") == "stderr"], cell.source
        for text in outputs(cell):
            for rule in (ADDRESS, PROGRESS, PATH):
                assert not rule.search(text), f"{rule.pattern} in the output of:\n{cell.source}"


@each(EVERY)
def test_an_error_is_shown_where_it_is_promised_and_nowhere_else(path):
    for cell in code_cells(path):
        raised = any(o.output_type == "error" for o in cell.outputs)
        assert raised == ("raises-exception" in tags(cell)), cell.source


@each(BOOK)
def test_a_cell_that_draws_holds_its_figure_with_alternative_text(path):
    for cell in code_cells(path):
        if draws(cell):
            assert pictures(cell), f"no stored figure:\n{cell.source}"
        if pictures(cell):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt.split()) >= 4, f"mystnb.image.alt should say what the figure shows:\n{cell.source}"


@each(BOOK)
def test_cells_are_short(path):
    lengths = [sum(bool(line.strip()) for line in cell.source.splitlines()) for cell in code_cells(path)]
    longest = max(zip(lengths, code_cells(path)), key=lambda pair: pair[0], default=(0, None))
    assert longest[0] <= 15, f"over 15 lines: a function of the package\n{longest[1].source}"
    shown = [length for length, cell in zip(lengths, code_cells(path)) if "remove-input" not in tags(cell)]
    assert statistics.median(shown or [0]) <= 5


@each(EVERY)
def test_no_cell_escapes_the_comparison(path):
    for cell in code_cells(path):
        assert not tags(cell) & FORBIDDEN_TAGS, cell.source
        assert not cell.source.rstrip().endswith(";"), f"nbval does not see a trailing semicolon:\n{cell.source}"
        assert not re.search(r"#\s*NBVAL|^\s*[%!]|\btqdm\b", cell.source, re.M), cell.source


@each(EVERY)
def test_stored_notebooks_are_in_normal_form(path):
    notebook = read(path)
    assert set(notebook.metadata) <= {"kernelspec", "language_info", "lagrangebook"}, "run: python make.py refresh"
    assert notebook.metadata.kernelspec.name == "python3"
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags", "mystnb", "lagrangebook"}, cell.source
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


def test_the_picture_of_the_readme_is_the_landing_page_s_first(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    from refresh import LANDING, PICTURE, first_figure
    assert PICTURE.read_text(encoding="utf8") == first_figure(read(LANDING)), "run: python make.py refresh book/index.ipynb"
    assert PICTURE.name in (ROOT / "README.md").read_text(encoding="utf8")


@pytest.mark.slow
def test_nbval_collects_every_code_cell():
    command = [sys.executable, "-m", "pytest", "--nbval", "--collect-only", "-q", "-p", "no:xdist", "book"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    for path in BOOK:
        collected = sum(line.startswith(f"{name(path)}::") for line in listed.splitlines())
        assert collected == len(code_cells(path)), f"{name(path)}: {collected} cells collected\n{listed[-500:]}"
