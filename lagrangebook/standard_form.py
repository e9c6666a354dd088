"""The waist of the package: M q̈ + C q̇ + G + F = τ + Jᵀλ, whatever derived its terms.

Lagrange's equations and the recursion both end in a `Dynamics`. Control, constraints, contact and simulation
take a `Dynamics` and ask nothing about where it came from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .forward import aba
from .kinematics import kinetic_energy, potential_energy
from .mass_matrix import coriolis, crba, gravity
from .model import Model, checked
from .newton_euler import rnea
from .spatial import Array, solve

Friction = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class StandardForm:
    """The terms of M q̈ + C q̇ + G + F + rest = τ + Jᵀλ at one state."""

    M: Array            # (n, n) mass matrix
    C: Array            # (n, n) Coriolis matrix
    G: Array            # (n,)   ∂U/∂q; gravity itself acts with −G
    F: Array            # (n,)   friction, F·q̇ ≥ 0
    qd: Array           # (n,)   the velocity at which they hold
    rest: Array | int = 0       # (n,) what explicit time and terms linear in q̇ leave: neither C q̇ nor G nor F

    @property
    def h(self) -> Array:
        """h = C q̇ + G + F + rest (n,): the forces that keep q̈ = 0."""
        return self.C @ self.qd + self.G + self.F + self.rest

    def forces(self, qdd: Array) -> Array:
        """τ = M q̈ + h (n,)."""
        return self.M @ checked("qdd", qdd, len(self.qd), "the form has n") + self.h

    def accelerations(self, tau: Array) -> Array:
        """q̈ = M⁻¹ (τ − h) (n,). Raises `numpy.linalg.LinAlgError` where M is singular."""
        return solve(self.M, checked("tau", tau, len(self.qd), "the form has n") - self.h)


@dataclass(frozen=True, eq=False)
class Dynamics:
    """A mechanism's equation of motion: dynamics(q, qd, t) gives its standard form at that state.

    The base class works from the form alone; subclasses bring O(n) ways of their own.
    """

    n: int                                      # degrees of freedom, len(q̇)
    nq: int                                     # coordinates, len(q)
    name: str = "dynamics"
    friction: Friction | None = None            # F(q̇), None: no friction

    def __call__(self, q: Array, qd: Array, t: float = 0.0) -> StandardForm:
        """The terms M, C, G, F (and rest) at (q, q̇, t)."""
        raise NotImplementedError

    def F(self, qd: Array) -> Array:
        """Friction F(q̇) (n,), zero where there is none."""
        if self.friction is None:
            return np.zeros(self.n)
        return checked("F", self.friction(qd), self.n, f"{self.name} has n = {self.n}")

    def mass_matrix(self, q: Array, t: float = 0.0) -> Array:
        """M (n, n)."""
        return self(q, np.zeros(self.n), t).M

    def inverse(self, q: Array, qd: Array, qdd: Array, t: float = 0.0) -> Array:
        """Inverse dynamics: the forces τ (n,) of a motion."""
        return self(q, qd, t).forces(qdd)

    def accelerations(self, q: Array, qd: Array, tau: Array, t: float = 0.0) -> Array:
        """Forward dynamics: the accelerations q̈ (n,) under τ."""
        return self(q, qd, t).accelerations(tau)

    def energy(self, q: Array, qd: Array, t: float = 0.0) -> tuple[float, float]:
        """(K, U) [J]."""
        raise NotImplementedError

    def moving_constraint_power(self, q: Array, qd: Array, t: float = 0.0, tau: Array | None = None) -> float:
        """The power [W] that constraints moving with time feed in under τ; zero unless time enters explicitly."""
        return 0.0

    def rates(self, q: Array, qd: Array) -> Array:
        """dq/dt (nq,)."""
        return np.asarray(qd, dtype=float)

    def integrate(self, q: Array, qd: Array, dt: float) -> Array:
        """q after moving with q̇ for dt."""
        return np.asarray(q, dtype=float) + np.asarray(qd, dtype=float) * dt

    def normalized(self, q: Array) -> Array:
        """q with its quaternions on their sphere."""
        return q

    def settled(self, q: Array, qd: Array, t: float = 0.0) -> tuple[Array, Array]:
        """The state (q, q̇) that an integrator continues from after a step; constraints bring it back onto themselves."""
        return self.normalized(q), qd


@dataclass(frozen=True, eq=False)
class ModelDynamics(Dynamics):
    """The dynamics of a tree of bodies, by recursion."""

    model: Model | None = None

    def __call__(self, q: Array, qd: Array, t: float = 0.0) -> StandardForm:
        """M by `crba`, C by `coriolis`, G by `gravity`, F by the friction model."""
        qd = checked("qd", qd, self.n, f"{self.name} has n = {self.n}")
        return StandardForm(crba(self.model, q), coriolis(self.model, q, qd), gravity(self.model, q), self.F(qd), qd)

    def mass_matrix(self, q: Array, t: float = 0.0) -> Array:
        """M by `crba`."""
        return crba(self.model, q)

    def inverse(self, q: Array, qd: Array, qdd: Array, t: float = 0.0) -> Array:
        """τ = rnea + F, O(n)."""
        return rnea(self.model, q, qd, qdd) + self.F(np.asarray(qd))

    def accelerations(self, q: Array, qd: Array, tau: Array, t: float = 0.0) -> Array:
        """q̈ = aba(τ − F), O(n)."""
        tau = checked("tau", tau, self.n, f"{self.name} has n = {self.n}")
        return aba(self.model, q, qd, tau - self.F(np.asarray(qd)))

    def energy(self, q: Array, qd: Array, t: float = 0.0) -> tuple[float, float]:
        """(K, U) [J] of bodies and rotors."""
        return kinetic_energy(self.model, q, qd), potential_energy(self.model, q)

    def rates(self, q: Array, qd: Array) -> Array:
        """dq/dt (nq,), quaternion rates included."""
        return self.model.rates(q, qd)

    def integrate(self, q: Array, qd: Array, dt: float) -> Array:
        """On the manifold: `Model.integrate`."""
        return self.model.integrate(q, qd, dt)

    def normalized(self, q: Array) -> Array:
        """`Model.normalized`."""
        return self.model.normalized(q)


def of_model(model: Model, friction: Friction | None = None) -> ModelDynamics:
    """The dynamics of a tree of bodies; friction(q̇) -> F (n,) stands on the left with F·q̇ ≥ 0."""
    return ModelDynamics(model.n, model.nq, model.name, friction, model)


@dataclass(frozen=True, eq=False)
class LagrangianDynamics(Dynamics):
    """The dynamics of a Lagrangian in symbols, its terms turned into functions of numbers once."""

    terms: Mapping[str, Any] = field(default_factory=dict)      # name -> sympy expression or matrix
    arguments: tuple = ()                                       # q symbols, q̇ symbols, t

    @cached_property
    def _functions(self) -> dict[str, Callable]:
        import sympy
        return {name: sympy.lambdify(self.arguments, term, modules="numpy", cse=True) for name, term in self.terms.items()}

    def _at(self, name: str, q: Array, qd: Array, t: float) -> Array:
        q = checked("q", q, self.nq, f"{self.name} has nq = {self.nq}")
        qd = checked("qd", qd, self.n, f"{self.name} has n = {self.n}")
        return np.asarray(self._functions[name](*q, *qd, t), dtype=float)

    def __call__(self, q: Array, qd: Array, t: float = 0.0) -> StandardForm:
        """The terms at (q, q̇, t): M, C of the Christoffel symbols, G, F and the rest."""
        M, C, G, rest = (self._at(name, q, qd, t) for name in ("M", "C", "G", "rest"))
        qd = np.asarray(qd, dtype=float)
        return StandardForm(M, C, G.ravel(), self.F(qd), qd, rest.ravel())

    def energy(self, q: Array, qd: Array, t: float = 0.0) -> tuple[float, float]:
        """(K, U) [J]: K the part of L quadratic in q̇, U minus the part free of it; K + U is the energy function."""
        return float(self._at("K", q, qd, t)), float(self._at("U", q, qd, t))

    def moving_constraint_power(self, q: Array, qd: Array, t: float = 0.0, tau: Array | None = None) -> float:
        """d(K + U)/dt − (τ − F)·q̇ = −∂L/∂t [W]."""
        return float(self._at("power", q, qd, t))


def of_lagrangian(L: Any, q: Any, qd: Any, parameters: Mapping | None = None, t: Any = None,
                  friction: Friction | None = None, potential: Any = None, name: str = "Lagrangian") -> LagrangianDynamics:
    """The dynamics of L(q, q̇, t) in sympy; `parameters` maps its other symbols to numbers.

    With L = ½ q̇ᵀM q̇ + aᵀq̇ + L₀, Lagrange's equation reads M q̈ + C q̇ + G + rest = τ with

        M = ∂²L/∂q̇²,    C from the Christoffel symbols of M,    G = ∂U/∂q,
        rest_i = Σ_j (∂a_i/∂q_j − ∂a_j/∂q_i) q̇_j + ∂a_i/∂t + (∂M/∂t q̇)_i − ∂(L₀ + U)/∂q_i .

    U is `potential`, where it is given; else U is minus the part of L₀ that is free of t. A pivot that moves, a
    frame that turns: their terms end in `rest`, never in G. Coordinates: symbols, or functions of t.
    ValueError where L is not quadratic in q̇ or holds symbols that have no number.
    """
    import sympy

    from .lagrange import christoffel
    q, qd = list(q), list(qd)
    stand_in = {old: sympy.Dummy(f"x{i}", real=True) for i, old in enumerate([*qd, *q])}
    plain = [stand_in[x] for x in q], [stand_in[x] for x in qd]
    time = t if t is not None else sympy.Symbol("t")
    numbers = {key: sympy.nsimplify(value, rational=True) if isinstance(value, int) else value
               for key, value in (parameters or {}).items()}

    def slots(expression: Any) -> Any:
        expression = sympy.sympify(expression)
        for old in [*qd, *q]:           # rates first: substituting a position must not touch its derivative
            expression = expression.xreplace({old: stand_in[old]})
        return expression.xreplace(numbers)

    x, xd = (sympy.Matrix(part) for part in plain)
    L = slots(L)
    unknown = L.free_symbols - set(x) - set(xd) - {time}
    if unknown:
        raise ValueError(f"L holds {sorted(map(str, unknown))}; give each a number in parameters (or t=, if it is time)")
    M = sympy.hessian(L, list(xd))
    if M.has(*xd):
        raise ValueError("L is not quadratic in the velocities; the standard form needs L = ½ q̇ᵀM q̇ + aᵀq̇ + L₀")
    still = {v: 0 for v in xd}
    a, L0 = sympy.Matrix([L.diff(v) for v in xd]).subs(still), L.subs(still)
    free = sum((term for term in sympy.Add.make_args(sympy.expand(L0)) if not term.has(time)), sympy.S.Zero)
    U = slots(potential) if potential is not None else -free
    gyroscopic = (a.jacobian(x) - a.jacobian(x).T) * xd
    rest = gyroscopic + a.diff(time) + M.diff(time) * xd - sympy.Matrix([(L0 + U).diff(s) for s in x])
    terms = {"M": M, "C": christoffel(M, x, xd), "G": sympy.Matrix([U.diff(s) for s in x]), "rest": rest,
             "K": (xd.T * M * xd)[0] / 2, "U": -L0, "power": -L.diff(time)}
    return LagrangianDynamics(len(q), len(q), name, friction, terms, (*x, *xd, time))


# -- properties of the terms, as numbers that should vanish or be positive -------------------------------------

def asymmetry(M: Array) -> float:
    """max |M − Mᵀ| / max |M|; zero for a mass matrix, because it comes from an energy."""
    M = np.asarray(M, dtype=float)
    return float(np.max(np.abs(M - M.T), initial=0.0) / np.max(np.abs(M), initial=1e-300))


@dataclass(frozen=True, eq=False)
class Definiteness:
    """Is ½ q̇ᵀ M q̇ > 0 for every q̇ ≠ 0, and where is it least?"""

    smallest: float         # the smallest eigenvalue of M with every diagonal entry scaled to one
    motion: Array           # (n,) the velocity that moves least mass, largest entry one
    definite: bool


def definiteness(M: Array, tolerance: float = 1e-12) -> Definiteness:
    """Positive definiteness of M, free of units: by D M D with D = diag(M)^(-1/2).

    M is definite unless some motion moves no mass: a massless last link, a mass on its own axis, coordinates that are
    themselves singular. `motion` names it. A diagonal entry that is not positive is such a motion by itself.
    """
    M = np.asarray(M, dtype=float)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or not np.isfinite(M).all():
        raise ValueError(f"M must be square and finite; got shape {M.shape}")
    diagonal = M.diagonal()
    if not len(M):
        return Definiteness(np.inf, diagonal, True)
    if np.min(diagonal) <= 0:
        return Definiteness(float(min(np.min(diagonal), 0.0)), np.eye(len(M))[np.argmin(diagonal)], False)
    scale = 1 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(scale[:, None] * (M + M.T) / 2 * scale)
    motion = scale * vectors[:, 0]
    return Definiteness(float(values[0]), motion / motion[np.argmax(np.abs(motion))], bool(values[0] > tolerance))


def mass_rate(dynamics: Dynamics, q: Array, qd: Array, eps: float = 1e-6) -> Array:
    """Ṁ (n, n) along q̇, by a central difference."""
    ahead, behind = (dynamics.mass_matrix(dynamics.integrate(q, qd, step)) for step in (eps, -eps))
    return (ahead - behind) / (2 * eps)


def skew_defect(dynamics: Dynamics, q: Array, qd: Array, C: Array | None = None) -> Array:
    """N + Nᵀ of N = Ṁ − 2C (n, n): zero for a skew choice of C, such as Christoffel's; C None: that of the form.

    The difference in Ṁ leaves some 1e-9 of M. What holds for every factor of C q̇ is q̇ᵀ N q̇ = 0 alone, see `passivity_defect`.
    """
    N = mass_rate(dynamics, q, qd) - 2 * (dynamics(q, qd).C if C is None else C)
    return N + N.T


def passivity_defect(dynamics: Dynamics, q: Array, qd: Array, C: Array | None = None) -> float:
    """q̇ᵀ (Ṁ − 2C) q̇ [W]: zero for every C of the right product, so that dK/dt = q̇ᵀ(τ − G − F)."""
    return float(np.asarray(qd) @ skew_defect(dynamics, q, qd, C) @ np.asarray(qd)) / 2
