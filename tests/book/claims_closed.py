"""The numbers on the page of claims, recomputed by the package: loops, redundant and one-sided contacts, the knee."""

import numpy as np
from claims_open import numbers

from lagrangebook.constraints import constrained_accelerations, delassus, multiplier_bounds
from lagrangebook.kinematics import center_of_mass, mass, point_bias, point_jacobian
from lagrangebook.lcp import lemke
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import five_bar, stance_leg, two_link
from lagrangebook.newton_euler import rnea
from lagrangebook.standard_form import of_model

# -- the five-bar ---------------------------------------------------------------------------------------------

BAR = five_bar()


def legs(tip):
    """q of the five-bar with its tip there, elbows outward."""
    angles = []
    for base, elbow in ((0.0, 1), (0.2, -1)):
        x, y = tip[0] - base, tip[1]
        r = np.hypot(x, y)
        first = np.arctan2(y, x) + elbow * np.arccos((0.25**2 + r**2 - 0.3**2) / (2 * 0.25 * r))
        second = np.arctan2(y - 0.25 * np.sin(first), x - 0.25 * np.cos(first)) - first
        angles += [first, (second + np.pi) % (2 * np.pi) - np.pi]
    return np.array(angles)


def worked(tip=(0.12, 0.38), velocity=(0.3, -0.2), motors=(1.5, -0.8)):
    """Rates, form, J, γ and τ of the worked five-bar."""
    q, J = legs(tip), BAR.constraint.J(legs(tip))
    tip_rows = point_jacobian(BAR.model, q, 1, (0.3, 0, 0))[:2]
    qd = np.linalg.solve(np.vstack([tip_rows, J]), [*velocity, 0, 0])
    return qd, of_model(BAR.model)(q, qd), J, BAR.constraint.bias(q, qd), BAR.B @ motors


QD, FORM, J, GAMMA, TAU = worked()
LAM = constrained_accelerations(FORM, TAU, J, GAMMA).lam
W = delassus(FORM.M, J)
SINGULAR = legs((0.1, 0.15 + 1e-12))


@numbers("000-01", "000-16")
def pin_force():
    return LAM


@numbers("000-02")
def freedoms():
    return 4 - np.linalg.matrix_rank(J),


@numbers("000-03")
def first_element():
    return J[0, 0],


@numbers("000-05")
def bias():
    return GAMMA


@numbers("000-07")
def power_of_the_pin():
    return LAM @ J @ QD,


@numbers("000-08")
def push_at_the_tip():
    arm, q = two_link(1.0, 1.0, 1.0, 1.0), [0.3, 0.7]
    return rnea(arm, q, [1.2, -0.8], [0.5, 1.1]) - point_jacobian(arm, q, 1, (1.0, 0, 0)).T @ [3, 5, 0]


@numbers("000-09")
def joint_forces_of_the_pin():
    return J.T @ LAM


@numbers("000-10")
def millimetres():
    return constrained_accelerations(FORM, TAU, 1000 * J, 1000 * GAMMA).lam


@numbers("000-11")
def mixed_rows():
    S = np.array([[2.0, 1.0], [0.0, 3.0]])
    mixed = constrained_accelerations(FORM, TAU, S @ J, S @ GAMMA).lam
    assert np.allclose(S.T @ mixed, LAM)
    return mixed


@numbers("000-12")
def absolute_angles():
    T = np.kron(np.eye(2), [[1, 0], [-1, 1]])
    return T.T @ J.T @ LAM


@numbers("000-13")
def reversed_condition():
    return constrained_accelerations(FORM, TAU, -J, -GAMMA).lam[0],


@numbers("000-15")
def block_system():
    block = np.block([[FORM.M, -J.T], [J, np.zeros((2, 2))]])
    symmetric = np.linalg.eigvalsh(np.block([[FORM.M, J.T], [J, np.zeros((2, 2))]]))
    return np.linalg.det(block), (symmetric > 0).sum(), (symmetric < 0).sum()


@numbers("000-17")
def free_opening():
    return J @ FORM.accelerations(TAU) + GAMMA


@numbers("000-19")
def unit_force():
    return *W[:, 0], 1 / W[0, 0], np.linalg.inv(W)[0, 0]


@numbers("000-20")
def eigenvalues():
    assert np.allclose(delassus(3 * FORM.M, J), W / 3)
    return np.linalg.eigvalsh(W)


@numbers("000-22")
def singular_values():
    rows = BAR.constraint.J(SINGULAR)
    values = (*np.linalg.svd(rows)[1], *np.linalg.svd(rows[:, [1, 3]])[1])
    return [round(value, 8) for value in values]


@numbers("000-37")
def smallest_singular_value():
    return np.linalg.svd(BAR.constraint.J(SINGULAR))[1][-1],


@numbers("000-23")
def holding_ten_newtons():
    torques = []
    for height in (0.1, 0.01, 0.001):
        q = legs((0.1, 0.15 + height))
        rows, load = BAR.constraint.J(q), point_jacobian(BAR.model, q, 1, (0.3, 0, 0)).T @ [0, -10, 0]
        lam = np.linalg.solve(rows[:, [1, 3]].T, -load[[1, 3]])
        torques.append(abs((load + rows.T @ lam)[0]))
    return torques


