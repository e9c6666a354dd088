"""The labelled equations of the chapter on Lagrange's equation, each by an independent route."""

import numpy as np
import pytest
import sympy
from book_equations import equation
from numpy.testing import assert_allclose
from reference import fault, open_case
from scipy.integrate import solve_ivp

from lagrangebook.forward import aba
from lagrangebook.kinematics import kinetic_energy, point, point_bias, point_jacobian, potential_energy
from lagrangebook.lagrange import coordinates, lagrange_equations
from lagrangebook.mechanisms import cart_pole, pendulum, rp_arm, two_link, vertical_mass
from lagrangebook.newton_euler import rnea
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import of_lagrangian

EPS = 1e-5


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def slope(function, x, eps=EPS):
    """Central differences of a function along each entry of x, in the last axis."""
    x = np.asarray(x, dtype=float)
    return np.stack([(np.asarray(function(x + eps * e)) - np.asarray(function(x - eps * e))) / (2 * eps) for e in np.eye(len(x))], -1)


def place(q, t):
    """A particle with two coordinates whose guide moves with time."""
    return np.array([np.sin(q[0]) + q[1] * np.cos(3 * t), q[1]**2 * np.cos(q[0]), t * q[0] + np.sin(q[1])])


def speed(q, qd, t):
    """ṙ by a central difference along the motion q + q̇ t."""
    return (place(q + EPS * qd, t + EPS) - place(q - EPS * qd, t - EPS)) / (2 * EPS)


# -- from Newton to Lagrange ------------------------------------------------------------------------------------


@equation("eq-lagrange-ideal", r"\sum_k c_k \cdot \frac{\partial r_k}{\partial q_i} = 0 .")
@equation("eq-lagrange-dalembert", r"""\sum_k m_k\, \ddot r_k \cdot \frac{\partial r_k}{\partial q_i}
    = \sum_k f_k \cdot \frac{\partial r_k}{\partial q_i} .""")
def test_rod_forces_of_a_double_pendulum_do_no_virtual_work(rng):
    """Newton for both bobs with the pulls λ of the rods as unknowns, in Cartesian coordinates."""
    m, l, weight = 1.0, 1.0, np.array([0, -9.81, 0])
    model = pendulum(2, m, l)
    for q, qd in rng.normal(size=(6, 2, 2)):
        r = [point(model, q, i, [0, -l, 0]) for i in (0, 1)]
        J = [point_jacobian(model, q, i, [0, -l, 0]) for i in (0, 1)]
        v = [jacobian @ qd for jacobian in J]
        rows = np.array([[*r[0], 0, 0, 0], [*(r[0] - r[1]), *(r[1] - r[0])]])
        gamma = np.array([v[0] @ v[0], (v[1] - v[0]) @ (v[1] - v[0])])
        KKT = np.block([[m * np.eye(6), -rows.T], [rows, np.zeros((2, 2))]])
        solution = np.linalg.solve(KKT, np.concatenate([m * weight, m * weight, -gamma]))
        acceleration, pull = solution[:6].reshape(2, 3), (rows.T @ solution[6:]).reshape(2, 3)
        assert_allclose(sum(j.T @ c for j, c in zip(J, pull)), 0, atol=1e-10)
        assert_allclose(sum(m * j.T @ a for j, a in zip(J, acceleration)), sum(m * j.T @ weight for j in J), atol=1e-10)
        assert np.linalg.norm(pull) > 1


@equation("eq-lagrange-dots", r"\frac{\partial \dot r}{\partial \dot q_i} = \frac{\partial r}{\partial q_i} .")
def test_the_dots_cancel(rng):
    for q, qd in rng.normal(size=(5, 2, 2)):
        assert_allclose(slope(lambda u: speed(q, u, 0.4), qd, 1e-2), slope(lambda x: place(x, 0.4), q), atol=1e-6)


@equation("eq-lagrange-swap", r"\frac{d}{dt} \frac{\partial r}{\partial q_i} = \frac{\partial \dot r}{\partial q_i} .")
def test_time_and_coordinate_derivatives_change_places(rng, h=1e-3):
    for q, qd in rng.normal(size=(5, 2, 2)):
        directions = [slope(lambda x: place(x, 0.4 + s), q + s * qd, h) for s in (-h, h)]
        assert_allclose((directions[1] - directions[0]) / (2 * h), slope(lambda x: speed(x, qd, 0.4), q, h), atol=1e-4)


