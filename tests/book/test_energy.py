"""The labelled equations of the chapter on energy and work, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose
from scipy.integrate import quad, quad_vec, solve_ivp

from lagrangebook.kinematics import kinetic_energy, potential_energy
from lagrangebook.mechanisms import puma560, rp_arm, vertical_mass
from lagrangebook.newton_euler import rnea
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import of_model


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def wave(rng, dimension=3):
    """A smooth random motion r(t) and its derivative."""
    a, b, w = rng.normal(size=(3, dimension))
    return lambda t: a * np.sin(w * t) + b * np.cos(2 * t), lambda t: a * w * np.cos(w * t) - 2 * b * np.sin(2 * t)


def pushed(rng, m):
    """A particle under a random force of time, place and velocity: times, r, v and the force."""
    A, B, c = rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)

    def force(t, r, v):
        return A @ r - 0.3 * B @ v + c * np.sin(3 * t)

    motion = solve_ivp(lambda t, y: np.concatenate([y[3:], force(t, y[:3], y[3:]) / m]), (0, 1), rng.normal(size=6),
                       rtol=1e-10, atol=1e-12, dense_output=True)
    return motion.sol, force


@equation("eq-energy-work", r"W = \int_{t_1}^{t_2} f \cdot v \, dt = \int_{r_1}^{r_2} f \cdot dr .")
def test_work_does_not_depend_on_how_fast_a_way_is_run_through(rng):
    r, v = wave(rng)
    A = rng.normal(size=(3, 3))
    W, _ = quad(lambda t: (A @ r(t)) @ v(t), 0, 1)
    slow, _ = quad(lambda t: (A @ r(t**3)) @ v(t**3) * 3 * t**2, 0, 1)
    way = np.array([r(t) for t in np.linspace(0, 1, 20001)])
    pieces = np.sum(((way[1:] + way[:-1]) / 2 @ A.T) * np.diff(way, axis=0))
    assert_allclose([slow, pieces], W, rtol=1e-7)


@equation("eq-energy-rate", r"\frac{d}{dt}\left(\tfrac12\, m\,|v|^2\right) = f \cdot v .")
def test_kinetic_energy_changes_at_the_rate_of_the_net_power(rng, eps=1e-5):
    m = 1.7
    state, force = pushed(rng, m)
    for t in rng.uniform(0.1, 0.9, 10):
        kinetic = [m * np.dot(state(s)[3:], state(s)[3:]) / 2 for s in (t - eps, t + eps)]
        r, v = np.split(state(t), 2)
        assert_allclose((kinetic[1] - kinetic[0]) / (2 * eps), force(t, r, v) @ v, rtol=1e-5, atol=1e-5)


@equation("eq-energy-theorem", r"W_{\mathrm{net}} = \tfrac12\, m\,|v_2|^2 - \tfrac12\, m\,|v_1|^2 .")
def test_net_work_is_the_change_of_kinetic_energy(rng):
    m = 0.8
    state, force = pushed(rng, m)
    W, _ = quad(lambda t: force(t, *np.split(state(t), 2)) @ state(t)[3:], 0, 1, limit=200)
    before, after = state(0)[3:], state(1)[3:]
    assert_allclose(W, m * (after @ after - before @ before) / 2, rtol=1e-6)


@equation("eq-energy-internal", r"P_{\mathrm{int}} = f\,\dot x_2 - f\,\dot x_1 = f\,\dot s, \qquad s = x_2 - x_1 .")
def test_internal_power_of_a_spring_is_what_its_energy_loses(rng, eps=1e-6):
    k, m1, m2 = 40.0, *rng.uniform(0.5, 3, 2)
    x0, v0, wave_number = rng.normal(size=2), rng.normal(size=2), np.sqrt(k * (m1 + m2) / (m1 * m2))

    def distance(t):
        return (x0[1] - x0[0]) * np.cos(wave_number * t) + (v0[1] - v0[0]) / wave_number * np.sin(wave_number * t)

    for t in rng.uniform(0, 2, 8):
        s_rate = (distance(t + eps) - distance(t - eps)) / (2 * eps)
        stored = [k * distance(s)**2 / 2 for s in (t - eps, t + eps)]
        drift = (m1 * v0[0] + m2 * v0[1]) / (m1 + m2)
        x1_rate, x2_rate = drift - m2 / (m1 + m2) * s_rate, drift + m1 / (m1 + m2) * s_rate
        f = -k * distance(t)
        assert_allclose(f * x2_rate - f * x1_rate, f * s_rate, atol=1e-9)
        assert_allclose(f * s_rate, -(stored[1] - stored[0]) / (2 * eps), atol=1e-5)


@equation("eq-energy-potential", r"U(r) = -\int_{r_0}^{r} f \cdot dr .")
def test_the_integral_over_any_way_gives_one_potential_energy(rng):
    gravity, k = np.array([0, 0, -9.81]), 12.0
    for _ in range(4):
        start, end, bend = rng.normal(size=(3, 3))
        U = [-quad(lambda s: (2.0 * gravity - k * r(s)) @ dr(s), 0, 1)[0] for r, dr in (
            (lambda s: start + s * (end - start), lambda s: end - start),
            (lambda s: start + s * (end - start) + np.sin(np.pi * s) * bend,
             lambda s: end - start + np.pi * np.cos(np.pi * s) * bend))]
        closed = -2.0 * gravity @ (end - start) + k * (end @ end - start @ start) / 2
        assert_allclose(U, closed, rtol=1e-9, atol=1e-9)


@equation("eq-energy-slope", r"f = -\frac{\partial U}{\partial q} ,")
def test_gravity_acts_at_the_joints_with_minus_the_slope_of_the_potential_energy(rng, eps=1e-6):
    """Free from rest, without drive, M q̈ is the force of gravity."""
    from lagrangebook.forward import aba
    from lagrangebook.mass_matrix import crba
    arm = rp_arm()
    for q in rng.normal(size=(6, 2)):
        slope = [(potential_energy(arm, q + eps * e) - potential_energy(arm, q - eps * e)) / (2 * eps) for e in np.eye(2)]
        acceleration = aba(arm, q, np.zeros(2), np.zeros(2))
        assert_allclose(crba(arm, q) @ acceleration, -np.array(slope), atol=1e-6)


@equation("eq-energy-balance", r"\frac{d}{dt}(K + U) = P_{\mathrm{other}} .")
def test_only_forces_without_a_potential_change_the_total_energy(rng):
    """A particle in gravity and on a spring, with a drag and a push besides."""
    m, k, gravity = 1.3, 9.0, np.array([0, -9.81, 0])
    push = rng.normal(size=3)

    def other(t, v):
        return push * np.cos(2 * t) - 0.4 * v

    def rates(t, y):
        return np.concatenate([y[3:6], (m * gravity - k * y[:3] + other(t, y[3:6])) / m, [other(t, y[3:6]) @ y[3:6]]])

    y = solve_ivp(rates, (0, 2), [*rng.normal(size=6), 0], rtol=1e-11, atol=1e-12).y
    E = m * np.sum(y[3:6]**2, axis=0) / 2 - m * gravity @ y[:3] + k * np.sum(y[:3]**2, axis=0) / 2
    assert_allclose(E - E[0], y[6], atol=1e-8)


@equation("eq-energy-joint-power", r"\frac{dE}{dt} = \tau^\top \dot q - F(\dot q)^\top \dot q .")
@pytest.mark.parametrize("model", [vertical_mass(), rp_arm(), puma560()], ids=lambda model: model.name)
def test_the_energy_of_an_arm_changes_at_the_rate_of_its_joint_power(model, rng, eps=1e-5):
    dynamics = of_model(model, friction=lambda qd: 0.7 * qd + 0.2 * np.sign(qd))
    for q, qd, qdd in rng.normal(size=(5, 3, model.n)):
        E = [sum(dynamics.energy(q + s * qd + s**2 / 2 * qdd, qd + s * qdd)) for s in (-eps, eps)]
        tau = dynamics.inverse(q, qd, qdd)
        assert_allclose((E[1] - E[0]) / (2 * eps), tau @ qd - dynamics.F(qd) @ qd, rtol=1e-6, atol=1e-6)


# -- results of the chapter that are not labelled ---------------------------------------------------------------


def test_the_work_on_a_moving_mass_agrees_with_the_published_figures():
    """q = 0.3 sin 2t with m = 2 kg during the first second."""
    m, g = 2.0, 9.81
    rates = quad_vec(lambda t: 0.6 * np.cos(2 * t) * np.array([m * (g - 1.2 * np.sin(2 * t)), -m * g]), 0, 1)[0]
    assert_allclose(rates, [5.054468802540512, -5.352124654295962], rtol=1e-12)
    assert_allclose(rates.sum(), -0.2976558517554501, rtol=1e-10)


def test_two_carts_share_the_energy_of_their_spring():
    """Closed form: K = ½ k x₀² sin²(ω t), ω² = k (m₁ + m₂) / (m₁ m₂)."""
    omega = np.sqrt(100.0 * 4.0 / 3.0)
    assert_allclose(100 * 0.1**2 / 2 * np.sin(omega * 0.1)**2, 0.4183142268, rtol=1e-9)


def test_a_drive_that_only_carries_the_weight_adds_no_kinetic_energy():
    mass = of_model(vertical_mass())
    motion = simulate(mass, [0.0], [0.75], np.linspace(0, 2, 21), tau=[2.0 * 9.81])
    assert_allclose(motion.energy.kinetic, motion.energy.kinetic[0], atol=1e-12)
    assert_allclose(motion.energy.actuator[-1], 29.43, rtol=1e-12)
    assert_allclose(motion.q[-1], 1.5, rtol=1e-12)


def test_internal_forces_of_a_rigid_body_do_no_work(rng):
    for points in rng.normal(size=(10, 2, 3)):
        omega, v, size = rng.normal(size=3), rng.normal(size=3), rng.normal()
        velocities = v + np.cross(omega, points)
        f = size * (points[1] - points[0])
        assert abs(f @ velocities[1] - f @ velocities[0]) < 1e-12


def test_the_power_of_the_arm_that_extends_has_no_other_terms(rng):
    arm = rp_arm()
    for q, qd, qdd in rng.normal(size=(5, 3, 2)):
        K0, U0 = kinetic_energy(arm, q, qd), potential_energy(arm, q)
        later = q + 1e-6 * qd, qd + 1e-6 * qdd
        rate = (kinetic_energy(arm, *later) + potential_energy(arm, later[0]) - K0 - U0) / 1e-6
        assert_allclose(rate, rnea(arm, q, qd, qdd) @ qd, rtol=1e-3, atol=1e-3)
