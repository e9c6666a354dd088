"""Sets and their promises, policies, exports and reports: everything of assigning that runs no student's code."""

import csv
import json
import re
import zipfile
from pathlib import Path

import pytest
from assign_class import FACTS, REFERENCES, SETUP, STATEMENTS, answered, bank, code, save

from lagrangebook.assign import generate as generating
from lagrangebook.assign import jail, report
from lagrangebook.assign.__main__ import main
from lagrangebook.assign.bank import bank as read_bank
from lagrangebook.assign.bank import choose, exchange, varied
from lagrangebook.assign.export import Open, export, gradescope, results
from lagrangebook.assign.generate import Refused, generate
from lagrangebook.assign.grade import Book, count, enter, harmless, late_share, manual_marks, safe
from lagrangebook.assign.judge import NotANotebook, code_cells, step
from lagrangebook.assign.report import similarity, summary
from lagrangebook.assign.submissions import Submission, collect, moment, owner, roster

# our own notebooks: any level will do
LEVEL = next((level for level in jail.LEVELS if jail.works(level)), None)
needs_unix = pytest.mark.skipif(LEVEL is None, reason="no process can be limited here")
EVERYTHING = {"names": ["bead"]}


def changed(facts, number, **news):
    return [own | news if k == number else own for k, own in enumerate(facts, 1)]


@pytest.fixture
def the_set(tmp_path):
    if LEVEL is None:
        pytest.skip("no process can be limited here")
    generate(tmp_path / "set", EVERYTHING, bank(tmp_path / "bank"), LEVEL)
    return tmp_path / "set"


@pytest.fixture
def book(the_set):
    """The set with three students: one full, one half and late, one who waits for nothing because nothing came."""
    folder = the_set.parent
    (folder / "class.csv").write_text("student,name,email,id\nada,Ada Lovelace,ada@x.org,11\nben,=Ben,ben@x.org,12\ncleo,Cleo,,13\n")
    book = Book.open(the_set, roster(folder / "class.csv"))
    for student, wrong, time in (("ada", (), 1000.0), ("ben", (3,), 1000.0 + 86400)):
        questions = [{"question": f"bead-{k}", "variable": f"answer_{k}", "kind": own["kind"],
                      "points": own["points"], "passed":
                      k not in wrong, "score": own["points"] * (k not in wrong), "message": "."}
                     for k, own in enumerate(FACTS, 1)]
        result = {"status": "graded", "note": "", "questions": questions, "errors": {}, "seconds": 1.0}
        enter(book, Submission(student, f"{student}.ipynb", time, b""), result, student, book.key.digest)
    return book


def table(path):
    with open(path, newline="", encoding="utf8") as file:
        return list(csv.DictReader(file))


# -- the bank ------------------------------------------------------------------------------------------------


def test_questions_are_chosen_by_name_level_kind_and_minutes(tmp_path):
    chapters = read_bank(bank(tmp_path, facts=changed(FACTS, 2, level=3)))
    assert [q.id for q in choose(chapters, ids=["bead-3", "bead-1"])] == ["bead-3", "bead-1"]
    assert [q.id for q in choose(chapters, levels=[3])] == ["bead-2"]
    assert [q.id for q in choose(chapters, kinds=["choice", "function"])] == ["bead-3", "bead-4"]
    assert [q.id for q in choose(chapters, names=["bead"], minutes=11)] == ["bead-1", "bead-2"]
    with pytest.raises(ValueError, match="the bank has no bead-9"):
        choose(chapters, ids=["bead-9"])


def test_the_whole_bank_of_the_book_can_be_read():
    chapters = read_bank(Path(__file__).parents[1] / "exercises")
    assert sum(len(own.questions) for own in chapters.values()) > 50
    assert all(own.setup for own in chapters.values())


