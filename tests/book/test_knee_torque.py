"""The labelled equations of the chapter on the knee of a stance leg, each by an independent route."""

import numpy as np
import pytest
import sympy
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import stance_leg
from lagrangebook.newton_euler import rnea
from reference import load


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@equation("eq-knee_torque-lever", r"\tau_{\mathrm{GRF}} = F_z L_s \sin\varphi_s - F_x L_s \cos\varphi_s")
def test_the_reaction_has_the_moment_of_a_cross_product(rng):
    """The knee torque that balances a force at the ankle is the virtual work of turning the shank about the knee."""
    for lean, F_x, F_z, L in rng.uniform(-1, 1, (20, 4)):
        ankle_from_knee = np.array([-L * np.sin(lean), 0, -L * np.cos(lean)])
        moment_about_y = np.cross(ankle_from_knee, [F_x, 0, F_z])[1]     # turns the shank forward
        assert_allclose(F_z * L * np.sin(lean) - F_x * L * np.cos(lean), moment_about_y, atol=1e-14)


@equation("eq-knee_torque-hip", r"""\ddot z_h = -L_s(\ddot\varphi_s\sin\varphi_s + \dot\varphi_s^2\cos\varphi_s)
    - L_t(\ddot\varphi_t\sin\varphi_t + \dot\varphi_t^2\cos\varphi_t)""")
def test_the_hip_accelerates_as_its_height_differentiated_twice():
    t, L_s, L_t = sympy.symbols("t L_s L_t")
    s, th = (sympy.Function(name)(t) for name in ("s", "th"))
    twice = (L_s * sympy.cos(s) + L_t * sympy.cos(th)).diff(t, 2)
    stated = -sum(L * (p.diff(t, 2) * sympy.sin(p) + p.diff(t)**2 * sympy.cos(p)) for L, p in ((L_s, s), (L_t, th)))
    assert sympy.expand(twice - stated) == 0


@equation("eq-knee_torque-split", r"\tau = M(q)\,\ddot q + C(q,\dot q)\,\dot q + G(q)")
def test_the_three_parts_of_the_torque_add_up(rng):
    leg = stance_leg()
    for q, qd, qdd in rng.normal(size=(20, 3, 3)):
        assert_allclose(crba(leg, q) @ qdd + coriolis(leg, q, qd) @ qd + gravity(leg, q), rnea(leg, q, qd, qdd), rtol=1e-11)


@equation("eq-knee_torque-shank", r"I_h(\theta) = I_C + m\,(L^2 + d^2 + 2 L d \cos\theta)")
def test_the_shank_about_the_hip_is_its_share_of_the_mass_matrix():
    """A massless thigh leaves the shank's share alone in M; published numbers of the leg."""
    case, p = load("examples")["leg_inertia"], load("examples")["leg_inertia"]["parameters"]
    leg = stance_leg(L_shank=p["L_thigh"], m_shank_foot=0, I_shank_foot=0, L_thigh=0.42, m_thigh=p["m_shank_foot"],
                     thigh_com_from_hip=0.42 - p["d_shank"], I_thigh=p["I_shank_foot"], m_rest=1e-12, I_rest=1e-12)
    for theta, key in ((0, "0deg"), (np.pi / 2, "90deg")):
        formula = p["I_shank_foot"] + p["m_shank_foot"] * (p["L_thigh"]**2 + p["d_shank"]**2
                                                          + 2 * p["L_thigh"] * p["d_shank"] * np.cos(theta))
        assert_allclose([crba(leg, [0.3, theta, 0])[0, 0], formula], case["shank_about_hip"][key], rtol=1e-9)


@equation("eq-knee_torque-held", r"\frac{1}{(M^{-1})_{ii}} \le M_{ii}")
def test_a_free_neighbour_only_lowers_what_a_motor_feels(rng):
    """Independent route: minimise ½ q̇ᵀMq̇ over the other rates at q̇ᵢ = 1 (a Schur complement)."""
    M = crba(stance_leg(), rng.normal(size=3))
    for i in range(3):
        others = [j for j in range(3) if j != i]
        felt = M[i, i] - M[i, others] @ np.linalg.solve(M[np.ix_(others, others)], M[others, i])
        assert_allclose(1 / np.linalg.inv(M)[i, i], felt, rtol=1e-9)
        assert felt <= M[i, i]


@pytest.mark.parametrize("case", load("examples")["knee"]["consistent_whole_body_scenarios"], ids=lambda c: c["name"])
def test_the_published_scenarios_of_the_stance_leg(case):
    D = np.array([[1, 0, 0], [-1, 1, 0], [0, -1, 1]])
    leans = np.radians([case["phi_s_deg"], case["phi_t_deg"], case["phi_b_deg"]])
    q, qd, qdd = D @ leans, D @ case["phi_rates"], D @ case["phi_accels"]
    expected = [case[f"{joint}_torque_{where}"] for joint, where in (("ankle", "on_shank_forward_positive"),
                ("hip", "on_trunk_forward_positive"))]
    leg = stance_leg()
    assert_allclose(rnea(leg, q, qd, qdd)[[0, 2]], expected, atol=1e-10)
    assert_allclose(rnea(leg, q, qd, qdd)[1], case["knee_extensor_torque"], atol=1e-10)
    assert_allclose([gravity(leg, q)[1], (coriolis(leg, q, qd) @ qd)[1], (crba(leg, q) @ qdd)[1]],
                    [case["knee_split"][part] for part in ("gravity", "velocity", "inertia")], atol=1e-10)
