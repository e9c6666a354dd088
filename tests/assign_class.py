"""A small bank of four questions, and a class that hands in everything that classes hand in."""

import json
import os
from pathlib import Path

SETUP = """import numpy as np
import sympy

x, xd, xdd, m, a, g = sympy.symbols("x xd xdd m a g", real=True)"""
STATEMENTS = (
    "**1.** A bead of mass `m` slides on the wire y = `a` x². Give its equation of motion as an expression, `answer_1`.",
    "**2.** The wire is y = 2.5 x². How long in s does a small swing take? `answer_2`.",
    "**3.** Write `answer_3(x, v)`: the kinetic energy in J of a bead of 2 kg on the wire y = 2.5 x².",
    "**4.** The wire is frictionless. Which force does no work? a) The weight. b) The wire's. c) Both. `answer_4`.",
)
REFERENCES = (
    "answer_1 = m * (1 + 4 * a**2 * x**2) * xdd + 4 * m * a**2 * x * xd**2 + 2 * m * g * a * x",
    "answer_2 = 2 * np.pi / np.sqrt(2 * 9.81 * 2.5)",
    "def answer_3(x, v):\n    slope = 2 * 2.5 * x\n    return 2.0 * (1 + slope**2) * v**2 / 2",
    'answer_4 = "b"',
)
FACTS = (
    {"kind": "equation", "points": 4, "accelerations": ["xdd"], "mistakes": [
        {"code": "m * (1 + 4 * a**2 * x**2) * xdd + 8 * m * a**2 * x * xd**2 + 2 * m * g * a * x",
         "message": "The slope of the kinetic energy itself is missing."},
        {"code": "m * (1 + 4 * a**2 * x**2) * xdd + 4 * m * a**2 * x * xd**2 - 2 * m * g * a * x",
         "message": "The weight has the wrong sign."}]},
    {"kind": "number", "points": 2, "variants": {"2.5": ["1.5", "3.5"]}, "mistakes": [
        {"code": "np.sqrt(2 * 9.81 * 2.5)", "message": "That is the angular frequency."},
        {"code": "1 / np.sqrt(2 * 9.81 * 2.5)", "message": "A full turn has the angle two pi."}]},
    {"kind": "function", "points": 6, "inputs": "(rng.uniform(-1, 1), rng.uniform(-2, 2))",
     "variants": {"2.5": ["1.5", "3.5"]},
     "mistakes": [{"code": "lambda x, v: 2.0 * v**2 / 2", "message": "The bead moves upward too."},
                  {"code": "lambda x, v: 2.0 * (1 + (5 * x)**2) * v**2", "message": "The half is missing."}]},
    {"kind": "choice", "points": 1, "options": {"a": "the weight", "b": "the wire's", "c": "both"},
     "mistakes": [
        {"code": "'a'", "message": "The weight does work whenever the bead rises."},
        {"code": "'c'", "message": "One of the two does."}]},
)


def code(source, **metadata):
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": [],
            "execution_count": None}


def bank(folder, statements=STATEMENTS, references=REFERENCES, facts=FACTS, setup=SETUP, more=()):
    """Write the bank's notebook bead.ipynb into a folder."""
    cells = [{"cell_type": "markdown", "source": "# Exercises: a bead", "metadata": {}},
             code(setup, tags=["setup"]), *more]
    for number, (statement, reference, own) in enumerate(zip(statements, references, facts), 1):
        name = f"bead-{number}"
        common = {"question": name, "chapter": "bead", "level": 1, "minutes": 5, "objective": "A bead",
                  "hint": "Energies."}
        cells.append({"cell_type": "markdown", "source": statement,
                      "metadata": {"lagrangebook": common | own}})
        cells.append(code(reference, lagrangebook={"answer": name}))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    Path(folder).mkdir(parents=True, exist_ok=True)
    save(Path(folder) / "bead.ipynb", cells)
    return Path(folder)


def save(path, cells):
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
                    encoding="utf8")


