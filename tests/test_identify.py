"""Identification: which combinations torques show, and what fits make of noisy torques."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lagrangebook.identify import (FourierMotion, base_parameters, excitation, fit, fit_physical, pseudo_inertia,
                                   regressor, with_parameters)
from lagrangebook.inertia import Inertia, box, point_mass
from lagrangebook.kinematics import kinetic_energy, potential_energy
from lagrangebook.mechanisms import biped, puma560, two_link
from lagrangebook.newton_euler import rnea
from random_models import random_inertia, random_state, random_tree
from reference import fault, load, model_of

CASES = load("open_1_open_chains")["cases"]
GRAVITIES = [(0, 0, -9.81), (0, 0, 0), (9.81, 0, 0), (3.0, -5.0, 2.0)]


@pytest.fixture
def rng():
    return np.random.default_rng(21)


def parameters(model):
    return np.concatenate([body.inertia.parameters for body in model.bodies])


def stacked(model, motions, **columns):
    return np.array([regressor(model, *motion, **columns) for motion in zip(*motions)])


def solid_arm():
    """The two-link arm with links that have volume."""
    arm = two_link()
    links = (replace(box(3.0, 0.5, 0.06, 0.08), com=np.array([0.25, 0, 0])), replace(box(2.0, 0.4, 0.05, 0.07), com=np.array([0.2, 0, 0])))
    return replace(arm, bodies=tuple(replace(body, inertia=link) for body, link in zip(arm.bodies, links)))


MOTION = FourierMotion(np.zeros(2), np.array([[0.5, -0.3], [0.2, 0.4]]), np.array([[0.1, 0.3], [-0.3, 0.2]]), 2.0)
TIMES = np.linspace(0, np.pi, 60, endpoint=False)


# -- base parameters ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
@pytest.mark.parametrize("gravity", ["with_gravity", "without_gravity"])
def test_the_number_of_base_parameters_is_the_published_one(case, gravity):
    model = model_of(case["model"])
    if gravity == "without_gravity":
        model = replace(model, gravity=np.zeros(3))
    assert base_parameters(model).rank == case["base_parameters"][gravity]["rank"]


def test_the_puma_has_thirty_six():
    assert base_parameters(puma560()).rank == 36


def energy_rank(model, rng):
    """Torques see what changes the energy between states: rank of K + U, differenced, over random bodies."""
    states = [random_state(model, rng)[:2] for _ in range(12 * model.N)]

    def energies(changed):
        E = np.array([kinetic_energy(changed, *state) + potential_energy(changed, state[0]) for state in states])
        return E[1:] - E[0]
    alone = energies(model)
    columns = [energies(model.payload(i, random_inertia(rng))) - alone for i in range(model.N) for _ in range(10)]
    values = np.linalg.svd(np.array(columns).T, compute_uv=False)
    return int(np.sum(values > 1e-9 * values[0]))


@pytest.mark.parametrize("gravity", GRAVITIES)
def test_counts_by_torques_and_by_energies_agree_for_any_gravity(gravity, rng):
    for model in (two_link(), random_tree(rng, 2), replace(puma560(), bodies=puma560().bodies[:3])):
        model = replace(model, gravity=np.array(gravity))
        assert base_parameters(model).rank == energy_rank(model, rng)


def test_combinations_of_the_two_link_arm_are_those_on_paper():
    """I₁ + m₂ l₁², m₁c₁ + m₂l₁ and the forearm's own moments."""
    l1 = 0.7
    names = sorted(str(x) for x in base_parameters(two_link(l1=l1)).expressions)
    assert names == sorted(["I_zz1 + 0.49*m2", "I_zz2", "0.7*m2 + mx1", "mx2", "my1", "my2"])


def test_rotors_of_the_first_joint_and_of_the_second_differ():
    """At the base the reflected rotor hides in the link's moment; farther out it does not, as the link also turns with its parent."""
    base = base_parameters(two_link(), rotor=True)
    assert any("I_r1" in str(x) and "I_zz1" in str(x) for x in base.expressions)
    assert "I_r2" in [str(x) for x in base.expressions]


@pytest.mark.parametrize("model", [two_link(), puma560(), random_tree(np.random.default_rng(5), 4)],
                         ids=lambda model: model.name)
def test_base_columns_give_the_same_torques_as_all(model, rng):
    base, pi = base_parameters(model), parameters(model)
    for _ in range(5):
        state = random_state(model, rng)
        Y, tau = regressor(model, *state), rnea(model, *state)
        assert_allclose(Y, Y[:, base.kept] @ base.K, atol=1e-9 * (1 + np.abs(Y).max()))
        assert_allclose(Y[:, base.kept] @ base.values(pi), tau, atol=1e-9 * (1 + np.abs(tau).max()))
        assert_allclose(Y @ base.spread(base.values(pi)), tau, atol=1e-9 * (1 + np.abs(tau).max()))


