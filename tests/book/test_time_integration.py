"""The labelled equations of the chapter on time integration, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.forward import forward_dynamics
from lagrangebook.mechanisms import pendulum, rp_arm
from lagrangebook.simulate import simulate
from lagrangebook.spatial import quaternion_exp, quaternion_product
from lagrangebook.standard_form import of_model


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def one_step(method, dt, q=(0.6, 0.8), qd=(1.1, 0.4)):
    return simulate(of_model(rp_arm()), q, qd, [0, dt], method=method)


def f(y):
    return np.concatenate([y[2:], forward_dynamics(rp_arm(), y[:2], y[2:], np.zeros(2))])


@equation("eq-time_integration-state", r"\dot y = f(t, y) = \begin{bmatrix} \dot q \\ M^{-1}(\tau - h) \end{bmatrix}")
def test_the_state_moves_along_f(dt=1e-4):
    run = simulate(of_model(rp_arm()), [0.6, 0.8], [1.1, 0.4], [0, dt, 2 * dt], method="DOP853", rtol=1e-12, atol=1e-13)
    y = np.hstack([run.q, run.qd])
    assert_allclose((y[2] - y[0]) / (2 * dt), f(y[1]), atol=1e-5)


@equation("eq-time_integration-euler", r"y_{k+1} = y_k + \Delta t\, f(t_k, y_k)")
def test_eulers_step_on_an_oscillator_gains_energy_by_one_plus_dt_squared():
    """For q̈ = −q the energy grows by exactly the factor 1 + Δt² a step."""
    y, dt = np.array([0.3, 0.7]), 0.1
    following = y + dt * np.array([y[1], -y[0]])
    assert_allclose(following @ following, (1 + dt**2) * (y @ y), rtol=1e-14)


@equation("eq-time_integration-symplectic", r"""\dot q_{k+1} = \dot q_k + \Delta t\,\ddot q_k,
    \qquad q_{k+1} = q_k + \Delta t\, \dot q_{k+1}""")
def test_the_symplectic_step_uses_the_new_velocity():
    dt, run = 0.01, one_step("symplectic_euler", 0.01)
    qdd = forward_dynamics(rp_arm(), [0.6, 0.8], [1.1, 0.4], np.zeros(2))
    assert_allclose(run.qd[1], np.array([1.1, 0.4]) + dt * qdd, rtol=1e-12)
    assert_allclose(run.q[1], np.array([0.6, 0.8]) + dt * run.qd[1], rtol=1e-12)


@equation("eq-time_integration-rk4", r"y_{k+1} = y_k + \tfrac{\Delta t}{6}\,(k_1 + 2 k_2 + 2 k_3 + k_4)")
def test_one_runge_kutta_step_agrees_with_taylor_to_the_fourth_order():
    """The step of the linear equation ẏ = A y is exp(AΔt) to Δt⁴; on the arm, against the formula written out."""
    dt, y = 0.02, np.array([0.6, 0.8, 1.1, 0.4])
    k1 = f(y)
    k2 = f(y + dt / 2 * k1)
    k3 = f(y + dt / 2 * k2)
    k4 = f(y + dt * k3)
    run = one_step("rk4", dt)
    assert_allclose(np.hstack([run.q[1], run.qd[1]]), y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), rtol=1e-12)
    exact = simulate(of_model(rp_arm()), y[:2], y[2:], [0, dt], method="DOP853", rtol=1e-13, atol=1e-13)
    assert_allclose(run.q[1], exact.q[1], atol=1e-6)


@equation("eq-time_integration-order", r"\lVert y(T) - y_N \rVert \approx C\,\Delta t^{\,p}")
@pytest.mark.parametrize("method, order", [("symplectic_euler", 1), ("rk4", 4)])
def test_the_orders_are_those_of_the_methods(method, order):
    """Richardson: three runs, no reference solution."""
    ends = [simulate(of_model(pendulum(1)), [1.0], [0.3], np.linspace(0, 0.5, n + 1), method=method).q[-1, 0] for n in (40, 80, 160)]
    assert abs(np.log2((ends[1] - ends[0]) / (ends[2] - ends[1])) - order) < 0.1


@equation("eq-time_integration-quaternion", r"\dot{\mathrm{q}} = \tfrac12\, \mathrm{q} \circ (\omega, 0)")
def test_the_quaternion_rate_is_the_derivative_of_the_exponential(rng, eps=1e-6):
    for w in rng.normal(size=(10, 3)):
        quat = quaternion_exp(rng.normal(size=3))
        ahead, back = (quaternion_product(quat, quaternion_exp(s * eps * w)) for s in (1, -1))
        assert_allclose((ahead - back) / (2 * eps), quaternion_product(quat, np.append(w, 0)) / 2, atol=1e-9)
