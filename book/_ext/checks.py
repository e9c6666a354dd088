"""Write what the students' self-checks compare with: lagrangebook/data/checks, one file for each notebook of the bank.

    python book/_ext/checks.py [chapters]        without an argument those that are no longer current

Runs the bank's notebooks. A file holds values at random points and salted buckets, and the digest of its notebook's sources:
a test says when it is no longer current.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lagrangebook import check  # noqa: E402  (after the number of threads is set)
from lagrangebook.assign.bank import bank  # noqa: E402
from lagrangebook.check.own import FORMAT  # noqa: E402

FOLDER = ROOT / "lagrangebook" / "data" / "checks"


def sources(chapter):
    """A digest of all that decides the checks of a chapter."""
    own = [FORMAT, chapter.code, [question.facts for question in chapter.questions.values()]]
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[:16]


def checks(chapter):
    """The checks of a chapter by question, and the digest of their sources. Runs the instructor's code."""
    space, _ = chapter.space(list(chapter.questions.values()))
    setup = "\n".join(chapter.setup)
    keys = [check.key(question.facts | {"setup": setup}, space) for question in chapter.questions.values()]
    return {key["question"]: check.digest(key) for key in keys} | {"sources": sources(chapter)}


def current(chapter):
    """Whether the stored checks of a chapter are those of its sources."""
    file = FOLDER / f"{chapter.name}.json"
    return file.exists() and json.loads(file.read_text(encoding="utf8"))["sources"] == sources(chapter)


def main(*names):
    FOLDER.mkdir(parents=True, exist_ok=True)
    wrong = []
    for name, chapter in bank(ROOT / "exercises").items():
        if name in names or not names and not current(chapter):
            try:
                text = json.dumps(checks(chapter), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
            except ValueError as error:      # a question that lacks something; the others are written
                wrong.append(f"{name}: {error}")
                continue
            (FOLDER / f"{name}.json").write_text(text.replace('},"', '},\n"') + "\n", encoding="utf8")
            print(name, flush=True)
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main(*sys.argv[1:])
