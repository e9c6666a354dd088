"""The program inside the jail: runs a notebook's code cells in order and writes what they leave in the
answers.

It is started as a script, reads one job from standard input and writes JSON, one message a line, to standard
output:

    {"ready": true}  {"start": step, "at": n}  {"answers": {name: data}}  {"error": [step, text]}  {"cells":
    n}  {"end": true}

A step is the number of a cell or the name of a function that is asked for its values; `at` counts a cell's
statements. Answers are written after every cell, so whatever happens later, they are outside already. The
job's "stop" says before which statement of a cell to stop, because that one hung or ended the process last
time. Nothing here is secret: neither references nor scores come in, and the recipe of a function's hidden
inputs comes when all cells have run.
"""

import ast
import json
import os
import re
import signal
import sys
import types

# %matplotlib inline, !pip ..., rnea?
MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)$", re.M)
SELF_CHECK = re.compile(r"\s*check\(\s*['\"][\w-]+['\"]\s*,\s*answer_\d+\s*\)\s*")
# by the clock a step may take so many times its limit
WAITING = 3
# of cells that fail: their order may have been lost
PASSES = 3


class OutOfTime(BaseException):
    """Raised inside a step that has used up its time; not an Exception, so that `except Exception` lets it
    pass."""


def alarm(*_):
    raise OutOfTime("this took too long and was stopped")


def confine(limits, user):
    """Resource limits that nothing started from here can raise again, and an unprivileged user where we
    are root."""
    import resource
    for name, value in (("AS", limits["memory"]), ("CPU", int(limits["wall"]) + 1), ("FSIZE", limits["file"]),
                        ("NOFILE", 256), ("CORE", 0), ("NPROC", limits["processes"])):
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            try:
                resource.setrlimit(kind, (value, value))
            # macOS knows the address space but cannot limit it
            except (OSError, ValueError):
                continue
    # short of memory, the kernel ends this process first
    if os.path.exists("/proc/self/oom_score_adj"):
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    if user and os.getuid() == 0:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def kill_the_others(kill=os.kill):
    """End whatever cells have left running. Only where every process that this one can reach is the
    jail's."""
    try:
        kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass


def code_of(source):
    """The cell as plain Python: where it is none, what only a notebook's front end understands becomes `pass`."""
    try:
        ast.parse(source)
        return source
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    source = re.sub(r"\A\s*%%(?:time|timeit|capture).*", "", source)
    return MAGIC.sub(r"\1pass", source)


