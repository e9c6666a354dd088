"""Joints, trees and the other ways to write a chain, against their definitions."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from random_models import ALL_KINDS, any_tree, random_inertia, random_state, random_tree
from reference import assert_close, load, model_of

from lagrangebook.inertia import Inertia, point_mass
from lagrangebook.kinematics import poses
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import puma560, rp_arm
from lagrangebook.model import GROUND, Body, DHRow, Joint, Model, from_dh, from_poe
from lagrangebook.newton_euler import rnea
from lagrangebook.spatial import Pose, exp_so3, rotation, rpy, vee

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=25, deadline=None, derandomize=True)


def joint_state(kind, rng):
    joint = Joint(kind, (0, 0, 1) if kind == "planar" else rng.normal(size=3))
    return joint, joint.integrate(joint.zero, rng.normal(size=joint.n)), rng.normal(size=joint.n)


# -- joints ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ALL_KINDS)
def test_S_times_the_rates_is_the_velocity_of_the_moving_frame(kind, rng, eps=1e-6):
    joint, q, qd = joint_state(kind, rng)
    S, _ = joint.axes(q, qd)
    ahead, here, behind = (joint.pose(joint.integrate(q, qd * h)) for h in (eps, 0, -eps))
    w = here.R.T @ ((ahead.R - behind.R) / (2 * eps))
    v = here.R.T @ ((ahead.p - behind.p) / (2 * eps))
    assert_allclose(S @ qd, [*vee(w), *v], atol=1e-8)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_S_ring_is_the_rate_of_S_in_body_axes_and_c_is_S_ring_times_the_rates(kind, rng, eps=1e-6):
    joint, q, qd = joint_state(kind, rng)
    S, S_ring = joint.axes(q, qd)
    ahead, behind = (joint.axes(joint.integrate(q, qd * h), qd)[0] for h in (eps, -eps))
    assert S.shape == S_ring.shape == (6, joint.n)
    assert_allclose(S_ring, (ahead - behind) / (2 * eps), atol=1e-8)
    assert_allclose(joint.motion(q, qd)[2], (ahead - behind) @ qd / (2 * eps), atol=1e-8)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_the_rates_of_the_coordinates_are_the_slope_of_the_motion(kind, rng, eps=1e-6):
    joint, q, qd = joint_state(kind, rng)
    slope = (joint.integrate(q, qd * eps) - joint.integrate(q, -qd * eps)) / (2 * eps)
    assert_allclose(joint.rates(q, qd), slope, atol=1e-8)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_the_difference_of_two_states_leads_from_one_to_the_other(kind, rng):
    joint, q, step = joint_state(kind, rng)
    assert_allclose(joint.difference(q, joint.integrate(q, step)), step, atol=1e-12)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_at_zero_the_body_frame_is_the_joint_frame(kind, rng):
    joint, _, _ = joint_state(kind, rng)
    pose = joint.pose(joint.zero)
    assert np.array_equal(pose.R, np.eye(3)) and np.array_equal(pose.p, np.zeros(3))


def test_a_revolute_joint_turns_about_its_axis_and_a_prismatic_slides_along_it(rng):
    axis = np.array([3.0, 0, 4.0])
    assert_allclose(Joint("revolute", axis).pose([0.7]).R, exp_so3(0.7 * axis / 5), atol=1e-15)
    assert_allclose(Joint("prismatic", axis).pose([0.7]).p, 0.7 * axis / 5, atol=1e-15)


def test_a_free_joint_moves_with_the_velocity_of_its_origin_in_body_axes():
    joint = Joint("free")
    quarter = np.array([0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    rate = joint.rates(np.concatenate([[1, 2, 3], quarter]), np.array([0, 0, 0, 5.0, 0, 0]))
    assert_allclose(rate, [0, 5, 0, 0, 0, 0, 0], atol=1e-14)


@few
@given(seeds)
def test_quaternions_keep_norm_one_over_many_steps(seed):
    rng = np.random.default_rng(seed)
    joint = Joint("spherical")
    q = joint.zero
    for _ in range(300):
        q = joint.integrate(q, rng.normal(0, 0.3, 3))
    assert abs(np.linalg.norm(q) - 1) < 1e-14


# -- trees -------------------------------------------------------------------------------------------------

@few
@given(seeds)
def test_integrate_and_difference_undo_each_other_on_every_tree(seed):
    model, q, qd, _ = any_tree(seed)
    assert_allclose(model.difference(q, model.integrate(q, qd, 0.5)), 0.5 * qd, atol=1e-12)
    assert_allclose(model.normalized(model.integrate(q, qd, 0.5)), model.integrate(q, qd, 0.5), atol=1e-15)


@pytest.mark.parametrize("rotor", [np.int64(2), np.float32(2), 2])
def test_a_rotor_may_be_any_number(rotor):
    model = Model((Body("wheel", GROUND, Joint("revolute", rotor=rotor), Pose(), point_mass(1.0)),))
    assert crba(model, [0.0]).dtype == float and crba(model, [0.0])[0, 0] == 2


def test_sizes_and_slices_of_a_mixed_tree():
    kinds = ("free", "fixed", "revolute", "spherical", "planar", "prismatic")
    model = Model(tuple(Body(kind, i - 1, Joint(kind), Pose(), random_inertia(np.random.default_rng(i)))
                        for i, kind in enumerate(kinds)))
    assert (model.N, model.n, model.nq) == (6, 14, 16)
    assert [model.slice_q(i) for i in range(6)] == [slice(0, 7), slice(7, 7), slice(7, 8), slice(8, 12), slice(12, 15),
                                                    slice(15, 16)]
    assert model.ancestors(3) == [3, 2, 1, 0]
    assert model.index("planar") == model.index(4) == 4 and model.index(GROUND) == GROUND
    q = model.zero
    assert q[6] == 1 and q[11] == 1 and np.count_nonzero(q) == 2
    assert_allclose(model.stack(model.coordinates(q=q)), q, atol=0)


def test_the_digest_follows_the_numbers_alone(rng):
    model = random_tree(rng, 5)
    assert model.digest == replace(model, name="another name").digest
    changed = replace(model.bodies[3], inertia=model.bodies[3].inertia + point_mass(1e-9))
    assert model.digest != replace(model, bodies=model.bodies[:3] + (changed,) + model.bodies[4:]).digest
    assert model.digest != replace(model, gravity=model.gravity * 2).digest


def test_a_payload_counts_as_a_body_on_a_fixed_joint(rng):
    model, tool = random_tree(rng, 6), random_inertia(rng)
    q, qd, qdd = random_state(model, rng)
    welded = Model(model.bodies + (Body("tool", 3, Joint("fixed"), Pose(), tool),), model.gravity)
    assert_close(rnea(model.payload(3, tool), q, qd, qdd), rnea(welded, q, qd, qdd), 1e-13)
    assert_close(crba(model.payload("body 3", tool), q), crba(welded, q), 1e-13)


def test_a_payload_is_put_down_without_loss(rng):
    model = random_tree(rng, 6)
    heavy = Inertia(1e12, (0.1, 0.2, 0.3), np.eye(3) * 1e12)
    assert model.payload(2, heavy).payload(2, None).digest == model.digest
    assert model.payload(2, heavy).digest != model.digest


@few
@given(seeds)
def test_merging_fixed_bodies_changes_no_answer(seed):
    model, q, qd, qdd = any_tree(seed, largest=9)
    merged = model.merged()
    assert all(body.joint.kind != "fixed" for body in merged.bodies)
    assert_close(rnea(merged, q, qd, qdd), rnea(model, q, qd, qdd), 1e-12)
    assert_close(crba(merged, q), crba(model, q), 1e-12)
    assert_close(coriolis(merged, q, qd), coriolis(model, q, qd), 1e-12)
    kept = dict(zip((body.name for body in model.bodies), poses(model, q)))
    for body, pose in zip(merged.bodies, poses(merged, q)):
        assert_close(pose.R, kept[body.name].R, 1e-12)
        assert_close(pose.p, kept[body.name].p, 1e-12)


def test_a_payload_on_a_fixed_hand_is_welded_along(rng):
    model = random_tree(rng, 4, kinds=("revolute", "prismatic"))
    hand = Body("hand", 3, Joint("fixed"), Pose(exp_so3(rng.normal(size=3)), rng.normal(size=3)), random_inertia(rng))
    model = replace(model, bodies=model.bodies + (hand,)).payload("hand", random_inertia(rng)).payload(3, random_inertia(rng))
    q, qd, qdd = random_state(model, rng)
    assert model.merged().N == 4
    assert_close(rnea(model.merged(), q, qd, qdd), rnea(model, q, qd, qdd), 1e-12)


def renumbered(model, rng):
    """The same tree in another legal order, and (order of bodies: new -> old)."""
    waiting, order = list(range(model.N)), []
    while waiting:
        ready = [i for i in waiting if model.bodies[i].parent in (GROUND, *order)]
        order.append(ready[rng.integers(len(ready))])
        waiting.remove(order[-1])
    place = {old: new for new, old in enumerate(order)} | {GROUND: GROUND}
    bodies = tuple(replace(model.bodies[old], parent=place[model.bodies[old].parent]) for old in order)
    return replace(model, bodies=bodies), order


@few
@given(seeds)
def test_the_numbering_of_the_bodies_changes_no_answer(seed):
    model, q, qd, qdd = any_tree(seed)
    other, order = renumbered(model, np.random.default_rng(seed + 1))

    def moved(vector, slices):
        return np.concatenate([vector[slices(old)] for old in order])

    state = moved(q, model.slice_q), moved(qd, model.slice_v), moved(qdd, model.slice_v)
    rows = moved(np.arange(model.n), model.slice_v)
    assert_close(rnea(other, *state), rnea(model, q, qd, qdd)[rows], 1e-12)
    assert_close(crba(other, state[0]), crba(model, q)[np.ix_(rows, rows)], 1e-12)
    assert_close(coriolis(other, *state[:2]), coriolis(model, q, qd)[np.ix_(rows, rows)], 1e-12)


@few
@given(seeds)
def test_a_turned_and_shifted_base_with_gravity_turned_along_changes_no_answer(seed):
    model, q, qd, qdd = any_tree(seed)
    rng = np.random.default_rng(seed + 1)
    base = Pose(exp_so3(rng.normal(size=3)), rng.normal(size=3))
    bodies = tuple(replace(body, placement=base @ body.placement) if body.parent == GROUND else body
                   for body in model.bodies)
    moved = Model(bodies, gravity=base.R @ model.gravity)
    assert_close(rnea(moved, q, qd, qdd), rnea(model, q, qd, qdd), 1e-12)


# -- Denavit–Hartenberg ------------------------------------------------------------------------------------

def dh_matrix(a, alpha, d, theta):
    """Standard DH transform, element by element."""
    (ca, sa), (ct, s_t) = (np.cos(alpha), np.sin(alpha)), (np.cos(theta), np.sin(theta))
    return np.array([[ct, -s_t * ca, s_t * sa, a * ct], [s_t, ct * ca, -ct * sa, a * s_t], [0, sa, ca, d], [0, 0, 0, 1]])


def mdh_matrix(a, alpha, d, theta):
    """Modified (Craig) DH transform, element by element."""
    (ca, sa), (ct, s_t) = (np.cos(alpha), np.sin(alpha)), (np.cos(theta), np.sin(theta))
    return np.array([[ct, -s_t, 0, a], [s_t * ca, ct * ca, -sa, -sa * d], [s_t * sa, ct * sa, ca, ca * d], [0, 0, 0, 1]])


@pytest.fixture
def rows(rng):
    return [DHRow(*rng.uniform(-1, 1, 4), inertia=random_inertia(rng), kind=kind)
            for kind in ("revolute", "prismatic", "revolute", "revolute", "prismatic")]


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_every_mass_of_a_dh_table_is_where_the_table_puts_it(convention, rows, rng):
    model, q = from_dh(rows, convention), rng.uniform(-1, 1, 5)
    T, transform = np.eye(4), dh_matrix if convention == "standard" else mdh_matrix
    for i, (row, pose) in enumerate(zip(rows, poses(model, q))):
        turns = row.kind == "revolute"
        T = T @ transform(row.a, row.alpha, row.d + (0 if turns else q[i]), row.theta + (q[i] if turns else 0))
        seen = model.bodies[i].inertia.moved(pose)
        expected = row.inertia.moved(Pose(T[:3, :3], T[:3, 3]))
        assert_close(seen.parameters, expected.parameters, 1e-12)


def test_one_arm_in_both_conventions_has_one_dynamics(rows, rng):
    """The same chain: α and a move one row on, and each inertia from the distal to the proximal frame."""
    def across(row):
        return Pose(rotation((1, 0, 0), row.alpha), np.array([row.a, 0, 0]))
    before = [DHRow(0, 0), *rows[:-1]]
    modified = [replace(row, a=b.a, alpha=b.alpha, inertia=row.inertia.moved(across(row))) for row, b in zip(rows, before)]
    q, qd, qdd = rng.normal(size=(3, 5))
    assert_close(rnea(from_dh(modified, "modified"), q, qd, qdd), rnea(from_dh(rows, "standard"), q, qd, qdd), 1e-12)


def test_a_dh_arm_may_stand_on_a_turned_base(rows, rng):
    base = Pose(rpy(0.3, -0.2, 0.5), np.array([0.1, 0.2, 0.3]))
    q, qd, qdd = rng.normal(size=(3, 5))
    assert_close(rnea(from_dh(rows, "standard", base=base, gravity=base.R @ (0, 0, -9.81)), q, qd, qdd),
                 rnea(from_dh(rows, "standard"), q, qd, qdd), 1e-12)


def test_the_puma_table_is_the_puma_tree():
    """DH with inertias in the distal frames, against the tree with joint frames of the reference data."""
    case = next(case for case in load("open_1_open_chains")["cases"] if case["id"] == "puma560")
    tree, arm = model_of(case["model"]), puma560()
    for state in case["states"]:
        q, qd, qdd = (np.array(state[key]) for key in ("q", "qd", "qdd"))
        assert_close(crba(arm, q), crba(tree, q))
        assert_close(rnea(arm, q, qd, qdd), state["tau_rnea"])


def test_a_dh_table_may_hold_symbols():
    a, m = sympy.symbols("a m", positive=True)
    q = sympy.symbols("q1:3")
    arm = from_dh([DHRow(a, 0, inertia=point_mass(m))] * 2, "standard")
    M = sympy.Matrix(crba(arm, q))
    assert sympy.simplify(M[1, 1] - m * a**2) == 0
    assert sympy.simplify(M[0, 0] - m * a**2 * (3 + 2 * sympy.cos(q[1]))) == 0


# -- product of exponentials -------------------------------------------------------------------------------

def test_screws_and_home_poses_give_the_tree_they_were_read_from(rng):
    tree = random_tree(rng, 6, kinds=("revolute", "prismatic"))
    chain = replace(tree, bodies=tuple(replace(body, parent=i - 1) for i, body in enumerate(tree.bodies)))
    homes = poses(chain, chain.zero)
    screws = [home.inverse.X @ body.joint.axes([0.0], [0.0])[0][:, 0] for home, body in zip(homes, chain.bodies)]
    arm = from_poe(screws, [body.inertia for body in chain.bodies], homes, gravity=chain.gravity)
    q, qd, qdd = random_state(chain, rng)
    assert_close(rnea(arm, q, qd, qdd), rnea(chain, q, qd, qdd), 1e-12)
    assert_close(crba(arm, q), crba(chain, q), 1e-12)


def test_a_screw_with_pitch_or_lists_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match=r"screw 0 has pitch"):
        from_poe([[0, 0, 1, 0, 0, 0.1]], [point_mass(1)], [Pose()])
    with pytest.raises(ValueError, match=r"screws has shape \(1, 6\), with 2 inertias and 1 homes"):
        from_poe([[0, 0, 1, 0, 0, 0]], [point_mass(1)] * 2, [Pose()])


# -- symbols -----------------------------------------------------------------------------------------------

def test_a_model_of_symbols_answers_in_symbols_that_become_the_numbers():
    symbols = sympy.symbols("m1 m2 l1 J1 J2 g", positive=True)
    q, qd = sympy.symbols("q1:3"), sympy.symbols("v1:3")
    values = dict(zip((*symbols, *q, *qd), (2.0, 1.5, 0.3, 0.05, 0.02, 9.81, 0.6, 0.8, 1.1, 0.4)))
    arm, numbers = rp_arm(*symbols), rp_arm()
    for symbolic, number in ((crba(arm, q), crba(numbers, [0.6, 0.8])), (gravity(arm, q), gravity(numbers, [0.6, 0.8])),
                             (coriolis(arm, q, qd), coriolis(numbers, [0.6, 0.8], [1.1, 0.4]))):
        assert_allclose(np.vectorize(lambda x: float(sympy.sympify(x).subs(values)))(symbolic), number, atol=1e-12)
