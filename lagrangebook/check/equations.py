"""Equations, compared by what they say of the unknowns: accelerations, or forces in inverse dynamics.

At a random point a system of equations is linear in its unknowns x and multipliers λ:

    A x + B λ + c = 0 .

The rows are brought to reduced echelon form with λ first. The rows left without λ are what the system says of x, and of the
constraint force f = B₀ λ (B₀ from the reference) where there are multipliers. Two systems agree if these rows do: whoever
scales, reorders or combines rows, solves for q̈, splits λ otherwise or has a singular M changes nothing.
"""

import re
from typing import Any

from .formulas import POINTS, TRIES, strange_name
from .grids import read
from .points import draw, filled
from .trees import Meter, Undefined, Unusable, canonical, evaluate, mp, symbols

TOLERANCE, PIVOT, STEP = 1e-6, 1e-10, "1e-12"
HALF = "You left out ½ q̇ᵀ (∂M/∂q) q̇, the slope of the kinetic energy: Ṁ q̇ is only the first of the two velocity terms."
VELOCITIES = "There are no velocity terms: where M depends on q, its change needs forces."
LAMBDA = "The sign of λ is wrong: +Jᵀλ stands on the right, beside τ."
CHANGES = (
    (("g",), 0.5, "Gravity is counted twice."), (("g",), -1, "The sign of gravity is wrong."),
    (("g",), 2, "Only half of gravity is there."),
)


def residuals(data: Any, meter: Meter) -> list:
    """The trees that equations set to zero."""
    if type(data) is dict and type(data.get("eq")) is list and len(data["eq"]) == 2:
        return [["add", data["eq"][0], ["mul", ["num", "-1"], data["eq"][1]]]]
    if type(data) is list:
        meter.count(0)
        return [tree for entry in data for tree in residuals(entry, meter)]
    if type(data) is bool:
        raise Unusable(f"Your equation is {data}: both sides are the same text, or plain numbers.")
    return [entry if type(entry) is list else ["num", repr(entry)] for entry in read(data, meter)[1]]


def unknowns(question: dict) -> tuple[list, list]:
    """The canonical names of x and λ."""
    own = question.get("accelerations") or question.get("forces")
    if not own:
        raise ValueError(f"{question.get('question')}: an equation needs `accelerations` or `forces`, the names to solve for")
    return [canonical(name) for name in own], [canonical(name) for name in question.get("multipliers", ())]


def linear(trees: list, point: dict, names: list, meter: Meter) -> tuple[list, list]:
    """The columns of the names, and c, at a point; `Unusable` where the equations are not linear in the names."""
    zero = dict.fromkeys(names, mp().mpf(0))
    c = [evaluate(tree, point | zero, meter) for tree in trees]
    columns = []
    for name in names:
        at = point | zero | {name: mp().mpf(1)}
        columns.append([evaluate(tree, at, meter) - rest for tree, rest in zip(trees, c)])
    somewhere = {name: mp().mpf(k + 2) / 3 for k, name in enumerate(names)}
    for i, tree in enumerate(trees):
        terms = [c[i], *(column[i] * x for column, x in zip(columns, somewhere.values()))]
        if abs(evaluate(tree, point | somewhere, meter) - sum(terms)) > 1e-9 * sum(map(abs, terms)):
            raise Unusable(f"Your equations are not linear in {', '.join(names)}.")
    return columns, c


def echelon(rows: list, first: int) -> list:
    """Reduced echelon form; the rows whose pivot stands in column `first` or later, from there on."""
    rows = [[x / max(map(abs, row)) for x in row] for row in rows if any(row)]
    done, column = 0, 0
    pivots = []
    while rows and done < len(rows) and column < len(rows[0]):
        k = max(range(done, len(rows)), key=lambda i: abs(rows[i][column]))
        if abs(rows[k][column]) > PIVOT:
            rows[done], rows[k] = rows[k], rows[done]
            rows[done] = [x / rows[done][column] for x in rows[done]]
            for i in range(len(rows)):
                if i != done and rows[i][column]:
                    rows[i] = [x - rows[i][column] * y for x, y in zip(rows[i], rows[done])]
            pivots.append(column)
            done += 1
        column += 1
    return [row[first:] for row, pivot in zip(rows, pivots) if pivot >= first]