def test_a_varied_number_changes_in_statement_reference_and_mistakes_alike_and_nowhere_else(tmp_path):
    assert exchange("2.5 + 12.5 + 2.55 + x2 + 2.5 m. 2.5.", {"2.5": "7"}) == "7 + 12.5 + 2.55 + x2 + 7 m. 7."
    own = read_bank(bank(tmp_path))["bead"]
    one, same, other = (varied(own, seed).questions["bead-2"] for seed in (1, 1, 2))
    (number,) = re.findall(r"y = ([\d.]+) x²", one.statement)
    assert number in ("1.5", "3.5") and one.statement.startswith("**2.**") and one.statement == same.statement
    assert f"9.81 * {number}" in one.reference and f"9.81 * {number}" in one.facts["mistakes"][0]["code"]
    assert {varied(own, seed).questions["bead-2"].reference for seed in range(9)} >= {one.reference,
                                                                                      other.reference}


# -- the promises --------------------------------------------------------------------------------------------


@needs_unix
def test_students_get_statements_and_blanks_and_nothing_else_of_the_bank(the_set):
    (file,) = (the_set / "release").iterdir()
    notebook = json.loads(file.read_text())
    assert [cell["source"] for cell in notebook["cells"] if cell["source"].startswith("answer_")] == [
        "answer_1 = None  # your answer", "answer_2 = None  # your answer",
        "answer_3 = None  # your answer: a function answer_3(x, v)", "answer_4 = None  # your answer"]
    assert all(cell["metadata"] == {} and not cell.get("outputs") for cell in notebook["cells"])
    assert (the_set / "private").stat().st_mode & 0o77 == 0 and (the_set / "private" / "set.json").stat().st_mode & 0o77 == 0


@needs_unix
def test_a_set_of_chosen_questions_is_numbered_anew(tmp_path):
    generate(tmp_path / "set", {"ids": ["bead-4", "bead-2"]}, bank(tmp_path / "bank"), LEVEL)
    text = (tmp_path / "set" / "release" / "set.ipynb").read_text()
    assert "**1.** The wire is frictionless" in text and "`answer_1`" in text and "**2.** The wire is y = 2.5" in text
    assert "answer_4" not in text and "answer_3" not in text


@needs_unix
@pytest.mark.parametrize(("change", "words"), [
    ({"references": [*REFERENCES[:3], 'answer_4 = "d"']}, "own reference|cannot be made|cannot be compared"),
    ({"references": [REFERENCES[0], "answer_2 = float('nan')", *REFERENCES[2:]]}, "bead-2"),
    ({"facts": changed(FACTS, 2, mistakes=[{"code": "2 * np.pi / np.sqrt(2 * 9.81 * 2.5)",
                                            "message": "Not wrong at all."}])},
     "bead-2: the mistake .* gets 'Right"),
    ({"facts": changed(FACTS, 2, mistakes=[{"code": "3.0", "message": "Three."},
                                           {"code": "3.0", "message": "Three again."}])},
     "bead-2: the mistake '3.0' gets 'Three.'"),
    ({"statements": [STATEMENTS[0] + " Hint: 4 * m * a**2 * x * xd**2 + 2 * m * g * a * x, of course: m * (1 + 4 * a**2 * x**2) * "
                     "xdd + 4 * m * a**2 * x * xd**2 + 2 * m * g * a * x", *STATEMENTS[1:]]},
     "holds a line of the solution"),
    ({"setup": SETUP + "\n" + REFERENCES[1]}, "holds a line of the solution of bead-2|blank notebook"),
    ({"statements": [STATEMENTS[0],
                     STATEMENTS[1] + " It is " + str(2 * 3.141592653589793 / (2 * 9.81 * 2.5) ** 0.5),
                     *STATEMENTS[2:]]}, "holds a line of the solution of bead-2"),
    ({"setup": SETUP + "\nanswer_4 = 'b'"}, "bead-4: the blank notebook scores 1.0, not zero"),
    ({"facts": changed(FACTS, 3, inputs="(1 / 0,)")}, "bead-3: its key cannot be made: ZeroDivisionError"),
])
def test_a_set_that_breaks_a_promise_is_not_made(tmp_path, change, words):
    with pytest.raises(Refused, match=words):
        generate(tmp_path / "set", EVERYTHING, bank(tmp_path / "bank", **change), LEVEL)
    assert not (tmp_path / "set").exists() and [path.name for path in tmp_path.iterdir()] == ["bank"]


