"""What nobody means as an answer: it ends in a verdict, within seconds, never in an exception and never in a pass."""

import json
import time
from decimal import Decimal

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Add, Float, Integer, Pow, Symbol, exp, sin

from lagrangebook.check import compare, outputs, plain
from lagrangebook.check.compare import judge, target

x, m = Symbol("x", real=True), Symbol("m", positive=True)
ASKED = {
    "number": ({"kind": "number"}, 65 / 12),
    "matrix": ({"kind": "matrix"}, [[1.0, 2.0], [3.0, 4.5]]),
    "expression": ({"kind": "expression"}, m * x**2 / 2),
    "equation": ({"kind": "equation", "accelerations": ["qdd1"]}, m * Symbol("qdd1") + x),
    "function": ({"kind": "function"}, None),
    "trajectory": ({"kind": "trajectory"}, ([0.0, 1.0, 2.0], [[0.0], [1.0], [0.0]])),
    "choice": ({"kind": "choice", "options": {"a": "", "b": ""}}, "b"),
    "text": ({"kind": "text"}, "Because it is so."),
}


def _target(kind):
    question, reference = ASKED[kind]
    data = {"outputs": [1.5, -2.5], "modified": False} if kind == "function" else plain(reference)
    return target({"question": "test-1", "mistakes": [], "positive": ["m"]} | question, data, 1)


TARGETS = {kind: _target(kind) for kind in ASKED}


class Always:
    """Equal to everything, and more of whatever is asked."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = object.__hash__

    def __abs__(self):
        return 0.0

    def __getattr__(self, name):
        return Always()

    def __call__(self, *arguments):
        return Always()


class AlwaysFloat(float):
    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__
    __hash__ = float.__hash__


class AlwaysText(str):
    def __eq__(self, other):
        return True

    def encode(self, *arguments):
        return b"b"

    def casefold(self):
        return "b"

    __hash__ = str.__hash__


class AlwaysSymbol(sympy.Symbol):
    def __eq__(self, other):
        return True

    __hash__ = sympy.Symbol.__hash__


class Bomb:
    """Raises whatever it is asked."""

    def __getattribute__(self, name):
        raise RuntimeError(self)

    def __repr__(self):
        raise RuntimeError


def deep(levels):
    tree = ["sym", "x"]
    for _ in range(levels):
        tree = ["sin", tree]
    return {"expr": tree}


def nested(levels):
    value = [1.0]
    for _ in range(levels):
        value = [value]
    return value


def itself():
    value = []
    value.append(value)
    return value


def hanging():
    """What SymPy's simplify does not survive."""
    return Add(*[sin(x**k) ** (k % 7) * exp(sin(x + k)) for k in range(1, 60)])


VALUES = {
    "equal to everything": Always(), "a float equal to everything": AlwaysFloat(1.0),
    "a text equal to everything": AlwaysText("a"), "a symbol equal to everything": AlwaysSymbol("z"),
    "raises always": Bomb(), "a class": Always, "a module": json, "a set": {1.0}, "bytes": b"b" * 100,
    "a generator": (k for k in range(3)), "a million numbers": np.zeros(10**6),
    "a list of a million": [0] * 10**6, "a list in itself": itself(), "nested lists": nested(2000),
    "a long text": "b" * 10**7, "a huge integer": 10**10000,
    "a huge power": Pow(Integer(9), Pow(Integer(9), Integer(99), evaluate=False), evaluate=False),
    "NaN": float("nan"), "an infinity": np.array([np.inf, 1.0]), "sympy's NaN": sympy.nan,
    "sympy's infinity": sympy.oo, "zoo": sympy.zoo,
    "a tower of exponentials": sin(exp(exp(Float(20)), evaluate=False)), "hangs simplification": hanging(),
    "the imaginary unit": sympy.I * x, "a complex number": 1 + 2j, "a long name": Symbol("x" * 10**6),
    "a name in other letters": Symbol("х\u202ex"), "surrogates": "\ud800",
    "an integral": sympy.Integral(x, x), "a piecewise": sympy.Piecewise((x, x > 0), (0, True)),
    "a derivative of nothing": sympy.Derivative(x**2, x, evaluate=False), "a relation": x > 0,
    "an equation": sympy.Eq(x, m), "true": sympy.true, "a wide matrix": sympy.zeros(300, 300),
    "an empty list": [], "an empty matrix": sympy.Matrix(0, 0, []), "a dictionary": {"a": "b"},
    "a matrix of objects": np.array([[None, AlwaysFloat(1)], ["b", x]], dtype=object), "nothing": None,
    "dots": ..., "a decimal": Decimal("1e400"),
}


@pytest.mark.parametrize("what", VALUES)
def test_a_hostile_value_becomes_small_plain_data(what):
    began = time.process_time()
    data = plain(VALUES[what])
    assert time.process_time() - began < 2
    assert len(json.dumps(data, allow_nan=False)) < 10**6
    for kind, own in TARGETS.items():
        if kind != "text":
            assert judge(own, data).passed is False, (kind, data)
    assert judge(TARGETS["text"], data).passed is not True