def canonical_rows(columns: list, c: list, multipliers: int, force: list | None) -> list:
    """What the equations say of x, and of f = B₀ λ; `columns` are those of λ, then those of x."""
    size = len(force[0]) if force else 0
    rows = [[*(column[i] for column in columns), *[mp().mpf(0)] * size, c[i]] for i in range(len(c))]
    for k in range(size):
        unit = [mp().mpf(j == k) for j in range(size)]
        nothing = [mp().mpf(0)] * (len(columns) - multipliers)
        rows.append([*(-column[k] for column in force), *nothing, *unit, mp().mpf(0)])
    return echelon(rows, multipliers)


def contradictions(columns: list, c: list) -> list:
    """ν c for each row ν with ν A = 0: what has to vanish for a solution, nothing where A has full row rank."""
    rows = [[*(column[i] for column in columns), *(mp().mpf(i == j) for j in range(len(c)))] for i in range(len(c))]
    return [sum(a * b for a, b in zip(row, c)) for row in echelon(rows, len(columns))]


def _consistent(trees: list, point: dict, every: set, names: list, pairs: list) -> tuple | None:
    """The point with some coordinates moved to where equations with a singular matrix have solutions."""
    def at(**moved: Any) -> tuple:
        return linear(trees, filled(point, every) | moved, names, Meter())

    count = sum(abs(x) > PIVOT for x in contradictions(*at()))
    moved = [q for q, _ in pairs if q in point][:count]
    if not count or len(moved) < count:
        return None
    try:
        root = mp().findroot(lambda *values: contradictions(*at(**dict(zip(moved, values)))),
                             [mp().mpf(point[name]) for name in moved], solver="mdnewton")
    except (ValueError, ZeroDivisionError, Unusable):
        return None
    return point | {name: mp().nstr(x, 35) for name, x in zip(moved, root)}, *at(**dict(zip(moved, root)))


def _texts(rows: list) -> list:
    return [[mp().nstr(x, 20) for x in row] for row in rows]


def prepare(question: dict, datas: list, seed: int) -> tuple[dict, list]:
    """Points, and everybody's rows there; then the mistakes that follow from the reference itself."""
    x, lam = unknowns(question)
    systems = [residuals(data, Meter()) for data in datas]
    every = set().union({*x, *lam}, *coordinates(x), *(symbols(tree) for system in systems for tree in system))
    points, forces, rights = [], [], []
    for point in draw(question, every, POINTS * TRIES, seed):
        try:
            columns, c = linear(systems[0], filled(point, every), lam + x, Meter())
        except Undefined:
            continue
        if len(points) % 2:     # what a singular matrix says of q alone shows at points of both kinds
            point, columns, c = _consistent(systems[0], point, every, lam + x, coordinates(x)) or (point, columns, c)
        points.append(point)
        rights.append((columns, c))
        forces.append(columns[:len(lam)] or None)
        if len(points) == POINTS:
            break
    else:
        raise ValueError(f"{question.get('question')}: the reference is undefined at random points; state its `domain`")
    common = {"points": points, "unknowns": x, "multipliers": lam,
              "forces": [force and _texts(force) for force in forces]}
    parts = [{"rows": [_texts(rows) for rows in _rows(common, system, Meter())]} for system in systems]
    common["generic"] = [own for own in _generic(common, systems[0], rights) if own["rows"] != parts[0]["rows"]]
    return common, parts


def _rows(common: dict, trees: list, meter: Meter, change: dict | None = None) -> list:
    """The canonical rows of a system at each point."""
    x, lam = common["unknowns"], common["multipliers"]
    every = set().union({*x, *lam}, *(symbols(tree, meter) for tree in trees))
    rows = []
    for point, force in zip(common["points"], common["forces"]):
        columns, c = linear(trees, filled(point, every, change), lam + x, meter)
        signs = [(change or {}).get(name, 1) for name in lam + x]
        columns = [[factor * value for value in column] for factor, column in zip(signs, columns)]
        force = force and [[mp().mpf(text) for text in column] for column in force]
        rows.append(canonical_rows(columns, c, len(lam), force))
    return rows


def coordinates(names: list) -> list[tuple]:
    """(q, q̇) for each acceleration: qdd1 gives q1, qd1; thetadd gives theta, thetad."""
    matches = [re.fullmatch(r"(.+)dd(\d*)", name) for name in names]
    return [(match[1] + match[2], match[1] + "d" + match[2]) for match in matches] if all(matches) else []


