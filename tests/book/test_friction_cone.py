"""The labelled equations of the chapter on the friction cone, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import linprog, minimize_scalar

from lagrangebook.contact import contact_accelerations, contacts, friction_cone, point_plane, solve_contact
from lagrangebook.kinematics import point
from lagrangebook.mechanisms import rocking_block, sliding_rod
from lagrangebook.standard_form import of_model

G = 9.81


@pytest.fixture
def rng():
    return np.random.default_rng(71)


def rough_problem(rng):
    """W (3, 3), b (3,), μ of one contact in space whose body would fall onto the floor."""
    A = rng.normal(size=(3, 3))
    return A @ A.T + np.eye(3), np.array([-rng.uniform(1, 5), *rng.normal(size=2) * rng.choice([0.2, 3])]), rng.uniform(0.1, 0.6)


@equation("eq-friction_cone-dissipation", r"\lambda_T \in \arg\min_{\|s\| \le \mu\lambda_N} u_T^T\,s")
def test_no_force_in_the_disc_takes_more_power_than_friction(rng):
    """By trying the whole rim of the disc, where a linear function is least; at stick and at slip the contact solver has the same."""
    seen = set()
    for _ in range(30):
        W, b, mu = rough_problem(rng)
        p = solve_contact(W, b, [mu], [3]).p
        u = (W @ p + b)[1:]
        angle = np.linspace(0, 2 * np.pi, 20001)
        rim = mu * p[0] * np.array([np.cos(angle), np.sin(angle)])
        assert_allclose(u @ p[1:], np.min(u @ rim), atol=1e-6 * (1 + np.linalg.norm(u)) * (1 + p[0]))
        assert np.linalg.norm(p[1:]) <= mu * p[0] * (1 + 1e-9)
        seen.add(bool(np.linalg.norm(u) > 1e-8))
    assert seen == {True, False}


@equation("eq-friction_cone-projection", r"""\lambda_N = \max(0,\; \lambda_N - r\,u_N), \qquad
\lambda_T = \operatorname{proj}_{\|s\| \le \mu\lambda_N}(\lambda_T - r\,u_T)""")
def test_fixed_points_of_the_projection_are_the_two_cases_of_coulombs_law(rng):
    """Forces built case by case are fixed points, for any r; forces that break a case are not."""
    def moved(p, u, mu, r):
        x = p - r * u
        size = np.linalg.norm(x[1:])
        return max(0, x[0]), x[1:] * min(1, mu * p[0] / size)

    for _ in range(20):
        mu, N, r, t = rng.uniform(0.1, 1), rng.uniform(1, 5), rng.uniform(0.1, 10), rng.normal(size=2)
        t /= np.linalg.norm(t)
        stick, slip = np.array([N, *0.7 * mu * N * t]), np.array([N, *-mu * N * t])
        for p, u in ((stick, np.zeros(3)), (slip, np.array([0, *2 * t]))):
            normal, tangent = moved(p, u, mu, r)
            assert_allclose([normal, *tangent], p, atol=1e-12)
        for p, u in ((stick, np.array([0, *2 * t])), (-slip * [-1, 1, 1], np.array([0, *2 * t]))):
            assert np.max(abs(moved(p, u, mu, r)[1] - p[1:])) > 1e-3
        assert moved(np.array([0.0, *1e-9 * t]), np.array([1.0, 0, 0]), mu, r)[0] == 0


@equation("eq-friction_cone-incline", r"a = g\,(\sin\alpha - \mu\cos\alpha) \qquad \text{if } \tan\alpha > \mu")
def test_a_block_on_an_incline_slides_by_the_energy_that_friction_leaves(rng):
    """From the model of a block on two corners, gravity turned; the speed after a way s by energy."""
    for _ in range(20):
        alpha, mu = rng.uniform(0.1, 0.6), rng.uniform(0.1, 0.6)
        block = rocking_block(b=1.0, h=0.2, mu=mu)
        tilted = type(block.model)(block.model.bodies, G * np.array([np.sin(alpha), -np.cos(alpha), 0]), "block")
        corners = contacts([point_plane(tilted, 0, (side, -0.2, 0), (0, 1, 0), mu=mu) for side in (-1, 1)])
        q = np.array([0, 0.2, 0])
        a = contact_accelerations(of_model(tilted)(q, np.zeros(3)), np.zeros(3), corners, q, np.zeros(3)).qdd[0]
        s = 0.7
        kinetic = G * s * np.sin(alpha) - mu * G * np.cos(alpha) * s
        assert_allclose(a * s, max(kinetic, 0), atol=1e-8)


@equation("eq-friction_cone-facets", r"\cos\frac{\pi}{k} \;\le\; \max_i\, d_i^T\frac{u_T}{\|u_T\|} \;\le\; 1")
def test_the_worst_direction_of_a_pyramid_is_half_way_between_corners():
    """By linear programming over the polygon of forces for many directions; both ends are reached."""
    for k in (3, 4, 7, 8, 16):
        corners = friction_cone(1.0, k).generators[:, 1:]
        share = []
        for angle in np.linspace(0, 2 * np.pi, 10 * k * 2 + 1):
            u = np.array([np.cos(angle), np.sin(angle)])
            share.append(-linprog(-corners @ u, A_eq=np.ones((1, k)), b_eq=[1]).fun)
        assert_allclose([min(share), max(share)], [np.cos(np.pi / k), 1], atol=1e-9)
        assert_allclose(friction_cone(1.0, k).error, 1 - min(share), atol=1e-9)


@equation("eq-friction_cone-period",
          r"T = \frac{2\Delta}{v} + \frac{2}{\omega}\left(\pi - \arctan\frac{\omega\Delta}{v}\right)")
def test_a_period_of_stick_slip_by_integrating_the_slip(rng):
    """The slip by a general integrator, from break-away until the block has the belt's speed again."""
    for _ in range(5):
        m, k, v, mu_k = rng.uniform(0.5, 2), rng.uniform(10, 60), rng.uniform(0.05, 0.4), 0.3
        mu_s = mu_k + rng.uniform(0.05, 0.3)

        def caught(t, y):
            return y[1] - v
        caught.terminal, caught.direction = True, 1
        start = [mu_s * m * G / k, v * (1 - 1e-12)]
        slip = solve_ivp(lambda t, y: [y[1], mu_k * G - k * y[0] / m], (0, 60), start, events=caught, rtol=1e-11, atol=1e-13)
        stick = (start[0] - slip.y[0, -1]) / v
        omega, delta = np.sqrt(k / m), (mu_s - mu_k) * m * G / k
        T = 2 * delta / v + 2 / omega * (np.pi - np.arctan(omega * delta / v))
        assert_allclose(slip.t[-1] + stick, T, rtol=1e-6)


