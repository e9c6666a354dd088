"""Faults that others reported of their tools: our answer is the right one, and this input tells it from the faulty one."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose
from reference import fault, model_of

from lagrangebook.forward import aba
from lagrangebook.inertia import Inertia
from lagrangebook.kinematics import center_of_mass, kinetic_energy, mass, poses, potential_energy
from lagrangebook.lagrange import coordinates, lagrange_equations
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.model import Body, DHRow, Joint, from_dh, from_poe
from lagrangebook.newton_euler import rnea
from lagrangebook.spatial import Pose, rpy
from lagrangebook.standard_form import of_lagrangian


def right_and_not_faulty(actual, expected, *faulty, tol=1e-9):
    """Equal to the right answer; and each faulty one lies a thousand tolerances away from it."""
    expected = np.asarray(expected, dtype=float)
    assert_allclose(np.asarray(actual, dtype=float), expected, rtol=0, atol=tol)
    for wrong in faulty:
        assert np.max(np.abs(np.asarray(wrong, dtype=float) - expected)) > 1e3 * tol


def case_of(identity):
    case = fault(identity)
    return case["inputs"], case["expected"], case["faulty_result"], case["model"]


def motion(inputs):
    return tuple(np.array(inputs[key], dtype=float) for key in ("q", "qd", "qdd"))


def test_C01_the_slide_of_a_polar_arm_reaches_the_torque_of_its_turn():
    inputs, expected, faulty, data = case_of("C01")
    model, (q, qd, qdd) = model_of(data), motion(inputs)
    right_and_not_faulty(rnea(model, q, qd, qdd), expected["tau"], faulty["tau"])
    right_and_not_faulty(crba(model, q), expected["M"])
    right_and_not_faulty(coriolis(model, q, qd), expected["C_christoffel"])
    right_and_not_faulty(gravity(model, q), expected["G"])


def test_C04_a_continuous_joint_has_one_angle_of_period_two_pi():
    inputs, expected, faulty, data = case_of("C04")
    model, (q, qd, qdd) = model_of(data), motion(inputs)
    assert (model.nq, model.n) == (expected["nq"], expected["nv"])
    for q in (q, *map(np.array, inputs["same_at"])):
        right_and_not_faulty(coriolis(model, q, qd), expected["C_christoffel"], faulty["C_with_pair_2_0"])
        right_and_not_faulty(rnea(model, q, qd, qdd), expected["tau"])


def test_G01_the_sign_of_gravity_in_the_holding_torque():
    inputs, expected, faulty, data = case_of("G01")
    model = model_of(data)
    for q, G in zip(inputs["q"], expected["G"]):
        right_and_not_faulty(gravity(model, q), G)
    right_and_not_faulty(gravity(model, inputs["q"][0]), expected["G"][0], faulty["G0"])


def test_D01_modified_DH_gives_the_last_link_its_torque():
    inputs, expected, faulty, data = case_of("D01")
    q, qd, qdd = motion(inputs)
    rows = [DHRow(row["a_prev"], row["alpha_prev"], row["d"], 0, Inertia(body["mass"], com, body["inertia"]))
            for row, com, body in zip(inputs["mdh_table"], inputs["mdh_com"], data["bodies"])]
    for model in (from_dh(rows, "modified", gravity=data["gravity"]), model_of(data)):
        right_and_not_faulty(rnea(model, q, qd, qdd), expected["tau"], faulty["tau"])
        right_and_not_faulty(crba(model, q), expected["M"])
        right_and_not_faulty(gravity(model, q), expected["G"])
        right_and_not_faulty(coriolis(model, q, qd) @ qd, expected["bias"])


def test_D03_screws_with_homes_at_the_com_and_a_wrench_on_the_environment():
    """The wrench acts on the environment, so its opposite acts on the tool."""
    inputs, expected, faulty, data = case_of("D03")
    q, qd, qdd = motion(inputs)
    homes = [Pose(T[:3, :3], T[:3, 3]) for T in map(np.array, inputs["M_home_com_frames"])]
    inertias = [Inertia(body["mass"], np.zeros(3), body["inertia"]) for body in data["bodies"]]
    model = from_poe(np.array(inputs["screw_axes_space"]).T, inertias, homes, gravity=data["gravity"])
    right_and_not_faulty(rnea(model, q, qd, qdd), expected["tau_without_wrench"])

    tool_home = np.array(inputs["tool_home"])
    tool = poses(model, np.zeros(3))[2].inverse @ Pose(tool_home[:3, :3], tool_home[:3, 3])
    wrench = inputs["tool_wrench_on_environment_tool_axes"]
    on_arm = -tool.X.T @ np.concatenate([wrench["moment"], wrench["force"]])
    right_and_not_faulty(rnea(model, q, qd, qdd, external={2: on_arm}), expected["tau"], faulty["tau_link_origin_frames"],
                         faulty["tau_wrench_sign"])
    right_and_not_faulty(rnea(model, q, qd, qdd, external={2: -on_arm}), faulty["tau_wrench_sign"])

    at_origins = [Pose(home.R, pose.p) for home, pose in zip(homes, poses(model_of(data), np.zeros(3)))]
    wrong = from_poe(np.array(inputs["screw_axes_space"]).T, inertias, at_origins, gravity=data["gravity"])
    assert np.max(np.abs(rnea(wrong, q, qd, qdd) - expected["tau_without_wrench"])) > 0.1


def test_D03_a_fixed_tool_body_takes_the_wrench_in_its_own_axes():
    inputs, expected, faulty, data = case_of("D03")
    arm = model_of(data)
    T = np.array(inputs["tool_home"])
    placement = poses(arm, np.zeros(3))[2].inverse @ Pose(T[:3, :3], T[:3, 3])
    nothing = Inertia(0, np.zeros(3), np.zeros((3, 3)))
    model = replace(arm, bodies=arm.bodies + (Body("tool", 2, Joint("fixed"), placement, nothing),))
    wrench = inputs["tool_wrench_on_environment_tool_axes"]
    on_tool = -np.concatenate([wrench["moment"], wrench["force"]])
    right_and_not_faulty(rnea(model, *motion(inputs), external={"tool": on_tool}), expected["tau"], *faulty.values())


def test_I01_the_tensor_of_a_turned_inertial_frame_is_R_I_Rt():
    inputs, expected, faulty, data = case_of("I01")
    given = Inertia(data["bodies"][0]["mass"], np.zeros(3), inputs["inertia_in_inertial_axes"])
    body = given.moved(Pose(rpy(*inputs["inertial_rpy"]), np.array(data["bodies"][0]["com"])))
    right_and_not_faulty(body.about_com, expected["inertia_com_body_axes"], faulty["inertia_unrotated"],
                         faulty["inertia_one_sided"])
    right_and_not_faulty(rnea(model_of(data), *motion(inputs)), expected["tau"], faulty["tau_unrotated"])


def test_I04_which_tensors_can_exist():
    inputs, expected, faulty, _ = case_of("I04")
    for name, tensor in inputs["tensors"].items():
        assert Inertia(1.0, np.zeros(3), tensor).is_physical == expected[name]["possible"], name
    assert faulty["e_checked_on_diagonal_only"] != expected["e_diag_ok_but_products_break_it"]["possible"]
    assert faulty["d_refused_by_strict_inequality"] == expected["d_flat_plate_equality"]["possible"]


def test_I05_a_body_without_inertial_is_massless():
    inputs, expected, faulty, data = case_of("I05")
    model = model_of(data)
    right_and_not_faulty(mass(model), expected["total_mass"], faulty["total_mass"], tol=1e-12)
    right_and_not_faulty(crba(model, inputs["q"]), expected["M"], faulty["M"], tol=1e-12)
    right_and_not_faulty(center_of_mass(model, inputs["q"]), [0, 0, 0.1], tol=1e-12)


def test_J01_oblique_axes_not_of_unit_length_stand_in_the_joint_frame():
    inputs, expected, faulty, data = case_of("J01")
    q, qd, qdd = motion(inputs)
    model = model_of(data)
    raw = replace(model, bodies=(replace(model.bodies[0], joint=Joint("revolute", inputs["raw_axis_1"])), model.bodies[1]))
    for model in (model, raw, model_of(inputs["equivalent_z_axis_model"])):
        right_and_not_faulty(rnea(model, q, qd, qdd), expected["tau"], faulty["tau_axis_in_parent_frame"],
                             faulty["tau_default_axis_z"])
        right_and_not_faulty(crba(model, q), expected["M"])
    right_and_not_faulty(rnea(raw, q, qd, qdd)[0], expected["tau"][0], faulty["tau0_scaled_by_axis_length"])


def test_W01_a_wrench_moves_by_the_transpose_of_X_and_keeps_its_power():
    inputs, expected, faulty, data = case_of("W01")
    B_in_A = Pose(np.array(data["R"]), np.array(data["p"]))
    f = np.concatenate([inputs["moment_about_B"], inputs["force_B"]])
    v = np.concatenate([inputs["omega_B"], inputs["velocity_of_B_origin_B"]])
    wrong = np.array(faulty["wrench_A"])        # (force; moment)
    right_and_not_faulty(B_in_A.X.T @ f, [*expected["moment_about_A"], *expected["force_A"]],
                         [*wrong[3:], *wrong[:3]], tol=1e-12)
    v_A = B_in_A.inverse.X @ v
    right_and_not_faulty(v_A, [*expected["omega_A"], *expected["velocity_at_A_origin_A"]], tol=1e-12)
    right_and_not_faulty((B_in_A.X.T @ f) @ v_A, expected["power"], faulty["power"], tol=1e-12)
    right_and_not_faulty(f @ v, expected["power"], tol=1e-12)


def test_R01_a_rotor_counts_with_the_square_of_its_gear_once_and_everywhere():
    inputs, expected, faulty, data = case_of("R01")
    q, qd, qdd = motion(inputs)
    reflected = np.square(inputs["gear_ratio"]) * inputs["rotor_inertia_about_own_axis"]
    right_and_not_faulty(reflected, expected["reflected"])
    bare = model_of(data)
    model = replace(bare, bodies=tuple(replace(body, joint=replace(body.joint, rotor=float(rotor)))
                                       for body, rotor in zip(bare.bodies, reflected)))
    right_and_not_faulty(crba(model, q), expected["M"])
    right_and_not_faulty(rnea(model, q, qd, qdd), expected["tau"], *faulty.values())
    right_and_not_faulty(aba(model, q, qd, expected["tau"]), expected["qdd_from_tau"])
    right_and_not_faulty(kinetic_energy(model, q, qd) - kinetic_energy(bare, q, qd), qd @ (reflected * qd) / 2)
    right_and_not_faulty(rnea(bare, q, qd, qdd), faulty["tau_missing"])


@pytest.mark.parametrize("k", range(4))
def test_V01_roll_pitch_yaw_also_at_ninety_degrees_of_pitch(k):
    inputs, expected, faulty, _ = case_of("V01")
    faulty = [faulty["R_reversed"][k]] if k < 3 else []       # one turn alone has no order
    right_and_not_faulty(rpy(*inputs["rpy"][k]), expected["R"][k], *faulty)


def test_S01_numbers_for_coordinates_do_not_kill_their_rates():
    inputs, expected, faulty, data = case_of("S01")
    t = sympy.Symbol("t")
    s, model = inputs["cart_pendulum_state"], model_of(data)
    q, qd, qdd = ([s[key] for key in keys] for keys in (("x", "th"), ("xd", "thd"), ("xdd", "thdd")))
    right_and_not_faulty(rnea(model, q, qd, qdd), expected["cart_pendulum_generalised_forces"], faulty["generalised_forces"])
    x, xd, xdd = coordinates("q", 2, t)
    L = kinetic_energy(model, list(x), list(xd)) - potential_energy(model, list(x))
    equations = lagrange_equations(L, x, xd, xdd, t)
    for order in ([*zip(x, q), *zip(xd, qd), *zip(xdd, qdd)], [*zip(xdd, qdd), *zip(xd, qd), *zip(x, q)]):
        right_and_not_faulty(np.ravel(of_motion(equations, order)), expected["cart_pendulum_generalised_forces"],
                             faulty["generalised_forces"])
    form = of_lagrangian(L, x, xd, t=t)(q, qd)
    right_and_not_faulty(form.forces(qdd), expected["cart_pendulum_generalised_forces"], faulty["generalised_forces"])


def of_motion(expression, values):
    """Numbers put in at once for coordinates, rates and accelerations, whatever their order."""
    return expression.xreplace({sympy.sympify(symbol): sympy.Float(value) for symbol, value in values}).evalf()


def test_S04_a_pivot_that_moves_with_time():
    inputs, expected, faulty, _ = case_of("S04")
    t, (q, qd, qdd) = sympy.Symbol("t"), coordinates(("theta",))
    l, m, A, B, w = (inputs[key] for key in ("l", "mass", "A", "B", "w"))
    place = sympy.Matrix([A * sympy.sin(w * t) + l * sympy.sin(q[0]), B * sympy.cos(2 * w * t) - l * sympy.cos(q[0])])
    velocity = place.diff(t) + place.jacobian(q) * qd
    L = m * velocity.dot(velocity) / 2 - m * 9.81 * place[1]
    form = of_lagrangian(L, q, qd, t=t)([inputs["theta"]], [inputs["theta_dot"]], inputs["t"])
    right_and_not_faulty(form.accelerations(np.zeros(1))[0], expected["theta_ddot"], faulty["theta_ddot_fixed_pivot"])
    at = {t: inputs["t"], q[0]: inputs["theta"], qd[0]: inputs["theta_dot"]}
    solved = sympy.solve(lagrange_equations(L, q, qd, qdd, t)[0], qdd[0])[0]
    right_and_not_faulty(float(solved.subs(at)), expected["theta_ddot"], faulty["theta_ddot_fixed_pivot"])
    slope = velocity.diff(t) + velocity.jacobian(q) * qd + velocity.jacobian(qd) * qdd
    acceleration = slope.subs(at | {qdd[0]: expected["theta_ddot"]})
    right_and_not_faulty([float(x) for x in acceleration], expected["point_acceleration"],
                         faulty["acceleration_without_time_terms"])
    force = m * (np.array([float(x) for x in acceleration]) - [0, -9.81])
    right_and_not_faulty(force, expected["rod_force_on_mass"])