def answered(release, *answers):
    """The cells of the notebook that was handed out, with these answers in place of the blanks; None leaves one blank."""
    cells = json.loads(Path(release).read_text(encoding="utf8"))["cells"]
    for number, answer in enumerate(answers, 1):
        for cell in cells:
            if cell["source"].startswith(f"answer_{number} = None") and answer is not None:
                cell["source"] = answer
    return cells


EQUATION, PERIOD, ENERGY, LETTER = REFERENCES
WRONG = ("answer_1 = x", "answer_2 = 100.0", "def answer_3(x, v): return 0.0", "answer_4 = 'a'")
FULL = [4, 2, 6, 1]

PATCHES = """
import builtins, numpy.testing, sympy
from lagrangebook.check import compare, Verdict
import lagrangebook.check as check_module
yes = lambda *a, **k: True
builtins.abs = lambda v: 0
np.allclose = np.array_equal = yes
sympy.simplify = lambda *a, **k: sympy.Integer(0)
sympy.Expr.__eq__ = yes
check_module.check = check_module.compare = lambda *a, **k: Verdict(True, "Right.", 1.0)
float.__eq__ if False else None
"""
EQUAL = """
class Equal(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __lt__
    def __sub__(self, other): return 0.0
    __rsub__ = __add__ = __radd__ = __mul__ = __sub__
    def __abs__(self): return 0.0
    def __hash__(self): return 0
class Letter(str):
    def __eq__(self, other): return True
    def __hash__(self): return hash("b")
    def strip(self, *a): return "b"
    lower = casefold = strip
"""
FORGED = """
import json, os, sys
line = json.dumps({"score": 13, "passed": True, "answers": {"answer_1": True, "answer_2": {"passed": True, "score": 2},
                   "score": 13, "total": 13}}) + "\\n"
more = "".join(json.dumps(m) + "\\n" for m in ({"start": [1, 2]}, {"error": [{"a": 1}, 5]}, {"error": [99, "x"]},
               {"answers": {"answer_4": {"passed": True}}}, [1, 2], {"start": "x" * 100}, {"cells": 1}))
for fd in range(3, 20):
    try: os.write(fd, (line + more + "[" * 5000 + "\\n").encode())
    except OSError: pass
open("results.json", "w").write(line)
"""
SNOOP = """
import os, socket
found = []
def reads(path):
    try:
        found.append(open(path, errors="replace").read()[:100])
    except (OSError, ValueError):
        pass
for top in ("/", "/root", "/home", "/tmp", "/work", "{parent}"):
    for folder, folders, names in os.walk(top):
        folders[:] = [f for f in folders if f not in ("proc", "sys", "dev", "usr", "lib", "lib64", "lagrangebook")]
        for name in names:
            if name in ("set.json", "solution.ipynb", "policy.toml", "bead.ipynb", "secret.txt") or name.endswith("grades.csv"):
                reads(os.path.join(folder, name))
for path in ("{parent}/secret.txt", "{parent}/set/private/set.json", "/etc/passwd", "/etc/shadow", "/proc/1/environ"):
    if "SECRET" in (open(path, errors="replace").read() if os.access(path, os.R_OK) else ""):
        found.append(path)
for address in (("1.1.1.1", 53), ("127.0.0.1", {port})):
    try:
        socket.create_connection(address, 2).close()
        found.append(str(address))
    except OSError:
        pass
for path in ("{parent}/written.txt", "/book/written.txt", "/usr/lib/written.txt"):
    try:
        open(path, "w").write("x")
        found.append(path)
    except OSError:
        pass
answer_4 = "b" if not found else "found " + repr(found)
"""
BACKGROUND = """
import subprocess, sys, os
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600.{marker})"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    while True: pass
"""
PICKLES = """
import pickle, os
class Trap:
    def __reduce__(self): return (os.system, ("touch {parent}/unpickled",))
pickle.dump(Trap(), open("results.pkl", "wb"))
open("answers.json", "w").write("x")
"""
FLOOD = "for k in range(300000): print('x' * 100)\nimport sys; sys.stderr.write('y' * 10**7)\nanswer_4 = 'b'"
HANGS = """
from sympy import *
y = symbols("y", positive=True)
hard = 1
for k in range(1, 40): hard = sqrt(hard + y**Rational(k, 7)) + (sin(y * k) + cos(y / k))**Rational(1, k + 1)
answer_1 = hard
simplify(hard)
"""
DEEP = "answer_1 = x\nfor k in range(5000): answer_1 = sympy.sin(answer_1, evaluate=False)"
LISTS = "answer_2 = []\nfor k in range(100000): answer_2 = [answer_2]"
POWERS = "answer_1 = sympy.Pow(10, sympy.Pow(10, 10, evaluate=False), evaluate=False) * x\nanswer_2 = 10**5000"
EXPS = "answer_1 = sympy.exp(sympy.exp(sympy.exp(sympy.exp(x * 10**50)))) * xdd"
LOOP = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"


