"""Builds and tests the book: `python make.py book`, `python make.py test`. Needs nothing but Python.

For maintainers:
  refresh [notebooks]   execute and store normalised outputs (all notebooks without an argument)
  checks [chapters]     write what students' own checks compare with (without an argument those that have changed)
  test --full           test with the long tests, then oldest, newest and wheel
  oldest                the package's tests on the oldest versions that pyproject.toml allows
  newest                the package's tests on the newest versions there are
  bench                 measure against peers (Pinocchio, MuJoCo) and store bench/results.json
  wheel                 build the wheel, look inside, import it
  pyodide [folder]      the Python that runs in the pages, from Pyodide's release or from a local copy of it (a folder or
                        the archive; PYODIDE_FOLDER is another way to name it); later builds then have live cells
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import venv
import zipfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / "_build"
TOC = "_toc.yml"
STRICT = ("--all", "-W", "-n", "--keep-going")      # everything again, warnings are errors, nitpicky, all of them named
GENERATED = {"genindex", "search", "index", "py-modindex"}


def environment(**more):
    """The environment of every child: one thread each, UTF-8, short tracebacks in executed cells."""
    profile = BUILD / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_config.py").write_text("c.InteractiveShell.xmode = 'Minimal'\nc.HistoryManager.enabled = False\n")
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    fixed = {"PYTHONUTF8": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1", "IPYTHONDIR": str(profile.parent)}
    return os.environ | threads | fixed | more


def run(*command, **more):
    """Run a command in the checkout; its exit status."""
    return subprocess.run([str(word) for word in command], cwd=ROOT, env=environment(**more)).returncode


def python_of(folder):
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(folder, *packages):
    """A virtual environment with these packages, made again whenever anything that decides its content has changed."""
    files = [ROOT / name for name in ("requirements.txt", "constraints.txt", "pyproject.toml")]
    content = b"".join(file.read_bytes() for file in files) + repr((packages, sys.version, sys.platform)).encode()
    stamp, digest = folder / "stamp", hashlib.sha256(content).hexdigest()
    if not (stamp.exists() and stamp.read_text() == digest):
        print(f"making {folder.name} ...", flush=True)
        venv.create(folder, clear=True, with_pip=True)
        quiet = ("--quiet", "--disable-pip-version-check", "--no-compile")     # Python compiles what it imports, and no more
        if run(python_of(folder), "-m", "pip", "install", *quiet, *packages):
            sys.exit(f"pip could not install {' '.join(map(str, packages))}")
        run(python_of(folder), "-c", "import matplotlib.font_manager")      # its first import writes to stderr
        stamp.write_text(digest)
    return python_of(folder)


def book_python():
    return install(ROOT / ".venv", "-r", "requirements.txt", "-c", "constraints.txt")


# -- the book ------------------------------------------------------------------------------------------------


def pages():
    """The pages that the table of contents lists, '/' between folders."""
    return set(re.findall(r"^\s*(?:- )?(?:root|file):\s*(\S+)", (ROOT / TOC).read_text(encoding="utf8"), re.M))


def build(python, output, execute):
    """The site at output/html, pages counted; an exit status."""
    target = output / "_build" if output != ROOT else BUILD
    for folder in ("html", ".doctrees"):
        shutil.rmtree(target / folder, ignore_errors=True)
    main = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
    code = run(python, "-c", main, "build", ".", *STRICT, "--path-output", output, BOOK_EXECUTE=execute)
    site = target / "html"
    built = {file.relative_to(site).with_suffix("").as_posix() for file in site.rglob("*.html")}
    built = {page for page in built if page not in GENERATED and not page.startswith(("_static/", "_modules/"))}
    for page in sorted(built ^ pages()):
        print(f"{page}: {'built but not in' if page in built else 'missing from the site, but in'} {TOC}")
    return code or built != pages()


def book():
    """Executes every notebook and builds the site into _build/html."""
    code = pyodide() if os.environ.get("PYODIDE_FOLDER") else 0
    code = code or build(book_python(), ROOT, "force")
    if not code:
        print(f"The book: {(BUILD / 'html' / 'index.html').as_uri()}")
    return code


def pyodide(*folder):
    """Puts the runtime of the live cells into _build/pyodide, whence every build of the site takes it."""
    return run(book_python(), "book/_ext/runtime.py", *(Path(name).resolve() for name in folder))


def refresh(*notebooks):
    """Executes notebooks and stores their normalised outputs."""
    return run(book_python(), "book/_ext/refresh.py", *notebooks)


def checks(*chapters):
    """Runs the exercises' references and writes lagrangebook/data/checks."""
    return run(book_python(), "book/_ext/checks.py", *chapters)


# -- the tests -----------------------------------------------------------------------------------------------

