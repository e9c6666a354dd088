"""The command line: python -m lagrangebook.assign list | generate | selftest | grade | report | export |
gradescope."""

import argparse
import sys
from pathlib import Path

LEARN = """\
Hand out exercises of the book, collect them and grade a class, in five steps:

    python -m lagrangebook.assign list --chapter energy lagrange          what there is
    python -m lagrangebook.assign generate ps1 energy-3 lagrange-4        makes ps1/release, for the students
    python -m lagrangebook.assign grade ps1 submissions --roster class.csv
    python -m lagrangebook.assign report ps1 submissions                  report.md, to_mark.csv, similarity.csv
    python -m lagrangebook.assign export ps1 canvas --roster class.csv

A set is a folder. Its release/ goes out, its private/ never does: it holds the references. Deadline, late
work and which attempt counts stand in private/policy.toml. `COMMAND --help` explains each step.
"""
GENERATE = """\
Makes the folder SET from questions of the bank, named one by one or chosen by chapter, level, kind and
minutes. The set is written only if its reference scores full, its blank notebook zero, every named
mistake gets its own message, and no line of a solution stands in any file of release/. Again with the
same SET, and nothing else, takes up corrections made in the bank; the next `grade` then grades again and
writes the changed marks to changes.csv.

The book's own bank is public, and so are its solutions: for marks that count, exchange the numbers
(--variant 7) or keep a bank of your own (--bank FOLDER).
"""
GRADE = """\
SUBMISSIONS is a folder with one notebook, or one folder of notebooks, for each student, as Canvas and
Moodle deliver them. What has been graded is not graded again: stop and start as you like. Written are
SET/grades (all there is to know), SET/feedback (a page for each student) and SET/grades.csv.

The roster is a CSV file with a column student and, as you have them, name, email, id, login and due (a
deadline of one's own); any of them in the name of a file finds the student. Marks that a person gives,
for texts and projects or in place of the program's, stand in a CSV file (--manual) with the columns
student, question, points, comment; the question "total" replaces the sum. `report` writes such a table,
to_mark.csv, with every answer that waits.
"""
TRUST = """\
The students' programs run with limits on time and memory, but in reach of your files and your network,
because neither bubblewrap nor a user of their own is to be had here"""


