"""Faults put in on purpose: which test catches each. None may survive.

The package is copied, one line of the copy is made wrong, and short forms of the package's own tests are run on it.
`CAUGHT_BY` lists, for every fault, the tests that fail: each identity is blind to something, their union is not.
"""

import importlib
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from reference import load
from scipy.spatial.transform import Rotation

import lagrangebook

MODULES = ("spatial", "inertia", "model", "kinematics", "newton_euler", "mass_matrix", "forward", "standard_form", "simulate")
EPS = 1e-6

# name: (module, right text, wrong text)
FAULTS = {
    "v ×* I v dropped": ("newton_euler", " + crf(v[i]) @ (body.I @ v[i])", ""),
    "c dropped": ("newton_euler", " + c + crm", " + crm"),
    "v × S q̇ dropped (2 ω × ḋ z forgotten)": ("newton_euler", " + crm(v[i]) @ S[i] @ qd[i]", ""),
    "half of v × S q̇": ("newton_euler", " + crm(v[i]) @ S[i] @ qd[i]", " + crm(v[i]) @ S[i] @ qd[i] / 2"),
    "gravity upside down": ("newton_euler", "-model.gravity", "model.gravity"),
    "gravity counted twice": ("newton_euler", "-model.gravity", "-2 * model.gravity"),
    "external force with the wrong sign": ("newton_euler", "- external.get", "+ external.get"),
    "external force with the wrong sign in ABA": ("forward", "- external.get", "+ external.get"),
    "gravity upside down in G": ("mass_matrix", "-model.gravity", "model.gravity"),
    "rotor left out of RNEA": ("newton_euler", " + body.joint.rotor * qdd[i]", ""),
    "forces not carried to the parent's frame": ("newton_euler", "X[i].T @ f[i]\n", "f[i]\n"),
    "C transposed": ("mass_matrix", "    return C\n", "    return C.T\n"),
    "third term of B dropped": ("mass_matrix", " + _crf_bar(body.I @ v[i])", ""),
    "S ring dropped from C": ("mass_matrix", "body.joint.axes(q[i], qd[i])[1] + ", ""),
    "rotor left out of CRBA": ("mass_matrix", "S[i].T @ F + body.joint.rotor", "S[i].T @ F + 0"),
    "rotor twice in CRBA": ("mass_matrix", "S[i].T @ F + body.joint.rotor", "S[i].T @ F + 2 * body.joint.rotor"),
    "composite inertia not carried inward": ("mass_matrix", "            F = X[child].T @ F\n", "            F = F + 0\n"),
    "parallel axis with the wrong sign": ("inertia", "self.about_com + self.mass * skew", "self.about_com - self.mass * skew"),
    "tensor turned the wrong way": ("inertia", "pose.R @ self.about_com @ pose.R.T", "pose.R.T @ self.about_com @ pose.R"),
    "lever arm reversed": ("spatial", "-self.R.T @ skew(self.p)", "self.R.T @ skew(self.p)"),
    "quaternion turned the wrong way": ("model", "Pose(quaternion_matrix(q))", "Pose(quaternion_matrix(q).T)"),
    "planar S not turning": ("model", "[0, 0, 1], [c, s, 0], [-s, c, 0]", "[0, 0, 1], [1, 0, 0], [0, 1, 0]"),
    "quaternion rates not halved": ("model", "quaternion_product(q, np.append(qd, 0)) / 2", "quaternion_product(q, np.append(qd, 0))"),
    "payload forgotten": ("model", "else self.inertia + self.payload", "else self.inertia"),
    "welded body left where it was": ("model", "body.carried.moved(pose)", "body.carried"),
    "distal inertia not moved": ("model", "row.inertia.moved(across)", "row.inertia"),
    "v ×* I v dropped in ABA": ("forward", "crf(v[i]) @ (body.I @ v[i])", "0 * v[i]"),
    "c dropped in ABA": ("forward", "zeta[i] = c + crm", "zeta[i] = crm"),
    "bias not pressed by the articulated inertia": ("forward", "pA[i] + Ia @ zeta[i] + U", "pA[i] + U"),
    "rotor left out of ABA": ("forward", "D = S[i].T @ U + rotor", "D = S[i].T @ U"),
    "gravity upside down in ABA": ("forward", "-model.gravity", "model.gravity"),
    "half of the kinetic energy forgotten": ("kinematics", "return (bodies + rotors) / 2", "return bodies + rotors"),
    "rotor left out of the kinetic energy": ("kinematics", "return (bodies + rotors) / 2", "return bodies / 2"),
    "ω × u dropped from the bias": ("kinematics", " + skew(v[i][:3]) @ u)", ")"),
    "com of the payload forgotten in U": ("kinematics", "body.carried.mass * (model.gravity", "body.inertia.mass * (model.gravity"),
    "friction with the wrong sign": ("standard_form", "tau - self.F(np.asarray(qd))", "tau + self.F(np.asarray(qd))"),
    "explicit Euler called symplectic": ("simulate", "dynamics.integrate(q, qd_next, dt)", "dynamics.integrate(q, qd, dt)"),
    "dissipation not booked": ("simulate", "dynamics.F(qd) @ qd, dynamics.moving", "0.0, dynamics.moving"),
}


