"""Contact: gaps and their rows, accelerations and forces with Coulomb's law, and what happens where there
are none."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from contact_problems import any_problem, law_defect
from random_models import any_tree
from reference import assert_close, fault, load
from scipy.optimize import minimize, nnls

from lagrangebook.constraints import delassus, point_loop
from lagrangebook.contact.cone import coulomb_residual, friction_cone, onto_disc, solve_contact
from lagrangebook.contact.forces import contact_accelerations, force_bounds
from lagrangebook.contact.gaps import (Contacts, contacts, moves_in_plane, point_curve, point_plane,
                                       sphere_plane, sphere_sphere)
from lagrangebook.contact.surfaces import curve, level
from lagrangebook.inertia import Inertia, box, point_mass
from lagrangebook.model import GROUND, Body, Joint, Model
from lagrangebook.spatial import Pose
from lagrangebook.standard_form import of_model
from lagrangebook.tape import compiled

assert_allclose = partial(np.testing.assert_allclose, rtol=0)

G = 9.81
EX, EY, EZ = np.eye(3)


def cases(identity):
    """(case, its common values) of the contact reference."""
    case = next(case for case in load("open_5_contact")["cases"] if case["id"] == identity)
    return case["cases"]


def single(kind, inertia, axis=EZ, gravity=(0, -G, 0)):
    """One body on one joint from the world."""
    return Model((Body("body", GROUND, Joint(kind, axis), Pose(), inertia),), gravity=gravity)


def planar_body(mass, about_z):
    return single("planar", Inertia(mass, (0, 0, 0), np.diag([0, 0, about_z])))


def particle(mass, axes=np.eye(3), gravity=(0, 0, -G)):
    """A point mass that slides along the axes, one after the other."""
    bodies = [Body(f"slide {i}", i - 1, Joint("prismatic", axis), Pose(),
                   point_mass(mass) if i == len(axes) - 1 else point_mass(0)) for i, axis in enumerate(axes)]
    return Model(tuple(bodies), gravity=gravity)


def solved(model, items, q, qd, tau=None, **more):
    """contact_accelerations of a model."""
    form = of_model(model)(np.asarray(q, dtype=float), np.asarray(qd, dtype=float))
    return contact_accelerations(form, np.zeros(model.n) if tau is None else np.asarray(tau, dtype=float),
                                 items if isinstance(items, Contacts) else contacts(items),
                                 np.asarray(q, float),
                                 np.asarray(qd, float), **more)


# -- gaps ----------------------------------------------------------------------------------------------------

BOWL = level(lambda y: y @ np.diag([0.5, 2, 1]) @ y - 1, lambda y: np.diag([1.0, 4, 2]) @ y,
             lambda y: np.diag([1.0, 4, 2]), k=3)
VALLEY = curve(lambda s: np.array([s, s**2 / 5]), lambda s: np.array([1, 2 * s / 5]),
               lambda s: np.array([0, 0.4]), (-30, 30))


def all_kinds(model, rng):
    """A contact of every kind between the last body of the model and the ground or the first body."""
    r = partial(rng.normal, size=3)
    last, first = model.N - 1, 0 if model.N > 1 else GROUND
    return contacts(point_plane(model, last, r(), r(), 0.3),
                    sphere_plane(model, last, r(), 0.2, r(), body_b=first),
                    sphere_sphere(model, last, r(), 0.2, first, r(), 0.4),
                    sphere_sphere(model, last, r(), 0, GROUND, r(), 0),
                    point_curve(model, last, r(), BOWL, radius=0.1, body_b=first),
                    point_curve(model, last, r(), VALLEY, radius=0.1))


@pytest.mark.parametrize("seed", range(12))
def test_rows_and_bias_are_the_derivatives_of_gap_and_rows(seed):
    """Moving points, turning planes and curved surfaces; differences along the motion, O(eps²) ≈ 1e-8."""
    model, q, qd, _ = any_tree(seed, 5)
    items, eps = all_kinds(model, np.random.default_rng(seed)), 1e-6
    _, J_N, _, bias_N, bias_T = items.look(q, qd)
    after, before = (items.look(model.integrate(q, qd, step)) for step in (eps, -eps))
    assert_close(J_N @ qd, (after[0] - before[0]) / (2 * eps), 1e-6)
    assert_close(bias_N, (after[1] - before[1]) @ qd / (2 * eps), 1e-6)
    assert_close(bias_T, (after[2] - before[2]) @ qd / (2 * eps), 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_rows_are_those_of_the_material_points_that_touch(seed):
    model, q, qd, _ = any_tree(seed, 5)
    for contact in all_kinds(model, np.random.default_rng(seed)):
        x, frame = contact.frame(q)
        assert_allclose(frame @ frame.T, np.eye(1 + contact.d), atol=1e-12)
        ends = (x + contact.gap(q) * frame[0], contact.a), (x, contact.b)
        loops = [point_loop(model, i, _in_body(model, q, i, at), GROUND if i != GROUND else 0, np.zeros(3))
                 for at, i in ends]
        u = loops[0].velocity(q, qd) - (0 if contact.b == GROUND else loops[1].velocity(q, qd))
        assert_close(np.vstack([contact.N(q), contact.T(q)]) @ qd, frame @ u)


def _in_body(model, q, i, x):
    from lagrangebook.kinematics import poses
    pose = poses(model, q)[i] if i != GROUND else Pose()
    return pose.R.T @ (x - pose.p)


def test_a_curve_given_by_points_and_by_an_equation_is_the_same_curve():
    model = planar_body(1.0, 0.1)
    parabola = level(lambda y: y[1] - y[0]**2 / 5, lambda y: np.array([-2 * y[0] / 5, 1]),
                     lambda y: np.diag([-0.4, 0]))
    q, qd = np.array([0.4, 0.9, 0.3]), np.array([0.7, -0.2, 1.1])
    one, other = (point_curve(model, 0, (0.1, -0.3, 0), surface, radius=0.05)
                  for surface in (VALLEY, parabola))
    assert_allclose(one.gap(q), other.gap(q), atol=1e-12)
    assert_allclose(one.N(q), other.N(q), atol=1e-10)
    assert_allclose(one.bias(q, qd), other.bias(q, qd), atol=1e-9)


def test_models_that_stay_in_the_plane_have_one_tangent_and_others_two():
    assert moves_in_plane(planar_body(1, 1)) and not moves_in_plane(particle(1.0))
    assert point_plane(planar_body(1, 1), 0, (0, 0, 0)).d == 1
    assert point_plane(particle(1.0), 2, (0, 0, 0)).d == 2
    in_xz = particle(1.0, (EX, EZ))
    assert point_plane(in_xz, 1, (0, 0, 0), tangents=EX).d == 1


def test_contacts_are_one_object_and_can_be_chosen_from():
    model = planar_body(1, 1)
    items = contacts(point_plane(model, 0, (x, 0, 0), mu=x, e=x / 2) for x in (0.2, 0.4, 0.6))
    assert_allclose(items.mu, [0.2, 0.4, 0.6])
    assert_allclose(items[np.array([True, False, True])].e, [0.1, 0.3])
    assert items[1].mu == 0.4 and len(items[:2]) == 2 and items.blocks[2] == slice(2, 3)


# -- one point -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("case", cases("point_mass_contact"), ids=lambda case: case["mode"])
def test_a_pushed_point_mass_sticks_slips_or_lifts_off(case):
    model = particle(case["m"])
    found = solved(model, [point_plane(model, 2, (0, 0, 0), mu=case["mu"])], np.zeros(3),
                   [*case["v_tangential"], 0], case["F"])
    assert found.status == "solved"
    assert found.modes == ({"slip onset": "slip", "lift-off": "separating"}.get(case["mode"], case["mode"]),)
    assert_close(found.qdd, case["acceleration"])
    assert_close([*found.lam_N, *found.lam_T], [case["N"], *case["friction"]])


@pytest.mark.parametrize("case", cases("block_on_incline"), ids=lambda case: f"{case['alpha']}")
def test_a_block_on_an_incline_slows_down_and_then_sticks_or_slides_back(case):
    up = np.array([np.cos(case["alpha"]), np.sin(case["alpha"]), 0])
    normal, v0 = np.cross(EZ, up), case["v0"]
    model = particle(1.0, (EX, EY), gravity=(0, -case["g"], 0))
    sliding = solved(model, [point_plane(model, 1, (0, 0, 0), normal, mu=case["mu_k"])], np.zeros(2),
                     (v0 * up)[:2])
    slowing = sliding.qdd @ up[:2]
    if not case["stops"]:
        assert_allclose(slowing, case["acceleration"], atol=1e-12)
        return
    assert_allclose([-v0 / slowing, -v0**2 / slowing / 2], [case["stop_time"], case["stop_displacement"]],
                    atol=1e-12)
    static = solved(model, [point_plane(model, 1, (0, 0, 0), normal, mu=case["mu_s"])], np.zeros(2),
                    np.zeros(2))
    assert static.modes == ("stick" if case["sticks_after"] else "slip",)
    if case["sticks_after"]:
        assert_allclose(abs(static.lam_T), case["friction_force_per_mass_when_stuck"], atol=1e-12)
    else:
        back = solved(model, [point_plane(model, 1, (0, 0, 0), normal, mu=case["mu_k"])], np.zeros(2),
                      -1e-3 * up[:2])
        assert_allclose(back.qdd @ up[:2], case["acceleration_after_reversal"], atol=1e-12)


@pytest.mark.parametrize("case", cases("ramped_pull"), ids=lambda case: f"{case['angle_above_horizontal']}")
def test_a_growing_pull_holds_until_its_threshold(case):
    model, angle, threshold = particle(case["mass"], (EX, EY),
                                       (0, -G, 0)), case["angle_above_horizontal"], case["threshold_force"]
    pull = np.array([np.cos(angle), np.sin(angle)])
    touch = {mu: [point_plane(model, 1, (0, 0, 0), mu=case[mu])] for mu in ("mu_s", "mu_k")}
    below, above = (solved(model, touch["mu_s"], np.zeros(2), np.zeros(2), share * threshold * pull)
                    for share in (1 - 1e-6, 1 + 1e-6))
    assert below.modes == ("stick",) and above.modes == ("slip",)
    assert_allclose(below.lam_N, case["normal_at_threshold"], atol=1e-4)
    assert_allclose(above.qdd, 0, atol=1e-4)
    moving = solved(model, touch["mu_k"], np.zeros(2), (1e-3, 0), threshold * pull)
    assert_allclose(moving.qdd[0], case["acceleration_just_after"], atol=1e-9)


@pytest.mark.parametrize("case", cases("rotating_pull"), ids=lambda case: f"{case['F']}")
def test_a_block_under_a_turning_pull_goes_round_in_its_circle(case):
    model, speed, lead = particle(case["mass"]), case["steady_speed"], case["angle_velocity_behind_force"]
    found = solved(model, [point_plane(model, 2, (0, 0, 0), mu=case["mu"])], np.zeros(3), (speed, 0, 0),
                   (case["F"] * np.cos(lead), case["F"] * np.sin(lead), 0))
    assert_allclose(found.qdd, (0, case["omega"] * speed, 0), atol=1e-9)
    assert_allclose(case["steady_radius"] * case["omega"], speed, atol=1e-12)


def test_a_point_leaves_a_smooth_ball_at_two_thirds_of_its_height():
    """cos θ = 2/3 from the top, where v² = 2 g R (1 − cos θ) asks for g cos θ = v²/R. The same from the
    ball's equation."""
    R = 1.5
    model = particle(0.7, (EX, EY), (0, -G, 0))
    ring = level(lambda y: y @ y - R**2, lambda y: 2 * y, lambda y: 2 * np.eye(2))
    for touch in (sphere_sphere(model, 1, (0, 0, 0), 0, GROUND, (0, 0, 0), R),
                  point_curve(model, 1, (0, 0, 0), ring)):
        for cosine, mode in ((0.70, "slip"), (0.64, "separating")):
            sine, v = np.sqrt(1 - cosine**2), np.sqrt(2 * G * R * (1 - cosine))
            found = solved(model, [touch], (R * sine, R * cosine), (v * cosine, -v * sine))
            assert found.modes == (mode,)
            assert_allclose(found.lam_N, [max(0, 0.7 * G * (3 * cosine - 2))], atol=1e-9)