def arguments():
    parser = argparse.ArgumentParser("python -m lagrangebook.assign", description=LEARN,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, words, more=""):
        own = commands.add_parser(name, help=words, description=f"{words}\n\n{more}",
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
        return own

    own = command("list", "The questions of the bank, with level, minutes and points.")
    choice(own)
    own.add_argument("--text", action="store_true", help="the statements too")
    own = command("generate", "Make a set: the notebook to hand out, and its private key.", GENERATE)
    own.add_argument("set", metavar="SET", help="the folder to make; its name is the set's")
    own.add_argument("questions", nargs="*", metavar="QUESTION",
                     help="such as energy-3, in the order of the notebook")
    choice(own)
    own.add_argument("--title", help="the notebook's heading (default: the folder's name)")
    own.add_argument("--variant", type=int, metavar="SEED",
                     help="exchange the numbers that the bank lets vary; one seed, one variant")
    trust(own)
    own = command("selftest",
                  "Grade a set's own reference, blank and mistakes here, before you grade a class.")
    own.add_argument("set", metavar="SET")
    trust(own)
    own = command("grade", "Grade what is new, count everything, write marks and feedback.", GRADE)
    own.add_argument("set", metavar="SET")
    own.add_argument("submissions", metavar="SUBMISSIONS")
    roster(own)
    own.add_argument("--times", metavar="CSV",
                     help="columns name (file or student) and time, where the files' dates are lost")
    own.add_argument("--jobs", type=int, metavar="N",
                     help="submissions at the same time (default: one for each core)")
    own.add_argument("--scheduler", metavar="ADDRESS",
                     help="grade on the Dask cluster at this address; every worker needs the "
                     "same packages and bubblewrap")
    trust(own)
    own = command("report", "Summarise a class; with its submissions, list those that resemble each other.")
    own.add_argument("set", metavar="SET")
    own.add_argument("submissions", metavar="SUBMISSIONS", nargs="?")
    roster(own)
    own.add_argument("--threshold", type=float, default=0.5,
                     help="share of common code from which a pair is listed (0.5)")
    own = command("export", "Write the counted grades for Canvas, Moodle, or as a plain table.")
    own.add_argument("set", metavar="SET")
    own.add_argument("form", choices=("canvas", "moodle", "csv"))
    own.add_argument("--to", metavar="FILE", help="default: SET/canvas.csv and so on")
    own.add_argument("--unfinished", action="store_true", help="though some questions wait for a person")
    roster(own)
    own = command("gradescope",
                  "Make the autograder zip of a set. It holds the references: upload it, publish it never.")
    own.add_argument("set", metavar="SET")
    own.add_argument("--to", metavar="FILE", help="default: SET/private/gradescope.zip")
    return parser


def choice(own):
    own.add_argument("--bank", default="exercises", metavar="FOLDER",
                     help="the instructor's notebooks (default: exercises)")
    own.add_argument("--chapter", nargs="+", default=[], metavar="NAME", help="only these chapters")
    own.add_argument("--level", nargs="+", type=int, default=[], choices=(1, 2, 3),
                     help="1 warm-up, 2 exercise, 3 demanding")
    own.add_argument("--kind", nargs="+", default=[],
                     help="equation expression matrix number function trajectory choice text")
    own.add_argument("--minutes", type=int, metavar="N", help="as many as fit into N minutes")


def roster(own):
    own.add_argument("--roster", metavar="CSV", help="who is in the class")
    own.add_argument("--manual", metavar="CSV", help="marks that a person gives")


def trust(own):
    own.add_argument("--i-trust-these-students", action="store_true",
                     help=f"go on without isolation. {TRUST}")


# -- the commands --------------------------------------------------------------------------------------------


def chosen(options):
    return {"ids": getattr(options, "questions", []), "names": options.chapter, "levels": options.level,
            "kinds": options.kind, "minutes": options.minutes}


def isolated(options):
    """The isolation in force, printed; none without the flag that says so."""
    from .jail import isolation
    level = isolation()
    words = {"bubblewrap": "bubblewrap: own files, no network, own processes",
             "user": "a user of its own, and limits; network and "
             "world-readable files stay in reach", "limits": "limits on time and memory alone"}
    print(f"isolation: {words.get(level, 'none')}")
    if level == "limits" and options.i_trust_these_students:
        return level
    if level not in ("bubblewrap", "user"):
        if level is None:
            raise ValueError("students' programs cannot even be limited here; use Linux, its WSL under Windows, or a container")
        raise ValueError(f"{TRUST}. Install bubblewrap, or say --i-trust-these-students")
    return level


def list_(options):
    from .bank import bank, choose
    questions = choose(bank(options.bank), **chosen(options))
    for question in questions:
        own = question.facts
        print(f"{own['question']:24} {own['kind']:10} level {own['level']}  {own['minutes']:3} min  {own['points']:2} points  "
              f"{own['objective']}")
        if options.text:
            print(f"\n    {question.statement}\n")
    print(f"{len(questions)} questions, {sum(q.facts['minutes'] for q in questions)} minutes, "
          f"{sum(q.facts['points'] for q in questions)} points")


def generate(options):
    from .generate import generate as make
    level, choice_ = isolated(options), chosen(options)
    set_ = make(options.set, choice_ if any(choice_.values()) else None, options.bank, level, options.title,
                options.variant)
    points = sum(question["points"] for question in set_["questions"])
    print(f"{len(set_['questions'])} questions, {points} points. Hand out {Path(options.set) / 'release'}; keep "
          f"{Path(options.set) / 'private'} to yourself; the deadline goes into {Path(options.set) / 'private' / 'policy.toml'}")


def selftest(options):
    from .generate import selftest as faults_of
    faults = faults_of(options.set, isolated(options))
    print("\n".join(faults) or "The reference scores full, the blank zero, every mistake gets its message.")
    return bool(faults)


def grade(options):
    from . import pool
    from .grade import Book, count, manual_marks, run
    from .submissions import collect, times_of
    from .submissions import roster as read_roster
    book, marks = Book.open(options.set, read_roster(options.roster)), manual_marks(options.manual)
    found = collect(options.submissions, book.students, times_of(options.times))
    if options.scheduler:
        print(f"on the cluster at {options.scheduler}; every worker isolates each submission itself")
        def runner(tasks):
            return pool.on_cluster(book.set, tasks, options.scheduler, book.files)
    else:
        level = isolated(options)

        def runner(tasks):
            return pool.on_this_machine(book.set, tasks, level, book.files, options.jobs)
    failed = run(book, found, runner)
    count(book, marks)
    print(f"{len(found)} files of {len({own.student for own in found})} students: {book.folder / 'grades.csv'}, "
          f"{book.folder / 'feedback'}")
    if failed:
        print(f"the grading itself failed for {', '.join(failed)}; the same command tries them again")
    return bool(failed)


def report(options):
    from .grade import Book
    from .report import write
    from .submissions import collect
    from .submissions import roster as read_roster
    book = Book.open(options.set, read_roster(options.roster))
    found = collect(options.submissions, book.students) if options.submissions else []
    pairs = write(book, found, options.threshold)
    print(f"{book.folder / 'report.md'}" + (f"; {pairs} pairs in {book.folder / 'similarity.csv'}"
                                            if found else ""))


def export(options):
    from .export import export as write
    from .grade import Book, count, manual_marks
    from .submissions import roster as read_roster
    book = Book.open(options.set, read_roster(options.roster))
    if options.manual:
        count(book, manual_marks(options.manual))
    path = Path(options.to or book.folder / f"{options.form}.csv")
    print(f"{write(book, options.form, path, options.unfinished)} students: {path}")


def gradescope(options):
    from .export import gradescope as write
    from .grade import Book
    book = Book.open(options.set)
    path = Path(options.to or book.folder / "private" / "gradescope.zip")
    print(f"{write(book, path)} files: {path}. It holds the references: upload it, publish it never")


def main(words=None):
    options = arguments().parse_args(words)
    command = {"list": list_}.get(options.command) or globals()[options.command]
    try:
        return int(bool(command(options)))
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
