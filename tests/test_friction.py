"""Friction against its tables, against mechanics, and a step that sticks against the definition of sticking."""

from itertools import product

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

from lagrangebook.friction import coulomb, directional, smooth, stick_step, stribeck, through_gear, viscous
from lagrangebook.mechanisms import two_link, vertical_mass
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import StandardForm, of_model
from reference import fault, load, model_of

TABLES = {table["model"]: table for table in load("open_6_standard_form")["cases"][0]["tables"]}
LAW = {
    "viscous": lambda b: viscous(b),
    "coulomb": lambda fc: coulomb(fc),
    "coulomb_viscous": lambda fc, b: coulomb(fc, b),
    "coulomb_viscous_asymmetric": lambda fc_pos, fc_neg, b_pos, b_neg: directional(coulomb(fc_pos, b_pos), coulomb(fc_neg, b_neg)),
    "stribeck": lambda fc, fs, vs, delta, b: stribeck(fc, fs, vs, b, delta),
    "tanh": lambda fc, veps, b: smooth(coulomb(fc, b), veps),
    "tanh_stribeck": lambda fc, fs, vs, delta, veps, b: smooth(stribeck(fc, fs, vs, b, delta), veps),
}
SIX = directional(stribeck([1, 2, 3, 4, 5, 6], [2, 2, 4, 4, 6, 6], 0.1, 0.3), coulomb(2.5, [0, 1, 2, 0, 1, 2]))


def mass(m=2.0, qd=0.0, load=0.0):
    """The standard form of one mass with a force −load on it."""
    return StandardForm(np.array([[m]]), np.zeros((1, 1)), np.array([load]), np.zeros(1), np.array([qd]))


def random_form(rng, n):
    A = rng.normal(size=(n, n))
    return StandardForm(A @ A.T + 0.1 * np.eye(n), rng.normal(size=(n, n)), rng.normal(size=n), np.full(n, 7.0),
                        rng.normal(size=n) * rng.integers(0, 2, n), rng.normal(size=n))


def random_law(rng, n):
    Fc, Fv, Fc_back, Fv_back = abs(rng.normal(size=(4, n))) * rng.integers(0, 2, (4, n))
    return directional(coulomb(3 * Fc, Fv), coulomb(3 * Fc_back, Fv_back))


# -- closed forms ------------------------------------------------------------------------------------------

def test_at_rest_there_is_no_force_and_at_the_stribeck_speed_one_e_th_of_the_surplus_is_left():
    assert coulomb(2.0)(0.0) == 0 and stribeck(2, 3, 0.1)(0.0) == 0
    for delta in (0.5, 1, 2, 3):
        assert_allclose(stribeck(2, 5, 0.1, delta=delta)([0.1, -0.1]), (2 + 3 / np.e) * np.array([1, -1]), rtol=1e-14)


def test_friction_in_symbols_is_friction_in_numbers():
    v, N, Fc, Fs, vs, Fv = sympy.symbols("v N Fc Fs vs Fv", real=True)
    numbers = {N: -3.0, Fc: 2.0, Fs: 3.5, vs: 0.05, Fv: 0.8}
    pairs = [(stribeck(Fc, Fs, vs, Fv), stribeck(2, 3.5, 0.05, 0.8)), (smooth(coulomb(Fc, Fv), vs), smooth(coulomb(2, 0.8), 0.05)),
             (through_gear(stribeck(Fc, Fs, vs), N), through_gear(stribeck(2, 3.5, 0.05), -3)), (viscous(Fv), viscous(0.8)),
             (directional(coulomb(Fc), stribeck(Fc, Fs, vs)), directional(coulomb(2), stribeck(2, 3.5, 0.05))),
             (smooth(directional(coulomb(Fc), coulomb(Fs)), vs), smooth(directional(coulomb(2), coulomb(3.5)), 0.05))]
    for symbolic, numeric in pairs:
        force, = symbolic([v])
        for speed in (-0.4, -0.03, 0.0, 0.03, 0.4):
            assert_allclose(float(force.subs({**numbers, v: speed})), numeric(speed), rtol=1e-13, atol=1e-15)
    assert stribeck(Fc, Fs, vs, Fv)(sympy.Matrix([v]))[0] == Fv * v + (Fc + (Fs - Fc) * sympy.exp(-v**2 / vs**2)) * sympy.sign(v)


