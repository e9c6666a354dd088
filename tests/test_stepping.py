"""Time stepping and event-driven motion with contacts, against closed forms, each other and the energy
ledger."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import fault, load
from scipy.integrate import solve_ivp

from lagrangebook.constraints import constrained, point_loop
from lagrangebook.contact.cone import solve_contact
from lagrangebook.contact.gaps import contacts, point_plane, sphere_plane, sphere_sphere
from lagrangebook.contact.stepping import moreau_jean_step
from lagrangebook.contact.sweeps import fastest, swept
from lagrangebook.inertia import Inertia, point_mass
from lagrangebook.mechanisms import (ball, bouncing_ball, box_on_corners, pendulum, pile, rocking_block,
                                     rocking_state, sliding_rod, vertical_mass, walker)
from lagrangebook.model import GROUND, Body, Joint, Model
from lagrangebook.simulate import simulate
from lagrangebook.spatial import Pose
from lagrangebook.standard_form import of_model
from lagrangebook.tape import compiled


def case(name):
    return next(c for c in load("open_5_contact")["cases"] if c["id"] == name)["cases"]


def height_of_bounces(c, t):
    """Closed form: parabolas between the published impacts."""
    start, v = c["impact_times"][0], c["pre_impact_speeds"][0] * c["e"]
    while start + 2 * v / c["g"] < t:
        start, v = start + 2 * v / c["g"], v * c["e"]
    return v * (t - start) - c["g"] * (t - start)**2 / 2


# -- closed forms and published numbers --------------------------------------------------------------------

def test_a_ball_bounces_at_the_published_times_and_comes_to_rest():
    c = case("bouncing_ball")[1]
    m = bouncing_ball(1.0, c["e"], c["g"])
    run = simulate(of_model(m.model), [c["h0"]], [c["v0"]], np.linspace(0, 2.2, 12), method="event",
                   contacts=m.contacts)
    assert_allclose([s.t for s in run.events[:8]], c["impact_times"], atol=1e-12)
    assert_allclose(run.events[-1].t, c["zeno_time"], atol=1e-6)
    assert run.status == "finished" and run.events[-1].mode != "open"
    assert_allclose(run.energy.balance, 0, atol=1e-12)
    assert_allclose(run.energy.impact[-1], c["g"] * c["h0"], rtol=1e-9)


def test_too_many_bounces_between_two_samples_end_the_run_with_a_status(monkeypatch):
    monkeypatch.setattr("lagrangebook.contact.events.CROWDED", 8)
    m = bouncing_ball(e=0.8)
    run = simulate(of_model(m.model), [1.0], [0.0], [0, 4.0], method="event", contacts=m.contacts,
                   rest_speed=0.0)
    assert run.status == "zeno" and len(run.t) == 1


def test_the_error_of_time_steps_falls_with_the_step():
    c, errors = case("bouncing_ball")[0], []
    m = bouncing_ball(1.0, c["e"], c["g"])
    for n in (100, 200, 400, 800):
        run = simulate(of_model(m.model), [c["h0"]], [0.0], np.linspace(0, 1.5, n + 1), method="moreau_jean",
                       contacts=m.contacts)
        errors.append(abs(run.q[-1, 0] - height_of_bounces(c, 1.5)))
        assert_allclose(run.energy.balance, 0, atol=1e-11)
        assert np.min(run.q) >= 0
    assert 0.7 < np.polyfit(np.log([1 / 100, 1 / 200, 1 / 400, 1 / 800]), np.log(errors), 1)[0] < 1.4


@pytest.mark.parametrize("c", case("time_stepping_sliding_block"), ids=lambda c: f"{c['dt']}")
def test_a_sliding_block_stops_as_the_published_scheme_says(c):
    m = ball(share=1.0, R=1.0)
    slide = contacts(point_plane(m.model, 0, (0, 0, 0), mu=c["mu"]))
    t = c["dt"] * np.arange(len(c["v"]))
    run = simulate(of_model(m.model), [0, 0, 0], [c["v0"], 0, 0], t, method="moreau_jean", contacts=slide,
                   theta=1.0)
    assert_allclose(run.qd[:, 0], c["v"], atol=1e-12)
    assert_allclose(run.q[:, 0], c["x"], atol=1e-12)
    exact = simulate(of_model(m.model), [0, 0, 0], [c["v0"], 0, 0], [0, 1.0], method="event", contacts=slide)
    assert_allclose(exact.q[-1, 0], c["exact_stop_distance"], atol=1e-10)
    assert_allclose([s.t for s in exact.events if s.mode == "stick"], [c["exact_stop_time"]], atol=1e-10)
    assert_allclose(exact.energy.dissipation[-1], c["v0"]**2 / 2, atol=1e-10)


def test_a_rocking_block_meets_the_floor_after_its_quarter_period():
    c = case("rocking_block_housner")[0]
    m = rocking_block(c["half_width"], c["half_height"])
    q0 = rocking_state(c["half_width"], c["half_height"], c["theta0"])
    run = simulate(compiled(m.model, "python"), q0, [0, 0, 0], np.linspace(0, 0.5, 26), method="event",
                   contacts=m.contacts)
    assert_allclose(run.events[0].t, c["quarter_period_exact"], atol=1e-6)
    lost = (1 - c["kinetic_energy_ratio"]) * c["impact_speed"]**2 / 2 * 4 / 3 * c["R"]**2
    assert_allclose(run.energy.impact[-1], lost, rtol=1e-5)
    assert_allclose(run.energy.balance, 0, atol=1e-5)


def test_the_block_on_the_table_carries_its_weight_and_lifts_off_when_pulled():
    data = load("examples")["block_on_table"]
    model = vertical_mass(data["parameters"]["m"], data["parameters"]["g"])
    floor = contacts(point_plane(model, 0, (0, 0, 0), (0, 1, 0)))
    for pull in data["pull_cases_acceleration_LCP"]:
        step = moreau_jean_step(of_model(model), [0.0], np.zeros(1), 0.01, floor, tau=[pull["pull_up_N"]])
        assert_allclose(step.p[0, 0] / 0.01, pull["lambda"], atol=1e-9)
        assert_allclose(step.qd[0] / 0.01, pull["gap_acceleration"], atol=1e-9)


def test_a_box_on_four_corners_slides_and_sticks():
    for c in case("box_four_corners")[:2]:
        m = box_on_corners(c["half_x"], c["half_y"], c["com_height"], c["m"], c["mu"])
        q0 = np.array([0, 0, c["com_height"], 0, 0, 0, 1.0])
        pull = np.array([0, c["F"] * (c["force_height"] - c["com_height"]), 0, c["F"], 0, 0])
        step = moreau_jean_step(of_model(m.model), q0, np.zeros(6), 0.01, m.contacts, tau=pull, theta=1.0)
        assert_allclose(step.qd, [0, 0, 0, 0.01 * c["acceleration"], 0, 0], atol=1e-8)
        assert_allclose(np.sum(step.p[:2, 0]) / 0.01, c["front_pair_normal_sum"], rtol=1e-6)
        assert_allclose(np.linalg.norm(step.p[:, 1:].sum(axis=0)) / 0.01, c["total_friction"], rtol=1e-6)


def test_K04_friction_in_a_step_opposes_the_slip_with_its_whole_disc():
    case = fault("K04")
    given, g = case["inputs"], 10.0
    m, slip = given["normal"] / g, np.array(given["slip_velocity"])
    axes = np.eye(3)
    slides = tuple(Body(f"slide {i}", i - 1, Joint("prismatic", axis), Pose(), point_mass(m if i == 2 else 0))
                   for i, axis in enumerate(axes))
    model = Model(slides, gravity=(0, 0, -g))
    floor = contacts(point_plane(model, 2, (0, 0, 0), mu=given["mu"]))
    step = moreau_jean_step(of_model(model), np.zeros(3), [*slip, 0.0], 0.01, floor)
    assert_allclose(step.p[0, 1:] / 0.01, case["expected"]["sliding_force"], atol=1e-9)
    for wrong in case["faulty_result"].values():
        assert np.max(abs(step.p[0, 1:] / 0.01 - np.array(wrong))) > 0.1
    mean = slip + np.array(case["expected"]["sliding_force"]) / m * 0.005
    power = -np.dot(case["expected"]["sliding_force"], mean)
    assert_allclose(step.works[1], 0.01 * power, atol=1e-12)
    again = moreau_jean_step(of_model(model), np.zeros(3), [*slip, 0.0], 0.01, floor, start=-step.p)
    assert_allclose(again.p, step.p, atol=1e-12)


def table_with_block(M=4.0, m=1.0, mu=0.3):
    """A block that may lie on a table that moves along x: q = (table; x, y, angle of the block)."""
    block = Inertia(m, np.zeros(3), np.diag([0, 0, m / 6]))
    model = Model((Body("table", GROUND, Joint("prismatic", (1, 0, 0)), Pose(), point_mass(M)),
                   Body("block", GROUND, Joint("planar"), Pose(), block)), gravity=(0, -9.81, 0))
    corners = [point_plane(model, 1, (x, -0.25, 0), (0, 1, 0), mu=mu, body_b=0) for x in (-0.5, 0.5)]
    return model, contacts(corners)


def test_a_block_stays_on_a_table_that_shakes_gently():
    """F = (M + m) a cos ωt with a < μ g: both move as one mass, and friction is what moves the block,
    m a cos ωt."""
    M, m, mu, a, w = 4.0, 1.0, 0.3, 2.0, 8.0
    model, corners = table_with_block(M, m, mu)
    force = lambda t, q, qd: np.array([(M + m) * a * np.cos(w * t), 0, 0, 0])
    t = np.linspace(0, 1.5, 601)
    run = simulate(of_model(model), [0, 0, 0.25, 0], np.zeros(4), t, tau=force, method="moreau_jean",
                   contacts=corners)
    assert run.status == "finished"
    assert_allclose(run.q[:, 1], run.q[:, 0], atol=1e-12)
    assert_allclose(run.qd[:, 0], a / w * np.sin(w * t), atol=1e-4)
    middle = (t[1:] + t[:-1]) / 2
    assert_allclose(run.impulses[1:, :, 1].sum(axis=1) / np.diff(t), m * a * np.cos(w * middle), atol=1e-6)


def test_a_block_slides_on_a_table_that_is_pulled_hard_until_both_are_one():
    """F for the time T: μ g for the block, (F − μ m g)/M for the table; then the gap in speed closes at μ g
    (1 + m/M)."""
    M, m, mu, F, T, g = 4.0, 1.0, 0.3, 30.0, 0.2, 9.81
    model, corners = table_with_block(M, m, mu)
    run = simulate(of_model(model), [0, 0, 0.25, 0], np.zeros(4), np.linspace(0, 1, 401),
                   method="moreau_jean",
                   contacts=corners, tau=lambda t, q, qd: np.array([F * (t < T), 0, 0, 0]))
    pulled = round(T / run.t[1])
    assert_allclose(run.qd[pulled, :2], [(F - mu * m * g) / M * T, mu * g * T], atol=1e-10)
    catch = T + (run.qd[pulled, 0] - run.qd[pulled, 1]) / (mu * g * (1 + m / M))
    apart = run.qd[:, 0] - run.qd[:, 1]
    assert np.all(apart[1:][run.t[1:] < catch - 0.003] > 0)
    assert np.max(abs(apart[run.t > catch + 0.003])) < 1e-10
    assert_allclose(run.qd[-1, :2], F * T / (M + m), atol=1e-10)
    assert_allclose(run.energy.balance, 0, atol=1e-10)


def test_a_ball_pushed_along_a_floor_in_space_rolls_with_five_sevenths_of_its_speed():
    """It slides for 2 v/(7 μ g); contact and spin in body axes of a ball that has been turned."""
    mu, R, g, v = 0.2, 0.1, 9.81, np.array([0.4, 0.3])
    m = pile(1, R, mu=mu, space=True, across=6, g=g)
    q0 = m.model.integrate(m.model.zero, np.array([0.4, -0.7, 0.2, 0, 0, 0]), 1.0)
    frame = m.contacts.rows(q0, np.array([0]))[0, :, 3:]            # n, t₁, t₂ in the ball's axes
    qd0, speed = np.concatenate([np.zeros(3), v @ frame[1:]]), np.linalg.norm(v)
    end = 2 * speed / (7 * mu * g)
    errors = []
    for steps in (100, 200):
        t = np.linspace(0, 2 * end, steps + 1)
        run = simulate(of_model(m.model), q0, qd0, t, method="moreau_jean", contacts=m.contacts)
        moving, turning = np.linalg.norm(run.qd[:, 3:], axis=1), R * np.linalg.norm(run.qd[:, :3], axis=1)
        errors.append([np.max(abs(moving - np.maximum(speed - mu * g * t, 5 / 7 * speed))),
                       np.max(abs(turning - np.minimum(5 / 2 * mu * g * t, 5 / 7 * speed)))])
    coarse, fine = np.array(errors)
    assert np.all(fine < 3e-3 * speed) and np.all(fine < 0.6 * coarse)


def test_the_walkers_stance_foot_stands_while_its_legs_swing_as_the_published_equations_say():
    """Feet of 1e-5 on the floor by contact alone, no constraint: θ̈ = sin(θ − γ), φ̈ = θ̈ + θ̇² sin φ −
    cos(θ − γ) sin φ."""
    m, slope, start = walker(foot=1e-5), 0.009, [0.2003, 0.4006, -0.1998, -0.0158]

    def swing(t, y):
        turn = np.sin(y[0] - slope)
        return [y[2], y[3], turn, turn + y[2]**2 * np.sin(y[1]) - np.cos(y[0] - slope) * np.sin(y[1])]
    errors = []
    for steps in (100, 200):
        run = simulate(of_model(m.model), [0, 0, *start[:2]], [0, 0, *start[2:]],
                       np.linspace(0, 2, steps + 1), method="moreau_jean", contacts=m.contacts[:1])
        exact = solve_ivp(swing, (0, 2), start, rtol=1e-10, atol=1e-12).y[:, -1]
        errors.append(np.max(abs(np.concatenate([run.q[-1, 2:], run.qd[-1, 2:]]) - exact)))
        assert run.status == "finished" and np.max(abs(run.q[:, :2])) < 1e-9
    assert errors[1] < 5e-3 and errors[1] < 0.7 * errors[0]


# -- other routes ------------------------------------------------------------------------------------------

def test_balls_over_arrays_have_the_gaps_and_rows_of_single_contacts(rng):
    m = pile(4)
    model, together = m.model, m.contacts
    walls = [sphere_plane(model, i, (0, 0, 0), 0.1, n, o, mu=0.5) for i in range(4)
             for n, o in zip(together.normals, together.offsets)]
    pairs = [sphere_sphere(model, i, (0, 0, 0), 0.1, j, (0, 0, 0), 0.1, mu=0.5) for i in range(4)
             for j in range(i + 1, 4)]
    q = model.integrate(model.zero, 0.05 * rng.normal(size=model.n), 1.0)
    for mine, other in zip(together.look(q), contacts(walls, pairs).look(q)):
        assert_allclose(mine, other, atol=1e-14)


def test_sweeps_by_the_compiler_and_by_plain_python_are_the_same_and_end_where_newton_does(rng):
    R = rng.normal(size=(12, 15))
    W, b, mu = R @ R.T + np.eye(12), R @ rng.normal(size=15), rng.uniform(0.2, 1, 4)
    first, weight = 3 * np.arange(4), np.empty((4, 2))
    for i, n in enumerate(first):
        weight[i] = W[n, n], np.linalg.norm(W[n + 1:n + 3, n + 1:n + 3], 2)
    few, same = (f(np.zeros(12), W, b, mu, first, first + 3, weight, 5) for f in (swept, fastest()))
    assert_allclose(few, same, atol=1e-13)
    assert_allclose(swept(few, W, b, mu, first, first + 3, weight, 5000), solve_contact(W, b, mu, [3] * 4).p,
                    atol=1e-10)


def test_a_bilateral_constraint_is_kept_in_the_same_step():
    """A double pendulum whose tip slides down a vertical line, onto a floor."""
    model = pendulum(2)
    rail = point_loop(model, 1, (0, -1, 0), -1, (0.8, 0, 0), [[1, 0, 0]])
    dynamics = constrained(of_model(model), rail)
    floor = contacts(point_plane(model, 1, (0, -1, 0), (0, 1, 0), -1.7))
    start = dynamics.settled(np.array([0.9, -1.2]), np.zeros(2))[0]
    run = simulate(dynamics, start, [0.0, 0.0], np.linspace(0, 1, 201), method="moreau_jean", contacts=floor)
    assert max(abs(rail.phi(q)[0]) for q in run.q) < 1e-10
    assert min(floor.gap(q)[0] for q in run.q) > -1e-4
    assert np.sum(run.impulses[:, 0, 0]) > 0


def test_compiled_and_plain_models_step_alike():
    m = ball()
    steps = [moreau_jean_step(dynamics, [0, 0.1, 0], np.array([1.0, -1, 5]), 0.01, m.contacts)
             for dynamics in (of_model(m.model), compiled(m.model, "python"))]
    assert_allclose(steps[0].qd, steps[1].qd, atol=1e-12)


# -- physics -----------------------------------------------------------------------------------------------

def test_painleves_rod_stops_the_run_where_no_force_is_right():
    c = case("painleve_rod")[1]
    m = sliding_rod(c["mu"])
    q0, w = np.array([0, np.sin(c["theta"]), c["theta"]]), c["thetadot"]
    qd0 = [-5.0, -w * np.cos(c["theta"]) * -1, w]
    run = simulate(of_model(m.model), q0, qd0, [0, 0.01], method="event", contacts=m.contacts)
    assert run.status == "impulse"


def test_a_small_pile_comes_down_without_passing_through_itself():
    m = pile(6, across=3)
    run = simulate(compiled(m.model, "python"), m.model.zero, np.zeros(m.model.n), np.linspace(0, 1, 201),
                   method="moreau_jean", contacts=m.contacts, theta=1.0)
    assert run.status in ("finished", "limit") and min(m.contacts.gap(q).min() for q in run.q) > -1e-3
    assert np.all(np.diff(run.energy.total) < 1e-6)


@pytest.mark.parametrize("seconds", [1, pytest.param(10, marks=pytest.mark.full)])
def test_a_pile_of_twenty_discs_comes_down_and_stays(seconds):
    """Every step solved, nothing overlaps, the ledger closes; at rest the walls bear what the weight asks
    for."""
    m, dt = pile(), 0.005
    run = simulate(compiled(m.model, "python"), m.model.zero, np.zeros(60),
                   np.linspace(0, seconds, round(seconds / dt) + 1),
                   method="moreau_jean", contacts=m.contacts)
    assert run.status == "finished" and len(run.t) == round(seconds / dt) + 1
    assert min(m.contacts.gap(q).min() for q in run.q) > -1e-9
    assert_allclose(run.energy.balance, 0, atol=1e-9)
    assert np.all(np.diff(run.energy.total) < 1e-3) and np.all(np.diff(run.energy.impact
                                                                       + run.energy.dissipation) > -1e-3)
    sizes = np.linalg.norm(run.impulses[:, :, 1:], axis=2)
    assert np.all(run.impulses[:, :, 0] >= -1e-9) and np.all(sizes <= 0.5 * run.impulses[:, :, 0] + 1e-9)
    if seconds == 10:
        assert np.max(abs(run.qd[-1])) < 1e-9
        walls = run.impulses[-1, :60].reshape(20, 3, 2).sum(axis=0)             # floor, left and right wall
        up = walls[0, 0] + np.sum([p[1] * np.cross(n, (0, 0, 1))[1] for p,
                                   n in zip(walls, m.contacts.normals)])
        assert_allclose(up, 20 * 9.81 * dt, rtol=1e-9)


def test_a_pile_of_balls_in_space_comes_down_without_passing_through_itself():
    m = pile(9, across=2, space=True)
    run = simulate(compiled(m.model, "python"), m.model.zero, np.zeros(54), np.linspace(0, 0.6, 121),
                   method="moreau_jean", contacts=m.contacts, theta=1.0)
    assert run.status == "finished" and min(m.contacts.gap(q).min() for q in run.q) > -1e-9
    assert np.all(np.diff(run.energy.total) < 0) and run.energy.total[-1] > 9 * 9.81 * 0.1
    assert run.energy.impact[-1] > 0.1 and np.sum(run.impulses[:, :, 0] > 0) > 100


def test_options_belong_to_contacts():
    with pytest.raises(ValueError, match="contacts"):
        simulate(of_model(vertical_mass()), [0.0], [0.0], [0, 1], method="moreau_jean")
