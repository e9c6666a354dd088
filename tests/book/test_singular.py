"""The labelled equations of the chapter on singular configurations, each by an independent route."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from book_equations import equation

from lagrangebook.constraints import (assemble, constrained_accelerations, constrained_inverse, delassus, point_loop, project,
                                      singularity)
from lagrangebook.forward import aba
from lagrangebook.kinematics import point, point_jacobian
from lagrangebook.mechanisms import andrews, bricard, five_bar, four_bar, parallelogram
from lagrangebook.model import GROUND
from lagrangebook.standard_form import of_model
from reference import load

assert_allclose = partial(np.testing.assert_allclose, rtol=0)

FIVE = five_bar(g=0.0)
LOOP = FIVE.loops[0]
PARALLEL, SERIAL, COLLINEAR = load("examples")["five_bar"]["singular_configurations"]


@pytest.fixture(params=range(6))
def rng(request):
    return np.random.default_rng(request.param)


def closed(rng, spread=0.15):
    return assemble(LOOP, np.array([2.1, -1.5, 0.9, 1.6]) + rng.normal(0, spread, 4)).q


def with_tip_at(x, y):
    tip = point_loop(FIVE.model, 1, (0.3, 0, 0), GROUND, (x, y, 0), np.eye(3)[:2])
    return assemble(replace(FIVE, loops=(LOOP, tip)).constraint, np.array([2.4, -2.2, 0.7, 2.2])).q


def hold(q, force):
    """u and λ that keep the weightless five-bar at rest under a force on its tip."""
    out, form = point_jacobian(FIVE.model, q, 1, (0.3, 0, 0))[:2], of_model(FIVE.model)(q, np.zeros(4))
    return constrained_inverse(replace(form, G=form.G - out.T @ force), np.zeros(4), LOOP.J(q), FIVE.B)


@equation("eq-singular-velocity", r"\begin{pmatrix} u_L^T \\ u_R^T \end{pmatrix} \dot x ="
          r"\begin{pmatrix} L_1 \sin q_2 & 0 \\ 0 & L_3 \sin q_4 \end{pmatrix}"
          r"\begin{pmatrix} \dot q_1 \\ \dot q_3 \end{pmatrix}")
def test_the_tip_moves_with_the_motors_as_the_rigid_distal_links_say(rng):
    """Against finite differences along a closed motion."""
    q, eps = closed(rng), 1e-5
    qd = np.linalg.svd(LOOP.J(q))[2][2:].T @ rng.normal(size=2)
    tips = [point(FIVE.model, project(LOOP, q + sign * eps * qd).q, 1, (0.3, 0, 0))[:2] for sign in (1, -1)]
    velocity = (tips[0] - tips[1]) / (2 * eps)
    along = np.array([[np.cos(angle), np.sin(angle)] for angle in (q[0] + q[1], q[2] + q[3])])
    assert_allclose(along @ velocity, 0.25 * np.sin(q[[1, 3]]) * qd[[0, 2]], atol=1e-8)


@equation("eq-singular-rank", r"\operatorname{rank}\,[B\;\;J^T] = k + \operatorname{rank} J_p")
def test_motors_add_their_number_to_the_rank_of_the_passive_block(rng):
    for n, k, m, loss in ((4, 2, 2, 0), (4, 2, 2, 1), (7, 1, 6, 1), (6, 3, 3, 2), (5, 0, 5, 1)):
        motors = rng.permutation(n)[:k]
        passive = np.setdiff1d(np.arange(n), motors)
        J = rng.normal(size=(m, n))
        J[:, passive] = rng.normal(size=(m, m - loss)) @ rng.normal(size=(m - loss, n - k))
        B = np.eye(n)[:, motors]
        assert np.linalg.matrix_rank(np.hstack([B, J.T])) == k + np.linalg.matrix_rank(J[:, passive])
        assert singularity(J, B).rank_BJ == k + singularity(J, B).rank_passive


@equation("eq-singular-inverse", r"B\,u + J^T\lambda = M\ddot q + h")
def test_motors_and_pin_force_produce_the_motion_asked_for(rng):
    """The tree under u and under λ as forces on its bodies moves as asked, by the articulated bodies' recursion."""
    five = five_bar()
    q = closed(rng)
    J = LOOP.J(q)
    qd = np.linalg.svd(J)[2][2:].T @ rng.normal(size=2)
    qdd = np.linalg.svd(J)[2][2:].T @ rng.normal(size=2) - np.linalg.pinv(J) @ LOOP.bias(q, qd)
    u, lam, _, status = constrained_inverse(of_model(five.model)(q, qd), qdd, J, five.B)
    assert status == "solved"
    assert_allclose(aba(five.model, q, qd, five.B @ u, LOOP.wrenches(q, lam)), qdd, atol=1e-9)