@numbers("000-24")
def force_at_the_parallel_singularity():
    rows = BAR.constraint.J(SINGULAR)
    lam = constrained_accelerations(of_model(BAR.model)(SINGULAR, np.zeros(4)), np.zeros(4), rows, np.zeros(2)).lam
    return lam[0], abs(lam[1])


@numbers("000-28")
def both_signs():
    _, form, rows, gamma, tau = worked((0.1, 0.4), (0, 0), (0, 0))
    return LAM[0], constrained_accelerations(form, tau, rows, gamma).lam[0]


# -- the table ------------------------------------------------------------------------------------------------

LEGS = np.array([[1.0, 1, 1, 1], [0.6, -0.6, -0.6, 0.6], [0.4, 0.4, -0.4, -0.4]])


def least_norm(load, at, table=20 * 9.81):
    return np.linalg.pinv(LEGS) @ [table + load, load * at[0], load * at[1]]


@numbers("000-25")
def first_leg():
    bounds = multiplier_bounds(LEGS.T, least_norm(98.1, (0.3, -0.1)), lower=0.0)
    return bounds.lower[0], bounds.upper[0]


@numbers("000-26")
def least_norm_and_its_pull():
    return *least_norm(98.1, (0.3, -0.1)), least_norm(300, (0.5, 0.3), table=0)[2]


@numbers("000-27")
def a_short_leg():
    k, short = 1e5, np.array([1e-3, 0, 0, 0])
    load = LEGS @ least_norm(98.1, (0.3, -0.1))
    sink = np.linalg.solve(k * LEGS @ LEGS.T, load + k * LEGS @ short)
    return max(abs(k * (LEGS.T @ sink - short) - least_norm(98.1, (0.3, -0.1)))),


# -- contacts that only push ----------------------------------------------------------------------------------


@numbers("000-30")
def pulled_block():
    solved = [lemke(np.array([[0.5]]), np.array([pull / 2 - 9.81])) for pull in (0, 10, 19.62, 25)]
    return *(s.z[0] for s in solved), solved[-1].w[0]


@numbers("000-32")
def resting_block():
    return lemke(np.array([[0.5]]), np.array([-9.81])).z


@numbers("000-33")
def shaking_table():
    table = lambda t: -0.02 * 30**2 * np.sin(30 * t)
    return [lemke(np.array([[0.5]]), np.array([-9.81 - table(t)])).z[0] for t in (0, 0.01)]


@numbers("000-34")
def lift_off_and_rod():
    from scipy.optimize import brentq
    lift_off = brentq(lambda t: 9.81 - 0.02 * 30**2 * np.sin(30 * t), 0, 0.03)
    ends, M, F, x = np.array([[1.0, -1], [1, 1]]), np.diag([1, 1 / 3]), 10.81, 0.061671292013567684
    W_rod, b = delassus(M, ends), ends @ np.linalg.solve(M, [F - 9.81, F * x])
    return lift_off, *-np.linalg.solve(W_rod, b), lemke(W_rod, b).z[0]


@numbers("000-35")
def threshold_of_the_rod():
    angles, coefficients = np.linspace(0.01, 1.56, 2001), []
    for c, s in zip(np.cos(angles), np.sin(angles)):
        rows = np.array([[0, 1, c], [1, 0, s]])
        mobility = delassus(np.diag([1, 1, 1 / 3]), rows)
        coefficients.append(mobility[0, 0] / mobility[0, 1])
    return min(coefficients),


# -- the knee -------------------------------------------------------------------------------------------------

G, BEND, RATE, ACC = 9.8, np.radians(15), 0.8, 2.5
LEG = stance_leg()
TO_JOINTS = np.array([[1, 0, 0], [-1, 1, 0], [0, -1, 1]])
TERMS = np.array([(8 * 0.2 + 5 * 0.45) * G * np.sin(BEND), (0.15 + 5 * 0.45**2) * ACC, 5 * 0.45 * 0.2 * RATE**2,
                  720 * 0.42 * np.sin(BEND)])
STATIC = TERMS[0] + TERMS[3]
SHANK = (5 * 0.2 * 0.22 - 0.152635392)


def motion(lean, rate=RATE, acc=ACC, vx=1.2, ax=0.3):
    """q, q̇, q̈ of the leg from the hip's forward motion and the knee's, trunk upright."""
    phi = np.array([lean, lean - BEND, 0])
    A = np.array([[0.42 * np.cos(phi[0]), 0.45 * np.cos(phi[1])], [1, -1]])
    rates = np.linalg.solve(A, [vx, rate])
    squares = [0.42, 0.45] * np.sin(phi[:2]) @ rates**2
    return TO_JOINTS @ phi, TO_JOINTS @ [*rates, 0], TO_JOINTS @ [*np.linalg.solve(A, [ax + squares, acc]), 0]


