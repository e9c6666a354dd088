"""What a figure that answers is made of: symbols to move, expressions to show, and where.

A figure is data. Its expressions are sympy, made by the package from the same models as the chapters;
`expressions` turns them into JavaScript for the page and into Python for the still picture and for the tests.
"""

from dataclasses import dataclass, field
from typing import Any

from sympy import Symbol

from lagrangebook.draw import BLUE, GREEN, GREY, RED

Point = tuple[Any, Any]


@dataclass(frozen=True)
class Parameter:
    """A slider."""

    symbol: Symbol
    label: str
    unit: str
    low: float
    high: float
    value: float
    step: float = 0.01


@dataclass(frozen=True)
class Switch:
    """Breaks the derivation: its symbol is 0 or 1."""

    symbol: Symbol
    label: str


@dataclass(frozen=True)
class Readout:
    label: str
    value: Any
    unit: str
    digits: int = 2


@dataclass(frozen=True)
class Check:
    """What must be zero, whatever the sliders say."""

    label: str
    residual: Any
    unit: str


@dataclass(frozen=True)
class Mark:
    """Something drawn: line, area, dot, text, curve (`over` = (symbol, from, to)) or path (over time)."""

    kind: str
    points: tuple[Point, ...]
    color: str = BLUE
    width: float = 2.0
    dash: str = ""
    head: bool = False
    label: str = ""
    radius: float = 4.0
    opacity: float = 1.0
    over: tuple = ()


@dataclass(frozen=True)
class Drag:
    """A handle at a point of a panel; the pointer (X, Y) sets parameters."""

    panel: int
    at: Point
    sets: dict[Symbol, Any]


@dataclass(frozen=True)
class Motion:
    """The next `steps` steps of `dt`: rates d(state)/dt for Runge–Kutta, or the state after one step."""

    state: tuple[Symbol, ...]
    dt: float
    steps: int
    rates: tuple = ()
    step: tuple = ()


@dataclass(frozen=True)
class Panel:
    """Axes from x[0] to x[1] and y[0] to y[1]; `height` in units of 340 across, None for equal scales."""

    x: tuple[float, float]
    y: tuple[float, float]
    marks: tuple[Mark, ...]
    xlabel: str = "x [m]"
    ylabel: str = "y [m]"
    height: float | None = None


@dataclass(frozen=True)
class Figure:
    """`lets` are named intermediate results, in groups; each group may use those before it."""

    alt: str
    parameters: tuple[Parameter, ...]
    panels: tuple[Panel, ...]
    readouts: tuple[Readout, ...] = ()
    switches: tuple[Switch, ...] = ()
    checks: tuple[Check, ...] = ()
    drags: tuple[Drag, ...] = ()
    motion: Motion | None = None
    lets: tuple[dict, ...] = field(default=())

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return tuple(part.symbol for part in (*self.parameters, *self.switches))

    @property
    def start(self) -> list[float]:
        return [parameter.value for parameter in self.parameters] + [0.0] * len(self.switches)


X, Y, TIME = (
    Symbol("X", real=True),
    Symbol("Y", real=True),
    Symbol("time", real=True),
)  # the pointer; along a path


def line(*points: Point, **style: Any) -> Mark:
    return Mark("line", points, **{"width": 4, **style})


def arrow(start: Point, end: Point, label: str = "", color: str = RED, **style: Any) -> Mark:
    return Mark("line", (start, end), color=color, head=True, label=label, **style)


def moved(start: Point, by: Point, label: str = "", color: str = RED, scale: float = 1, **style: Any) -> Mark:
    """The arrow from `start` by a vector, `scale` metres of picture to its unit."""
    return arrow(start, (start[0] + scale * by[0], start[1] + scale * by[1]), label, color, **style)


def dot(at: Point, color: str = RED, **style: Any) -> Mark:
    return Mark("dot", (at,), color=color, **style)


def area(*points: Point, color: str = GREEN, opacity: float = 0.2, **style: Any) -> Mark:
    return Mark("area", points, color=color, opacity=opacity, **style)


def curve(point: Point, t: Symbol, low: Any, high: Any, **style: Any) -> Mark:
    return Mark("curve", (point,), over=(t, low, high), **style)


def path(point: Point, **style: Any) -> Mark:
    return Mark("path", (point,), **style)


def ground(x: Any, y: float, width: float, hangs: bool = False) -> list[Mark]:
    """The hatched ground at height y, or a ceiling."""
    down = width if hangs else -width
    strokes = [
        line((x + s * width, y), (x + (s - 0.4) * width, y + 0.4 * down), color=GREY, width=1)
        for s in (-0.6, -0.2, 0.2, 0.6, 1.0)
    ]
    return [line((x - width, y), (x + width, y), color=GREY, width=1.5), *strokes]


def text(at: Point, label: str) -> Mark:
    return Mark("text", (at,), label=label)


def bar(x: float, value: Any, color: str, label: str, at: float, width: float = 0.4) -> list[Mark]:
    """A bar from zero to a value, named at the height `at`."""
    return [
        area(
            (x - width, 0), (x + width, 0), (x + width, value), (x - width, value), color=color, opacity=0.8
        ),
        text((x, at), label),
    ]
