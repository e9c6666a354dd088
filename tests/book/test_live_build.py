"""The runtime of the live cells as it is put together, and pages without one."""

import hashlib
import sys
from types import SimpleNamespace

import pytest
from book_pages import ROOT

sys.path.append(str(ROOT / "book" / "_ext"))

import live_cells  # noqa: E402
import runtime  # noqa: E402


def test_a_file_that_is_not_the_official_one_is_refused():
    good = hashlib.sha256(b"official").hexdigest()
    assert runtime.checked(lambda name: b"official", "numpy.whl", good) == b"official"
    with pytest.raises(SystemExit, match="numpy.whl"):
        runtime.checked(lambda name: b"changed", "numpy.whl", good)


def test_packages_bring_what_they_need_and_no_more():
    lock = {"matplotlib": {"depends": ["numpy", "pytz"]}, "numpy": {"depends": []}, "pytz": {"depends": []}, "ssl": {"depends": []}}
    assert set(runtime.closure(lock, ["matplotlib"])) == {"matplotlib", "numpy"}


def test_importing_a_module_brings_its_packages():
    needs = runtime.module_needs({"numpy", "scipy", "sympy", "matplotlib", "lagrangebook"})
    assert needs["lagrangebook.draw"] == ["matplotlib", "numpy"]
    assert "sympy" in needs["lagrangebook.lagrange"]
    assert needs["lagrangebook.newton_euler"] == ["numpy"]


def test_without_a_runtime_no_page_is_live(monkeypatch, tmp_path):
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), env=SimpleNamespace(doc2path=lambda name, _: f"{name}.ipynb"))
    monkeypatch.setattr(live_cells, "RUNTIME", tmp_path)
    assert live_cells.is_live(app, "book/index")
    monkeypatch.setattr(live_cells, "RUNTIME", tmp_path / "none")
    assert not live_cells.is_live(app, "book/index")


def test_a_cell_that_is_not_live_says_why_and_few_are():
    reasons = {}
    for path in (ROOT / "book").rglob("*.ipynb"):
        if ".ipynb_checkpoints" in path.parts:
            continue
        for cell in live_cells.code_cells(path):
            reason = live_cells.reason(cell)
            own = cell["metadata"].get("lagrangebook", {}).get("not-live", "")
            assert bool(reason) == bool(own), f"{path.stem}, {cell['id']}: tag not-live and its reason go together"
            reasons.setdefault(bool(reason), []).append(cell["id"])
    assert len(reasons.get(True, [])) <= 0.03 * len(reasons[False])