def test_a_block_on_a_table_is_lifted_or_pushed():
    data = load("examples")["block_on_table"]
    model, table = particle(data["parameters"]["m"], (EX, EY), (0, -G, 0)), dict(mu=data["friction"]["mu"])
    for case in data["pull_cases_acceleration_LCP"]:
        found = solved(model, [point_plane(model, 1, (0, 0, 0))], np.zeros(2), np.zeros(2),
                       (0, case["pull_up_N"]))
        assert_allclose([found.lam_N[0], found.qdd[1]], [case["lambda"], case["gap_acceleration"]],
                        atol=1e-12)
    for push in (4, 8):
        found, case = (solved(model, [point_plane(model, 1, (0, 0, 0), **table)], np.zeros(2), np.zeros(2),
                              (push, 0)),
                       data["friction"][f"push_{push}N"])
        assert found.modes == (case["mode"],)
        assert_allclose([found.lam_T[0], found.qdd[0]], [case["friction"], case["acceleration"]], atol=1e-12)


def test_of_a_rod_on_two_ends_one_lifts_though_no_single_force_is_dropped():
    """Both forces of the equality solution are negative; dropping both lets one end fall through the
    floor."""
    data = load("examples")["block_on_table"]["rod_two_contacts"]
    model = planar_body(1.0, 1 / 3)
    touch = contacts(point_plane(model, 0, (side, 0, 0)) for side in (-1, 1))
    assert_allclose(delassus(of_model(model)(np.zeros(3), np.zeros(3)).M, touch.J_N(np.zeros(3))), data["W"],
                    atol=1e-12)
    for side in (1, -1):
        found = solved(model, touch, np.zeros(3), np.zeros(3), (0, data["F"], side * data["F"] * data["x"]))
        assert_allclose(found.lam_N[::side], data["LCP_lambda"], atol=1e-9)
        assert_allclose((touch.J_N(np.zeros(3)) @ found.qdd)[::side], data["LCP_gap_acceleration"], atol=1e-9)