# -- a broken engine -----------------------------------------------------------------------------------------

def engine_of(package):
    return SimpleNamespace(**{name: value for module in MODULES
                              for name, value in vars(importlib.import_module(f"{package}.{module}")).items()})


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Makes a copy of the package with one text replaced, and gives its names."""
    def make(module, right, wrong):
        copy = tmp_path / "broken"
        shutil.copytree(Path(lagrangebook.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__", "assign"))
        text = (copy / f"{module}.py").read_text(encoding="utf8")
        assert right in text, f"{module} no longer reads {right!r}"
        (copy / f"{module}.py").write_text(text.replace(right, wrong), encoding="utf8")
        monkeypatch.syspath_prepend(tmp_path)
        return engine_of("broken")
    yield make
    for name in [name for name in sys.modules if name.split(".")[0] == "broken"]:
        del sys.modules[name]


# -- short forms of the tests: each returns two things that must be equal ------------------------------------------

def tree(e, seed=0):
    """The engine's tree of this seed, built once."""
    if not hasattr(e, f"tree_{seed}"):
        setattr(e, f"tree_{seed}", new_tree(e, seed))
    return getattr(e, f"tree_{seed}")


def new_tree(e, seed):
    """A branched tree with every kind of joint, rotors, a payload and a welded hand, of the engine's own classes."""
    rng = np.random.default_rng(seed)
    rows = (("planar", -1), ("revolute", 0), ("prismatic", 1), ("spherical", 1), ("fixed", 2), ("free", 0), ("revolute", 3))

    def inertia():
        masses, points = rng.uniform(0.1, 1, 6), rng.normal(0.2, 0.3, (6, 3))
        com = masses @ points / masses.sum()
        r = points - com
        return e.Inertia(masses.sum(), com, masses @ np.sum(r**2, axis=1) * np.eye(3) - np.einsum("i,ij,ik->jk", masses, r, r))

    model = e.Model(tuple(
        e.Body(f"body {i}", parent, e.Joint(kind, (0, 0, 1) if kind == "planar" else rng.normal(size=3),
                                            rotor=0.3 if kind in ("revolute", "prismatic") else 0.0),
               e.Pose(Rotation.from_rotvec(rng.normal(size=3)).as_matrix(), rng.normal(0, 0.4, 3)), inertia())
        for i, (kind, parent) in enumerate(rows)), gravity=rng.normal(0, 6, 3)).payload(1, inertia())
    q = model.integrate(model.zero, rng.normal(size=model.n), 1.0)
    return model, q, *rng.normal(size=(3, model.n))


def slope(e, model, q, f, direction):
    return (f(model.integrate(q, direction, EPS)) - f(model.integrate(q, direction, -EPS))) / (2 * EPS)


