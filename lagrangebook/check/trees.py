"""Expression trees: the only form in which a formula travels. They are evaluated here, never by SymPy.

A tree is ["num", "1/3"], ["sym", "qd1"] or [operation, tree, ...]. Its size, depth, numbers and time are bounded, so that
any list whatever, also a forged one, is either a value or an `Unusable` answer within a second.
"""

import re
import time
import unicodedata
from functools import cache, lru_cache
from typing import Any

NODES, DEPTH, SECONDS = 20_000, 150, 5.0
LARGE, EXPONENT, POWER = 10**60, 140, 200      # of any value, of exp, of a power
DIGITS = 40
NUMBER = re.compile(r"(-?\d{1,60}(?:\.\d{0,60})?(?:e[+-]?\d{1,2})?)(?:/(\d{1,60}))?", re.ASCII)
GREEK = {letter: unicodedata.name(letter).rpartition(" ")[2].lower() for letter in "αβγδεζηθικμνξοπρστυφχψω"}
GREEK |= {"λ": "lam", "lamda": "lam", "lambda": "lam", "ϕ": "phi", "ϑ": "theta"}


class Unusable(Exception):
    """An answer that has no value; its text is meant for the student."""


class Undefined(Unusable):
    """No value at this one point: a logarithm of zero, a division by zero."""


class Meter:
    """Counts nodes and seconds (of this process) of one comparison, and knows other names of its symbols."""

    def __init__(self, nodes: int = 40 * NODES, seconds: float = SECONDS, aliases: dict | None = None) -> None:
        self.nodes, self.end, self.aliases = nodes, time.process_time() + seconds, aliases or {}

    def name(self, symbol: str) -> str:
        name = canonical(symbol)
        return self.aliases.get(name, name)

    def count(self, depth: int) -> None:
        self.nodes -= 1
        if self.nodes < 0 or depth > DEPTH:
            raise Unusable("Your answer is too long to be checked; bring it into a shorter form.")
        if self.nodes % 256 == 0 and time.process_time() > self.end:
            raise Unusable("Your answer takes too long to evaluate; bring it into a shorter form.")


def bounded(data: Any) -> None:
    """`Unusable` for data of more parts than 20,000 nodes have, however they are nested."""
    parts, left = [data], 4 * NODES
    while parts:
        part = parts.pop()
        left -= len(part) if type(part) in (list, dict) else 0
        if left < 0:
            raise Unusable("Your answer is too long to be checked; bring it into a shorter form.")
        parts += part if type(part) is list else part.values() if type(part) is dict else ()


@cache
def mp() -> Any:
    """The numbers of the comparison: 40 digits, in a context of their own."""
    import mpmath

    context = mpmath.MPContext()
    context.dps = DIGITS
    return context


@lru_cache(1000)
def canonical(name: str) -> str:
    """The name under which a symbol is matched: q_1 is q1, θ is theta, q1d is qd1."""
    name = unicodedata.normalize("NFKC", name)
    name = "".join(f"{GREEK.get(letter, letter)}" for letter in name if letter not in "_{}\\ ^")
    name = re.sub(r"lamb?da(?=\d|$)", "lam", name)
    return re.sub(r"^([^\W\d]+?)(\d+)(d{1,2})$", r"\1\3\2", name)


def rate(name: str, order: int) -> str:
    """The name of a derivative with respect to time: q1 gives qd1 and qdd1."""
    return re.sub(r"(\d*)$", "d" * order + r"\1", canonical(name), count=1)


def _power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > POWER:
        raise Unusable(f"Your answer holds a power beyond {POWER}.")
    if base == 0:
        if exponent.imag or exponent.real < 0:
            raise Undefined("Your answer divides by zero at some of the points it is tried at.")
        return mp().mpf(exponent == 0)
    return mp().power(base, exponent)


def _exp(x: Any) -> Any:
    if abs(x) > EXPONENT:
        raise Unusable("Your answer becomes too large to be checked.")
    return mp().exp(x)


