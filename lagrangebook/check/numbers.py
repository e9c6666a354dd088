"""Numbers, and vectors and matrices of numbers.

They are compared on the scale u(x) = asinh(x / s), s = 1 % of the power of ten of the largest entry: relative where
x is large, absolute near zero. A sealed number is a set of salted hashes of the buckets of u around it, never the number.
"""

import hashlib
import math
from typing import Any

from .grids import Grid, listed, names, place, read, shape_message, squeezed
from .trees import Meter, Unusable, evaluate

EXACT, USUAL = 1e-6, 5e-3
ROUNDS = 300
FACTORS = (
    (-1.0, "The sign is wrong."),
    (0.5, "It is twice too large: has a ½ been lost, or something been counted twice?"),
    (2.0, "It is half of what it should be: is there a ½ too many?"),
    (math.pi / 180, "Degrees or radians? The answer is wanted in the unit of the question."),
    (180 / math.pi, "Degrees or radians? The answer is wanted in the unit of the question."),
    (2 * math.pi, "It is off by 2π: revolutions (Hz) are not radians per second."),
    (1 / (2 * math.pi), "It is off by 2π: revolutions (Hz) are not radians per second."),
    (1000.0, "It is off by a thousand: look at the prefix of the unit."),
    (0.001, "It is off by a thousand: look at the prefix of the unit."),
    (9.81, "It is off by a factor g: a mass is not a weight."),
    (1 / 9.81, "It is off by a factor g: a mass is not a weight."),
)


def scale(values: list) -> float:
    """s, a power of ten, so that it tells no more than an order of magnitude."""
    largest = max((abs(float(x)) for x in values), default=0.0)
    return 10.0 ** (math.floor(math.log10(largest)) - 2) if largest > 0 else 1.0


def on_scale(x: float, s: float) -> float:
    return math.asinh(float(x) / s)


def _tolerance(question: dict, right: list, wrong: list[list], s: float) -> float:
    """The stated tolerance, or 0.5 %, but a fourth of the way to the nearest named mistake; integers are exact."""
    if "tolerance" in question:
        return float(question["tolerance"])
    if right and all(type(x) is int for x in right):
        return EXACT
    apart = [max(abs(on_scale(a, s) - on_scale(b, s)) for a, b in zip(right, own))
             for own in wrong if len(own) == len(right)]
    return max(EXACT, min([USUAL, *(d / 4 for d in apart if d > 0)]))


def applies(datas: list) -> bool:
    """Whether these data hold no symbols."""
    meter = Meter()
    return not any(names(read(data, meter), meter) for data in datas)


def _values(grid: Grid, meter: Meter) -> list[float]:
    """The entries; plain numbers need no mpmath, which a page may not have loaded."""
    if any(type(entry) is str for entry in grid[1]):
        raise Unusable("Your answer is a text; a number is asked for.")
    return [float(evaluate(entry, {}, meter) if type(entry) is list else entry) for entry in grid[1]]


def prepare(question: dict, datas: list, seed: int) -> tuple[dict, list]:
    """What all share, and for the reference and for each mistake its entries on the scale."""
    meter = Meter()
    grids = [read(data, meter) for data in datas]
    values = [_values(grid, meter) for grid in grids]
    s = scale(values[0])
    leaves = grids[0][1] if all(type(x) is int for x in grids[0][1]) else values[0]
    common = {"scale": s, "tolerance": _tolerance(question, leaves, values[1:], s)}
    common |= {"unit": question["unit"]} if "unit" in question else {}
    parts = [{"shape": list(shape), "entries": [on_scale(x, s) for x in own]} for (shape, _), own in zip(grids, values)]
    return common, parts


def probe(common: dict, data: Any, meter: Meter) -> tuple:
    grid = read(data, meter)
    if names(grid, meter):
        raise Unusable(f"A number is asked for; your answer still holds {', '.join(sorted(names(grid, meter)))[:80]}.")
    return grid[0], _values(grid, meter)


def _hash(common: dict, index: int, bucket: int) -> str:
    digest = f"{common['salt']} {index} {bucket}".encode()
    for _ in range(ROUNDS):
        digest = hashlib.sha256(digest).digest()
    return digest.hex()[:10]


def _near(common: dict, expected: Any, index: int, x: float) -> bool:
    u = on_scale(x, common["scale"])
    if type(expected) is list:
        return _hash(common, index, math.floor(u / common["tolerance"])) in expected
    return abs(u - expected) <= common["tolerance"]


def wrong_entries(common: dict, part: dict, values: list) -> list[int]:
    return [i for i, (x, u) in enumerate(zip(values, part["entries"])) if not _near(common, u, i, x)]


def same(common: dict, part: dict, observed: tuple) -> bool:
    shape, values = observed
    alike = squeezed(shape) == squeezed(listed(part["shape"])) and len(values) == len(part["entries"])
    return alike and not wrong_entries(common, part, values)


def seal(common: dict, part: dict, salt: str) -> tuple[dict, dict]:
    """The same without the numbers: each entry is the hashes of its bucket and its two neighbours."""
    common = common | {"salt": salt}
    entries = []
    for index, u in enumerate(part["entries"]):
        middle = math.floor(u / common["tolerance"])
        entries.append([_hash(common, index, middle + k) for k in (-1, 0, 1)])
    return common, part | {"entries": entries}


def _transposed(shape: tuple, values: list) -> list:
    rows, columns = shape
    return [values[i * columns + j] for j in range(columns) for i in range(rows)]


def hint(common: dict, part: dict, observed: tuple) -> str:
    """The likely mistake, found by trying what undoes it."""
    shape, values = observed
    wanted = listed(part["shape"])
    message = shape_message(shape, wanted)
    if message:
        return message
    unit = f" The unit is {common['unit']}." if common.get("unit") else ""
    for factor, sentence in FACTORS:
        if not wrong_entries(common, part, [factor * x for x in values]):
            return sentence + unit * ("unit" in sentence)
    if len(values) > 1 and not wrong_entries(common, part, values[::-1]):
        return "The entries are right, in the reverse order."
    if len(shape) == 2 and shape[0] == shape[1] and not wrong_entries(common, part, _transposed(shape, values)):
        return "That is the transpose of what is asked for."
    wrong = wrong_entries(common, part, values)
    fine = EXACT < common["tolerance"] < USUAL
    digits = f" Enough digits? It may be off by {100 * common['tolerance']:.1g} %." if fine else ""
    if len(wrong) < len(values):
        return f"Not right: {place(wrong[0], shape)} is the first that differs.{digits}{unit}"
    return f"Not right.{digits}{unit}"
