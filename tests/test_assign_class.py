"""A whole class, with everything that classes hand in: nobody loses a point by accident, nobody gains one by force."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from assign_class import FACTS, FULL, LOOP, PERIOD, REFERENCES, answered, bank, code, hand_in, save

from lagrangebook.assign import jail
from lagrangebook.assign.__main__ import main
from lagrangebook.assign.generate import generate
from lagrangebook.assign.jail import Jail, Limits

pytestmark = pytest.mark.skipif(not jail.works("bubblewrap"),
                                reason="bubblewrap is not installed or not allowed here")


def a_set(folder, **limits):
    """A generated set of the bead's four questions, with limits for a test's patience."""
    generate(folder / "set", {"names": ["bead"]}, bank(folder / "bank"), "bubblewrap")
    path = folder / "set" / "private" / "set.json"
    set_ = json.loads(path.read_text())
    set_["limits"] |= limits
    path.write_text(json.dumps(set_))
    return folder / "set", folder / "set" / "release" / "set.ipynb"


def grade_of(folder, student):
    return json.loads((folder / "grades" / f"{student}.json").read_text())["counts"]


def scores(counts):
    return [question["score"] for question in counts["questions"]]


def processes_with(marker):
    return [path for path in Path("/proc").glob("[0-9]*/cmdline") if marker.encode() in path.read_bytes()]


def test_no_false_zero_no_false_full_mark_no_lost_submission_and_nothing_leaves_the_jail(tmp_path, capsys):
    """Some forty submissions, honest and hostile, graded by the command that an instructor types. P09 among them:
    lost, deleted and doubled cells and metadata."""
    folder, release = a_set(tmp_path, cell=2.0, wall=30.0)
    (tmp_path / "secret.txt").write_text("SECRET")
    marker = str(os.getpid() * 1000 + 7)
    with socket.create_server(("127.0.0.1", 0)) as server:
        expected = hand_in(tmp_path / "submissions", release, tmp_path, marker, server.getsockname()[1])
        before = {path: path.read_bytes() for path in tmp_path.rglob("*")
                  if path.is_file() and not path.is_symlink()}
        assert main(["grade", str(folder), str(tmp_path / "submissions"), "--jobs", "2"]) == 0
        assert "isolation: bubblewrap" in capsys.readouterr().out
    faults, records = [], {}
    for path in (folder / "grades").glob("*.json"):
        records[json.loads(path.read_text())["student"]] = json.loads(path.read_text())["counts"]
    for student, worth in expected.items():
        now = records.pop(student)
        if worth is None:
            assert now["status"] == "refused" and now["note"], student
        elif now["status"] != "graded" or scores(now) != worth:
            faults.append((student, scores(now), worth, [q["message"] for q in now["questions"]],
                           now["errors"]))
    assert faults == []
    assert not records
    assert processes_with(marker) == []
    written = {path for path in tmp_path.rglob("*") if path.is_file()} - set(before)
    assert {path.parent.name for path in written} <= {"grades", "feedback", "set",
                                                      "submissions"} and "link.ipynb" in {
        path.name for path in written if path.parent.name == "submissions"} | {"link.ipynb"}
    assert all(path.read_bytes() == content for path, content in before.items())
    assert "SECRET" not in "".join(path.read_text() for path in (folder / "feedback").iterdir())


def test_feedback_names_mistakes_and_failed_cells_and_holds_no_reference(tmp_path):
    folder, release = a_set(tmp_path)
    (tmp_path / "in").mkdir()
    save(tmp_path / "in" / "<b>Ada<b>.ipynb", answered(release,
                                                       FACTS[0]["mistakes"][0]["code"].join(["answer_1 = ",
                                                                                             ""]),
                                                        "answer_2 = unknown", REFERENCES[2],
                                                       "answer_4 = 'a'"))
    assert main(["grade", str(folder), str(tmp_path / "in")]) == 0
    (page,) = ((path.read_text()) for path in (folder / "feedback").iterdir())
    assert FACTS[0]["mistakes"][0]["message"] in page and "NameError" in page and "<b>Ada" not in page
    assert "0.897" not in page and "4 * m * a**2" not in page


def test_grading_stops_and_starts_and_a_corrected_question_changes_the_marks_it_concerns(tmp_path, capsys):
    folder, release = a_set(tmp_path)
    (tmp_path / "in").mkdir()
    save(tmp_path / "in" / "ada.ipynb", answered(release, *REFERENCES))
    save(tmp_path / "in" / "ben.ipynb", answered(release, REFERENCES[0], "answer_2 = 1.2", *REFERENCES[2:]))
    command = ["grade", str(folder), str(tmp_path / "in")]
    assert main(command) == 0 and "2/2" in capsys.readouterr().out.replace(" ", "")
    assert main(command) == 0 and "[" not in capsys.readouterr().out               # nothing runs twice
    wrong = [*REFERENCES]
    wrong[1] = "answer_2 = 1.2"
    generate(folder, None, bank(tmp_path / "bank", references=wrong), "bubblewrap")
    assert main(command) == 0
    changes = (folder / "changes.csv").read_text()
    assert "ada,bead-2,2,0" in changes and "ben,bead-2,0,2" in changes
    assert scores(grade_of(folder, "ada")) == [4, 0, 6, 1] and scores(grade_of(folder, "ben")) == FULL


def test_what_was_assigned_before_a_cell_ends_its_process_counts(tmp_path):
    cells = ["answer_1 = 1", f"answer_2 = 2\n{LOOP}", "import os\nanswer_3 = 3\nos._exit(1)\nanswer_4 = 4",
             "answer_5 = os.getpid()"]
    outcome = Jail("bubblewrap", Limits(cell=1.0, wall=20)).run(cells, [f"answer_{k}" for k in range(1, 6)])
    assert {name: outcome.answers.get(name) for name in ("answer_1", "answer_2", "answer_3", "answer_4")} == {
        "answer_1": 1, "answer_2": 2, "answer_3": 3, "answer_4": None}
    assert isinstance(outcome.answers["answer_5"], int) and outcome.stopped == {1: 1, 2: 2}


def test_the_jail_sees_its_allow_list_and_no_more(tmp_path):
    look = """import os
