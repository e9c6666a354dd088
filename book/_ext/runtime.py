"""Puts together the Python that runs in the pages: Pyodide, the scientific packages, sympy and lagrangebook.

    python book/_ext/runtime.py [folder or archive]        afterwards the site is built with live cells

Pyodide's files come from a local folder, from the official release archive, or from the release itself. The official lock
carries the SHA-256 of every package; of the lock and of Pyodide's core files it stands below. sympy and mpmath are the
ones installed here, without their tests. Where a Python 3.12 is at hand, the Python files of all packages become byte
code, which the browser imports in a third of the time. What comes out, `_build/pyodide`, has a lock of its own: the
packages with their sizes and SHA-256, and what each module of lagrangebook imports.
"""

import ast
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "_build" / "pyodide"
VERSION, PYTHON = "0.27.7", "3.12"
RELEASE = f"https://github.com/pyodide/pyodide/releases/download/{VERSION}/pyodide-{VERSION}.tar.bz2"
LOCK = "pyodide-lock.json"
CORE = {
    LOCK: "9c45b916001a750f4102fc287494f3eab215909c7535c626a20db80fd6333e2c",
    "pyodide.js": "b4cb23a53aba19c221659b9fb40a2f18281d685691dc06647fb0afd0681baf98",
    "pyodide.asm.js": "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51",
    "pyodide.asm.wasm": "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
    "python_stdlib.zip": "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
}
WANTED = ("numpy", "scipy", "matplotlib")
UNUSED = {"matplotlib-pyodide", "fonttools", "pytz"}       # back ends that draw on the page or write PDF; time zones
OURS = "lagrangebook"
WITHOUT_TESTS = {"sympy": ["mpmath"], "mpmath": []}
TESTS = {"tests", "testing", "benchmarks"}
COMPILE = """
import compileall, py_compile, sys
unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
sys.exit(sys.version_info[:2] != (3, 12) or not compileall.compile_dir(
    sys.argv[1], quiet=1, legacy=sys.argv[2] == "bare", stripdir=sys.argv[1], invalidation_mode=unchecked))
"""


def digest(data):
    return hashlib.sha256(data).hexdigest()


def reader(source):
    """name -> bytes, from a folder or from a release archive."""
    if source.is_dir():
        return lambda name: (source / name).read_bytes()
    archive = tarfile.open(source)
    return lambda name: archive.extractfile(f"pyodide/{name}").read()


def checked(read, name, sha256):
    """The bytes of an official file, if they are the official ones."""
    data = read(name)
    if digest(data) != sha256:
        sys.exit(f"{name}: SHA-256 is {digest(data)}, the official one is {sha256}")
    return data


def closure(packages, names):
    """The packages that these need, themselves included."""
    found, todo = {}, list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            entry = dict(packages[name])
            entry["depends"] = [need for need in entry["depends"] if need not in UNUSED]
            found[name] = entry
            todo += entry["depends"]
    return found


def official(read):
    """Writes core and packages to the target; (the official lock, entries of its packages)."""
    lock = json.loads(checked(read, LOCK, CORE[LOCK]))
    entries = closure(lock["packages"], WANTED)
    wanted = {name: sha256 for name, sha256 in CORE.items() if name != LOCK}
    wanted |= {entry["file_name"]: entry["sha256"] for entry in entries.values()}
    for name, sha256 in wanted.items():
        (TARGET / name).write_bytes(checked(read, name, sha256))
    for entry in entries.values():
        if entry["file_name"].endswith(".whl"):
            with zipfile.ZipFile(TARGET / entry["file_name"]) as archive:
                files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
            entry["sha256"] = pack(TARGET / entry["file_name"], files)
    return lock, entries


@lru_cache
def python312():
    """A Python 3.12, or None: byte code of another version is of no use to the browser."""
    candidates = [sys.executable, shutil.which("python3.12"), *Path.home().glob(".pyenv/versions/3.12*/bin/python3.12")]
    for python in filter(None, candidates):
        code = "import sys; sys.exit(sys.version_info[:2] != (3, 12))"
        if subprocess.run([python, "-c", code], capture_output=True).returncode == 0:
            return python
    print(f"no Python {PYTHON} here: packages go into the page as source, and are imported more slowly")
    return None


