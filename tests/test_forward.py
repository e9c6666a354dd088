"""ABA and the solve with M: against each other, against RNEA, and what has no inertia to move."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from random_models import any_tree, chain, random_inertia
from reference import assert_close, load, open_case, open_case_names, wrench

from lagrangebook.forward import aba, forward_dynamics
from lagrangebook.inertia import Inertia, point_mass, rod, sphere
from lagrangebook.kinematics import body_jacobian, poses
from lagrangebook.mass_matrix import crba
from lagrangebook.mechanisms import biped, pendulum, rp_arm, two_link
from lagrangebook.model import GROUND, Body, Joint, Model
from lagrangebook.newton_euler import rnea
from lagrangebook.spatial import Pose, exp_so3, quaternion_matrix, quaternion_of

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
X, Y, Z = np.eye(3, dtype=int)
NOTHING = Inertia(0, np.zeros(3), np.zeros((3, 3)))
BALL = sphere(2.0, 0.3)


def single(joint, inertia, *more):
    return Model((Body("arm", GROUND, joint, Pose(), inertia), *more))


def forward(model, q=None):
    """q̈ by ABA at rest, checked against the solve with M."""
    q = model.zero if q is None else np.asarray(q, dtype=float)
    tau = np.linspace(1, 2, model.n)
    qdd = aba(model, q, np.zeros(model.n), tau)
    assert_close(qdd, forward_dynamics(model, q, np.zeros(model.n), tau), 1e-9)
    return qdd


# -- closed forms ------------------------------------------------------------------------------------------

def test_a_pendulum_falls_with_its_textbook_acceleration():
    m, l, g, q, qd, tau = sympy.symbols("m l g q qd tau", positive=True)
    (qdd,) = aba(pendulum(1, m, l, g), [q], [qd], [tau])
    assert sympy.simplify(qdd - (tau - m * g * l * sympy.sin(q)) / (m * l**2)) == 0


def test_ABA_in_symbols_solves_the_equation_of_the_recursion():
    arm = two_link(*sympy.symbols("l1 l2 m1 m2"), g=sympy.Symbol("g"))
    q, qd, tau = (sympy.symbols(f"{name}1:3") for name in ("q", "v", "tau"))
    residual = sympy.Matrix(rnea(arm, q, qd, aba(arm, q, qd, tau))) - sympy.Matrix(tau)
    at = dict(zip([*sympy.symbols("l1 l2 m1 m2 g"), *q, *qd, *tau], np.random.default_rng(0).uniform(0.5, 2, 11)))
    assert_allclose(np.array(residual.subs(at), dtype=float), 0, atol=1e-11)


def test_forward_cases_of_the_turning_and_extending_arm():
    for case in load("examples")["rp_arm"]["forward_cases"]:
        assert_close(aba(rp_arm(), case["q"], case["qd"], case["tau"]), case["qdd"], 1e-12)
    case = load("examples")["vertical_mass"]["forward"]
    slide = single(Joint("prismatic", Z), point_mass(2.0))
    assert_close(aba(slide, [0.0], [0.0], [case["tau"]]), [case["qdd"]], 1e-12)


# -- another route -----------------------------------------------------------------------------------------

@few
@given(seeds)
def test_ABA_is_the_solve_with_M(seed):
    model, q, qd, tau = any_tree(seed, largest=9)
    push = {model.N - 1: np.random.default_rng(seed).normal(size=6)}
    assert_close(aba(model, q, qd, tau, external=push), forward_dynamics(model, q, qd, tau, external=push), 1e-10)


@few
@given(seeds)
def test_forward_after_inverse_dynamics_is_the_identity(seed):
    model, q, qd, qdd = any_tree(seed, largest=9)
    assert_close(aba(model, q, qd, rnea(model, q, qd, qdd)), qdd, 1e-10)
    assert_close(rnea(model, q, qd, aba(model, q, qd, qdd)), qdd, 1e-10)


@few
@given(seeds)
def test_a_push_counts_by_its_jacobian(seed):
    model, q, qd, tau = any_tree(seed)
    f, body = np.random.default_rng(seed).normal(size=6), model.N // 2
    assert_close(aba(model, q, qd, tau, external={body: f, GROUND: f}),
                 aba(model, q, qd, tau + body_jacobian(model, q, body).T @ f), 1e-10)


# -- physics -----------------------------------------------------------------------------------------------

def test_everything_in_free_fall_falls_with_g(rng):
    """A floating robot at rest, motors limp: its joints stay still and its trunk falls with g, in every posture."""
    model = biped(arms=True)
    q = model.integrate(model.zero, rng.normal(size=model.n), 1.0)
    qdd = aba(model, q, np.zeros(model.n), np.zeros(model.n))
    fall = np.concatenate([np.zeros(3), quaternion_matrix(q[3:7]).T @ model.gravity, np.zeros(model.n - 6)])
    assert_allclose(qdd, fall, atol=1e-11)


@few
@given(seeds)
def test_the_inverse_of_M_is_symmetric_what_i_pushes_at_j_j_pushes_at_i(seed):
    model, q, qd, _ = any_tree(seed)
    at_rest = aba(model, q, qd, np.zeros(model.n))
    W = np.array([aba(model, q, qd, e) - at_rest for e in np.eye(model.n)]).reshape(model.n, model.n)
    assert_close(W, W.T, 1e-9)
    assert_close(W @ crba(model, q), np.eye(model.n), 1e-9)


# -- published numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", open_case_names())
def test_the_accelerations_of_the_reference(name):
    model, states = open_case(name)
    for s in states:
        for solver in (aba, forward_dynamics):
            assert_close(solver(model, s["q"], s["qd"], s["tau"]), s["qdd_fd"], 1e-10)
            assert_close(solver(model, s["q"], s["qd"], s["tau"], external=wrench(model, s["q"], s["f_ext"])),
                         s["qdd_fd_ext"], 1e-10)


# -- what has no inertia to move: refused at build -------------------------------------------------------------

@pytest.mark.parametrize("joint, inertia", [
    (Joint("revolute", Z), NOTHING),
    (Joint("revolute", Z), point_mass(2.0)),                            # a point on its own axis
    (Joint("revolute", Z), point_mass(2.0, (0, 0, 0.7))),
    (Joint("revolute", (1, 2, 3)), point_mass(2.0, (0.3, 0.6, 0.9))),
    (Joint("revolute", X), rod(2.0, 0.5, X)),                           # a thin rod about itself
    (Joint("prismatic", X), Inertia(0, np.zeros(3), np.eye(3))),        # a tensor without mass
    (Joint("planar"), point_mass(2.0)),
    (Joint("spherical"), rod(2.0, 0.5)),
    (Joint("spherical"), point_mass(2.0, (1, 0, 0))),
    (Joint("free"), point_mass(2.0, (1, 0, 0))),
], ids=lambda x: x.kind if isinstance(x, Joint) else "")
def test_a_joint_that_has_nothing_to_move_in_any_pose_is_refused_where_the_model_is_built(joint, inertia):
    with pytest.raises(ValueError, match=rf"joint of body 0 'arm' \({joint.kind}\) has no inertia to move"):
        single(joint, inertia)


def test_the_refusal_names_the_joint_in_the_middle_of_a_tree():
    with pytest.raises(ValueError, match=r"joint of body 2 'needle' \(revolute\) has no inertia to move"):
        single(Joint("revolute", Z), BALL, Body("hand", 0, Joint("prismatic", X), Pose(), BALL),
               Body("needle", 1, Joint("revolute", X), Pose(p=X), rod(0.1, 0.2, X)),
               Body("tip", 2, Joint("fixed"), Pose(p=X), point_mass(0.3)))


def test_two_massless_bodies_on_one_axis_with_a_point_mass_there_are_refused_at_build():
    with pytest.raises(ValueError, match="has no inertia to move"):
        chain(("revolute", Z, Pose(), NOTHING), ("revolute", Z, Pose(), point_mass(1.0)))


# -- ... and what passes ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("model", [
    single(Joint("revolute", Z), BALL, Body("tool frame", 0, Joint("fixed"), Pose(p=X), NOTHING)),
    single(Joint("revolute", Z), BALL, Body("frame", 0, Joint("fixed"), Pose(p=X), NOTHING),
           Body("frame of it", 1, Joint("fixed"), Pose(p=X), NOTHING)),
    single(Joint("revolute", Z), BALL, Body("shaft", 0, Joint("revolute", Z, rotor=0.1), Pose(p=X), NOTHING)),
    single(Joint("revolute", Z, rotor=0.1), NOTHING, Body("rack", 0, Joint("prismatic", X, rotor=0.2), Pose(), NOTHING)),
    single(Joint("revolute", Z), NOTHING, Body("rod", 0, Joint("prismatic", X), Pose(p=X), point_mass(1.0))),
    single(Joint("prismatic", X), NOTHING, Body("y slide", 0, Joint("prismatic", Y), Pose(), NOTHING),
           Body("z slide", 1, Joint("prismatic", Z), Pose(), BALL)),
    single(Joint("revolute", Z), point_mass(1.0), Body("hand", 0, Joint("fixed"), Pose(p=X), point_mass(1.0))),
    single(Joint("free"), NOTHING, Body("load", 0, Joint("fixed"), Pose(p=X), BALL)),
    single(Joint("revolute", Z), BALL, Body("stub", 0, Joint("spherical"), Pose(), NOTHING),
           Body("ball", 1, Joint("prismatic", X), Pose(p=X), BALL)),
    single(Joint("fixed"), NOTHING),
    Model(()),
], ids=["tool frame", "frame on a frame", "leaf with a rotor", "nothing but rotors", "massless turret",
        "massless cross slides", "point on the axis, hand off it", "free massless root", "massless ball joint", "only a frame",
        "empty"])
def test_massless_bodies_that_leave_something_to_move_pass(model):
    forward(model, model.integrate(model.zero, 0.3 * np.ones(model.n), 1.0))


def test_massless_bodies_in_the_middle_of_a_chain_give_the_accelerations_of_a_ball_joint():
    """Three revolutes with two massless links are a spherical joint: the body accelerates alike."""
    turn, hand = [0.4, 0.7, -0.3], random_inertia(np.random.default_rng(3))
    wrist = chain(("revolute", X, Pose(), NOTHING), ("revolute", Y, Pose(), NOTHING), ("revolute", Z, Pose(), hand))
    ball = chain(("spherical", Z, Pose(), hand))
    J = body_jacobian(wrist, turn, 2)[:3]
    qdd = aba(wrist, turn, np.zeros(3), np.zeros(3))
    q = quaternion_of(poses(wrist, turn)[2].R)
    assert_allclose(J @ qdd, aba(ball, q, np.zeros(3), np.zeros(3)), rtol=1e-9)


# -- ... and what fails in a pose -----------------------------------------------------------------------------

def wrist(scale_m=1.0, scale_kg=1.0):
    """An arm with a spherical wrist of two massless links; lengths and masses in any unit."""
    hand = Inertia(2.0 * scale_kg, np.array([0.1, 0.02, 0.2]) * scale_m, np.diag([0.02, 0.03, 0.01]) * scale_kg * scale_m**2)
    forearm = Inertia(3.0 * scale_kg, np.array([0.3, 0, 0.1]) * scale_m, np.diag([0.1, 0.2, 0.2]) * scale_kg * scale_m**2)
    return chain(("revolute", Z, Pose(), forearm), ("revolute", X, Pose(p=0.6 * scale_m * X), NOTHING),
                 ("revolute", Y, Pose(), NOTHING), ("revolute", X, Pose(p=0.05 * scale_m * X), hand),
                 gravity=np.array([0, 0, -9.81]) * scale_m)


def test_a_spherical_wrist_with_two_massless_links_moves_off_its_gimbal_lock():
    forward(wrist(), [0.2, 0.3, 0.5, 0.7])
    forward(wrist(), [0.2, 0.3, 1e-2, 0.7])


@pytest.mark.parametrize("q1", [0.3, -1.2, 2.0])
@pytest.mark.parametrize("units", [(1.0, 1.0), (1e3, 1e3), (1e-3, 1e-3), (1e3, 1e-3)])
def test_it_fails_at_gimbal_lock_naming_joint_and_pose_in_every_unit(units, q1):
    with pytest.raises(np.linalg.LinAlgError, match=r"joint of body 1 'link 1' has no inertia to move at q = \["):
        aba(wrist(*units), [q1, 0.3, 0.0, 0.7], np.zeros(4), np.ones(4))
    with pytest.raises(np.linalg.LinAlgError):
        forward_dynamics(wrist(*units), [q1, 0.3, 0.0, 0.7], np.zeros(4), np.ones(4))
    rnea(wrist(*units), [q1, 0.3, 0.0, 0.7], np.zeros(4), np.ones(4))        # the inverse never refuses


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 2, 3), (-0.3, 0.1, 0.7)])
@pytest.mark.parametrize("turn", [0.0, 0.7, 3.0])
def test_a_coaxial_massless_pair_fails_when_it_runs(axis, turn):
    along = np.array(axis) / np.linalg.norm(axis)
    pair = chain(("revolute", (1, 0, 1), Pose(), BALL), ("revolute", axis, Pose(p=X), NOTHING),
                 ("revolute", axis, Pose(p=0.2 * along), BALL + point_mass(1.0, (0.4, 0.1, 0))))
    with pytest.raises(np.linalg.LinAlgError, match="body 1 'link 1' has no inertia to move at q ="):
        aba(pair, [0.1, turn, 0.4], np.zeros(3), np.ones(3))
    rnea(pair, [0.1, turn, 0.4], np.zeros(3), np.ones(3))


def test_parallel_massless_axes_move():
    """Massless links between parallel but separate axes do move the ball, stretched out or not."""
    arm = chain(("revolute", Z, Pose(), NOTHING), ("revolute", Z, Pose(p=0.4 * X), BALL))
    forward(arm, [0.3, 0.5])
    forward(arm, [0.3, 0.0])


@pytest.mark.parametrize("scale_m, scale_kg", [(1e3, 1.0), (1e3, 1e3), (1e-3, 1e6)])
def test_the_units_change_neither_verdict_nor_answer(scale_m, scale_kg):
    """SI against mm and g: the same angles, torques scaled by kg m²."""
    q, tau = [0.2, 0.3, 0.01, 0.7], np.array([0.3, 0.1, -0.2, 0.4])
    qdd = aba(wrist(), q, np.zeros(4), tau)
    assert_close(aba(wrist(scale_m, scale_kg), q, np.zeros(4), tau * scale_kg * scale_m**2), qdd, 1e-8)


@pytest.mark.parametrize("slender", [1e-2, 1e-5, 1e-8])
def test_a_vanished_pivot_is_told_from_the_rounding_of_a_heavy_load_far_out(slender, rng):
    """A heavy slender body far out on the axis of a massless coaxial pair: SᵀIᶜS is small beside the rounding of Iᶜ."""
    for _ in range(10):
        axis = rng.normal(size=3)
        along = axis / np.linalg.norm(axis)
        hand = Inertia(10.0, 10 * along, np.eye(3) * slender)
        pair = chain(("revolute", (1, 0, 1), Pose(), BALL), ("revolute", axis, Pose(exp_so3(rng.normal(size=3)), X), NOTHING),
                     ("revolute", axis, Pose(p=0.2 * along), hand))
        with pytest.raises(np.linalg.LinAlgError, match="no inertia to move at q"):
            aba(pair, rng.normal(size=3), np.zeros(3), np.ones(3))
        forward(replace(pair, bodies=pair.bodies[:1] + (replace(pair.bodies[2], parent=0),)))
