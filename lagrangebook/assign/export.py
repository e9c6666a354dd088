"""Grades for other systems: Canvas, Moodle, a plain table; and the archive that Gradescope grades with."""

import io
import json
import zipfile
from importlib import metadata
from pathlib import Path

from .grade import safe, store, table
from .jail import PACKAGE

FORMATS = ("canvas", "moodle", "csv")
NEEDS = ("numpy", "scipy", "sympy", "matplotlib")


class Open(ValueError):
    """Questions still wait for a person."""


def rows(book):
    """(roster row, counted grade) of every student."""
    for record in sorted(book.records(), key=lambda record: record["student"]):
        if "counts" in record:
            own = {"student": record["student"],
                   "name": record["student"]} | book.students.get(record["student"], {})
            yield own, record["counts"]


def export(book, form, path, unfinished=False):
    """Write the counted grades in the form of one system; Open where questions wait for a person, unless
    told to."""
    everybody = list(rows(book))
    waiting = [own["student"] for own, now in everybody
               if any(question["score"] is None for question in now["questions"])]
    if waiting and not unfinished:
        raise Open(f"{len(waiting)} students wait for a person ({', '.join(waiting[:5])}, ...). Give their points with --manual, "
                   "or export what there is with --unfinished")
    points = sum(question["points"] for question in book.set["questions"])
    table(path, {"canvas": canvas, "moodle": moodle, "csv": plain}[form](book, everybody, points))
    return len(everybody)


def canvas(book, everybody, points):
    """Canvas' gradebook: its columns by name, the assignment's with the points possible in the second row."""
    title = book.set["title"]
    yield {"Student": "    Points Possible", "ID": "", "SIS User ID": "", "SIS Login ID": "", "Section": "",
           title: points}
    for own, now in everybody:
        yield {"Student": own["name"], "ID": own.get("id", ""), "SIS User ID": own.get("sis", ""),
               "SIS Login ID": own.get("login", own["student"]), "Section": own.get("section", ""),
               title: now["total"]}


def moodle(book, everybody, points):
    """Moodle's grading worksheet."""
    for own, now in everybody:
        yield {"Identifier": own.get("identifier", ""), "Full name": own["name"],
               "Email address": own.get("email", ""),
               "Grade": now["total"], "Maximum Grade": points, "Feedback comments": comments(now)}


def plain(book, everybody, points):
    for own, now in everybody:
        scores = {question["question"]: "" if question["score"] is None else question["score"]
                  for question in now["questions"]}
        yield own | scores | {"total": now["total"], "of": points, "status": now["status"]}


def comments(now):
    lines = [f"{number}. {question['message']}" for number, question in enumerate(now["questions"], 1)]
    return " ".join(filter(None, [now["note"], now["comment"], *lines]))


# -- Gradescope ----------------------------------------------------------------------------------------------

SETUP = """#!/bin/sh
# Wheels alone: no compiler, no conda, no browser.
set -e
apt-get update -qq
apt-get install -qq -y --no-install-recommends python3 python3-venv bubblewrap || apt-get install -qq -y python3 python3-venv
python3 -m venv /opt/grader
/opt/grader/bin/python -m pip install --quiet --only-binary :all: {needs}
chmod -R go-rwx /autograder/source
cp -r /autograder/source/lagrangebook /opt/grader/lagrangebook
chmod -R go+rX /opt/grader
/opt/grader/bin/python -c "import matplotlib.font_manager"
"""
RUN = """#!/bin/sh
chmod -R go-rwx /autograder/source /autograder/submission /autograder/results 2>/dev/null
cd /opt/grader && exec /opt/grader/bin/python -m lagrangebook.assign.export \\
    /autograder/source/set /autograder/submission /autograder/results/results.json
"""


def package_files():
    """The package's own sources and data, without what Python leaves beside them."""
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path, f"{PACKAGE.name}/{path.relative_to(PACKAGE).as_posix()}"


def gradescope(book, path):
    """Write the autograder zip: two scripts, the package, the set. It holds the references: upload it,
    publish it never."""
    buffer, versions = io.BytesIO(), [f"{name}=={metadata.version(name)}" for name in NEEDS]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, script in (("setup.sh", SETUP.format(needs=" ".join(versions))), ("run_autograder", RUN)):
            info = zipfile.ZipInfo(name)
            info.external_attr, info.compress_type = 0o755 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(info, script)
        for file, name in package_files():
            archive.write(file, name)
        archive.write(book.folder / "private" / "set.json", "set/private/set.json")
        for file in book.files:
            archive.write(file, f"set/release/{file.name}")
    Path(path).write_bytes(buffer.getvalue())
    Path(path).chmod(0o600)
    return len(archive.namelist())


def results(set_, result):
    """Gradescope's results.json of one graded submission."""
    tests = [{"name": f"Question {number}", "max_score": own["points"], "score": own["score"] or 0,
              "output": own["message"],
              "visibility": "visible"} for number, own in enumerate(result["questions"], 1)]
    failed = [f"Cell {int(where) + 1}: {words}" for where, words in result["errors"].items()
              if where.isdigit()]
    output = "\n".join(filter(None, [result["note"], *failed]))
    return {"score": sum(test["score"] for test in tests), "output": output, "tests": tests,
            "stdout_visibility": "hidden"}


def autograde(folder, submission, path):
    """What Gradescope runs: the submission's notebooks, the first that is one, into results.json."""
    from .jail import Jail, Limits, isolation
    from .judge import Key, step
    from .submissions import collect
    set_ = json.loads(Path(folder, "private", "set.json").read_text(encoding="utf8"))
    files = [Path(folder, "release", Path(file).name) for file in set_["files"]]
    level = isolation()
    if level not in ("bubblewrap", "user"):
        raise SystemExit("nothing here isolates a student's code from the references; the grading stops")
    key, jail = Key(set_), Jail(level, Limits(**set_["limits"]), files)
    found = collect(submission, {})
    graded = [step(key, own.content, jail) for own in found if own.content is not None][:5]
    best = next((own for own in graded if own["status"] == "graded"), graded[0] if graded else None)
    if best is None:
        note = found[0].refused if found else "Nothing was handed in."
        best = {"questions": [], "errors": {}, "note": note}
    store(Path(path), json.dumps(results(set_, best)))


if __name__ == "__main__":
    import sys
    autograde(*sys.argv[1:])
