"""The numbers on the page of claims, recomputed by the package: trees, their terms, control and legs."""

import numpy as np
import sympy

from lagrangebook.control import computed_torque
from lagrangebook.friction import coulomb, smooth, stribeck
from lagrangebook.identify import base_parameters, regressor
from lagrangebook.inertia import Inertia, rod
from lagrangebook.kinematics import body_jacobian, kinetic_energy, point_jacobian, potential_energy
from lagrangebook.lagrange import coordinates
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import biped, pendulum, puma560, rp_arm, two_link, vertical_mass
from lagrangebook.model import Body, Joint, Model
from lagrangebook.newton_euler import rnea
from lagrangebook.standard_form import of_model

RECOMPUTED = {}
Q, QD, QDD = np.array([0.3, 0.7]), np.array([1.2, -0.8]), np.array([0.5, 1.1])          # the two-link arm's worked state
RP, RPD, RPDD = np.array([0.6, 0.8]), np.array([1.1, 0.4]), np.array([0.7, -0.3])       # the extending arm's
ZERO = np.zeros(2)
RODS = two_link(1.0, 1.0, 1.0, 1.0)


def numbers(*claims):
    """Marks a function that returns, in order, the numbers which the page prints for these claims."""
    def mark(function):
        RECOMPUTED.update(dict.fromkeys(claims, function))
        return function
    return mark


# -- energy ---------------------------------------------------------------------------------------------------


@numbers("001-01")
def lift():
    mass = vertical_mass()
    work = rnea(mass, [0.0], [0.0], [0.0])[0] * 1.5
    rise = potential_energy(mass, [1.5]) - potential_energy(mass, [0.0])
    return work, -rise, rise


def net_work():
    """∫ m q̈ q̇ dt along q = 0.3 sin 2t over the first second, by Gauss's rule."""
    x, w = np.polynomial.legendre.leggauss(20)
    t = (x + 1) / 2
    return (w / 2 * 2.0 * -1.2 * np.sin(2 * t) * 0.6 * np.cos(2 * t)).sum()


@numbers("001-02")
def work_along_the_way():
    return net_work(),


@numbers("001-03")
def energy_at_the_end():
    start = kinetic_energy(vertical_mass(), [0.0], [0.6])
    return start + net_work(), start


@numbers("001-06")
def bead():
    (x,), (xd,), _ = coordinates(["x"])
    K2, K0, U = 0.25 * xd**2, 0.25 * 9 * sympy.sin(x)**2, -9.81 * sympy.cos(x)
    L, at = K2 + K0 - U, {x: 1.0, xd: 0.4}
    return (K2 + K0 + U).subs(at), (xd * L.diff(xd) - L).subs(at)


@numbers("001-08")
def power_of_the_extending_arm():
    return rnea(rp_arm(), RP, RPD, RPDD) @ RPD,


@numbers("001-10", "002-10")
def coriolis_of_the_slide():
    return (coriolis(rp_arm(), RP, RPD) @ RPD)[0],


@numbers("001-11")
def weight_and_acceleration():
    form = of_model(vertical_mass())([0.0], [0.0])
    return *form.forces([1.5]), *form.accelerations([30.0])


@numbers("002-15", "001-30")
def force_of_the_slide():
    return rnea(rp_arm(), RP, RPD, RPDD)[1],


@numbers("002-18")
def power_of_the_drives():
    return rnea(two_link(), Q, QD, QDD) @ QD,


# -- mass matrix ----------------------------------------------------------------------------------------------


@numbers("001-14")
def jacobian_of_the_tip():
    q = np.array([0.0, 0.7])
    tip, turn = point_jacobian(RODS, q, 1, (1.0, 0, 0)), [body_jacobian(RODS, q, i)[:3] for i in (0, 1)]
    return (2 * tip.T @ tip + sum(J.T @ J / 12 for J in turn))[0, 0], crba(RODS, q)[0, 0]


