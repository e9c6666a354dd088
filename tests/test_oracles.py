"""Two hundred random trees against Pinocchio and MuJoCo, where they are installed (extra `peers`); never required."""

from dataclasses import replace

import numpy as np
import pytest
from random_models import random_state, random_tree
from reference import assert_close

from lagrangebook.forward import aba
from lagrangebook.kinematics import center_of_mass, kinetic_energy, potential_energy
from lagrangebook.mass_matrix import crba
from lagrangebook.model import GROUND
from lagrangebook.newton_euler import rnea
from lagrangebook.spatial import Pose, quaternion_of

TREES = range(200)


def tree_of(seed, kinds):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(1, 9)), kinds=kinds, rotor=True)
    return model, *random_state(model, rng), rng.normal(size=model.n)


def depth_first(model):
    """The same tree numbered depth-first, as Pinocchio's mass matrix wants it."""
    def below(i):
        return [i, *(k for j, body in model.outward if body.parent == i for k in below(j))]
    order = below(GROUND)[1:]
    place = {old: new for new, old in enumerate(order)} | {GROUND: GROUND}
    return replace(model, bodies=tuple(replace(model.bodies[i], parent=place[model.bodies[i].parent]) for i in order))


# -- Pinocchio: linear first, planar rates in body axes, (cos, sin) for its angle ---------------------------------

def pinocchio_model(pin, model):
    """The same tree; fixed bodies are welded to the joint that carries them."""
    peer, place = pin.Model(), {GROUND: (0, Pose())}
    peer.gravity.linear = np.array(model.gravity)
    kinds = {"revolute": lambda j: pin.JointModelRevoluteUnaligned(*j.axis), "spherical": lambda j: pin.JointModelSpherical(),
             "prismatic": lambda j: pin.JointModelPrismaticUnaligned(*j.axis), "planar": lambda j: pin.JointModelPlanar(),
             "free": lambda j: pin.JointModelFreeFlyer()}
    rotors = []
    for i, body in model.outward:
        parent, pose = place[body.parent]
        pose = pose @ body.placement
        if body.joint.kind != "fixed":
            parent = peer.addJoint(parent, kinds[body.joint.kind](body.joint), pin.SE3(pose.R.astype(float), pose.p.astype(float)),
                                   body.name)
            pose = Pose()
            rotors += [body.joint.rotor] * body.joint.n
        place[i] = parent, pose
        inertia = pin.Inertia(float(body.inertia.mass), body.inertia.com, body.inertia.about_com)
        peer.appendBodyToJoint(parent, inertia, pin.SE3(pose.R.astype(float), pose.p.astype(float)))
    peer.armature = np.array(rotors)
    return peer


def to_pinocchio(model, q, qd):
    """(q, T, Ṫ q̇) with v = T q̇ and v̇ = T q̈ + Ṫ q̇ in Pinocchio's velocities; T for planar and free joints."""
    T, T_rate, parts = np.eye(model.n), np.zeros((model.n, model.n)), []
    for (i, body), part in zip(model.outward, model.coordinates(q=q)):
        rows = model.slice_v(i)
        if body.joint.kind == "planar":
            c, s = np.cos(part[2]), np.sin(part[2])
            T[rows, rows] = [[c, s, 0], [-s, c, 0], [0, 0, 1]]
            T_rate[rows, rows] = np.array([[-s, c, 0], [-c, -s, 0], [0, 0, 0]]) * qd[rows][2]
            part = np.array([part[0], part[1], c, s])
        elif body.joint.kind == "free":
            T[rows, rows] = np.eye(6)[[3, 4, 5, 0, 1, 2]]
        parts.append(part)
    return np.concatenate(parts), T, T_rate @ qd


