"""The gates can fail: each fault that was ever reported for a book like this is put into a small notebook, and is seen."""

import nbformat
import pytest
import test_gate_cells as cells
import test_gate_prose as prose
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

TEXT = "# A title\n\nThe value is 3.14, or 314.2 %.\n\n$$\nx = y\n$$ (eq-x)\n"
FIGURE = {"image/svg+xml": "<svg/>", "text/plain": "<Figure size 600x400 with 1 Axes>"}
ALT = {"image": {"alt": "A line that rises from zero."}}


def shown(count, **data):
    return new_output("execute_result", data=data, execution_count=count)


def notebook():
    """A notebook without fault: a title, a number, a figure, an error on purpose."""
    nb = new_notebook(cells=[
        new_markdown_cell(TEXT),
        new_code_cell("3.14159", execution_count=1, outputs=[shown(1, **{"text/plain": "3.14159"})]),
        new_code_cell("ax.plot([0, 1])\nplt.show()", execution_count=2, outputs=[new_output("display_data", data=FIGURE)]),
        new_code_cell("1 / 0", execution_count=3, outputs=[
            new_output("error", ename="ZeroDivisionError", evalue="division by zero", traceback=[])]),
    ])
    nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nb.cells[2].metadata.mystnb = nbformat.from_dict(ALT)
    nb.cells[3].metadata.tags = ["raises-exception"]
    return nb


def output(text):
    return lambda nb: nb.cells[1].outputs[0].data.update({"text/plain": text})


def says(text):
    return lambda nb: nb.cells[0].update(source=nb.cells[0].source + text)


def stream(name, text):
    return lambda nb: nb.cells[1].outputs.append(new_output("stream", name=name, text=text))


def tagged(index, *tags):
    return lambda nb: nb.cells[index].metadata.update(tags=list(tags))


def code(text):
    return lambda nb: nb.cells[1].update(source=text)


ORDER = cells.test_every_cell_has_been_run_in_order
CLEAN = cells.test_no_cell_warns_or_counts_progress_or_prints_addresses_and_paths
ERRORS = cells.test_an_error_is_shown_where_it_is_promised_and_nowhere_else
FIGURES = cells.test_a_cell_that_draws_holds_its_figure_with_alternative_text
SHORT = cells.test_cells_are_short
COMPARED = cells.test_no_cell_escapes_the_comparison
NORMAL = cells.test_stored_notebooks_are_in_normal_form
NUMBERS = prose.test_every_decimal_number_in_the_text_is_computed_there
LABELS = prose.test_labels_stand_where_they_become_targets
TITLE = prose.test_a_page_has_one_title_and_it_is_free_of_tex
PATHS = prose.test_no_path_of_one_machine_is_written_down

FAULTS = {
    "P01 an object that prints its address": (CLEAN, output("<object object at 0x7f2ccacdbb50>")),
    "P02 a progress bar on stdout": (CLEAN, stream("stdout", " 33%|###    | 1/3")),
    "P02 a progress bar from tqdm": (COMPARED, code("for k in tqdm(range(3)):\n    pass")),
    "P03 a warning": (CLEAN, stream("stderr", "UserWarning: singular")),
    "P06 a label in an amsmath environment": (LABELS, says("\n\\begin{align}x\\label{a}\\end{align}\n")),
    "P06 a label in a list": (LABELS, says("\n- item $$x = 1$$ (eq-in-a-list)\n")),
    "P07 TeX in a title": (TITLE, lambda nb: nb.cells[0].update(source=r"# The matrix $\mathbf{M}$")),
    "P08 a path of Windows": (PATHS, code("open('C:\\\\Users\\\\x')")),
    "P08 a backslash in a link": (PATHS, says("\n[next](ch1\\four_bar.ipynb)\n")),
    "a stripped cell": (ORDER, lambda nb: nb.cells[1].update(execution_count=None, outputs=[])),
    "a stale count": (ORDER, lambda nb: nb.cells[1].update(execution_count=9)),
    "a missing figure": (FIGURES, lambda nb: nb.cells[2].update(outputs=[])),
    "a figure without alternative text": (FIGURES, lambda nb: nb.cells[2].metadata.pop("mystnb")),
    "an error nobody promised": (ERRORS, tagged(3)),
    "a promised error that does not come": (ERRORS, tagged(1, "raises-exception")),
    "a cell of sixteen lines": (SHORT, code("\n".join(["x = 1"] * 16))),
    "a cell that nbval skips": (COMPARED, tagged(1, "nbval-skip")),
    "a semicolon at the end": (COMPARED, code("x;")),
    "settings of an editor": (NORMAL, lambda nb: nb.cells[1].metadata.update(collapsed=True)),
    "a number that nothing computes": (NUMBERS, says("\nAnd 2.72.\n")),
    "a number rounded the wrong way": (NUMBERS, says("\nAnd 3.15.\n")),
    "two titles": (TITLE, says("\n# Another\n")),
}


def stored(nb, folder):
    nbformat.write(nb, folder / "notebook.ipynb")
    return folder / "notebook.ipynb"


@pytest.mark.parametrize("gate", sorted({gate for gate, _ in FAULTS.values()}, key=lambda gate: gate.__name__))
def test_a_notebook_without_fault_passes(gate, tmp_path):
    gate(stored(notebook(), tmp_path))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault, tmp_path):
    gate, put = FAULTS[fault]
    nb = notebook()
    put(nb)
    with pytest.raises(AssertionError):
        gate(stored(nb, tmp_path))