def test_a_floating_trunk_shows_all_ten_of_its_parameters():
    assert np.linalg.matrix_rank(base_parameters(biped()).K[:, :10], tol=1e-6) == 10
    assert np.linalg.matrix_rank(base_parameters(two_link()).K[:, :10], tol=1e-6) == 3


def test_parameters_are_about_the_origin_with_first_moments():
    case = fault("Z01")
    model = model_of(case["model"])
    state = [np.array(case["inputs"][x]) for x in ("q", "qd", "qdd")]
    Y = regressor(model, *state)
    assert_allclose(Y, case["expected"]["Y"], atol=1e-9)
    about_com = np.concatenate([[b.inertia.mass, *(b.inertia.mass * b.inertia.com), *b.inertia.about_com[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]
                                for b in model.bodies])
    assert_allclose(Y @ about_com, case["faulty_result"]["tau_com_inertia"], atol=1e-9)
    assert np.abs(Y @ about_com - case["expected"]["tau"]).max() > 1e-2


# -- fits --------------------------------------------------------------------------------------------------

@cache
def clean():
    arm, motions = solid_arm(), MOTION(TIMES)
    return base_parameters(arm), stacked(arm, motions), np.array([rnea(arm, *motion) for motion in zip(*motions)])


def measured(rng, noise):
    base, Y, tau = clean()
    return base, Y, tau + noise * rng.normal(size=tau.shape)


def test_without_noise_the_fit_is_exact(rng):
    base, Y, tau = measured(rng, 0)
    found = fit(Y[..., base.kept], tau)
    assert found.status == "solved"
    assert_allclose(found.pi, base.values(parameters(solid_arm())), atol=1e-9)


def test_standard_errors_are_those_of_repeated_measurements(rng):
    noise, fits = np.array([0.3, 0.05]), []
    for _ in range(300):
        base, Y, tau = measured(rng, noise)
        fits.append(fit(Y[..., base.kept], tau, sigma=noise))
    scatter = np.std([f.pi for f in fits], axis=0)
    assert_allclose(scatter / fits[0].errors, 1, atol=0.15)
    assert_allclose(np.mean([f.pi for f in fits], axis=0), base.values(parameters(solid_arm())), atol=4 * scatter.max() / np.sqrt(300))


def test_the_noise_of_each_joint_is_found_from_the_residuals(rng):
    noise = np.array([0.4, 0.02])
    base, Y, tau = measured(rng, noise)
    found = fit(Y[..., base.kept], tau)
    assert_allclose(found.sigma / noise, 1, atol=0.25)


def test_weights_help_the_quiet_joint(rng):
    noise, errors = np.array([1.0, 0.01]), {"weighted": [], "plain": []}
    for _ in range(60):
        base, Y, tau = measured(rng, noise)
        truth = base.values(parameters(solid_arm()))
        for name, sigma in (("weighted", noise), ("plain", np.ones(2))):
            errors[name].append(np.abs(fit(Y[..., base.kept], tau, sigma=sigma).pi - truth)[1])
    assert 5 * np.mean(errors["weighted"]) < np.mean(errors["plain"])


def test_all_ten_parameters_of_each_body_are_too_many(rng):
    _, Y, tau = measured(rng, 0.01)
    found = fit(Y, tau, sigma=np.full(2, 0.01))
    assert found.status == "rank deficient" and np.all(np.isinf(found.errors))


def test_friction_and_rotor_columns_are_found(rng):
    arm, truth = solid_arm(), np.array([0.4, 0.2, 1.1, 0.6])
    base = base_parameters(arm, friction=True)
    Y = stacked(arm, MOTION(TIMES), friction=True)
    tau = np.array([rnea(arm, *motion) + truth[:2] * motion[1] + truth[2:] * np.sign(motion[1]) for motion in zip(*MOTION(TIMES))])
    assert_allclose(fit(Y[..., base.kept], tau).pi[-4:], truth, atol=1e-9)


def prior_of(arm):
    """Heavier, thicker links than the true ones."""
    return np.concatenate([replace(body.inertia, mass=1.3 * body.inertia.mass, about_com=1.5 * body.inertia.about_com).parameters
                           for body in arm.bodies])


def test_the_physical_fit_reaches_the_torques_and_stays_a_body(rng):
    noise = np.array([0.05, 0.05])
    base, Y, tau = measured(rng, noise)
    found = fit_physical(Y, tau, prior_of(solid_arm()), 2, noise)
    assert found.status == "solved"
    assert_allclose(found.sigma / noise, 1, atol=0.3)
    assert all(body.inertia.is_physical for body in with_parameters(solid_arm(), found.pi).bodies)
    assert_allclose(base.values(found.pi), base.values(parameters(solid_arm())), atol=0.05)


def test_the_physical_fit_survives_noise_that_makes_a_plain_one_impossible(rng):
    base, Y, tau = measured(rng, 8.0)
    Y, tau = Y[:8], tau[:8]
    plain = [fit(Y[..., base.kept], tau + 8 * rng.normal(size=tau.shape), sigma=np.full(2, 8.0)).pi for _ in range(20)]
    izz2 = [str(x) for x in base.expressions].index("I_zz2")
    assert min(pi[izz2] for pi in plain) < 0
    found = fit_physical(Y, tau, prior_of(solid_arm()), 2, np.full(2, 8.0))
    with_parameters(solid_arm(), found.pi)
    assert base.values(found.pi)[izz2] > 0


def test_pseudo_inertia_is_the_second_moment_of_the_mass(rng):
    masses, points = rng.uniform(0.1, 1, 9), rng.normal(size=(9, 3))
    body = point_mass(masses[0], points[0])
    for m, r in zip(masses[1:], points[1:]):
        body = body + point_mass(m, r)
    r1 = np.column_stack([points, np.ones(9)])
    assert_allclose(pseudo_inertia(body.parameters), np.einsum("i,ij,ik->jk", masses, r1, r1), atol=1e-12)


def test_an_impossible_prior_and_bad_data_are_refused(rng):
    base, Y, tau = measured(rng, 0.01)
    with pytest.raises(ValueError, match="prior of body 0"):
        fit_physical(Y, tau, parameters(two_link()), 2, np.ones(2))
    with pytest.raises(ValueError, match="sigma must be positive"):
        fit(Y, tau, sigma=np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="tau"):
        fit(Y, tau[:-1])
    with pytest.raises(ValueError, match="finite"):
        fit(Y, np.where(tau > 0, np.nan, tau))
    flat = Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])).parameters
    with pytest.raises(ValueError, match="upper arm"):
        with_parameters(two_link(), np.tile(flat, 2))


