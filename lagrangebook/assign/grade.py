"""Grading a class: resumable, parallel, and counted anew whenever a policy, a deadline or a manual mark
changes.

    ps1/grades/<student>.json       every attempt with its marks, and what counts
    ps1/feedback/<student>.html     what the student may read
    ps1/grades.csv                  one row for each student
    ps1/changes.csv                 what a regrade changed

Attempts are remembered by the digest of the file and of the key: what was graded is not graded again, and
what a corrected question concerns is.
"""

import csv
import hashlib
import html
import json
import math
import os
import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from lagrangebook.check import Verdict

from .judge import Key, row
from .pool import FAILED
from .submissions import moment, stamp

PERSON = "waits for a person"


@dataclass
class Book:
    """The grades of one set: its folder, its key, who is in the class."""

    folder: Path
    set: dict
    policy: dict
    students: dict = field(default_factory=dict)        # roster rows by student

    @classmethod
    def open(cls, folder, students=None):
        folder = Path(folder)
        if not (folder / "private" / "set.json").exists():
            raise ValueError(f"{folder} holds no set; `generate {folder}` makes one")
        set_ = json.loads((folder / "private" / "set.json").read_text(encoding="utf8"))
        policy = tomllib.loads((folder / "private" / "policy.toml").read_text(encoding="utf8"))
        (folder / "grades").mkdir(mode=0o700, exist_ok=True)
        return cls(folder, set_, policy, students or {})

    @cached_property
    def key(self):
        return Key(self.set)

    @property
    def files(self):
        return [self.folder / "release" / Path(file).name for file in self.set["files"]]

    def path(self, student, kind="grades", suffix=".json"):
        return self.folder / kind / (safe(student) + suffix)

    def record(self, student):
        path = self.path(student)
        if not path.exists():
            return {"student": student, "attempts": []}
        return json.loads(path.read_text(encoding="utf8"))

    def records(self):
        paths = sorted((self.folder / "grades").glob("*.json"))
        return [json.loads(path.read_text(encoding="utf8")) for path in paths]


def safe(student):
    """A file's name for a student: letters of any script stay, what a file system may mind does not."""
    name = "".join(letter if letter.isalnum() or letter in " .@+-_" else quote(letter, safe="")
                   for letter in student).strip()
    if name == student and len(name.encode()) <= 150 and not name.startswith("."):
        return name
    digest_ = hashlib.sha256(student.encode()).hexdigest()[:8]
    return name.encode()[:120].decode("utf8", "ignore").lstrip(".") + f"-{digest_}"


def store(path, text):
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.half")
    half.write_text(text, encoding="utf8")
    os.replace(half, path)


# -- running what has not been run ---------------------------------------------------------------------------


def digest(content):
    return hashlib.sha256(content).hexdigest()[:16]


def refusal(key, words):
    """The result of a file that was not even read."""
    questions = [row(question, Verdict(False, "Not graded: see the note above.", 0.0))
                 for question in key.questions]
    return {"status": "refused", "note": words, "questions": questions, "errors": {}, "seconds": 0.0}


def unfinished(key, result):
    """The result of a grading that failed by itself: every question waits for a person, or for the next
    run."""
    questions = [row(question, Verdict(None, "The grading failed; this is not your fault."))
                 for question in key.questions]
    return result | {"questions": questions}


def pending(book, found):
    """({task: bytes} still to be run, {task: the submissions it serves}); refused files are entered at
    once."""
    key, tasks, waiting = book.key, {}, {}
    for submission in found:
        if submission.content is None:
            enter(book, submission, refusal(key, submission.refused), digest(submission.refused.encode()),
                  key.digest)
            continue
        name = digest(submission.content)
        done = [old for old in book.record(submission.student)["attempts"]
                if old["digest"] == name and old["key"] == key.digest]
        if not done:
            tasks[name] = submission.content                     # the same bytes of two students run once
            waiting.setdefault(name, []).append(submission)
        elif all(old["file"] != submission.file for old in done):
            enter(book, submission, done[0]["result"], name, key.digest)
    return tasks, waiting


