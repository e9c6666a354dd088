"""What was handed in: whose it is, when it came, and its bytes. Files are read, never followed, never run.

A folder of submissions holds a file or a folder for each student, as Canvas, Moodle or a mail program leave
them. A roster (a CSV file with a column "student", and any of name, email, id, login, due) finds the student
by any of its entries in the name of the file or folder: `Ada Lovelace_4711_assignsubmission_file`,
`lovelaceada_88_4711_ps1-1.ipynb`, `ada@uni.example.ipynb`.
"""

import csv
import os
import re
import stat
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from .judge import SIZE

# a roster's columns that name a student
NAMES = ("student", "name", "email", "id", "login", "identifier")
SKIPPED = re.compile(r"^\.|^__MACOSX$|^Thumbs\.db$|^desktop\.ini$", re.I)


@dataclass(frozen=True)
class Submission:
    """One attempt of one student. `content` is None where `refused` says why the file was not even read."""

    student: str
    file: str                # path inside the folder of submissions
    time: float              # s since 1970
    content: bytes | None
    refused: str = ""


def printable(name):
    """A file's name as text that is safe to print, whatever bytes it has."""
    text = os.fsencode(name).decode("utf8", "backslashreplace")
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)


def roster(path):
    """The rows of a roster by student; an empty one without a path."""
    if path is None:
        return {}
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [{key.strip().lower(): (value or "").strip() for key, value in row.items() if key}
                for row in csv.DictReader(file)]
    if rows and "student" not in rows[0]:
        raise ValueError(f"{path} has columns {', '.join(rows[0])}; a roster needs one called student")
    return {row["student"]: row for row in rows if row["student"]}


def owner(name, students):
    """The one student of the roster whom a file's name points to, or the name itself."""
    stem = re.sub(r"\.ipynb$", "", name)
    parts = {part.strip().casefold() for part in (name, stem, *stem.split("_"))} - {""}
    found = [student for student, row in students.items()
             if parts & {row[key].casefold() for key in NAMES if row.get(key)}]
    return found[0] if len(found) == 1 else stem


def entry(path, root, student, times):
    """Read one file; a link, a device or a giant is refused with the reason."""
    name, info = printable(path.relative_to(root)), path.lstat()
    moment = times.get(name, times.get(student, info.st_mtime))
    if not stat.S_ISREG(info.st_mode):
        kind = "a link to another file" if stat.S_ISLNK(info.st_mode) else "no ordinary file"
        return Submission(student, name, moment, None, f"{name} is {kind}. Hand in the notebook itself.")
    if info.st_size > SIZE:
        return Submission(student, name, moment, None,
                          f"{name} has {info.st_size >> 20} MB; {SIZE >> 20} MB is the limit. "
                          "Clear its outputs.")
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        return Submission(student, name, moment, file.read(SIZE + 1))


def attempts(top):
    """A student's files: the notebooks of a folder, or all its files if none is called one."""
    if top.is_symlink() or not top.is_dir():
        return [top]
    files = []
    for folder, folders, names in os.walk(top):                  # does not follow links to folders
        folders[:] = sorted(name for name in folders if not SKIPPED.match(name))
        links = [name for name in folders if Path(folder, name).is_symlink()]
        files += [Path(folder, name) for name in sorted(names) + links if not SKIPPED.match(name)]
    return [file for file in files if file.suffix.lower() == ".ipynb"] or files


def collect(folder, students, times=None):
    """All submissions of a folder, each with its student; a student's empty folder is one that was
    refused."""
    root, found = Path(folder), []
    if not root.is_dir():
        raise ValueError(f"{folder} is no folder; `grade` wants the folder with the submissions")
    for top in sorted(root.iterdir(), key=lambda path: os.fsencode(path.name)):
        if SKIPPED.match(top.name):
            continue
        student, files = owner(printable(top.name), students), attempts(top)
        found += [entry(file, root, student, times or {}) for file in files]
        if not files:
            found.append(Submission(student, printable(top.name), top.lstat().st_mtime, None,
                                    "The folder is empty."))
    return found


def moment(words):
    """A time stamp as seconds: 2026-12-01T23:59, with its zone; without one it is this machine's."""
    parsed = datetime.fromisoformat(words)
    return (parsed if parsed.tzinfo else parsed.astimezone()).timestamp()


def stamp(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).astimezone().isoformat(timespec="seconds")


def times_of(path):
    """{file or student: s} from a CSV file with the columns name and time, where the files' own dates are
    lost."""
    if path is None:
        return {}
    with open(path, newline="", encoding="utf-8-sig") as file:
        return {row["name"]: moment(row["time"]) for row in csv.DictReader(file)}