# -- excitation --------------------------------------------------------------------------------------------

def test_derivatives_of_the_motion_are_those_of_its_positions(eps=1e-5):
    q, qd, qdd = MOTION(TIMES)
    assert_allclose((MOTION(TIMES + eps)[0] - MOTION(TIMES - eps)[0]) / (2 * eps), qd, atol=1e-8)
    assert_allclose((MOTION(TIMES + eps)[1] - MOTION(TIMES - eps)[1]) / (2 * eps), qdd, atol=1e-8)


def test_no_choice_of_numbers_leaves_the_limits(rng):
    limits, speed, t = np.array([[-0.5, 2.0], [1.0, 1.3]]), np.array([1.5, 4.0]), np.linspace(0, 3, 2000)
    for size in (0.01, 1.0, 100.0):
        q, qd, _ = FourierMotion.within(size * rng.normal(size=14), limits, speed, 2 * np.pi / 3)(t)
        assert np.all(q >= limits[:, 0]) and np.all(q <= limits[:, 1])
        assert np.all(np.abs(qd) <= speed)


def test_a_designed_motion_is_better_conditioned_than_any_start():
    arm, kept = two_link(), list(base_parameters(two_link()).kept)
    calls = []

    def columns(*motions):
        Y = stacked(arm, motions)[..., kept]
        calls.append(np.linalg.cond(Y.reshape(-1, len(kept))))
        return Y
    motion, condition, status = excitation(columns, [[-2, 2]] * 2, [3, 3], 4.0, harmonics=2, samples=10, effort=120)
    assert status in ("solved", "limit")
    assert condition < min(calls[:24])
    columns(*motion(np.linspace(0, 4, 10, endpoint=False)))
    assert_allclose(condition, calls[-1], rtol=1e-9)


def test_a_parameter_without_effect_cannot_be_excited():
    _, _, status = excitation(lambda *motions: stacked(two_link(), motions), [[-2, 2]] * 2, [3, 3], 4.0, samples=12, effort=20)
    assert status == "singular"


def test_limits_must_leave_room():
    with pytest.raises(ValueError, match="limits"):
        excitation(lambda *motions: None, [[1, 1]], [1], 1.0)