def test_two_hundred_trees_of_every_joint_kind_agree_with_pinocchio():
    pin = pytest.importorskip("pinocchio")
    for seed in TREES:
        model, *_ = tree_of(seed, ("revolute", "prismatic", "fixed", "planar", "spherical", "free"))
        model, rng = depth_first(model), np.random.default_rng(seed)
        q, qd, qdd = random_state(model, rng)
        tau = rng.normal(size=model.n)
        if not model.n:
            continue
        peer = pinocchio_model(pin, model)
        data = peer.createData()
        x, T, T_rate_qd = to_pinocchio(model, q, qd)
        v, a = T @ qd, T @ qdd + T_rate_qd
        assert_close(rnea(model, q, qd, qdd), T.T @ pin.rnea(peer, data, x, v, a), 1e-12)
        M = np.triu(pin.crba(peer, data, x))
        assert_close(crba(model, q), T.T @ (M + np.triu(M, 1).T) @ T, 1e-12)
        assert_close(T @ aba(model, q, qd, tau) + T_rate_qd, pin.aba(peer, data, x, v, np.linalg.solve(T.T, tau)), 1e-9)
        rotors, peer.armature = peer.armature @ v**2 / 2, np.zeros(model.n)     # its energy counts some rotors, not all
        assert_close(kinetic_energy(model, q, qd), pin.computeKineticEnergy(peer, data, x, v) + rotors, 1e-12)
        weighed = [i for i, body in model.outward if moves(model, i)]
        if len(weighed) == model.N:         # what is fixed to the ground counts for neither of its sums
            assert_close(potential_energy(model, q), pin.computePotentialEnergy(peer, data, x), 1e-12)
            assert_close(center_of_mass(model, q), pin.centerOfMass(peer, data, x), 1e-12)


def moves(model, i):
    return any(model.bodies[j].joint.n for j in model.ancestors(i))


# -- MuJoCo: a planar joint is two slides and a hinge; free joints stand on the ground alone --------------------------

def mujoco_xml(model):
    def text(values):
        return " ".join(repr(float(x)) for x in np.ravel(values))

    def scalar_first(R):
        return text(np.roll(quaternion_of(R), 1))

    def body_xml(i):
        body = model.bodies[i]
        axis, armature = text(body.joint.axis), f'armature="{float(body.joint.rotor)!r}"'
        joint = {"revolute": f'<joint type="hinge" axis="{axis}" {armature}/>', "fixed": "", "spherical": '<joint type="ball"/>',
                 "prismatic": f'<joint type="slide" axis="{axis}" {armature}/>', "free": "<freejoint/>",
                 "planar": '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="hinge" axis="0 0 1"/>'}
        I = body.inertia.about_com
        tensor = text([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
        inside = "".join(body_xml(j) for j, other in model.outward if other.parent == i)
        return (f'<body name="{body.name}" pos="{text(body.placement.p)}" quat="{scalar_first(body.placement.R)}">'
                f'{joint[body.joint.kind]}<inertial pos="{text(body.inertia.com)}" mass="{float(body.inertia.mass)!r}" '
                f'fullinertia="{tensor}"/>{inside}</body>')

    roots = "".join(body_xml(i) for i, body in model.outward if body.parent == GROUND)
    return (f'<mujoco><compiler angle="radian"/><option gravity="{text(model.gravity)}"/>'
            f'<worldbody>{roots}</worldbody></mujoco>')


def test_two_hundred_trees_agree_with_mujoco():
    mujoco = pytest.importorskip("mujoco")
    for seed in TREES:
        model, q, qd, qdd, _ = tree_of(seed, ("revolute", "prismatic", "fixed", "planar", "spherical"))
        if not model.n:
            continue
        peer = mujoco.MjModel.from_xml_string(mujoco_xml(model))
        data = mujoco.MjData(peer)
        rows, places = [], []       # MuJoCo numbers bodies depth-first: where ours stand in its vectors
        for i, body in model.outward:
            number = mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_BODY, body.name)
            rows += range(peer.body_dofadr[number], peer.body_dofadr[number] + body.joint.n)
            first = peer.jnt_qposadr[peer.body_jntadr[number]] if body.joint.n else 0
            order = [3, 0, 1, 2] if body.joint.kind == "spherical" else range(body.joint.nq)
            places += [(first + k, model.slice_q(i).start + source) for k, source in enumerate(order)]
        for there, here in places:
            data.qpos[there] = q[here]
        data.qvel[rows] = qd
        mujoco.mj_forward(peer, data)
        M = np.zeros((model.n, model.n))
        for k, e in enumerate(np.eye(model.n)):
            mujoco.mj_mulM(peer, data, M[k], e)
        assert_close(crba(model, q), M[np.ix_(rows, rows)], 1e-12)
        assert_close(rnea(model, q, qd, qdd), (M[np.ix_(rows, rows)] @ qdd + data.qfrc_bias[rows]), 1e-12)
