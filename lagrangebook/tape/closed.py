"""Closed mechanisms on recorded kernels: constraints, and M q̈ − Jᵀλ = τ − h, J q̈ = −γ as one tape."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..constraints import ConstrainedDynamics, Symbolic, Together, constrained_accelerations, delassus
from ..mass_matrix import crba
from ..model import Model, checked
from ..spatial import Array, solve
from ..standard_form import ModelDynamics, of_model
from .compiled import PIVOT, compiled
from .recording import Tape, python_function, record


@dataclass(frozen=True, eq=False)
class CompiledConstraint:
    """A constraint on a tree whose φ, J and γ are replayed from tapes; otherwise as the constraint itself."""

    plain: Any              # Loop or Rolling
    nq: int
    n: int
    position: Callable      # q -> (φ, J), flat
    gamma: Callable         # q, q̇ -> γ

    @property
    def holonomic(self) -> Array:
        """(m,) Which rows are conditions on position."""
        return self.plain.holonomic

    def _standing(self, q: Array) -> Array:
        return np.array(self.position(checked("q", q, self.nq, "the tree has nq")))

    def phi(self, q: Array, t: float = 0.0) -> Array:
        """φ (m,)."""
        return self._standing(q)[:len(self.holonomic)]

    def J(self, q: Array, t: float = 0.0) -> Array:
        """J (m, n)."""
        return self._standing(q)[len(self.holonomic):].reshape(-1, self.n)

    def rate(self, q: Array, t: float = 0.0) -> Array:
        """b (m,), zero."""
        return np.zeros(len(self.holonomic))

    def bias(self, q: Array, qd: Array, t: float = 0.0) -> Array:
        """γ (m,)."""
        q, qd = checked("q", q, self.nq, "the tree has nq"), checked("qd", qd, self.n, "the tree has n")
        return np.array(self.gamma(q, qd))

    def integrate(self, q: Array, step: Array) -> Array:
        """q (nq,) after the motion step (n,)."""
        return self.plain.integrate(q, step)


def compiled_constraint(constraint: Any) -> Any:
    """The constraint on recorded kernels; what was written in sympy is a function already and stays."""
    if isinstance(constraint, Together):
        return Together(tuple(compiled_constraint(part) for part in constraint.parts))
    if isinstance(constraint, (CompiledConstraint, Symbolic)):
        return constraint
    nq, n = constraint.model.nq, constraint.model.n
    position = record(lambda q: np.concatenate([constraint.phi(q), constraint.J(q).ravel()]), nq)
    gamma = record(constraint.bias, nq, n)
    return CompiledConstraint(constraint, nq, n, python_function(position), python_function(gamma))


def compiled_closed(dynamics: ConstrainedDynamics, backend: str = "auto") -> ConstrainedDynamics:
    """A closed mechanism with tree and constraints on recorded kernels; rank and status as before."""
    tree = dynamics.dynamics
    tree = compiled(tree, backend) if isinstance(tree, ModelDynamics) else tree
    return replace(dynamics, dynamics=tree, constraint=compiled_constraint(dynamics.constraint))


def record_closed(model: Model, constraint: Any) -> Tape:
    """The tape of (q, q̇, τ) -> (q̈ (n,), λ (m,)) by elimination, for a J that keeps its full rank."""
    return record(lambda q, qd, tau: _eliminated(model, constraint, q, qd, tau), model.nq, model.n, model.n)


def _eliminated(model: Model, constraint: Any, q: Array, qd: Array, tau: Array) -> Array:
    J, gamma = constraint.J(q), constraint.bias(q, qd)
    return np.concatenate(constrained_accelerations(of_model(model)(q, qd), tau, J, gamma)[:2])


def closed_kernel(model: Model, constraint: Any) -> Callable:
    """(q, q̇, τ, out=None) -> q̈ (n,) and λ (m,) in one row (n + m,), as machine code (the `fast` extra).

    For a J of full rank: LinAlgError where a pivot of W = J M⁻¹Jᵀ falls below 1e-11 of what its row has
    in other poses, or the result is not finite; `constrained_accelerations` has an answer there, with its status.
    """
    from .machine_code import call_3, compile_tape, packed

    def guarded(q: Array, qd: Array, tau: Array) -> Array:
        J = constraint.J(q)
        for j, pivot in enumerate(_pivots(J @ solve(of_model(model)(q, qd).M, J.T))):
            pivot.guard(j)
        return _eliminated(model, constraint, q, qd, tau)

    wanted = {"q": model.nq, "qd": model.n, "tau": model.n}
    tape = record(guarded, *wanted.values())
    size = len(tape.outputs)
    limits = PIVOT * _largest_inverse_mass(model, constraint)
    address, sizes = compile_tape(tape, dict(enumerate(limits))), packed([*wanted.values()], size)

    def method(q: Array, qd: Array, tau: Array, out: Array | None = None) -> Array:
        row = np.empty(size) if out is None else out
        try:
            if call_3(address, sizes, q, qd, tau, row) == 0:
                return row
        except TypeError:                       # lists, whole numbers, strided views
            pass
        given = [np.array(checked(name, x, wanted[name], f"{model.name} has {wanted[name]}"), dtype=float)
                 for name, x in zip(wanted, (q, qd, tau))]
        if row.shape != (size,):
            raise ValueError(f"out has shape {row.shape}; wanted ({size},)")
        if call_3(address, sizes, *given, row) != 0:
            raise np.linalg.LinAlgError(f"{model.name}: the constraints depend on each other here, or nothing is to move")
        return row
    return method


def _pivots(A: Array) -> list:
    """D of A = L D Lᵀ: the same recorded scalars that `solve` makes."""
    L, D = np.zeros(A.shape, dtype=object), []
    for j in range(len(A)):
        D.append(A[j, j] - sum(L[j, k] * L[j, k] * D[k] for k in range(j)))
        for i in range(j + 1, len(A)):
            L[i, j] = (A[i, j] - sum(L[i, k] * L[j, k] * D[k] for k in range(j))) / D[j]
    return D


def _largest_inverse_mass(model: Model, constraint: Any) -> Array:
    """The diagonal of W (m,), largest of three poses: what a pivot is held against."""
    poses = [model.integrate(model.zero, np.random.default_rng(k).normal(size=model.n), 1.0) for k in range(3)]
    return np.max([delassus(crba(model, q), constraint.J(q)).diagonal() for q in poses], axis=0)
