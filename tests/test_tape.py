"""Recorded and compiled algorithms against the plain ones, and the folding rules as algebra."""

import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lagrangebook.control import impedance
from lagrangebook.forward import aba
from lagrangebook.identify import regressor
from lagrangebook.inertia import Inertia
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import biped, pendulum, puma560, rp_arm, two_link
from lagrangebook.model import Body, Joint, Model
from lagrangebook.newton_euler import rnea
from lagrangebook.simulate import simulate
from lagrangebook.spatial import Pose, solve
from lagrangebook.standard_form import of_model
from lagrangebook.tape import compiled, record
from lagrangebook.tape.recording import numpy_function, python_function
from random_models import random_state, random_tree

BACKENDS = ["python", "numpy", pytest.param("llvm", marks=pytest.mark.skipif(
    not (__import__("importlib").util.find_spec("llvmlite") and __import__("importlib").util.find_spec("numba")),
    reason="the fast extra is not installed"))]


@pytest.fixture(params=BACKENDS)
def backend(request):
    return request.param


def close(a, b):
    assert_allclose(a, b, rtol=0, atol=1e-12 * (1 + np.max(np.abs(b), initial=0)))


# -- the folding rules, as algebra -------------------------------------------------------------------------

expressions = st.recursive(
    st.sampled_from(["x", "y", "z", 0.0, 1.0, -1.0, 2.0, -0.5]),
    lambda inner: st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner) | st.tuples(st.just("neg"), inner)
    | st.tuples(st.sampled_from(["sin", "cos"]), inner), max_leaves=20)


def evaluate(expression, values):
    """An expression tree on floats or on recorded scalars."""
    if not isinstance(expression, tuple):
        return values.get(expression, expression)
    op, *args = expression
    a, *b = (evaluate(arg, values) for arg in args)
    if op in ("sin", "cos"):
        return getattr(a, op)() if hasattr(a, op) else getattr(np, op)(a)
    return -a if op == "neg" else a + b[0] if op == "+" else a - b[0] if op == "-" else a * b[0]


@settings(max_examples=150, deadline=None)
@given(expressions, st.tuples(*[st.floats(-3, 3)] * 3))
def test_folding_changes_no_value(expression, values):
    tape = record(lambda v: np.array([evaluate(expression, dict(zip("xyz", v)))]), 3)
    expected = evaluate(expression, dict(zip("xyz", values)))
    assert_allclose(python_function(tape)(values), [expected], rtol=1e-9, atol=1e-9)
    assert_allclose(numpy_function(tape)(np.array([values, values]))[1], [expected], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule, operations", [
    (lambda x, y: 0 * x, 0), (lambda x, y: 1 * x, 0), (lambda x, y: x + 0, 0), (lambda x, y: x - x, 0), (lambda x, y: -(-x), 0),
    (lambda x, y: x * y - y * x, 0), (lambda x, y: (-x) * (-y), 1), (lambda x, y: 2 * (3 * x), 1), (lambda x, y: x + (-y), 1),
    (lambda x, y: -(x - y), 1), (lambda x, y: x / 4.0, 1), (lambda x, y: (x - 1.0) + 1.0, 0),
    (lambda x, y: (x + y) * (x + y), 2), (lambda x, y: x * (1.5 * y) - y * (1.5 * x), 0), (lambda x, y: x**3 / x**0, 2)])
def test_each_folding_rule_saves_what_it_promises(rule, operations):
    assert record(lambda v: np.array([rule(*v)]), 2).operations == operations


def test_what_no_output_needs_is_not_computed():
    tape = record(lambda v: np.array([v[0] + v[1]]) + 0 * np.sum(v**5), 2)
    assert tape.operations == 1


def test_branches_on_values_cannot_be_recorded():
    with pytest.raises(TypeError, match="no truth value"):
        record(lambda v: np.array([v[0] if v[0] > 0 else v[1]]) if False else np.array([v[0] or v[1]]), 2)
    with pytest.raises(ZeroDivisionError):
        record(lambda v: v / 0.0, 1)
    with pytest.raises(ValueError, match="constant nan"):
        record(lambda v: v + np.nan, 1)