def pack(file, files, keep_sources=False):
    """Writes {path: bytes} as a wheel, byte code beside the sources or in their place; its SHA-256."""
    folder, python = TARGET / "unpacked", python312()
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    if python:
        subprocess.run([python, "-c", COMPILE, folder, "with" if keep_sources else "bare"], check=True)
    for source in folder.rglob("*.py") if not keep_sources else ():
        if source.with_suffix(".pyc").exists():
            source.unlink()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            archive.writestr(zipfile.ZipInfo(path.relative_to(folder).as_posix()), path.read_bytes(), zipfile.ZIP_DEFLATED)
    shutil.rmtree(folder)
    return digest(file.read_bytes())


def wheel(name, version, files, depends, keep_sources=False):
    """A wheel of these files; its entry for the lock."""
    info = f"{name}-{version}.dist-info"
    files = files | {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
                     f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", f"{info}/RECORD": b""}
    file = TARGET / f"{name}-{version}-py3-none-any.whl"
    return {"name": name, "version": version, "file_name": file.name, "install_dir": "site",
            "sha256": pack(file, files, keep_sources), "package_type": "package", "imports": [name], "depends": depends,
            "unvendored_tests": False}


def installed(name):
    """(version, {path: bytes}) of a pure package installed here, without its tests."""
    distribution = importlib.metadata.distribution(name)
    paths = [p for p in distribution.files if p.parts[0] == name and "__pycache__" not in p.parts and not TESTS & set(p.parts)]
    return distribution.version, {p.as_posix(): p.read_binary() for p in paths}


def own():
    """(version, {path: bytes}) of lagrangebook, from the checkout."""
    files = [p for p in (ROOT / OURS).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    text = (ROOT / OURS / "__init__.py").read_text(encoding="utf8")
    return text.split('__version__ = "')[1].split('"')[0], {p.relative_to(ROOT).as_posix(): p.read_bytes() for p in files}


def imports(path):
    """Absolute names of the modules that a file of lagrangebook imports at its top, candidates included."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    package = parts[:-1]
    for node in ast.parse(path.read_text(encoding="utf8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[:len(package) - node.level + 1] if node.level else ()
            base = ".".join([*start, *filter(None, [node.module])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def module_needs(packages):
    """{module of lagrangebook: packages that importing it brings}."""
    name = {p: ".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for p in (ROOT / OURS).rglob("*.py")}
    direct = {module: set(imports(path)) for path, module in name.items()}

    def needs(module, seen):
        seen.add(module)
        found = {top for target in direct[module] if (top := target.split(".")[0]) in packages}
        for target in (direct[module] & set(direct)) - seen:
            found |= needs(target, seen)
        return found

    return {module: sorted(needs(module, set()) - {OURS}) for module in sorted(direct)}


def source(argument):
    """A local folder, a local archive, or the archive of the release, fetched."""
    if argument:
        return Path(argument)
    archive = ROOT / "_build" / RELEASE.rpartition("/")[2]
    if not archive.exists():
        print(f"fetching {RELEASE} ...", flush=True)
        archive.parent.mkdir(exist_ok=True)
        part, _ = urllib.request.urlretrieve(RELEASE)
        shutil.move(part, archive)
    return archive


def main(argument=""):
    where = source(argument)
    if not where.exists():
        sys.exit(f"{where}: wanted a folder with Pyodide {VERSION} or its release archive")
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    lock, entries = official(reader(where))
    for name, depends in WITHOUT_TESTS.items():
        entries[name] = wheel(name, *installed(name), depends)
    entries[OURS] = wheel(OURS, *own(), ["numpy"], keep_sources=True)
    for entry in entries.values():
        entry["size"] = (TARGET / entry["file_name"]).stat().st_size
    core = sum((TARGET / name).stat().st_size for name in CORE if name != LOCK)
    own_lock = {"info": lock["info"], "packages": entries, "core": core, "modules": module_needs(set(entries))}
    (TARGET / LOCK).write_text(json.dumps(own_lock, indent=1, sort_keys=True), encoding="utf8")
    size = sum(file.stat().st_size for file in TARGET.iterdir()) / 1e6
    print(f"{TARGET.relative_to(ROOT)}: Pyodide {VERSION}, {len(entries)} packages, {size:.1f} MB")


if __name__ == "__main__":
    main(*(sys.argv[1:] or [os.environ.get("PYODIDE_FOLDER", "")]))