def jacobian_sums(e):
    """M = Σ m Jᵀ J + Wᵀ I_C W, the Jacobians by differences of the poses."""
    model, q, *_ = tree(e)
    here, J, W = e.poses(model, q), [], []
    for d in np.eye(model.n):
        ahead, behind = (e.poses(model, model.integrate(q, d, h)) for h in (EPS, -EPS))
        spin = [a.R.T @ (b.R - c.R) / (2 * EPS) for a, b, c in zip(here, ahead, behind)]
        W.append([(A[2, 1], A[0, 2], A[1, 0]) for A in spin])
        J.append([[(b.R @ part.com + b.p - c.R @ part.com - c.p) / (2 * EPS) for part in (body.inertia, body.payload) if part]
                  for body, b, c in zip(model.bodies, ahead, behind)])
    M = np.diag(np.concatenate([np.full(b.joint.n, b.joint.rotor) for b in model.bodies]))
    for i, body in model.outward:
        w = np.array([row[i] for row in W]).T
        for k, part in enumerate(part for part in (body.inertia, body.payload) if part):
            j = np.array([row[i][k] for row in J]).T
            M = M + part.mass * j.T @ j + w.T @ part.about_com @ w
    return e.crba(model, q), M


def unit_accelerations(e):
    model, q, qd, *_ = tree(e)
    zero = 0 * qd
    return e.crba(model, q), [e.rnea(model, q, zero, a) - e.rnea(model, q, zero, zero) for a in np.eye(model.n)]


def power_balance(e):
    model, q, qd, qdd, _ = tree(e)

    def energy(h):
        x, v = model.integrate(q, qd + qdd * h / 2, h), qd + qdd * h
        return e.kinetic_energy(model, x, v) + e.potential_energy(model, x)

    return e.rnea(model, q, qd, qdd) @ qd, (energy(EPS) - energy(-EPS)) / (2 * EPS)


def velocity_terms_of_lagrange(e):
    model, q, qd, *_ = one_axis_tree(e)
    dM = np.array([slope(e, model, q, lambda x: e.crba(model, x), d) for d in np.eye(model.n)])
    zero = 0 * qd
    return (e.rnea(model, q, qd, zero) - e.rnea(model, q, zero, zero),
            np.einsum("kij,k,j->i", dM, qd, qd) - np.einsum("kij,i,j->k", dM, qd, qd) / 2)


def one_axis_tree(e):
    model, *_ = tree(e, 1)
    model = e.Model(model.bodies[:3], gravity=model.gravity)
    rng = np.random.default_rng(5)
    return model, rng.normal(size=model.n), *rng.normal(size=(2, model.n))


def christoffel(e):
    model, q, qd, *_ = one_axis_tree(e)
    dM = np.array([slope(e, model, q, lambda x: e.crba(model, x), d) for d in np.eye(model.n)])
    return e.coriolis(model, q, qd), (np.einsum("kij,k->ij", dM, qd) + np.einsum("jik,k->ij", dM, qd)
                                      - np.einsum("ijk,k->ij", dM, qd)) / 2


def rate_of_M(e):
    model, q, qd, *_ = tree(e)
    C = e.coriolis(model, q, qd)
    return C + C.T, slope(e, model, q, lambda x: e.crba(model, x), qd)


def C_qd_and_G(e):
    model, q, qd, *_ = tree(e)
    return e.coriolis(model, q, qd) @ qd + e.gravity(model, q), e.rnea(model, q, qd, 0 * qd)


def slope_of_U(e):
    model, q, *_ = tree(e)
    return e.gravity(model, q), [slope(e, model, q, lambda x: e.potential_energy(model, x), d) for d in np.eye(model.n)]


def energy_and_M(e):
    model, q, qd, *_ = tree(e)
    return e.kinetic_energy(model, q, qd), qd @ e.crba(model, q) @ qd / 2


def forward_after_inverse(e):
    model, q, qd, qdd, _ = tree(e)
    return e.aba(model, q, qd, e.rnea(model, q, qd, qdd)), qdd