def test_through_a_gear_coulomb_counts_N_and_viscous_N_squared():
    assert_allclose(through_gear(coulomb(0.2, 0.003), -60)([0.5, -0.5]), [12 + 10.8 * 0.5, -12 - 10.8 * 0.5])


def test_a_smooth_law_creeps_at_width_times_artanh_of_load_over_limit():
    """Where dry friction holds 1.2 N of a limit of 2 N, tanh lets the mass slip at the speed where the forces balance."""
    m, Fc, width, weight = 2.0, 2.0, 0.01, 1.2
    law, creep = smooth(coulomb(Fc), width), width * np.arctanh(weight / Fc)
    end = solve_ivp(lambda t, y: [(weight - law(y[0])) / m], (0, 1), [0.0], method="LSODA", rtol=1e-10, atol=1e-14).y[0, -1]
    assert_allclose(end, creep, rtol=1e-8)
    assert creep > 0.006 and stick_step(mass(m, load=-weight), [0.0], coulomb(Fc), 0.01).qd[0] == 0


def test_euler_steps_of_a_smooth_law_chatter_beyond_twice_m_width_over_limit():
    m, Fc, width, v = 2.0, 2.0, 0.01, {0.95: 1e-3, 1.05: 1e-3}
    for part in v:
        for _ in range(400):
            v[part] -= part * 2 * m * width / Fc * smooth(coulomb(Fc), width)(v[part]) / m
    assert abs(v[0.95]) < 1e-9 < 1e-3 < abs(v[1.05])


# -- another route -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("ratio", [7.0, -7.0])
@pytest.mark.parametrize("motor", [coulomb(0.3, 0.01), stribeck(0.3, 0.5, 2.0, 0.01, 1.5), smooth(coulomb(0.3), 0.2),
                                   directional(coulomb(0.3, 0.01), stribeck(0.2, 0.4, 2.0)),
                                   smooth(directional(coulomb(0.3), coulomb(0.1)), 0.2)])
def test_a_geared_law_is_N_times_the_motors_force_at_N_times_the_speed(motor, ratio):
    qd = np.array([-3.0, -0.2, 0.0, 0.01, 1.0])
    joint = through_gear(motor, ratio)
    assert_allclose(joint(qd), ratio * motor(ratio * qd), rtol=1e-13)
    assert_allclose(qd * joint(qd), (ratio * qd) * motor(ratio * qd), rtol=1e-13)      # power is the same on both sides
    assert_allclose(through_gear(through_gear(motor, ratio), 1 / ratio)(qd), motor(qd), rtol=1e-13)


def test_gears_of_both_signs_stand_in_one_robot():
    ratios = np.array([60, -100, 50, -75, 70, -70])
    qd = np.array([1.0, 0.5, -0.3, -0.02, 0.0, 2.0])
    assert_allclose(through_gear(SIX, ratios)(qd), ratios * SIX(ratios * qd), rtol=1e-13)


