"""What the page on other tools says of Pinocchio, MuJoCo and SymPy, asked of those programs where they are installed."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose

from lagrangebook.inertia import Inertia
from lagrangebook.mass_matrix import crba, gravity
from lagrangebook.mechanisms import vertical_mass
from lagrangebook.model import Body, Joint, Model
from lagrangebook.newton_euler import rnea
from lagrangebook.spatial import Pose, rotation, rpy

BRICK = Inertia(2.0, np.array([0.1, -0.2, 0.3]), np.array([[0.5, 0.02, -0.03], [0.02, 0.6, 0.04], [-0.03, 0.04, 0.7]]))
FALL = 9.81

XML = """<mujoco><compiler angle="radian"/><worldbody><body name="a">{joint}
<inertial pos="0.1 -0.2 0.3" mass="2" fullinertia="0.5 0.6 0.7 0.02 -0.03 0.04"/></body></worldbody></mujoco>"""


def one_body(kind, axis=(0, 1, 0), rotor=0.0):
    return Model((Body("a", -1, Joint(kind, axis, rotor=rotor), Pose(), BRICK),))


def in_mujoco(joint, **state):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(XML.format(joint=joint))
    data = mujoco.MjData(model)
    for name, value in state.items():
        getattr(data, name)[:] = value
    mujoco.mj_forward(model, data)
    return model, data


def test_urdf_turns_about_x_first_and_about_z_last():
    x, y, z = np.eye(3)
    assert_allclose(rpy(0.3, -0.5, 0.7), rotation(z, 0.7) @ rotation(y, -0.5) @ rotation(x, 0.3), atol=1e-15)


@pytest.mark.skipif(not sympy.__version__.startswith(("1.13", "1.14")), reason="seen in versions 1.13 and 1.14")
def test_sympys_equations_and_its_matrix_carry_opposite_multipliers():
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
    m, g, y = *sympy.symbols("m g"), dynamicsymbols("y")
    method = LagrangesMethod(m * y.diff()**2 / 2 - m * g * y, [y], hol_coneqs=[y])
    equation, (lam,) = method.form_lagranges_equations()[0], method.lam_vec
    assert sympy.diff(equation, lam) == 1 and method.mass_matrix[0, 1] == -1
    at_rest = equation.subs(y.diff(dynamicsymbols._t, 2), 0)
    assert sympy.solve(at_rest, lam) == [-m * g]                    # the table of this book pushes with +m g


def test_pinocchio_holds_the_robot_with_the_same_gravity_and_has_the_same_ten_parameters():
    pin = pytest.importorskip("pinocchio")
    peer = pin.Model()
    peer.gravity.linear = np.array([0, 0, -FALL])
    peer.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "a")
    inertia = pin.Inertia(2.0, BRICK.com, BRICK.about_com)
    peer.appendBodyToJoint(1, inertia, pin.SE3.Identity())
    data, q, qd = peer.createData(), np.array([0.4]), np.array([1.3])
    assert_allclose(pin.computeGeneralizedGravity(peer, data, q), gravity(one_body("revolute"), q))
    assert_allclose(pin.nonLinearEffects(peer, data, q, qd), rnea(one_body("revolute"), q, qd, [0.0]))
    assert_allclose(inertia.toDynamicParameters(), BRICK.parameters)


def test_pinocchios_free_body_has_its_linear_velocity_first_in_body_axes():
    pin = pytest.importorskip("pinocchio")
    peer = pin.Model()
    peer.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "a")
    peer.appendBodyToJoint(1, pin.Inertia(2.0, BRICK.com, BRICK.about_com), pin.SE3.Identity())
    q = np.array([1, 2, 3, 0.5, -0.1, 0.7, 0.5])
    q[3:] /= np.linalg.norm(q[3:])
    order = [3, 4, 5, 0, 1, 2]
    upper = np.triu(pin.crba(peer, peer.createData(), q))
    M = upper + np.triu(upper, 1).T
    assert_allclose(M[np.ix_(order, order)], crba(one_body("free"), q), atol=1e-12)
    placed = pin.integrate(peer, np.array([0, 0, 0, 0, 0, 0, 1.0]), np.array([1.0, 2, 3, 0, 0, 0]))
    assert_allclose(placed[:3], [1, 2, 3])


def test_mujocos_bias_holds_gravity_and_its_armature_is_a_rotor_at_the_joint():
    mujoco = pytest.importorskip("mujoco")
    model, data = in_mujoco('<joint type="hinge" axis="0 1 0" armature="0.05" damping="0.3"/>', qpos=[0.4], qvel=[1.3])
    ours = one_body("revolute", rotor=0.05)
    assert_allclose(data.qfrc_bias, rnea(ours, [0.4], [1.3], [0.0]), rtol=1e-10)
    assert_allclose(data.qfrc_passive, [-0.3 * 1.3])
    one = np.zeros(model.nv)
    mujoco.mj_mulM(model, data, one, np.ones(1))
    assert_allclose(one, crba(ours, [0.4])[0], rtol=1e-10)


def test_mujocos_free_body_has_a_scalar_first_and_its_linear_velocity_in_world_axes():
    mujoco = pytest.importorskip("mujoco")
    quarter = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]                    # w first: a quarter turn about z
    model, data = in_mujoco("<freejoint/>", qpos=[0, 0, 0, *quarter], qvel=[1.0, 0, 0, 0, 0.2, 0])
    assert_allclose(data.xmat[1].reshape(3, 3), rotation((0, 0, 1), np.pi / 2), atol=1e-12)
    after = data.qpos.copy()
    mujoco.mj_integratePos(model, after, data.qvel, 0.1)
    assert_allclose(after[:3], [0.1, 0, 0], atol=1e-12)             # along the world's x, though the body is turned
    turned = np.zeros(9)
    mujoco.mju_quat2Mat(turned, after[3:])
    assert_allclose(turned.reshape(3, 3), rotation((0, 0, 1), np.pi / 2) @ rotation((0, 1, 0), 0.02), atol=1e-12)


def test_mujocos_applied_force_acts_at_the_centre_of_mass_force_first():
    _, data = in_mujoco('<joint type="slide" axis="0 0 1"/>', xfrc_applied=[0, 0, 30.0, 0, 0, 0])
    assert_allclose(data.qacc, [30.0 / 2 - FALL])
    _, data = in_mujoco('<joint type="hinge" axis="0 0 1"/>', xfrc_applied=[0, 5.0, 0, 0, 0, 0])
    assert_allclose(data.qacc, 5.0 * 0.1 / crba(one_body("revolute", (0, 0, 1)), [0.0])[0], rtol=1e-10)


def test_this_book_holds_a_weight_with_a_positive_gravity_term():
    assert_allclose(gravity(vertical_mass(m=2.0), [0.0]), [2.0 * FALL])