def ABA_and_M(e):
    model, q, qd, _, tau = tree(e)
    push = {5: np.arange(6.0)}
    return e.aba(model, q, qd, tau, external=push), e.forward_dynamics(model, q, qd, tau, external=push)


def push_by_its_jacobian(e):
    model, q, qd, qdd, _ = tree(e)
    f = np.arange(6.0)
    return e.rnea(model, q, qd, qdd, external={6: f}), e.rnea(model, q, qd, qdd) - e.body_jacobian(model, q, 6).T @ f


def bias_by_differences(e):
    model, q, qd, *_ = tree(e)
    r = np.array([0.1, 0.2, 0.3])
    return e.point_bias(model, q, qd, 6, r), slope(e, model, q, lambda x: e.point_jacobian(model, x, 6, r) @ qd, qd)


def rates_by_differences(e):
    model, q, qd, *_ = tree(e)
    return model.rates(q, qd), slope(e, model, q, lambda x: x, qd)


def straight_and_spinning(e):
    disc = e.Model((e.Body("disc", -1, e.Joint("planar"), e.Pose(), e.Inertia(2.0, np.zeros(3), np.diag([0.1, 0.1, 0.2]))),),
                   gravity=(0, 0, 0))
    return e.rnea(disc, [0.3, -0.2, 1.1], [1.5, -0.7, 4.0], np.zeros(3)), np.zeros(3)


def slot_on_a_turntable(e):
    table = e.Model((e.Body("table", -1, e.Joint("revolute"), e.Pose(), e.Inertia(0, np.zeros(3), np.eye(3))),
                     e.Body("slide", 0, e.Joint("prismatic", (1, 0, 0)), e.Pose(), e.point_mass(2.0))), gravity=(0, 0, 0))
    return e.rnea(table, [0.4, 0.5], [3.0, 0.7], [0, 0]), [2 * 2.0 * 0.5 * 3.0 * 0.7, -2.0 * 0.5 * 9.0]


def cloud_of_points(e):
    masses, points = np.array([1.0, 2.0, 3.0]), np.array([[0.1, 0.2, 0.3], [-0.4, 0.5, 0.1], [0.2, -0.3, 0.6]])
    pose = e.Pose(Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix(), np.array([0.4, -0.2, 0.1]))
    whole = sum((e.point_mass(m, r) for m, r in zip(masses[1:], points[1:])), e.point_mass(masses[0], points[0]))
    seen = points @ pose.R.T + pose.p
    return whole.moved(pose).about_origin, sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, seen))


def published_mixed_tree(e):
    from reference import model_of, reorder
    case = next(case for case in load("open_2_floating_base")["cases"] if case["id"] == "mixed_joint_types_seed3")
    model = e.Model(tuple(e.Body(b["name"], b["parent"], e.Joint({"floating": "free"}.get(b["joint"]["type"], b["joint"]["type"]),
                                                                 b["joint"]["axis"]),
                                 e.Pose(np.array(b["placement"]["rotation"]), np.array(b["placement"]["translation"])),
                                 e.Inertia(b["mass"], b["com"], b["inertia"])) for b in case["model"]["bodies"]),
                    gravity=case["model"]["gravity"])
    s, order = case["states"][0], reorder(model_of(case["model"]))
    qd, qdd, tau = (np.array(s[key])[order] for key in ("qd", "qdd", "tau"))
    return (np.concatenate([e.rnea(model, s["q"], qd, qdd), e.aba(model, s["q"], qd, tau) / 100]),
            np.concatenate([np.array(s["tau_rnea"])[order], np.array(s["qdd_fd"])[order] / 100]))


def published_puma(e):
    data = load("examples")["puma560_reference"]
    dh = data["standard_dh"]
    rows = [e.DHRow(dh["a"][i], dh["alpha_over_pi"][i] * np.pi, dh["d"][i], 0,
                    e.Inertia(data["mass"][i], data["com_in_distal_frame"][i], np.diag(data["inertia_diag_about_com"][i])))
            for i in range(6)]
    case = data["cases"][0]
    return e.rnea(e.from_dh(rows, "standard"), case["q"], case["qd"], case["qdd"]), case["tau"]


