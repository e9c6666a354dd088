"""Impact laws against closed forms and published cases, by other routes, and by their energy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import fault, load

from lagrangebook.contact.impact import collision, moreau_impact, newton_impact, poisson_impact, sequential
from lagrangebook.lcp import all_solutions
from lagrangebook.mechanisms import rocking_block, rocking_state
from lagrangebook.standard_form import of_model


def case(name):
    return next(c for c in load("open_5_contact")["cases"] if c["id"] == name)["cases"]


def random_impact(rng, friction=True):
    """M, J_N, J_T, q̇, μ of a few contacts with dependent rows now and then."""
    n, m, d = int(rng.integers(2, 7)), int(rng.integers(1, 4)), int(rng.integers(1, 3))
    A = rng.normal(size=(n, n))
    return (A @ A.T + 0.1 * np.eye(n), rng.normal(size=(m, n)), rng.normal(size=(m * d, n)) if friction
            else None, rng.normal(size=n), rng.uniform(0, 1, m))


# -- published numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize("c", case("balls_in_line"), ids=lambda c: f"{c['masses']} {c['e']}")
def test_balls_in_line_part_by_the_declared_law(c):
    M = np.diag(np.array(c["masses"], dtype=float))
    J_N, v, e = np.diff(np.eye(len(M)), axis=0), c["v_before"], c["e"]
    together = newton_impact(M, J_N, None, v, 0, e)
    assert_allclose(together.qd, c["simultaneous_newton"]["v_after"], atol=1e-12)
    assert_allclose(together.p_N, c["simultaneous_newton"]["impulses"], atol=1e-12)
    assert_allclose(poisson_impact(M, J_N, None, v, 0, e).qd, together.qd, atol=1e-12)
    one_by_one = sequential(M, J_N, None, v, 0, e, tolerance=1e-15)
    assert_allclose(one_by_one.qd, c["sequential"]["v_after"], atol=1e-12)
    assert one_by_one.status == "solved" and one_by_one.count == c["sequential"]["collisions"]


@pytest.mark.parametrize("c", case("spinning_ball_on_rough_floor"), ids=lambda c: f"{c['mode']} {c['mu']}")
def test_a_ball_with_spin_sticks_or_slips_in_the_plane(c):
    M, J_N, J_T = np.diag([c["m"], c["m"], c["I"]]), np.array([[0, 1.0, 0]]), np.array([[1.0, 0, c["R"]]])
    hit = newton_impact(M, J_N, J_T, [c["vx"], c["vy"], c["omega"]], c["mu"], c["e"])
    assert_allclose(hit.qd, [c["vx_after"], c["vy_after"], c["omega_after"]], atol=1e-10)
    assert_allclose([*hit.p_N, *hit.p_T], [c["normal_impulse"], c["tangential_impulse"]], atol=1e-10)


@pytest.mark.parametrize("c", case("spinning_ball_3d"), ids=lambda c: c["mode"])
def test_a_ball_with_spin_in_space_keeps_to_the_disc(c):
    R, M = c["R"], np.diag([c["I"]] * 3 + [c["m"]] * 3)
    J_N, J_T = np.eye(6)[5:], np.array([[0, -R, 0, 1, 0, 0], [R, 0, 0, 0, 1, 0]])
    hit = newton_impact(M, J_N, J_T, [*c["omega"], *c["v"]], c["mu"], c["e"])
    assert_allclose(hit.qd, [*c["omega_after"], *c["v_after"]], atol=1e-10)
    assert_allclose([*hit.p_T, *hit.p_N], c["impulse"], atol=1e-10)


def test_two_simultaneous_impacts_pull_nothing_and_gain_nothing():
    k06 = fault("K06")
    M, J_N = np.diag([1.0, 3.0]), np.array([[1.0, 1.0], [1.0, -1.0]])
    for row, wanted in zip(k06["inputs"]["rows"], k06["expected"]["rows"]):
        qd = np.linalg.solve(J_N, row["v_minus"])
        hit = newton_impact(M, J_N, None, qd, 0, row["e"])
        assert_allclose(hit.p_N, wanted["impulse"], atol=1e-9)
        assert_allclose(J_N @ hit.qd, wanted["v_plus"], atol=1e-9)
        assert_allclose(1 + hit.energy / (qd @ M @ qd / 2), wanted["energy_ratio"], atol=1e-9)


@pytest.mark.parametrize("c", case("rocking_block_housner"), ids=lambda c: f"{c['half_width']}")
def test_a_rocking_block_loses_what_housner_says(c):
    b, h = c["half_width"], c["half_height"]
    block = rocking_block(b, h, mu=5.0)
    q, w = rocking_state(b, h, 0.0), -1.0       # turning about the left corner, towards the right one
    arm = q[:2] - [-b, 0]
    before = np.array([-w * arm[1], w * arm[0], w])
    hit = collision(of_model(block.model), q, before, block.contacts)
    assert_allclose(hit.qd[2] / w, c["omega_ratio"], atol=1e-12)
    assert_allclose(hit.p_N, [0, c["normal_impulse_at_new_corner_per_m_w"]], atol=1e-12)
    size = (1 + (b**2 + h**2) / 3 / (b**2 + h**2)) * (b**2 + h**2) / 2
    assert_allclose(hit.energy, (c["kinetic_energy_ratio"] - 1) * size, atol=1e-12)


# -- other routes ------------------------------------------------------------------------------------------

def test_without_friction_newtons_law_is_one_of_the_vertices_of_its_lcp(rng):
    for _ in range(30):
        M, J_N, _, qd, _ = random_impact(rng, friction=False)
        e, W = rng.uniform(), J_N @ np.linalg.solve(M, J_N.T)
        hit = newton_impact(M, J_N, None, qd, 0, e)
        found = [qd + np.linalg.solve(M, J_N.T @ s.z) for s in all_solutions(W, (1 + e) * J_N @ qd)]
        assert min(np.max(abs(hit.qd - other)) for other in found) < 1e-9


def test_with_bilateral_rows_the_impact_is_that_of_the_reduced_coordinates(rng):
    for law in (newton_impact, moreau_impact, poisson_impact):
        M, J_N, J_T, _, mu = random_impact(rng)
        J = rng.normal(size=(1, len(M)))
        J = np.vstack([J, 2 * J])                               # a row twice: rank 1
        Z = np.linalg.svd(J)[2][1:].T
        y = rng.normal(size=Z.shape[1])
        whole, reduced = law(M, J_N, J_T, Z @ y, mu, 0.5, J=J), law(Z.T @ M @ Z, J_N @ Z, J_T @ Z, y, mu, 0.5)
        assert_allclose(whole.qd, Z @ reduced.qd, atol=1e-8)
        impulses = J_N.T @ whole.p_N + J_T.T @ whole.p_T + J.T @ whole.p_J
        assert_allclose(M @ (whole.qd - Z @ y), impulses, atol=1e-8)


# -- physics -----------------------------------------------------------------------------------------------

def test_moreaus_law_with_one_e_never_makes_energy(rng):
    for _ in range(150):
        M, J_N, J_T, qd, mu = random_impact(rng)
        hit = moreau_impact(M, J_N, J_T, qd, mu, rng.uniform())
        assert hit.status == "solved" and hit.energy <= 1e-9 * (qd @ M @ qd)
        assert_allclose(hit.energy, (hit.qd @ M @ hit.qd - qd @ M @ qd) / 2, atol=1e-9 * (qd @ M @ qd))


def test_newtons_law_with_friction_can_make_energy_and_says_so(rng):
    gains = [newton_impact(M, J_N, J_T, qd, mu, 0.9).energy for M, J_N, J_T, qd, mu in
             (random_impact(rng) for _ in range(100))]
    assert max(gains) > 0.01


def test_poissons_law_gives_back_e_of_the_compression():
    """One contact without friction: p = (1 + e) p_c."""
    hit = poisson_impact(np.diag([2.0]), np.eye(1), None, [-3.0], 0, 0.25)
    assert_allclose([hit.p_N[0], hit.qd[0]], [1.25 * 6, 0.75])


def test_impulses_keep_to_coulombs_cone(rng):
    for law in (newton_impact, moreau_impact, poisson_impact):
        for _ in range(20):
            M, J_N, J_T, qd, mu = random_impact(rng)
            hit = law(M, J_N, J_T, qd, mu, 0.4)
            assert hit.status == "solved"
            sizes = np.linalg.norm(hit.p_T.reshape(len(mu), -1), axis=1)
            assert np.all(hit.p_N >= -1e-12) and np.all(sizes <= mu * hit.p_N + 1e-9)


def test_newtons_law_with_friction_has_an_answer_or_says_that_there_is_none(rng):
    """γ_N + e γ_N and γ_T of more rows than q̇ has can contradict each other; then no p is right, as a
    search shows."""
    seen = set()
    for _ in range(100):
        J_N, J_T = rng.normal(size=(2, 3, 2))
        qd, mu = rng.normal(size=2), rng.uniform(0, 1, 3)
        hit = newton_impact(np.diag([1.0, 2.0]), J_N, J_T, qd, mu, 0.9)
        seen.add(hit.status)
        if hit.status == "solved":
            ahead, slip, size = J_N @ hit.qd + 0.9 * J_N @ qd, J_T @ hit.qd, 1 + np.max(hit.p_N)
            assert np.min(ahead) > -1e-8 * size and np.max(abs(ahead * hit.p_N)) < 1e-7 * size**2
            assert np.max(abs(hit.p_T * abs(slip) + mu * hit.p_N * slip)) < 1e-7 * size**2
    assert seen == {"solved", "none"}


# -- errors and limits -------------------------------------------------------------------------------------

def test_an_endless_sequence_ends_with_a_status():
    hit = sequential(np.eye(3), np.diff(np.eye(3), axis=0), None, [1.0, 0, 0], 0, 0.0, limit=5, tolerance=0.0)
    assert hit.status == "limit" and hit.count == 5


@pytest.mark.parametrize("change, message", [(dict(e=1.5), "e is 1.5"), (dict(mu=-1), "mu is -1"),
                                             (dict(qd=[1.0]), "qd"),
                                             (dict(J_T=np.ones((3, 2))), "J_T has 3 rows")])
def test_wrong_arguments_are_named(change, message):
    given = dict(M=np.eye(2), J_N=np.eye(2), J_T=None, qd=[1.0, 1.0], mu=0, e=0) | change
    with pytest.raises(ValueError, match=message):
        newton_impact(**given)
