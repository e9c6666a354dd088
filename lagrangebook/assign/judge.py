"""From a file that somebody handed in to points: its code cells, the jail, the comparison. Runs no
student's code itself."""

import hashlib
import json
import re
import signal
import threading
import time
from contextlib import contextmanager
from functools import cached_property

from lagrangebook.check import Verdict
from lagrangebook.check.compare import judge, target

SIZE = 50 << 20                                                 # bytes of a submitted file, pictures included
CELLS = 2000
COMPARISON = 20                                                 # s for one answer
# of a function's question: what the jail may know
TO_RUN = ("question", "kind", "chapter", "inputs", "calls")
LOOK = "This could not be marked by the program; a person will look at it."


class NotANotebook(ValueError):
    """A file that cannot be graded; the sentence is for the student."""


class Key:
    """A set's private key, ready to judge with."""

    def __init__(self, set_):
        self.set, self.questions, self.seed = set_, set_["questions"], set_["seed"]
        self.targets = {}

    @cached_property
    def digest(self):
        """A short name of everything that decides marks: another digest, another grading."""
        parts = {name: self.set[name] for name in ("questions", "setups", "seed", "limits", "files")}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]

    @cached_property
    def functions(self):
        return {question["variable"]: {name: question[name] for name in TO_RUN if name in question}
                for question in self.questions if question["kind"] == "function"}

    def verdict(self, question, data):
        """The verdict on plain data; a question that cannot be compared is for a person, never a zero."""
        name = question["question"]
        try:
            with at_most(COMPARISON):
                if name not in self.targets:
                    self.targets[name] = target(question, question["reference"], self.seed)
                return judge(self.targets[name], data)
        except TimeoutError:
            return Verdict(None, f"The comparison took too long. {LOOK}")
        except Exception as error:
            return Verdict(None, f"{LOOK} ({type(error).__name__}: {error})")


@contextmanager
def at_most(seconds):
    """TimeoutError after so many seconds, where the system has alarms and this is the main thread."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise TimeoutError
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def code_cells(content):
    """The sources of a notebook's code cells, whatever else is lost, doubled or added in it."""
    if len(content) > SIZE:
        raise NotANotebook(f"The file has {len(content) >> 20} MB; {SIZE >> 20} MB is the limit. Clear its outputs.")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotANotebook(f"The file is not a notebook: it holds no JSON ({type(error).__name__}). Hand in the .ipynb "
                           "file itself, not a PDF, a link, an archive or a Python script.") from None
    data = data if isinstance(data, dict) else {}
    sheets = data.get("worksheets")                              # notebooks of before 2015
    old = sheets[0] if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict) else {}
    cells = data.get("cells", old.get("cells"))
    if not isinstance(cells, list):
        raise NotANotebook("The file is JSON, but not a notebook: it has no cells.")
    if len(cells) > CELLS:
        raise NotANotebook(f"The notebook has {len(cells)} cells; {CELLS} is the limit.")
    return [source_of(cell) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]


def source_of(cell):
    source = cell.get("source", cell.get("input", ""))
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def step(key, content, jail):
    """Grade one submission, given as bytes: status, and for every question passed, score, points and a
    sentence.

    passed is None where a person decides: score is then None too. JailError if the jail itself failed.
    """
    started = time.perf_counter()
    try:
        cells = code_cells(content)
    except NotANotebook as reason:
        questions = [row(question, Verdict(False, "Not graded: see the note above.", 0.0))
                     for question in key.questions]
        return {"status": "refused", "note": str(reason), "questions": questions, "errors": {},
                "seconds": 0.0}
    names = [question["variable"] for question in key.questions]
    outcome = jail.run(cells, names, key.set["setups"], key.functions, key.seed)
    questions = [judged(key, question, outcome, cells) for question in key.questions]
    errors = {str(where): words for where, words in outcome.errors.items()}
    return {"status": "graded", "note": outcome.errors.get("notebook", ""), "questions": questions,
            "errors": errors,
            "cells": len(cells), "seconds": round(time.perf_counter() - started, 2)}


def judged(key, question, outcome, cells):
    """One question's row, with the reason where there is no answer to judge."""
    name = question["variable"]
    data = outcome.answers.get(name)
    failed = question["kind"] == "function" and name in outcome.errors
    if data is None or failed:
        return row(question, Verdict(False, missing(name, outcome, cells, failed), 0.0))
    # for the person who reads it
    text = {"text": data} if question["kind"] == "text" and isinstance(data, str) else {}
    return row(question, key.verdict(question, data)) | text


def missing(name, outcome, cells, failed):
    """Why there is no answer: its function failed, its cell failed, or nothing assigns it."""
    if failed:
        return f"{name} could not be called: {outcome.errors[name]}"
    own = [number for number, source in enumerate(cells) if re.search(rf"\b{name}\b", source)]
    reasons = [f"Cell {number + 1} failed: {outcome.errors[number]}"
               for number in own if number in outcome.errors]
    return " ".join([f"{name} has no value when the notebook is run from top to bottom.", *reasons])


def row(question, verdict):
    points = question["points"]
    score = None if verdict.score is None else round(verdict.score * points, 4)
    passed = verdict.passed if verdict.score is not None or verdict.passed is None else None
    return {"question": question["question"], "variable": question["variable"], "kind": question["kind"],
            "points": points,
            "passed": passed, "score": score, "message": verdict.message}
