"""Integrators by order, drift and closed forms; the energy ledger; events; motions that grow without bound."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose
from random_models import chain, random_state, random_tree
from reference import assert_close, fault, load

from lagrangebook.inertia import Inertia
from lagrangebook.kinematics import body_jacobian, centroidal_momentum, poses
from lagrangebook.lagrange import coordinates
from lagrangebook.mechanisms import pendulum, rp_arm, two_link, vertical_mass
from lagrangebook.simulate import simulate
from lagrangebook.spatial import Pose
from lagrangebook.standard_form import of_lagrangian, of_model

PRECISE = dict(method="DOP853", rtol=1e-12, atol=1e-12)


def oscillator(friction=None):
    """q̈ + q = τ."""
    q, qd, _ = coordinates("q", 1)
    return of_lagrangian(qd[0]**2 / 2 - q[0]**2 / 2, q, qd, friction=friction)


# -- closed forms ------------------------------------------------------------------------------------------

def test_a_thrown_mass_follows_its_parabola_exactly():
    t = np.linspace(0, 1, 11)
    throw = simulate(of_model(vertical_mass()), [0.5], [3.0], t, method="rk4")
    assert_allclose(throw.q[:, 0], 0.5 + 3 * t - 9.81 * t**2 / 2, atol=1e-13)
    assert_allclose(throw.qd[:, 0], 3 - 9.81 * t, atol=1e-13)
    assert throw.status == "finished" and throw.tau.shape == (11, 1)


@pytest.mark.parametrize("method, order", [("rk4", 4), ("symplectic_euler", 1)])
def test_the_error_falls_with_the_order_of_the_method(method, order):
    errors = [abs(simulate(oscillator(), [1.0], [0.0], np.linspace(0, 2, n + 1), method=method).q[-1, 0] - np.cos(2))
              for n in (50, 100, 200)]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert_allclose(slopes, order, atol=0.1)


@pytest.mark.parametrize("method, order", [("rk4", 4), ("symplectic_euler", 1)])
def test_the_order_holds_on_quaternions_too(method, order):
    """A tumbling body: the angular momentum in world axes is conserved, its error falls with the order."""
    top = of_model(chain(("spherical", (0, 0, 1), Pose(), Inertia(1.0, np.zeros(3), np.diag([1.0, 2.0, 2.5])))))
    exact = simulate(top, [0, 0, 0, 1], [0.3, 2.0, 0.1], [0, 1.0], **PRECISE)
    errors = [np.max(np.abs(simulate(top, [0, 0, 0, 1], [0.3, 2.0, 0.1], np.linspace(0, 1, n + 1), method=method).q[-1]
                            - exact.q[-1])) for n in (20, 40, 80)]
    assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), order, atol=0.25)


def test_a_symmetric_top_precesses_with_the_rate_of_euler():
    """No torque, I = (1, 1, 2): ω turns about the axis of symmetry with (I₃ − I₁)/I₁ ω₃, and |ω₁₂| stays."""
    top = of_model(chain(("spherical", (0, 0, 1), Pose(), Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.0]))),
                         gravity=(0, 0, 0)))
    t = np.linspace(0, 3, 13)
    w = simulate(top, [0, 0, 0, 1], [0.5, 0, 1.5], t, **PRECISE).qd
    assert_allclose(w, np.transpose([0.5 * np.cos(1.5 * t), 0.5 * np.sin(1.5 * t), 1.5 + 0 * t]), atol=1e-9)


def test_the_free_motion_of_the_turning_and_extending_arm():
    case = load("examples")["rp_arm"]["free_motion"]
    y0 = case["y0"]
    end = simulate(of_model(rp_arm()), [y0["theta"], y0["d"]], [y0["thetad"], y0["dd"]], [0, case["t"]], **PRECISE)
    assert_close([*end.q[-1], *end.qd[-1]], [case["final"][key] for key in ("theta", "d", "thetad", "dd")])


def test_friction_stops_a_mass_in_the_time_of_the_exponential():
    """m v̇ = −b v: v = v₀ exp(−b t/m), and the whole kinetic energy is dissipated."""
    q, qd, _ = coordinates("x", 1)
    slide = simulate(of_lagrangian(qd[0]**2, q, qd, friction=lambda qd: 3 * qd), [0.0], [2.0], np.linspace(0, 1, 5), **PRECISE)
    assert_allclose(slide.qd[:, 0], 2 * np.exp(-1.5 * slide.t), rtol=1e-10)
    assert_allclose(slide.energy.dissipation, 4 - slide.energy.kinetic, atol=1e-10)


# -- the methods agree -------------------------------------------------------------------------------------

def test_every_method_draws_the_same_motion():
    t = np.linspace(0, 0.5, 201)
    arm, start = of_model(two_link()), ([0.3, 0.7], [1.2, -0.8])
    exact = simulate(arm, *start, t[::200], **PRECISE)
    for method in ("RK45", "DOP853", "Radau", "BDF", "LSODA"):
        end = simulate(arm, *start, t[::200], method=method, rtol=1e-5, atol=1e-7)
        assert_allclose(end.q[-1], exact.q[-1], atol=1e-3)
    assert_allclose(simulate(arm, *start, t[::2]).q[-1], exact.q[-1], atol=1e-5)
    assert_allclose(simulate(arm, *start, t, method="symplectic_euler").q[-1], exact.q[-1], atol=0.05)


def test_the_drive_may_be_absent_constant_or_a_law():
    t = np.linspace(0, 0.5, 6)
    slide = of_model(vertical_mass(m=2.0))
    assert np.all(simulate(slide, [0.0], [0.0], t).qd[1:] < 0)
    assert_allclose(simulate(slide, [0.0], [0.0], t, tau=[2 * 9.81]).q, 0, atol=1e-14)
    held = simulate(slide, [0.1], [0.0], t, tau=lambda t, q, qd: 2 * 9.81 - 8 * q - 8 * qd, **PRECISE)
    assert_allclose(held.q[:, 0], 0.1 * (1 + 2 * t) * np.exp(-2 * t), atol=1e-10)       # critically damped
    assert_allclose(held.tau[:, 0], 2 * 9.81 - 8 * held.q[:, 0] - 8 * held.qd[:, 0], atol=1e-12)


# -- energy ------------------------------------------------------------------------------------------------

def test_rk4_drifts_and_symplectic_euler_swings_but_does_not_drift():
    """Over 30 swings with coarse steps: RK4 loses energy steadily; symplectic Euler's error stays where it began."""
    t = np.linspace(0, 200, 1001)                                     # dt = 0.2
    rk4, symplectic = (simulate(oscillator(), [1.0], [0.0], t, method=m).energy.total for m in ("rk4", "symplectic_euler"))
    assert np.all(np.diff(rk4) < 0) and rk4[-1] < 0.5 - 3e-4
    first, last = np.ptp(symplectic[:200]), np.ptp(symplectic[-200:])
    assert first > 1e-3 and abs(last / first - 1) < 0.05


