"""The labelled equations of the chapter on impact, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize

from lagrangebook.contact import collision, moreau_impact, moreau_jean_step, newton_impact, poisson_impact
from lagrangebook.mechanisms import ball, bouncing_ball, rocking_block, rocking_state, sliding_rod
from lagrangebook.standard_form import of_model

G = 9.81


@pytest.fixture
def rng():
    return np.random.default_rng(83)


def random_impact(rng, m=2, n=4):
    """M, J_N (m, n), J_T (m, n), q̇ of m contacts in the plane."""
    A = rng.normal(size=(n, n))
    return A @ A.T + np.eye(n), rng.normal(size=(m, n)), rng.normal(size=(m, n)), rng.normal(size=n)


@equation("eq-impact-balance", r"M\,(\dot q^+ - \dot q^-) = J_N^T p_N + J_T^T p_T")
def test_an_impulse_is_a_large_force_for_a_short_time(rng):
    """The velocities of the law against a motion of 10⁻⁷ s under p over that time; gravity and h fade."""
    for _ in range(5):
        rod = sliding_rod(mu=0.4, e=rng.uniform(0, 1))
        angle = rng.uniform(0.4, 1.2)
        q, qd = np.array([0, np.sin(angle), angle]), np.array([0.3, -2.0, rng.uniform(-1, 1)])
        dynamics = of_model(rod.model)
        hit = collision(dynamics, q, qd, rod.contacts)
        impulse = rod.contacts.J_N(q).T @ hit.p_N + rod.contacts.J_T(q).T @ hit.p_T
        duration, steps, x, v = 1e-7, 20, q.copy(), qd.copy()
        for _ in range(steps):
            v = v + duration / steps * dynamics.accelerations(x, v, impulse / duration)
            x = x + duration / steps * v
        assert_allclose(v, hit.qd, atol=1e-5)


@equation("eq-impact-newton", r"0 \le \gamma_N^+ + e\,\gamma_N^- \;\perp\; p_N \ge 0")
def test_smooth_impacts_are_least_distances_in_the_kinetic_metric(rng):
    """With one e: q̇⁺ + e q̇⁻ is the point nearest to (1 + e) q̇⁻ in the metric M with J_N v ≥ 0 (Gauss's principle)."""
    for _ in range(10):
        M, J_N, _, qd = random_impact(rng)
        e = rng.uniform(0, 1)
        start = (1 + e) * qd
        near = minimize(lambda v: (v - start) @ M @ (v - start), start, jac=lambda v: 2 * M @ (v - start), method="SLSQP",
                        constraints={"type": "ineq", "fun": lambda v: J_N @ v, "jac": lambda v: J_N},
                        options={"ftol": 1e-14, "maxiter": 500})
        hit = newton_impact(M, J_N, None, qd, 0.0, e)
        assert_allclose(hit.qd + e * qd, near.x, atol=1e-5)
        gap = J_N @ (hit.qd + e * qd)
        assert np.all(gap > -1e-9) and np.all(hit.p_N >= 0) and abs(gap @ hit.p_N) < 1e-9


@equation("eq-impact-poisson", r"p_N = p_c + p_e, \qquad p_e = e\,p_c")
def test_expansion_gives_back_a_share_of_the_impulse_of_compression(rng):
    """One contact in slip: p_c by marching the impulse until the approach ends, the rest by the share e."""
    count = 0
    while count < 10:
        angle, mu, e, qd = rng.uniform(0.4, 1.2), 0.1, rng.uniform(0.1, 0.9), rng.normal(size=3)
        rod = sliding_rod()
        q = np.array([0, np.sin(angle), angle])
        N, T, M = rod.contacts.J_N(q)[0], rod.contacts.J_T(q)[0], np.diag([1, 1, 1 / 3])
        sign = np.sign(T @ qd)
        along = np.linalg.solve(M, N - sign * mu * T)
        if N @ qd > -0.2:
            continue
        p_c = brentq(lambda p: N @ (qd + p * along), 0, 50)
        if sign * T @ (qd + (1 + e) * p_c * along) < 0:
            continue                                          # the slip would end within the impact
        hit = poisson_impact(M, N[None], T[None], qd, mu, e)
        assert_allclose(hit.p_N, [(1 + e) * p_c], rtol=1e-8)
        assert_allclose(hit.p_T, [-sign * mu * (1 + e) * p_c], rtol=1e-8)
        count += 1


@equation("eq-impact-grip",
          r"\|\gamma_T^-\| \le \tfrac72\,\mu\,(1 + e)\,|\gamma_N^-| \quad\Longrightarrow\quad \gamma_T^+ = 0")
def test_a_solid_ball_grips_if_its_slip_is_slow(rng):
    """In the plane from the model, in space from Newton and Euler's balance of the free ball."""
    for _ in range(40):
        R, mu, e, fall = rng.uniform(0.05, 0.3), rng.uniform(0.1, 0.6), rng.uniform(0, 1), rng.uniform(0.5, 3)
        border = 3.5 * mu * (1 + e) * fall
        slip = border * rng.choice([0.98, 1.02])
        toy, spin = ball(R=R, mu=mu, e=e), rng.normal() * 10
        q, qd = np.array([0, R, 0]), np.array([slip - R * spin, -fall, spin])
        hit = collision(of_model(toy.model), q, qd, toy.contacts)
        assert (abs(hit.qd[0] + R * hit.qd[2]) < 1e-9) == (slip < border)
        side = rng.uniform(0, 2 * np.pi)
        N, v = np.array([0, 0, 1.0]), slip * np.array([np.cos(side), np.sin(side), 0])
        T = np.array([[1, 0, 0, 0, -R, 0], [0, 1, 0, R, 0, 0]])
        M = np.diag([1, 1, 1, 0.4 * R**2, 0.4 * R**2, 0.4 * R**2])
        thrown = newton_impact(M, np.array([[0, 0, 1.0, 0, 0, 0]]), T, np.array([*v[:2], -fall, 0, 0, 0]), mu, e)
        p = np.array([*thrown.p_T, *thrown.p_N])
        omega = np.cross([0, 0, -R], p) / (0.4 * R**2)
        after = v - fall * N + p + np.cross(omega, [0, 0, -R])
        assert (np.linalg.norm(after[:2]) < 1e-9) == (slip < border)
        assert_allclose(thrown.p_T[0] * v[1] - thrown.p_T[1] * v[0], 0, atol=1e-9)


@equation("eq-impact-housner", r"\frac{\dot\theta^+}{\dot\theta^-} = \frac{2h^2 - b^2}{2(h^2 + b^2)}")
def test_the_rocking_block_keeps_its_angular_momentum_about_the_arriving_edge(rng):
    """Angular momentum about the new edge before and after, summed over a grid of points of the block."""
    for _ in range(10):
        h, b = rng.uniform(0.4, 1.0), rng.uniform(0.1, 0.5)
        x, y = (side * (np.arange(200) + 0.5) / 200 for side in (2 * b, 2 * h))
        X, Y = np.meshgrid(x, y)
        before = np.mean(X * (X - 2 * b) + Y * Y)             # turning about (0, 0) at unit rate, moment about (2b, 0)
        after = np.mean((X - 2 * b)**2 + Y * Y)
        ratio = (2 * h**2 - b**2) / (2 * (h**2 + b**2))
        assert_allclose(before / after, ratio, rtol=1e-4)
        if ratio <= 0:
            continue
        block = rocking_block(b, h)
        hit = collision(of_model(block.model), rocking_state(b, h, 0.0), np.array([h, -b, -1.0]), block.contacts)
        assert_allclose(-hit.qd[2], ratio, rtol=1e-9)
        assert_allclose(hit.p_N[0], 0, atol=1e-12)


@equation("eq-impact-energy", r"K^+ - K^- = p^T\xi - \frac{1 - e}{1 + e}\,\frac12\,p^T W p")
def test_moreaus_law_cannot_make_energy(rng):
    """Kinetic energies before and after against the two terms, at several contacts with friction."""
    for _ in range(100):
        M, J_N, J_T, qd = random_impact(rng, m=2, n=5)
        e, mu = rng.uniform(0, 1), rng.uniform(0, 1.5, 2)
        hit = moreau_impact(M, J_N, J_T, qd, mu, e)
        J, p = np.vstack([J_N, J_T]), np.concatenate([hit.p_N, hit.p_T])
        xi = J @ (hit.qd + e * qd) / (1 + e)
        change = hit.qd @ M @ hit.qd / 2 - qd @ M @ qd / 2
        W = J @ np.linalg.solve(M, J.T)
        assert_allclose(change, p @ xi - (1 - e) / (1 + e) * p @ W @ p / 2, atol=1e-9)
        assert_allclose(change, hit.energy, atol=1e-9)
        assert p @ xi <= 1e-9 and change <= 1e-9


def test_newtons_law_with_friction_makes_energy_where_moreaus_and_poissons_do_not():
    rod, angle = sliding_rod(mu=0.9, e=0.95), 0.86
    q, qd = np.array([0, np.sin(angle), angle]), np.array([0.17, -1.04, 2.17])
    M = np.diag([1, 1, 1 / 3])
    gains = []
    for law in (newton_impact, moreau_impact, poisson_impact):
        after = collision(of_model(rod.model), q, qd, rod.contacts, law).qd
        gains.append(after @ M @ after - qd @ M @ qd)
    assert gains[0] > 0.3 * (qd @ M @ qd) and max(gains[1:]) < 0


@equation("eq-impact-zeno", r"t_\infty = \sqrt{\frac{2 h}{g}}\;\frac{1 + e}{1 - e}")
def test_all_flights_of_the_bouncing_ball_end_in_a_finite_time(rng):
    """By adding flight after flight, each from its own take-off speed."""
    for _ in range(10):
        h, e = rng.uniform(0.1, 3), rng.uniform(0.1, 0.9)
        speed = np.sqrt(2 * G * h)
        t = speed / G
        while speed > 1e-14:
            speed *= e
            t += 2 * speed / G
        assert_allclose(t, np.sqrt(2 * h / G) * (1 + e) / (1 - e), rtol=1e-12)


@equation("eq-impact-step", r"""\begin{aligned} q_m &= q + \tfrac12\,dt\,\dot q, \qquad q^+ = q_m + \tfrac12\,dt\,\dot q^+ \\
M\,(\dot q^+ - \dot q) &= dt\,(\tau - h) + J_N^T p_N + J_T^T p_T \end{aligned}""")
def test_a_step_keeps_the_balance_of_momentum_with_its_own_impulses(rng):
    """Positions and momentum of each step rebuilt from what it returns; landing, rest and sliding in one sequence."""
    toy = ball(mu=0.3, e=0.5)
    dynamics = of_model(toy.model)
    q, qd, dt, pushed = np.array([0, 0.3, 0]), np.array([1.0, 0, 5.0]), 2e-3, 0
    for _ in range(600):
        step = moreau_jean_step(dynamics, q, qd, dt, toy.contacts)
        q_m = q + dt / 2 * qd
        p_N, p_T = step.p[0]
        force = np.array([p_T, p_N, 0.1 * p_T]) + dt * np.array([0, -G, 0])
        assert_allclose(np.array([1, 1, 0.4 * 0.1**2]) * (step.qd - qd), force, atol=1e-9)
        assert_allclose(step.q, q_m + dt / 2 * step.qd, atol=1e-12)
        q, qd, pushed = step.q, step.qd, pushed + (p_N > 0)
    assert 100 < pushed < 600 and abs(q[1] - 0.1) < 1e-3


def test_the_error_of_steps_with_impacts_is_of_order_one():
    """Against the parabolas of the closed form, mean over two seconds."""
    def height(t, e=0.7):
        start, speed = np.sqrt(2 / G), e * np.sqrt(2 * G)
        if t < start:
            return 1 - G * t**2 / 2
        while t >= start + 2 * speed / G:
            start, speed = start + 2 * speed / G, e * speed
        return speed * (t - start) - G * (t - start)**2 / 2

    toy, errors = bouncing_ball(e=0.7), []
    dynamics = of_model(toy.model)
    for n in (50, 100, 200, 400):
        q, qd, error = np.array([1.0]), np.zeros(1), []
        for k in range(n):
            step = moreau_jean_step(dynamics, q, qd, 2 / n, toy.contacts)
            q, qd = step.q, step.qd
            error.append(abs(q[0] - height(2 * (k + 1) / n)))
        errors.append(np.mean(error))
    assert 0.7 < -np.polyfit(np.log([50, 100, 200, 400]), np.log(errors), 1)[0] < 1.4