def test_a_recorded_solve_solves():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    A, b = A @ A.T + np.eye(4), rng.normal(size=4)
    tape = record(lambda a, v: solve(a, v), (4, 4), 4)
    close(python_function(tape)(A.ravel(), b), np.linalg.solve(A, b))


def test_a_recorded_kkt_system_keeps_its_constraint():
    """The tip of an arm on a vertical line: M, J and the bias recorded with the solve, full rank."""
    from lagrangebook.kinematics import point_bias, point_jacobian
    arm, r = two_link(), (0.4, 0, 0)

    def kkt(q, qd, tau):
        M, J = crba(arm, q), point_jacobian(arm, q, 1, r)[:1]
        free = solve(M, tau - rnea(arm, q, qd, 0 * qd))
        lam = solve(J @ solve(M, J.T), -(point_bias(arm, q, qd, 1, r)[:1] + J @ free))
        return np.concatenate([free + solve(M, J.T) @ lam, lam])

    tape, (q, qd, tau) = record(kkt, 2, 2, 2), np.random.default_rng(1).normal(size=(3, 2))
    result = np.array(python_function(tape)(q, qd, tau))
    close(result[:2], kkt(q, qd, tau)[:2])
    assert_allclose(point_jacobian(arm, q, 1, r)[:1] @ result[:2] + point_bias(arm, q, qd, 1, r)[:1], 0, atol=1e-12)


# -- compiled models ---------------------------------------------------------------------------------------

@pytest.fixture(params=["puma", "tree", "small tree"])
def model(request):
    return {"puma": lambda: puma560(rotors=True), "tree": lambda: random_tree(np.random.default_rng(3), 7, rotor=True),
            "small tree": lambda: random_tree(np.random.default_rng(5), 4)}[request.param]()


def test_every_algorithm_equals_the_plain_one(model, backend, rng):
    fast = compiled(model, backend)
    assert fast.backend == backend
    for _ in range(5):
        q, qd, x = random_state(model, rng)
        close(fast.rnea(q, qd, x), rnea(model, q, qd, x))
        close(fast.crba(q), crba(model, q))
        close(fast.coriolis(q, qd), coriolis(model, q, qd))
        close(fast.gravity(q), gravity(model, q))
        close(fast.forward(q, qd, x), aba(model, q, qd, x))
        close(fast.regressor(q, qd, x), regressor(model, q, qd, x))
        close(fast.energy(q, qd), of_model(model).energy(q, qd))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 200])
def test_batches_of_any_size(backend, rng, count):
    model = random_tree(np.random.default_rng(3), 5)
    fast, states = compiled(model, backend), [random_state(model, rng) for _ in range(count)]
    q, qd, x = (np.array([s[k] for s in states]).reshape(count, size) for k, size in ((0, model.nq), (1, model.n), (2, model.n)))
    for method, plain in ((fast.rnea, rnea), (fast.forward, aba)):
        out = np.full((count, model.n), np.nan)
        assert method(q, qd, x, out=out) is out
        for row, state in zip(out, states):
            close(row, plain(model, *state))
    for row, (state, *_) in zip(fast.crba(q), states):
        close(row, crba(model, state))


def test_wrenches_from_outside(model, backend, rng):
    fast, (q, qd, x) = compiled(model, backend), random_state(model, rng)
    name = model.bodies[2].name
    external = {1: rng.normal(size=6), name: rng.normal(size=6)}
    close(fast.rnea(q, qd, x, external=external), rnea(model, q, qd, x, external))
    close(fast.forward(q, qd, x, external=external), aba(model, q, qd, x, external))
    pushes = rng.normal(size=(9, 6))
    batch = fast.rnea(*(np.tile(v, (9, 1)) for v in (q, qd, x)), external={1: pushes})
    close(batch[4], rnea(model, q, qd, x, {1: pushes[4]}))