class Runner:
    """One namespace, its cells and its answers. Needs nothing of what a cell may have patched but the
    standard streams."""

    def __init__(self, job, channel, check):
        self.job, self.channel, self.check = job, channel, check
        self.dumps, self.setitimer, self.getpid = json.dumps, signal.setitimer, os.getpid
        self.process = os.getpid()
        self.names, self.stop, self.limit = job["names"], dict(job["stop"]), job["limits"]["cell"]
        self.sent, self.functions, self.failed = {}, {}, set()
        self.module = types.ModuleType("__main__")
        sys.modules["__main__"] = self.module
        self.space = self.module.__dict__
        self.setups = {name: {} for name in job["setups"]}       # kept clean for the hidden inputs of functions
        for name, sources in job["setups"].items():
            for source in map(code_of, sources):
                program = compile(source, f"<setup of {name}>", "exec", dont_inherit=True)
                exec(program, self.setups[name])
                exec(program, self.space)
        self.space |= {"__name__": "__main__", "display": lambda *values, **options: None}

    def tell(self, **message):
        if self.getpid() != self.process:
            os._exit(0)                                          # a child that a cell forked and that got this far
        self.channel.write(self.dumps(message) + "\n")
        self.channel.flush()

    def clock(self, seconds):
        """Alarms after so much processor time, and after three times as much by the clock for what only
        waits. They repeat themselves, against `except: pass`."""
        self.setitimer(signal.ITIMER_PROF, seconds, 0.2)
        self.setitimer(signal.ITIMER_REAL, WAITING * seconds, 0.2)

    def timed(self, action, *arguments):
        """The action's value and "", or None and what went wrong."""
        try:
            self.clock(self.limit)
            try:
                return action(*arguments), ""
            finally:
                self.clock(0)
        except BaseException as error:                           # SystemExit too is a cell's own failure
            self.clock(0)
            return None, self.described(error)

    @staticmethod
    def described(error):
        """Kind, text and line of an exception, short whatever the exception says of itself."""
        try:
            text = str(error)[:300]
        except BaseException:
            text = "(an exception that cannot be printed)"
        lines, trace = [], error.__traceback__
        while trace is not None:
            lines += [trace.tb_lineno] * trace.tb_frame.f_code.co_filename.startswith("<cell")
            trace = trace.tb_next
        lines += [error.lineno] if isinstance(error, SyntaxError) else []
        return f"{type(error).__name__}: {text}" + (f" (line {lines[-1]} of the cell)" if lines else "")

    def cell(self, number, source):
        """Run a cell and write the answers that it changed; whether it should be tried again."""
        if SELF_CHECK.fullmatch(source) or not source.strip():
            return False
        _, error = self.timed(self.statements, number, source)
        if error or number in self.failed:
            self.tell(error=[number, error])
        self.failed |= {number} if error else set()
        self.collect()
        return bool(error) and not error.startswith(OutOfTime.__name__)

    def statements(self, number, source):
        """Run a cell's statements, up to the one that may not run again."""
        file = f"<cell {number}>"
        self.tell(start=number, at=0)
        body = compile(code_of(source), file, "exec", ast.PyCF_ONLY_AST, dont_inherit=True).body
        for at, statement in enumerate(body):
            if self.stop.get(number) == at:
                break
            self.tell(start=number, at=at)
            tree = ast.Module([statement], [])
            exec(compile(tree, file, "exec", dont_inherit=True), self.space)

    def collect(self):
        """Write the answers that have changed. A None is not an answer: a copied blank below must not wipe
        one out."""
        for name in self.names:
            value = self.space.get(name)
            if value is None:
                continue
            if callable(value) and not isinstance(value, type):
                self.functions[name] = value
            data, error = self.timed(self.check.plain, value)
            text = self.dumps({"unreadable": error} if error else data)
            if self.sent.get(name) != text:
                self.sent[name] = text
                self.tell(answers={name: {"unreadable": error} if error else data})

    def cells(self, sources):
        """All cells in order, then those that failed once more while that helps: cells may have been
        reordered."""
        waiting = list(enumerate(sources))
        for _ in range(PASSES):
            failed = [(number, source) for number, source in waiting if self.cell(number, source)]
            if not failed or len(failed) == len(waiting):
                break
            waiting = failed

    def calls(self, questions, seed):
        """The values of the functions at hidden inputs, whose recipe has only now come in."""
        for name, question in questions.items():
            if name in self.functions and name not in self.stop:
                self.tell(start=name, at=0)
                setup = self.setups[question["chapter"]]
                values, error = self.timed(self.check.answer, question, self.functions[name], setup, seed)
                if error:
                    self.tell(error=[name, error])
                else:
                    self.tell(answers={name: values})


def main():
    import resource  # noqa: F401  (before anything of a student's stands on the path)
    inlet, channel = os.fdopen(os.dup(0), encoding="utf8"), os.fdopen(os.dup(1), "w", encoding="ascii")
    job = json.loads(inlet.readline())
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    sys.path.insert(0, job["package"])
    from lagrangebook import check
    confine(job["limits"], job["user"])
    for kind in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(kind, alarm)
    runner = Runner(job, channel, check)
    # what failed so far was no student's code, and may be read
    os.dup2(nothing, 2)
    runner.tell(ready=True)
    runner.cells(job["cells"])
    runner.tell(cells=len(job["cells"]))
    if job["alone"]:
        kill_the_others()
    runner.calls(**json.loads(inlet.readline()))
    runner.tell(end=True)
    os._exit(0)


if __name__ == "__main__":
    main()
