"""The closed mechanisms of the cast: published parameters and trajectories, long runs, and recorded kernels."""

from functools import partial

import numpy as np
import pytest
import sympy
from reference import assert_close, load, model_of
from test_constraints import case_of, loops_of

from lagrangebook.constraints import assemble, constrained, constrained_accelerations, determined, rolling, singularity
from lagrangebook.forward import aba
from lagrangebook.inertia import sphere
from lagrangebook.kinematics import point, point_jacobian
from lagrangebook.mechanisms import (Mechanism, andrews, andrews_forces, bricard, five_bar, four_bar, parallelogram,
                                     slider_crank, table)
from lagrangebook.model import GROUND, Body, Joint, Model
from lagrangebook.simulate import simulate
from lagrangebook.spatial import Pose
from lagrangebook.standard_form import of_model
from lagrangebook.tape import compiled
from lagrangebook.tape.closed import closed_kernel, compiled_closed, compiled_constraint, record_closed
from lagrangebook.tape.recording import python_function, record

assert_allclose = partial(np.testing.assert_allclose, rtol=0)

PLANAR = "open_3_closed_loops_planar"
PRECISE = dict(method="DOP853", rtol=1e-11, atol=1e-12)

REFERENCE = {
    "five_bar": (PLANAR, lambda: five_bar(L=(0.35, 0.36, 0.35, 0.36), B=0.25, m=(1.1, 0.8, 1.1, 0.8))),
    "four_bar": (PLANAR, four_bar), "slider_crank": (PLANAR, slider_crank), "parallelogram": (PLANAR, parallelogram),
    "A03_andrews": (PLANAR, andrews), "A04_bricard": ("open_3_iftomm", bricard)}


@pytest.fixture(params=[five_bar, four_bar, parallelogram, slider_crank, andrews, bricard, table],
                ids=lambda make: make.__name__)
def mechanism(request):
    return request.param()


def closed_state(mechanism, rng):
    """A closed configuration near a random one, and a velocity that the loops allow."""
    model = mechanism.model
    q = assemble(mechanism.constraint, model.integrate(model.zero, rng.normal(0, 0.4, model.n), 1.0)).q
    J = mechanism.constraint.J(q)
    return q, (np.eye(model.n) - np.linalg.pinv(J, rcond=1e-9) @ J) @ rng.normal(size=model.n)


# -- published numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize("identity", REFERENCE)
def test_parameters_are_those_of_the_reference(identity):
    """M, h and φ at the reference's states, by the mechanism as the book makes it."""
    name, make = REFERENCE[identity]
    mechanism, case = make(), case_of(name, identity)
    for state in case["states"]:
        q, qd = np.array(state["q"]), np.array(state["qd"])
        form = of_model(mechanism.model)(q, qd)
        assert_close(form.M, state["M"], 1e-12)
        assert_close(form.h, state["h"], 1e-11)
        assert_close(mechanism.constraint.J(q), state["J"], 1e-12)
        assert_allclose(mechanism.constraint.phi(q), 0, atol=1e-12)


def test_andrews_mechanism_at_three_hundredths_of_a_second():
    """Published values, to their own accuracy; the loops stay closed and the energy ledger balances."""
    case, mechanism = case_of(PLANAR, "A03_andrews"), andrews()
    for state in case["states"]:
        assert_close(andrews_forces(np.array(state["q"])), state["tau"], 1e-13)
    start, published = case["states"][0], case["published_t0.03"]
    dynamics = compiled_closed(mechanism.dynamics())
    run = simulate(dynamics, start["q"], start["qd"], [0, 0.015, 0.03], tau=lambda t, q, qd: andrews_forces(q), **PRECISE)
    order = [0, 1, 2, 4, 3, 6, 5]
    end = dynamics.solve(run.q[-1], run.qd[-1], andrews_forces(run.q[-1]))
    assert_allclose(run.q[-1][order], published["q"], rtol=0, atol=2e-9)
    assert_allclose(run.qd[-1][order], published["qd"], rtol=0, atol=6e-7)
    assert_allclose(end.qdd[order], published["qdd"], rtol=2e-6)
    assert_allclose(-end.lam, published["lambda_testset"], rtol=0, atol=2e-5)
    assert_allclose(run.q[-1][order], case["trajectory"]["y_testset_order"][6], atol=1e-10)
    assert np.max(abs(run.energy.balance)) < 1e-10
    assert max(np.max(abs(mechanism.constraint.phi(q))) for q in run.q) < 1e-13