def fixed_bodies_merged(e):
    model, q, qd, qdd, _ = tree(e)
    return e.rnea(model.merged(), q, qd, qdd), e.rnea(model, q, qd, qdd)


def friction_slows_down(e):
    slide = e.Model((e.Body("mass", -1, e.Joint("prismatic", (1, 0, 0)), e.Pose(), e.point_mass(2.0)),))
    dynamics = e.of_model(slide, friction=lambda qd: 3 * qd)
    return dynamics.accelerations([0.0], [2.0], [0.0]), [-3.0]


def ledger_balances(e):
    slide = e.Model((e.Body("mass", -1, e.Joint("prismatic", (1, 0, 0)), e.Pose(), e.point_mass(2.0)),))
    run = e.simulate(e.of_model(slide, friction=lambda qd: 3 * qd), [0.0], [2.0], np.linspace(0, 0.2, 21), tau=[1.0])
    return run.energy.balance, np.zeros(21)


def swings_keep_their_energy(e):
    pendulum = e.Model((e.Body("rod", -1, e.Joint("revolute"), e.Pose(), e.point_mass(1.0, (0, -1, 0))),), gravity=(0, -1, 0))
    run = e.simulate(e.of_model(pendulum), [0.3], [0.0], np.arange(0, 15, 0.3), method="symplectic_euler")
    return np.ptp(run.energy.total[-20:]) < 1.5 * np.ptp(run.energy.total[:20]), True


CHECKS = {check.__name__: check for check in (
    jacobian_sums, unit_accelerations, power_balance, velocity_terms_of_lagrange, christoffel, rate_of_M, C_qd_and_G,
    slope_of_U, energy_and_M, forward_after_inverse, ABA_and_M, push_by_its_jacobian, bias_by_differences,
    rates_by_differences, straight_and_spinning, slot_on_a_turntable, cloud_of_points, published_mixed_tree, published_puma,
    fixed_bodies_merged, friction_slows_down, ledger_balances, swings_keep_their_energy)}


def fires(check, engine):
    """Does the check fail, by its numbers or by an error?"""
    try:
        actual, expected = check(engine)
    except (ValueError, np.linalg.LinAlgError):
        return True
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    return not np.all(np.abs(actual - expected) <= 1e-6 * (1 + np.max(np.abs(expected))))


