"""Lagrange's equations in symbols: from energies to M, V, C, G and the equation of motion.

Coordinates are symbols, or functions of t. A Lagrangian is a function of independent slots (q, q̇, t): every
derivative here is taken slot by slot, and only then is the motion inserted (d/dt by the chain rule).
"""

from collections.abc import Sequence
from typing import Any

import sympy
from sympy.core.function import AppliedUndef
from sympy.simplify.fu import TR8


class _Rate(sympy.Symbol):
    """A symbol for q̇ or q̈ that prints with its dots; its name stays plain (qd1, qdd1)."""

    __slots__ = ("dotted",)

    def _latex(self, printer: Any) -> str:
        return self.dotted


def coordinates(name: str | Sequence[str], n: int | None = None, t: sympy.Symbol | None = None) -> tuple:
    """(q, q̇, q̈), sympy columns (n, 1).

    name : "q" with n gives q1 … qn, rates qd1 … and accelerations qdd1 …; a sequence of names is taken as it is
           ("theta", "d" give thetad, dd and thetadd, ddd)
    t    : None for real symbols; a symbol for functions of it, whose rates are their derivatives
    """
    if isinstance(name, str):
        if not isinstance(n, int) or n < 1:
            raise ValueError(f"n must be a positive number of coordinates; got {n!r}")
        base, names = [name] * n, [f"{name}{i + 1}" for i in range(n)]
    else:
        base, names = list(name), list(name)
    if t is not None:
        q = sympy.Matrix([sympy.Function(label, real=True)(t) for label in names])
        return q, q.diff(t), q.diff(t, 2)
    q = [sympy.Symbol(label, real=True) for label in names]
    columns = [sympy.Matrix(q)]
    for letters, accent in (("d", r"\dot"), ("dd", r"\ddot")):
        column = []
        for i, (stem, label) in enumerate(zip(base, names)):
            index = f"_{{{i + 1}}}" if stem != label else ""
            rate = _Rate(f"{stem}{letters}{i + 1}" if index else f"{label}{letters}", real=True)
            rate.dotted = f"{accent}{{{sympy.latex(sympy.Symbol(stem))}}}{index}"
            column.append(rate)
        columns.append(sympy.Matrix(column))
    return tuple(columns)


def lagrange_equations(L: Any, q: Any, qd: Any, qdd: Any, t: sympy.Symbol | None = None) -> sympy.Matrix:
    """The left side (n, 1) of d/dt ∂L/∂q̇ − ∂L/∂q = τ, by the chain rule

        Σ_j (∂²L/∂q̇_i∂q̇_j q̈_j + ∂²L/∂q̇_i∂q_j q̇_j) + ∂²L/∂q̇_i∂t − ∂L/∂q_i .

    t : the time, where L holds it explicitly (a pivot that moves); coordinates that are functions of it bring it along.
    ValueError where L holds accelerations or the columns do not fit together.
    """
    slots = _Slots(q, qd, qdd, t)
    L = slots.open(L)
    x, xd, xdd = slots.columns
    if L.has(*xdd) or L.has(sympy.Derivative):
        raise ValueError("L holds accelerations or other derivatives; it may depend on q, qd and t alone")
    p = sympy.Matrix([L.diff(v) for v in xd])
    rows = p.jacobian(xd) * xdd + p.jacobian(x) * xd + p.diff(slots.t) - sympy.Matrix([L.diff(s) for s in x])
    return rows.applyfunc(lambda row: slots.close(sympy.collect(sympy.expand(row), list(xdd), tidy)))


def kinetic_matrix(K: Any, qd: Any) -> sympy.Matrix:
    """M (n, n) of K = ½ q̇ᵀ M q̇ + …: M_ij = ∂²K/∂q̇_i∂q̇_j. ValueError where K is of higher degree in q̇."""
    K, qd = sympy.sympify(K), _column("qd", qd)
    stand_in = [sympy.Dummy(real=True) for _ in qd]
    K = K.xreplace(dict(zip(qd, stand_in)))
    M = sympy.hessian(K, stand_in)
    if M.has(*stand_in):
        raise ValueError("K is not quadratic in qd: its second derivatives still hold velocities")
    return M.applyfunc(tidy)