@pytest.mark.parametrize("size", [1e2, 1e4, 1e6, 1e12])
def test_angles_of_any_size(backend, size):
    rng = np.random.default_rng(1)
    q, qd, x = rng.uniform(-size, size, (17, 6)), rng.normal(size=(17, 6)), rng.normal(size=(17, 6))
    fast = compiled(puma560(), backend)
    for row, single, state in zip(fast.rnea(q, qd, x), (fast.rnea(*s) for s in zip(q, qd, x)), zip(q, qd, x)):
        expected = rnea(puma560(), *state)
        assert_allclose(row, expected, atol=1e-11)
        assert_allclose(single, expected, atol=1e-11)


def test_inputs_of_other_layouts_and_kinds(backend, rng):
    fast, (q, qd, x) = compiled(puma560(), backend), rng.normal(size=(3, 6))
    expected = rnea(puma560(), q, qd, x)
    strided = np.repeat(q, 2)[::2]
    close(fast.rnea(strided, list(qd), x.astype(np.float64, order="F")), expected)
    close(fast.rnea(np.array([0, 1, 0, 1, 0, 1]), qd, x), rnea(puma560(), [0, 1, 0, 1, 0, 1], qd, x))
    frozen = q.copy()
    frozen.flags.writeable = False
    close(fast.rnea(frozen, qd, x), expected)
    fortran = np.asfortranarray(np.tile(q, (9, 1)))
    close(fast.gravity(fortran)[3], gravity(puma560(), q))


def test_bad_input_is_named(backend, rng):
    fast, (q, qd, x) = compiled(puma560(), backend), rng.normal(size=(3, 6))
    with pytest.raises(ValueError, match=r"qd has shape \(5,\); Puma 560 wants \(6,\)"):
        fast.rnea(q, qd[:5], x)
    with pytest.raises(ValueError, match="qd must be finite"):
        fast.rnea(q, qd * np.nan, x)
    with pytest.raises(ValueError, match="out must be a contiguous float64 array of shape"):
        fast.rnea(q, qd, x, out=np.empty(7))
    with pytest.raises(ValueError, match="out must be a contiguous float64 array"):
        fast.rnea(q, qd, x, out=np.empty(12)[::2])
    with pytest.raises(ValueError, match="out must be a contiguous float64 array"):
        fast.crba(q, out=np.empty((6, 12))[:, ::2])
    with pytest.raises(ValueError, match="q holds complex128"):
        fast.gravity(q + 1j)
    with pytest.raises(ValueError, match="backend 'fortran' is not known"):
        compiled(puma560(), "fortran")
    with pytest.raises(ValueError, match="quaternion"):
        compiled(biped(), backend).gravity(np.ones(19))


def test_a_joint_with_nothing_to_move_is_refused_when_replayed(backend):
    empty = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    hand = Inertia(1.0, np.array([0, 0, 0.1]), np.diag([0.02, 0.03, 0.01]))
    wrist = compiled(Model((Body("roll", -1, Joint("revolute"), Pose(), empty),
                            Body("pitch", 0, Joint("revolute", (0, 1, 0)), Pose(), empty),
                            Body("hand", 1, Joint("revolute"), Pose(), hand))), backend)
    q, tau = np.array([0.1, 0.8, 0.3]), np.array([0.1, -0.2, 0.05])
    close(wrist.forward(q, np.zeros(3), tau), aba(wrist.model, q, np.zeros(3), tau))
    with pytest.raises(np.linalg.LinAlgError, match="'roll' has no inertia to move"):
        wrist.forward(np.array([0.1, 0.0, 0.3]), np.zeros(3), tau)
    wrist.rnea(np.array([0.1, 0.0, 0.3]), np.zeros(3), tau)