@numbers("001-16")
def twice_the_speed():
    q, qd = np.random.default_rng(0).normal(size=(2, 6))
    return kinetic_energy(puma560(), q, 2 * qd) / kinetic_energy(puma560(), q, qd),


@numbers("001-27")
def mass_beside_the_slide():
    arm = rp_arm()
    slide = arm.bodies[1]
    aside = np.cross([0, 0, 1], slide.placement.R @ slide.joint.axis) * 0.1
    moved = Inertia(1.5, slide.inertia.com + slide.placement.R.T @ aside, slide.inertia.about_com)
    return crba(Model((arm.bodies[0], Body("slide", 0, slide.joint, slide.placement, moved)), arm.gravity), RP)[0, 1],


@numbers("002-22")
def last_link_without_mass():
    return np.linalg.eigvalsh(crba(two_link(1.0, 1.0, 1.0, 0.0, I2=1e-9), Q))


@numbers("002-24")
def second_column():
    return (rnea(two_link(), Q, ZERO, [0, 1]) - rnea(two_link(), Q, ZERO, ZERO))[0],


@numbers("003-17")
def held_and_free():
    M = crba(RODS, ZERO)
    return M[0, 0], 1 / np.linalg.inv(M)[0, 0]


@numbers("002-37")
def rotor_of_the_first_joint():
    return (crba(puma560(rotors=True), np.zeros(6)) - crba(puma560(), np.zeros(6)))[0, 0],


# -- velocity terms and gravity -------------------------------------------------------------------------------


@numbers("001-20")
def both_sources():
    C = coriolis(rp_arm(), RP, RPD)
    return ((C + C.T) @ RPD)[0], *(C @ RPD)


@numbers("001-35")
def even_motion():
    return rnea(rp_arm(g=0), RP, RPD, ZERO)


@numbers("001-21")
def holding():
    return rnea(two_link(), Q, ZERO, ZERO)


@numbers("001-25")
def matrix_of_the_rates():
    return coriolis(rp_arm(), RP, RPD).ravel()[:3]


@numbers("002-25")
def another_factor():
    C = coriolis(two_link(), Q, QD)
    other = np.array([[2 * C[0, 0], C[0, 0]], C[1]])
    assert np.allclose(other @ QD, C @ QD)
    return other[0]


@numbers("002-26")
def product_at_twice_the_speed():
    C, twice = coriolis(two_link(), Q, QD), coriolis(two_link(), Q, 2 * QD)
    assert np.allclose(twice, 2 * C)
    return (twice @ (2 * QD))[0] / (C @ QD)[0],


@numbers("002-27")
def weight_on_a_vertical_axis():
    poses = np.random.default_rng(1).normal(size=(20, 6))
    return max(abs(gravity(puma560(), q)[0]) for q in poses),


@numbers("003-44")
def share_at_half_the_speed():
    share = [np.linalg.norm(coriolis(RODS, Q, s * QD) @ QD * s) / np.linalg.norm(crba(RODS, Q) @ QDD * s**2) for s in (1, 0.5)]
    return share[1] / share[0],


# -- the arm that turns and extends ---------------------------------------------------------------------------


@numbers("001-28")
def energies_of_the_extending_arm():
    return kinetic_energy(rp_arm(), RP, RPD), potential_energy(rp_arm(), RP)


@numbers("001-29")
def torque_of_the_turn():
    return rnea(rp_arm(), RP, RPD, RPDD)[0],


@numbers("001-31")
def diagonal():
    return crba(rp_arm(), RP).diagonal()


@numbers("001-33")
def inward_force():
    return rnea(rp_arm(g=0), RP, [1.1, 0], ZERO)[1],


@numbers("001-34")
def postures():
    return *gravity(rp_arm(), [0, 0.8]), *gravity(rp_arm(), [np.pi / 2, 0.8])


# -- the recursion and its misprints --------------------------------------------------------------------------