def hip(lean, **choices):
    """Vertical acceleration of the hip."""
    q, qd, qdd = motion(lean, **choices)
    return (point_jacobian(LEG, q, 1, (0, 0, 0.45)) @ qdd + point_bias(LEG, q, qd, 1, (0, 0, 0.45)))[2]


def knee(lean):
    return rnea(LEG, *motion(np.radians(lean)))[1]


def parts():
    """Gravity, velocity and inertia part of the knee's torque at 10°."""
    q, qd, qdd = motion(np.radians(10))
    return gravity(LEG, q)[1], (coriolis(LEG, q, qd) @ qd)[1], (crba(LEG, q) @ qdd)[1]


def reaction():
    """Force of the ground [N] at 10°, from the change of momentum; differences of the centre of mass."""
    q, qd, qdd = motion(np.radians(10))
    place = lambda t: center_of_mass(LEG, q + qd * t + qdd * t**2 / 2)
    return mass(LEG) * ((place(1e-4) - 2 * place(0) + place(-1e-4)) / 1e-8 - LEG.gravity)


def bottom_up(lean, Fx):
    lean = np.radians(lean)
    return 720 * 0.42 * np.sin(lean) - Fx * 0.42 * np.cos(lean) - 5 * 0.2 * G * np.sin(lean) + SHANK * ACC


@numbers("003-24")
def gait():
    return 1.2 / 2, 2 / 2, 0.6 * 2 / 2


@numbers("003-25")
def gravity_terms():
    return 8 * 0.2 * G * np.sin(BEND), 5 * 0.45 * G * np.sin(BEND), TERMS[0]


@numbers("003-26")
def weight_from_below():
    return -5 * 0.2 * G * np.sin(BEND),


@numbers("003-27")
def inertia_term():
    return TERMS[1],


@numbers("003-28")
def inertia_of_the_knee():
    return SHANK * ACC, parts()[2]


@numbers("003-29")
def velocity_part():
    q = TO_JOINTS @ np.radians([10, -5, 0])
    assert abs((coriolis(LEG, q, [0, RATE, 0]) @ [0, RATE, 0])[1]) < 1e-12
    return TERMS[2], parts()[1]


@numbers("003-30")
def moments_of_the_reaction():
    return [720 * 0.42 * np.sin(np.radians(lean)) for lean in (15, 10, 5, 0)]


@numbers("003-31")
def forward_force():
    return 85 * 0.42 * np.cos(BEND), bottom_up(15, 85), bottom_up(15, -85)


@numbers("003-32")
def sum_of_four():
    return TERMS.sum(),


@numbers("003-33")
def static_sum():
    return STATIC,


@numbers("003-34")
def share_of_the_rest():
    return 100 * (TERMS.sum() / STATIC - 1), 0.35 * STATIC


@numbers("003-35")
def used_friction():
    return 85 / 720,


@numbers("003-36")
def newton():
    return 60 * 0.3, 60 * (0.2 + G), 85 / 60, 720 / 60 - G


@numbers("003-37")
def best_hip():
    signs = [dict(rate=i * RATE, acc=j * ACC, vx=k * 1.2) for i in (1, -1) for j in (1, -1) for k in (1, -1)]
    return max(hip(lean, **choice) for lean in np.radians(np.linspace(-30, 45, 76)) for choice in signs), hip(np.radians(10))


@numbers("003-38")
def load_in_mid_stance():
    return reaction()[2], reaction()[2] / (60 * G)


@numbers("003-39")
def consistent_knee():
    return [knee(lean) for lean in (10, 15, 7.5)]


@numbers("003-40")
def speed_for_the_share():
    return 1.2 * np.sqrt(0.021 / (TERMS[2] / TERMS.sum())), 100 * parts()[1] / sum(parts())


@numbers("003-41")
def difference_of_the_models():
    return 100 * (TERMS.sum() / STATIC - 1),


@numbers("003-49")
def from_below():
    return TERMS[3], 85 * 0.42 * np.cos(BEND), 5 * 0.2 * G * np.sin(BEND), SHANK * ACC


@numbers("003-50")
def friction_of_the_peak():
    return 0.05 * 91.6, 0.1 * 91.6, TERMS[1] + TERMS[2]


@numbers("003-52")
def share_in_mid_stance():
    return 100 * parts()[1] / sum(parts()),


@numbers("003-45")
def shank_about_the_hip():
    from scipy.optimize import brentq

    def share(bend, I=0.152635392):
        """The shank's share of the hip's inertia with the knee bent, by the mass matrix of a leg without thigh."""
        return crba(two_link(0.45, 0.42, 0.0, 5.0, lc1=0.25, lc2=0.2, I1=0.0, I2=I), [0, bend])
    threefold = brentq(lambda bend: share(0, 0.0)[0, 0] / share(bend, 0.0)[0, 0] - 3, 2.0, 2.4)
    straight, right = share(0), share(np.pi / 2)
    return (straight[0, 0] / right[0, 0], share(0, 0.0)[0, 0] / share(np.pi / 2, 0.0)[0, 0], np.degrees(threefold),
            straight[0, 1] / right[0, 1])
