"""Expressions and matrices with symbols: compared by their values at random points."""

from difflib import get_close_matches
from typing import Any

from .grids import Grid, listed, names, numbers, place, read, shape_message, squeezed
from .points import draw, filled
from .trees import Meter, Undefined, mp

POINTS, TRIES, TOLERANCE = 4, 25, 1e-6
CHANGES = ((-1, "The sign is wrong in the terms with {}."), (2, "There is a factor ½ too many, or a 2 lost, at {}."),
           (0.5, "The terms with {} are counted twice, or a ½ is lost at {}."))


def _text(value: Any) -> str:
    return mp().nstr(value, 20)


def prepare(question: dict, datas: list, seed: int) -> tuple[dict, list]:
    """Points at which the reference is defined, and everybody's values there."""
    meter = Meter()
    grids = [read(data, meter) for data in datas]
    every = set().union(*(names(grid, meter) for grid in grids))
    points = []
    for point in draw(question, every, POINTS * TRIES, seed):
        try:
            numbers(grids[0], filled(point, every), Meter())
        except Undefined:
            continue
        points.append(point)
        if len(points) == POINTS:
            break
    else:
        raise ValueError(f"{question.get('question')}: the reference is undefined at random points; state its `domain`")
    common = {"points": points, "tolerance": float(question.get("tolerance", TOLERANCE))}
    return common, [{"shape": list(grid[0]), "values": _values(grid, points)} for grid in grids]


def _values(grid: Grid, points: list) -> list:
    every = names(grid, Meter())
    return [[_text(x) for x in numbers(grid, filled(point, every), Meter())] for point in points]


def probe(common: dict, data: Any, meter: Meter) -> tuple:
    """The grid, and its values at the points."""
    grid = read(data, meter)
    every = names(grid, meter)
    return grid, [numbers(grid, filled(point, every), meter) for point in common["points"]], meter


def _wrong(common: dict, part: dict, values: list) -> list[int]:
    """The entries that differ at some point."""
    wrong = set()
    for own, expected in zip(values, part["values"]):
        expected = [mp().mpf(text) for text in expected]
        largest = max(map(abs, expected), default=0)
        for i, (x, r) in enumerate(zip(own, expected)):
            if abs(x - r) > common["tolerance"] * (abs(r) + largest / 1000 if largest else 1):
                wrong.add(i)
    return sorted(wrong)


def same(common: dict, part: dict, observed: tuple) -> bool:
    (shape, entries), values, _ = observed
    alike = squeezed(shape) == squeezed(listed(part["shape"])) and len(entries) == len(part["values"][0])
    return alike and not _wrong(common, part, values)


def seal(common: dict, part: dict, salt: str) -> tuple[dict, dict]:
    """Values at random points already tell no formula."""
    return common, part


def strange_name(own: set, known: set) -> str | None:
    """A sentence on a symbol that the question does not have."""
    for name in sorted(own - known):
        near = get_close_matches(name, known, 1, 0.5)
        question = f"; is {near[0]!r} meant?" if near else "."
        return f"Your answer uses the symbol {name[:40]!r}, which has no place in it{question}"
    return None


def hint(common: dict, part: dict, observed: tuple) -> str:
    grid, values, meter = observed
    message = shape_message(grid[0], listed(part["shape"]))
    if message:
        return message
    every = names(grid, meter)
    known = set().union(*common["points"])
    message = strange_name(every, known)
    if message:
        return message
    ratio = _constant_ratio(part, values)
    if ratio is not None:
        return "The sign is wrong." if ratio == -1 else "It is off by a constant factor: is a ½ or a 2 lost?"
    for name in sorted(every):
        for factor, sentence in CHANGES:
            changed = [numbers(grid, filled(point, every, {name: factor}), meter) for point in common["points"]]
            if not _wrong(common, part, changed):
                return sentence.format(name, name)
    wrong = _wrong(common, part, values)
    if len(grid[1]) > 1 and len(wrong) < len(grid[1]):
        return f"Not right: {place(wrong[0], grid[0])} is the first that differs."
    return "Not right."


def _constant_ratio(part: dict, values: list) -> float | None:
    """c with answer = c · reference in every entry at every point."""
    ratios = []
    for own, expected in zip(values, part["values"]):
        for x, r in zip(own, (mp().mpf(text) for text in expected)):
            if (abs(r) < 1e-30) != (abs(x) < 1e-30):
                return None
            if abs(r) >= 1e-30:
                ratios.append(x / r)
    if ratios and max(abs(c - ratios[0]) for c in ratios) < 1e-9 * abs(ratios[0]):
        return round(float(ratios[0]), 9)
    return None