def rods(chain=1.0, lever=lambda u1, u2: u1):
    """Shoulder and elbow torque of two 1 m, 1 kg rods by the planar recursion, with a chain and a lever of one's own."""
    turn = lambda z, x: z * np.array([-x[1], x[0]])
    cross = lambda a, b: a[0] * b[1] - a[1] * b[0]
    u1, u2 = (np.array([np.cos(a), np.sin(a)]) for a in np.cumsum(Q))
    w, alpha = np.cumsum(QD), np.cumsum(QDD)
    along = lambda i, x: turn(alpha[i], x) - w[i]**2 * x
    a2 = np.array([0, 9.81]) + along(0, chain * u1)
    F1, F2 = np.array([0, 9.81]) + along(0, u1 / 2), a2 + along(1, u2 / 2)
    n2 = alpha[1] / 12 + cross(u2 / 2, F2)
    return alpha[0] / 12 + cross(u1 / 2, F1) + cross(lever(u1, u2), F2) + n2, n2


@numbers("002-05")
def chain_over_the_centres():
    return *rods(chain=0.5), *rnea(RODS, Q, QD, QDD)


@numbers("002-08")
def own_moment_alone():
    return *np.cumsum(QDD) / 12, *rnea(RODS, Q, QD, QDD)


@numbers("002-09", "003-10")
def level_rods():
    return gravity(RODS, ZERO)


@numbers("002-12")
def parallel_axis_twice():
    twice = two_link(1.0, 1.0, 1.0, 1.0, I1=1 / 3, I2=1 / 3)
    return crba(twice, ZERO)[0, 0], crba(RODS, ZERO)[0, 0], rod(1.0, 1.0).about_com[2, 2], rod(1.0, 1.0).matrix[2, 2]


@numbers("003-05")
def velocity_terms_by_the_recursion():
    return rnea(two_link(g=0), Q, QD, ZERO)


@numbers("003-08")
def readings_of_the_lever():
    readings = (lambda u1, u2: -u1 / 2), (lambda u1, u2: u1 / 2), (lambda u1, u2: u2 / 2), (lambda u1, u2: u1)
    assert np.allclose(rods(lever=readings[-1]), rnea(RODS, Q, QD, QDD))
    return [rods(lever=reading)[0] for reading in readings]


@numbers("002-16")
def torques_of_the_two_link_arm():
    form = of_model(two_link())(Q, QD)
    assert np.allclose(form.forces(QDD), rnea(two_link(), Q, QD, QDD))
    return form.forces(QDD)


@numbers("002-17")
def matrix_of_the_two_link_arm():
    return crba(two_link(), Q)[np.triu_indices(2)]


@numbers("002-20")
def force_across_the_upper_arm():
    """Newton for both rods: what the ground gives is their momentum's rate less weight, across the first link."""
    u1, u2 = (np.array([np.cos(a), np.sin(a)]) for a in np.cumsum(Q))
    w, alpha = np.cumsum(QD), np.cumsum(QDD)
    along = lambda i, x: alpha[i] * np.array([-x[1], x[0]]) - w[i]**2 * x
    force = 3 * along(0, 0.25 * u1) + 2 * (along(0, 0.5 * u1) + along(1, 0.2 * u2)) + np.array([0, 5 * 9.81])
    return force @ [-u1[1], u1[0]],


@numbers("003-48")
def too_heavy_a_forearm():
    return (gravity(two_link(1.0, 1.0, 1.0, 1.05), Q) - gravity(RODS, Q))[0],


# -- cost -----------------------------------------------------------------------------------------------------


class Counted:
    """A float that counts the arithmetic done with it."""

    count = 0

    def __init__(self, x):
        self.x = float(x)

    def _done(self, x):
        Counted.count += 1
        return Counted(x)

    def __add__(self, other):
        return self._done(self.x + getattr(other, "x", other))

    def __sub__(self, other):
        return self._done(self.x - getattr(other, "x", other))

    def __rsub__(self, other):
        return self._done(other - self.x)

    def __mul__(self, other):
        return self._done(self.x * getattr(other, "x", other))

    def __neg__(self):
        return Counted(-self.x)

    def cos(self):
        return Counted(np.cos(self.x))

    def sin(self):
        return Counted(np.sin(self.x))

    __radd__, __rmul__ = __add__, __mul__