# -- rods, ladders, boxes ------------------------------------------------------------------------------------

def ladder(length, angle, mu_floor=0.0, mu_wall=0.0):
    """A uniform ladder of unit mass, its foot on the floor y = 0 at the right, its top at the wall x = 0."""
    model, half = planar_body(1.0, length**2 / 12), length / 2
    q = np.array([half * np.cos(angle), half * np.sin(angle), np.pi - angle])
    floor = point_plane(model, 0, (-half, 0, 0), EY, mu=mu_floor)
    wall = point_plane(model, 0, (half, 0, 0), EX, mu=mu_wall)
    return model, contacts(floor, wall), q


@pytest.mark.parametrize("case", cases("ladder_static"), ids=lambda case: f"{case['mu_wall']}")
def test_a_ladder_stands_above_its_angle_and_slips_below(case):
    for by in (1e-5, -1e-5):
        model, touch, q = ladder(2.0, case["min_angle_from_floor"] + by, case["mu_floor"], case["mu_wall"])
        found = solved(model, touch, q, np.zeros(3))
        solutions = (found, *found.others)
        rests = [each for each in solutions if np.max(abs(each.qdd)) < 1e-9]
        assert len(rests) == (by > 0)


@pytest.mark.parametrize("case", cases("frictionless_ladder_leaves_wall"),
                         ids=lambda case: f"{case['length']}")
