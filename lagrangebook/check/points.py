"""Random points for the symbols of an answer, as texts of six digits, so that a digest can hold them."""

import random
from collections.abc import Iterable

from .trees import canonical, mp


def draw(question: dict, names: Iterable[str], count: int, seed: int) -> list[dict]:
    """`count` points {name: text}; a name that is not declared positive takes both signs in turn."""
    rng = random.Random(f"{question.get('question', '')} {seed}")
    domain = {canonical(name): limits for name, limits in question.get("domain", {}).items()}
    positive = {canonical(name) for name in question.get("positive", ())}
    names = sorted(names)
    first = {name: rng.choice((-1, 1)) for name in names}
    points = []
    for k in range(count):
        point = {}
        for name in names:
            low, high = domain.get(name, (0.3, 1.7))
            sign = 1 if name in positive or name in domain else first[name] * (-1) ** k
            point[name] = f"{sign * rng.uniform(low, high):.6f}"
        points.append(point)
    return points


def filled(point: dict, names: Iterable[str], change: dict | None = None) -> dict:
    """A point as numbers; names it does not know get a value of their own; `change` multiplies some."""
    known = {name: mp().mpf(text) for name, text in point.items()}
    for name in set(names) - set(known):
        known[name] = mp().mpf(f"{random.Random(name).uniform(0.3, 1.7):.6f}")
    for name, factor in (change or {}).items():
        known[name] = known[name] * factor
    return known