def enter(book, submission, result, name, key):
    """Add an attempt to its student's record, in place of the same file's under an older key."""
    record = book.record(submission.student)
    others = [old for old in record["attempts"] if old["file"] != submission.file or old["digest"] != name]
    attempt = {"file": submission.file, "digest": name, "key": key, "time": submission.time, "result": result}
    record["attempts"] = sorted([*others, attempt], key=lambda own: own["time"])
    store(book.path(submission.student), json.dumps(record, ensure_ascii=False, indent=1))


def run(book, found, runner, tell=print):
    """Grade what is new: `runner(tasks)` yields (task, result). Whose grading failed: it runs again the
    next time."""
    tasks, waiting = pending(book, found)
    failed, done, total, key = [], 0, len(tasks), book.key.digest
    for name, result in runner(tasks) if tasks else ():
        done += 1
        for submission in waiting[name]:
            if result["status"] == FAILED:
                failed.append(submission.student)
                # no key's: it is run again
                enter(book, submission, unfinished(book.key, result), name, "")
            else:
                enter(book, submission, result, name, key)
            tell(f"[{done:4}/{total}] {submission.student}: {summary(result)}")
    return failed


def summary(result):
    if result["status"] != "graded":
        return f"{result['status']}: {result['note']}"
    points = sum(own["score"] or 0 for own in result["questions"])
    open_ = sum(own["passed"] is None for own in result["questions"])
    total = sum(own["points"] for own in result["questions"])
    return f"{points:g} of {total:g}" + (f", {open_} {PERSON}"
                                         if open_ else "") + f" ({result['seconds']:.1f} s)"


# -- counting ------------------------------------------------------------------------------------------------


def late_share(policy, due, time):
    """Share of the points that a late submission keeps."""
    if not due or time <= moment(due) + 60 * policy["grace"]:
        return 1.0
    days = math.ceil((time - moment(due)) / 86400)
    return 0.0 if policy["cutoff"] and days > policy["cutoff"] else max(0.0, 1.0 - policy["late"] * days)


def manual_marks(path):
    """{student: {question or "total": (points, comment)}} from a CSV file: student, question, points,
    comment."""
    marks = {}
    if path is None:
        return marks
    with open(path, newline="", encoding="utf-8-sig") as file:
        for number, own in enumerate(csv.DictReader(file), 2):
            if own.get("points") == "":
                continue                                         # not marked yet
            try:
                points = float(own["points"])
            except (KeyError, TypeError, ValueError):
                raise ValueError(f"{path}, line {number}: wanted the columns student, question, points, comment") from None
            marks.setdefault(own["student"],
                             {})[own["question"] or "total"] = points, own.get("comment") or ""
    return marks


def counted(book, record, marks):
    """What counts of a student's attempts: questions with manual marks merged in, late share, total."""
    own, key = marks.get(record["student"], {}), book.key.digest
    due = book.students.get(record["student"], {}).get("due") or book.policy["due"]
    options = []
    for attempt in record["attempts"]:
        questions = [merged(question, own) for question in attempt["result"]["questions"]]
        share = late_share(book.policy, due, attempt["time"])
        points = round(share * sum(question["score"] or 0 for question in questions), 4)
        options.append({"file": attempt["file"], "time": attempt["time"], "late": share,
                        "questions": questions, "total": points,
                        "status": attempt["result"]["status"], "note": attempt["result"]["note"],
                        "errors": attempt["result"]["errors"], "stale": attempt["key"] != key})
    readable = [option for option in options if option["status"] != "refused"] or options
    if not readable:
        return missing(book, record, own)
    best = max(readable, key=lambda o: o["total"]) if book.policy["attempt"] == "best" else readable[-1]
    total, comment = own.get("total", (best["total"], ""))
    return best | {"total": total, "comment": comment, "attempts": len(options)}


def missing(book, record, own):
    questions = [merged(row(question, Verdict(False, "Nothing was handed in.", 0.0)), own)
                 for question in book.set["questions"]]
    total, comment = own.get("total", (sum(question["score"] for question in questions), ""))
    return {"file": "", "time": None, "late": 1.0, "questions": questions, "total": total,
            "status": "missing", "comment": comment,
            "note": "Nothing was handed in.", "errors": {}, "stale": False, "attempts": 0}


def merged(question, marks):
    """A question's row with a person's points in place of the program's."""
    if question["question"] not in marks:
        return question
    points, comment = marks[question["question"]]
    return question | {"score": points, "passed": points >= question["points"],
                       "message": comment or "Marked by a person.", "by": "person"}