def test_a_smooth_ladder_leaves_the_wall_when_its_force_vanishes(case):
    model, touch, q = ladder(case["length"], case["theta0"])
    start = solved(model, touch, q, np.zeros(3))
    assert_allclose(start.lam_N[1] / G, case["wall_force_at_start_per_mg"], atol=1e-12)
    for by, mode in ((1e-4, "slip"), (-1e-4, "separating")):
        angle, half = case["leave_angle"] + by, case["length"] / 2
        rate = case["leave_thetadot"]
        model, touch, q = ladder(case["length"], angle)
        qd = np.array([-half * np.sin(angle) * rate, half * np.cos(angle) * rate, -rate])
        qd = qd * np.sqrt(3 * G / case["length"] * (np.sin(case["theta0"]) - np.sin(angle))) / abs(rate)
        found = solved(model, touch, q, qd)
        assert found.modes[1] == mode and found.lam_N[1] < 1e-2


def painleve(case, law="exact"):
    theta, rate = case["theta"], case["thetadot"]
    model = planar_body(1.0, 1 / 3)
    q = np.array([0, np.sin(theta), theta])
    qd = np.array([case["slip_sign"] - rate * np.sin(theta), rate * np.cos(theta), rate])
    return solved(model, [point_plane(model, 0, (-1, 0, 0), mu=case["mu"])], q, qd, law=law)


@pytest.mark.parametrize("case", cases("painleve_rod"), ids=lambda case: case["classification"][:12])
def test_painleves_rod_has_one_answer_or_two_or_none(case):
    found, forces = painleve(case), case["normal_force_solutions"]
    assert found.status == {0: "impulse", 1: "solved", 2: "several"}[len(forces)]
    if forces:
        assert_close(sorted(each.lam_N[0] for each in (found, *found.others)), forces)
    if "qdd" in case:
        assert_close(found.qdd, case["qdd"])


def test_the_sliding_rod_turns_paradoxical_at_four_thirds():
    """At tan θ = 2 the mass that friction and normal force feel together changes its sign at μ = 4/3."""
    case = dict(theta=np.arctan(2), thetadot=0.5, slip_sign=-1)
    assert painleve(case | {"mu": 4 / 3 - 1e-3}).status == "solved"
    assert painleve(case | {"mu": 4 / 3 + 1e-3}).status == "impulse"
    assert painleve(case | {"mu": 4 / 3 + 1e-3, "slip_sign": 1}).status == "solved"


def corner_box(case):
    """A box on the floor on its four corners, pulled."""
    m, hx, hy, hz = case["m"], case["half_x"], case["half_y"], case["com_height"]
    model = single("free", box(m, 2 * hx, 2 * hy, 2 * hz), gravity=(0, 0, -G))
    touch = contacts(point_plane(model, 0, (x * hx, y * hy, -hz), mu=case["mu"]) for x in (1, -1)
                     for y in (1, -1))
    tau = np.array([0, case["F"] * (case["force_height"] - hz), 0, case["F"], 0, 0])
    return model, touch, np.array([0, 0, hz, 0, 0, 0, 1.0]), tau


