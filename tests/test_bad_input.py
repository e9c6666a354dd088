"""The table of bad input: each is refused where it enters, in a sentence that names it."""

import numpy as np
import pytest
from reference import assert_close
from random_models import random_tree

from lagrangebook.forward import aba, forward_dynamics
from lagrangebook.inertia import Inertia, point_mass, sphere
from lagrangebook.kinematics import (body_jacobian, kinetic_energy, point, point_bias, point_jacobian, poses,
                                     potential_energy)
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import two_link
from lagrangebook.model import Body, DHRow, Joint, Model, from_dh
from lagrangebook.newton_euler import rnea
from lagrangebook.spatial import Pose

BALL, NAN = sphere(1.0, 0.1), float("nan")
ARM = two_link()
TREE = random_tree(np.random.default_rng(0), 7, kinds=("revolute",))
FREE = Model((Body("trunk", -1, Joint("free"), Pose(), BALL), Body("head", 0, Joint("spherical"), Pose(), BALL)))


def body(name="arm", parent=-1, joint=Joint("revolute"), placement=Pose(), inertia=BALL):
    return Body(name, parent, joint, placement, inertia)


BUILDING = {
    "a body before its parent": (lambda: Model((body("a", 1), body("b", -1))), "body 0 'a' has parent 1; a parent comes before"),
    "a body that carries itself": (lambda: Model((body("a", 0),)), "body 0 'a' has parent 0; a parent comes before"),
    "a parent below the ground": (lambda: Model((body("a", -2),)), "body 0 'a' has parent -2"),
    "a parent by name": (lambda: Model((body("a"), body("b", "a"))), "body 1 'b' has parent 'a'; wanted the index"),
    "half a parent": (lambda: Model((body("a"), body("b", 0.5))), "body 1 'b' has parent 0.5; wanted the index"),
    "one name twice": (lambda: Model((body("a"), body("a", 0))), "two bodies are named 'a'"),
    "something that is no body": (lambda: Model((BALL,)), r"bodies\[0\] is Inertia; wanted a Body"),
    "gravity as a number": (lambda: Model((body(),), gravity=-9.81), r"gravity must have shape \(3,\); got \(\)"),
    "gravity not finite": (lambda: Model((body(),), gravity=(0, 0, NAN)), "gravity must be finite"),
    "an unknown joint": (lambda: Joint("hinge"), "kind 'hinge' is not a joint; wanted one of revolute, prismatic"),
    "no axis": (lambda: Joint("revolute", (0, 0, 0)), r"axis of a revolute joint must be finite and not zero; got \[0, 0, 0\]"),
    "an axis not finite": (lambda: Joint("prismatic", (0, NAN, 1)), "axis of a prismatic joint must be finite and not zero"),
    "an axis in the plane": (lambda: Joint("revolute", (1, 0)), r"axis must have shape \(3,\); got \(2,\)"),
    "a planar joint about x": (lambda: Joint("planar", (1, 0, 0)), "a planar joint turns about z"),
    "a negative rotor": (lambda: Joint("revolute", rotor=-0.1), "rotor must be finite and not negative; got -0.1"),
    "a rotor not finite": (lambda: Joint("revolute", rotor=NAN), "rotor must be finite and not negative"),
    "a rotor on a ball joint": (lambda: Joint("spherical", rotor=0.1), "rotor belongs to revolute and prismatic joints"),
    "limits the wrong way round": (lambda: Joint("revolute", limits=(1, -1)), r"limits must be \(lowest, highest\)"),
    "limits not finite": (lambda: Joint("revolute", limits=(NAN, 1)), r"limits must be \(lowest, highest\)"),
    "negative mass": (lambda: point_mass(-1), "mass must not be negative; got -1"),
    "mass not finite": (lambda: point_mass(NAN), "mass must be finite"),
    "mass as a list": (lambda: Inertia([1.0, 2.0], (0, 0, 0), np.eye(3)), r"mass must be one number; got shape \(2,\)"),
    "com not finite": (lambda: Inertia(1, (0, NAN, 0), np.eye(3)), "com must be finite"),
    "com of two numbers": (lambda: Inertia(1, (0, 0), np.eye(3)), r"Inertia wants com of shape \(3,\)"),
    "a diagonal for a tensor": (lambda: Inertia(1, (0, 0, 0), (1, 1, 1)), r"about_com of shape \(3, 3\); got \(3,\) and \(3,\)"),
    "a tensor not finite": (lambda: Inertia(1, (0, 0, 0), np.diag([1, 1, np.inf])), "about_com must be finite"),
    "an unsymmetric tensor": (lambda: Inertia(1, (0, 0, 0), [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "about_com must be symmetric"),
    "a reflection": (lambda: Pose(np.diag([1, 1, -1])), "R is not a rotation"),
    "a stretched rotation": (lambda: Pose(np.eye(3) * 1.01), "R is not a rotation"),
    "a rotation not finite": (lambda: Pose(np.full((3, 3), NAN)), "R is not a rotation"),
    "a place not finite": (lambda: Pose(p=(0, np.inf, 0)), "p must be finite"),
    "a place in the plane": (lambda: Pose(p=(0, 0)), r"Pose wants R of shape \(3, 3\) and p of shape \(3,\)"),
    "an unknown DH convention": (lambda: from_dh([DHRow(1, 0)], "distal"), "convention 'distal' is not known"),
    "no inertia to move": (lambda: Model((body(inertia=point_mass(1)),)), r"joint of body 0 'arm' \(revolute\) has no inertia"),
}


@pytest.mark.parametrize("what", BUILDING)
def test_a_model_that_cannot_be_is_refused_where_it_is_built(what):
    build, message = BUILDING[what]
    with pytest.raises(ValueError, match=message):
        build()


def call(function, **change):
    state = dict(q=np.zeros(7), qd=np.zeros(7), qdd=np.zeros(7), tau=np.zeros(7)) | change
    names = {rnea: ("q", "qd", "qdd"), aba: ("q", "qd", "tau"), forward_dynamics: ("q", "qd", "tau"), crba: ("q",),
             coriolis: ("q", "qd"), gravity: ("q",), kinetic_energy: ("q", "qd"), potential_energy: ("q",), poses: ("q",)}
    return function(TREE, *(state[name] for name in names[function]))


STATES = [(function, name) for name, functions in {
    "q": (rnea, aba, forward_dynamics, crba, coriolis, gravity, kinetic_energy, potential_energy, poses),
    "qd": (rnea, aba, forward_dynamics, coriolis, kinetic_energy), "qdd": (rnea,), "tau": (aba, forward_dynamics)}.items()
    for function in functions]


@pytest.mark.parametrize("function, name", STATES, ids=lambda x: getattr(x, "__name__", x))
def test_a_bad_vector_is_reported_by_its_name_what_was_seen_and_what_was_wanted(function, name):
    size = "nq" if name == "q" else "n"
    with pytest.raises(ValueError, match=rf"^{name} has shape \(3,\); random tree of 7 has {size} = 7, so wanted \(7,\)"):
        call(function, **{name: np.zeros(3)})
    with pytest.raises(ValueError, match=rf"^{name} has shape \(7, 1\)"):
        call(function, **{name: np.zeros((7, 1))})
    with pytest.raises(ValueError, match=rf"^{name} must be finite; got \[0.0, nan"):
        call(function, **{name: np.array([0, NAN, 0, 0, 0, 0, 0])})
    with pytest.raises(ValueError, match=rf"^{name} holds complex128; wanted real numbers"):
        call(function, **{name: np.zeros(7, dtype=complex)})
    with pytest.raises(ValueError, match=rf"^{name} holds <U1; wanted real numbers"):
        call(function, **{name: ["0"] * 7})
    with pytest.raises(ValueError, match=rf"^{name} is not a vector"):
        call(function, **{name: [0, 0, 0, [0, 0], 0, 0, 0]})


@pytest.mark.parametrize("norm", [0.0, 0.5, 1.001, 1 + 1e-5])
@pytest.mark.parametrize("slot, name", [(slice(3, 7), "trunk"), (slice(7, 11), "head")])
def test_a_quaternion_off_its_sphere_is_reported_with_its_norm(norm, slot, name):
    q = FREE.zero
    q[slot] = norm * np.array([0.6, 0, 0, 0.8])
    with pytest.raises(ValueError, match=rf"q of body '{name}' holds a quaternion of norm {norm:.9g}; wanted 1"):
        rnea(FREE, q, np.zeros(9), np.zeros(9))


@pytest.mark.parametrize("norm", [1 - 9e-7, 1 + 9e-7])
def test_a_quaternion_of_norm_one_to_six_digits_is_taken_for_what_it_means(norm):
    q, q1 = FREE.zero, FREE.zero
    q[3:7], q1[3:7] = norm * np.array([0.6, 0, 0, 0.8]), (0.6, 0, 0, 0.8)
    for function in (crba, gravity, lambda model, q: poses(model, q)[0].R):
        assert_close(function(FREE, q), function(FREE, q1), 1e-12)


@pytest.mark.parametrize("ask", [
    lambda name: point(ARM, [0, 0], name, (0, 0, 0)), lambda name: point_jacobian(ARM, [0, 0], name, (0, 0, 0)),
    lambda name: point_bias(ARM, [0, 0], [0, 0], name, (0, 0, 0)), lambda name: body_jacobian(ARM, [0, 0], name),
    lambda name: ARM.payload(name, BALL), lambda name: ARM.index(name),
    lambda name: rnea(ARM, [0, 0], [0, 0], [0, 0], external={name: np.zeros(6)}),
    lambda name: aba(ARM, [0, 0], [0, 0], [0, 0], external={name: np.zeros(6)})],
    ids=["point", "point_jacobian", "point_bias", "body_jacobian", "payload", "index", "rnea", "aba"])
def test_a_body_that_is_not_there_is_reported_with_those_that_are(ask):
    with pytest.raises(KeyError, match=r"no body is named 'hand' in two-link arm; there are \['upper arm', 'forearm'\]"):
        ask("hand")
    for index in (2, -2):
        with pytest.raises(KeyError, match=rf"body {index} is not in two-link arm; there are 2 bodies"):
            ask(index)
    with pytest.raises(KeyError, match=r"body 0.5 is neither an index nor a name"):
        ask(0.5)


@pytest.mark.parametrize("f, message", [
    (np.zeros(3), r"external\['forearm'\] has shape \(3,\); a wrench is \(moment; force\), so wanted \(6,\)"),
    (np.full(6, NAN), r"external\['forearm'\] must be finite")])
def test_a_bad_wrench_is_reported_with_its_body(f, message):
    for solver in (rnea, aba, forward_dynamics):
        with pytest.raises(ValueError, match=message):
            solver(ARM, [0, 0], [0, 0], [0, 0], external={"forearm": f})


def test_one_body_pushed_under_two_names_feels_both():
    once = {"forearm": np.arange(6.0)}
    twice = {"forearm": np.arange(6.0), 1: np.arange(6.0)}
    double = {1: 2 * np.arange(6.0)}
    state = [0.1, 0.2], [0, 0], [0, 0]
    assert_close(rnea(ARM, *state, external=twice), rnea(ARM, *state, external=double), 1e-14)
    assert np.any(rnea(ARM, *state, external=once) != rnea(ARM, *state, external=double))


@pytest.mark.parametrize("r", [(0, 0), (0, 0, NAN), np.zeros((3, 1))])
def test_a_bad_point_is_reported(r):
    for ask in (lambda: point(ARM, [0, 0], 1, r), lambda: point_jacobian(ARM, [0, 0], 1, r),
                lambda: point_bias(ARM, [0, 0], [0, 0], 1, r)):
        with pytest.raises(ValueError, match="^r (has shape|must be finite)"):
            ask()


def test_the_ground_carries_no_payload():
    with pytest.raises(ValueError, match="body -1 is the ground; it carries no payload"):
        ARM.payload(-1, BALL)


def test_impossible_bodies_are_named_when_asked():
    with pytest.raises(ValueError, match="hand is impossible: principal moments"):
        Inertia(1, (0, 0, 0), np.diag([1.0, 1.0, 3.0])).require_physical("hand")
    with pytest.raises(ValueError, match="hand is impossible: a principal moment is negative"):
        Inertia(1, (0, 0, 0), np.diag([-1.0, 1.0, 1.0])).require_physical("hand")
    with pytest.raises(ValueError, match="hand is impossible: a tensor without mass"):
        Inertia(0, (0, 0, 0), np.eye(3)).require_physical("hand")