def test_a_compiled_model_is_a_dynamics_like_any_other(backend):
    fast = compiled(of_model(rp_arm(), friction=lambda qd: 0.3 * np.asarray(qd)), backend)
    plain = of_model(rp_arm(), friction=lambda qd: 0.3 * np.asarray(qd))
    q, qd, qdd = [0.6, 0.8], [1.1, 0.4], [0.7, -0.3]
    close(fast(q, qd).forces(qdd), plain(q, qd).forces(qdd))
    close(fast.inverse(q, qd, qdd), plain.inverse(q, qd, qdd))
    t = np.linspace(0, 0.2, 41)
    close(simulate(fast, q, qd, t).q, simulate(plain, q, qd, t).q)


def test_a_lagrangian_in_symbols_compiles_too(backend):
    import sympy
    from lagrangebook.lagrange import coordinates
    from lagrangebook.standard_form import of_lagrangian
    t = sympy.Symbol("t")
    q, qd, _ = coordinates("q", 2)
    L = ((2 + sympy.cos(q[1])) * qd[0]**2 + qd[1]**2 * (1 + q[0]**2)) / 2 + sympy.sin(3 * t) * qd[0] * q[1] - 9.81 * sympy.cos(q[0])
    plain, rng = of_lagrangian(L, q, qd, t=t), np.random.default_rng(3)
    fast = compiled(plain, backend)
    for x, v, a in rng.normal(size=(5, 3, 2)):
        close(fast.inverse(x, v, a, 0.7), plain.inverse(x, v, a, 0.7))
        close(fast.energy(x, v, 0.7), plain.energy(x, v, 0.7))
        close(fast.moving_constraint_power(x, v, 0.7), plain.moving_constraint_power(x, v, 0.7))


def test_threads_do_not_disturb_each_other(backend):
    fast, rng = compiled(puma560(), backend), np.random.default_rng(2)
    states = rng.normal(size=(8, 3, 6))
    expected, wrong = [rnea(puma560(), *s) for s in states], []

    def work(k):
        for _ in range(100):
            if not np.allclose(fast.rnea(*states[k]), expected[k], atol=1e-12):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_kernels_are_shared_by_models_of_equal_content():
    from lagrangebook.tape import compiled as module_function
    from lagrangebook.tape.compiled import _kernel
    assert module_function(two_link()).model is not module_function(two_link()).model
    assert _kernel(two_link(), "rnea", "python") is _kernel(two_link(), "rnea", "python")
    assert _kernel(two_link(), "rnea", "python") is not _kernel(two_link(m1=4.0), "rnea", "python")


def test_steps_inside_the_compiled_code_are_those_of_simulate():
    pytest.importorskip("numba")
    for model in (puma560(rotors=True), random_tree(np.random.default_rng(3), 5)):
        q, qd, tau = random_state(model, np.random.default_rng(0))
        inside, rates, status = compiled(model).rk4(q, qd, tau, 1e-3, 50)
        outside = simulate(of_model(model), q, qd, np.linspace(0, 0.05, 51), tau=tau)
        assert status == "finished"
        close(inside, outside.q)
        close(rates, outside.qd)
    q, _, status = compiled(pendulum(1)).rk4([0.0], [1e200], [1e250], 1e60, 50)
    assert status == "diverged" and np.isfinite(q).all()
    with pytest.raises(ValueError, match="use simulate"):
        compiled(pendulum(1), "python").rk4([0.0], [0.0], [0.0], 1e-3, 5)


