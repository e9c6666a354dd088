"""A model's algorithms, recorded and compiled: the same numbers, faster."""

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..forward import aba
from ..identify import regressor
from ..kinematics import kinetic_energy, potential_energy
from ..mass_matrix import coriolis, crba, gravity
from ..model import QUATERNION, Model
from ..newton_euler import rnea
from ..spatial import Array
from ..standard_form import Friction, LagrangianDynamics, ModelDynamics, StandardForm
from .recording import Tape, numpy_function, python_function, record

BACKENDS = ("llvm", "numpy", "python")
PIVOT = 1e-11               # a pivot this small beside its joint's composite inertia is none
LONG = 30_000               # operations above which loops over arrays take the place of straight-line code
LOOPS = ("rnea", "gravity", "forward", "crba")
NONE = np.empty(0)

# name: (algorithm, its vectors, shape of the result from the number of bodies and degrees of freedom)
ALGORITHMS: dict[str, tuple[Callable, tuple[str, ...], Callable]] = {
    "rnea": (rnea, ("q", "qd", "qdd"), lambda N, n: (n,)),
    "crba": (crba, ("q",), lambda N, n: (n, n)),
    "coriolis": (coriolis, ("q", "qd"), lambda N, n: (n, n)),
    "gravity": (gravity, ("q",), lambda N, n: (n,)),
    "forward": (aba, ("q", "qd", "tau"), lambda N, n: (n,)),
    "regressor": (regressor, ("q", "qd", "qdd"), lambda N, n: (n, 10 * N)),
    "energies": (lambda model, q, qd: np.array([kinetic_energy(model, q, qd), potential_energy(model, q)]), ("q", "qd"),
                 lambda N, n: (2,)),
    "derivative": (lambda model, q, qd, tau: _derivative(model, q, qd, tau), ("q", "qd", "tau"), None),
}


def _derivative(model: Model, q: Array, qd: Array, tau: Array) -> Array:
    """(dq/dt, q̈) with the quaternions of q brought to norm one first: the right side that integrators call."""
    parts = model.coordinates(q=q)
    for i, body in model.outward:
        if body.joint.kind in QUATERNION:
            quat = parts[i][QUATERNION[body.joint.kind]]
            parts[i] = parts[i].copy()
            parts[i][QUATERNION[body.joint.kind]] = quat / (quat @ quat).sqrt()
    q = model.stack(parts)
    return np.concatenate([model.rates(q, qd), aba(model, q, qd, tau)])

_kernels: dict[tuple, "_Kernel"] = {}
_lock = threading.Lock()


