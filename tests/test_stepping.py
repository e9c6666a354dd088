"""Time stepping and event-driven motion with contacts, against closed forms, each other and the energy ledger."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import load

from lagrangebook.constraints import constrained, point_loop
from lagrangebook.contact.gaps import contacts, point_plane, sphere_plane, sphere_sphere
from lagrangebook.contact.stepping import moreau_jean_step
from lagrangebook.mechanisms import (ball, bouncing_ball, box_on_corners, pendulum, pile, rocking_block, rocking_state,
                                     sliding_rod, vertical_mass)
from lagrangebook.simulate import simulate
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
    run = simulate(of_model(m.model), [c["h0"]], [c["v0"]], np.linspace(0, 2.2, 12), method="event", contacts=m.contacts)
    assert_allclose([s.t for s in run.events[:8]], c["impact_times"], atol=1e-12)
    assert_allclose(run.events[-1].t, c["zeno_time"], atol=1e-6)
    assert run.status == "finished" and run.events[-1].mode != "open"
    assert_allclose(run.energy.balance, 0, atol=1e-12)
    assert_allclose(run.energy.impact[-1], c["g"] * c["h0"], rtol=1e-9)


def test_too_many_bounces_between_two_samples_end_the_run_with_a_status(monkeypatch):
    monkeypatch.setattr("lagrangebook.contact.events.CROWDED", 8)
    m = bouncing_ball(e=0.8)
    run = simulate(of_model(m.model), [1.0], [0.0], [0, 4.0], method="event", contacts=m.contacts, rest_speed=0.0)
    assert run.status == "zeno" and len(run.t) == 1


def test_the_error_of_time_steps_falls_with_the_step():
    c, errors = case("bouncing_ball")[0], []
    m = bouncing_ball(1.0, c["e"], c["g"])
    for n in (100, 200, 400, 800):
        run = simulate(of_model(m.model), [c["h0"]], [0.0], np.linspace(0, 1.5, n + 1), method="moreau_jean", contacts=m.contacts)
        errors.append(abs(run.q[-1, 0] - height_of_bounces(c, 1.5)))
        assert_allclose(run.energy.balance, 0, atol=1e-11)
        assert np.min(run.q) >= 0
    assert 0.7 < np.polyfit(np.log([1 / 100, 1 / 200, 1 / 400, 1 / 800]), np.log(errors), 1)[0] < 1.4


@pytest.mark.parametrize("c", case("time_stepping_sliding_block"), ids=lambda c: f"{c['dt']}")
def test_a_sliding_block_stops_as_the_published_scheme_says(c):
    m = ball(share=1.0, R=1.0)
    slide = contacts(point_plane(m.model, 0, (0, 0, 0), mu=c["mu"]))
    t = c["dt"] * np.arange(len(c["v"]))
    run = simulate(of_model(m.model), [0, 0, 0], [c["v0"], 0, 0], t, method="moreau_jean", contacts=slide, theta=1.0)
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
    run = simulate(compiled(m.model, "python"), q0, [0, 0, 0], np.linspace(0, 0.5, 26), method="event", contacts=m.contacts)
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


# -- other routes ------------------------------------------------------------------------------------------

def test_balls_over_arrays_have_the_gaps_and_rows_of_single_contacts(rng):
    m = pile(4)
    model, together = m.model, m.contacts
    walls = [sphere_plane(model, i, (0, 0, 0), 0.1, n, o, mu=0.5) for i in range(4)
             for n, o in zip(together.normals, together.offsets)]
    pairs = [sphere_sphere(model, i, (0, 0, 0), 0.1, j, (0, 0, 0), 0.1, mu=0.5) for i in range(4) for j in range(i + 1, 4)]
    q = model.integrate(model.zero, 0.05 * rng.normal(size=model.n), 1.0)
    for mine, other in zip(together.look(q), contacts(walls, pairs).look(q)):
        assert_allclose(mine, other, atol=1e-14)


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


def test_options_belong_to_contacts():
    with pytest.raises(ValueError, match="contacts"):
        simulate(of_model(vertical_mass()), [0.0], [0.0], [0, 1], method="moreau_jean")