@equation("eq-singular-hold", r"z^T\left(M\ddot q + h\right) = 0 \quad\text{for every } z \text{ with } J z = 0,\; B^T z = 0")
def test_a_load_is_held_where_it_has_no_power_along_the_motion_that_brakes_allow(rng):
    q = np.array(PARALLEL["q"])
    reach = np.hstack([FIVE.B, LOOP.J(q).T])
    z = singularity(LOOP.J(q), FIVE.B).locked
    assert z.shape == (4, 1)
    for f in (*rng.normal(size=(5, 4)), *(reach @ each for each in rng.normal(size=(5, 4)))):
        nearest = reach @ np.linalg.lstsq(reach, f, rcond=1e-9)[0]
        assert (np.linalg.norm(nearest - f) < 1e-9) == (abs(z[:, 0] @ f) < 1e-9)
        assert_allclose(np.linalg.norm(nearest - f), abs(z[:, 0] @ f), atol=1e-9)


@equation("eq-singular-torque", r"|\tau| = \frac{P\,L_1\,|\sin q_2|}{2\sin\beta}")
def test_the_holding_torque_of_the_published_heights(rng):
    for case in load("examples")["five_bar"]["holding_10N_down_at_tip_massless_links"]:
        q = with_tip_at(0.1, 0.15 + case["height_above_singularity"])
        motors = hold(q, np.array([0.0, -10.0]))
        assert_allclose(motors.u / case["tau_q1_q3"], 1, atol=1e-8)
        assert_allclose(motors.lam / case["lambda"], 1, atol=1e-8)
    height, P = rng.uniform(0.01, 0.2), rng.uniform(1, 20)
    q = with_tip_at(0.1, 0.15 + height)
    beta = np.arcsin((0.15 + height - 0.25 * np.sin(q[0])) / 0.3)
    assert_allclose(abs(hold(q, np.array([0, -P])).u), P * 0.25 * abs(np.sin(q[1])) / (2 * np.sin(beta)), atol=1e-9)


@equation("eq-singular-sag", r"s \approx \left(\frac{P\,L_2^2\,c^2}{k}\right)^{1/3}")
def test_the_sag_is_where_the_energy_of_springs_and_load_is_least():
    """Half the mechanism by its geometry: energy k θ² − P s, with the crank's angle θ from the sag; ever better for small loads."""
    from scipy.optimize import brentq, minimize_scalar
    k, a, c, L2 = 500.0, 0.2, 0.15, 0.3
    L1, crank = np.hypot(a, c), np.arctan2(c, a)

    def turned(s):
        """The crank's turn that the stretched distal link forces when the tip is s below the singular height."""
        elbow = lambda theta: np.array([L1 * np.cos(crank + theta), L1 * np.sin(crank + theta)])
        tip = np.array([a - L2, c - s])
        return brentq(lambda theta: np.linalg.norm(elbow(theta) - tip) - L2, 1e-12, 0.8)

    shares = []
    for P in (1e-3, 1e-2, 0.1):
        law = (P * L2**2 * c**2 / k)**(1 / 3)
        least = minimize_scalar(lambda s: k * turned(s)**2 - P * s, bounds=(0.2 * law, 2 * law), method="bounded",
                                options={"xatol": 1e-12})
        shares.append(abs(least.x / law - 1))
    assert shares[0] < shares[1] < shares[2] < 0.05 and shares[0] < 0.01