@equation("eq-friction_cone-ladder", r"""\frac{m g}{2}\,\frac{\cot\theta}{1 + \mu\cot\theta} \;\le\; H \;\le\;
\frac{m g}{2}\,\frac{\cot\theta}{1 - \mu\cot\theta}""")
def test_the_push_of_the_wall_lies_between_two_bounds(rng):
    """By linear programming over the balance of forces and moments about the centre."""
    for _ in range(20):
        m, theta, mu = rng.uniform(1, 20), rng.uniform(1.1, 1.4), rng.uniform(0.3, 0.6)
        c, s = np.cos(theta), np.sin(theta)
        balance = [[0, 1, -1, 0], [1, 0, 0, 1], [-c, s, s, c]]           # foot N, T to the right; wall N to the left, T up
        cones = [[-mu, 1, 0, 0], [-mu, -1, 0, 0], [0, 0, -mu, 1], [0, 0, -mu, -1]]
        ends = [linprog([0, 0, sign, 0], A_ub=cones, b_ub=np.zeros(4), A_eq=balance, b_eq=[0, m * G, 0],
                        bounds=(None, None)).x[2] for sign in (1, -1)]
        cot = c / s
        assert_allclose(ends, [m * G / 2 * cot / (1 + mu * cot), m * G / 2 * cot / (1 - mu * cot)], rtol=1e-8)