@needs_unix
def test_no_secret_of_the_bank_stands_in_any_released_file(tmp_path):
    """P10: a unique word in a solution, hidden input, stored output, plain cell, note, hint, mistake, and in files beside it."""
    words = iter(f"SECRET{k:02}" for k in range(20))
    facts = [own | {"hint": next(words), "objective": next(words), "rubric": [next(words)], "mistakes": [
        {**mistake, "code": f"{mistake['code']}  # {next(words)}"} for mistake in own["mistakes"]]}
             for own in FACTS[:2]]
    output = code(f"x # {next(words)}") | {"outputs": [{"output_type": "stream", "name": "stdout",
                                                        "text": next(words)}]}
    note = {"cell_type": "markdown", "source": next(words), "metadata": {}}
    references = [f"{reference}  # {next(words)}" for reference in REFERENCES[:2]]
    folder = bank(tmp_path / "bank", facts=facts, references=references, more=[output, note])
    for name in ("bead.ipynb.bak", "solutions.py", "bead_solution.ipynb"):
        (folder / name).write_text(next(words) if not name.endswith("ipynb") else (folder / "bead.ipynb").read_text())
    (folder / "bead_solution.ipynb").unlink()
    generate(tmp_path / "set", EVERYTHING, folder, LEVEL)
    released = [path for path in (tmp_path / "set" / "release").rglob("*")]
    assert [path.name for path in released] == ["set.ipynb"] and "SECRET" not in released[0].read_text()
    assert "SECRET" in (tmp_path / "set" / "private" / "set.json").read_text()


@needs_unix
def test_data_files_go_out_only_if_the_notebook_lists_them(tmp_path):
    folder = bank(tmp_path / "bank")
    notebook = json.loads((folder / "bead.ipynb").read_text())
    notebook["metadata"]["lagrangebook"] = {"files": ["log.csv"]}
    (folder / "bead.ipynb").write_text(json.dumps(notebook))
    (folder / "log.csv").write_text("t,x\n0,1\n")
    (folder / "other.csv").write_text("0")
    generate(tmp_path / "set", EVERYTHING, folder, LEVEL)
    assert sorted(path.name for path in (tmp_path / "set" / "release").iterdir()) == ["log.csv", "set.ipynb"]
    (folder / "log.csv").write_text(REFERENCES[2])
    with pytest.raises(Refused, match="log.csv holds a line of the solution of bead-3"):
        generate(tmp_path / "set", EVERYTHING, folder, LEVEL)


@needs_unix
def test_a_variant_keeps_its_promises_with_other_numbers(tmp_path):
    folder = bank(tmp_path / "bank")
    sets = [generate(tmp_path / f"set{seed}", EVERYTHING, folder, LEVEL, variant=seed) for seed in range(4)]
    assert len({set_["questions"][1]["reference"] for set_ in sets}) == 2
    assert "2.5" not in (tmp_path / "set0" / "release" / "set0.ipynb").read_text()


def test_a_question_that_builds_on_another_comes_with_it(tmp_path):
    statements = [*STATEMENTS[:3], STATEMENTS[3] + " Think of `answer_2`."]
    references = [*REFERENCES[:3], "answer_4 = 'b' if answer_2 else 'a'"]
    with pytest.raises(Refused, match="bead-4 builds on bead-2: choose both"):
        generate(tmp_path / "set", {"ids": ["bead-4"]}, bank(tmp_path / "bank", statements, references),
                 LEVEL)


@needs_unix
def test_the_leak_check_itself_can_fail(tmp_path, monkeypatch):
    """A release with a reference in place of a blank, as a fault put into `stub` would make it."""
    monkeypatch.setattr(generating, "stub", lambda question, number: question.reference)
    with pytest.raises(Refused) as caught:
        generate(tmp_path / "set", EVERYTHING, bank(tmp_path / "bank"), LEVEL)
    assert "blank notebook scores 6.0" in str(caught.value) and "holds a line of the solution of bead-3" in str(caught.value)


# -- files that are handed in
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("content", "words"), [
    (b"", "no JSON"), (b"%PDF-1.7 \xff", "no JSON"), (b"[" * 100_000, "no JSON"), (b"[]", "no cells"),
                                                (b'{"cells": 5}', "no cells"),
    (json.dumps({"cells": [{}] * 3000}).encode(), "3000 cells"), (b" " * (51 << 20), "50 MB is the limit"),
])
def test_what_is_no_notebook_is_refused_with_its_reason(content, words):
    with pytest.raises(NotANotebook, match=words):
        code_cells(content)