def _hyperbolic(name: str) -> Any:
    def function(x: Any) -> Any:
        _exp(x)
        return getattr(mp(), name)(x)

    return function


def _plain(name: str) -> Any:
    return lambda x: getattr(mp(), name)(x)


def _real(x: Any) -> Any:
    if abs(x.imag) > 1e-20 * (1 + abs(x)):
        raise Undefined("Your answer is not a real number at some of the points it is tried at.")
    return x.real


FUNCTIONS = {name: _plain(name) for name in "sin cos tan cot sec csc asin acos atan acot log asinh acosh atanh".split()}
FUNCTIONS |= {name: _hyperbolic(name) for name in ("sinh", "cosh", "tanh", "coth")}
FUNCTIONS |= {"exp": _exp, "abs": abs}
FUNCTIONS |= {"sqrt": lambda x: _power(x, mp().mpf("0.5")), "sign": lambda x: mp().sign(_real(x))}
BINARY = {"pow": _power, "atan2": lambda y, x: mp().atan2(_real(y), _real(x))}
MANY = {"add": lambda *x: sum(x, mp().mpf(0)), "mul": lambda *x: mp().fprod(x),
        "min": lambda *x: min(map(_real, x)), "max": lambda *x: max(map(_real, x))}
OPERATIONS = FUNCTIONS | BINARY | MANY
OPERANDS = dict.fromkeys(FUNCTIONS, 1) | dict.fromkeys(BINARY, 2)


def number(text: Any) -> Any:
    """A number of 40 digits from its text."""
    if text in ("pi", "e"):
        return +getattr(mp(), text)
    match = NUMBER.fullmatch(text) if type(text) is str else None
    if not match:
        raise Unusable("Your answer holds a number that cannot be read.")
    value = mp().mpf(match[1]) / mp().mpf(match[2] or 1) if match[2] is None or int(match[2]) else mp().inf
    if abs(value) > LARGE:
        raise Unusable("Your answer becomes too large to be checked.")
    return value


def _node(tree: Any) -> str:
    """The operation of a tree, which is checked to be a tree."""
    if type(tree) is not list or not tree or type(tree[0]) is not str:
        raise Unusable("Your answer is not a formula.")
    if tree[0] in ("num", "sym"):
        if len(tree) != 2 or type(tree[1]) is not str or len(tree[1]) > 200:
            raise Unusable("Your answer is not a formula.")
    elif tree[0] not in OPERATIONS:
        raise Unusable(f"Your answer uses {tree[0][:30]!r}, which cannot be checked here.")
    elif len(tree) - 1 != OPERANDS.get(tree[0], len(tree) - 1):
        raise Unusable(f"Your answer uses {tree[0]!r} with a wrong number of arguments.")
    return tree[0]


def symbols(tree: Any, meter: Meter | None = None, depth: int = 0) -> set:
    """The canonical names in a tree."""
    meter = meter or Meter(NODES)
    meter.count(depth)
    operation = _node(tree)
    if operation == "num":
        return set()
    if operation == "sym":
        return {meter.name(tree[1])}
    return set().union(*(symbols(branch, meter, depth + 1) for branch in tree[1:]))


def _value(tree: Any, point: dict, meter: Meter, depth: int) -> Any:
    meter.count(depth)
    operation = _node(tree)
    if operation == "num":
        return number(tree[1])
    if operation == "sym":
        return point[meter.name(tree[1])]
    operands = [_value(branch, point, meter, depth + 1) for branch in tree[1:]]
    try:
        value = OPERATIONS[operation](*operands)
    except (ZeroDivisionError, ValueError, OverflowError, mp().NoConvergence):
        raise Undefined("Your answer is not defined at some of the points it is tried at.") from None
    if not mp().isfinite(value):
        raise Undefined("Your answer is not defined at some of the points it is tried at.")
    if abs(value) > LARGE:
        raise Unusable("Your answer becomes too large to be checked.")
    return value


def evaluate(tree: Any, point: dict, meter: Meter) -> Any:
    """The real value of a tree at a point, {canonical name: number}."""
    return _real(_value(tree, point, meter, 0))