def operations(algorithm, n):
    Counted.count = 0
    algorithm(pendulum(n), *(np.array([Counted(x) for x in np.linspace(0.1, 1, n)]) for _ in range(3)))
    return Counted.count


def jacobian_sum(model, q, *_):
    return sum(J.T @ body.I @ J for J, body in ((body_jacobian(model, q, i), b) for i, b in model.outward))


@numbers("001-37")
def six_joints():
    return operations(rnea, 6), 6 * operations(jacobian_sum, 6)


@numbers("002-01")
def each_further_rod():
    counts = [operations(rnea, n) for n in range(2, 7)]
    assert np.ptp(np.diff(counts)) == 0
    return np.diff(counts)[0],


@numbers("002-02")
def degrees_of_the_cost():
    """How often differences can be taken before they vanish."""
    def degree(counts):
        return next(k for k in range(6) if np.ptp(np.diff(counts, k)) == 0)
    return (degree([n * operations(jacobian_sum, n) for n in range(2, 8)]),
            degree([operations(lambda model, q, *_: crba(model, q), n) for n in range(2, 8)]))


# -- friction and control -------------------------------------------------------------------------------------

LAW = coulomb(np.array([1.2, 0.5]), np.array([0.6, 0.3]))
CURVE = stribeck(4, 6, 0.05, 2)
KP, KD = np.array([64.0, 100.0]), np.array([16.0, 20.0])


@numbers("002-21")
def forces_with_friction():
    return of_model(two_link(), friction=LAW)(Q, QD).forces(QDD)


@numbers("002-28")
def plain_friction():
    return LAW(QD)


@numbers("002-29")
def least_of_the_curve():
    from scipy.optimize import minimize_scalar
    least = minimize_scalar(lambda v: float(CURVE(np.array([v]))[0]), bounds=(0.05, 0.3), method="bounded", options={"xatol": 1e-10})
    return least.fun, least.x


@numbers("002-38")
def fits_of_the_curve():
    v = np.linspace(0.01, 2, 200)
    shares = []
    for columns in ([v], [v, np.ones_like(v)]):
        fit = np.linalg.lstsq(np.transpose(columns), CURVE(v), rcond=None)[0]
        shares.append(100 * (1 - fit @ [0.02, 1.0][:len(fit)] / CURVE(np.array([0.02]))[0]))
    return shares


@numbers("002-36")
def creep():
    from scipy.optimize import brentq
    law = smooth(coulomb(1.0), 0.01)
    return brentq(lambda v: float(law(np.array([v]))[0]) - 0.5, 0, 0.1),


@numbers("002-31")
def error_of_the_wrong_sign():
    return (LAW(np.array([1e-9, 0])) - LAW(np.array([-1e-9, 0])))[0],


@numbers("002-30")
def torque_of_the_law():
    reference = lambda t: (np.array([0.5, 0.55]), np.array([1.0, -1.0]), QDD)
    return computed_torque(of_model(two_link()), reference, KP, KD)(0.0, Q, QD)


@numbers("002-35")
def steady_error():
    """At rest M̂ Kp e + Ĝ = G, with the plant's forearm 5 % heavier than the model's; solved for the resting place."""
    from scipy.optimize import fsolve
    goal, plant = np.array([0.4, 0.5]), two_link(m2=2.0 * 1.05)
    rest = fsolve(lambda q: crba(two_link(), q) @ (KP * (goal - q)) + gravity(two_link(), q) - gravity(plant, q), goal)
    return goal - rest


@numbers("002-39")
def base_parameters_of_the_puma():
    return base_parameters(puma560()).rank,