def test_code_cells_are_found_whatever_else_a_notebook_has_lost():
    for cell in ({"cell_type": "code", "source": ["a = 1\n", "b"]},
                 {"cell_type": "code", "input": "a = 1\nb"}):
        for book in ({"cells": [cell, {"cell_type": "raw"}, 7, None]}, {"worksheets": [{"cells": [cell]}]}):
            for encoding in ("utf8", "utf-8-sig", "utf-16"):
                assert code_cells(json.dumps(book).encode(encoding)) == ["a = 1\nb"]


def test_the_roster_finds_students_in_the_names_that_learning_platforms_give(tmp_path):
    (tmp_path / "class.csv").write_text("\ufeffStudent,Name,Email,ID,due\nada,Ada Lovelace,ada@x.org,4711,\nben,Ben,,4712,2026-12-05\n",
                                        encoding="utf8")
    students = roster(tmp_path / "class.csv")
    for name in ("ada.ipynb", "Ada Lovelace_99_assignsubmission_file", "lovelaceada_88_4711_ps1-1.ipynb",
                 "ada@x.org.ipynb"):
        assert owner(name, students) == "ada", name
    assert owner("2026-12-05_x.ipynb", students) == "2026-12-05_x" and owner("eve.ipynb", students) == "eve"


def test_attempts_in_a_folder_belong_to_its_student_and_hidden_files_to_nobody(tmp_path):
    folder = tmp_path / "in"
    (folder / "ada" / "second").mkdir(parents=True)
    (folder / "ada" / ".ipynb_checkpoints").mkdir()
    for name in ("ada/one.ipynb", "ada/second/two.ipynb", "ada/.ipynb_checkpoints/one.ipynb", "ada/notes.txt",
                 ".DS_Store", "ben.ipynb"):
        save(folder / name, [code("1")])
    found = collect(folder, {})
    assert [(own.student, own.file) for own in found] == [("ada", "ada/one.ipynb"),
                                                          ("ada", "ada/second/two.ipynb"),
                                                          ("ben", "ben.ipynb")]


def test_names_of_files_are_safe_and_different():
    names = ["ada", "Zoë", "李雷", "../../etc/passwd", "a/b", "a%2Fb", ".hidden", "", "x" * 300, "x" * 299,
             "ada ", "nul\0", "<b>"]
    files = [safe(name) for name in names]
    assert len(set(files)) == len(names) and files[:3] == names[:3]
    assert not any("/" in file or "\0" in file or file.startswith(".")
                   or len(file.encode()) > 200 for file in files)


# -- counting ------------------------------------------------------------------------------------------------


def test_late_days_begin_after_the_grace_and_end_at_the_cutoff():
    policy, due = {"grace": 15, "late": 0.1, "cutoff": 3}, "2026-12-01T12:00+00:00"
    at = lambda hours: late_share(policy, due, moment(due) + 3600 * hours)           # noqa: E731
    assert [at(h) for h in (-5, 0.25, 0.3, 24, 25, 72, 73)] == pytest.approx([1, 1, 0.9, 0.9, 0.8, 0.7, 0])
    assert late_share(policy, "", 1e12) == 1


def test_manual_marks_override_a_question_or_the_total_and_nobody_of_the_roster_is_missing(book):
    folder = book.folder.parent
    (folder / "manual.csv").write_text("student,question,points,comment\nben,bead-3,5,convincing\ncleo,total,3,oral exam\n")
    count(book, manual_marks(folder / "manual.csv"), tell=lambda words: None)
    rows = {row["student"]: row for row in table(book.folder / "grades.csv")}
    assert (rows["ada"]["total"], rows["ben"]["total"], rows["cleo"]["total"]) == ("13", "12", "3")
    assert rows["cleo"]["status"] == "missing" and "convincing" in (book.folder / "feedback" / "ben.html").read_text()
    (folder / "manual.csv").write_text("student,points\nben,five\n")
    with pytest.raises(ValueError, match="line 2: wanted the columns student, question, points, comment"):
        manual_marks(folder / "manual.csv")