@equation("eq-singular-second", r"\gamma(\dot q) \in \operatorname{range} J")
def test_only_velocities_with_a_solvable_bias_continue_from_a_change_point():
    """Along both branches of the flat parallelogram φ stays zero to second order, along other null vectors of J it does not."""
    flat = parallelogram()
    rows, rest, eps = flat.constraint, np.zeros(3), 1e-3
    J = rows.J(rest)
    for slope in (1, -4, -1.5, 0, 3):
        rate = np.array([1, 0.6 * (slope - 1) - 1, slope])
        assert_allclose(J @ rate, 0, atol=1e-12)
        gamma = rows.bias(rest, rate)
        solvable = np.linalg.norm(gamma - J @ np.linalg.lstsq(J, gamma, rcond=1e-9)[0]) < 1e-9
        open_by = np.max(abs(rows.phi(eps * rate)))         # first order closed: second order decides
        assert solvable == (slope in (1, -4)) == (open_by < 1e-8)


@equation("eq-singular-mobility", r"\text{mobility} = n - \operatorname{rank} J")
@pytest.mark.parametrize("make, expected", [(five_bar, 2), (four_bar, 1), (bricard, 1), (andrews, 1)])
def test_the_mobility_is_the_number_of_directions_in_which_it_moves(make, expected):
    """Every direction of the null space, walked for a small step, ends at a closed state off by its square."""
    mechanism, eps = make(), 1e-3
    guess = {five_bar: [2.1, -1.5, 0.9, 1.6], four_bar: [1.0, -0.6, 1.9], andrews: [-0.06, 0, 0.45, 0.49, 0.22, 1.23, -0.22],
             bricard: np.zeros(5)}[make]
    q = assemble(mechanism.constraint, np.array(guess, dtype=float)).q
    J = mechanism.constraint.J(q)
    free = np.linalg.svd(J / np.linalg.norm(J, axis=1)[:, None])[2][np.linalg.matrix_rank(J, tol=1e-8):]
    assert len(free) == expected
    for direction in free:
        near = project(mechanism.constraint, q + eps * direction)
        assert near.status == "solved" and np.linalg.norm(near.q - q - eps * direction) < 30 * eps**2


# -- the published configurations ------------------------------------------------------------------------------


@pytest.mark.parametrize("case, kind", [(PARALLEL, "parallel"), (SERIAL, "serial"), (COLLINEAR, "both")],
                         ids=["parallel", "serial", "both"])
def test_what_loses_rank_at_the_published_configurations(case, kind):
    machine, q = five_bar(B=case["B"]), np.array(case["q"])
    J, out = machine.loops[0].J(q), point_jacobian(machine.model, q, 1, (0.3, 0, 0))[:2]
    found = singularity(J, machine.B, out)
    assert (found.kind, found.rank_J, found.rank_BJ) == (kind, case["rank_Jc"], case["rank_[B Jc^T]"])
    assert_allclose(J, case["Jc"], atol=1e-9)
    assert_allclose(np.linalg.svd(J)[1], case["singular_values_Jc"], atol=1e-9)
    assert_allclose(np.linalg.eigvalsh(delassus(of_model(machine.model)(q, np.zeros(4)).M, J)), case["eig_W"], atol=1e-8)


def test_lambda_is_unique_at_the_parallel_singularity_for_given_torques():
    q = np.array(PARALLEL["q"])
    form, J = of_model(five_bar().model)(q, np.zeros(4)), LOOP.J(q)
    given = constrained_accelerations(form, np.zeros(4), J, np.zeros(2))
    assert given.status == "solved" and np.linalg.matrix_rank(J.T) == 2
    assert_allclose(given.lam, [7.194, 0], atol=5e-10)
    assert constrained_inverse(form, np.zeros(4), J, FIVE.B).status == "inconsistent"      # its own weight is not held