def test_long_trees_run_as_loops_over_arrays(rng, monkeypatch):
    """A tree whose straight-line code would be too long; the loops also on a short one, against the plain algorithms."""
    pytest.importorskip("numba")
    from lagrangebook.tape.array_kernels import aba as loop_aba
    from lagrangebook.tape.array_kernels import arrays_of
    monkeypatch.setattr(sys.modules["lagrangebook.tape.compiled"], "LONG", 500)
    model = random_tree(np.random.default_rng(50), 50, kinds=("revolute", "prismatic", "fixed"), rotor=True)
    fast = compiled(model)
    from lagrangebook.tape.compiled import _kernel
    assert all(_kernel(model, name, "llvm").arrays is not None for name in ("rnea", "forward", "crba"))
    q, qd, x = random_state(model, rng)
    for value, expected in ((fast.rnea(q, qd, x), rnea(model, q, qd, x)), (fast.gravity(q), gravity(model, q)),
                            (fast.crba(q), crba(model, q)), (fast.forward(q, qd, x), aba(model, q, qd, x))):
        close(value, expected)
    batch = fast.rnea(*(np.array([v, v]) for v in (q, qd, x)))
    close(batch[1], rnea(model, q, qd, x))
    with pytest.raises(ValueError, match="q must be finite"):
        fast.rnea(q * np.nan, qd, x)
    short = pendulum(2)
    out = np.empty((1, 2))
    assert loop_aba(arrays_of(short), np.full(2, 1e9), np.zeros((1, 2)), np.zeros((1, 2)), np.ones((1, 2)), out) == -1


# -- the regressor -----------------------------------------------------------------------------------------

def test_the_regressor_times_the_parameters_is_the_inverse_dynamics(rng):
    model = random_tree(np.random.default_rng(9), 7, rotor=True)
    pi = np.concatenate([body.inertia.parameters for body in model.bodies])
    rotors = np.concatenate([np.full(body.joint.n, body.joint.rotor) for body in model.bodies])
    q, qd, qdd = random_state(model, rng)
    close(regressor(model, q, qd, qdd, rotor=True) @ np.concatenate([pi, rotors]), rnea(model, q, qd, qdd))
    ref = rng.normal(size=model.n)
    expected = crba(model, q) @ qdd + coriolis(model, q, qd) @ ref + gravity(model, q)
    close(regressor(model, q, qd, qdd, qd_ref=ref, rotor=True) @ np.concatenate([pi, rotors]), expected)
    viscous, coulomb = rng.uniform(0, 1, (2, model.n))
    Y = regressor(model, q, qd, qdd, friction=True)
    close(Y[:, 10 * model.N:] @ np.concatenate([viscous, coulomb]), viscous * qd + coulomb * np.sign(qd))


def test_the_regressor_of_the_reference_arms():
    from reference import load, model_of
    cases = [case for case in load("open_1_open_chains")["cases"] if "regressor" in case]
    assert cases
    for case in cases:
        model, data = model_of(case["model"]), case["regressor"]
        parameters = np.concatenate([body.inertia.parameters for body in model.bodies])
        assert_allclose(parameters, data["parameters"], atol=1e-12)
        for state in case["states"][:5]:
            tau = regressor(model, state["q"], state["qd"], state["qdd"]) @ data["parameters"]
            assert_allclose(tau, state["tau_rnea"], atol=1e-9 * (1 + np.max(np.abs(tau))))


# -- any function, recorded and replayed -------------------------------------------------------------------

def test_a_recorded_feedback_law_replays_as_the_law_itself():
    arm, rng = two_link(), np.random.default_rng(5)
    law = impedance(arm, "forearm", (0.4, 0, 0), (0.5, 0.3, 0), np.diag([400.0, 300.0, 0]), np.diag([60.0, 40.0, 0]))
    tape = record(lambda q, qd: law(0.0, q, qd), 2, 2)
    for q, qd in rng.normal(size=(20, 2, 2)):
        assert_allclose(tape.replay(q, qd), law(0.0, q, qd), rtol=1e-12, atol=1e-11)


def test_a_replay_refuses_what_is_no_number():
    tape = record(lambda x: 1 / x, 1)
    assert_allclose(tape.replay([4.0]), [0.25])
    with pytest.raises(ValueError, match="not finite"):
        tape.replay([0.0])
    with pytest.raises(ValueError, match="recorded with"):
        tape.replay([1.0, 2.0])
    matrix = record(lambda a: solve(np.array([[a[0], a[1]], [a[1], a[0]]]), np.array([1.0, 0.0])), 2)
    assert_allclose(matrix.replay([2.0, 1.0]), [2 / 3, -1 / 3])
    with pytest.raises(ValueError, match="not finite"):
        matrix.replay([1.0, 1.0])