@equation("eq-lagrange-product", r"""\ddot r \cdot \frac{\partial r}{\partial q_i}
    = \frac{d}{dt}\left( \dot r \cdot \frac{\partial r}{\partial q_i} \right) - \dot r \cdot \frac{d}{dt} \frac{\partial r}{\partial q_i}
    = \frac{d}{dt}\left( \dot r \cdot \frac{\partial \dot r}{\partial \dot q_i} \right) - \dot r \cdot \frac{\partial \dot r}{\partial q_i} .""")
@equation("eq-lagrange-inertia", r"""\sum_k m_k\, \ddot r_k \cdot \frac{\partial r_k}{\partial q_i}
    = \frac{d}{dt} \frac{\partial K}{\partial \dot q_i} - \frac{\partial K}{\partial q_i} .""")
def test_projected_inertia_is_made_of_kinetic_energy(rng, h=1e-3):
    m = 1.4
    for a, b in rng.normal(size=(5, 2, 2)):
        def motion(t):
            return a * np.sin(t) + b * t**2, a * np.cos(t) + 2 * b * t

        def at(t):
            q, qd = motion(t)
            J, v = slope(lambda x: place(x, t), q), speed(q, qd, t)
            return q, qd, J, v, v @ J

        t = 0.6
        q, qd, J, v, momentum = at(t)
        acceleration = (at(t + h)[3] - at(t - h)[3]) / (2 * h)
        momentum_rate = (at(t + h)[4] - at(t - h)[4]) / (2 * h)
        J_rate = (at(t + h)[2] - at(t - h)[2]) / (2 * h)
        assert_allclose(acceleration @ J, momentum_rate - v @ J_rate, atol=1e-4)
        assert_allclose(acceleration @ J, momentum_rate - v @ slope(lambda x: speed(x, qd, t), q, h), atol=1e-4)

        def K(x, u, time):
            return m * speed(x, u, time) @ speed(x, u, time) / 2

        def p(time):
            x, u = motion(time)
            return slope(lambda w: K(x, w, time), u, 1e-2)

        left = (p(t + h) - p(t - h)) / (2 * h) - slope(lambda x: K(x, qd, t), q, h)
        assert_allclose(m * acceleration @ J, left, atol=1e-3)


def lagrange_by_differences(model, q, qd, qdd, h=1e-3):
    """d/dt ∂L/∂q̇ − ∂L/∂q of numerical energies along the motion q + q̇ s + q̈ s²/2."""
    def L(x, u):
        return kinetic_energy(model, x, u) - potential_energy(model, x)

    def momentum(s):
        return slope(lambda u: L(q + s * qd + s**2 / 2 * qdd, u), qd + s * qdd, 1e-2)

    return (momentum(h) - momentum(-h)) / (2 * h) - slope(lambda x: L(x, qd), q, h)


@equation("eq-lagrange-equation", r"""\frac{d}{dt} \frac{\partial L}{\partial \dot q_i} - \frac{\partial L}{\partial q_i}
    = \tau_i , \qquad i = 1 \dots n .""")
def test_lagranges_equation_gives_the_forces_of_the_recursion(tree, state):
    q, qd, qdd = state
    assert_allclose(lagrange_by_differences(tree, q, qd, qdd), rnea(tree, q, qd, qdd), rtol=1e-4, atol=1e-3)


@equation("eq-lagrange-forced", r"""\frac{d}{dt} \frac{\partial L}{\partial \dot q} - \frac{\partial L}{\partial q}
    = \tau - F(\dot q) + J^\top f .""")
def test_the_motion_under_drive_friction_and_a_push_obeys_lagranges_equation(rng):
    """The push enters the simulation as a wrench in the body's frame, by another route than Jᵀ f."""
    model = two_link()
    for q, qd, tau in rng.normal(size=(5, 3, 2)):
        f, F = rng.normal(size=3) * [10, 10, 0], 0.6 * qd
        in_body = _rotation(q.sum()).T @ f
        wrench = {1: np.concatenate([np.cross([0.4, 0, 0], in_body), in_body])}
        qdd = aba(model, q, qd, tau - F, wrench)
        right = tau - F + point_jacobian(model, q, 1, [0.4, 0, 0]).T @ f
        assert_allclose(lagrange_by_differences(model, q, qd, qdd), right, rtol=1e-4, atol=1e-3)