class _Kernel:
    """One algorithm of one model on one back end, for one state and for batches."""

    def __init__(self, model: Model, name: str, backend: str, loaded: tuple[int, ...]) -> None:
        algorithm, self.names, shape = ALGORITHMS[name]
        self.model, self.name, self.backend, self.shape = model, name, backend, (shape or (lambda N, n: (model.nq + n,)))(model.N, model.n)
        self.algorithm, self.loaded = algorithm, loaded
        self.sizes = [model.nq if vector == "q" else model.n for vector in self.names] + [6 * len(loaded)] * bool(loaded)

        def run(*vectors: Array) -> Array:
            if name != "derivative":
                self._watch_quaternions(vectors[0])
            if not loaded:
                return algorithm(model, *vectors)
            return algorithm(model, *vectors[:-1], dict(zip(loaded, vectors[-1].reshape(-1, 6))))

        self.size = int(np.prod(self.shape))
        self.tape: Tape = record(run, *self.sizes)
        self.arrays: tuple | None = None
        if backend == "llvm" and name in LOOPS and not loaded and self.tape.operations > LONG:
            from .array_kernels import arrays_of, suits
            self.arrays = arrays_of(model) if suits(model) else None
        self.limits = {dof: PIVOT * scale for dof, scale in enumerate(self._composites())} if self.tape.guards else {}
        self._addresses: dict[bool, int] = {}
        self._function: Callable | None = None

    def _watch_quaternions(self, q: Array) -> None:
        """A guard for each quaternion: (1e-6)² − ((|quat|² − 1)/2)² stays positive while its norm is one within 1e-6."""
        for i, body in self.model.outward:
            if body.joint.kind in QUATERNION:
                quat = q[self.model.slice_q(i)][QUATERNION[body.joint.kind]]
                (1e-12 - ((quat @ quat - 1) / 2)**2).guard(self.model.n + i)

    def _composites(self) -> Array:
        """The diagonal of M, largest of three poses: what a pivot is held against."""
        poses = [self.model.integrate(self.model.zero, np.random.default_rng(k).normal(size=self.model.n), 1.0) for k in range(3)]
        return np.max([crba(self.model, q).diagonal() for q in poses], axis=0)

    def address(self, batch: bool) -> int:
        """Where the machine code is; made at the first call."""
        if batch not in self._addresses:
            from .machine_code import compile_tape
            self._addresses[batch] = compile_tape(self.tape, self.limits, batch)
        return self._addresses[batch]

    def run(self, rows: list[Array], count: int, out: Array, single: bool) -> float:
        """Fill `out`, flat; the flag is 0 where all is well."""
        if self.arrays is not None:
            return self._loops(rows, out.reshape(count, *self.shape))
        if self.backend == "llvm":
            from .machine_code import call_batch
            flat = [*(row.reshape(-1) for row in rows), NONE, NONE, NONE, NONE][:4]
            return call_batch(self.address(not single), count, *flat, out.reshape(-1))
        if self._function is None:
            self._function = (python_function if self.backend == "python" else numpy_function)(self.tape)
        if self.backend == "python":
            results = np.array([self._function(*(row[k] for row in rows)) for k in range(count)]).reshape(count, -1)
        else:
            results = self._function(*rows)
        out.reshape(count, self.size)[:] = results[:, :self.size]
        if not np.isfinite(results).all():
            return float("nan")
        pivots = results[:, self.size:]
        return -1.0 if pivots.size and (pivots < [self.limits.get(dof, 0.0) for dof in self.tape.guards]).any() else 0.0

    def _loops(self, rows: list[Array], out: Array) -> float:
        """The array kernels of a long tree."""
        from . import array_kernels
        if self.name == "rnea":
            return array_kernels.rnea(self.arrays, *rows, out)
        if self.name == "forward":
            return array_kernels.aba(self.arrays, np.array([*self.limits.values()]), *rows, out)
        if self.name == "gravity":
            return array_kernels.rnea(self.arrays, rows[0], 0 * rows[0], 0 * rows[0], out)
        weightless = (*self.arrays[:-1], np.zeros(3))
        for q, M in zip(rows[0], out):              # column j: the forces of a unit acceleration, without gravity
            array_kernels.rnea(weightless, np.tile(q, (len(M), 1)), np.zeros_like(M), np.eye(len(M)), M)
            M[:] = (M + M.T) / 2
        return 0.0 if np.isfinite(out).all() else float("nan")

    def __call__(self, vectors: tuple, external: Mapping | None, out: Array | None) -> Array:
        """Check, convert, run, and say what is wrong by the plain algorithm's own words."""
        rows = [np.asarray(vector) for vector in vectors]
        for name, row in zip(self.names, rows):
            if row.dtype.kind not in "iuf":
                raise ValueError(f"{name} holds {row.dtype}; wanted real numbers")
        single = rows[0].ndim == 1
        count = 1 if single else len(rows[0])
        for name, row, size in zip(self.names, rows, self.sizes):
            wanted = (size,) if single else (count, size)
            if row.shape != wanted:
                raise ValueError(f"{name} has shape {row.shape}; {self.model.name} wants {wanted}"
                                 + ("" if single else " for this batch"))
        rows = [np.require(row, float, ("C", "W")).reshape(count, size) for row, size in zip(rows, self.sizes)]
        if self.loaded:
            given = {self.model.index(body): np.asarray(f, dtype=float) for body, f in external.items()}
            rows.append(np.ascontiguousarray(np.concatenate([np.broadcast_to(given[i], (count, 6)) for i in self.loaded], axis=1)))
        shape = self.shape if single else (count, *self.shape)
        if out is None:
            out = np.empty(shape)
        elif not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != float or not out.flags.c_contiguous:
            raise ValueError(f"out must be a contiguous float64 array of shape {shape}; "
                             f"got {getattr(out, 'dtype', type(out))} of shape {np.shape(out)}")
        if count and self.run(rows, count, out, single) != 0:
            self._explain(rows, count)
        return out

    def _explain(self, rows: list[Array], count: int) -> None:
        """Something was not finite or could not move: the plain algorithm names it."""
        for k in range(count):
            vectors = [row[k] for row in rows[:len(self.names)]]
            extra = ({i: rows[-1][k, 6 * j:6 * j + 6] for j, i in enumerate(self.loaded)},) if self.loaded else ()
            result = self.algorithm(self.model, *vectors, *extra)
            if not np.isfinite(result).all():
                raise ValueError(f"state {k}: {self.name} of {self.model.name} is not finite")
        if self.limits:
            raise np.linalg.LinAlgError(f"a joint of {self.model.name} has no inertia to move")