@pytest.mark.parametrize("law", ["exact", "facets"])
@pytest.mark.parametrize("case", cases("box_four_corners"), ids=lambda case: case["state"])
def test_a_pulled_box_on_four_corners_sticks_slides_or_tips(case, law):
    model, touch, q, tau = corner_box(case)
    found = solved(model, touch, q, np.zeros(6), tau, law=law)
    assert found.status == "solved"
    if case["state"] == "tips":
        assert found.qdd[1] > 0.1 and set(found.modes[2:]) == {"separating"}
        return
    assert_allclose(found.qdd, [0, 0, 0, case["acceleration"], 0, 0], atol=1e-8)
    assert_allclose([found.lam_N[:2].sum(), found.lam_N[2:].sum(), -found.lam_T[::2].sum()],
                    [case["front_pair_normal_sum"], case["back_pair_normal_sum"],
                     case["total_friction"]], atol=1e-6)


def test_four_corners_bear_what_they_like_but_no_more_than_their_bounds():
    """Smooth: f₁ = s, f₂ = front − s, and no moment about x makes f₁ + f₃ half of the weight: each from 0
    to its pair's sum.

    With x_front the front pair's sum F and the back pair's B < F: f₁ + f₃ = (F + B)/2, so f₃ = (F + B)/2 −
    f₁ within [0, B] keeps f₁ within [(F − B)/2, (F + B)/2].
    """
    case = cases("box_four_corners")[0] | {"mu": 0.0, "F": 0.0}
    model, touch, q, _ = corner_box(case)
    tau = np.array([0, 6.0, 0, 0, 0, 0])                        # a moment about y loads the front
    form = of_model(model)(q, np.zeros(6))
    found = contact_accelerations(form, tau, touch, q, np.zeros(6), law="frictionless")
    F, B = (98.1 + 6 / 0.3) / 2, (98.1 - 6 / 0.3) / 2
    lower, upper, status = force_bounds(form, tau, touch, q, np.zeros(6), found)
    assert status == "bounded" and np.max(abs(found.qdd)) < 1e-12
    assert_allclose(lower, [(F - B) / 2, (F - B) / 2, 0, 0], atol=1e-6)
    assert_allclose(upper, [(F + B) / 2, (F + B) / 2, B, B], atol=1e-6)


def test_a_wedged_block_is_jammed_with_forces_of_any_size():
    """Between two rough walls a block without weight rests whatever presses it from both sides."""
    model = planar_body(1.0, 0.1)
    touch = contacts(point_plane(model, 0, (0.5 * s, 0, 0), (-s, 0, 0), -0.5, mu=0.8) for s in (1, -1))
    form, q = of_model(replace(model, gravity=np.zeros(3)))(np.zeros(3), np.zeros(3)), np.zeros(3)
    found = contact_accelerations(form, np.zeros(3), touch, q, q)
    assert_allclose(found.qdd, 0, atol=1e-12)
    lower, upper, status = force_bounds(form, np.zeros(3), touch, q, q, found)
    assert status == "unbounded" and np.all(lower <= 1e-9) and np.all(np.isinf(upper))


# -- where only an impulse is left ---------------------------------------------------------------------------

def channel(narrowing):
    """A disc of radius 1 between walls y = ±(1 − c x²/2): as wide as the disc at x = 0."""
    model = single("planar", Inertia(1.0, (0, 0, 0), np.diag([0, 0, 0.5])), gravity=(0, 0, 0))
    walls = [curve(lambda s, side=side: side * np.array([-s, 1 - narrowing * s**2 / 2]),
                   lambda s, side=side: side * np.array([-1, -narrowing * s]),
                   lambda s, side=side: side * np.array([0, -narrowing]), (-1, 1)) for side in (1, -1)]
    return model, contacts(point_curve(model, 0, (0, 0, 0), wall, radius=1.0) for wall in walls)


@pytest.mark.parametrize("narrowing, status", [(0.3, "impulse"), (0.0, "solved"), (-0.3, "solved")])
def test_a_disc_that_runs_into_a_narrowing_channel_needs_an_impulse(narrowing, status):
    """Both gaps close with −c v², and their forces are opposite: none keeps both open."""
    model, touch = channel(narrowing)
    assert_allclose(touch.gap(np.zeros(3)), 0, atol=1e-12)
    found = solved(model, touch, np.zeros(3), (2.0, 0, 0))
    assert found.status == status
    if status == "solved":
        assert_allclose(found.qdd, 0, atol=1e-12)
    assert solved(model, touch, np.zeros(3), np.zeros(3)).status == "solved"


def test_a_closed_contact_that_approaches_needs_an_impulse():
    model = particle(1.0)
    assert solved(model, [point_plane(model, 2, (0, 0, 0))], np.zeros(3), (0, 0, -0.1)).status == "impulse"


def test_bilateral_constraints_that_contradict_each_other_leave_no_motion():
    model = particle(1.0)
    twice = dict(J=np.array([[1.0, 0, 0], [1.0, 0, 0]]), gamma=np.array([0.0, 1.0]))
    assert solved(model, [point_plane(model, 2, (0, 0, 0))], np.zeros(3), np.zeros(3),
                  **twice).status == "none"


