"""Inverse dynamics is linear in the inertial parameters, τ = Y π; and what measured torques tell about π."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .inertia import Inertia
from .model import GROUND, Model
from .spatial import Array, crf, crm, skew


def regressor(model: Model, q: Array, qd: Array, qdd: Array, qd_ref: Array | None = None, friction: bool = False,
              rotor: bool = False) -> Array:
    """Y (n, 10 N) with Y π = M q̈ + C(q, q̇) q̇ + G, π the bodies' ten parameters in their order (`Inertia.parameters`).

    Body i's wrench is linear in its parameters, fᵢ = A(vᵢ, aᵢ) πᵢ; carried inward by Xᵀ it meets every ancestor's axis:

        Y_ji = S_jᵀ ʲXᵢᵀ Aᵢ

    qd_ref   : with it, Y π = M q̈ + C(q, q̇) q̇_ref + G, for adaptive control; C is that of `coriolis`
    rotor    : adds n columns diag(q̈) for reflected rotor inertias
    friction : adds 2 n columns diag(q̇), diag(sign q̇) for viscous and Coulomb coefficients
    """
    parts = model.coordinates(q=q, qd=qd, qdd=qdd, qd_ref=qd if qd_ref is None else qd_ref)
    q_, qd_, qdd_, ref = parts
    X, S, v, w, a = ([0] * (model.N + 1) for _ in range(5))
    v[GROUND] = w[GROUND] = np.zeros(6, dtype=int)
    a[GROUND] = np.concatenate([np.zeros(3, dtype=int), -model.gravity])
    blocks = [[np.zeros((body.joint.n, 10)) for _ in model.bodies] for body in model.bodies]
    for i, body in model.outward:
        X[i], S[i], _ = body.motion(q_[i], qd_[i])
        v[i] = X[i] @ v[body.parent] + S[i] @ qd_[i]
        w[i] = X[i] @ w[body.parent] + S[i] @ ref[i]
        S_ring = body.joint.axes(q_[i], qd_[i])[1]
        a[i] = X[i] @ a[body.parent] + S[i] @ qdd_[i] + S_ring @ ref[i] + crm(v[i]) @ (S[i] @ ref[i])
        A = np.stack([_wrench(E, v[i], w[i], a[i], qd_ref is not None) for E in UNIT_INERTIAS], axis=1)
        for j in model.ancestors(i):
            blocks[j][i] = S[j].T @ A
            A = X[j].T @ A
    Y = np.block([[block for block in row] for row in blocks if len(row[0])]) if model.n else np.zeros((0, 10 * model.N))
    columns = [Y]
    if rotor:
        columns.append(np.diag(model.stack(qdd_)))
    if friction:
        columns += [np.diag(model.stack(qd_)), np.diag(np.sign(model.stack(qd_)))]
    return np.hstack(columns)


def _wrench(I: Array, v: Array, w: Array, a: Array, reference: bool) -> Array:
    """I a + v ×* I v; for a reference velocity w, I a + B w with B = ½ [v ×* I − I v× + (I v) ×̄*]."""
    if not reference:
        return I @ a + crf(v) @ (I @ v)
    return I @ a + (crf(v) @ (I @ w) - I @ (crm(v) @ w) + crf(w) @ (I @ v)) / 2


def _unit_inertia(k: int) -> Array:
    """The spatial inertia (6, 6) whose k-th parameter is one and whose others are zero."""
    if k == 0:
        return np.diag([0, 0, 0, 1, 1, 1])
    if k < 4:
        c = skew(np.eye(3, dtype=int)[k - 1])
        return np.block([[np.zeros((3, 3), dtype=int), c], [c.T, np.zeros((3, 3), dtype=int)]])
    row, column = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))[k - 4]
    I = np.zeros((6, 6), dtype=int)
    I[row, column] = I[column, row] = 1
    return I


UNIT_INERTIAS = tuple(_unit_inertia(k) for k in range(10))


# -- which combinations torques depend on ------------------------------------------------------------------

NAMES = ("m", "mx", "my", "mz", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz")
KEPT_FIRST = (9, 4, 5, 7, 8, 1, 2, 3, 6, 0)     # moments before first moments before masses: the customary combinations


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The r combinations π_b = K π that torques depend on: Y = Y_b K, with Y_b the columns `kept` of Y."""

    K: Array                    # (r, p); the columns `kept` are the identity
    kept: tuple[int, ...]       # (r,) the independent columns of Y
    names: tuple[str, ...]      # (p,) of the parameters

    @property
    def rank(self) -> int:
        """How many combinations can be identified."""
        return len(self.kept)

    @property
    def expressions(self) -> list:
        """The combinations as sympy expressions, such as I_zz1 + 0.25 m2."""
        import sympy
        symbols = sympy.symbols(self.names)
        factors = [[int(round(k)) if abs(k - round(k)) < 1e-9 else sympy.Float(f"{k:.6g}") for k in row] for row in self.K]
        return [sum(k * x for k, x in zip(row, symbols) if k != 0) for row in factors]

    def values(self, pi: Array) -> Array:
        """π_b = K π (r,)."""
        return self.K @ pi

    def spread(self, pi_base: Array) -> Array:
        """A π (p,) with K π = π_b and zeros elsewhere: right torques, but as a rule no bodies."""
        pi = np.zeros(len(self.names))
        pi[list(self.kept)] = pi_base
        return pi


