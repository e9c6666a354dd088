"""The cast: four routes to M, C q̇ and G of every chain and tree, and what each mechanism claims about itself."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose
from reference import assert_close, load, open_case

from lagrangebook.forward import aba
from lagrangebook.inertia import rod
from lagrangebook.kinematics import (body_jacobian, center_of_mass, kinetic_energy, mass, point, point_bias,
                                     point_jacobian, poses, potential_energy)
from lagrangebook.lagrange import coordinates, lagrange_equations
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import (Mechanism, arm7, biped, cart_pole, pendulum, puma560, rp_arm, stance_leg, two_link,
                                     ur6, vertical_mass)
from lagrangebook.newton_euler import rnea

CAST = (vertical_mass(), rp_arm(), two_link(), pendulum(1), pendulum(3), cart_pole(), puma560(), puma560(rotors=True), ur6(),
        arm7(), stance_leg(), biped(), biped(arms=True))
SMALL = tuple(model for model in CAST if model.n <= 3)
named = dict(ids=lambda model: f"{model.name} {model.n}")


def random_q(model, rng):
    return model.integrate(model.zero, rng.normal(0, 0.7, model.n), 1.0)


def sum_over_bodies(model, q):
    """M by Jacobian sums, and G by the centres of mass."""
    M, G = np.diag(np.concatenate([np.full(b.joint.n, b.joint.rotor) for b in model.bodies])), np.zeros(model.n)
    for i, body in model.outward:
        J, W = point_jacobian(model, q, i, body.inertia.com), body_jacobian(model, q, i)[:3]
        M = M + body.inertia.mass * J.T @ J + W.T @ body.inertia.about_com @ W
        G = G - body.inertia.mass * J.T @ model.gravity
    return M, G


# -- four routes -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("model", CAST, **named)
def test_recursion_composite_bodies_and_jacobian_sums_agree_to_rounding(model, rng):
    for _ in range(3):
        q, qd, qdd = random_q(model, rng), rng.normal(size=model.n), rng.normal(size=model.n)
        M, G = sum_over_bodies(model, q)
        assert_close(crba(model, q), M, 1e-13)
        assert_close(gravity(model, q), G, 1e-13)
        assert_close(M @ qdd + coriolis(model, q, qd) @ qd + G, rnea(model, q, qd, qdd), 1e-13)


@pytest.mark.parametrize("model", CAST, **named)
def test_differences_of_energy_agree(model, rng, eps=1e-5):
    """M = ∂²K/∂q̇² exactly, as K is quadratic; G and Ṁ = C + Cᵀ by differences along the motion."""
    q, qd = random_q(model, rng), rng.normal(size=model.n)
    K = np.array([[kinetic_energy(model, q, a + b) - kinetic_energy(model, q, a) - kinetic_energy(model, q, b)
                   for b in np.eye(model.n)] for a in np.eye(model.n)]).reshape(model.n, model.n)
    assert_close(crba(model, q), K, 1e-12)
    slope = [(potential_energy(model, model.integrate(q, e, eps)) - potential_energy(model, model.integrate(q, e, -eps)))
             / (2 * eps) for e in np.eye(model.n)]
    assert_close(gravity(model, q), slope, 1e-8)
    C = coriolis(model, q, qd)
    rate = (crba(model, model.integrate(q, qd, eps)) - crba(model, model.integrate(q, qd, -eps))) / (2 * eps)
    assert_close(C + C.T, rate, 1e-7)


@pytest.mark.parametrize("model", SMALL, **named)
def test_lagranges_equation_in_symbols_agrees(model, rng):
    q, qd, qdd = coordinates("q", model.n)
    L = kinetic_energy(model, list(q), list(qd)) - potential_energy(model, list(q))
    equations = sympy.lambdify([*q, *qd, *qdd], lagrange_equations(L, q, qd, qdd), cse=True)
    for x in rng.uniform(-2, 2, (5, 3, model.n)):
        assert_close(np.ravel(equations(*x.ravel())), rnea(model, *x), 1e-12)


@pytest.mark.parametrize("model", CAST, **named)
def test_forward_dynamics_undoes_inverse_dynamics(model, rng):
    q, qd, qdd = random_q(model, rng), rng.normal(size=model.n), rng.normal(size=model.n)
    assert_close(aba(model, q, qd, rnea(model, q, qd, qdd)), qdd, 1e-10)


# -- what they claim ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("model", CAST, **named)
def test_every_body_can_exist_except_two_of_the_puma_as_published_and_flat_ones(model):
    """Planar mechanisms state one moment each, diag(0, J, J) or diag(J, J, 0): a body on a line, which can exist."""
    impossible = [body.name for body in model.bodies if not body.inertia.is_physical]
    assert impossible == (["link 1", "link 3"] if model.name.startswith("Puma") else [])


@pytest.mark.parametrize("make", [vertical_mass, rp_arm, two_link, pendulum, cart_pole, stance_leg])
def test_planar_mechanisms_stay_in_their_plane_and_fall_down(make, rng):
    model = make()
    q, normal = random_q(model, rng), [2] if make is not stance_leg else [1]
    for i in range(model.N):
        assert_allclose(point(model, q, i, model.bodies[i].inertia.com)[normal], 0, atol=1e-15)
    assert np.count_nonzero(model.gravity) == 1 and model.gravity.sum() < 0


def test_a_rod_is_what_the_two_link_arm_is_made_of():
    arm = two_link(l1=0.5, m1=3.0)
    assert_close(arm.bodies[0].inertia.parameters, rod(3.0, 0.5).parameters, 1e-15)


def test_pendulums_hang_down_at_zero_and_so_does_the_pole():
    assert_allclose(gravity(pendulum(3), np.zeros(3)), 0, atol=1e-14)
    assert_allclose(point(pendulum(3), np.zeros(3), 2, (0, -1, 0)), [0, -3, 0], atol=0)
    assert_allclose(gravity(cart_pole(), [0.4, 0.0]), 0, atol=0)
    assert np.all(np.linalg.eigvalsh(crba(pendulum(3), [0.1, 0.2, 0.3])) > 0)


def test_the_puma_is_the_published_one_and_its_rotors_stand_on_the_diagonal():
    example = load("examples")["puma560_reference"]
    reflected = example["rotor_inertia_reflected_Jm_G2"]
    q = np.array(example["cases"][0]["q"])
    assert_close([body.joint.rotor for body in puma560(rotors=True).bodies], reflected)
    assert_close(crba(puma560(rotors=True), q) - crba(puma560(), q), np.diag(reflected), 1e-14)
    assert_close([body.inertia.mass for body in puma560().bodies], example["mass"], 1e-15)


def test_the_six_axis_arm_is_that_of_the_reference(rng):
    tree, states = open_case("ur5e_like")
    arm = ur6()
    for s in states[:5]:
        assert_close(rnea(arm, s["q"], s["qd"], s["qdd"]), s["tau_rnea"])
        assert_close(poses(arm, s["q"])[5].p, poses(tree, s["q"])[5].p)


def test_the_seven_axis_arm_reaches_as_far_as_a_panda_and_its_wrist_is_where_its_lengths_say():
    """Straight up: 0.333 + 0.316 + 0.384 to the wrist; the flange hangs 0.088 outward and 0.107 down."""
    arm = arm7()
    assert_allclose(poses(arm, np.zeros(7))[5].p, [0, 0, 0.333 + 0.316 + 0.384], atol=1e-12)
    assert_allclose(poses(arm, np.zeros(7))[6].p, [0.088, 0, 0.333 + 0.316 + 0.384 - 0.107], atol=1e-12)


def test_the_biped_weighs_what_it_says_stands_upright_and_is_symmetric():
    for arms, total in ((False, 57.8), (True, 65.8)):
        model = biped(arms=arms)
        assert_allclose(mass(model), total, rtol=1e-12)
        assert model.n == 18 + 4 * arms
        com = center_of_mass(model, model.zero)
        assert_allclose(com[1], 0, atol=1e-15)
        left, right = (poses(model, model.zero)[model.index(f"{side} foot")].p for side in ("left", "right"))
        assert_allclose(left * [1, -1, 1], right, atol=1e-15)
        assert left[2] < com[2]


# -- the stance leg ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("case", load("examples")["knee"]["consistent_whole_body_scenarios"], ids=lambda case: case["name"])
def test_the_stance_leg_gives_the_knee_torque_of_the_consistent_model(case):
    """Absolute leans to joint angles: q = (φ_s, φ_t − φ_s, φ_b − φ_t)."""
    leans = np.radians([case["phi_s_deg"], case["phi_t_deg"], case["phi_b_deg"]])
    q, qd, qdd = (np.diff(x, prepend=0) for x in (leans, case["phi_rates"], case["phi_accels"]))
    leg = stance_leg()
    tau = rnea(leg, q, qd, qdd)
    assert_close(tau, [case["ankle_torque_on_shank_forward_positive"], case["knee_extensor_torque"],
                       case["hip_torque_on_trunk_forward_positive"]])
    split = {"gravity": gravity(leg, q), "velocity": coriolis(leg, q, qd) @ qd, "inertia": crba(leg, q) @ qdd}
    assert_close([part[1] for part in split.values()], [case["knee_split"][key] for key in split])
    J = sum(body.inertia.mass * point_jacobian(leg, q, i, body.inertia.com) for i, body in leg.outward)
    bias = sum(body.inertia.mass * (point_bias(leg, q, qd, i, body.inertia.com) - leg.gravity) for i, body in leg.outward)
    assert_close((J @ qdd + bias)[[0, 2]], case["grf_on_foot"])


def test_the_shank_about_the_hip_over_the_knee_angle():
    """The share of the shank and foot in M₁₁ of a swinging leg: two links, thigh massless."""
    example = load("examples")["leg_inertia"]
    p = example["parameters"]
    leg = two_link(l1=p["L_thigh"], m1=0, I1=0, m2=p["m_shank_foot"], lc2=p["d_shank"], I2=p["I_shank_foot"])
    straight, bent = crba(leg, [0, 0.0]), crba(leg, [0, np.pi / 2])
    assert_close([straight[0, 0], bent[0, 0]], [example["shank_about_hip"]["0deg"], example["shank_about_hip"]["90deg"]])
    assert_close(straight[0, 1] / bent[0, 1], example["coupling_M12"]["ratio"])


# -- symbols, and motors -----------------------------------------------------------------------------------

@pytest.mark.parametrize("make, names", [(vertical_mass, "m g"), (rp_arm, "m1 m2 l1 J1 J2 g"), (cart_pole, "m_c m_p l g"),
                                         (two_link, "l1 l2 m1 m2"), (stance_leg, "L1 L2 m1 m2 m3 d1 d2 d3 I1 I2 I3 g")])
def test_parameters_may_be_symbols_and_mean_the_numbers(make, names, rng):
    symbols = sympy.symbols(names)
    values = rng.uniform(0.5, 2, len(symbols))
    symbolic, number = make(*symbols), make(*values)
    q, qd, qdd = rng.uniform(0.2, 1, (3, number.n))
    tau = [sympy.sympify(x).subs(dict(zip(symbols, values))) for x in rnea(symbolic, q, qd, qdd)]
    assert_close(tau, rnea(number, q, qd, qdd), 1e-12)


def test_the_motors_of_a_mechanism_push_where_they_are():
    assert np.array_equal(Mechanism(cart_pole(), actuated=(0,)).B, [[1], [0]])
    assert np.array_equal(Mechanism(cart_pole()).B, np.eye(2))
