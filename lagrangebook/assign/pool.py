"""Many submissions at a time: processes of this machine, or a Dask cluster. The grading step is the same.

    on_this_machine(key, tasks, level, jobs)    yields (name, result) as they come
    on_cluster(key, tasks, address)             the same

A worker is one of our own processes: it starts jails and compares what comes out. One that stops answering is
ended, and its submission goes to a person, so nothing is lost and nothing is waited for without end.
"""

import json
import multiprocessing
import os
import subprocess
import sys
import time
from multiprocessing.connection import wait

from .jail import PACKAGE, START, Jail, JailError, Limits, isolation
from .judge import COMPARISON, Key, step

FAILED = "error"


def failed(words):
    """A result that is no grade: the grader's own trouble, to be tried again."""
    return {"status": FAILED, "note": words, "questions": [], "errors": {}, "seconds": 0.0}


def attempt(key, content, jail):
    """The step's result, with the jail's own failure as a result that is no grade."""
    try:
        return step(key, content, jail)
    except (JailError, OSError) as error:
        return failed(f"{type(error).__name__}: {error}")


def work(channel, set_, level, files):
    """A worker: submissions come in as bytes, results go out as JSON."""
    key, jail = Key(set_), Jail(level, Limits(**set_["limits"]), files)
    while content := channel.recv_bytes():
        channel.send_bytes(json.dumps(attempt(key, content[1:], jail)).encode())


class Worker:
    """One process, and the task that it has."""

    def __init__(self, *arguments):
        self.channel, other = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=work, args=(other, *arguments), daemon=True)
        self.process.start()
        other.close()
        self.name, self.since = None, 0.0

    def give(self, name, content):
        self.name, self.since = name, time.monotonic()
        try:
            self.channel.send_bytes(b"." + content)
        except OSError:
            pass                                                 # it died at its start; `take` says so

    def take(self):
        """(name, result); a worker that died in the middle of its task gives a result that says so."""
        try:
            result = json.loads(self.channel.recv_bytes())
        except (EOFError, OSError):
            result = failed("the worker ended unexpectedly")
        name, self.name = self.name, None
        return name, result

    def end(self):
        self.process.kill()
        self.process.join()
        self.channel.close()


def on_this_machine(set_, tasks, level, files=(), jobs=None):
    """Grade {name: bytes}; yields (name, result) as they come."""
    waiting, jobs = list(tasks.items()), min(jobs or os.cpu_count() or 1, max(1, len(tasks)))
    patience = set_["limits"]["wall"] + START + 2 * COMPARISON * len(set_["questions"])
    workers = [Worker(set_, level, files) for _ in range(jobs)]
    try:
        while waiting or any(worker.name for worker in workers):
            for worker in workers:
                if waiting and worker.name is None:
                    worker.give(*waiting.pop(0))
            ready = wait([worker.channel for worker in workers if worker.name], timeout=1)
            for slot, worker in enumerate(workers):
                late = worker.name and time.monotonic() - worker.since > patience
                if worker.name and worker.channel in ready:
                    yield worker.take()
                elif late:
                    yield worker.name, failed("the comparison hung")
                if late or not worker.process.is_alive():
                    worker.end()
                    workers[slot] = Worker(set_, level, files)
    finally:
        for worker in workers:
            worker.end()


# -- a cluster -----------------------------------------------------------------------------------------------


def remote(job):
    """One submission on a worker of a cluster, in a process and a jail of its own there: JSON in, JSON
    out."""
    paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run([sys.executable, "-m", "lagrangebook.assign.pool"], input=job, capture_output=True,
                          text=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)})
    return done.stdout if done.returncode == 0 else json.dumps(failed(done.stderr[-500:]))


def on_cluster(set_, tasks, address, files=()):
    """Grade {name: bytes} on the Dask cluster at this address; a task whose worker dies runs on another
    one."""
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise ValueError("--scheduler needs Dask: pip install 'lagrangebook[cluster]'") from None
    data = {os.path.basename(file): open(file, "rb").read().hex() for file in files}
    with Client(address) as client:
        jobs = {name: json.dumps({"set": set_, "content": content.hex(), "files": data})
                for name, content in tasks.items()}
        futures = {client.submit(remote, job, pure=False, retries=3, key=f"grade-{name}"): name
                   for name, job in jobs.items()}
        for future in as_completed(futures):
            name = futures[future]
            try:
                yield name, json.loads(future.result())
            except Exception as error:
                yield name, failed(f"{type(error).__name__}: {error}")


def main():
    """The step as a program of its own, for machines far away."""
    import tempfile
    from pathlib import Path
    job, level = json.load(sys.stdin), isolation()
    if level not in ("bubblewrap", "user"):
        sys.exit("this worker can isolate nothing: it needs bubblewrap, or to run as root in a container")
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in job["files"]]
        for file in files:
            file.write_bytes(bytes.fromhex(job["files"][file.name]))
        set_ = job["set"]
        jail = Jail(level, Limits(**set_["limits"]), files)
        print(json.dumps(attempt(Key(set_), bytes.fromhex(job["content"]), jail)))


if __name__ == "__main__":
    main()