@pytest.mark.parametrize("name, identity, samples", [(PLANAR, "five_bar", 8), (PLANAR, "four_bar", 6),
                                                     (PLANAR, "slider_crank", 6), ("open_3_iftomm", "A04_bricard", 8)])
def test_trajectories_of_the_reference(name, identity, samples):
    """Bricard's mechanism has a spare row all along: projection keeps its rows in step with each other."""
    case = case_of(name, identity)
    model, expected = model_of(case["model"]), case["trajectory"]
    loops = loops_of(model, case["loops"])
    run = simulate(compiled_closed(constrained(of_model(model), loops)), expected["q"][0], expected["qd"][0],
                   expected["t"][:samples], **PRECISE)
    assert run.status == "finished"
    assert_allclose(run.q, expected["q"][:samples], atol=1e-8)
    assert_allclose(run.qd, expected["qd"][:samples], atol=1e-7)
    assert max(np.max(abs(loops.phi(q))) for q in run.q) < 1e-11
    assert np.ptp(run.energy.total) < 1e-8


def test_four_bars_pass_the_horizontal_where_they_lose_rank():
    """IFToMM A02: the regular branch is followed through the singular position, which comes twice in two seconds."""
    case = case_of("open_3_iftomm", "A02_N2")
    model, signs = model_of(case["model"]), -np.array([1, -1, 1, -1, 1])
    samples = case["trajectory"][:7]
    run = simulate(compiled_closed(constrained(of_model(model), loops_of(model, case["loops"]))),
                   samples[0]["theta"] * signs, samples[0]["thetadot"] * signs, np.linspace(0, 2, 401))
    assert max(s["theta"] for s in samples) > 3 * np.pi / 2
    for sample in samples:
        assert_allclose(run.q[round(sample["t"] * 200)], sample["theta"] * signs, atol=1e-7)


def governor_springs(model, params):
    """τ(q, q̇) of the governor's two stiff springs with dampers, between slider and mid-rods, as a recorded kernel."""
    def run(q, qd):
        tau = 0 * qd
        for x, bar in ((0.05, "rodAC"), (-0.05, "rodBD")):
            gap = point(model, q, bar, (0, 0, -0.5)) - point(model, q, "slider", (x, 0, 0))
            J = point_jacobian(model, q, bar, (0, 0, -0.5)) - point_jacobian(model, q, "slider", (x, 0, 0))
            length = (gap @ gap).sqrt()
            tau = tau - J.T @ gap / length * (params["k"] * (length - params["l0"]) + params["c"] * (gap @ (J @ qd)) / length)
        return tau
    kernel = python_function(record(run, model.nq, model.n))
    return lambda q, qd: np.array(kernel(q, qd))


def test_the_stiff_flyball_governor():
    """IFToMM A05: springs of 8e5 N/m and 4e4 N s/m; states, and the first fifth of a second."""
    case = case_of("open_3_iftomm", "A05_flyball_governor")
    model, start, expected = model_of(case["model"]), case["initial"], case["trajectory"]
    springs = governor_springs(model, case["params"])
    for state in case["states"]:
        q, qd = np.array(state["q"]), np.array(state["qd"])
        assert_close(springs(q, qd), state["tau"], 1e-9)
        assert_close(aba(model, q, qd, state["tau"]), state["qdd"], 1e-10)
    run = simulate(compiled(model, "python"), start["q"], start["qd"], expected["t"][:4], tau=lambda t, q, qd: springs(q, qd),
                   method="Radau", rtol=1e-8, atol=1e-10)
    assert_allclose(run.q[:, 1], expected["s"][:4], atol=1e-8)
    assert_allclose(run.q[:, 2], expected["theta"][:4], atol=1e-8)
    assert_allclose(run.qd[:, 0], expected["shaft_speed"][:4], atol=1e-7)


def test_the_table_carries_its_load():
    """λ of the four legs is the example's minimum norm; the split is open, the resultants are not."""
    mechanism, example = table(), load("examples")["four_legged_table"]
    q, rest = mechanism.model.zero, np.zeros(6)
    J = mechanism.constraint.J(q)
    result = constrained_accelerations(of_model(mechanism.model)(q, rest), rest, J, mechanism.constraint.bias(q, rest))
    assert (result.rank, result.status) == (3, "redundant")
    assert_close(result.lam, example["minimum_norm_forces"], 1e-12)
    assert_allclose(result.qdd, 0, atol=1e-12)
    assert determined(J, example["equilibrium_matrix"]).all() and not determined(J).any()


