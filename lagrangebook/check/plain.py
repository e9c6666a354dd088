"""Values of Python, NumPy and SymPy as plain data: what leaves the place where a student's code runs."""

import copy
import math
import numbers
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .trees import DEPTH, NODES, canonical, rate

CHARACTERS = 20_000
NAMES = {"Add": "add", "Mul": "mul", "Pow": "pow", "Abs": "abs", "Min": "min", "Max": "max"}
NAMES |= {name: name for name in ("sin cos tan cot sec csc asin acos atan acot sinh cosh tanh coth "
                                  "asinh acosh atanh exp log sign atan2").split()}


class _Not(Exception):
    """A value that cannot be an answer; carries the data that say so."""


class _Room:
    """How much of a value may still be written."""

    def __init__(self) -> None:
        self.left = NODES

    def enter(self, depth: int) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Not({"large": f"more than {NODES} parts"})
        if depth > DEPTH:
            raise _Not({"large": f"nested deeper than {DEPTH}"})


def words(error: BaseException) -> str:
    """An exception in one line, whatever its class does."""
    try:
        return f"{type(error).__name__}: {error}"[:300]
    except Exception:  # noqa: BLE001  (a student's class may raise anything)
        return "an error"


def plain(value: Any) -> Any:
    """The plain data of a value (see the package's page); never raises, never larger than 20,000 parts."""
    try:
        return _data(value, _Room(), 0)
    except _Not as reason:
        return reason.args[0]
    except RecursionError:
        return {"large": "nested too deeply"}
    except Exception as error:  # noqa: BLE001  (a student's class may raise anything)
        return {"error": words(error)}


def _integer(value: int) -> int:
    value = int(value)
    if abs(value) > 10**60:
        raise _Not({"large": "a number of more than 60 digits"})
    return value


def _real(value: float) -> Any:
    value = float(value)
    return value if math.isfinite(value) else {"nonfinite": str(value)}


def _text(value: str) -> str:
    return str.encode(str.__getitem__(value, slice(CHARACTERS)), "utf8", "replace").decode("utf8")


def _data(value: Any, room: _Room, depth: int) -> Any:
    room.enter(depth)
    kind = type(value)
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, str):
        return _text(value)
    if kind.__module__.partition(".")[0] == "sympy":
        return _symbolic(value, room, depth)
    if isinstance(value, numbers.Integral):
        return _integer(value)
    if isinstance(value, numbers.Real) or kind.__name__ == "mpf":
        return _real(value)
    if isinstance(value, numbers.Complex) and complex(value).imag == 0:
        return _real(complex(value).real)
    if isinstance(value, np.ndarray):
        if value.size > NODES:
            raise _Not({"large": f"an array of {value.size} numbers"})
        return _data(value.tolist(), room, depth)
    if isinstance(value, Mapping):
        return [_equation(left, right, room, depth) for left, right in value.items()]
    if isinstance(value, (list, tuple)):
        return [_data(entry, room, depth + 1) for entry in value]
    if hasattr(value, "t") and hasattr(value, "q"):
        parts = ((name, getattr(value, name, None)) for name in ("t", "q", "qd"))
        return {"trajectory": {name: _data(part, room, depth + 1) for name, part in parts if part is not None}}
    if "sympy" in sys.modules:      # else nothing can be one of its objects, and in a page it may not be there
        return _symbolic(value, room, depth)
    raise _Not({"other": kind.__name__[:60]})


def _equation(left: Any, right: Any, room: _Room, depth: int) -> dict:
    import sympy

    return {"eq": [_tree(sympy.sympify(side, strict=True), room, depth + 1) for side in (left, right)]}


def _symbolic(value: Any, room: _Room, depth: int) -> Any:
    """The data of a value of SymPy (or of a student's own class under one of SymPy's)."""
    import sympy

    if isinstance(value, sympy.MatrixBase):
        if value.rows * value.cols > NODES:
            raise _Not({"large": f"a matrix of {value.rows} rows and {value.cols} columns"})
        rows = range(value.rows)
        return {"matrix": [[_tree(value[i, j], room, depth + 1) for j in range(value.cols)] for i in rows]}
    if isinstance(value, sympy.Eq) and isinstance(value.lhs, sympy.MatrixBase):
        return [_equation(left, right, room, depth) for left, right in zip(value.lhs, value.rhs)]
    if isinstance(value, sympy.Eq):
        return _equation(value.lhs, value.rhs, room, depth)
    if value is sympy.true or value is sympy.false:
        return value is sympy.true
    if isinstance(value, sympy.Expr):
        return {"expr": _tree(value, room, depth + 1)}
    if isinstance(value, (sympy.Tuple, sympy.NDimArray)):
        return [_data(entry, room, depth + 1) for entry in value]
    raise _Not({"other": type(value).__name__[:60]})


def _number(value: Any) -> list:
    import sympy

    if value is sympy.pi or value is sympy.E:
        return ["num", "pi" if value is sympy.pi else "e"]
    if value.is_finite is False or value is sympy.nan:
        raise _Not({"nonfinite": str(value)[:10]})
    if value.is_Rational:
        if max(abs(value.p), value.q) > 10**60:
            raise _Not({"large": "a number of more than 60 digits"})
        return ["num", f"{value.p}/{value.q}" if value.q != 1 else str(value.p)]
    value = value if value.is_Float else value.evalf(40)
    text = repr(float(value)) if getattr(value, "_prec", 53) <= 53 else str(value)
    return ["num", text.replace("+", "")]


def _tree(value: Any, room: _Room, depth: int) -> list:
    """The tree of a SymPy expression; q(t) is q, its derivatives are qd and qdd."""
    import sympy
    from sympy.core.function import AppliedUndef

    room.enter(depth)
    if isinstance(value, sympy.Symbol):
        return ["sym", canonical(_text(value.name)[:200])]
    if value.is_Number or isinstance(value, sympy.NumberSymbol):
        return _number(value)
    if isinstance(value, AppliedUndef):
        return ["sym", canonical(_text(type(value).__name__))]
    if isinstance(value, sympy.Derivative) and isinstance(value.expr, AppliedUndef):
        return ["sym", rate(_text(type(value.expr).__name__), int(value.derivative_count))]
    name = NAMES.get(type(value).__name__)
    if name is None:
        raise _Not({"other": type(value).__name__[:60]})
    return [name, *(_tree(branch, room, depth + 1) for branch in value.args)]


def outputs(function: Any, arguments: Sequence[tuple]) -> dict:
    """What a function returns for each tuple of arguments, and whether it changed any of them."""
    if not callable(function):
        return {"other": type(function).__name__[:60]}
    results, modified = [], False
    for given in arguments:
        own = copy.deepcopy(given)
        before = plain(own)
        results.append(_called(function, own))
        modified = modified or plain(own) != before
    return {"outputs": results, "modified": modified}


def _called(function: Callable, arguments: tuple) -> Any:
    try:
        return plain(function(*arguments))
    except RecursionError:
        return {"error": "RecursionError"}
    except Exception as error:  # noqa: BLE001  (a student's function may raise anything)
        return {"error": words(error)}