def test_no_contact_closed_leaves_free_fall():
    model = particle(1.0)
    found = solved(model, [point_plane(model, 2, (0, 0, 0), mu=0.4)], (0, 0, 1.0), (1.0, 0, 0))
    assert found.modes == ("open",) and found.status == "solved"
    assert_allclose(found.qdd, (0, 0, -G), atol=1e-12)


# -- many contacts -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(20))
def test_without_friction_the_acceleration_is_nearest_to_the_free_one(seed):
    """Gauss: q̈ minimises (q̈ − q̈_free)ᵀM(q̈ − q̈_free) over J_N q̈ + bias ≥ 0; non-negative least squares
    finds it too."""
    problem = any_problem(seed, mu=0.0)
    found = problem.solve(law="frictionless")
    assert found.status == "solved"
    _, J_N, _, bias, _ = problem.touch.look(problem.q, problem.qd)
    pressed = problem.touch.gap(problem.q) < 1e-8
    L = np.linalg.cholesky(problem.form.M)
    A = np.linalg.solve(L, J_N[pressed].T)
    free = problem.form.accelerations(problem.tau)
    b = J_N[pressed] @ free + bias[pressed]
    # the dual min ½‖A λ‖² + b·λ over λ ≥ 0, b = Aᵀx for a feasible problem up to what A cannot reach
    x = np.linalg.lstsq(A.T, -b, rcond=None)[0]
    if np.max(abs(A.T @ x + b), initial=0.0) > 1e-8:
        pytest.skip("not a least-squares problem: separating contacts that depend on pressed ones")
    lam = nnls(A, x, maxiter=2000)[0]
    assert_close(found.qdd, free + np.linalg.solve(L.T, A @ lam), 1e-7)


@pytest.mark.parametrize("law", ["exact", "frictionless"])
@pytest.mark.parametrize("block", range(10))
def test_random_contact_problems_are_solved_or_say_that_they_are_not(block, law):
    check_problems(range(25 * block, 25 * block + 25), law)


@pytest.mark.full
@pytest.mark.parametrize("block", range(100))
def test_ten_thousand_random_contact_problems(block):
    check_problems(range(1000 + 50 * block, 1050 + 50 * block), "exact")
    check_problems(range(1000 + 50 * block, 1050 + 50 * block), "frictionless")


def check_problems(seeds, law):
    """Each has a solution: it is found, but for one in 25, obeys the laws as they are written, and friction
    never feeds power into a slide."""
    unsolved = 0
    for seed in seeds:
        problem = any_problem(seed, mu=0.0 if law == "frictionless" else None)
        found = problem.solve(law=law)
        assert found.status in ("solved", "several", "limit"), (seed, found.status)
        unsolved += found.status == "limit"
        for each in (found, *found.others):
            assert np.all(np.isfinite(np.concatenate([each.qdd, each.lam_N, each.lam_T]))), seed
            if found.status != "limit":
                assert each.residual <= 1e-8 and law_defect(problem, each) <= 1e-6, (seed, each)
        if law == "exact":
            slide = problem.touch.J_T(problem.q) @ problem.qd
            assert all(found.lam_T[rows] @ slide[rows] <= 1e-9 for rows in problem.touch.blocks), seed
        if law == "frictionless":
            assert found.status == "solved", seed
            assert_close(found.qdd, problem.qdd, 1e-6)
    assert unsolved <= len(seeds) / 25


@pytest.mark.parametrize("facets", [4, 8, 32])
def test_a_pyramid_turns_friction_by_no_more_than_its_error(facets):
    """A point sliding in every direction: the pyramid's friction along −u is short of μ N by 1 −
    cos(π/facets) at most."""
    model = particle(1.0)
    touch, short = [point_plane(model, 2, (0, 0, 0), mu=0.5)], []
    for angle in 2 * np.pi * np.arange(101) / 101:
        u = np.array([np.cos(angle), np.sin(angle), 0])
        found = solved(model, touch, np.zeros(3), u, law="facets", facets=facets)
        short.append(1 + found.lam_T @ u[:2] / (0.5 * G))
    generators, error = friction_cone(0.5, facets)
    assert_allclose(np.linalg.norm(generators[:, 1:], axis=1), 0.5, atol=1e-12)
    assert np.max(short) <= error + 1e-12 and np.max(short) > 0.6 * error


def test_the_pyramid_nears_the_cone_for_a_box_on_three_corners_that_starts_to_turn_and_slide():
    model, touch, q, tau = corner_box(cases("box_four_corners")[1])
    touch = touch[:3]
    tau = tau + np.array([0, 0, 14.0, 0, 25.0, 0])
    exact = solved(model, touch, q, np.zeros(6), tau)
    far, near = (np.max(abs(solved(model, touch, q, np.zeros(6), tau, law="facets", facets=k).qdd
                            - exact.qdd)) for k in (4, 32))
    assert exact.status == "solved" and near < 0.2 and near < far / 3