@numbers("003-42")
def all_parameters_err_alike():
    pi = np.concatenate([body.inertia.parameters for body in two_link().bodies])
    Y = regressor(two_link(), Q, QD, QDD)
    return 100 * ((Y @ (1.05 * pi))[0] / (Y @ pi)[0] - 1),


# -- legs, trunk and arms -------------------------------------------------------------------------------------

ROBOT = biped(arms=True)


def bent():
    """The walking robot with bent legs."""
    q = ROBOT.zero.copy()
    for part, angle in (("thigh", -20), ("shank", 40), ("ankle", -20)):
        for side in ("left", "right"):
            q[ROBOT.slice_q(ROBOT.index(f"{side} {part}"))] = np.radians(angle)
    return q


def first_rate(body):
    return ROBOT.slice_v(ROBOT.index(body)).start


def coupling(a, b):
    """Normalised element of the mass matrix with the trunk eliminated."""
    M = crba(ROBOT, bent())
    R = M[6:, 6:] - M[6:, :6] @ np.linalg.solve(M[:6, :6], M[:6, 6:])
    i, j = (first_rate(x) - 6 for x in (a, b))
    return R[i, j] / np.sqrt(R[i, i] * R[j, j])


@numbers("003-18")
def hip_to_hip():
    return coupling("left thigh", "right thigh"),


@numbers("003-13")
def shoulder_to_hip():
    return coupling("left upper arm", "left thigh"),


@numbers("003-53")
def empty_elements():
    M, bodies = crba(ROBOT, bent()), [i for i, body in ROBOT.outward for _ in range(body.joint.n)]
    related = np.array([[a == b or a in ROBOT.ancestors(b) or b in ROBOT.ancestors(a) for a in bodies] for b in bodies])
    assert not np.any(M[~related])
    return 100 * (1 - related.mean()),


@numbers("003-51", "003-04")
def internal_wrenches():
    J = np.vstack([body_jacobian(ROBOT, bent(), f"{side} foot") for side in ("left", "right")])
    return 12 - np.linalg.matrix_rank(J[:, :6]),


@numbers("003-20")
def arms_that_swing():
    q, qd, qdd, still = bent(), np.zeros(ROBOT.n), np.zeros(ROBOT.n), np.zeros(ROBOT.n)
    for side, sign in (("left", 1), ("right", -1)):
        i, phase, w = first_rate(f"{side} upper arm"), np.pi / 4, 2 * np.pi
        q[ROBOT.slice_q(ROBOT.index(f"{side} upper arm"))] = sign * 0.5 * np.sin(phase)
        qd[i], qdd[i] = sign * 0.5 * w * np.cos(phase), -sign * 0.5 * w**2 * np.sin(phase)
    moment = lambda v, a: rnea(ROBOT, q, v, a)[:3] - rnea(ROBOT, q, still, still)[:3]
    products = moment(qd, still) - sum(moment(qd * e, still) for e in np.eye(ROBOT.n))
    return np.abs(products).max(), moment(still, qdd)[2]


@numbers("003-43")
def swinging_leg():
    leg = two_link(l1=0.45, l2=0.42, m1=8, m2=5, lc1=0.25, lc2=0.2, I1=0.15, I2=0.152635392)
    swing, knee = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6]) * np.radians(50), np.radians(60)
    s, shares = np.linspace(0, 1, 201), []
    for T in (0.8, 0.4, 0.31):
        q = np.transpose([swing(s) - np.radians(115), -knee * np.sin(np.pi * s)**2])
        qd = np.transpose([swing.deriv()(s), -knee * np.pi * np.sin(2 * np.pi * s)]) / T
        qdd = np.transpose([swing.deriv(2)(s), -knee * 2 * np.pi**2 * np.cos(2 * np.pi * s)]) / T**2
        hip = np.array([[rnea(leg, *x)[0], (coriolis(leg, x[0], x[1]) @ x[1])[0]] for x in zip(q, qd, qdd)])
        shares.append(100 * np.sqrt((hip[:, 1]**2).mean() / (hip[:, 0]**2).mean()))
    return shares


