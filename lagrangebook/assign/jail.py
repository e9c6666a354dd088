"""Where students' code runs: in a process of its own that sees nothing of the grader's and can be stopped at
any time.

    bubblewrap   Linux. Files from an allow-list, read-only; no network; own processes, user and /tmp; limits on
                 time, memory, processes, files and output. The same for root and for everybody else.
    user         in a container that forbids the above, as root: an unprivileged user of its own, and the limits.
                 Network and world-readable files stay in reach.
    limits       anywhere else with Unix's resource limits: these alone. Only for code you would run anyway.

In each of them the answers leave as JSON through a pipe, after every cell, so what was answered before a cell
hangs, dies or fills the memory counts. The notebook then runs once more without that statement.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
LEVELS = ("bubblewrap", "user", "limits")
# one user for each process that has a jail, beyond those in use
FIRST_USER = 61000
LATE = "The notebook took too long as a whole and was stopped; what was answered before counts."
START = 60.0                                  # s for Python and its imports on a busy machine
READY = -1                                    # the step before the first cell
HOME = "/home/student"
SYSTEM = ("/lib", "/lib32", "/lib64", "/bin", "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64",
          "/usr/local/bin",
          "/usr/local/lib", "/usr/share/fonts", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/fonts",
          "/etc/localtime")


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    cell: float = 10.0                        # s of processor time for each cell and each function
    wall: float = 90.0                        # s by the clock for the whole notebook
    memory: int = 2 << 30                     # bytes of address space, for each process
    processes: int = 32
    file: int = 16 << 20                      # bytes of one file, and of each temporary folder
    output: int = 8 << 20                     # bytes of answers and messages


@dataclass
class Outcome:
    """What came out of the jail: plain data by name, and what went wrong by step (a cell's number, a
    function's name)."""

    answers: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)
    stopped: dict = field(default_factory=dict)    # steps that hung or ended the process: at which statement


class JailError(RuntimeError):
    """The jail itself failed. Never the student's fault, never a zero."""


@lru_cache
def help_of_bubblewrap():
    return subprocess.run(["bwrap", "--help"], capture_output=True, text=True).stdout


@lru_cache
def font_cache():
    """matplotlib's list of fonts, made once: without it every jail would search the fonts again."""
    code = "import matplotlib as m, matplotlib.font_manager as f; print(m.get_cachedir(), f.FontManager.__version__)"
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                              check=True)
    except (subprocess.SubprocessError, OSError):
        return None
    folder, version = done.stdout.split()[-2:]
    file = Path(folder) / f"fontlist-v{version}.json"
    return file if file.is_file() else None


def interpreter_folders():
    """What Python needs of its installation: programs and libraries, not whatever else lies beside them."""
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)):
        for part in ("bin", "lib", "lib64", "pyvenv.cfg"):
            yield os.path.join(prefix, part)


def bubblewrap(files=()):
    """The command in front of the runner's: a new root with what is listed here, and nothing else."""
    size = ["--size", str(Limits.file)] if "--size" in help_of_bubblewrap() else []
    words = ["bwrap", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent",
             "--new-session", "--clearenv", "--hostname", "jail"]
    words += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add",
              "CAP_SETGID"] if os.getuid() == 0 else \
             ["--unshare-user", "--uid", str(FIRST_USER), "--gid", str(FIRST_USER)]
    for folder in ("/tmp", HOME):                                # before what is bound inside them
        words += ["--perms", "1777", *size, "--tmpfs", folder]
    paths = [path for path in dict.fromkeys((*SYSTEM, *interpreter_folders())) if os.path.exists(path)]
    above = {str(folder): None for path in (*paths, "/book/x") for folder in reversed(Path(path).parents)}
    words += [word for folder in above if folder not in ("/", "/tmp") for word in ("--dir", folder)]
    for path in paths:
        if os.path.islink(path) and path in SYSTEM:
            words += ["--symlink", os.readlink(path), path]
        else:
            words += ["--ro-bind", os.path.realpath(path), path]
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", *size, "--tmpfs", "/dev/shm"]
    words += ["--ro-bind", str(PACKAGE), f"/book/{PACKAGE.name}"]
    if font_cache():
        words += ["--perms", "0777", "--dir", f"{HOME}/fonts", "--ro-bind", str(font_cache()),
                  f"{HOME}/fonts/{font_cache().name}"]
    for file in files:
        words += ["--ro-bind", str(file), f"{HOME}/{Path(file).name}"]
    for name, value in environment(HOME, f"{HOME}/fonts").items():
        words += ["--setenv", name, value]
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]


def environment(home, fonts):
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                "NUMBA_NUM_THREADS"), "1")
    return one_thread | {"PATH": os.defpath, "HOME": home, "LANG": "C.UTF-8", "MPLBACKEND": "Agg",
                         "MPLCONFIGDIR": str(fonts)}