def base_parameters(model: Model, friction: bool = False, rotor: bool = False, seed: int = 0) -> BaseParameters:
    """The identifiable combinations of a model under its own gravity, by QR with pivoting of Y at random states.

    Y = Q R has R's rank r. The reduced row echelon form of R's first r rows is K: its pivots are the columns to keep,
    its other entries say what the dropped parameters add to them. Which columns are kept is a choice; r is not.
    """
    from scipy.linalg import qr
    rng, n, names = np.random.default_rng(seed), model.n, [f"{x}{i + 1}" for i in range(model.N) for x in NAMES]
    names += [f"{x}{j + 1}" for x in ("I_r",) * rotor + ("F_v", "F_c") * friction for j in range(n)]
    states = ((model.integrate(model.zero, rng.uniform(-np.pi, np.pi, n), 1.0), *rng.normal(size=(2, n)))
              for _ in range(2 + 2 * len(names) // max(n, 1)))
    R, order = qr(np.vstack([regressor(model, *state, friction=friction, rotor=rotor) for state in states]),
                  mode="r", pivoting=True)
    pivots = np.abs(R.diagonal())
    rank = int(np.sum(pivots > 1e-10 * pivots[0]))
    rows = np.empty((rank, len(names)))
    rows[:, order] = R[:rank]
    first = [10 * i + k for k in KEPT_FIRST for i in range(model.N)] + list(range(10 * model.N, len(names)))
    K, kept = _echelon(rows / pivots[0], first)
    return BaseParameters(K, kept, tuple(names))


def _echelon(A: Array, order: list[int]) -> tuple[Array, tuple[int, ...]]:
    """The reduced row echelon form of A (r, p), of full rank r, with columns taken as pivots in this order."""
    A, kept = A.copy(), []
    for j in order:
        row = len(kept)
        if row == len(A):
            break
        p = row + int(np.argmax(np.abs(A[row:, j])))
        if abs(A[p, j]) < 1e-9:
            continue
        A[[row, p]] = A[[p, row]]
        A[row] /= A[row, j]
        for k in range(len(A)):
            A[k] -= (k != row) * A[k, j] * A[row]
        kept.append(j)
    A[np.abs(A) < 1e-9] = 0
    return A, tuple(kept)


# -- parameters from measurements --------------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit found; `status` is "solved", "rank deficient" (errors infinite) or "limit" (not converged)."""

    pi: Array               # (p,)
    errors: Array           # (p,) standard errors; what the data do not determine has none (infinite)
    sigma: Array            # (n,) standard deviation of each joint's residual [N m | N]
    condition: float        # of the weighted regressor
    status: str


def fit(Y: Array, tau: Array, sigma: Array | None = None) -> Fit:
    """Weighted least squares: min Σ_t ‖(Y π − τ)/σ‖², cov π = (Σ YᵀΣ⁻¹Y)⁻¹, each joint with its own σ.

    Y (T, n, p), tau (T, n), sigma (n,) noise of the torques; None: taken from the residuals of an unweighted fit.
    """
    Y, tau = _data(Y, tau)
    if sigma is None:
        first = np.linalg.lstsq(Y.reshape(-1, Y.shape[2]), tau.ravel(), rcond=None)[0]
        sigma = _deviation(Y @ first - tau, Y)
    A, b = _weighted(Y, tau, sigma)
    pi, _, rank, values = np.linalg.lstsq(A, b, rcond=1e-10)
    p = Y.shape[2]
    errors = np.sqrt(np.diag(np.linalg.inv(A.T @ A))) if rank == p else np.full(p, np.inf)
    condition = float(values[0] / values[-1]) if rank == p else np.inf
    return Fit(pi, errors, _deviation(Y @ pi - tau, Y), condition, "solved" if rank == p else "rank deficient")


def fit_physical(Y: Array, tau: Array, prior: Array, bodies: int, sigma: Array, trust: float = 0.1) -> Fit:
    """The fit among parameters that bodies can have: each pseudo-inertia is J = U Uᵀ, so positive definite.

        J = [[Σ, m c], [m cᵀ, m]],   Σ = ½ tr(I) 1 − I

    Unknowns are the logarithms of U's diagonal and its other entries over √m, for each body ten; those after the bodies
    (friction, rotors) are positive by their logarithm. Directions that torques do not see stay at the physical `prior` (p,),
    of which every unknown is taken to have the standard deviation 1/trust. Errors are those of the linearised problem.
    """
    from scipy.optimize import least_squares
    Y, tau = _data(Y, tau)
    A, b = _weighted(Y, tau, sigma)
    Q, R = np.linalg.qr(A)
    start = _to_log(np.asarray(prior, dtype=float), bodies)
    found = least_squares(lambda x: np.concatenate([R @ _from_log(x, bodies) - Q.T @ b, trust * (x - start)]), start,
                          x_scale="jac", max_nfev=200)
    pi = _from_log(found.x, bodies)
    eps = 1e-6
    slope = np.stack([_from_log(found.x + eps * e, bodies) - _from_log(found.x - eps * e, bodies)
                      for e in np.eye(len(start))], axis=1) / (2 * eps)
    errors = np.sqrt(np.diag(slope @ np.linalg.inv(found.jac.T @ found.jac) @ slope.T))
    return Fit(pi, errors, _deviation(Y @ pi - tau, Y), float(np.linalg.cond(A)), "solved" if found.status > 0 else "limit")


def with_parameters(model: Model, pi: Array) -> Model:
    """The model with bodies of the parameters π (10 N,), each of which must be able to exist (ValueError)."""
    bodies = []
    for body, part in zip(model.bodies, np.reshape(pi[:10 * model.N], (-1, 10))):
        inertia = Inertia.from_parameters(part)
        inertia.require_physical(body.name)
        bodies.append(replace(body, inertia=inertia, payload=None))
    return replace(model, bodies=tuple(bodies))


def _data(Y: Array, tau: Array) -> tuple[Array, Array]:
    Y, tau = np.asarray(Y, dtype=float), np.asarray(tau, dtype=float)
    if Y.ndim != 3 or tau.shape != Y.shape[:2]:
        raise ValueError(f"Y must be (T, n, p) and tau (T, n); got {Y.shape} and {tau.shape}")
    if not (np.all(np.isfinite(Y)) and np.all(np.isfinite(tau))):
        raise ValueError("Y and tau must be finite; a sample holds nan or inf")
    return Y, tau


def _weighted(Y: Array, tau: Array, sigma: Array) -> tuple[Array, Array]:
    sigma = np.broadcast_to(np.asarray(sigma, dtype=float), tau.shape[1])
    if not np.all(sigma > 0):
        raise ValueError(f"sigma must be positive for every joint; got {sigma.tolist()}")
    return (Y / sigma[:, None]).reshape(-1, Y.shape[2]), (tau / sigma).ravel()


def _deviation(residual: Array, Y: Array) -> Array:
    """σ of each joint from its residuals (T, n), with the parameters' share of the degrees of freedom taken off."""
    T, n, p = Y.shape
    return np.maximum(np.sqrt(np.sum(residual**2, axis=0) / max(T - p / n, 1)), 1e-12)


def pseudo_inertia(pi: Array) -> Array:
    """J (4, 4) = ∫ (r, 1)(r, 1)ᵀ dm of the ten parameters; a body with volume has J ≻ 0 (Wensing, Kim and Slotine 2018)."""
    m, mx, my, mz, xx, xy, yy, xz, yz, zz = pi
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    c = np.array([[mx], [my], [mz]])
    return np.block([[np.trace(I) / 2 * np.eye(3) - I, c], [c.T, np.array([[m]])]])


UPPER = np.triu_indices(4, 1)


def _to_log(pi: Array, bodies: int) -> Array:
    """The unknowns of `fit_physical` from parameters; ValueError where a body has no positive pseudo-inertia."""
    x = []
    for i in range(bodies):
        J = pseudo_inertia(pi[10 * i:10 * i + 10])
        if np.linalg.eigvalsh(J)[0] <= 0:
            raise ValueError(f"prior of body {i} is no body with volume: its pseudo-inertia is not positive definite")
        U = np.linalg.cholesky(J[::-1, ::-1])[::-1, ::-1]
        x += [*np.log(U.diagonal()), *(U[UPPER] / U[3, 3])]
    if np.any(pi[10 * bodies:] <= 0):
        raise ValueError(f"prior of friction and rotors must be positive; got {pi[10 * bodies:].tolist()}")
    return np.array([*x, *np.log(pi[10 * bodies:])])


def _from_log(x: Array, bodies: int) -> Array:
    """Parameters π from the unknowns of `fit_physical`: J = U Uᵀ, I = tr(Σ) 1 − Σ."""
    pi = []
    for part in np.reshape(x[:10 * bodies], (-1, 10)):
        U = np.diag(np.exp(part[:4]))
        U[UPPER] = part[4:] * U[3, 3]
        J = U @ U.T
        I = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
        pi += [J[3, 3], *J[:3, 3], I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
    return np.array([*pi, *np.exp(x[10 * bodies:])])


# -- motions that excite -----------------------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class FourierMotion:
    """q = q₀ + Σ_k a_k sin(kωt) + b_k cos(kωt), a periodic motion whose derivatives are exact."""

    q0: Array           # (n,)
    a: Array            # (H, n) [rad | m]
    b: Array            # (H, n)
    omega: float        # of the first harmonic [rad/s]

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """(q, q̇, q̈), each (T, n), at the times t (T,)."""
        kw = self.omega * np.arange(1, len(self.a) + 1)
        s, c = np.sin(np.multiply.outer(t, kw)), np.cos(np.multiply.outer(t, kw))
        return self.q0 + s @ self.a + c @ self.b, (c * kw) @ self.a - (s * kw) @ self.b, -(s * kw**2) @ self.a - (c * kw**2) @ self.b

    @classmethod
    def within(cls, x: Array, limits: Array, speed: Array, omega: float) -> "FourierMotion":
        """The motion of the free numbers x ((2 H + 1) n,), shrunk until Σ_k √(a_k² + b_k²) keeps to limits and speed."""
        low, high = np.asarray(limits, dtype=float).T
        shift, a, b = x[:len(low)], *np.reshape(x[len(low):], (2, -1, len(low)))
        half = (high - low) / 2
        q0 = low + half * (1 + 0.5 * np.tanh(shift))
        kw = omega * np.arange(1, len(a) + 1)[:, None]
        size = np.hypot(a, b)
        room = np.minimum(high - q0, q0 - low)
        shrink = 1 / np.maximum(np.maximum(size.sum(axis=0) / room, (kw * size).sum(axis=0) / speed), 1)
        return cls(q0, shrink * a, shrink * b, omega)


def excitation(columns: Callable, limits: Array, speed: Array, duration: float, harmonics: int = 3, samples: int = 60,
               effort: int = 1500, seed: int = 0) -> tuple[FourierMotion, float, str]:
    """A Fourier motion with a small condition number of the stacked regressor: (motion, condition, status).

    columns(q, qd, qdd) -> (T, n, r) gives the base regressor of T states. Joints stay within limits (n, 2) and below
    speed (n,) at all times. A search over random starts and Nelder–Mead: good, not optimal; the status is "solved", or
    "limit" where `effort` evaluations came to an end first, or "singular" where no motion tried was regular.
    """
    from scipy.optimize import minimize
    limits, rng, omega = np.asarray(limits, dtype=float), np.random.default_rng(seed), 2 * np.pi / duration
    if limits.ndim != 2 or limits.shape[1] != 2 or not np.all(limits[:, 0] < limits[:, 1]):
        raise ValueError(f"limits must be (n, 2) with lowest < highest; got {limits.tolist()}")
    t, size = np.linspace(0, duration, samples, endpoint=False), (2 * harmonics + 1) * len(limits)

    def cost(x: Array) -> float:
        Y = columns(*FourierMotion.within(x, limits, speed, omega)(t))
        values = np.linalg.svd(Y.reshape(-1, Y.shape[2]), compute_uv=False)
        return float(np.log(values[0] / max(values[-1], 1e-300)))

    starts = rng.normal(size=(effort // 5, size))
    best = min(starts, key=cost)
    found = minimize(cost, best, method="Nelder-Mead", options={"maxfev": effort - len(starts), "adaptive": True})
    status = "singular" if found.fun > np.log(1e10) else "solved" if found.success else "limit"
    return FourierMotion.within(found.x, limits, speed, omega), float(np.exp(found.fun)), status
