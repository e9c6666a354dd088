"""Imports inside the package go strictly downward."""

import ast
import sys
from pathlib import Path

import lagrangebook

LAYERS = (
    {"spatial", "lagrange", "friction", "lcp"},
    {"inertia"},
    {"model"},
    {"kinematics", "urdf"},
    {"newton_euler", "mass_matrix", "loops"},
    {"forward", "identify"},
    {"standard_form"},
    {"constraints", "control"},
    {"contact", "tape"},
    {"simulate", "mechanisms"},
    {"draw", "check"},
    {"assign"},
)
LEVEL = {module: level for level, modules in enumerate(LAYERS) for module in modules}
PACKAGE = Path(lagrangebook.__file__).parent


def imported(path):
    """The modules of the package that a file imports, wherever in it."""
    package = ["lagrangebook", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.ImportFrom):
            above = package[:len(package) + 1 - node.level] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            names = [module] if node.module else [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("lagrangebook.") and name.count("."))


FILES = {path: path.relative_to(PACKAGE).with_suffix("").parts[0] for path in PACKAGE.rglob("*.py")}


def test_every_module_stands_in_a_layer():
    assert set(FILES.values()) - {"__init__"} - set(LEVEL) == set()


def test_imports_go_strictly_downward():
    for path, own in FILES.items():
        for module in set(imported(path)) - {own}:
            assert LEVEL[module] < LEVEL[own], f"{path.relative_to(PACKAGE)} imports {module}"


def test_the_assignments_import_the_checks_alone():
    for path, own in FILES.items():
        if own == "assign":
            assert set(imported(path)) <= {"check", "assign"}, path.name


def test_the_package_itself_exports_nothing():
    names = {name for name in vars(lagrangebook) if not name.startswith("__")}
    assert {name for name in names if f"lagrangebook.{name}" not in sys.modules} == set()