# name of the fault: the tests that fail
CAUGHT_BY = {
    "v ×* I v dropped":
        "velocity_terms_of_lagrange C_qd_and_G forward_after_inverse ABA_and_M straight_and_spinning "
        "slot_on_a_turntable published_mixed_tree published_puma",
    "c dropped":
        "power_balance velocity_terms_of_lagrange C_qd_and_G forward_after_inverse ABA_and_M "
        "straight_and_spinning published_mixed_tree",
    "v × S q̇ dropped (2 ω × ḋ z forgotten)":
        "power_balance velocity_terms_of_lagrange C_qd_and_G forward_after_inverse ABA_and_M "
        "slot_on_a_turntable published_mixed_tree published_puma",
    "half of v × S q̇":
        "power_balance velocity_terms_of_lagrange C_qd_and_G forward_after_inverse ABA_and_M "
        "slot_on_a_turntable published_mixed_tree published_puma",
    "gravity upside down":
        "power_balance C_qd_and_G forward_after_inverse ABA_and_M published_mixed_tree published_puma",
    "gravity counted twice":
        "power_balance C_qd_and_G forward_after_inverse ABA_and_M published_mixed_tree published_puma",
    "external force with the wrong sign": "ABA_and_M push_by_its_jacobian",
    "external force with the wrong sign in ABA": "ABA_and_M",
    "gravity upside down in G": "C_qd_and_G slope_of_U",
    "rotor left out of RNEA": "unit_accelerations power_balance forward_after_inverse",
    "forces not carried to the parent's frame":
        "unit_accelerations power_balance velocity_terms_of_lagrange C_qd_and_G forward_after_inverse "
        "ABA_and_M push_by_its_jacobian slot_on_a_turntable published_mixed_tree published_puma "
        "fixed_bodies_merged",
    "C transposed": "christoffel C_qd_and_G",
    "third term of B dropped": "christoffel C_qd_and_G",
    "S ring dropped from C": "christoffel rate_of_M C_qd_and_G",
    "rotor left out of CRBA": "jacobian_sums unit_accelerations energy_and_M ABA_and_M",
    "rotor twice in CRBA": "jacobian_sums unit_accelerations energy_and_M ABA_and_M",
    "composite inertia not carried inward":
        "jacobian_sums unit_accelerations velocity_terms_of_lagrange christoffel rate_of_M energy_and_M "
        "ABA_and_M",
    "parallel axis with the wrong sign":
        "jacobian_sums unit_accelerations power_balance velocity_terms_of_lagrange christoffel rate_of_M "
        "C_qd_and_G slope_of_U energy_and_M forward_after_inverse ABA_and_M push_by_its_jacobian "
        "bias_by_differences rates_by_differences cloud_of_points published_mixed_tree published_puma "
        "fixed_bodies_merged swings_keep_their_energy",
    "tensor turned the wrong way": "cloud_of_points fixed_bodies_merged",
    "lever arm reversed":
        "jacobian_sums power_balance velocity_terms_of_lagrange christoffel rate_of_M slope_of_U "
        "slot_on_a_turntable published_mixed_tree published_puma fixed_bodies_merged",
    "quaternion turned the wrong way":
        "jacobian_sums power_balance rate_of_M slope_of_U bias_by_differences published_mixed_tree",
    "planar S not turning":
        "jacobian_sums power_balance velocity_terms_of_lagrange christoffel rate_of_M slope_of_U "
        "bias_by_differences straight_and_spinning published_mixed_tree",
    "quaternion rates not halved": "rates_by_differences",
    "payload forgotten": "jacobian_sums",
    "welded body left where it was": "fixed_bodies_merged",
    "distal inertia not moved": "published_puma",
    "v ×* I v dropped in ABA": "forward_after_inverse ABA_and_M published_mixed_tree",
    "c dropped in ABA": "forward_after_inverse ABA_and_M published_mixed_tree",
    "bias not pressed by the articulated inertia": "forward_after_inverse ABA_and_M published_mixed_tree",
    "rotor left out of ABA": "forward_after_inverse ABA_and_M",
    "gravity upside down in ABA": "forward_after_inverse ABA_and_M published_mixed_tree",
    "half of the kinetic energy forgotten": "power_balance energy_and_M ledger_balances",
    "rotor left out of the kinetic energy": "power_balance energy_and_M",
    "ω × u dropped from the bias": "bias_by_differences",
    "com of the payload forgotten in U": "power_balance slope_of_U",
    "friction with the wrong sign": "friction_slows_down ledger_balances",
    "explicit Euler called symplectic": "swings_keep_their_energy",
    "dissipation not booked": "ledger_balances",
}


def test_the_sound_engine_passes_every_check():
    engine = engine_of("lagrangebook")
    assert [name for name, check in CHECKS.items() if fires(check, engine)] == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught_by_the_tests_that_the_table_names(fault, broken):
    engine = broken(*FAULTS[fault])
    caught = [name for name, check in CHECKS.items() if fires(check, engine)]
    assert caught and caught == CAUGHT_BY[fault].split()


def test_every_check_catches_something_and_some_faults_pass_most_identities():
    """The blind spots that the table shows: gyroscopic forces do no work, Ṁ = C + Cᵀ does not know C from Cᵀ."""
    table = {fault: names.split() for fault, names in CAUGHT_BY.items()}
    assert set(CHECKS) == {name for names in table.values() for name in names}
    assert "power_balance" not in table["v ×* I v dropped"]
    assert "rate_of_M" not in table["C transposed"] + table["third term of B dropped"]
    assert len(table["distal inertia not moved"]) == 1
