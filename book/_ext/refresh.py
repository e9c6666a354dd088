"""Execute notebooks and store their outputs in one normal form, so that a one-line edit is a small difference.

    python book/_ext/refresh.py [notebooks]        all notebooks of the book and of the exercises without an argument

Kept: the sources, tags and figure metadata of cells, the `lagrangebook` key, outputs. Gone: times, editors' settings,
tracebacks (they hold paths), the metadata of outputs. Counts run from 1. A second run changes no byte.
The first figure of the landing page is also the picture of the README.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import nbformat  # noqa: E402  (after the number of threads is set, kernels inherit it)
from nbclient import NotebookClient  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LANDING, PICTURE = ROOT / "book" / "index.ipynb", ROOT / "book" / "_static" / "landing.svg"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
KEPT = ("tags", "mystnb", "lagrangebook")


def outputs(cell):
    """The outputs of a cell: neighbouring pieces of a stream joined, no metadata, errors without their traceback."""
    normal = []
    for output in cell.outputs:
        if output.output_type == "stream" and normal and normal[-1].get("name") == output.name:
            normal[-1].text += output.text
            continue
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        if "metadata" in output:
            output.metadata = {}
        output.pop("transient", None)
        normal.append(output)
    return normal


def normalise(notebook):
    """The notebook in its normal form, changed in place."""
    own = {key: value for key, value in notebook.metadata.items() if key == "lagrangebook"}
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}, **own})
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in KEPT if key in cell.metadata})
        cell.pop("attachments", None)
    for count, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
        cell.outputs = outputs(cell)
        cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
    return notebook


def first_figure(notebook):
    """The first stored SVG of a notebook."""
    data = (output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", ()))
    return next(piece["image/svg+xml"] for piece in data if "image/svg+xml" in piece)


def refresh(path):
    """Execute one notebook where it stands and write it back, if anything in it has changed."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=120, record_timing=False, resources=resources).execute()
    text = nbformat.writes(normalise(notebook)).rstrip("\n") + "\n"
    before = path.read_text(encoding="utf8")
    if text != before:
        path.write_text(text, encoding="utf8", newline="\n")
    if path.resolve() == LANDING:
        PICTURE.write_text(first_figure(notebook), encoding="utf8", newline="\n")
    print(f"{path.as_posix()}: {'unchanged' if text == before else 'stored'}", flush=True)


if __name__ == "__main__":
    everything = sorted(p for folder in ("book", "exercises") for p in (ROOT / folder).rglob("*.ipynb")
                        if ".ipynb_checkpoints" not in p.parts)
    for notebook_path in map(Path, sys.argv[1:]) if sys.argv[1:] else everything:
        refresh(notebook_path)
