"""Answers as grids: a shape and its entries, whatever nested list, matrix or single value they came in."""

from typing import Any

from .trees import Meter, Unusable, evaluate, mp, symbols

EMPTY = {"ellipsis", "NotImplementedType", "NoneType"}
Grid = tuple[tuple, list]       # a shape and its entries, row by row: trees, numbers, truth values, texts


def unusable(data: Any) -> str:
    """Why this is no answer, in a sentence for the student."""
    if data is None or type(data) is dict and type(data.get("other")) is str and data["other"] in EMPTY:
        return "There is no answer yet: nothing was assigned, or a function returned nothing (None)."
    if type(data) is not dict:
        return "Your answer cannot be read."
    if "nonfinite" in data:
        return "Your answer holds NaN or infinity: it divides by zero, or takes a root or logarithm of a wrong number."
    if "error" in data or "unreadable" in data:
        return f"It ends in an error: {str(data.get('error', data.get('unreadable')))[:200]}."
    if "large" in data:
        return f"Your answer is too large to be checked: {str(data['large'])[:80]}."
    return f"Your answer is of a kind that cannot be read here ({str(data.get('other', 'unknown'))[:60]})."


def read(data: Any, meter: Meter, depth: int = 0) -> Grid:
    """The grid of plain data; `Unusable` where the data are no answer."""
    meter.count(depth)
    if type(data) in (bool, int, float, str):
        if type(data) is float and not abs(data) <= 1e300 or type(data) is int and abs(data) > 10**60:
            raise Unusable(unusable({"nonfinite": ""}))
        return (), [data]
    if type(data) is list:
        grids = [read(entry, meter, depth + 1) for entry in data]
        shapes = [shape for shape, _ in grids]
        even = all(shape == shapes[0] for shape in shapes)
        shape = (len(data), *(shapes[0] if shapes else ())) if even else tuple(shapes)
        return shape, [entry for _, own in grids for entry in own]
    if type(data) is dict and type(data.get("expr")) is list:
        return (), [data["expr"]]
    if type(data) is dict and type(data.get("matrix")) is list:
        if not all(type(row) is list and len(row) == len(data["matrix"][0]) for row in data["matrix"]):
            raise Unusable("Your answer cannot be read.")
        rows = data["matrix"]
        return (len(rows), len(rows[0]) if rows else 0), [entry for row in rows for entry in row]
    if type(data) is dict and "eq" in data:
        raise Unusable("Your answer is an equation; an expression is asked for.")
    raise Unusable(unusable(data))


def text_of(data: Any, wanted: str) -> str:
    """Plain data that have to be a text; `wanted` says so to who gives a number or a formula."""
    if type(data) is str:
        return data
    raise Unusable(unusable(data) if data is None or type(data) is dict and "expr" not in data else wanted)


def squeezed(shape: tuple) -> tuple:
    """The shape without its ones: a vector may stand as a row, a column or a list."""
    if any(type(part) is tuple for part in shape):
        return tuple(squeezed(part) for part in shape)
    return tuple(size for size in shape if size != 1)


def listed(shape: list) -> tuple:
    """A shape that has been JSON."""
    return tuple(listed(part) if type(part) is list else part for part in shape)


def shape_message(own: tuple, wanted: tuple) -> str | None:
    """What to say where the shapes differ."""
    if squeezed(own) == squeezed(wanted):
        return None
    if not squeezed(wanted):
        return f"A single value is asked for; your answer has shape {_text(own)}."
    return f"Your answer has shape {_text(own)}; the shape {_text(wanted)} is asked for."


def _text(shape: tuple) -> str:
    return str(shape)[:60]


def names(grid: Grid, meter: Meter) -> set:
    """The names of all symbols in a grid."""
    return set().union(*(symbols(entry, meter) for entry in grid[1] if type(entry) is list), set())


def numbers(grid: Grid, point: dict, meter: Meter) -> list:
    """The entries at a point."""
    if any(type(entry) is str for entry in grid[1]):
        raise Unusable("Your answer is a text; an expression is asked for.")
    return [evaluate(entry, point, meter) if type(entry) is list else mp().mpf(entry) for entry in grid[1]]


def place(index: int, shape: tuple) -> str:
    """The name of an entry: "entry 2", "entry (1, 3)", counted from one."""
    sizes = [size for size in shape if type(size) is int]
    if len(sizes) != 2 or 1 in sizes:
        return f"entry {index + 1}"
    return f"entry ({index // sizes[1] + 1}, {index % sizes[1] + 1})"