def velocity_terms(M: Any, q: Any, qd: Any) -> sympy.Matrix:
    """V (n, 1) = Ṁ q̇ − ½ [q̇ᵀ (∂M/∂q_i) q̇]: the terms of Lagrange's equation that are quadratic in q̇."""
    slots = _Slots(q, qd)
    M, (x, xd) = slots.open(_square("M", M, len(slots.columns[0]))), slots.columns
    Mdot = sum((M.diff(s) * v for s, v in zip(x, xd)), sympy.zeros(*M.shape))
    V = Mdot * xd - sympy.Matrix([(xd.T * M.diff(s) * xd)[0] / 2 for s in x])
    return V.applyfunc(lambda row: slots.close(tidy(row)))


def gravity_terms(U: Any, q: Any) -> sympy.Matrix:
    """G (n, 1) = ∂U/∂q, which stands on the left; gravity itself acts with −G."""
    slots = _Slots(q)
    U = slots.open(U)
    return sympy.Matrix([slots.close(tidy(U.diff(s))) for s in slots.columns[0]])


def christoffel_symbols(M: Any, q: Any) -> sympy.ImmutableDenseNDimArray:
    """b_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i), an array (n, n, n) with V_i = Σ b_ijk q̇_j q̇_k, b_ijk = b_ikj."""
    slots = _Slots(q)
    M, x, n = slots.open(_square("M", M, len(slots.columns[0]))), slots.columns[0], len(slots.columns[0])
    dM = [M.diff(s) for s in x]
    return sympy.ImmutableDenseNDimArray(
        [[[slots.close(tidy((dM[k][i, j] + dM[j][i, k] - dM[i][j, k]) / 2)) for k in range(n)] for j in range(n)]
         for i in range(n)])


def christoffel(M: Any, q: Any, qd: Any) -> sympy.Matrix:
    """C(q, q̇) (n, n), C_ij = Σ_k b_ijk q̇_k: C q̇ = V, and Ṁ − 2C is skew-symmetric."""
    b, qd = christoffel_symbols(M, q), _column("qd", qd)
    return sympy.Matrix(len(qd), len(qd), lambda i, j: tidy(sum(b[i, j, k] * qd[k] for k in range(len(qd)))))


def centrifugal_coriolis(M: Any, q: Any) -> tuple[sympy.Matrix, sympy.Matrix]:
    """(C (n, n), B (n, n(n−1)/2)) of the layout V = C(q) [q̇²] + B(q) [q̇q̇].

    [q̇²] holds q̇_1² … q̇_n², [q̇q̇] the products q̇_j q̇_k, j < k, in the order (1,2), (1,3), …, (2,3), …
    C_ij = b_ijj, B_i(jk) = 2 b_ijk. This C(q) is not the matrix C(q, q̇).
    """
    b = christoffel_symbols(M, q)
    n = b.shape[0]
    pairs = [(j, k) for j in range(n) for k in range(j + 1, n)]
    return (sympy.Matrix(n, n, lambda i, j: b[i, j, j]),
            sympy.Matrix(n, len(pairs), lambda i, c: tidy(2 * b[i, pairs[c][0], pairs[c][1]])))


def constraint_jacobian(phi: Any, q: Any) -> sympy.Matrix:
    """J (m, n) = ∂φ/∂q of constraints φ (m, 1)."""
    slots = _Slots(q)
    phi = sympy.Matrix([phi]) if isinstance(phi, sympy.Expr) else sympy.Matrix(phi)
    return slots.open(phi).jacobian(slots.columns[0]).applyfunc(lambda entry: slots.close(tidy(entry)))