# -- closed forms ------------------------------------------------------------------------------------------

def test_the_slider_of_an_offset_crank():
    """x = r cos q + √(l² − (r sin q − offset)²)."""
    mechanism = slider_crank(0.1, 0.3, offset=0.04)
    for angle in (0.3, 1.7, 4.0):
        placed = assemble(mechanism.constraint, np.array([angle, -angle, 0.35]), fixed=(0,))
        assert placed.status == "solved"
        assert placed.q[2] == pytest.approx(0.1 * np.cos(angle) + np.sqrt(0.3**2 - (0.1 * np.sin(angle) - 0.04)**2), abs=1e-12)


def test_mechanisms_speak_symbols():
    l1, l2, l3, l4, B = sympy.symbols("l1:5 B")
    q = sympy.symbols("q1:5")
    mechanism = five_bar(L=(l1, l2, l3, l4), B=B)
    x, y = mechanism.constraint.phi(list(q))
    c, s = sympy.cos, sympy.sin
    assert sympy.simplify(x - (l1 * c(q[0]) + l2 * c(q[0] + q[1]) - B - l3 * c(q[2]) - l4 * c(q[2] + q[3]))) == 0
    assert sympy.simplify(y - (l1 * s(q[0]) + l2 * s(q[0] + q[1]) - l3 * s(q[2]) - l4 * s(q[2] + q[3]))) == 0


def test_motors_are_columns_of_b():
    assert_allclose(five_bar().B, [[1, 0], [0, 0], [0, 1], [0, 0]])
    assert bricard().B.shape == (5, 0) and Mechanism(four_bar().model).B.shape == (3, 3)


# -- physics -----------------------------------------------------------------------------------------------

def test_mobility_is_what_the_mechanism_is_known_for(rng):
    """Degrees of freedom n − rank J: two for the five-bar and one for the others; the table slides and turns on the floor."""
    for make, mobility in ((five_bar, 2), (four_bar, 1), (slider_crank, 1), (andrews, 1), (bricard, 1), (table, 3)):
        mechanism = make()
        q = mechanism.model.zero if make in (bricard, table) else closed_state(mechanism, rng)[0]
        if make is andrews:
            q = np.array(case_of(PLANAR, "A03_andrews")["states"][1]["q"])
        assert mechanism.model.n - np.linalg.matrix_rank(mechanism.constraint.J(q), tol=1e-9) == mobility


def test_a_long_swing_keeps_the_loop_closed_and_the_energy():
    """A four-bar for ten seconds of Runge–Kutta steps: φ stays at rounding, the energy drift falls with the fourth order."""
    mechanism = four_bar()
    q = assemble(mechanism.constraint, np.array([0.4, 0.3, 1.5]), fixed=(0,)).q
    dynamics, drift = compiled_closed(mechanism.dynamics()), []
    for steps in (500, 1000):
        run = simulate(dynamics, q, np.zeros(3), np.linspace(0, 10, steps + 1))
        assert max(np.max(abs(mechanism.constraint.phi(q))) for q in run.q[::10]) < 1e-10
        drift.append(np.ptp(run.energy.total))
    assert drift[1] < drift[0] / 8 and drift[1] < 1e-2


def test_a_slider_crank_is_serial_at_its_dead_centre_when_the_crank_drives():
    mechanism, slider = slider_crank(), np.array([[0, 0, 1.0]])
    for q, kind in (([0, 0, 0.4], "serial"), ([np.pi, -np.pi, 0.2], "serial")):
        assert singularity(mechanism.constraint.J(q), mechanism.B, slider).kind == kind
    q = assemble(mechanism.constraint, np.array([1.0, -1.2, 0.3]), fixed=(0,)).q
    assert singularity(mechanism.constraint.J(q), mechanism.B, slider).kind == "regular"


# -- recorded kernels --------------------------------------------------------------------------------------