@pytest.mark.parametrize("seed", range(60))
def test_a_stick_step_is_the_only_one_of_3_to_the_n_ways_to_stick_and_slide_that_fits(seed):
    rng = np.random.default_rng(seed)
    n, dt = int(rng.integers(1, 5)), 0.1
    form, law, tau = random_form(rng, n), random_law(rng, n), 3 * rng.normal(size=n)
    step = stick_step(form, tau, law, dt)
    rate = tau - form.C @ form.qd - form.G - form.rest
    low, high = law.limits(form.qd)
    found = []
    for side in map(np.array, product((-1, 0, 1), repeat=n)):
        Fv = np.where(side > 0, law.forward.Fv, law.backward.Fv)
        A, b = form.M + dt * np.diag(Fv), form.M @ form.qd + dt * (rate - np.where(side > 0, high, low) * (side != 0))
        A[side == 0], b[side == 0] = np.eye(n)[side == 0], 0
        v = np.linalg.solve(A, b)
        F = rate - form.M @ (v - form.qd) / dt
        if all(np.where(side == 0, (F >= low - 1e-9) & (F <= high + 1e-9), v * side > 0)):
            found.append(v)
    assert step.status == "solved"
    for v in found:                             # joints without dry friction may count as stuck or as sliding
        assert_allclose(step.qd, v, atol=1e-9)
    assert found


# -- physics -----------------------------------------------------------------------------------------------

positive = st.floats(0, 1e3)
speeds = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3)


@settings(max_examples=200, deadline=None)
@given(speeds, positive, positive, st.floats(1e-6, 10), positive, st.floats(0.1, 4), positive,
       st.floats(-200, 200).filter(lambda N: abs(N) > 1e-3), st.booleans())
def test_friction_never_feeds_a_motion(qd, Fc, surplus, vs, Fv, delta, other, ratio, is_smooth):
    law = directional(stribeck(Fc, Fc + surplus, vs, Fv, delta), coulomb(other))
    F = through_gear(smooth(law, vs) if is_smooth else law, ratio)(qd)
    assert np.isfinite(F).all() and np.all(F * qd >= 0)


@settings(max_examples=200, deadline=None)
@given(speeds, positive, positive, positive)
def test_symmetric_friction_is_odd(qd, Fc, surplus, Fv):
    law = stribeck(Fc, Fc + surplus, 0.1, Fv)
    assert_allclose(law(-np.array(qd)), -law(qd), rtol=1e-15)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.floats(1e-5, 1.0))
def test_a_stick_step_obeys_momentum_and_the_law(seed, n, dt):
    rng = np.random.default_rng(seed)
    form, law, tau = random_form(rng, n), random_law(rng, n), 3 * rng.normal(size=n)
    step = stick_step(form, tau, law, dt)
    rate = tau - form.C @ form.qd - form.G - form.rest
    size = 1e-9 * (1 + np.max(abs(form.M)) * (np.max(abs(form.qd)) + np.max(abs(step.qd))) / dt + np.max(abs(rate)))
    assert step.status == "solved" and np.all(step.qd[step.sticking] == 0)
    assert_allclose(form.M @ (step.qd - form.qd) / dt, rate - step.F, rtol=0, atol=size)
    low, high = law.limits(form.qd)
    assert np.all((step.F >= low - size) & (step.F <= high + size) | ~step.sticking)
    assert_allclose(step.F[~step.sticking], law(step.qd)[~step.sticking], rtol=0, atol=size)
    assert step.F @ step.qd >= -size * np.max(abs(step.qd))


def test_an_arm_below_the_limit_holds_for_ever_and_above_it_falls():
    arm = of_model(two_link())
    q = np.array([0.3, -0.4])
    weight = arm(q, [0, 0]).G
    q_end, qd = q.copy(), np.zeros(2)
    for _ in range(200):
        step = stick_step(arm(q_end, qd), np.zeros(2), coulomb(abs(weight) * 1.0001), 0.01)
        qd = step.qd
        q_end = q_end + 0.01 * qd
    assert np.all(q_end == q) and step.sticking.all()
    assert_allclose(step.F, -weight, rtol=1e-14)                # the reaction is the load, not the limit
    falls = stick_step(arm(q, [0, 0]), np.zeros(2), coulomb(abs(weight) * [1.0001, 0.9999]), 0.01)
    assert falls.qd[1] * weight[1] < 0