FORGED = {
    "deep trees": deep(100_000), "deep but allowed": deep(149),
    "a wide tree": {"expr": ["add", *[["sym", "x"]] * 10**5]},
    "a bush": {"expr": ["mul", *[["add", *[["sym", "x"]] * 1000]] * 1000]},
    "a tower": {"expr": ["exp", ["exp", ["exp", ["num", "9"]]]]},
    "a great power": {"expr": ["pow", ["num", "9"], ["pow", ["num", "9"], ["num", "9"]]]},
    "zero to minus one": {"expr": ["pow", ["num", "0"], ["num", "-1"]]},
    "a long number": {"expr": ["num", "9" * 10**6]},
    "a number of another alphabet": {"expr": ["num", "\u0663"]},
    "a great exponent": {"expr": ["num", "1e99"]},
    "code": {"expr": ["num", "__import__('os').system('true')"]},
    "an unknown operation": {"expr": ["eval", ["sym", "x"]]},
    "an attribute": {"expr": ["__class__", ["sym", "x"]]}, "no operands": {"expr": ["sin"]},
    "too many": {"expr": ["sin", ["sym", "x"], ["sym", "x"]]}, "an empty tree": {"expr": []},
    "a tree of numbers": {"expr": [1, 2]}, "names of numbers": {"expr": ["sym", 1]},
    "half an equation": {"eq": [["sym", "qdd1"]]}, "an equation of nothing": {"eq": [None, None]},
    "a ragged matrix": {"matrix": [[["num", "1"]], []]}, "a matrix of nothing": {"matrix": [None]},
    "outputs of nothing": {"outputs": None},
    "outputs without end": {"outputs": [1.5] * 10**4, "modified": False},
    "right but one": {"outputs": [1.5], "modified": False},
    "a motion of nothing": {"trajectory": {"t": [0, 1, 2], "q": None}},
    "a motion of texts": {"trajectory": {"t": ["a", "b"], "q": [1, 2]}},
    "a motion backwards": {"trajectory": {"t": [2, 1, 0], "q": [0, 1, 0]}},
    "a verdict": {"passed": True, "message": "Right.", "score": 1.0},
    "mixed": {"expr": ["sym", "x"], "matrix": [], "eq": [], "outputs": []}, "infinity": float("inf"),
    "NaN": float("nan"), "an integer": 10**400, "logarithm of zero": {"expr": ["log", ["num", "0"]]},
    "division by zero": {"expr": ["num", "1/0"]},
    "arctangent of zeros": {"expr": ["atan2", ["num", "0"], ["num", "0"]]},
    "hidden division by zero": {"expr": ["tan", ["mul", ["num", "1/2"], ["num", "pi"]]]},
    "0 × ∞": {"expr": ["mul", ["num", "0"], ["log", ["num", "0"]]]},
}


@pytest.mark.parametrize("what", FORGED)
def test_forged_data_are_judged_within_seconds(what):
    for kind, own in TARGETS.items():
        began = time.process_time()
        verdict = judge(own, FORGED[what])
        assert verdict.passed is False and 0 <= verdict.score < 1 and len(verdict.message) < 500, (kind, verdict)
        assert time.process_time() - began < 6, kind


TREES = st.recursive(
    st.one_of(st.tuples(st.just("num"), st.from_regex(r"-?\d{1,3}(\.\d)?(/\d)?", fullmatch=True)),
              st.tuples(st.just("sym"), st.sampled_from(["x", "m", "qdd1", "y"]))),
    lambda tree: st.one_of(st.tuples(st.sampled_from(["sin", "exp", "log", "tan", "sqrt", "sign", "abs", "acos", "tanh"]), tree),
                           st.tuples(st.sampled_from(["add", "mul", "pow", "atan2", "max"]), tree, tree)), max_leaves=12)
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                    lambda part: st.lists(part, max_size=4) | st.dictionaries(
                        st.sampled_from(["expr", "matrix", "eq", "outputs", "modified", "trajectory", "t", "q", "other"]), part, max_size=3),
                    max_leaves=15)


def listed(tree):
    return [listed(part) if isinstance(part, tuple) else part for part in tree]


@settings(max_examples=60, deadline=None)
@given(TREES)
def test_any_tree_has_a_verdict(tree):
    for kind in ("number", "expression", "equation"):
        assert judge(TARGETS[kind], {"expr": listed(tree)}).score in (0.0, 1.0)


@settings(max_examples=150, deadline=None)
@given(JSON)
def test_any_data_have_a_verdict(data):
    for own in TARGETS.values():
        verdict = judge(own, data)
        assert verdict.passed in (True, False, None) and isinstance(verdict.message, str)


def test_the_answer_itself_still_passes():
    for kind, (_, reference) in ASKED.items():
        data = {"outputs": [1.5, -2.5], "modified": False} if kind == "function" else plain(reference)
        assert judge(TARGETS[kind], data).passed is (None if kind == "text" else True), kind


def test_a_function_that_does_its_worst_gives_data():
    def worst(k):
        if k == 0:
            raise SystemError
        if k == 1:
            return worst(k)
        return [Bomb(), Always(), itself(), None][k - 2]

    data = outputs(worst, [(k,) for k in range(6)])
    assert len(data["outputs"]) == 6 and len(json.dumps(data)) < 10**5


def test_equal_objects_do_not_reach_the_comparison():
    question = {"question": "test-1", "kind": "matrix"}
    assert not compare(question, [1.0, 2.0], plain([AlwaysFloat(5), AlwaysFloat(6)]))
    assert not compare({"question": "test-1", "kind": "choice"}, "b", plain(AlwaysText("a")))
    assert not compare({"question": "test-1", "kind": "expression"}, plain(m * x), plain(AlwaysSymbol("z")))