def test_the_drift_of_a_double_pendulum_falls_with_the_fourth_power_of_the_step():
    drift = [np.abs(simulate(of_model(pendulum(2)), [1.0, 0.5], [0, 0], np.linspace(0, 1, n + 1)).energy.balance[-1])
             for n in (25, 50)]
    assert 3 < np.log2(drift[0] / drift[1]) < 6


def test_the_ledger_balances_with_drive_friction_and_gravity():
    arm = of_model(two_link(), friction=lambda qd: 0.6 * qd + 0.4 * np.tanh(qd / 0.1))
    run = simulate(arm, [0.3, 0.7], [1.0, -2.0], np.linspace(0, 1, 6), tau=lambda t, q, qd: [12 * np.cos(3 * t), 2 - qd[1]],
                   method="DOP853", rtol=1e-11, atol=1e-11)
    ledger = run.energy
    assert_allclose(ledger.balance, 0, atol=1e-8)
    assert np.all(np.diff(ledger.dissipation) > 0) and abs(ledger.actuator[-1]) > 1
    assert np.array_equal(ledger.constraint, np.zeros(6)) and np.array_equal(ledger.impact, np.zeros(6))
    assert_allclose(ledger.total, ledger.kinetic + ledger.potential, atol=0)


def test_the_works_are_the_integrals_of_the_powers():
    t = np.linspace(0, 1, 2001)
    arm = of_model(two_link(), friction=lambda qd: 0.6 * qd)
    run = simulate(arm, [0.3, 0.7], [1.0, -2.0], t[::20], tau=lambda t, q, qd: [12 * np.cos(3 * t), 2.0], **PRECISE)
    from scipy.integrate import simpson
    assert_allclose(run.energy.actuator[-1], simpson(np.sum(run.tau * run.qd, axis=1), x=run.t), atol=1e-5)
    assert_allclose(run.energy.dissipation[-1], simpson(0.6 * np.sum(run.qd**2, axis=1), x=run.t), atol=1e-5)


