"""Answers compared: what is right in any form passes, what is wrong is called by its name, and no message holds the answer."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy
from sympy import Eq, Function, Matrix, Symbol, cos, sin, sqrt, symbols

from lagrangebook import check
from lagrangebook.check import compare, key, plain
from lagrangebook.check.compare import judge, target
from lagrangebook.lagrange import coordinates, lagrange_equations
from lagrangebook.mass_matrix import coriolis, crba
from lagrangebook.mechanisms import pendulum, two_link
from lagrangebook.newton_euler import rnea
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import of_model

m, l, g, k, t = symbols("m l g k t", positive=True)
q, qd, qdd = coordinates("q", 2)


def verdict(kind, reference, answer, mistakes=(), **more):
    question = {"question": "test-1", "kind": kind, "mistakes": list(mistakes), **more}
    names = {s.name for part in np.ravel(np.array(reference, dtype=object)) for s in getattr(part, "free_symbols", ())
             if s.is_positive}
    return compare(question | {"positive": sorted(names)}, plain(reference), plain(answer), 5)


# -- equations of motion ---------------------------------------------------------------------------------------


def double_pendulum(q=q, qd=qd, qdd=qdd, half=1, weight=g, t=None):
    """Two point masses m on rods l, absolute angles from hanging down."""
    a, b = q
    K = m * l**2 * (2 * qd[0]**2 + qd[1]**2 + 2 * qd[0] * qd[1] * cos(a - b)) / 2
    rows = lagrange_equations(K + m * weight * l * (2 * cos(a) + cos(b)), q, qd, qdd, t)
    return rows + (1 - half) * Matrix([K.diff(a), K.diff(b)])


RIGHT = double_pendulum()
TARGET = target({"question": "test-1", "kind": "equation", "accelerations": ["qdd1", "qdd2"], "positive": ["m", "l", "g"]},
                plain(RIGHT), 5)


def equation(answer, reference=None, **more):
    if reference is None and not more:
        return judge(TARGET, plain(answer))
    more = {"accelerations": ["qdd1", "qdd2"]} | more
    return verdict("equation", RIGHT if reference is None else reference, answer, **more)


SOLVED = sympy.linear_eq_to_matrix(list(RIGHT), list(qdd))
FORMS = {
    "as derived": RIGHT,
    "divided by the inertia": RIGHT / (m * l**2),
    "scaled by what never vanishes": Matrix([RIGHT[0] * (2 + cos(q[0])), -3 * RIGHT[1]]),
    "in the other order": [RIGHT[1], RIGHT[0]],
    "rows combined": Matrix([RIGHT[0] + l * RIGHT[1], RIGHT[0] - RIGHT[1]]),
    "expanded": RIGHT.applyfunc(lambda row: sympy.expand(row, trig=True)),
    "as equations": [Eq(RIGHT[0], 0), Eq(0, RIGHT[1])],
    "as one equation of matrices": Eq(RIGHT, sympy.zeros(2, 1), evaluate=False),
    "solved for the accelerations": dict(zip(qdd, SOLVED[0].LUsolve(SOLVED[1]))),
    "with a row that follows from the others": [RIGHT[0], RIGHT[1], RIGHT[0] - RIGHT[1]],
    "with rounded numbers": RIGHT.applyfunc(lambda row: sympy.Float(0.1) * row),
    "with other assumptions": RIGHT.subs({s: Symbol(s.name) for s in RIGHT.free_symbols}),
    "with subscripts": RIGHT.subs({s: Symbol(s.name.replace("1", "_1")) for s in RIGHT.free_symbols}),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_equation_of_motion_is_right_in_every_form(form):
    assert equation(FORMS[form]), form


def test_coordinates_may_be_functions_of_time():
    x, xd, xdd = coordinates("q", 2, t=t)
    assert equation(double_pendulum(x, xd, xdd, t=t))
    y = Matrix([Function("q1")(Symbol("t")), Function("q2")(Symbol("t"))])
    assert equation(double_pendulum(x, xd, xdd, t=t).subs(dict(zip(x, y))))


def test_greek_letters_and_names_in_words_are_the_same():
    theta, omega = symbols("theta thetadd")
    greek = {"theta": Symbol("θ"), "thetadd": Symbol("θdd")}
    rows = m * l**2 * omega + m * g * l * sin(theta)
    assert verdict("equation", rows, rows.subs({theta: greek["theta"], omega: greek["thetadd"]}), accelerations=["thetadd"])
    alias = rows.subs(omega, Symbol("alpha"))
    assert verdict("equation", rows, alias, accelerations=["thetadd"], aliases={"alpha": "thetadd"})


NAMED = {
    "left out ½ q̇ᵀ": double_pendulum(half=0),
    "Gravity is counted twice": double_pendulum(weight=2 * g),
    "sign of gravity": double_pendulum(weight=-g),
    "Gravity is missing": double_pendulum(weight=0),
    "no velocity terms": RIGHT.subs(dict.fromkeys(qd, 0)),
    "one is missing": RIGHT[:1, :],
    "one is too many": [*RIGHT, qd[0]],
    "not linear": Matrix([RIGHT[0] * qdd[0], RIGHT[1]]),
    "does not hold qdd1": RIGHT.subs(dict.fromkeys(qdd, 0)),
    "'qddl'": RIGHT.subs(qdd[0], Symbol("qddl")),
    "True": Eq(g, g),
}


@pytest.mark.parametrize("words", NAMED)
def test_a_mistake_in_an_equation_is_named(words):
    result = equation(NAMED[words])
    assert result.passed is False and result.score == 0 and words in result.message, result


def test_one_sign_or_one_factor_at_one_symbol_is_found():
    spring = m * qdd[0] + k * q[0] - m * g
    one = {"accelerations": ["qdd1"]}
    assert "sign is wrong in the terms with k" in equation(spring.subs(k, -k), spring, **one).message
    assert "A factor 2 is lost in the terms with k" in equation(spring.subs(k, k / 2), spring, **one).message


def test_a_coordinate_is_tried_on_both_sides_of_zero():
    friction = m * qdd[0] + k * q[0]
    assert not equation(m * qdd[0] + k * sympy.Abs(q[0]), friction, accelerations=["qdd1"])
    assert equation(m * qdd[0] + k * sqrt(k**2) * q[0] / k, friction, accelerations=["qdd1"])


def test_a_mistake_of_the_question_comes_before_the_usual_ones():
    wrong = double_pendulum(half=0)
    mistakes = [{"message": "Think of K.", "data": plain(wrong), "credit": 0.25}]
    result = equation(3 * wrong, mistakes=mistakes)
    assert (result.passed, result.message, result.score) == (False, "Think of K.", 0.25)


def test_explicit_time_is_tried_at_random_times():
    length = l + Symbol("v") * t
    swing = length * qdd[0] + 2 * Symbol("v") * qd[0] + g * sin(q[0])
    assert equation(length * swing, swing, accelerations=["qdd1"])
    assert not equation(swing.subs(t, 0), swing, accelerations=["qdd1"])


def test_a_singular_mass_matrix_is_compared_by_rows():
    massless = Matrix([m * (qdd[0] + qdd[1]) + k * q[0], m * (qdd[0] + qdd[1]) + k * q[1]])
    mixed = Matrix([massless[0] + massless[1], massless[0] - massless[1]])
    assert equation(mixed, massless)
    assert not equation(Matrix([mixed[0], massless[0] - 2 * massless[1]]) + Matrix([0, k * q[0]]), massless)
    assert not equation([massless[0], 2 * massless[0]], massless)


def test_inverse_dynamics_is_compared_by_its_forces():
    tau = symbols("tau1 tau2")
    rows = [Eq(tau[i], RIGHT[i]) for i in range(2)]
    assert equation([rows[1], Eq(2 * rows[0].rhs, 2 * rows[0].lhs)], rows, accelerations=[], forces=["tau1", "tau2"])
    assert not equation([rows[0], Eq(tau[1], -RIGHT[1])], rows, accelerations=[], forces=["tau1", "tau2"])


# -- constrained systems: a bead on a circle in x and y ---------------------------------------------------------

lam = symbols("lam1 lam2")
BEAD = [m * qdd[0] - q[0] * lam[0], m * qdd[1] + m * g - q[1] * lam[0], q[0] * qdd[0] + q[1] * qdd[1] + qd[0]**2 + qd[1]**2]


def constrained(answer, reference=None, multipliers=("lam1",)):
    return equation(answer, BEAD if reference is None else reference, multipliers=list(multipliers))


def test_constrained_equations_are_compared_with_their_constraint_force():
    assert constrained([BEAD[2] * m - BEAD[1] * q[1], BEAD[0] + BEAD[1], -BEAD[1]])
    assert constrained([Symbol("λ_1").subs({}) * 0 + row.subs(lam[0], Symbol("λ_1")) for row in BEAD])
    eliminated = [q[1] * BEAD[0] - q[0] * BEAD[1], BEAD[2]]
    assert "do not determine" in constrained([sympy.expand(row) for row in eliminated]).message


def test_the_sign_of_a_multiplier_is_named():
    assert "sign of λ" in constrained([row.subs(lam[0], -lam[0]) for row in BEAD]).message


def test_a_forgotten_velocity_term_of_the_constraint_fails():
    assert not constrained([BEAD[0], BEAD[1], q[0] * qdd[0] + q[1] * qdd[1]])


def test_any_split_of_redundant_multipliers_is_right():
    twice = [row.subs(lam[0], lam[0] + lam[1]) for row in BEAD]
    both = ("lam1", "lam2")
    assert constrained([*twice, lam[0] - lam[1]], twice, both)
    assert constrained([*twice, lam[0] - 3 * lam[1] - m * g], twice, both)
    assert not constrained([row.subs(lam[0], 2 * lam[0]) for row in twice], twice, both)


# -- expressions and matrices -----------------------------------------------------------------------------------


def test_an_expression_is_compared_by_value():
    assert verdict("expression", sin(2 * q[0]), 2 * sin(q[0]) * cos(q[0]))
    assert verdict("expression", q[0]**2, sqrt(q[0]**4))
    assert verdict("expression", m * g * l, g * l * m + 0 * Symbol("x"))
    assert not verdict("expression", q[0], sympy.Abs(q[0]))


SLIPS = {
    "The sign is wrong.": (k * q[0]**2 / 2, -k * q[0]**2 / 2),
    "constant factor": (k * q[0]**2 / 2, k * q[0]**2),
    "sign is wrong in the terms with g": (k * q[0]**2 / 2 - m * g * q[0], k * q[0]**2 / 2 + m * g * q[0]),
    "terms with k are counted twice": (k * q[0]**2 / 2 - m * g * q[0], k * q[0]**2 - m * g * q[0]),
    "symbol 'Q'": (k * q[0], k * Symbol("Q")),
    "is an equation": (k * q[0], Eq(k * q[0], 0)),
    "A single value": (k * q[0], [k * q[0], 0]),
}


@pytest.mark.parametrize("words", SLIPS)
def test_a_slip_in_an_expression_is_named(words):
    reference, answer = SLIPS[words]
    result = verdict("expression", reference, answer)
    assert result.passed is False and words in result.message, result


def test_a_matrix_names_the_entry_that_differs():
    M = Matrix([[m + k, m * l * cos(q[1])], [m * l * cos(q[1]), m * l**2]])
    other = M.copy()
    other[1, 0] = 0
    assert verdict("matrix", M, M.T) and verdict("matrix", M, M.tolist())
    assert "entry (2, 1)" in verdict("matrix", M, other).message
    assert "shape (2, 1)" in verdict("matrix", M, M[:, 0]).message


def test_a_vector_may_stand_or_lie():
    v = Matrix([m * g, k * q[0]])
    assert verdict("matrix", v, v.T) and verdict("matrix", v, list(v)) and verdict("matrix", v, np.array(v.tolist()))


# -- numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [5.4166, 5.42, np.float32(5.42), sympy.Rational(65, 12), [5.4166], sympy.pi * 1.7242])
def test_a_rounded_number_is_right(answer):
    assert verdict("number", 65 / 12, answer)


NUMBERS = {
    "sign": -5.4166, "twice too large": 10.833, "half of what": 2.7083, "Degrees or radians": np.degrees(5.4166), "2π": 5.4166 / (2 * np.pi),
    "thousand": 5416.6, "factor g": 5.4166 / 9.81, "NaN": float("nan"), "infinity": np.inf, "no answer yet": None, "text": "5.42",
    "single value": [1.0, 2.0], "still holds g": g * 2, "cannot be read here": {1, 2}, "Not right.": 7.7,
}


@pytest.mark.parametrize("words", NUMBERS)
def test_a_slip_with_a_number_is_named(words):
    result = verdict("number", 65 / 12, NUMBERS[words])
    assert result.passed is False and words in result.message and "5.4" not in result.message, result


def test_a_wrong_unit_is_told_with_the_right_one():
    assert "The unit is N m." in verdict("number", 65 / 12, 5416.6, unit="N m").message


def test_integers_are_exact_and_near_mistakes_make_the_tolerance_finer():
    assert verdict("number", 120, 120.0) and not verdict("number", 120, 121)
    near = [{"message": "coarse", "data": 1.002}]
    assert not verdict("number", 1.0, 1.0015, near)
    assert verdict("number", 1.0, 1.004) and not verdict("number", 1.0, 1.006)
    assert verdict("number", 1.0, 1.02, tolerance=0.03)


def test_slips_in_vectors_and_matrices_of_numbers_are_named():
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert "transpose" in verdict("matrix", A, A.T).message
    assert "reverse order" in verdict("matrix", A[0], A[0][::-1]).message
    assert "entry (2, 2)" in verdict("matrix", A, A + np.diag([0, 1])).message
    assert "The sign is wrong." in verdict("matrix", A, -A).message
    assert verdict("matrix", [1.0, 0.0], [[1.0], [1e-9]])


def test_numbers_and_functions_are_checked_without_sympy_and_mpmath():
    """In a page they are loaded only where a cell needs them."""
    code = ("import sys; from lagrangebook.check import check; assert check('energy-1', -23.544); assert not check('energy-1', {1});"
            "assert check('energy-2', 'b'); assert not {'sympy', 'mpmath'} & set(sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(check.__file__).parents[2])


# -- functions --------------------------------------------------------------------------------------------------


def function(reference, answer, inputs, **more):
    question = {"question": "test-2", "kind": "function", "inputs": inputs, **more}
    space = {"answer_2": reference, "two_link": two_link, "arm": two_link()}
    own = key(question, space, 3)
    return compare(own, own["reference"], check.answer(question, answer, space, 3), 3)


def test_a_function_is_compared_on_hidden_inputs():
    assert function(lambda x: 2 * x, lambda x: x + x, "rng.normal(size=3)")
    assert "sign" in function(lambda x: 2 * x, lambda x: -2 * x, "rng.normal()").message
    assert "wrong for others" in function(abs, lambda x: x, "rng.normal()", calls=20).message
    assert "wrong" in function(lambda x: x > 0, lambda x: True, "rng.normal()", calls=20).message


def _modifies(x):
    x *= 2
    return x


FUNCTIONS = {
    "changes its inputs": _modifies, "returned nothing": lambda x: None, "NaN": lambda x: x * np.nan, "shape (2,)": lambda x: x[:2],
    "ZeroDivisionError": lambda x: 1 / 0, "TypeError": lambda: 0, "holds g": lambda x: [g, g, g], "other values": lambda x: x + 1,
    "twice": lambda x: 4 * x,
}


@pytest.mark.parametrize("words", FUNCTIONS)
def test_a_slip_in_a_function_is_named(words):
    result = function(lambda x: 2 * x, FUNCTIONS[words], "rng.normal(size=3)")
    assert result.passed is False and words in result.message, result


def test_a_value_is_no_function():
    assert "function is asked for" in function(lambda x: 2 * x, 3.0, "rng.normal(size=3)").message


INPUTS = "tuple(rng.normal(size=(2, 2)))"


def test_any_coriolis_matrix_with_its_properties_is_right():
    def christoffel(q, qd):
        return coriolis(two_link(), q, qd)

    def only_the_product(q, qd):
        return christoffel(q, qd) + np.outer([1, 2], [qd[1], -qd[0]])

    def transposed(q, qd):
        return christoffel(q, qd).T

    own = {"inputs": INPUTS, "property": "coriolis"}
    assert function(christoffel, christoffel, **own)
    assert "not skew" in function(christoffel, only_the_product, **own).message
    assert "C q̇ is not" in function(christoffel, transposed, **own).message
    assert function(christoffel, only_the_product, inputs=INPUTS, property="factor")


def test_a_coriolis_matrix_that_is_not_the_christoffel_one_is_right():
    """In three dimensions C + a skew(q̇) is as good as C: q̇ × q̇ = 0."""
    def skew(v):
        return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])

    def C(q, qd):
        return np.diag(q * qd)

    own = {"inputs": "tuple(rng.normal(size=(2, 3)))", "property": "coriolis"}
    assert function(C, lambda q, qd: C(q, qd) + 3 * skew(qd), **own)
    assert not function(C, lambda q, qd: C(q, qd) + 3 * skew(q), **own)


def test_any_split_of_the_multipliers_with_the_right_force_is_right():
    J = np.array([[1.0, 0], [1.0, 0]])      # the same constraint twice

    def answer(q, qd):
        return [q, [1.0, 2.0 * qd[0]]]

    own = {"inputs": INPUTS, "property": "multipliers", "jacobian": f"lambda q, qd: {J.tolist()}"}
    assert function(answer, lambda q, qd: [q, [1.0 + qd[0], qd[0]]], **own)
    assert "Jᵀλ" in function(answer, lambda q, qd: [q, [1.0, qd[0]]], **own).message


def test_the_inputs_of_a_key_and_of_an_answer_are_the_same_and_change_with_the_seed():
    question = {"question": "test-2", "kind": "function", "inputs": "(rng.normal(), 2)"}
    first, again, other = (check.arguments(question, {}, seed) for seed in (1, 1, 2))
    assert first == again != other and len(first) == 5


def test_a_function_without_inputs_is_refused_by_name():
    with pytest.raises(ValueError, match="test-2: a function needs `inputs`"):
        key({"question": "test-2", "kind": "function"}, {"answer_2": abs}, 0)


# -- motions, letters, texts ------------------------------------------------------------------------------------


def motion(times, start=(0.5,)):
    return simulate(of_model(pendulum(1)), start, [0.0], times)


def test_a_motion_is_compared_at_any_sampling():
    reference = motion(np.linspace(0, 2, 81))
    assert verdict("trajectory", reference, motion(np.linspace(0, 2, 101)))
    assert verdict("trajectory", reference, (reference.t, reference.q[:, 0]))
    assert "sign" in verdict("trajectory", reference, (reference.t, -reference.q)).message
    assert "Degrees" in verdict("trajectory", reference, (reference.t, np.degrees(reference.q))).message
    assert "from t = 0 to 1 s" in verdict("trajectory", reference, motion(np.linspace(0, 1, 41))).message
    assert "leaves the right one" in verdict("trajectory", reference, motion(np.linspace(0, 2, 81), (0.6,))).message
    assert "2 coordinates" in verdict("trajectory", reference, (reference.t, np.hstack([reference.q] * 2))).message
    assert "increasing" in verdict("trajectory", reference, (reference.t[::-1], reference.q)).message


@pytest.mark.parametrize("answer", ["b", "B", " b) ", "(b)", "b.", Symbol("b")])
def test_a_letter_may_be_written_in_many_ways(answer):
    assert verdict("choice", "b", answer, options={"a": "one", "b": "two"})


def test_a_letter_that_no_option_has_is_told():
    assert "one of a, b" in verdict("choice", "b", "e", options={"a": "one", "b": "two"}).message
    assert "letter is asked for" in verdict("choice", "b", 2, options={"a": "one", "b": "two"}).message


def test_a_text_is_left_to_a_person():
    mistakes = [{"message": "Too short.", "data": "ok"}]
    assert verdict("text", "Long.", "Whatever I think.", mistakes) == check.Verdict(None, "A person reads this.", None)
    assert verdict("text", "Long.", " OK ", mistakes).message == "Too short."
    assert verdict("text", "Long.", "  ").score == 0


# -- faults of the instructor, and the self-check ---------------------------------------------------------------


def test_a_reference_that_cannot_be_compared_is_the_instructors_fault():
    for kind, reference in (("number", float("nan")), ("number", "five"), ("equation", 3.0), ("gap", 1.0)):
        with pytest.raises(ValueError, match="test-1"):
            compare({"question": "test-1", "kind": kind}, plain(reference), 1.0)


def test_a_digest_judges_like_the_key_and_holds_no_number_of_it():
    question = {"question": "test-3", "kind": "matrix", "mistakes": [{"code": "[2.5, 7.125]", "message": "Half."}]}
    digest = check.digest(key(question, {"answer_3": [5.25, 14.5]}))
    assert "14.5" not in str(digest) and "5.25" not in str(digest)
    assert judge(digest, [5.25, 14.5]) and judge(digest, [5.26, 14.5]) and not judge(digest, [5.4, 14.5])
    assert judge(digest, [2.5, 7.125]).message == "Half."
    assert judge(digest, [-5.25, -14.5]).message == "The sign is wrong."


def test_students_check_themselves():
    assert check.check("energy-1", -3 * 9.81 * 0.8)
    assert check.check("energy-6", lambda model, q, qd, qdd: sum(rnea(model, q, qd, qdd) * qd))
    assert not check.check("energy-6", lambda model, q, qd, qdd: qd @ crba(model, q) @ qdd)
    with pytest.raises(KeyError, match="no exercise 'energy-99'"):
        check.check("energy-99", 0)