# -- with other parts of the house ---------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(6))
def test_a_compiled_model_gives_the_same_forces(seed):
    problem = any_problem(seed)
    fast = compiled(problem.model, backend="python")
    form = fast(problem.q, problem.qd)
    again = contact_accelerations(form, problem.tau, problem.touch, problem.q, problem.qd)
    found = problem.solve()
    assert again.status == found.status
    assert_close(again.qdd, found.qdd, 1e-7)


def test_a_hinge_made_of_constraints_feels_the_same_contact_as_a_joint():
    """A rod leans with its tip on a rough floor: once as a pendulum, once as a free planar rod with a point
    loop."""
    inertia, angle = Inertia(1.0, (0.5, 0, 0), np.diag([0, 0, 1 / 12])), -0.6
    joint = Model((Body("rod", GROUND, Joint("revolute", EZ), Pose(), inertia),), gravity=(0, -G, 0))
    free = Model((Body("rod", GROUND, Joint("planar", EZ), Pose(), inertia),), gravity=(0, -G, 0))
    height = np.sin(angle)
    tip, tip_free = (contacts(point_plane(m, 0, (1, 0, 0), offset=height, mu=0.3)) for m in (joint, free))
    by_joint = solved(joint, tip, [angle], [0.0], [1.5])
    loop = point_loop(free, 0, (0, 0, 0), GROUND, (0, 0, 0), np.eye(3)[:2])
    q, rest = np.array([0, 0, angle]), np.zeros(3)
    by_loop = solved(free, tip_free, q, rest, (0, 0, 1.5), J=loop.J(q), gamma=loop.bias(q, rest))
    assert_allclose(by_loop.qdd[2], by_joint.qdd[0], atol=1e-10)
    assert by_joint.modes == by_loop.modes == ("stick",)
    assert_allclose([by_loop.lam_N[0] + by_loop.lam[1], by_loop.lam_T[0] + by_loop.lam[0]], [G, 0], atol=1e-9)
    # moments about the hinge: λ_N ± μ λ_N tan 0.6 = g/2 − τ/cos 0.6 at the ends of what friction can do
    ends = [(G / 2 - 1.5 / np.cos(angle)) / (1 + side * 0.3 * np.tan(0.6)) for side in (1, -1)]
    for form, m, state, tau, found, more in (
            (of_model(joint)([angle], [0.0]), tip, np.array([angle]), [1.5], by_joint, {}),
            (of_model(free)(q, rest), tip_free, q, [0, 0, 1.5], by_loop, dict(J=loop.J(q)))):
        lower, upper, status = force_bounds(form, tau, m, state, np.zeros(len(state)), found, **more)
        assert status == "bounded"
        assert_allclose([lower[0], upper[0]], ends, atol=1e-7)


# -- the one problem -----------------------------------------------------------------------------------------

def test_K01_one_contact_has_its_solution_or_is_said_to_have_none():
    case = fault("K01")
    for (m, q), solutions in zip(case["inputs"]["m_q"], case["expected"]["all_solutions"]):
        p, residual, status = solve_contact([[m]], [q], [0.0], [1])
        if solutions:
            assert status == "solved" and min(abs(p[0] - z[0] if np.ndim(z) else p[0] - z)
                                              for z in solutions) <= 1e-12
        else:
            assert status in ("none", "limit")


def test_K04_friction_is_projected_onto_the_disc_and_opposes_the_slip():
    case = fault("K04")
    given, expected = case["inputs"], case["expected"]
    radius = given["mu"] * given["normal"]
    assert_allclose(onto_disc(np.array(given["trial_force"]), radius), expected["projected_trial"], atol=1e-9)
    assert_allclose(onto_disc(np.array(given["trial_inside"]), radius), expected["projected_inside"],
                    atol=1e-9)
    model = particle(given["normal"] / G)
    found = solved(model, [point_plane(model, 2, (0, 0, 0), mu=given["mu"])], np.zeros(3),
                   [*given["slip_velocity"], 0])
    assert_allclose(found.lam_T, expected["sliding_force"], atol=1e-9)
    for wrong in case["faulty_result"].values():
        assert np.max(abs(found.lam_T - np.array(wrong))) > 0.1