def test_the_work_of_the_worked_lift():
    """q = 0.3 sin 2t: the actuator's work over a second is the rise of K + U."""
    work = load("examples")["vertical_mass"]["work"]
    run = simulate(of_model(vertical_mass()), [0.0], [0.6], [0, 0.5, 1.0], tau=lambda t, q, qd: [2 * (9.81 - 1.2 * np.sin(2 * t))],
                   **PRECISE)
    assert_close([run.energy.actuator[-1], run.energy.total[-1] - run.energy.total[0], run.energy.kinetic[-1]],
                 [work["W_tau"], work["dK_plus_dU"], work["K_final"]])


def test_a_moving_pivot_does_work_and_the_ledger_says_how_much():
    case, t = fault("S04")["inputs"], sympy.Symbol("t")
    (q, qd, _), (l, m, A, B, w) = coordinates(("theta",)), (case[key] for key in ("l", "mass", "A", "B", "w"))
    place = sympy.Matrix([A * sympy.sin(w * t) + l * sympy.sin(q[0]), B * sympy.cos(2 * w * t) - l * sympy.cos(q[0])])
    velocity = place.diff(t) + place.jacobian(q) * qd
    moved = of_lagrangian(m * velocity.dot(velocity) / 2 - m * 9.81 * place[1], q, qd, t=t, friction=lambda qd: 0.1 * qd)
    run = simulate(moved, [case["theta"]], [case["theta_dot"]], np.linspace(0, 2, 9), tau=[0.3], **PRECISE)
    assert_allclose(run.energy.balance, 0, atol=1e-9)
    assert np.max(np.abs(run.energy.constraint)) > 0.1
    bad = run.energy.total - run.energy.total[0] - run.energy.actuator + run.energy.dissipation
    assert np.max(np.abs(bad)) > 0.1                                  # without that column it would not add up


def test_a_tumbling_tree_keeps_energy_and_angular_momentum(rng):
    """A floating robot without gravity: momentum and energy stay, with spherical and free joints on their spheres."""
    from dataclasses import replace
    tree = random_tree(np.random.default_rng(2), 4, kinds=("spherical", "revolute", "prismatic"))
    bodies = tuple(replace(body, joint=type(body.joint)("free"), parent=-1) if i == 0 else replace(body, parent=max(body.parent, 0))
                   for i, body in tree.outward)
    model = replace(tree, bodies=bodies, gravity=(0, 0, 0))
    q, qd, _ = random_state(model, rng)
    run = simulate(of_model(model), q, qd, [0, 0.25, 0.5], method="DOP853", rtol=1e-10, atol=1e-11)
    start, end = (centroidal_momentum(model, run.q[k], run.qd[k]) for k in (0, -1))
    assert_allclose(end, start, atol=1e-7)
    assert_allclose(run.energy.balance, 0, atol=1e-7)


# -- quaternions -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("method", ["rk4", "symplectic_euler", "RK45"])
def test_every_sample_has_quaternions_of_norm_one(method):
    model = chain(("free", (0, 0, 1), Pose(), Inertia(1.0, (0.1, 0, 0), np.eye(3))),
                  ("spherical", (0, 0, 1), Pose(p=(0.3, 0, 0)), Inertia(1.0, (0.2, 0, 0), np.eye(3))))
    run = simulate(of_model(model), model.zero, np.linspace(-3, 3, 9), np.linspace(0, 0.5, 11), method=method)
    assert_allclose(np.linalg.norm(run.q[:, 3:7], axis=1), 1, atol=1e-14)
    assert_allclose(np.linalg.norm(run.q[:, 7:], axis=1), 1, atol=1e-14)
    assert body_jacobian(model, run.q[-1], 1).shape == (6, 9) and len(poses(model, run.q[-1])) == 2


# -- events ------------------------------------------------------------------------------------------------

def touches_the_ground(t, q, qd):
    return q[0]


touches_the_ground.terminal, touches_the_ground.direction = True, -1


def test_an_event_stops_a_falling_mass_at_the_ground():
    t = np.linspace(0, 2, 21)
    fall = simulate(of_model(vertical_mass()), [1.0], [0.0], t, method="RK45", events=[touches_the_ground])
    assert fall.status == "event"
    assert_allclose([fall.t[-1], *fall.events[0]], np.sqrt(2 / 9.81), rtol=1e-9)
    assert_allclose([fall.q[-1, 0], fall.qd[-1, 0]], [0, -np.sqrt(2 * 9.81)], atol=1e-9)
    assert np.all(np.diff(fall.t) > 0) and len(fall.t) == len(fall.q) == len(fall.tau) == len(fall.energy.kinetic)


