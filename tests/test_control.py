"""Feedback laws against closed forms, each other, physics and published numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lagrangebook.control import (Reference, angle_error, computed_torque, critically_damped, feedforward, hybrid, impedance,
                                  pd_gravity, sampled, saturated, slotine_li)
from lagrangebook.kinematics import point, point_jacobian
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import puma560, two_link
from lagrangebook.model import Joint
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import of_model
from lagrangebook.tape import compiled
from reference import fault, load, model_of


# -- closed forms ------------------------------------------------------------------------------------------

def test_an_exact_model_makes_every_joint_a_critically_damped_oscillator():
    arm, (Kp, Kd) = of_model(two_link()), critically_damped([8.0, 10.0])
    goal, e0, t = np.array([0.5, 0.55]), np.array([0.2, -0.15]), np.linspace(0, 0.5, 501)
    run = simulate(arm, goal - e0, [0, 0], t, tau=computed_torque(arm, lambda t: (goal, np.zeros(2), np.zeros(2)), Kp, Kd))
    omega = np.array([8.0, 10.0])
    expected = e0 * (1 + omega * t[:, None]) * np.exp(-omega * t[:, None])
    assert_allclose(goal - run.q, expected, atol=1e-8)


def test_a_quintic_reference_is_the_integral_of_its_own_rates():
    reference = Reference.quintic([0.0, 1.0], [1.0, -1.0], 2.0)
    for t in (0.3, 1.0, 1.9):
        ahead, back, here = (reference(t + s) for s in (1e-5, -1e-5, 0))
        assert_allclose((ahead[0] - back[0]) / 2e-5, here[1], atol=1e-8)
        assert_allclose((ahead[1] - back[1]) / 2e-5, here[2], atol=1e-7)
    assert_allclose(reference(-1)[0], [0, 1]) and assert_allclose(reference(5)[0], [1, -1])
    assert_allclose(np.max([abs(reference(t)[1][0]) for t in np.linspace(0, 2, 401)]), 1.875 / 2, rtol=1e-6)


@pytest.mark.parametrize("way", [0.01, 3.0])
def test_a_trapezoid_keeps_its_limits_and_arrives(way):
    reference = Reference.trapezoidal([0.0, 0.2], [way, 0.2], speed=[1.0, 2.0], acceleration=[4.0, 1.0])
    times = np.linspace(0, reference.duration, 2001)
    q, qd, qdd = (np.array([reference(t)[k] for t in times]) for k in range(3))
    assert np.max(np.abs(qd[:, 0])) <= 1.0 + 1e-9 and np.max(np.abs(qdd[:, 0])) <= 4.0 + 1e-9
    assert_allclose(q[-1], [way, 0.2], atol=1e-12)
    assert_allclose(np.diff(q[:, 0]) / np.diff(times), (qd[1:, 0] + qd[:-1, 0]) / 2, atol=2e-3)
    fastest = way / 1.0 + 1.0 / 4.0 if way > 0.25 else 2 * np.sqrt(way / 4.0)
    assert_allclose(reference.duration, fastest, rtol=1e-9)


# -- another route -----------------------------------------------------------------------------------------

def test_computed_torque_is_the_printed_law(rng):
    arm, Kp, Kd = of_model(puma560()), rng.uniform(10, 100, 6), rng.uniform(5, 20, 6)
    reference = Reference.quintic(np.zeros(6), np.ones(6), 1.0)
    for q, qd in rng.normal(size=(5, 2, 6)):
        q_d, qd_d, qdd_d = reference(0.4)
        q = q_d + 0.1 * q
        printed = (crba(arm.model, q) @ (qdd_d + Kd * (qd_d - qd) + Kp * (q_d - q)) + coriolis(arm.model, q, qd) @ qd
                   + gravity(arm.model, q))
        assert_allclose(computed_torque(arm, reference, Kp, Kd)(0.4, q, qd), printed, atol=1e-10)


def test_laws_at_a_point_pull_along_virtual_work(rng):
    arm, r = puma560(), np.array([0.0, 0.1, 0.2])
    q, goal, K, D = rng.normal(size=6), rng.normal(size=3), np.diag([100.0, 200.0, 50.0]), np.eye(3)
    law = impedance(arm, 3, r, goal, K, D)

    def spring(q):
        gap = goal - point(arm, q, 3, r)
        return gap @ K @ gap / 2

    slope = [(spring(q + 1e-6 * e) - spring(q - 1e-6 * e)) / 2e-6 for e in np.eye(6)]
    assert_allclose(law(0, q, np.zeros(6)) - gravity(arm, q), -np.array(slope), atol=1e-5)
    push = hybrid(arm, 3, r, (0, 0, 2.0), 7.0, goal, K, D)(0, q, np.zeros(6)) - gravity(arm, q)
    J = point_jacobian(arm, q, 3, r)
    lateral = np.diag([1, 1, 0]) @ K @ (goal - point(arm, q, 3, r))
    assert_allclose(push, J.T @ (lateral + [0, 0, 7.0]), atol=1e-10)


# -- physics -----------------------------------------------------------------------------------------------

def test_gravity_compensation_holds_where_plain_feedback_sags():
    arm, goal, Kp = of_model(two_link()), np.array([0.4, 0.6]), np.array([50.0, 30.0])
    run = simulate(arm, goal - 0.3, [0, 0], np.linspace(0, 6, 601), tau=pd_gravity(arm.model, goal, Kp, np.array([12.0, 3.0])))
    assert_allclose(run.q[-1], goal, atol=1e-5)
    wrong = two_link(m2=2.2)
    sag = simulate(arm, goal, [0, 0], np.linspace(0, 6, 601), tau=pd_gravity(wrong, goal, Kp, np.array([12.0, 3.0])))
    e = goal - sag.q[-1]
    assert_allclose(Kp * e, gravity(arm.model, sag.q[-1]) - gravity(wrong, sag.q[-1]), atol=1e-4)


def test_feedforward_tracks_with_feedback_outside():
    arm, reference = of_model(two_link()), Reference.quintic([0.0, 0.0], [1.0, -1.0], 1.0)
    law = feedforward(arm, reference, np.array([20.0, 10.0]), np.array([4.0, 2.0]))
    run = simulate(arm, [0, 0], [0, 0], np.linspace(0, 1, 501), tau=law)
    assert_allclose(run.q[-1], [1, -1], atol=1e-7)


def test_the_adaptive_law_tracks_without_knowing_the_payload():
    true = two_link(m2=3.0)
    guess = np.concatenate([body.inertia.parameters for body in two_link().bodies])
    reference = lambda t: (np.array([np.sin(t), np.cos(1.3 * t)]), np.array([np.cos(t), -1.3 * np.sin(1.3 * t)]),
                           np.array([-np.sin(t), -1.69 * np.cos(1.3 * t)]))
    law = slotine_li(true, reference, 4.0, np.array([10.0, 5.0]), 0.3, guess)
    run = simulate(of_model(true), reference(0)[0], reference(0)[1], np.linspace(0, 8, 801), tau=sampled(law, 0.01))
    error = np.abs(np.array([reference(t)[0] for t in run.t]) - run.q).max(axis=1)
    assert error[-200:].max() < 0.15 * error[:200].max()


def test_sampling_holds_and_saturation_cuts():
    calls = []
    held = sampled(lambda t, q, qd: calls.append(t) or np.array([t]), 0.1)
    assert [held(t, None, None)[0] for t in (0.0, 0.05, 0.1, 0.19, 0.2)] == [0.0, 0.0, 0.1, 0.1, 0.2] and len(calls) == 3
    assert_allclose(saturated(lambda t, q, qd: np.array([5.0, -9.0]), [2.0, 10.0])(0, None, None), [2, -9])


# -- published numbers -------------------------------------------------------------------------------------

def test_the_computed_torque_of_the_examples():
    case = load("examples")["two_link"]["computed_torque"]
    reference = lambda t: tuple(np.array(case[k]) for k in ("q_d", "qd_d", "qdd_d"))
    law = computed_torque(of_model(two_link()), reference, np.array(case["Kp_diag"]), np.array(case["Kd_diag"]))
    assert_allclose(law(0, np.array(case["q"]), np.array(case["qd"])), case["tau_rigid"], atol=1e-12)


def test_T01_only_continuous_joints_are_wrapped():
    from dataclasses import replace
    case = fault("T01")
    model = model_of(case["model"])
    limits = case["inputs"]["joint_limits"]
    model = replace(model, bodies=tuple(replace(body, joint=Joint(body.joint.kind, body.joint.axis, limits=limit and tuple(limit)))
                                        for body, limit in zip(model.bodies, limits)))
    q, q_d, qd = (np.array(case["inputs"][k]) for k in ("q", "q_ref", "qd"))
    e = angle_error(model, q_d, q)
    assert_allclose(e, case["expected"]["error"], atol=1e-9)


@pytest.mark.parametrize("call, message", [
    (lambda: critically_damped([1.0, -2.0]), "omega must be positive"),
    (lambda: Reference.quintic([0], [1], 0.0), "duration must be positive"),
    (lambda: Reference.trapezoidal([0.0], [1.0], 0.0, 1.0), "speed and acceleration must be positive"),
    (lambda: impedance(two_link(), 1, (0, 0, 0), (1, 2), np.eye(3), np.eye(3)), r"goal has shape \(2,\)"),
    (lambda: slotine_li(two_link(), None, 1, 1, 1, np.zeros(10)), r"pi has shape \(10,\)")])
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("case", [c for c in load("open_6_standard_form")["cases"] if c["id"].startswith("computed_torque")],
                         ids=lambda case: case["id"])
def test_the_published_decay_of_computed_torque(case):
    """First torque, then error and its rate along the simulated motion, on the compiled model."""
    model, w = model_of(case["model"]), np.array(case["omega"])
    A, om, ph = (np.array(case[k]) for k in ("A", "om", "ph"))
    reference = lambda t: (A * np.sin(om * t + ph), A * om * np.cos(om * t + ph), -A * om**2 * np.sin(om * t + ph))
    arm = compiled(model)
    law = computed_torque(arm, reference, w**2, 2 * w)
    q0, qd0 = np.array(case["q0"]), np.array(case["qd0"])
    assert_allclose(law(0.0, q0, qd0), case["tau0"], rtol=1e-9, atol=1e-9)
    run = simulate(arm, q0, qd0, np.array(case["t"]), tau=law, method="DOP853")
    error = np.array([reference(t)[0] - q for t, q in zip(run.t, run.q)])
    rate = np.array([reference(t)[1] - qd for t, qd in zip(run.t, run.qd)])
    assert_allclose(error, case["e"], atol=1e-7)
    assert_allclose(rate, case["edot"], atol=1e-6)