def _kernel(model: Model, name: str, backend: str, loaded: tuple[int, ...] = ()) -> _Kernel:
    """The kernel of a model's content, made once in the process."""
    key = (model.digest, name, backend, loaded)
    with _lock:
        if key not in _kernels:
            _kernels[key] = _Kernel(model, name, backend, loaded)
        return _kernels[key]


@dataclass(frozen=True, eq=False)
class Compiled(ModelDynamics):
    """The dynamics of a model on compiled kernels; use it wherever a Dynamics goes.

    Methods take one state, vectors (n,), or a batch, arrays (batch, n), and an optional contiguous float64 `out`.
    Errors are those of the plain algorithms: what is not finite, or has nothing to move, is named.
    """

    backend: str = "python"

    def _method(self, name: str) -> Callable:
        """The method of an algorithm: a fast lane for contiguous float64 vectors with `out`, else the general way."""
        kernel, model = _kernel(self.model, name, self.backend), self.model
        count = len(kernel.names)

        def general(vectors: tuple, out: Array | None, external: Mapping | None) -> Array:
            if external:
                loaded = tuple(sorted(model.index(body) for body in external if model.index(body) >= 0))
                if loaded:
                    return _kernel(model, name, self.backend, loaded)(vectors, external, out)
            return kernel(vectors, None, out)

        if self.backend == "python" and count == 3 and len(kernel.shape) == 1:
            return self._plain_lane(kernel, general)
        if self.backend != "llvm" or kernel.arrays is not None:
            if count == 1:
                return lambda q, out=None: general((q,), out, None)
            if count == 2:
                return lambda q, qd, out=None: general((q, qd), out, None)
            return lambda q, qd, x, out=None, external=None: general((q, qd, x), out, external)
        from . import machine_code
        address, shape = kernel.address(False), kernel.shape
        sizes, call = machine_code.packed(kernel.sizes, kernel.size), getattr(machine_code, f"call_{count}")

        if count == 3:
            def method(q: Array, qd: Array, x: Array, out: Array | None = None, external: Mapping | None = None) -> Array:
                if external is None:
                    try:
                        result = np.empty(shape) if out is None else out
                        if call(address, sizes, q, qd, x, result) == 0:
                            return result
                    except (TypeError, AttributeError):     # a batch, a list, another dtype or layout
                        pass
                return general((q, qd, x), out, external)
        elif count == 2:
            def method(q: Array, qd: Array, out: Array | None = None) -> Array:
                try:
                    result = np.empty(shape) if out is None else out
                    if call(address, sizes, q, qd, result) == 0:
                        return result
                except (TypeError, AttributeError):
                    pass
                return general((q, qd), out, None)
        else:
            def method(q: Array, out: Array | None = None) -> Array:
                try:
                    result = np.empty(shape) if out is None else out
                    if call(address, sizes, q, result) == 0:
                        return result
                except (TypeError, AttributeError):
                    pass
                return general((q,), out, None)
        return method

    def _plain_lane(self, kernel: _Kernel, general: Callable) -> Callable:
        """The "python" back end's quick way for one state in arrays: nothing but the generated function."""
        function, size, n, nq = python_function(kernel.tape), kernel.size, self.n, self.nq

        def method(q: Array, qd: Array, x: Array, out: Array | None = None, external: Mapping | None = None) -> Array:
            if external is None and out is None:
                try:
                    a, b, c = q.tolist(), qd.tolist(), x.tolist()
                    if len(a) == nq and len(b) == len(c) == n:
                        result = np.array(function(a, b, c))
                        if len(result) == size and math.isfinite(result.dot(result)):
                            return result
                except (AttributeError, TypeError, ValueError, OverflowError, ZeroDivisionError):
                    pass
            return general((q, qd, x), out, external)
        return method

    def __getattr__(self, name: str) -> Any:
        """rnea, crba, coriolis, gravity, forward, regressor: made at the first use and kept."""
        if name not in ALGORITHMS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        method = self._method(name)
        object.__setattr__(self, name, method)
        return method

    def rk4(self, q0: Array, qd0: Array, tau: Array, dt: float, steps: int) -> tuple[Array, Array, str]:
        """(q (steps + 1, nq), qd (steps + 1, n), status): classical Runge–Kutta that never leaves the compiled code.

        tau is constant (n,) or one row per step (steps, n). Status "diverged": cut off at the last finite state. Needs the
        "llvm" back end and no friction model (ValueError otherwise); `simulate` takes everything else.
        """
        if self.backend != "llvm" or self.friction is not None:
            raise ValueError(f"rk4 runs inside machine code, without friction; this one has backend {self.backend!r} and "
                             f"friction {self.friction}: use simulate")
        kernel = _kernel(self.model, "derivative", self.backend)
        from .machine_code import rk4
        q, qd = np.empty((steps + 1, self.nq)), np.empty((steps + 1, self.n))
        q[0] = self.model.normalized(self.model.stack(self.model.coordinates(q=q0)))
        qd[0] = self.model.stack(self.model.coordinates(qd=qd0))
        drive = np.ascontiguousarray(np.atleast_2d(np.asarray(tau, dtype=float)))
        if drive.shape not in ((1, self.n), (steps, self.n)) or not np.isfinite(drive).all():
            raise ValueError(f"tau has shape {np.shape(tau)}; wanted finite numbers ({self.n},) or ({steps}, {self.n})")
        starts = [self.model.slice_q(i).start + QUATERNION[body.joint.kind].start
                  for i, body in self.model.outward if body.joint.kind in QUATERNION]
        last = rk4(kernel.address(False), self.nq, self.n, np.array(starts, dtype=np.intp), float(dt), drive, q, qd)
        return q[:last + 1], qd[:last + 1], "finished" if last == steps else "diverged"

    def __call__(self, q: Array, qd: Array, t: float = 0.0) -> StandardForm:
        """M, C, G by kernels, F by the friction model."""
        qd = np.asarray(qd, dtype=float)
        return StandardForm(self.crba(q), self.coriolis(q, qd), self.gravity(q), self.F(qd), qd)

    def mass_matrix(self, q: Array, t: float = 0.0) -> Array:
        """M by `crba`."""
        return self.crba(q)

    def inverse(self, q: Array, qd: Array, qdd: Array, t: float = 0.0) -> Array:
        """τ = rnea + F."""
        return self.rnea(q, qd, qdd) + self.F(np.asarray(qd))

    def accelerations(self, q: Array, qd: Array, tau: Array, t: float = 0.0) -> Array:
        """q̈ = forward(τ − F)."""
        return self.forward(q, qd, np.asarray(tau) - self.F(np.asarray(qd)))

    def energy(self, q: Array, qd: Array, t: float = 0.0) -> tuple[float, float]:
        """(K, U) [J]."""
        return tuple(self.energies(q, qd))