def test_an_event_that_falls_on_a_sample_is_one_sample():
    still = of_model(vertical_mass(g=0.0))
    fall = simulate(still, [1.0], [-1.0], [0, 0.5, 1.0, 1.5], method="RK45", events=[touches_the_ground])
    assert_allclose(fall.t, [0, 0.5, 1.0], atol=1e-12)
    assert np.all(np.diff(fall.t) > 1e-9)


def test_an_event_counts_in_its_direction_alone_and_passes_when_not_terminal():
    throw = simulate(of_model(vertical_mass()), [-1.0], [6.0], np.linspace(0, 2, 5), method="RK45", events=[touches_the_ground])
    assert_allclose(throw.t[-1], (6 + np.sqrt(36 - 2 * 9.81)) / 9.81, rtol=1e-9)      # going up it passed
    passing = simulate(of_model(vertical_mass()), [1.0], [0.0], [0, 2.0], method="RK45", events=[lambda t, q, qd: q[0]])
    assert passing.status == "finished" and passing.t[-1] == 2.0
    assert_allclose(passing.events[0], [np.sqrt(2 / 9.81)], rtol=1e-9)


# -- without bound -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("method", ["rk4", "symplectic_euler", "RK45"])
def test_a_motion_that_grows_without_bound_is_cut_and_says_so(method):
    q, qd, _ = coordinates("q", 1)
    blow_up = of_lagrangian(qd[0]**2 / 2 + q[0]**6 / 6, q, qd)                  # q̈ = q⁵, infinite in finite time
    run = simulate(blow_up, [2.0], [10.0], np.linspace(0, 1, 101), method=method)
    assert run.status == "diverged"
    assert len(run.t) < 101 and np.all(np.isfinite(run.q)) and np.all(np.isfinite(run.energy.total))


@pytest.mark.parametrize("method", ["rk4", "symplectic_euler"])
def test_a_step_too_long_for_stiff_friction_diverges_by_status_not_by_error(method):
    stiff = of_model(two_link(), friction=lambda qd: 1e4 * qd)
    run = simulate(stiff, [0.0, 0.0], [1.0, 1.0], np.linspace(0, 100, 1001), method=method)
    assert run.status == "diverged" and np.all(np.isfinite(run.qd))


def test_an_unstable_law_diverges_by_status_not_by_error():
    run = simulate(of_model(vertical_mass()), [0.0], [0.0], np.linspace(0, 1e4, 2001), tau=lambda t, q, qd: 1e3 * q)
    assert run.status == "diverged" and np.all(np.isfinite(run.tau))


# -- what is refused ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("change, message", [
    (dict(method="euler"), "method 'euler' is not known; wanted one of rk4"),
    (dict(t=[0.0]), r"t must be at least two increasing times; got shape \(1,\)"),
    (dict(t=[0, 1, 1]), "t must be at least two increasing times"),
    (dict(t=[0, np.nan, 1]), "t must be at least two increasing times"),
    (dict(events=[touches_the_ground]), "events need one of scipy's methods; got 'rk4'"),
    (dict(q0=[0.0]), r"q0 has shape \(1,\); two-link arm has nq = 2"),
    (dict(qd0=[0.0, np.inf]), "qd0 must be finite"),
    (dict(tau=[1.0]), r"tau has shape \(1,\); the drive has n = 2"),
    (dict(tau=lambda t, q, qd: [1.0, np.nan]), "tau must be finite"),
    (dict(tau=lambda t, q, qd: 1.0), r"tau has shape \(\)"),
])
def test_bad_input_is_named(change, message):
    given = dict(q0=[0.0, 0.0], qd0=[0.0, 0.0], t=[0.0, 0.1]) | change
    with pytest.raises(ValueError, match=message):
        simulate(of_model(two_link()), given.pop("q0"), given.pop("qd0"), given.pop("t"), **given)


@pytest.mark.parametrize("quaternion", [[0, 0, 0, 0], [0, 0, 0, 1.1]])
def test_a_start_off_the_sphere_is_refused(quaternion):
    ball = of_model(chain(("spherical", (0, 0, 1), Pose(), Inertia(1.0, np.zeros(3), np.eye(3)))))
    with pytest.raises(ValueError, match="quaternion of norm"):
        simulate(ball, quaternion, np.zeros(3), [0, 1])