answer_1 = sorted(os.listdir("/"))
answer_2 = [f for f in os.listdir("/book/lagrangebook") if f.endswith(".ipynb")]
answer_3 = [os.getuid() != 0, os.getpid() < 10, os.path.exists("/work"), os.listdir(os.path.expanduser("~"))]
answer_4 = [line.split()[1] for line in open("/proc/self/mounts") if "rw" in line.split()[3].split(",")]"""
    (tmp_path / "data.csv").write_text("1")
    answers = Jail("bubblewrap", files=[tmp_path / "data.csv"]).run([look],
                                                                    [f"answer_{k}"
                                                                     for k in range(1, 5)]).answers
    assert set(answers["answer_1"]) <= {"bin", "book", "dev", "etc", "home", "lib", "lib32", "lib64", "proc",
                                        "root", "tmp", "usr",
                                        *[part for part in Path(sys.prefix).parts[1:2] + Path(sys.base_prefix).parts[1:2]]}
    assert answers["answer_2"] == [] and answers["answer_3"][:3] == [True, True,
                                                                     False] and "data.csv" in answers["answer_3"][3]
    assert set(answers["answer_4"]) <= {"/tmp", "/home/student", "/dev/shm", "/dev/pts", "/proc", *[
        f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")]}


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0,
                    reason="only root can become somebody else")
def test_an_unprivileged_user_gets_the_same_jail(tmp_path):
    """Where this Python may be read by everybody: the jail as the user nobody."""
    script = ("import sys; sys.path.insert(0, sys.argv[1]); from lagrangebook.assign.jail import Jail;"
              "print(Jail('bubblewrap').run(['import os; answer_1 = [os.getuid(), os.path.exists(\"/etc/passwd\")]'], ['answer_1']))")
    package = str(jail.PACKAGE.parent)
    done = subprocess.run([sys.executable, "-c", script, package], user=65534, group=65534, extra_groups=[],
                          cwd="/",
                          env={"HOME": str(tmp_path), "PATH": os.defpath}, capture_output=True, text=True) \
        if os.stat(sys.base_prefix).st_mode & 1 and not sys.base_prefix.startswith("/root") else None
    if done is None:
        pytest.skip("this Python stands where other users cannot read it")
    assert f"[{jail.FIRST_USER}, False]" in done.stdout, done.stderr


def test_a_jail_that_does_not_start_is_no_zero(tmp_path, monkeypatch):
    folder, release = a_set(tmp_path)
    (tmp_path / "in").mkdir()
    save(tmp_path / "in" / "ada.ipynb", answered(release, *REFERENCES))
    from lagrangebook.assign.grade import Book, count, run
    from lagrangebook.assign.pool import attempt
    from lagrangebook.assign.submissions import collect
    book, broken = Book.open(folder), Jail("bubblewrap", files=[tmp_path / "is not there"])
    found = collect(tmp_path / "in", {})
    assert run(book, found, lambda tasks: [(n, attempt(book.key, c, broken))
                                           for n, c in tasks.items()]) == ["ada"]
    count(book, {})
    # waits for a person, or the next run
    assert scores(grade_of(folder, "ada")) == [None] * 4
    assert main(["grade", str(folder), str(tmp_path / "in")]) == 0
    assert scores(grade_of(folder, "ada")) == FULL


@pytest.mark.full
def test_a_class_of_300_is_graded_in_three_minutes(tmp_path):
    """Four questions each, every seventh submission wrong, five with a loop without end. On two idle cores."""
    folder, release = a_set(tmp_path)
    (tmp_path / "in").mkdir()
    for k in range(300):
        answers = [*REFERENCES[:2], REFERENCES[2] if k % 7 else "answer_3 = lambda x, v: 0.0", REFERENCES[3]]
        answers[1] = LOOP if k % 60 == 30 else PERIOD
        save(tmp_path / "in" / f"student {k:03}.ipynb", [*answered(release, *answers), code(f"# {k}")])
    began = time.perf_counter()
    assert main(["grade", str(folder), str(tmp_path / "in"), "--jobs", "2"]) == 0
    seconds = time.perf_counter() - began
    rows = [json.loads(path.read_text())["counts"] for path in (folder / "grades").iterdir()]
    totals = [row["total"] for row in rows]
    assert len(rows) == 300 and {row["status"] for row in rows} == {"graded"}
    assert totals.count(13) == sum(k % 7 != 0 and k % 60 != 30 for k in range(300))
    assert seconds <= 180, f"{seconds:.0f} s"


def test_a_cluster_that_loses_a_worker_loses_no_submission_and_grades_none_twice(tmp_path):
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    from lagrangebook.assign.grade import Book, count, run
    from lagrangebook.assign.pool import on_cluster
    from lagrangebook.assign.submissions import collect
    folder, release = a_set(tmp_path)
    (tmp_path / "in").mkdir()
    for k in range(8):
        save(tmp_path / "in" / f"student {k}.ipynb", [*answered(release, *REFERENCES), code(f"# {k}")])
    book, graded = Book.open(folder), []

    def runner(tasks):
        for name, result in on_cluster(book.set, tasks, cluster.scheduler_address):
            graded.append(name)
            if len(graded) == 2:
                os.kill(cluster.workers[0].pid, signal.SIGKILL)
            yield name, result
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        assert run(book, collect(tmp_path / "in", {}), runner) == []
    count(book, {})
    assert len(graded) == len(set(graded)) == 8
    records = [json.loads(path.read_text()) for path in (folder / "grades").iterdir()]
    assert [len(record["attempts"]) for record in records] == [1] * 8 and all(scores(r["counts"]) == FULL
                                                                              for r in records)
