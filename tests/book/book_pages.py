"""The sources of the book, as its gates read them."""

import re
from functools import lru_cache
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"book/back/solutions", *(f"book/{part}/exercises" for part in ("energy", "newton_euler", "standard_form", "contact", "back"))}


def toc():
    """The pages of the table of contents, in its order, without suffix."""
    def files(node):
        if isinstance(node, dict):
            yield from (node[key] for key in ("root", "file") if key in node)
            node = [value for key, value in node.items() if key in ("parts", "chapters", "sections")]
        for child in node if isinstance(node, list) else ():
            yield from files(child)
    return list(files(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf8"))))


def notebooks(folder="book"):
    """The notebooks of a folder, as paths."""
    return sorted(p for p in (ROOT / folder).rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def name(path):
    """A path as messages show it: from the root of the checkout, with '/'."""
    return path.relative_to(ROOT).as_posix()


@lru_cache(maxsize=None)
def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def sources():
    """Every page of the book that is written by hand: notebooks and Markdown."""
    pages = [path for path in (ROOT / "book").rglob("*.md") if name(path.with_suffix("")) not in GENERATED]
    return sorted([*pages, *notebooks()])


def markdown(path):
    """The prose of a page, its Markdown cells joined."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf8")
    return "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


def without_code(text):
    """Markdown without fenced code and code spans."""
    text = re.sub(r"^(```+|~~~+)(?!\s*\{(?!code|literalinclude|eval-rst)).*?^\1\s*$", "", text, flags=re.M | re.S)
    return re.sub(r"(`+)[^`]+\1", "", text)