def test_K06_impulses_of_two_contacts_never_pull():
    case = fault("K06")
    W = np.array(case["model"]["Delassus"])
    for given, expected in zip(case["inputs"]["rows"], case["expected"]["rows"]):
        before, e = np.array(given["v_minus"]), np.array(given["e"])
        p, _, status = solve_contact(W, (1 + e) * before, np.zeros(2), [1, 1])
        assert status == "solved"
        assert_allclose(p, expected["impulse"], atol=1e-9)
        assert_allclose(before + W @ p, expected["v_plus"], atol=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_sticking_contacts_minimise_energy_as_scipy_does(seed):
    """With μ so large that nothing slips the impulse minimises ½ pᵀW p + b·p over p_N ≥ 0; SLSQP on the
    cone with a fixed radius finds the slipping one: ½ pᵀW p + b·p over ‖p_T‖ ≤ μ p_N*, p_N = p_N*."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 4))
    R, M = rng.normal(size=(3 * m, 3 * m + 2)), np.eye(3 * m + 2)
    W, b, mu = delassus(M, R), R @ rng.normal(size=3 * m + 2), rng.uniform(0.1, 1.0, m)
    p, residual, status = solve_contact(W, b, mu, [3] * m)
    assert status == "solved" and residual <= 1e-10
    N, pressed = np.arange(m) * 3, [i for i in range(m) if p[3 * i] > 1e-9]
    T = np.array([3 * i + k for i in pressed for k in (1, 2)], dtype=int)
    assert_allclose(np.delete(p, [*(3 * np.array(pressed, dtype=int)), *T]), 0,
                    atol=1e-9)      # open ones: nothing at all

    def whole(x):
        y = p.copy()
        y[T] = x
        return y
    discs = [{"type": "ineq", "fun": lambda x, j=j, i=i:
              1 - x[2 * j:2 * j + 2] @ x[2 * j:2 * j + 2] / (mu[i] * p[3 * i])**2}
             for j, i in enumerate(pressed)]
    best = minimize(lambda x: whole(x) @ W @ whole(x) / 2 + b @ whole(x), 0 * p[T],
                    jac=lambda x: (W @ whole(x) + b)[T],
                    constraints=discs, method="SLSQP", options={"ftol": 1e-14, "maxiter": 500})
    assert_allclose(best.x, p[T], atol=2e-4 * (1 + np.max(abs(p))))
    v = W @ p + b
    assert np.all(v[N] >= -1e-9) and abs(v[N] @ p[N]) <= 1e-8


def test_a_guess_and_another_unit_do_not_change_the_answer(rng):
    R = rng.normal(size=(12, 14))
    W, b, mu, sizes = R @ R.T, R @ rng.normal(size=14), rng.uniform(0.2, 1, 4), [3] * 4
    p = solve_contact(W, b, mu, sizes).p
    assert_allclose(solve_contact(W, b, mu, sizes, start=p + 0.01 * rng.normal(size=12)).p, p, atol=1e-8)
    assert_allclose(solve_contact(1e6 * W, 1e-3 * b, mu, sizes).p, 1e-9 * p, atol=1e-17)
    assert coulomb_residual(W, b, mu, sizes, p) <= 1e-10 < 1e-3 < coulomb_residual(W, b, mu, sizes, 1.01 * p)


def test_what_cannot_be_kept_apart_is_reported():
    W = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert solve_contact(W, [-1.0, -1.0], [0.0, 0.0], [1, 1]).status == "none"
    W3 = np.kron(W, np.diag([1.0, 0.5, 0.5]))
    assert solve_contact(W3, [-1.0, 0, 0, -1.0, 0, 0], [0.3, 0.3], [3, 3]).status == "none"
    p, residual, status = solve_contact(W, [-1.0, 1.0], [0.0, 0.0], [1, 1])
    assert status == "solved" and residual <= 1e-10 and abs(p[0] - p[1] - 1) <= 1e-9


# -- refusals ------------------------------------------------------------------------------------------------

def test_bad_input_is_refused_by_name():
    model = planar_body(1, 1)
    for arguments, words in ((dict(mu=-1), "mu"), (dict(e=1.5), "e is"), (dict(normal=(0, 0, 0)), "normal"),
                             (dict(tangents=[(0, 1, 0)]), "tangents"), (dict(body_b=0), "both sides"),
                             (dict(normal=EZ, tangents=[EY, EX]), "t₁ × t₂")):
        with pytest.raises(ValueError, match=words):
            point_plane(model, 0, (0, 0, 0), **arguments)
    with pytest.raises(ValueError, match="radius"):
        sphere_plane(model, 0, (0, 0, 0), -1.0)
    with pytest.raises(ValueError, match="centre"):
        sphere_sphere(model, 0, (0, 0, 0), 1, GROUND, (0, 0, 0), 1).gap(np.zeros(3))
    with pytest.raises(ValueError, match="one and the same model"):
        contacts(point_plane(model, 0, (0, 0, 0)), point_plane(planar_body(1, 1), 0, (0, 0, 0)))
    with pytest.raises(ValueError, match="law"):
        solved(model, [point_plane(model, 0, (0, 0, 0))], np.zeros(3), np.zeros(3), law="viscous")
    with pytest.raises(ValueError, match="sizes"):
        solve_contact(np.eye(3), np.zeros(3), [0.1], [2])
    with pytest.raises(ValueError, match="facets"):
        friction_cone(0.5, 2)
    with pytest.raises(ValueError, match="finite"):
        solve_contact([[np.nan]], [1.0], [0.0], [1])