def test_a_deadline_of_ones_own_and_the_best_of_several_attempts(book):
    def total(student):
        count(book, {}, tell=lambda words: None)
        return {row["student"]: float(row["total"]) for row in table(book.folder / "grades.csv")}[student]
    book.policy |= {"due": "1970-01-01T00:20+00:00", "grace": 0, "late": 0.5, "cutoff": 0}
    # 7 of 13 with one day late
    assert total("ada") == 13 and total("ben") == 3.5
    book.students["ben"]["due"] = "1970-01-03T00:00+00:00"
    assert total("ben") == 7
    first = book.record("ada")["attempts"][0]["result"]
    worse = first | {"questions": [own | {"score": 0} for own in first["questions"]]}
    enter(book, Submission("ada", "again.ipynb", 1100.0, b""), worse, "again", book.key.digest)
    assert total("ada") == 0
    book.policy["attempt"] = "best"
    assert total("ada") == 13


def test_an_unreadable_later_attempt_does_not_replace_a_readable_one(book):
    from lagrangebook.assign.grade import refusal
    enter(book, Submission("ada", "x.pdf", 5000.0, None, "A PDF."), refusal(book.key, "A PDF."), "x",
          book.key.digest)
    count(book, {}, tell=lambda words: None)
    assert {row["student"]: row["total"] for row in table(book.folder / "grades.csv")}["ada"] == "13"


# -- export and report ---------------------------------------------------------------------------------------


def test_exports_have_the_columns_that_canvas_and_moodle_read_and_no_formulas(book):
    count(book, {}, tell=lambda words: None)
    for form in ("canvas", "moodle", "csv"):
        export(book, form, book.folder / f"{form}.csv")
    first, *rows = table(book.folder / "canvas.csv")
    assert first["Student"].strip() == "Points Possible" and first["set"] == "13" and [row["set"]
                                                                                       for row in rows] == ["13", "7", "0"]
    assert [row["ID"] for row in rows] == ["11", "12", "13"] and rows[1]["Student"] == "'=Ben"
    assert table(book.folder / "moodle.csv")[0]["Email address"] == "ada@x.org"
    assert table(book.folder / "csv.csv")[1]["bead-3"] == "0" and harmless("+1") == "'+1" and harmless(-1.5) == -1.5


def test_an_export_waits_for_the_person_who_reads_the_texts(book):
    record = book.record("ada")
    record["attempts"][0]["result"]["questions"][0] |= {"score": None, "passed": None}
    book.path("ada").write_text(json.dumps(record))
    count(book, {}, tell=lambda words: None)
    with pytest.raises(Open, match=r"1 students wait for a person \(ada"):
        export(book, "canvas", book.folder / "canvas.csv")
    assert export(book, "canvas", book.folder / "canvas.csv", unfinished=True) == 3


def test_what_a_person_has_to_mark_is_a_table_that_can_be_filled_in_and_given_back(book):
    record = book.record("ada")
    record["attempts"][0]["result"]["questions"][3] |= {"score": None, "passed": None, "text": "=Because"}
    book.path("ada").write_text(json.dumps(record))
    count(book, {}, tell=lambda words: None)
    report.write(book, [])
    (row,) = table(book.folder / "to_mark.csv")
    assert (row["student"], row["question"], row["text"]) == ("ada", "bead-4", "'=Because")
    assert manual_marks(book.folder / "to_mark.csv") == {}                           # nothing filled in yet
    text = (book.folder / "to_mark.csv").read_text().replace("bead-4,,", "bead-4,0.5,")
    (book.folder / "to_mark.csv").write_text(text)
    count(book, manual_marks(book.folder / "to_mark.csv"), tell=lambda words: None)
    assert {row["student"]: row["total"] for row in table(book.folder / "grades.csv")}["ada"] == "12.5"


def test_the_summary_counts_the_class(book):
    count(book, {}, tell=lambda words: None)
    text = summary(book)
    assert "2 graded, 1 missing" in text and "mean 10.0, median 10, from 7 to 13" in text and "| bead-3 | 6 | 3.00 | 1 | 1 | 0 |" in text