TWO = ("-n", "2")
NBVAL = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout=120", "--nbval-sanitize-with", "tests/book/nbval.cfg")
STAGES = {
    "notebooks": ("book", *NBVAL, *TWO, "--dist", "loadfile"),
    "package": ("tests", "lagrangebook", "--doctest-modules", "--ignore=tests/exercises", "-m", "not browser", *TWO),
    "exercises": ("tests/exercises", *TWO),
    "browser": ("tests/book", "-m", "browser"),
}


def counts(report):
    """Passed, failed and skipped of a pytest run, from its report."""
    if not report.exists():
        return 0, 1, 0
    suite = ElementTree.parse(report).getroot()
    suite = suite if suite.tag == "testsuite" else suite[0]
    total, failures, errors, skipped = (int(suite.get(k)) for k in ("tests", "failures", "errors", "skipped"))
    return total - failures - errors - skipped, failures + errors, skipped


def stage(python, name, full=False):
    """Run one stage, the package with its long tests or without; its exit status and its counts."""
    if name == "site":
        code = pyodide() if os.environ.get("PYODIDE_FOLDER") else 0
        code = code or build(python, BUILD / "stored", "off")
        return code, (int(not code), int(bool(code)), 0)
    report = BUILD / "tests" / f"{name}.xml"
    report.unlink(missing_ok=True)
    code = run(python, "-m", "pytest", "-q", f"--junitxml={report}", *STAGES[name], *["--full"] * full)
    passed, failed, skipped = counts(report)
    return code, (passed, failed or int(bool(code)), skipped)


def test(full=False):
    """Every test, stage by stage; ends in pytest's own closing line."""
    start, rows, codes = time.perf_counter(), [], []
    python = book_python()
    rows.append(("install", time.perf_counter() - start, (0, 0, 0)))
    for name in ("notebooks", "site", "package", "exercises", "browser"):
        print(f"\n== {name}", flush=True)
        began = time.perf_counter()
        code, numbers = stage(python, name, full)
        rows.append((name, time.perf_counter() - began, numbers))
        codes.append(code)
    codes += [command() for command in (oldest, newest, wheel) if full]
    print("\nstage        seconds   passed  failed  skipped")
    for name, seconds, numbers in rows:
        print(f"{name:12} {seconds:7.1f}  {numbers[0]:7} {numbers[1]:7} {numbers[2]:8}")
    passed, failed, skipped = (sum(row[2][k] for row in rows) for k in range(3))
    words = [f"{n} {word}" for n, word in ((failed, "failed"), (passed, "passed"), (skipped, "skipped")) if n]
    seconds = time.perf_counter() - start
    print(f" {', '.join(words)} in {seconds:.2f}s ({int(seconds) // 60} min {int(seconds) % 60} s) ".center(80, "="))
    return any(codes)


# -- the package on its own ----------------------------------------------------------------------------------


def package_tests(python):
    return run(python, "-m", "pytest", "-q", "tests", "--ignore=tests/book", "--ignore=tests/exercises", "-n", "2")


def oldest():
    """The package's tests on the lower bounds of pyproject.toml, newest patch of each."""
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]["dependencies"]
    bounds = [f"{need.replace('>=', '==')}.*" for need in needs]
    return package_tests(install(ROOT / ".venv-oldest", "-e", ".", "ipython", "pytest", "pytest-xdist", "hypothesis", *bounds))


def newest():
    """The package's tests on the newest versions of everything."""
    return package_tests(install(ROOT / ".venv-newest", "-e", ".[fast,urdf,cluster]", "ipython", "pytest", "pytest-xdist", "hypothesis"))


def bench(*arguments):
    """Side-by-side measurements against the peers."""
    python = install(ROOT / ".venv-peers", "-e", ".[fast,peers]", "-c", "constraints.txt")
    return run(python, "bench/run.py", *arguments)


def wheel():
    """The wheel holds the package and nothing else, and imports from where it is."""
    folder = BUILD / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    python = book_python()
    if run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, "."):
        return 1
    (file,) = folder.glob("*.whl")
    strangers = [name for name in zipfile.ZipFile(file).namelist() if not name.startswith("lagrangebook")]
    if strangers:
        print(f"{file.name} holds what is not the package: {strangers}")
    code = f"import sys; sys.path.insert(0, {file.as_posix()!r}); import lagrangebook as p; print(p.__version__, p.__file__)"
    return run(python, "-I", "-c", code) or bool(strangers)


def main(name="", *arguments):
    commands = {f.__name__: f for f in (book, test, refresh, checks, oldest, newest, bench, wheel, pyodide)}
    if name not in commands:
        sys.exit(__doc__)
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        sys.exit(f"this is Python {sys.version.split()[0]}; the book needs 3.11, 3.12 or 3.13")
    arguments = tuple(argument == "--full" for argument in arguments) if name == "test" else arguments
    sys.exit(int(bool(commands[name](*arguments))))


if __name__ == "__main__":
    main(*sys.argv[1:])
