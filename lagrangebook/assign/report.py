"""What a class shows: where points were lost, which mistakes were made, what a person has to mark, who
resembles whom."""

import io
import keyword
import tokenize
from collections import Counter
from itertools import combinations
from statistics import mean, median

from .grade import table
from .judge import NotANotebook, code_cells

RUN = 12                    # tokens in a row that have to agree
# what more than this share of the class has in common says nothing about two of them
SHARED = 0.5


def summary(book):
    """The class as Markdown: the distribution, each question's mean, the messages that were given most
    often."""
    everybody = [record["counts"] for record in book.records() if "counts" in record]
    handed = [now for now in everybody if now["status"] == "graded"]
    points = sum(question["points"] for question in book.set["questions"])
    states = Counter(now["status"] for now in everybody)
    lines = [f"# {book.set['title']}", "", f"{len(everybody)} students: " + ", ".join(
        f"{number} {status}" for status, number in sorted(states.items())) + "."]
    if handed:
        totals = [now["total"] for now in handed]
        lines += ["", f"Of {points:g} points: mean {mean(totals):.1f}, median {median(totals):g}, "
                      f"from {min(totals):g} to {max(totals):g}."]
        lines += ["", "| question | points | mean | full | zero | waits for a person |",
                  "|---|---|---|---|---|---|"]
        for number, question in enumerate(book.set["questions"]):
            lines.append(question_line(question, [now["questions"][number] for now in handed]))
        lines += mistakes(book, handed)
    return "\n".join(lines) + "\n"


def question_line(question, rows):
    scores = [row["score"] for row in rows if row["score"] is not None]
    average = f"{mean(scores):.2f}" if scores else "–"
    full, zero = sum(score >= question["points"] for score in scores), sum(score == 0 for score in scores)
    return f"| {question['question']} | {question['points']:g} | {average} | {full} | {zero} | {len(rows) - len(scores)} |"


def mistakes(book, handed):
    """The most frequent messages of each question."""
    lines = ["", "## What went wrong", ""]
    for number, question in enumerate(book.set["questions"]):
        rows = [now["questions"][number] for now in handed]
        said = Counter(row["message"] for row in rows if row["passed"] is False)
        lines += [f"* {question['question']}: {times} × {message}" for message, times in said.most_common(5)]
    return lines


# -- similarity ----------------------------------------------------------------------------------------------


def tokens(source):
    """The code as words that renaming, comments and layout do not change."""
    words = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME:
                words.append(token.string if keyword.iskeyword(token.string) else "name")
            elif token.type in (tokenize.OP, tokenize.NUMBER, tokenize.STRING):
                words.append(token.string)
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass                                                     # what came before the error counts
    return words


def prints(content):
    """The runs of tokens in a notebook's code, as hashes."""
    try:
        words = [word for source in code_cells(content) for word in [*tokens(source), "\n"]]
    except NotANotebook:
        return set()
    return {hash(tuple(words[k:k + RUN])) for k in range(len(words) - RUN + 1)}


def similarity(book, found, threshold=0.5):
    """Pairs of students by the share of their own code that they have in common; what was handed out does not
    count, nor what most of the class wrote. A reason to look at two notebooks side by side, never a proof."""
    given = prints((book.folder / "release" / f"{book.set['name']}.ipynb").read_bytes())
    latest = {own.student: own for own in sorted(found, key=lambda own: own.time) if own.content is not None}
    marks = {student: prints(own.content) - given for student, own in latest.items()}
    frequency = Counter(mark for own in marks.values() for mark in own)
    common = {mark for mark, times in frequency.items() if times > max(2, SHARED * len(marks))}
    own = {student: mark - common for student, mark in marks.items() if len(mark - common) >= RUN}
    pairs = []
    for a, b in combinations(sorted(own), 2):
        share = len(own[a] & own[b]) / min(len(own[a]), len(own[b]))
        if share >= threshold:
            pairs.append({"similarity": round(share, 3), "student": a, "and": b})
    return sorted(pairs, key=lambda pair: -pair["similarity"])


def to_mark(book):
    """A row for every answer that waits for a person, ready to be filled in and given to --manual."""
    for record in book.records():
        now = record.get("counts", {"questions": []})
        for question in now["questions"]:
            if question["score"] is None:
                yield {"student": record["student"], "question": question["question"], "points": "",
                       "of": question["points"],
                       "comment": "", "file": now["file"], "text": question.get("text", "")}


def write(book, found, threshold=0.5):
    """report.md, to_mark.csv, and similarity.csv where the submissions are given; how many pairs stand in
    it."""
    nothing = dict.fromkeys(("student", "question", "points", "comment"), "")
    table(book.folder / "to_mark.csv", list(to_mark(book)) or [nothing])
    (book.folder / "report.md").write_text(summary(book), encoding="utf8")
    pairs = similarity(book, found, threshold) if found else []
    table(book.folder / "similarity.csv", pairs or [{"similarity": "", "student": "", "and": ""}])
    return len(pairs)