def test_copied_code_is_similar_though_names_and_comments_change_and_what_was_handed_out_is_not(the_set):
    own = ["def answer_3(x, v):\n    s = [2.5 * 2 * x]\n    total = 0.5 * 2.0 * v**2\n    for k in s: total += k**2 * v**2\n    return total",
           "def answer_3(p, w):\n    # mine\n    a = [2.5 * 2 * p]\n    b = 0.5 * 2.0 * w**2\n    for c in a: b += c**2 * w**2\n    return b",
           "def answer_3(x, v):\n    y = lambda x: 2.5 * x * x\n    h = 1e-6\n    dy = (y(x + h) - y(x - h)) / h / 2\n    return v * v * (1 + dy * dy)",
           "import math\ndef answer_3(x, v):\n    u = math.hypot(v, 5 * x * v)\n    return math.pow(u, 2) if u > 0 else 0.0"]
    release = the_set / "release" / "set.ipynb"
    found = [Submission(name, name, 0.0, json.dumps({"cells": answered(release, None, None,
                                                                       source)}).encode())
             for name, source in zip(("ada", "ben", "cleo", "dan"), own)]
    pairs = similarity(Book.open(the_set), found)
    assert [(pair["student"], pair["and"]) for pair in pairs] == [("ada",
                                                                   "ben")] and pairs[0]["similarity"] > 0.9


def test_the_gradescope_archive_needs_no_compiler_conda_or_browser(the_set, tmp_path):
    gradescope(Book.open(the_set), tmp_path / "g.zip")
    with zipfile.ZipFile(tmp_path / "g.zip") as archive:
        names, setup = archive.namelist(), archive.read("setup.sh").decode()
        assert {"setup.sh", "run_autograder", "set/private/set.json",
                "lagrangebook/assign/runner.py"} <= set(names)
        assert "--only-binary :all:" in setup and not re.search("conda|playwright|chromium|gcc|build-essential", setup.partition("set -e")[2])
        assert not any(name.endswith((".pyc", ".ipynb")) for name in names)


def test_gradescope_reads_scores_and_sentences():
    rows = [{"points": 4, "score": 4.0, "message": "Right."},
            {"points": 2, "score": None, "message": "A person reads this."}]
    found = results({}, {"questions": rows, "errors": {"2": "NameError: x", "answer_1": "y"}, "note": ""})
    assert found["score"] == 4 and [test["max_score"] for test in found["tests"]] == [4,
                                                                                      2] and found["output"] == "Cell 3: NameError: x"


# -- the command line ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", "list", "generate", "selftest", "grade", "report", "export",
                                     "gradescope"])
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code == 0 and len(capsys.readouterr().out) > 200


def test_list_shows_level_minutes_and_points(tmp_path, capsys):
    assert main(["list", "--bank", str(bank(tmp_path)), "--kind", "choice"]) == 0
    assert "bead-4" in (out := capsys.readouterr().out) and "1 questions, 5 minutes, 1 points" in out


def test_what_is_not_there_is_named(tmp_path, capsys):
    assert main(["list", "--bank",
                 str(tmp_path / "no")]) == 2 and "holds no notebooks" in capsys.readouterr().err
    assert main(["report",
                 str(tmp_path / "no")]) == 2 and "holds no set; `generate" in capsys.readouterr().err


def test_without_isolation_nothing_runs_unless_the_flag_says_so(the_set, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(jail, "isolation", lambda: "limits")
    (tmp_path / "in").mkdir()
    save(tmp_path / "in" / "ada.ipynb", answered(the_set / "release" / "set.ipynb", *REFERENCES))
    assert main(["grade", str(the_set), str(tmp_path / "in")]) == 2
    assert "--i-trust-these-students" in capsys.readouterr().err and not list((the_set / "grades").glob("*.json"))
    assert main(["grade", str(the_set), str(tmp_path / "in"), "--i-trust-these-students"]) == 0
    assert "limits on time and memory alone" in capsys.readouterr().out
    assert table(the_set / "grades.csv")[0]["total"] == "13"


def test_a_submission_is_graded_the_same_whatever_order_its_metadata_has(the_set):
    book, cells = Book.open(the_set), answered(the_set / "release" / "set.ipynb", *REFERENCES)
    result = step(book.key, json.dumps({"cells": cells, "metadata": {"x": [1]}}).encode(), jail.Jail(LEVEL))
    assert [own["score"] for own in result["questions"]] == [4, 2, 6, 1]