def test_the_ladder_slips_at_the_angle_of_equal_use(rng):
    """tan θ = (1 − μ²)/(2μ): feasibility of the balance changes there."""
    for mu in rng.uniform(0.2, 0.8, 10):
        border = np.arctan((1 - mu**2) / (2 * mu))
        for theta, stands in ((border - 0.01, False), (border + 0.01, True)):
            c, s = np.cos(theta), np.sin(theta)
            found = linprog(np.zeros(4), A_ub=[[-mu, 1, 0, 0], [-mu, -1, 0, 0], [0, 0, -mu, 1], [0, 0, -mu, -1]], b_ub=np.zeros(4),
                            A_eq=[[0, 1, -1, 0], [1, 0, 0, 1], [-c, s, s, c]], b_eq=[0, 1, 0], bounds=(None, None))
            assert (found.status == 0) == stands


def gap_acceleration(theta, mu, N, m, l):
    """Acceleration of the tip's height under N and μN to the right, by differences of its height along the motion."""
    rod = sliding_rod(mu=mu, l=l, m=m).model
    dynamics, q = of_model(rod), np.array([0, l * np.sin(theta), theta])
    r = point(rod, q, 0, (-l, 0, 0)) - [0, q[1], 0]
    force = np.array([mu * N, N, r[0] * N - r[1] * mu * N])
    qdd = dynamics.accelerations(q, np.zeros(3), force)
    dt = 1e-3
    return 2 * point(rod, q + qdd * dt**2 / 2, 0, (-l, 0, 0))[1] / dt**2


@equation("eq-friction_cone-rod", r"W = \frac1m\left(1 + 3\cos^2\theta - 3\mu\sin\theta\cos\theta\right)")
def test_a_push_on_the_sliding_tip_moves_it_as_the_one_number_says(rng):
    for _ in range(20):
        theta, mu, m, l = rng.uniform(0.2, 1.4), rng.uniform(0, 3), rng.uniform(0.5, 3), rng.uniform(0.5, 2)
        W = gap_acceleration(theta, mu, 1.0, m, l) - gap_acceleration(theta, mu, 0.0, m, l)
        c, s = np.cos(theta), np.sin(theta)
        assert_allclose(W, (1 + 3 * c**2 - 3 * mu * s * c) / m, atol=2e-5 * (1 + mu) / m)


@equation("eq-friction_cone-threshold",
          r"m\,W_{\min} = \frac52 - \frac32\sqrt{1 + \mu^2} \qquad \text{at } \tan 2\theta = -\mu")
def test_the_least_w_over_all_angles_and_its_threshold(rng):
    """By a scalar minimiser; the sign changes at μ = 4/3."""
    for mu in (*rng.uniform(0.2, 4, 10), 4 / 3):
        least = minimize_scalar(lambda a, mu=mu: 1 + 3 * np.cos(a)**2 - 3 * mu * np.sin(a) * np.cos(a), bounds=(0, np.pi / 2),
                                method="bounded", options={"xatol": 1e-10})
        assert_allclose(least.fun, 2.5 - 1.5 * np.sqrt(1 + mu**2), atol=1e-10)
        assert_allclose(np.tan(2 * least.x), -mu, rtol=1e-5)
        assert mu == 4 / 3 or (least.fun < 0) == (mu > 4 / 3)


def test_each_case_of_the_rod_has_the_solutions_that_are_listed(rng):
    """W and b by hand decide between one, two and no solutions; the solver agrees, with λ = −b/W where there is one."""
    for _ in range(60):
        theta, rate, mu = rng.uniform(0.3, 1.5), rng.uniform(0, 5), rng.uniform(1.0, 2.0)
        c, s = np.cos(theta), np.sin(theta)
        W, b = 1 + 3 * c**2 - 3 * mu * s * c, rate**2 * s - G
        rod = sliding_rod(mu=mu)
        q, qd = np.array([0, s, theta]), np.array([-1.0 - s * rate, c * rate, rate])
        found = contact_accelerations(of_model(rod.model)(q, qd), np.zeros(3), rod.contacts, q, qd)
        expected = sorted([0.0] * int(b > 0) + [-b / W] * int(b / W < 0))
        got = [] if found.qdd is None else sorted(each.lam_N[0] for each in (found, *found.others))
        assert_allclose(got, expected, rtol=1e-7, atol=1e-9)