def _generic(common: dict, trees: list, rights: list) -> list:
    """Named mistakes that can be made with any equations of motion M q̈ + h = 0."""
    lam, x = common["multipliers"], common["unknowns"]
    pairs = coordinates(x)
    rates = {qd: 0 for _, qd in pairs}
    found = [(message, [_texts(rows) for rows in _rows(common, trees, Meter(), change)])
             for message, change in ((VELOCITIES, rates), ("Gravity is missing.", {"g": 0}))
             if set(change) <= set(common["points"][0]) and _defined(common, trees, change)]
    if pairs and not lam and len(trees) == len(x):
        rows = [_without_half(common, trees, point, right, pairs) for point, right in zip(common["points"], rights)]
        found += [(HALF, rows)] if all(rows) else []
    return [{"message": message, "rows": rows} for message, rows in found]


def _defined(common: dict, trees: list, change: dict) -> bool:
    try:
        _rows(common, trees, Meter(), change)
    except Unusable:
        return False
    return bool(change)


def _without_half(common: dict, trees: list, point: dict, right: tuple, pairs: list) -> list | None:
    """The rows with + ½ q̇ᵀ (∂M/∂q_i) q̇, which takes away what Lagrange's equations subtract."""
    columns, c = right
    n, eps = len(pairs), mp().mpf(STEP)
    if any(abs(columns[i][j] - columns[j][i]) > 1e-20 for i in range(n) for j in range(n)):
        return None
    at = filled(point, ())
    qd = [at[name] for _, name in pairs]
    c = list(c)
    for i, (q, _) in enumerate(pairs):
        up, down = (linear(trees, at | {q: at[q] + step}, common["unknowns"], Meter())[0] for step in (eps, -eps))
        c[i] += sum((up[j][k] - down[j][k]) * qd[j] * qd[k] for j in range(n) for k in range(n)) / (4 * eps)
    return _texts(canonical_rows(columns, c, 0, None))


def probe(common: dict, data: Any, meter: Meter) -> tuple:
    trees = residuals(data, meter)
    every = set().union(*(symbols(tree, meter) for tree in trees), set())
    if not every & set(common["unknowns"]):
        wanted = ", ".join(common["unknowns"])
        strange = strange_name(every, set(common["points"][0]))
        raise Unusable(strange or f"Your answer does not hold {wanted}: that is no equation for it.")
    return trees, every, _rows(common, trees, meter), meter


def agree(rows: list, expected: list) -> bool:
    """Whether the rows at all points are the expected ones."""
    for own, right in zip(rows, expected):
        if len(own) != len(right):
            return False
        for row, texts in zip(own, right):
            pairs = [(a, mp().mpf(b)) for a, b in zip(row, texts)]
            largest = max(abs(b) for _, b in pairs)
            if any(abs(a - b) > TOLERANCE * (abs(b) + largest / 1000) for a, b in pairs):
                return False
    return True


def same(common: dict, part: dict, observed: tuple) -> bool:
    return agree(observed[2], part["rows"])


def seal(common: dict, part: dict, salt: str) -> tuple[dict, dict]:
    """Values at random points already tell no formula."""
    return common, part


def hint(common: dict, part: dict, observed: tuple) -> str:
    trees, every, rows, meter = observed
    message = strange_name(every, set(common["points"][0]))
    if message:
        return message
    for generic in common["generic"]:
        if agree(rows, generic["rows"]):
            return generic["message"]
    if any(len(own) < len(right) for own, right in zip(rows, part["rows"])):
        return "Your equations do not determine what is asked: one is missing, or one follows from the others."
    if any(len(own) > len(right) for own, right in zip(rows, part["rows"])):
        return "Your equations say more than they may: one is too many, or two contradict each other."
    changes = [({name: factor for name in own if name in every}, message) for own, factor, message in CHANGES]
    if common["multipliers"]:
        changes.append((dict.fromkeys(common["multipliers"], -1), LAMBDA))
    for name in sorted(every - set(common["multipliers"])):
        changes += [({name: -1}, f"The sign is wrong in the terms with {name}."),
                    ({name: 2}, f"A factor 2 is lost in the terms with {name}, or a ½ is too many."),
                    ({name: 0.5}, f"The terms with {name} are counted twice, or a ½ is lost.")]
    first = common | {"points": common["points"][:1]}
    for change, message in changes:
        if change and all(agree(_rows(own, trees, meter, change), part["rows"]) for own in (first, common)):
            return message
    return "Not right: at random states it does not give the right " + (
        "accelerations." if coordinates(common["unknowns"]) else "values of what it is solved for.")
