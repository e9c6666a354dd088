"""Binds the book's labelled equations to the tests that evaluate them.

    @equation("eq-energy-work", r"W = \\int F \\, dx")
    def test_work_is_the_integral_of_force(): ...

The LaTeX is that of the page, white space aside; test_gate_prose.py compares the two, and fails where a labelled
equation has neither a test nor an exemption with its reason (exempt.toml).
"""

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOLLARS = re.compile(r"\$\$((?:(?!\$\$).)+)\$\$[ \t]*\(([^)\s]+)\)", re.S)
DIRECTIVE = re.compile(r"^```+\{math\}[^\n]*\n:label:\s*(\S+)\s*\n(?::\w+:[^\n]*\n)*(.+?)^```+\s*$", re.S | re.M)


def equation(label, latex):
    """Marks a test as the one that evaluates the labelled equation."""
    def bind(test):
        test.equations = (*getattr(test, "equations", ()), (label, latex))
        return test
    return bind


@dataclass(frozen=True)
class Binding:
    """One @equation of a test: the label, the LaTeX and the test's address."""

    label: str
    latex: str
    test: str


def bindings(folder=HERE):
    """Every @equation under tests/book, read without importing the tests."""
    found = []
    for path in sorted(Path(folder).glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            for call in getattr(node, "decorator_list", ()):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "equation":
                    label, latex = (ast.literal_eval(argument) for argument in call.args)
                    found.append(Binding(label, latex, f"tests/book/{path.name}::{node.name}"))
    return found


def exemptions(file=HERE / "exempt.toml"):
    """Label to reason, of the labelled equations that no test evaluates."""
    chapters = tomllib.loads(file.read_text(encoding="utf8"))
    return {label: reason for chapter in chapters.values() for label, reason in chapter.items()}


def labelled(text):
    """The labelled display equations of a page's Markdown, as (label, LaTeX) pairs."""
    dollars = [(label, latex) for latex, label in DOLLARS.findall(text)]
    return dollars + [(label, latex) for label, latex in DIRECTIVE.findall(text)]


def bare(latex):
    """LaTeX without white space, for comparison."""
    return re.sub(r"\s+", "", latex)