def test_a_stribeck_joint_breaks_away_at_the_static_level_and_not_at_the_coulomb_level():
    law = stribeck(2.0, 3.0, 0.05)
    assert stick_step(mass(), [2.999], law, 1e-3).qd == 0 < stick_step(mass(), [3.001], law, 1e-3).qd
    assert stick_step(mass(), [3.0], law, 1e-3).sticking.all() and stick_step(mass(), [-3.0], law, 1e-3).sticking.all()


def test_a_joint_pushed_by_its_neighbour_sticks_or_moves_as_one():
    """Two masses of one rigid M: the second recoils only beyond its own limit."""
    form = StandardForm(np.array([[2.0, 1.0], [1.0, 1.0]]), np.zeros((2, 2)), np.zeros(2), np.zeros(2), np.zeros(2))
    held = stick_step(form, [4.0, 0.0], coulomb([0.0, 2.5]), 0.1)
    assert_allclose([held.qd, held.F], [[0.2, 0], [0, -2.0]], atol=1e-14)       # q̈₁ = 4/2; M₂₁ q̈₁ = 2 N < 2.5 N
    moved = stick_step(form, [4.0, 0.0], coulomb([0.0, 1.5]), 0.1)
    assert_allclose([moved.qd, moved.F], [[0.25, -0.1], [0, -1.5]], atol=1e-14)     # 2 a + b = 4, a + b = 1.5


def test_dissipation_of_a_stopping_mass_is_its_kinetic_energy():
    lift = of_model(vertical_mass(), friction=coulomb(2.0, 0.7))
    weight = lift([0.0], [0.0]).G
    run = simulate(lift, [0.0], [3.0], np.linspace(0, 2.0, 401), tau=weight)
    assert np.max(np.abs(run.energy.balance)) < 1e-9
    assert_allclose(run.energy.dissipation[-1], run.energy.kinetic[0] - run.energy.kinetic[-1], rtol=1e-9)


# -- published numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", LAW)
def test_the_friction_tables(name):
    table = TABLES[name]
    law = LAW[name](**table["params"])
    assert_allclose(law(table["v"]), table["F"], rtol=1e-13, atol=1e-15)
    if table["set_at_zero"] is not None:
        assert_allclose(law.limits(), table["set_at_zero"])


def test_a_mass_slides_to_its_stop_in_the_closed_time():
    case = next(c for c in load("open_6_standard_form")["cases"] if c["id"] == "mass_coulomb_viscous_stop")
    m, law = case["params"]["m"], coulomb(case["params"]["fc"], case["params"]["b"])

    def stop(t, y):
        return y[1]

    stop.terminal = True
    run = solve_ivp(lambda t, y: [y[1], -law(y[1]) / m], (0, 5), [0, case["params"]["v0"]], events=stop, rtol=1e-11, atol=1e-12)
    assert_allclose([run.t[-1], run.y[0, -1]], [case["stop_time"], case["stop_distance"]], rtol=1e-8)
    errors = []
    for dt in (4e-3, 2e-3):
        x, v, t = 0.0, case["params"]["v0"], 0.0
        while v > 0:
            v, = stick_step(mass(m, v), [0.0], law, dt).qd
            x, t = x + dt * v, t + dt
        assert v == 0 and stick_step(mass(m, v), [0.0], law, dt).qd == 0
        assert abs(t - case["stop_time"]) < 2 * dt
        errors.append(abs(x - case["stop_distance"]))
    assert errors[1] < 0.6 * errors[0] < 0.01           # first order