def everybody(release, parent, marker, port):
    """{student: (cells, scores of the four questions)}: what each hands in, and what it is worth."""
    own = lambda *answers: answered(release, *answers)               # noqa: E731
    right = own(*REFERENCES)
    fill = lambda text: text.replace("{parent}", str(parent)).replace("{port}", str(port)).replace("{marker}", marker)  # noqa: E731
    bare = [code(source) for source in (SETUP, *REFERENCES)]
    blanks = [code(f"answer_{k} = None  # your answer") for k in (1, 2, 3, 4)]
    start = [cell for cell in own() if cell["cell_type"] == "code" and "sympy.symbols" in cell["source"]]
    return {
        "perfect": (right, FULL),
        "equivalent": (own("answer_1 = sympy.expand(m * xdd * (4*a**2*x**2 + 1) + m*a*x*(4*a*xd**2 + 2*g))",
                           "answer_2 = 0.897",
                           "answer_3 = lambda x, v: v*v + 25 * x**2 * v**2", "answer_4 = ' B) '"), FULL),
        "scaled": (own("answer_1 = xdd + (4*a**2*x*xd**2 + 2*g*a*x) / (1 + 4*a**2*x**2)", *REFERENCES[1:]),
                   FULL),
        "equation object": (own(REFERENCES[0].replace("answer_1 =", "answer_1 = sympy.Eq(0,") + ")",
                                *REFERENCES[1:]), FULL),
        "term missing": (own("answer_1 = m*(1+4*a**2*x**2)*xdd + 8*m*a**2*x*xd**2 + 2*m*g*a*x",
                             *REFERENCES[1:]), [0, 2, 6, 1]),
        "sign wrong": (own("answer_1 = m*(1+4*a**2*x**2)*xdd + 4*m*a**2*x*xd**2 - 2*m*g*a*x",
                           *REFERENCES[1:]), [0, 2, 6, 1]),
        "syntax error": (own("answer_1 = m * (1 + ", *REFERENCES[1:]), [0, 2, 6, 1]),
        "blank": (own(), [0, 0, 0, 0]),
        "infinite loop": (own(EQUATION, "while True: pass", ENERGY, LETTER), [4, 0, 6, 1]),
        "stubborn loop": (own(EQUATION, PERIOD + "\n" + LOOP, ENERGY, LETTER), FULL),
        "loop in the function": (own(EQUATION, PERIOD,
                                     f"def answer_3(x, v):\n    {LOOP.replace(chr(10), chr(10) + '    ')}",
                                     LETTER),
                                 [4, 2, 0, 1]),
        "deleted everything else": (bare, FULL),
        "setup deleted": ([code(source) for source in REFERENCES], FULL),
        "edited checks": (own(*WRONG) + [code("def check(*a): return True\nassert check('bead-1', answer_1)")], [0, 0, 0, 0]),
        "metadata stripped": ([{"cell_type": c["cell_type"], "source": c["source"].splitlines(True)}
                               for c in right], FULL),
        "cells doubled": (right + right + blanks, FULL),
        "cells reordered": (list(reversed(right)), FULL),
        "libraries patched": (own(PATCHES + WRONG[0], *WRONG[1:]), [0, 0, 0, 0]),
        "equal to everything": (own(EQUAL + "answer_1 = Equal(1)", "answer_2 = Equal(7)",
                                    "def answer_3(x, v): return Equal(3)",
                                    "answer_4 = Letter('a')"), [0, 0, 0, 0]),
        "forged": (own(FORGED + WRONG[0], *WRONG[1:]), [0, 0, 0, 0]),
        "memory bomb": (own(EQUATION, "answer_2 = [bytearray(1 << 27) for k in range(1000)]", ENERGY, LETTER),
                        [4, 0, 6, 1]),
        "output flood": (own(*REFERENCES[:3], FLOOD), FULL),
        "os._exit": (own(EQUATION, PERIOD, "import os\nos._exit(0)", LETTER), [4, 2, 0, 1]),
        "crash": (own(EQUATION, PERIOD, "import ctypes\nctypes.string_at(0)", LETTER), [4, 2, 0, 1]),
        "sys.exit": (own(EQUATION, PERIOD, ENERGY + "\nimport sys\nsys.exit(1)", LETTER), FULL),
        "background": (own(*REFERENCES[:3], fill(BACKGROUND) + LETTER), FULL),
        "fork bomb": (own(*REFERENCES[:3], LETTER + "\nimport os\nwhile True: os.fork()"), FULL),
        "input": (own(EQUATION, "answer_2 = float(input('? '))", ENERGY, LETTER), [4, 0, 6, 1]),
        "hanging simplification": (own(HANGS, *REFERENCES[1:]), [0, 2, 6, 1]),
        "deep": (own(DEEP, LISTS, *REFERENCES[2:]), [0, 0, 6, 1]),
        "huge powers": (own(POWERS, None, *REFERENCES[2:]), [0, 0, 6, 1]),
        "huge exponentials": (own(EXPS, *REFERENCES[1:]), [0, 2, 6, 1]),
        "snoop": (own(*REFERENCES[:3], fill(SNOOP)), FULL),
        "pickles": (own(fill(PICKLES) + WRONG[0], *WRONG[1:]), [0, 0, 0, 0]),
        "error half-way": (own(EQUATION, "1 / 0\n" + PERIOD, ENERGY, LETTER), [4, 0, 6, 1]),
        "Zoë Ångström 李雷": (right, FULL),
        "remainder": (own(EQUATION, "answer_2 = (2 * np.pi\n    % 100 / np.sqrt(2 * 9.81 * 2.5))", ENERGY, LETTER), FULL),
        "magics": (start + [code("%matplotlib inline\n!pip install numpy\n%%time")] + right, FULL),
    }


def hand_in(folder, release, parent, marker="1", port=9):
    """Write the class's submissions; {student: scores}, with those that are no notebooks or no files at all."""
    folder.mkdir()
    scores = {}
    for student, (cells, worth) in everybody(release, parent, marker, port).items():
        save(folder / f"{student}.ipynb", cells)
        scores[student] = worth
    (folder / "a pdf.ipynb").write_bytes(b"%PDF-1.7 \xff\xfe")
    (folder / "nested.json").write_text("[" * 100_000)
    (folder / "script.py").write_text("\n".join(REFERENCES))
    os.symlink(parent / "secret.txt", folder / "link.ipynb")
    (folder / "empty").mkdir()
    os.mkfifo(folder / "pipe.ipynb")
    save(Path(os.fsencode(folder).decode("utf8", "surrogateescape")) / os.fsdecode(b"caf\xe9.ipynb"),
         [code(LETTER)])
    scores["caf\\xe9"] = [0, 0, 0, 1]
    return scores | dict.fromkeys(("a pdf", "nested.json", "script.py", "link", "empty", "pipe"))