def tidy(expression: Any) -> Any:
    """An expression as a person would write it: products of sines made sums where that is shorter, common factors out."""
    expression = sympy.expand(expression)
    if any(_trig_degree(term) > 1 for term in sympy.Add.make_args(expression)):
        expression = min(expression, sympy.expand(TR8(expression)), key=sympy.count_ops)
    factored = sympy.factor_terms(expression)
    head, tail = factored.as_independent(sympy.Add, as_Add=False) if factored.is_Mul else (sympy.S.One, factored)
    return head * _collected(tail) if tail.is_Add else factored


def _trig_degree(term: Any) -> Any:
    """How many sines and cosines a term multiplies."""
    return sum(factor.as_base_exp()[1] for factor in sympy.Mul.make_args(term)
               if isinstance(factor.as_base_exp()[0], (sympy.sin, sympy.cos)))


def _collected(total: sympy.Add) -> Any:
    """A sum with its commonest sine or cosine, or else its commonest symbol, taken out where several terms share it."""
    for kinds in ((sympy.sin, sympy.cos), (sympy.Symbol,)):
        shared = [(sum(term.has(a) for term in total.args), str(a), a) for a in total.atoms(*kinds)
                  if all(term.as_coeff_exponent(a)[1] in (0, 1) for term in total.args)]
        candidates = [sympy.collect(total, a) for count, _, a in sorted(shared, key=lambda s: (-s[0], s[1])) if count > 1]
        if candidates:
            return min(candidates, key=sympy.count_ops)
    return total


class _Slots:
    """Replaces q, q̇, q̈ by plain symbols and back, so that derivatives are taken slot by slot."""

    def __init__(self, q: Any, qd: Any = None, qdd: Any = None, t: Any = None) -> None:
        given = [_column(name, c) for name, c in (("q", q), ("qd", qd), ("qdd", qdd)) if c is not None]
        if len({len(c) for c in given}) > 1:
            raise ValueError(f"q, qd and qdd must have one length; got {[len(c) for c in given]}")
        entries = [entry for column in given for entry in column]
        if len(set(entries)) < len(entries):
            raise ValueError(f"coordinates and rates must all differ; got {entries}")
        functions = [x for x in given[0] if isinstance(x, AppliedUndef)]
        for order, column in enumerate(given[1:], start=1):
            for x, rate in zip(given[0], column):
                if isinstance(rate, sympy.Derivative) and rate not in [x.diff(s, order) for s in x.free_symbols]:
                    raise ValueError(f"{'qd' if order == 1 else 'qdd'} holds {rate} where the derivative of {x} belongs")
        self.t = t if t is not None else functions[0].args[0] if functions else sympy.Dummy("t")
        self.columns = [sympy.Matrix([sympy.Symbol(f"_{k}{i}", real=True) for i in range(len(c))])
                        for k, c in enumerate(given)]
        pairs = [dict(zip(c, s)) for c, s in zip(given, self.columns)]
        self.forth, self.back = pairs[::-1], {s: c for pair in pairs for c, s in pair.items()}

    def open(self, expression: Any) -> Any:
        """Into slots: accelerations first, positions last, so that no derivative of a position is touched."""
        expression = sympy.sympify(expression)
        for pair in self.forth:
            expression = expression.xreplace(pair)
        return expression

    def close(self, expression: Any) -> Any:
        """Back into the caller's coordinates."""
        return expression.xreplace(self.back)


def _column(name: str, values: Any) -> sympy.Matrix:
    column = sympy.Matrix(list(values) if not isinstance(values, sympy.Expr) else [values])
    for entry in column:
        if not isinstance(entry, (sympy.Symbol, sympy.Derivative, AppliedUndef)):
            raise ValueError(f"{name} holds {entry}; wanted symbols, or functions of time and their derivatives")
    return column


def _square(name: str, M: Any, n: int) -> sympy.Matrix:
    M = sympy.Matrix(M)
    if M.shape != (n, n):
        raise ValueError(f"{name} has shape {M.shape}; with {n} coordinates wanted ({n}, {n})")
    return M
