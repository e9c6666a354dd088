"""The lines of the recursion in base axes, against differentiated positions and against sums over the outer links."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.kinematics import kinetic_energy, point_jacobian, poses, potential_energy
from lagrangebook.mechanisms import rp_arm, two_link
from lagrangebook.model import GROUND
from lagrangebook.newton_euler import rnea
from lagrangebook.spatial import vee
from random_models import random_state, random_tree
from reference import load

EPS = 1e-4


class Motion:
    """A random chain on the path q(t) = q + q̇ t + ½ q̈ t²; vectors by differences of poses, base axes, no gravity."""

    def __init__(self, seed, kinds=("revolute", "prismatic")):
        rng = np.random.default_rng(seed)
        self.model = random_tree(rng, 5, kinds=kinds)
        self.q, self.qd, self.qdd = random_state(self.model, rng)
        self.here, self.after, self.before = (self.at(t) for t in (0, EPS, -EPS))

    def at(self, t):
        return poses(self.model, self.q + self.qd * t + self.qdd * t**2 / 2)

    def links(self, kind):
        return [(i, b) for i, b in self.model.outward if b.parent != GROUND and b.joint.kind == kind]

    def omega(self, i, t=0.0, eps=1e-5):
        R, after, before = (self.at(t + dt)[i].R for dt in (0, eps, -eps))
        return vee((after - before) / (2 * eps) @ R.T)

    def alpha(self, i):
        return (self.omega(i, EPS) - self.omega(i, -EPS)) / (2 * EPS)

    def z(self, i):
        return self.here[i].R @ self.model.bodies[i].joint.axis

    def acceleration(self, i, r=(0, 0, 0)):
        x = [pose.R @ r + pose.p for pose in (self.after[i], self.here[i], self.before[i])]
        return (x[0] - 2 * x[1] + x[2]) / EPS**2

    def p(self, i):
        return self.here[i].p - self.here[self.model.bodies[i].parent].p

    def link(self, i):
        """(F, N, place of the centre of mass) of link i, its weight included, from momenta that are differenced."""
        body = self.model.bodies[i]
        m, r = body.inertia.mass, body.inertia.com
        spin = [pose.R @ body.inertia.about_com @ pose.R.T @ self.omega(i, t)
                for pose, t in ((self.after[i], EPS), (self.before[i], -EPS))]
        F = m * (self.acceleration(i, r) - self.model.gravity)
        return F, (spin[0] - spin[1]) / (2 * EPS), self.here[i].R @ r + self.here[i].p

    def outer(self, i):
        return [j for j, _ in self.model.outward if i in self.model.ancestors(j)]

    def wrench(self, i):
        """(n_i, f_i): what all links outside joint i need together, about that joint."""
        parts = [self.link(j) for j in self.outer(i)]
        o = self.here[i].p
        return sum(N + np.cross(c - o, F) for F, N, c in parts), sum(F for F, _, _ in parts)


@pytest.fixture(params=range(3), ids=lambda seed: f"seed{seed}")
def motion(request):
    return Motion(request.param)


@equation("eq-recursion-omega", r"\omega_i = \omega_{i-1} + \dot q_i\, z_i")
@equation("eq-recursion-alpha", r"\alpha_i = \alpha_{i-1} + \ddot q_i\, z_i + \omega_{i-1} \times \dot q_i\, z_i")
def test_turning_joints_add_rotations(motion):
    for i, body in motion.links("revolute"):
        k, qd, qdd = body.parent, motion.qd[i], motion.qdd[i]
        assert_allclose(motion.omega(k) + qd * motion.z(i), motion.omega(i), atol=1e-7)
        printed = motion.alpha(k) + qdd * motion.z(i) + np.cross(motion.omega(k), qd * motion.z(i))
        assert_allclose(printed, motion.alpha(i), atol=1e-5)


@equation("eq-recursion-origin", r"a_{o,i+1} = a_{o,i} + \alpha_i \times p_i + \omega_i \times (\omega_i \times p_i)")
def test_accelerations_run_from_joint_to_joint(motion):
    for i, body in motion.links("revolute"):
        k, p = body.parent, motion.p(i)
        w = motion.omega(k)
        printed = motion.acceleration(k) + np.cross(motion.alpha(k), p) + np.cross(w, np.cross(w, p))
        assert_allclose(printed, motion.acceleration(i), atol=1e-5)


@equation("eq-recursion-com", r"a_{c,i} = a_{o,i} + \alpha_i \times r_i + \omega_i \times (\omega_i \times r_i)")
def test_centres_of_mass_are_side_branches(motion):
    for i, body in motion.model.outward:
        r, w = motion.here[i].R @ body.inertia.com, motion.omega(i)
        printed = motion.acceleration(i) + np.cross(motion.alpha(i), r) + np.cross(w, np.cross(w, r))
        assert_allclose(printed, motion.acceleration(i, body.inertia.com), atol=1e-5)


@equation("eq-recursion-slide", r"""a_{o,i+1} = a_{o,i} + \alpha_i \times p_i + \omega_i \times (\omega_i \times p_i)
    + 2\,\omega_i \times \dot d\, z + \ddot d\, z""")
def test_a_sliding_joint_adds_two_terms(motion):
    for i, body in motion.links("prismatic"):
        k, p, z = body.parent, motion.p(i), motion.z(i)
        w = motion.omega(k)
        printed = motion.acceleration(k) + np.cross(motion.alpha(k), p) + np.cross(w, np.cross(w, p))
        printed = printed + 2 * np.cross(w, motion.qd[i] * z) + motion.qdd[i] * z
        assert_allclose(printed, motion.acceleration(i), atol=1e-5)


def test_the_random_chains_hold_joints_of_both_kinds_away_from_the_ground():
    motions = [Motion(seed) for seed in range(3)]
    assert all(sum(len(m.links(kind)) for m in motions) >= 2 for kind in ("revolute", "prismatic"))


@equation("eq-recursion-gravity", r"a_0 = -g")
def test_a_base_that_accelerates_upward_is_gravity(tree, state):
    """The weights carried by the Jacobians of the centres of mass, against the recursion that starts with −g."""
    q = state[0]
    weights = sum(point_jacobian(tree, q, i, body.inertia.com).T @ (body.inertia.mass * tree.gravity)
                  for i, body in tree.outward)
    assert_allclose(rnea(tree, q, 0 * q, 0 * q), -weights, atol=1e-11)


@equation("eq-recursion-link", r"F_i = m_i\, a_{c,i}, \qquad N_i = I_i\, \alpha_i + \omega_i \times I_i\, \omega_i")
def test_the_need_of_a_link_is_the_change_of_its_momenta(motion):
    for i, body in motion.model.outward:
        F, N, _ = motion.link(i)
        I, w = motion.here[i].R @ body.inertia.about_com @ motion.here[i].R.T, motion.omega(i)
        momentum = [body.inertia.mass * point_jacobian(motion.model, q, i, body.inertia.com) @ (motion.qd + motion.qdd * t)
                    for t in (EPS, -EPS) for q in [motion.q + motion.qd * t + motion.qdd * t**2 / 2]]
        assert_allclose(F + body.inertia.mass * motion.model.gravity, (momentum[0] - momentum[1]) / (2 * EPS), atol=1e-5)
        assert_allclose(I @ motion.alpha(i) + np.cross(w, I @ w), N, atol=1e-5)


@equation("eq-recursion-force", r"f_i = f_{i+1} + F_i")
@equation("eq-recursion-balance", r"n_i - n_{i+1} - r_i \times f_i - (p_i - r_i) \times f_{i+1} = N_i")
@equation("eq-recursion-moment", r"n_i = n_{i+1} + N_i + r_i \times F_i + p_i \times f_{i+1}")
def test_joint_wrenches_carry_what_is_outside(motion):
    """On the links of the trees that carry exactly one other: the wrench is the sum over all outer links."""
    children = {i: [j for j, b in motion.model.outward if b.parent == i] for i, _ in motion.model.outward}
    for i in (i for i, js in children.items() if len(js) == 1):
        n, f = motion.wrench(i)
        n_next, f_next = motion.wrench(children[i][0])
        F, N, c = motion.link(i)
        r, p = c - motion.here[i].p, motion.p(children[i][0])
        assert_allclose(f_next + F, f, atol=1e-12)
        assert_allclose(n_next + N + np.cross(r, F) + np.cross(p, f_next), n, atol=1e-10)
        assert_allclose(n - n_next - np.cross(r, f) - np.cross(p - r, f_next), N, atol=1e-10)


@equation("eq-recursion-torque", r"""\tau_i = z_i^T n_i \;\text{(turning)}, \qquad \tau_i = z_i^T f_i \;\text{(sliding)}""")
def test_the_motor_feels_the_component_along_its_axis(motion):
    tau = rnea(motion.model, motion.q, motion.qd, motion.qdd)
    for i, body in motion.model.outward:
        n, f = motion.wrench(i)
        assert_allclose(motion.z(i) @ (n if body.joint.kind == "revolute" else f), tau[i], atol=1e-4)


@equation("eq-recursion-load", r"\tau_{\text{loaded}} - \tau = J^T f_{n+1}")
def test_a_load_at_the_tip_is_carried_by_the_jacobian(rng):
    for q, qd, qdd in rng.normal(size=(5, 3, 2)):
        push, R = np.append(rng.normal(size=2), 0), poses(two_link(), q)[1].R
        on_robot = np.concatenate([np.cross((0.4, 0, 0), R.T @ -push), R.T @ -push])
        difference = rnea(two_link(), q, qd, qdd, external={1: on_robot}) - rnea(two_link(), q, qd, qdd)
        assert_allclose(point_jacobian(two_link(), q, 1, (0.4, 0, 0)).T @ push, difference, atol=1e-12)


# -- published numbers ----------------------------------------------------------------------------------------

def moment(arm, force):
    return arm[0] * force[1] - arm[1] * force[0]


def planar(case, chain=lambda p, r: p, lever=lambda p, r: p, g=9.81, own=False):
    """The recursion written out for two links in the plane, with a choice of vectors; (torques, wrenches in link axes)."""
    arm = two_link(g=g)
    (q1, q2), qd, qdd = case["q"], case["qd"], case["qdd"]
    u = np.array([[np.cos(q1), np.sin(q1)], [np.cos(q1 + q2), np.sin(q1 + q2)]])
    w, alpha = np.cumsum(qd), np.cumsum(qdd)

    def carried(a, s, i):
        return a + alpha[i] * np.array([-s[1], s[0]]) - w[i]**2 * s

    m, I, r = (3.0, 2.0), (3.0 * 0.5**2 / 12, 2.0 * 0.4**2 / 12), (0.25 * u[0], 0.2 * u[1])
    p, base = 0.5 * u[0], -arm.gravity[:2]
    joint = carried(base, chain(p, r[0]), 0)
    F = m[0] * carried(base, r[0], 0), m[1] * carried(joint, r[1], 1)
    N = I[0] * alpha[0], I[1] * alpha[1]
    if own:
        return np.array(N), None
    moment2 = N[1] + moment(r[1], F[1])
    moment1 = moment2 + N[0] + moment(r[0], F[0]) + moment(lever(p, r[0]), F[1])
    axes = [np.array([e, [-e[1], e[0]]]) for e in u]
    return np.array([moment1, moment2]), (axes[0] @ (F[0] + F[1]), axes[1] @ F[1])


@pytest.mark.parametrize("case", load("examples")["two_link"]["inverse_cases"], ids=lambda case: str(case["q"]))
def test_what_each_variant_of_the_recursion_gives(case):
    wrong = case["wrong_published_recursions"]
    torques, wrenches = planar(case)
    assert_allclose(torques, case["tau_rigid"], rtol=0, atol=1e-12)
    assert_allclose(rnea(two_link(), case["q"], case["qd"], case["qdd"]), torques, rtol=0, atol=1e-12)
    for ours, published in zip(wrenches, case["joint_wrench_in_link_frames"]):
        assert_allclose(ours, published["f"][:2], rtol=0, atol=1e-12)
    for options, key in ((dict(chain=lambda p, r: r), "002_recursion_accel_only"), (dict(own=True), "002_tau_zTN"),
                         (dict(lever=lambda p, r: r - p), "003_inward_r_ip1_ci_as_defined"),
                         (dict(lever=lambda p, r: p - r), "003_inward_reversed_vector"),
                         (dict(lever=lambda p, r: r - p, g=0), "003_verbatim_no_gravity")):
        assert_allclose(planar(case, **options)[0], wrong[key], rtol=0, atol=1e-12)


def test_the_slide_that_forgets_its_coriolis_term_loses_the_stated_torque():
    right = rnea(rp_arm(g=0), [0.6, 0.8], [1.1, 0.4], [0, 0])[0]
    assert_allclose(right, 0.8 * 1.5 * 2 * 1.1 * 0.4, rtol=1e-13)


def test_power_of_the_joints_is_the_rate_of_the_energy(motion, eps=1e-5):
    m = motion
    energy = [kinetic_energy(m.model, q, m.qd + m.qdd * t) + potential_energy(m.model, q)
              for t in (eps, -eps) for q in [m.q + m.qd * t + m.qdd * t**2 / 2]]
    assert_allclose(rnea(m.model, m.q, m.qd, m.qdd) @ m.qd, (energy[0] - energy[1]) / (2 * eps), rtol=1e-5)