def test_R04_the_stribeck_curve():
    case = fault("R04")
    c, expected = case["inputs"], case["expected"]
    law = stribeck(c["fc"], c["fs"], c["vs"], c["sigma"])
    assert_allclose(law(c["v"]), expected["f"], atol=1e-9)
    assert np.max(abs(law(c["v"]) - case["faulty_result"]["f_exponent_1"])) > 0.1
    lowest = minimize_scalar(law, bounds=(0.05, 0.3), method="bounded", options={"xatol": 1e-9})
    assert_allclose([lowest.x, lowest.fun], [expected["v_of_minimum_friction"], expected["f_at_minimum"]], rtol=1e-6)


def test_R05_damping_stands_in_inverse_and_forward_dynamics_alike():
    case = fault("R05")
    c, expected = case["inputs"], case["expected"]
    law = viscous(c["damping"])
    arm = of_model(model_of(case["model"]), friction=law)
    tau = arm.inverse(c["q"], c["qd"], c["qdd"])
    assert_allclose(tau, expected["tau"], atol=1e-9)
    assert np.max(abs(tau - case["faulty_result"]["tau_wrong_sign"])) > 0.1
    assert_allclose(arm.accelerations(c["q"], c["qd"], tau), expected["qdd_round_trip"], atol=1e-9)
    assert_allclose(arm(c["q"], c["qd"]).accelerations(tau), expected["qdd_round_trip"], atol=1e-9)
    assert_allclose(law(c["qd"]) @ c["qd"], expected["dissipated_power"], atol=1e-9)


# -- errors ------------------------------------------------------------------------------------------------

def test_bad_input_is_named():
    for make, message in (
            (lambda: coulomb(-1.0), "Fc must be finite and not negative; got -1.0"), (lambda: viscous(np.nan), "Fv must be finite"),
            (lambda: stribeck(2, 1, 0.1), "Fs must be at least Fc"), (lambda: stribeck(1, 2, 0.0), "vs must be finite and positive"),
            (lambda: stribeck(1, 2, 0.1, delta=-2), "delta must be"), (lambda: coulomb(True), "Fc must be"),
            (lambda: coulomb([1, 2], [1, 2, 3]), r"do not fit together.*\(3,\)"), (lambda: coulomb([[1.0]]), r"shape \(1, 1\)"),
            (lambda: smooth(coulomb(1), 0), "width must be"), (lambda: through_gear(coulomb(1), 0), "ratio must be"),
            (lambda: through_gear(coulomb([1, 2]), [1, 2, 3]), "ratio has shape"), (lambda: smooth(SIX, [1, 2]), "one length"),
            (lambda: directional(smooth(coulomb(1), 1), coulomb(1)), "smooth the directional law"),
            (lambda: directional(coulomb([1, 2]), coulomb([1, 2, 3])), "one length"),
            (lambda: coulomb(1)([np.nan, 1]), "qd must hold finite"), (lambda: SIX([1.0, 2.0]), r"qd has shape \(2,\).* 6 joints"),
            (lambda: smooth(coulomb(1), 1).limits(), "never holds, it creeps"),
            (lambda: stick_step(mass(), [1.0, 2.0], coulomb(1), 0.1), r"tau has shape \(2,\)"),
            (lambda: stick_step(mass(), [np.nan], coulomb(1), 0.1), "tau must be finite"),
            (lambda: stick_step(mass(), [1.0], coulomb(1), 0.0), "dt must be a positive"),
            (lambda: stick_step(mass(), [1.0], SIX, 0.1), "6 joints"),
            (lambda: stick_step(mass(load=np.inf), [1.0], coulomb(1), 0.1), "form must be finite")):
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(np.linalg.LinAlgError):
        stick_step(mass(0.0), [1.0], coulomb(1), 0.1)
    with pytest.raises(TypeError, match="law must be a friction law"):
        stick_step(mass(), [1.0], np.sign, 0.1)


def test_too_few_solves_are_a_status():
    assert stick_step(mass(qd=-1.0), [5.0], coulomb(1.0), 1.0, max_solves=1).status == "limit"
    assert stick_step(mass(qd=-1.0), [5.0], coulomb(1.0), 1.0).status == "solved"
