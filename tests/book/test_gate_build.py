"""The build is red when a page is: the project's own settings and flags on a book of a few pages."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from book_pages import ROOT

sys.path.append(str(ROOT))

import make  # noqa: E402

RUN = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"


def page(folder, name, *cells, tags=(), kernel="python3"):
    """A notebook of code cells; the last one carries the tags."""
    code = [nbformat.v4.new_code_cell(source) for source in cells]
    code[-1].metadata["tags"] = list(tags)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"# Page {name}"), *code])
    notebook.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
    nbformat.write(notebook, folder / f"{name}.ipynb")


def build(folder, timeout=60):
    """Build the pages in a folder as `make.py book` does; exit status and log."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
    config = {key: config[key] for key in ("title", "author", "only_build_toc_files", "execute", "parse")}
    config["execute"]["timeout"] = timeout
    config["sphinx"] = {"config": {"nb_execution_show_tb": True}}
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    pages = sorted(path.stem for path in folder.iterdir() if path.suffix in (".ipynb", ".md"))
    chapters = [{"file": name} for name in pages if name != "index"]
    (folder / "_toc.yml").write_text(yaml.safe_dump({"format": "jb-book", "root": "index", "chapters": chapters}))
    command = [sys.executable, "-c", RUN, "build", str(folder), *make.STRICT]
    done = subprocess.run(command, capture_output=True, text=True, env=make.environment())
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_a_page_that_raises_on_purpose_builds(tmp_path):
    (tmp_path / "index.md").write_text("# Index\n")
    page(tmp_path, "promised", "1 / 0", tags=["raises-exception"])
    status, log = build(tmp_path)
    assert status == 0, log


@pytest.mark.slow
@pytest.mark.parametrize("cells, settings, reason", [
    (["import numpy as np\nnp.linalg.inv(np.zeros((2, 2)))"], {}, "LinAlgError"),
    (["import warnings\nwarnings.warn('singular')"], {}, "stderr"),
    (["import time\ntime.sleep(60)"], {"timeout": 2}, "Timeout|timed out"),
    (["1"], {"kernel": "no_such_kernel"}, "no_such_kernel"),
], ids=["raises", "warns", "never ends", "no kernel"])
def test_a_page_that_fails_fails_the_build(tmp_path, cells, settings, reason):
    (tmp_path / "index.md").write_text("# Index\n")
    page(tmp_path, "bad", *cells, kernel=settings.get("kernel", "python3"))
    status, log = build(tmp_path, timeout=settings.get("timeout", 60))
    assert status != 0
    assert re.search(reason, log), log


@pytest.mark.slow
def test_unknown_and_duplicate_labels_fail_the_build_and_are_named(tmp_path):
    equation = "$$\nM \\ddot q = \\tau\n$$ (eq-kkt)\n"
    (tmp_path / "index.md").write_text("# Index\n\nSee {eq}`eq-nowhere` and {ref}`no-section`.\n")
    (tmp_path / "one.md").write_text(f"# One\n\n{equation}")
    (tmp_path / "two.md").write_text(f"# Two\n\n{equation}")
    status, log = build(tmp_path)
    assert status != 0
    for fault in ("duplicate label of equation eq-kkt", "eq-nowhere", "no-section"):
        assert fault in log, log


def test_a_site_with_a_page_too_few_is_a_failed_build(tmp_path, monkeypatch):
    def half_a_build(*command, **more):
        site = tmp_path / "_build" / "html" / "book"
        site.mkdir(parents=True)
        (site / "index.html").write_text("")
        return 0
    monkeypatch.setattr(make, "run", half_a_build)
    monkeypatch.setattr(make, "pages", lambda: {"book/index", "book/energy/energy"})
    assert make.build(Path(sys.executable), tmp_path, "off")
    monkeypatch.setattr(make, "pages", lambda: {"book/index"})
    assert not make.build(Path(sys.executable), tmp_path, "off")


@pytest.mark.parametrize("owner, on", [("example", False), ("somebody", True)])
def test_links_to_the_repository_wait_for_its_address(monkeypatch, owner, on):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    from book_switches import switch
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
    address = config["repository"]["url"].replace("/example/", f"/{owner}/")
    options = {"repository_url": address, "launch_buttons": config["launch_buttons"], "use_repository_button": True}
    switch(None, SimpleNamespace(html_theme_options=options))
    assert options["use_repository_button"] == bool(options["launch_buttons"]) == ("repository_url" in options) == on


def test_make_reads_the_same_pages_as_the_gates():
    from book_pages import toc
    assert make.pages() == set(toc())
