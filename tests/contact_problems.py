"""Random contact problems that have a solution by construction, many contacts depending on each other."""

from dataclasses import dataclass

import numpy as np
from random_models import random_inertia, random_state, random_tree

from lagrangebook.contact.forces import contact_accelerations
from lagrangebook.contact.gaps import contacts, point_plane
from lagrangebook.inertia import Inertia
from lagrangebook.kinematics import poses
from lagrangebook.model import Body, Joint, Model
from lagrangebook.spatial import Pose
from lagrangebook.standard_form import of_model


@dataclass(frozen=True, eq=False)
class Problem:
    model: object
    touch: object
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    form: object
    qdd: np.ndarray         # one solution

    def solve(self, **more):
        return contact_accelerations(self.form, self.tau, self.touch, self.q, self.qd, **more)


def planar_tree(rng, n):
    """A tree that stays in x–y."""
    bodies = []
    for i in range(n):
        inertia = Inertia(rng.uniform(0.5, 2), (*rng.normal(0, 0.3, 2), 0), np.diag([0, 0, rng.uniform(0.05, 0.5)]))
        kind = ("planar", "revolute", "revolute")[rng.integers(3)]
        bodies.append(Body(f"body {i}", int(rng.integers(-1, i)), Joint(kind, (0, 0, 1)), Pose(p=(*rng.normal(0, 0.5, 2), 0)),
                           inertia))
    return Model(tuple(bodies), gravity=(0, -9.81, 0))


def space_tree(rng, n):
    """One free body that carries others."""
    tree = random_tree(rng, n, kinds=("revolute", "prismatic"))
    base = Body("base", -1, Joint("free", (0, 0, 1)), Pose(), random_inertia(rng))
    others = [Body(b.name, b.parent + 1, b.joint, b.placement, b.inertia) for b in tree.bodies]
    return Model((base, *others), gravity=(0, 0, -9.81))


def any_problem(seed, mu=None):
    """Groups of points of one body on one plane each; of each group it is drawn whether it rests, slides or lifts off.

    Velocities and accelerations that suit all groups are drawn, forces that suit Coulomb's law, and then τ.
    """
    rng = np.random.default_rng(seed)
    while True:
        planar = rng.random() < 0.5
        model = (planar_tree if planar else space_tree)(rng, int(rng.integers(1, 4)))
        found = _problem(model, planar, rng, mu)
        if found is not None:
            return found


def _problem(model, planar, rng, mu):
    q = random_state(model, rng)[0]
    at, items, kinds = poses(model, q), [], []
    for _ in range(int(rng.integers(1, 4))):
        body, kind = int(rng.integers(model.N)), ("rest", "slide", "lift", "onset")[rng.integers(4)]
        normal = rng.normal(size=3) * (1, 1, 0 if planar else 1)
        normal /= np.linalg.norm(normal)
        foot, friction = at[body].p + rng.normal(0, 0.3, 3) * (1, 1, 0 if planar else 1), rng.uniform(0.05, 1.0)
        for _ in range(1 if kind == "onset" else int(rng.integers(1, 5))):
            x = foot + rng.normal(0, 0.4, 3) * (1, 1, 0 if planar else 1)
            x -= (x - foot) @ normal * normal
            items.append(point_plane(model, body, at[body].R.T @ (x - at[body].p), normal, normal @ foot,
                                     mu=friction if mu is None else mu))
            kinds.append(kind)
    touch = contacts(items)
    n, d, kinds = model.n, items[0].d, np.array(kinds)
    J_N, J_T = touch.J_N(q), touch.J_T(q)
    T = J_T.reshape(len(items), d, n)
    still = np.isin(kinds, ["rest", "onset"])
    qd = _kept(np.vstack([J_N, T[still].reshape(-1, n)]), np.zeros(len(J_N) + d * still.sum()), rng)
    _, _, _, bias_N, bias_T = touch.look(q, qd)
    bias_T = bias_T.reshape(len(items), d)
    force = _forces(touch, kinds, T @ qd, d, rng)
    along = force[:, 1:] / np.maximum(np.linalg.norm(force[:, 1:], axis=1, keepdims=True), 1e-300)
    pressed, rest, onset = kinds != "lift", kinds == "rest", kinds == "onset"
    rows = np.vstack([J_N[pressed], T[rest].reshape(-1, n), T[onset].reshape(-1, n)])
    target = np.concatenate([-bias_N[pressed], -bias_T[rest].ravel(), (-bias_T - rng.uniform(0.1, 3) * along)[onset].ravel()])
    qdd = _kept(rows, target, rng)
    fine = np.linalg.norm(rows @ qdd - target) <= 1e-9 * (1 + np.linalg.norm(target))
    keep = pressed | (J_N @ qdd + bias_N > 1e-3)
    if not fine or not np.any(keep) or np.linalg.norm(qdd) > 1e3:
        return None
    form = of_model(model)(q, qd)
    tau = form.forces(qdd) - J_N[keep].T @ force[keep, 0] - np.einsum("idn,id->n", T[keep], force[keep, 1:])
    return Problem(model, touch[keep], q, qd, tau, form, qdd)


def _kept(rows, target, rng):
    """A random x with rows x = target, or nearest to it."""
    x = rng.normal(size=rows.shape[1])
    return x + np.linalg.lstsq(rows, target - rows @ x, rcond=1e-10)[0]


def _forces(touch, kinds, u, d, rng):
    """(m, 1 + d): zero for those that lift, inside the cone for those that rest, on its rim against u otherwise."""
    force = np.zeros((len(kinds), 1 + d))
    for i, (kind, mu) in enumerate(zip(kinds, touch.mu)):
        if kind == "lift":
            continue
        direction = rng.normal(size=d)
        direction /= np.linalg.norm(direction)
        speed = np.linalg.norm(u[i])
        if kind == "slide" and speed > 1e-8:
            direction = -u[i] / speed
        share = rng.random() if kind == "rest" or (kind == "slide" and speed <= 1e-8) else 1.0
        force[i, 0] = rng.uniform(0.1, 20)
        force[i, 1:] = share * mu * force[i, 0] * direction
    return force


def law_defect(problem, found):
    """The largest violation of motion, complementarity and Coulomb's law, each beside what is large there."""
    q, qd, touch = problem.q, problem.qd, problem.touch
    gap, J_N, J_T, bias_N, bias_T = touch.look(q, qd)
    balance = problem.form.forces(found.qdd) - problem.tau - J_N.T @ found.lam_N - J_T.T @ found.lam_T
    size = 1 + np.max(np.abs(np.concatenate([found.lam_N, problem.tau, problem.form.h])))
    a_N, a_T = J_N @ found.qdd + bias_N, J_T @ found.qdd + bias_T
    fast = 1 + np.max(np.abs(np.concatenate([a_N, a_T, found.qdd])))
    defects = [np.max(abs(balance)) / size, np.max(-a_N) / fast, np.max(-found.lam_N) / size,
               np.max(abs(a_N * found.lam_N)) / fast / size]
    for rows, mu, lam_N in zip(touch.blocks, touch.mu, found.lam_N):
        lam_T, moving, speed = found.lam_T[rows], J_T[rows] @ qd, 1.0
        if np.linalg.norm(moving) <= 1e-8:
            moving, speed = a_T[rows], fast
        defects += [(np.linalg.norm(lam_T) - mu * lam_N) / size,
                    np.linalg.norm(lam_T * np.linalg.norm(moving) + mu * lam_N * moving) / size / speed]
    return max(defects)