def count(book, marks, tell=print):
    """Count the whole class, write feedback and tables; the changes since the last time, as rows."""
    records = {record["student"]: record for record in book.records()}
    for student in book.students:
        records.setdefault(student, {"student": student, "attempts": []})
    changes, rows = [], []
    for student, record in sorted(records.items()):
        now, before = counted(book, record, marks), record.get("counts")
        if before and before["status"] != "missing":
            changes += difference(student, before, now)
        record["counts"] = now
        store(book.path(student), json.dumps(record, ensure_ascii=False, indent=1))
        store(book.path(student, "feedback", ".html"), feedback(book, student, now))
        rows.append(table_row(book, student, now))
    table(book.folder / "grades.csv", rows)
    if changes:
        table(book.folder / "changes.csv", changes)
        tell(f"{len(changes)} marks changed since the last count: see {book.folder / 'changes.csv'}")
    return changes


def difference(student, before, now):
    old = {question["question"]: question for question in before["questions"]}
    for question in now["questions"]:
        was = old.get(question["question"], {}).get("score")
        if was != question["score"]:
            yield {"student": student, "question": question["question"], "before": was,
                   "after": question["score"]}
    if before["total"] != now["total"]:
        yield {"student": student, "question": "total", "before": before["total"], "after": now["total"]}


def table_row(book, student, now):
    own = book.students.get(student, {})
    row_ = {"student": student, "name": own.get("name", ""), "total": now["total"]}
    row_ |= {question["question"]: "" if question["score"] is None else question["score"]
             for question in now["questions"]}
    waits = [question["question"] for question in now["questions"] if question["score"] is None]
    notes = [now["note"], "not in the roster" if book.students and not own else "", now["comment"],
             "graded with an older key" if now["stale"] else ""]
    return row_ | {"status": now["status"], "late": round(1 - now["late"], 4),
                   "handed in": stamp(now["time"]) if now["time"] else "",
                   "attempts": now["attempts"], "for a person": " ".join(waits),
                   "note": " ".join(filter(None, notes))}


def table(path, rows):
    """A CSV file; a cell that a spreadsheet would take for a formula is text."""
    rows = list(rows)
    names = list(dict.fromkeys(name for own in rows for name in own))
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows({name: harmless(value) for name, value in own.items()} for own in rows)


def harmless(value):
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return f"'{value}" if isinstance(value, str) and re.match(r"[=+\-@\t\r]", value) else value


# -- feedback ------------------------------------------------------------------------------------------------

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf8"><title>{title}: {student}</title><style>
body {{ font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em }}
td, th {{ text-align: left; vertical-align: top; padding: .3em .8em .3em 0; border-bottom: 1px solid #bbb }}
</style></head><body>
<h1>{title}</h1>
<p>{student}: <strong>{total:g} of {points:g} points</strong>{late}</p>
{notes}
<table><tr><th>Question</th><th>Points</th><th></th></tr>
{rows}
</table>
{errors}
</body></html>
"""


def feedback(book, student, now):
    """A page for the student: points, what is wrong, which cells failed. Holds neither references nor
    hidden inputs."""
    escape, rows = html.escape, []
    for number, own in enumerate(now["questions"], 1):
        score = "–" if own["score"] is None else f"{own['score']:g}"
        rows.append(f"<tr><td>{number}</td><td>{score} of {own['points']:g}</td><td>{escape(own['message'])}</td></tr>")
    notes = "".join(f"<p>{escape(note)}</p>" for note in (now["note"], now["comment"]) if note)
    failed = [f"<li>Cell {int(where) + 1}: {escape(words)}</li>"
              for where, words in now["errors"].items() if where.isdigit()]
    errors = f"<p>Cells that failed; the others ran nevertheless:</p><ul>{''.join(failed)}</ul>" if failed else ""
    late = "" if now["late"] == 1 else f", late: {100 * (1 - now['late']):g} % less"
    points = sum(own["points"] for own in now["questions"])
    return PAGE.format(title=escape(book.set["title"]), student=escape(student), total=now["total"],
                       points=points, late=late,
                       notes=notes, rows="\n".join(rows), errors=errors)