class Jail:
    """One level of isolation, for one submission at a time; `files` lie beside the notebook."""

    def __init__(self, level, limits=Limits(), files=()):
        self.level, self.limits, self.files = level, limits, tuple(files)
        self.user = FIRST_USER + os.getpid() % 4000 if os.getuid() == 0 else 0

    def open(self):
        """Start the runner. Its folder, where it is not the jail's own, is removed by `close`."""
        self.folder, options = None, {}
        package, front = "/book", ()
        if self.level == "bubblewrap":
            front = bubblewrap(self.files)
        else:
            package, self.folder = str(PACKAGE.parent), tempfile.mkdtemp(prefix="jail-")
            for file in self.files:
                shutil.copy(file, self.folder)
            fonts = font_cache().parent if font_cache() and self.level == "limits" else self.folder
            options = {"cwd": self.folder, "env": environment(self.folder, fonts), "start_new_session": True}
            if self.level == "user":
                os.chown(self.folder, self.user, self.user)
                options |= {"user": self.user, "group": self.user, "extra_groups": []}
        runner = f"{package}/{PACKAGE.name}/assign/runner.py"
        command = [*front, sys.executable, "-I", "-X", "utf8", runner]
        self.package, pipe = package, subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, **options)

    def ended(self):
        """Whether the process is over; its pipe may close a moment before it."""
        try:
            self.process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self):
        """End whatever runs in the jail."""
        self.process.kill()                                      # bubblewrap's processes end with it
        if self.level == "user":
            end_processes_of(self.user)
        elif self.level == "limits":
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, data):
        try:
            self.process.stdin.write(json.dumps(data).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            # its end is noticed where its messages are read
            pass

    def messages(self):
        """The runner's messages; the end of them is its end, or its silence, or too much of it."""
        pipe, held, seen, patience = self.process.stdout.fileno(), b"", 0, START
        while seen <= self.limits.output:
            wait = min(patience, self.deadline - time.monotonic())
            if wait <= 0 or not select.select([pipe], [], [], wait)[0]:
                return
            block = os.read(pipe, 1 << 16)
            if not block:
                return
            held, seen, patience = held + block, seen + len(block), 3 * self.limits.cell + 3
            *lines, held = held.split(b"\n")
            for line in lines:
                message = read(line)
                if message:
                    yield message

    def run(self, cells, names, setups=None, functions=None, seed=0):
        """The Outcome of a notebook: `cells` its code, `names` of the answers, `setups` the code of each
        chapter's setup cells, `functions` the questions (by answer's name) that call a function."""
        outcome, self.deadline = Outcome(), time.monotonic() + self.limits.wall + START
        job = {"cells": list(cells), "names": list(names), "setups": setups or {},
               "limits": asdict(self.limits),
               "user": self.user if self.level == "bubblewrap" else 0, "alone": self.level == "bubblewrap"}
        calls = {"questions": functions or {}, "seed": seed}
        while not self.attempt(job, calls, outcome):
            if len(outcome.stopped) > len(cells) + len(calls["questions"]):
                outcome.errors["notebook"] = LATE
                break
        return outcome

    def attempt(self, job, calls, outcome):
        """Run what has not been stopped before; whether it came to its end."""
        step, at, late, self_ended = None, 0, {}, False
        self.open()
        try:
            self.send(job | {"package": self.package, "stop": list(outcome.stopped.items())})
            for message in self.messages():
                if "ready" in message and step is None:
                    step, self.deadline = READY, min(self.deadline, time.monotonic() + self.limits.wall)
                elif "start" in message:
                    step, at = message["start"], message.get("at", 0)
                elif "cells" in message:
                    self.send(calls)
                    calls = {"questions": {}, "seed": 0}         # told once, however often it is asked for
                elif "end" in message:
                    return True
                else:
                    store(message, job, outcome)
                    if "OutOfTime" in outcome.errors.get(step, ""):
                        late[step] = at
            self_ended = self.ended()
            if step is None:
                said = self.process.stderr.read()[-1000:] if self_ended else b"it did not start in time"
                raise JailError(f"the jail ({self.level}) failed: {said.decode(errors='replace').strip()}")
        finally:
            self.close()
        if time.monotonic() >= self.deadline or step == READY:
            outcome.errors["notebook"] = LATE
            return True
        outcome.stopped |= late | {step: at}
        outcome.errors[step] = "this ended the whole process" if self_ended else "this took too long and was stopped"
        return False


def read(line):
    """A message, if the line is one. What writes it may be anything that ran in the jail."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("start", 0), (int, str)):
        return None
    if not isinstance(message.get("at", 0), int):
        return None
    return message


def store(message, job, outcome):
    """Keep answers under names that were asked for, and the errors of steps that exist."""
    answers, error = message.get("answers"), message.get("error")
    if isinstance(answers, dict):
        outcome.answers |= {name: data for name, data in answers.items() if name in job["names"]}
    if isinstance(error, list) and len(error) == 2 and isinstance(error[0], (int, str)):
        if error[0] in job["names"] or error[0] in range(len(job["cells"])):
            outcome.errors[error[0]] = str(error[1])[:500]
            if not error[1]:
                del outcome.errors[error[0]]                     # tried again, and now it ran


def end_processes_of(user):
    """Kill every process of the jail's own user, until there is none."""
    for _ in range(100):
        found = [path for path in Path("/proc").glob("[0-9]*") if owner(path) == user]
        if not found:
            return
        for path in found:
            try:
                os.kill(int(path.name), signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.02)


def owner(path):
    try:
        return path.stat().st_uid
    except OSError:
        return None


def works(level):
    """Whether a trivial notebook comes out of a jail of this level with its answer."""
    if level == "bubblewrap" and not (sys.platform == "linux" and shutil.which("bwrap")):
        return False
    if level == "user" and not (os.name == "posix" and os.getuid() == 0 and os.path.isdir("/proc/self")):
        return False
    if os.name != "posix":
        return False
    try:
        outcome = Jail(level, Limits(wall=30)).run(["answer_1 = 6 * 7"], ["answer_1"])
        return outcome.answers.get("answer_1") is not None
    except (JailError, OSError):
        return False


@lru_cache
def isolation():
    """The strongest level that works here, or None."""
    return next((level for level in LEVELS if works(level)), None)