def _rotation(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


@equation("eq-lagrange-generalised", r"Q = J^\top f .")
def test_a_generalised_force_does_the_work_of_the_force(tree, state, rng):
    q, *_ = state
    f, r = rng.normal(size=(2, 3))
    by_work = slope(lambda x: f @ point(tree, x, 6, r), q)
    assert_allclose(point_jacobian(tree, q, 6, r).T @ f, by_work, atol=1e-7)


# -- machines ---------------------------------------------------------------------------------------------------


@equation("eq-lagrange-rp", r"K = \tfrac12 A(d)\,\dot\theta^2 + \tfrac12 m_2\,\dot d^2, \qquad A(d) = J + m_2 d^2 ,")
def test_kinetic_energy_of_the_arm_that_extends(rng):
    J, m2 = 0.05 + 0.02 + 2.0 * 0.3**2, 1.5
    for q, qd in rng.normal(size=(6, 2, 2)):
        K = (J + m2 * q[1]**2) * qd[0]**2 / 2 + m2 * qd[1]**2 / 2
        assert_allclose(kinetic_energy(rp_arm(), q, qd), K, rtol=1e-12)


@equation("eq-lagrange-vertical", r"\tau = m \ddot q + m g ,")
def test_the_vertical_mass_moves_as_its_force_says(rng):
    model = vertical_mass(2.0, 9.81)
    for q, qd, qdd in rng.normal(size=(5, 3, 1)):
        tau = 2.0 * qdd + 2.0 * 9.81
        assert_allclose(aba(model, q, qd, tau), qdd, rtol=1e-12)
        assert_allclose(lagrange_by_differences(model, q, qd, qdd), tau, rtol=1e-6)
    assert_allclose(aba(model, [0.0], [0.0], [30.0]), [5.19], rtol=1e-12)
    assert_allclose(rnea(model, [0.0], [0.0], [1.5]), [22.62], rtol=1e-12)


@equation("eq-lagrange-pendulum", r"m l^2\, \ddot q + m g l \sin q = \tau ,")
def test_the_bob_of_a_pendulum_obeys_newton_across_its_rod(rng):
    m, l, g = 0.9, 0.7, 9.81
    model = pendulum(1, m, l, g)
    for q, qd, qdd in rng.normal(size=(6, 3, 1)):
        tangent = np.array([np.cos(q[0]), np.sin(q[0]), 0])
        a = point_jacobian(model, q, 0, [0, -l, 0]) @ qdd + point_bias(model, q, qd, 0, [0, -l, 0])
        torque = l * tangent @ (m * a - m * np.array([0, -g, 0]))
        assert_allclose(torque, m * l**2 * qdd[0] + m * g * l * np.sin(q[0]), rtol=1e-12)


@equation("eq-lagrange-pivot", r"l\,\ddot q + (g + \ddot y_p) \sin q + \ddot x_p \cos q = 0 .")
def test_the_shaken_pendulum_moves_as_newton_and_a_rod_of_constant_length_say(rng):
    """Cartesian: m r̈ = m g + λ (r − p) with |r − p| = l."""
    l, A, B, w, gravity = 0.8, 0.15, 0.07, 3.0, np.array([0, -9.81])
    for t, q, qd in rng.normal(size=(8, 3)):
        rod, across = l * np.array([np.sin(q), -np.cos(q)]), l * np.array([np.cos(q), np.sin(q)])
        pivot = np.array([-A * w**2 * np.sin(w * t), -4 * B * w**2 * np.cos(2 * w * t)])
        system = np.zeros((3, 3))
        system[:2, :2], system[:2, 2], system[2, :2] = np.eye(2), -rod, rod
        a = np.linalg.solve(system, [*gravity, rod @ pivot - (qd * across) @ (qd * across)])[:2]
        qdd = (a - pivot) @ across / l**2
        assert_allclose(l * qdd + (9.81 + pivot[1]) * np.sin(q) + pivot[0] * np.cos(q), 0, atol=1e-12)


def test_explicit_time_keeps_its_share_of_the_derivative():
    """A reported fault: the time in L taken for a constant (pydy #133 and others)."""
    expected = fault("S04")["expected"]["theta_ddot"]
    t, q, qd, qdd = sympy.symbols("t q qd qdd", real=True)
    r = sympy.Matrix([0.15 * sympy.sin(3 * t) + 0.8 * sympy.sin(q), 0.07 * sympy.cos(6 * t) - 0.8 * sympy.cos(q)])
    rd = r.diff(q) * qd + r.diff(t)
    L = 1.1 * rd.dot(rd) / 2 - 1.1 * 9.81 * r[1]
    (row,) = lagrange_equations(L, [q], [qd], [qdd], t)
    (angular,) = sympy.solve(row, qdd)
    assert_allclose(float(angular.subs({t: 0.37, q: 0.9, qd: -1.4})), expected, atol=1e-9)
    form = of_lagrangian(L, [q], [qd], t=t)([0.9], [-1.4], 0.37)
    assert_allclose(form.G, 1.1 * 9.81 * 0.8 * np.sin(0.9), rtol=1e-12)
    assert abs(form.rest[0]) > 0.1


# -- energy function and cyclic coordinates -----------------------------------------------------------------------


def hoop(theta, theta_d):
    """Lagrangian, and the exact energies K₂, K₀, U, of the bead on the turning hoop (2 kg, 0.5 m, 3 rad/s)."""
    m, R, W, g = 2.0, 0.5, 3.0, 9.81
    K2, K0 = m * R**2 * theta_d**2 / 2, m * R**2 * W**2 * sympy.sin(theta)**2 / 2
    U = -m * g * R * sympy.cos(theta)
    return K2 + K0 - U, K2, K0, U


@equation("eq-lagrange-energy-parts", r"h = K_2 - K_0 + U .")
def test_the_energy_function_of_the_turning_hoop_is_what_stays(rng):
    """The bead's motion from Newton in the turning frame: R θ̈ = Ω² R sin θ cos θ − g sin θ."""
    m, R, W, g = 2.0, 0.5, 3.0, 9.81
    for start in rng.normal(size=(4, 2)):
        th, thd = solve_ivp(lambda t, y: (y[1], W**2 * np.sin(y[0]) * np.cos(y[0]) - g / R * np.sin(y[0])), (0, 2), start,
                            rtol=1e-11, atol=1e-12).y
        K2, K0 = m * R**2 * thd**2 / 2, m * R**2 * W**2 * np.sin(th)**2 / 2
        h = K2 - K0 - m * g * R * np.cos(th)
        assert np.ptp(h) < 1e-7 < np.ptp(h + 2 * K0)
        p = slope(lambda u: m * R**2 * u[0]**2 / 2, thd[:1])
        assert_allclose(p[0] * thd[0] - (K2 + K0 + m * g * R * np.cos(th))[0], h[0], atol=1e-7)


def test_the_two_energies_of_the_bead_have_their_published_values():
    theta, theta_d = sympy.symbols("theta theta_d", real=True)
    L, K2, K0, U = hoop(theta, theta_d)
    at = {theta: 1.0, theta_d: 0.4}
    assert_allclose(float((K2 + K0 + U).subs(at)), -3.667200, atol=5e-7)
    assert_allclose(float((theta_d * L.diff(theta_d) - L).subs(at)), -6.853531, atol=5e-7)


@equation("eq-lagrange-energy-rate", r"\dot h = \tau^\top \dot q - \frac{\partial L}{\partial t} .")
def test_the_energy_function_grows_by_drive_and_by_time(rng):
    t, m = sympy.symbols("t m", real=True)
    q, qd, qdd = coordinates("q", 2)
    guide = sympy.Matrix([q[0] + sympy.sin(2 * t), q[0] * q[1] + sympy.cos(q[1]), t * q[1]])
    v = guide.jacobian(q) * qd + guide.diff(t)
    L = v.dot(v) / 2 - 3 * guide[1] + qd[0]**2 + qd[1]**2
    h = sum(L.diff(u) * u for u in qd) - L
    tau = np.array([0.3, -0.8])
    numeric_h, L_t = (sympy.lambdify((*q, *qd, t), e) for e in (h, L.diff(t)))
    dynamics = of_lagrangian(L, q, qd, t=t)
    motion = simulate(dynamics, [0.4, -0.3], [0.5, 0.2], np.linspace(0, 1, 401), tau=tau)
    values = np.array([numeric_h(*x, *u, time) for x, u, time in zip(motion.q, motion.qd, motion.t)])
    power = np.array([tau @ u - L_t(*x, *u, time) for x, u, time in zip(motion.q, motion.qd, motion.t)])
    assert_allclose(np.gradient(values, motion.t)[1:-1], power[1:-1], atol=2e-3)
    assert np.ptp(values) > 0.1


@equation("eq-lagrange-puck", r"m\,\ddot r - \frac{p^2}{m\,r^3} + k\,r = 0 .")
def test_the_radial_equation_of_the_puck_follows_its_exact_ellipse(rng):
    """In Cartesian coordinates both directions swing with ω² = k/m; r, p and r̈ by differences of that."""
    for m, k, a, b in rng.uniform(0.5, 2, size=(5, 4)):
        w = np.sqrt(k / m)

        def position(t):
            return np.array([a * np.cos(w * t), b * np.sin(w * t)])

        for t in rng.uniform(0, 3, 4):
            r = [np.linalg.norm(position(t + s)) for s in (-1e-3, 0, 1e-3)]
            velocity = (position(t + 1e-5) - position(t - 1e-5)) / 2e-5
            x, y = position(t)
            p = m * (x * velocity[1] - y * velocity[0])
            assert_allclose(m * (r[0] - 2 * r[1] + r[2]) / 1e-6 - p**2 / (m * r[1]**3) + k * r[1], 0, atol=1e-3)


def test_a_conserved_momentum_put_into_the_lagrangian_turns_the_centrifugal_force_round():
    q, qd, qdd = coordinates(("r", "theta"))
    L = (qd[0]**2 + q[0]**2 * qd[1]**2) / 2
    rate = 0.5 / q[0]**2
    right = lagrange_equations(L, q, qd, qdd)[0].subs(qd[1], rate)
    tempting = lagrange_equations(L.subs(qd[1], rate), [q[0]], [qd[0]], [qdd[0]])[0]
    assert sympy.simplify(right - qdd[0] + 0.25 / q[0]**3) == 0
    assert sympy.simplify(tempting - qdd[0] - 0.25 / q[0]**3) == 0


def test_numbers_for_a_position_do_not_silence_its_velocity():
    """A reported fault: q(t) replaced by a number before its derivative is taken."""
    t = sympy.symbols("t", real=True)
    x, xd, xdd = coordinates("q", 2, t=t)
    L = sympy.cos(x[1]) * xd[0] * xd[1] + x[0]**2 * xd[1]**2 / 2
    plain = coordinates("q", 2)
    by_symbols = lagrange_equations(sympy.cos(plain[0][1]) * plain[1][0] * plain[1][1] + plain[0][0]**2 * plain[1][1]**2 / 2, *plain)
    by_functions = lagrange_equations(L, x, xd, xdd, t)
    for new, old in ((xdd, plain[2]), (xd, plain[1]), (x, plain[0])):
        by_functions = by_functions.subs(dict(zip(new, old)))
    assert sympy.expand(by_functions - by_symbols) == sympy.zeros(2, 1)


def test_round_trips_of_inverse_and_forward_dynamics(rng):
    for model in (cart_pole(), two_link(), pendulum(3)):
        for q, qd, qdd in rng.normal(size=(4, 3, model.n)):
            assert_allclose(aba(model, q, qd, rnea(model, q, qd, qdd)), qdd, atol=1e-10)


@pytest.mark.parametrize("identity", ["planar_2R", "RP_arm"])
def test_numerical_energies_of_the_reference_arms_give_their_published_forces(identity):
    model, states = open_case(identity)
    for state in states[:4]:
        left = lagrange_by_differences(model, state["q"], state["qd"], state["qdd"])
        assert_allclose(left, state["tau_rnea"], rtol=1e-4, atol=1e-3)