def test_recorded_constraints_are_the_plain_ones(mechanism, rng):
    model, plain, fast = mechanism.model, mechanism.constraint, compiled_constraint(mechanism.constraint)
    for _ in range(3):
        q, qd = model.integrate(model.zero, rng.normal(size=model.n), 1.0), rng.normal(size=model.n)
        for found, expected in ((fast.phi(q), plain.phi(q)), (fast.J(q), plain.J(q)), (fast.bias(q, qd), plain.bias(q, qd)),
                                (fast.rate(q), plain.rate(q)), (fast.holonomic, plain.holonomic)):
            assert_close(found, expected, 1e-12)


def test_recorded_rolling_is_the_plain_one(rng):
    ball = Model((Body("ball", GROUND, Joint("free"), Pose(), sphere(0.3, 0.05)),))
    rolls = rolling(ball, 0, (0, 0, 0), 0.05, (0, 0, 1), np.eye(3)[:2])
    q, qd = ball.integrate(ball.zero, rng.normal(size=6), 1.0), rng.normal(size=6)
    assert_close(compiled_constraint(rolls).J(q), rolls.J(q), 1e-13)
    assert_close(compiled_constraint(rolls).bias(q, qd), rolls.bias(q, qd), 1e-13)


def test_closed_dynamics_on_kernels_are_the_plain_ones(mechanism, rng):
    q, qd = closed_state(mechanism, rng)
    tau = rng.normal(size=mechanism.model.n)
    plain, fast = mechanism.dynamics(), compiled_closed(mechanism.dynamics(), "python")
    assert_close(fast.accelerations(q, qd, tau), plain.accelerations(q, qd, tau), 1e-8)


@pytest.mark.parametrize("make", [five_bar, four_bar, slider_crank], ids=lambda make: make.__name__)
def test_the_recorded_block_system_of_full_rank(make, rng):
    """One tape for q̈ and λ, against the route with rank detection."""
    mechanism = make()
    kernel = python_function(record_closed(mechanism.model, mechanism.constraint))
    q, qd = closed_state(mechanism, rng)
    tau = rng.normal(size=mechanism.model.n)
    result = mechanism.dynamics().solve(q, qd, tau)
    assert_close(kernel(q, qd, tau), np.concatenate([result.qdd, result.lam]), 1e-9)


@pytest.mark.parametrize("make", [five_bar, four_bar, slider_crank, andrews], ids=lambda make: make.__name__)
def test_machine_code_of_a_closed_mechanism(make, rng):
    """q̈ and λ as the route with rank detection has them; lists and `out` are taken, wrong sizes named."""
    pytest.importorskip("llvmlite")
    mechanism = make()
    q, qd = closed_state(mechanism, rng)
    tau, kernel = rng.normal(size=mechanism.model.n), closed_kernel(mechanism.model, mechanism.constraint)
    result = mechanism.dynamics().solve(q, qd, tau)
    expected = np.concatenate([result.qdd, result.lam])
    out = np.empty(len(expected))
    for row in (kernel(q, qd, tau), kernel(list(q), qd[::-1][::-1], tau, out=out)):
        assert_allclose(row, expected, atol=1e-8 * np.max(abs(expected)))
    with pytest.raises(ValueError, match="qd has shape"):
        kernel(q, qd[:-1], tau)
    with pytest.raises(ValueError, match="out has shape"):
        kernel(q, qd, tau, out=out[:-1])


def test_machine_code_refuses_where_the_rows_depend_on_each_other():
    pytest.importorskip("llvmlite")
    flat, special = parallelogram(), five_bar(B=0.1)
    for mechanism, q in ((flat, np.zeros(3)), (special, np.array([np.pi, np.pi, 0, np.pi]))):
        n = mechanism.model.n
        with pytest.raises(np.linalg.LinAlgError, match="depend on each other"):
            closed_kernel(mechanism.model, mechanism.constraint)(q, np.zeros(n), np.ones(n))
    assert np.isfinite(closed_kernel(flat.model, flat.constraint)(np.array([0.1, -0.1, 0.1]), np.zeros(3), np.ones(3))).all()


def test_points_of_the_closed_loop_meet(mechanism, rng):
    q, qd = closed_state(mechanism, rng)
    for loop in mechanism.loops:
        gap = point(mechanism.model, q, loop.a, loop.point_a) - point(mechanism.model, q, loop.b, loop.point_b)
        assert_allclose(loop.axes @ gap, 0, atol=1e-10)
        assert_allclose(loop.velocity(q, qd), 0, atol=1e-8)