@dataclass(frozen=True, eq=False)
class CompiledLagrangian(LagrangianDynamics):
    """The dynamics of a Lagrangian in symbols, its terms recorded and compiled."""

    backend: str = "python"

    @cached_property
    def _functions(self) -> dict[str, Callable]:
        return {name: self._compile(term) for name, term in self.terms.items()}

    def _compile(self, term: Any) -> Callable:
        """A term as a function of (*q, *qd, t), recorded from what sympy prints of it."""
        import sympy
        nested = term.tolist() if isinstance(term, sympy.MatrixBase) else [term]
        functions = {name: (lambda x, name=name: getattr(x, name)()) for name in ("sin", "cos", "sqrt")}
        printed = sympy.lambdify(self.arguments, nested, modules=[functions, "math"], cse=True)
        tape = record(lambda x: np.array(printed(*x), dtype=object), len(self.arguments))
        if self.backend == "python":
            kernel = python_function(tape)
            return lambda *x: np.array(kernel(x)).reshape(tape.shape) if isinstance(term, sympy.MatrixBase) else kernel(x)[0]
        from .machine_code import call_1, compile_tape, packed
        address, sizes = compile_tape(tape, {}), packed([len(self.arguments)], len(tape.outputs))

        def function(*x: float) -> Array:
            out = np.empty(tape.shape)
            call_1(address, sizes, np.array(x, dtype=float), out.reshape(-1))
            return out if isinstance(term, sympy.MatrixBase) else out[0]
        return function


def compiled(model: Model | ModelDynamics | LagrangianDynamics, backend: str = "auto",
             friction: Friction | None = None) -> Compiled | CompiledLagrangian:
    """The dynamics of a model, or of an `of_lagrangian` form, on recorded kernels.

    backend : "llvm" (needs the `fast` extra), "numpy", "python", or "auto", which takes the best that is installed;
              the attribute `backend` says which; on "llvm", long trees of one-axis joints run as loops over arrays
    Kernels are made when first used and shared in the process by models of equal content.
    """
    if isinstance(model, ModelDynamics):
        model, friction = model.model, friction or model.friction
    symbolic = isinstance(model, LagrangianDynamics)
    if backend == "auto":
        backend = "llvm" if find_spec("llvmlite") and find_spec("numba") else "numpy"
    if backend not in BACKENDS:
        raise ValueError(f"backend {backend!r} is not known; wanted 'auto' or one of {BACKENDS}")
    if symbolic:
        return CompiledLagrangian(model.n, model.nq, model.name, friction or model.friction, model.terms, model.arguments,
                                  "llvm" if backend == "llvm" else "python")
    return Compiled(model.n, model.nq, model.name, friction, model, backend)
