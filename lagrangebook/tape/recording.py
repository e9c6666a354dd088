"""Record an algorithm once, replay it as straight-line code.

`record` runs a function of numpy arrays on scalars that remember what is done with them. What remains after folding
(the table below), sharing of equal subexpressions and removal of what no output needs is a `Tape`. Three back ends
turn a tape into a function: "python" (text for `exec`; no dependency, also in the browser), "numpy" (the same text over
blocks of states) and "llvm" (machine code; the `fast` extra).

Folding, with c constants, x and y any nodes:

    c₁ ∘ c₂ → its value      x + 0 → x        x − 0 → x      0 − x → −x     x − x → 0       x + (−y) → x − y
    x·0 → 0                  x·1 → x          (−x)·y → −(x·y)                (−c)·x → −(c·x)  c₁·(c₂·x) → (c₁c₂)·x
    −(−x) → x                −(x − y) → y − x                0/x → 0        x/c → x·(1/c)    c₁ + (x − c₂) → (c₁ − c₂) + x
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..spatial import Array


class Node:
    """A scalar on a tape: an operation and its operands, the same object for the same expression."""

    __slots__ = ("tape", "op", "args", "index")

    def __init__(self, tape: "Tape", op: str, args: tuple, index: int) -> None:
        self.tape, self.op, self.args, self.index = tape, op, args, index

    @property
    def value(self) -> float | None:
        """The number, for a constant."""
        return self.args[0] if self.op == "const" else None

    def __add__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else _add(self, self.tape.node(other))

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else _sub(self, self.tape.node(other))

    def __rsub__(self, other: Any) -> Any:
        return _sub(self.tape.node(other), self)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else _mul(self, self.tape.node(other))

    def __truediv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else _div(self, self.tape.node(other))

    def __rtruediv__(self, other: Any) -> Any:
        return _div(self.tape.node(other), self)

    def __neg__(self) -> Any:
        return _neg(self)

    def __pos__(self) -> Any:
        return self

    def __pow__(self, power: int) -> Any:
        if power != int(power) or power < 0:
            raise TypeError(f"a recorded scalar takes whole powers ≥ 0; got {power}")
        return math.prod([self] * int(power), start=self.tape.node(1.0))

    __radd__, __rmul__ = __add__, __mul__

    def cos(self) -> Any:
        return self._function("cos", math.cos)

    def sin(self) -> Any:
        return self._function("sin", math.sin)

    def sqrt(self) -> Any:
        return self._function("sqrt", math.sqrt)

    def _function(self, name: str, f: Callable) -> Any:
        return self.tape.node(f(self.value)) if self.op == "const" else self.tape.make(name, (self,))

    def guard(self, dof: int) -> None:
        """Notes that this scalar, the pivot of a degree of freedom, must stay positive."""
        self.tape.guards[dof] = self

    def _refuse(self, *_: Any) -> bool:
        raise TypeError("a recorded scalar has no truth value: branches on values cannot be recorded")

    __bool__ = __float__ = __lt__ = __le__ = __gt__ = __ge__ = __abs__ = _refuse


def _add(x: Node, y: Node) -> Node:
    if x.op == "const" and y.op == "const":
        return x.tape.node(x.value + y.value)
    if x.value == 0:
        return y
    if y.value == 0:
        return x
    if y.op == "neg":
        return _sub(x, y.args[0])
    if x.op == "neg":
        return _sub(y, x.args[0])
    if y.op == "const":
        x, y = y, x
    if x.op == "const" and y.op == "sub" and y.args[1].op == "const":
        return _add(x.tape.node(x.value - y.args[1].value), y.args[0])
    return x.tape.make("add", (x, y) if x.index <= y.index else (y, x))


def _sub(x: Node, y: Node) -> Node:
    if x is y:
        return x.tape.node(0.0)
    if x.op == "const" and y.op == "const":
        return x.tape.node(x.value - y.value)
    if y.value == 0:
        return x
    if x.value == 0:
        return _neg(y)
    if y.op == "neg":
        return _add(x, y.args[0])
    return x.tape.make("sub", (x, y))


def _neg(x: Node) -> Node:
    if x.op == "const":
        return x.tape.node(-x.value)
    if x.op == "neg":
        return x.args[0]
    if x.op == "sub":
        return x.tape.make("sub", (x.args[1], x.args[0]))
    return x.tape.make("neg", (x,))


def _mul(x: Node, y: Node) -> Node:
    if y.op == "const":
        x, y = y, x
    if x.op == "const":
        if y.op == "const":
            return x.tape.node(x.value * y.value)
        if x.value == 0:
            return x.tape.node(0.0)
        if x.value == 1:
            return y
        if x.value < 0:
            return _neg(_mul(x.tape.node(-x.value), y))
        if y.op == "mul" and y.args[0].op == "const":
            return _mul(x.tape.node(x.value * y.args[0].value), y.args[1])
        if y.op == "neg":
            return _mul(_neg(x), y.args[0])
        return x.tape.make("mul", (x, y))
    if x.op == "neg":
        return _neg(_mul(x.args[0], y))
    if y.op == "neg":
        return _neg(_mul(x, y.args[0]))
    for a, b in ((x, y), (y, x)):
        if b.op == "mul" and b.args[0].op == "const":
            return _mul(b.args[0], _mul(a, b.args[1]))
    return x.tape.make("mul", (x, y) if x.index <= y.index else (y, x))


def _div(x: Node, y: Node) -> Node:
    if y.op == "const":
        if y.value == 0:
            raise ZeroDivisionError("a recorded expression divides by the constant 0")
        return _mul(x.tape.node(1 / y.value), x)
    return x if x.value == 0 else x.tape.make("div", (x, y))


class Tape:
    """A recorded function: inputs, the live nodes in order, the outputs and their shape."""

    def __init__(self) -> None:
        self.table: dict[tuple, Node] = {}
        self.inputs: list[list[Node]] = []
        self.guards: dict[int, Node] = {}
        self.outputs: list[Node] = []
        self.shape: tuple[int, ...] = ()
        self._kernel: Callable | None = None

    def make(self, op: str, args: tuple) -> Node:
        """The node of an operation, one for each distinct expression."""
        key = (op, *(a.index if isinstance(a, Node) else a for a in args))
        if key not in self.table:
            self.table[key] = Node(self, op, args, len(self.table))
        return self.table[key]

    def node(self, x: Any) -> Node:
        """A number as a constant node; nodes pass."""
        if isinstance(x, Node):
            return x
        x = float(x)
        if not math.isfinite(x):
            raise ValueError(f"a recorded expression holds the constant {x}")
        return self.make("const", (x + 0.0,))

    @property
    def live(self) -> list[Node]:
        """The operations that outputs and guards need, in an order in which they can be computed."""
        needed, stack = set(), [*self.outputs, *self.guards.values()]
        while stack:
            node = stack.pop()
            if node.index not in needed:
                needed.add(node.index)
                stack += [a for a in node.args if isinstance(a, Node)]
        return [node for node in self.table.values() if node.index in needed and node.op not in ("const", "input")]

    def replay(self, *arrays: Array) -> Array:
        """The recorded function at other numbers, one state at a time; like the original, but many times faster.

        ValueError for arrays of another size or a result that is not finite; LinAlgError where a recorded algorithm
        guards a number, such as the inertia that a joint has to move, and the number is not positive.
        """
        rows = [np.asarray(array, dtype=float).ravel() for array in arrays]
        if [len(row) for row in rows] != [len(row) for row in self.inputs]:
            raise ValueError(f"got {[len(row) for row in rows]} numbers; recorded with {[len(row) for row in self.inputs]}")
        if self._kernel is None:
            self._kernel = python_function(self)
        try:
            result = np.array(self._kernel(*(row.tolist() for row in rows)))
        except (ZeroDivisionError, OverflowError) as error:
            raise ValueError(f"the recorded function is not finite here: {error}") from None
        values, pivots = result[:len(self.outputs)], result[len(self.outputs):]
        if np.any(pivots <= 0):
            raise np.linalg.LinAlgError("a joint has no inertia to move, or a quaternion is off its sphere")
        if not np.isfinite(values).all():
            raise ValueError("the recorded function is not finite here")
        return values.reshape(self.shape)

    @property
    def operations(self) -> int:
        """How many operations are left."""
        return len(self.live)

    def source(self, name: str = "kernel", functions: str = "math") -> str:
        """The tape as Python text: kernel(a0, a1, …) -> tuple of outputs."""
        arguments = [f"a{k}" for k in range(len(self.inputs))]
        lines = [f"def {name}({', '.join(arguments)}):"]
        for k, row in enumerate(self.inputs):
            if row:
                lines.append(f"    {', '.join(_name(node) for node in row)}, = a{k}")
        text = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "neg": "-{}", "sin": "sin({})",
                "cos": "cos({})", "sqrt": "sqrt({})"}
        for node in self.live:
            lines.append(f"    {_name(node)} = {text[node.op].format(*map(_name, node.args))}")
        results = "".join(_name(node) + ", " for node in [*self.outputs, *self.guards.values()])
        return "\n".join([*lines, f"    return ({results})"]) + "\n"


def _name(node: Node) -> str:
    return repr(node.value) if node.op == "const" else f"x{node.index}"


def record(function: Callable, *shapes: tuple[int, ...] | int) -> Tape:
    """Run function(*arrays) once on recorded scalars; arrays have the given shapes, the result any shape.

    The function may use +, −, ·, /, whole powers, `spatial.cos_sin`, `spatial.solve` and numpy's array operations;
    a branch on a value raises TypeError.
    """
    tape, arrays = Tape(), []
    for k, shape in enumerate(shapes):
        size = int(np.prod(shape))
        row = [tape.make("input", (k, j)) for j in range(size)]
        tape.inputs.append(row)
        arrays.append(np.array([*row, None], dtype=object)[:-1].reshape(shape))
    result = np.asarray(function(*arrays), dtype=object)
    tape.shape, tape.outputs = result.shape, [tape.node(x) for x in result.ravel()]
    return tape


def python_function(tape: Tape) -> Callable:
    """kernel(*sequences) -> tuple of floats (outputs, then guards), by `exec` of `source`."""
    scope = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt}
    exec(compile(tape.source(), "<tape>", "exec"), scope)
    return scope["kernel"]


def numpy_function(tape: Tape, block: int = 1024) -> Callable:
    """kernel(*batches (count, size)) -> (count, outputs + guards): the same text over blocks of states."""
    scope = {"sin": np.sin, "cos": np.cos, "sqrt": np.sqrt}
    exec(compile(tape.source(), "<tape>", "exec"), scope)

    def kernel(*batches: Array) -> Array:
        count = len(batches[0])
        result = np.empty((count, len(tape.outputs) + len(tape.guards)))
        for start in range(0, count, block):
            rows = slice(start, min(start + block, count))
            for column, values in enumerate(scope["kernel"](*(np.ascontiguousarray(batch[rows].T) for batch in batches))):
                result[rows, column] = values
        return result
    return kernel
