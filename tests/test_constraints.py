"""Constraints: their derivatives, accelerations and forces under them, what is determined, and how loops stay closed."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import sympy
from random_models import random_state, random_tree
from reference import assert_close, fault, load, model_of

from lagrangebook.constraints import (Together, assemble, baumgarte, constrained, constrained_accelerations,
                                      constrained_inverse, delassus, delassus_by_recursion, determined, frame_loop,
                                      holonomic, internal_forces, multiplier_bounds, nonholonomic, point_loop, project,
                                      rolling, singularity)
from lagrangebook.inertia import Inertia, sphere
from lagrangebook.kinematics import point, point_jacobian, poses
from lagrangebook.lagrange import coordinates
from lagrangebook.model import GROUND, Body, Joint, Model
from lagrangebook.newton_euler import rnea
from lagrangebook.simulate import simulate
from lagrangebook.spatial import Pose
from lagrangebook.standard_form import StandardForm, of_lagrangian, of_model

assert_allclose = partial(np.testing.assert_allclose, rtol=0)

XY = np.eye(3)[:2]
PRECISE = dict(method="DOP853", rtol=1e-12, atol=1e-12)


def case_of(name, identity):
    return next(case for case in load(name)["cases"] if case["id"] == identity)


def loops_of(model, data):
    """The reference's loops: points, and hinges with an axis held across two normals."""
    return Together(tuple(
        point_loop(model, loop["body_a"], loop["point_a"], loop["body_b"], loop["point_b"], loop["directions"])
        if loop["type"] == "point" else
        frame_loop(model, loop["body_a"], loop["point_a"], loop["body_b"], loop["point_b"],
                   pairs=[(loop["axis_a"], n) for n in loop["normals_b"]]) for loop in data))


def form_of(M, h, qd=None):
    """A standard form with given M and h."""
    n = len(h)
    return StandardForm(np.array(M, dtype=float), np.zeros((n, n)), np.array(h, dtype=float), np.zeros(n),
                        np.zeros(n) if qd is None else np.array(qd, dtype=float))


CLOSED = [(name, case["id"]) for name in ("open_3_closed_loops_planar", "open_3_iftomm", "open_4_redundant")
          for case in load(name)["cases"] if isinstance(case.get("model"), dict) and isinstance(case.get("loops"), list)]


@pytest.fixture(params=range(6), ids=lambda seed: f"seed{seed}")
def looped(request):
    """A random tree of all joint kinds with a frame loop between two bodies, or a body and the ground, and its state."""
    rng = np.random.default_rng(50 + request.param)
    model = random_tree(rng, 6)
    a, b = rng.choice(6, 2, replace=False) if request.param % 3 else (int(rng.integers(6)), GROUND)
    loop = frame_loop(model, int(a), rng.normal(size=3), int(b), rng.normal(size=3), rng.normal(size=(2, 3)),
                      [(rng.normal(size=3), rng.normal(size=3))])
    return model, loop, *random_state(model, rng)


# -- published numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, identity", CLOSED, ids=lambda part: part)
def test_closed_loops_of_the_reference(name, identity):
    """φ, J, γ, M, h, W, q̈, λ, Jᵀλ and the rank at every state, near-singular ones among them."""
    case = case_of(name, identity)
    model = model_of(case["model"])
    loops = loops_of(model, case["loops"])
    for state in case["states"] + case.get("near_flat", []):
        if state.get("singular"):
            continue
        q, qd = np.array(state["q"]), np.array(state["qd"])
        form, J, gamma = of_model(model)(q, qd), loops.J(q), loops.bias(q, qd)
        result = constrained_accelerations(form, state.get("tau", np.zeros(model.n)), J, gamma)
        found = dict(phi=loops.phi(q), J=J, gamma=gamma, M=form.M, h=form.h, delassus=delassus(form.M, J),
                     qdd=result.qdd, lam=result.lam, JT_lam=J.T @ result.lam)
        for key, value in found.items():
            if key in state:
                assert_close(value, state[key], 1e-9)
        assert result.rank == state.get("rank_J", 2)
        assert result.status == ("solved" if result.rank == len(J) else "redundant")


def test_forty_four_bars_in_a_row():
    """IFToMM A02 with N = 40: 81 joints, 80 rows, the closed form θ̈ = (3/2) (3N + 1)/(4N + 1) (g/L) sin θ."""
    pattern, case = case_of("open_3_iftomm", "A02_N2"), case_of("open_3_iftomm", "A02_N40")
    V0, H, V = (model_of(pattern["model"]).bodies[i] for i in (0, 1, 2))
    H2 = model_of(pattern["model"]).bodies[3]
    bodies = [V0]
    for k in range(40):
        bodies += [replace(H if k == 0 else H2, name=f"H{k + 1}", parent=2 * k), replace(V, name=f"V{k + 1}", parent=2 * k + 1)]
    model = Model(tuple(bodies), gravity=(0, -9.81, 0))
    loops = Together(tuple(point_loop(model, 2 * k, (0, -1, 0), GROUND, (k, 0, 0), XY) for k in range(1, 41)))
    for state in case["states"]:
        q, qd = np.array(state["q"]), np.array(state["qd"])
        result = constrained_accelerations(of_model(model)(q, qd), np.zeros(81), loops.J(q), loops.bias(q, qd))
        assert result.rank == state["rank_J"]
        if not state["singular"]:
            assert_close(result.qdd, state["qdd"], 1e-9)
            assert_close(result.qdd[::2], np.full(41, -state["thetadd_regular_branch"]), 1e-9)


def test_a_hinge_line_of_legs_lies_flat_and_loses_rank():
    """A02 in the horizontal: the rank falls from 2N to N, and the status says that rows depend on each other."""
    case = case_of("open_3_iftomm", "A02_N2")
    model = model_of(case["model"])
    loops = loops_of(model, case["loops"])
    flat = [state for state in case["states"] if state["singular"]]
    assert len(flat) == 2
    for state in flat:
        result = constrained_accelerations(of_model(model)(state["q"], state["qd"]), np.zeros(5), loops.J(state["q"]),
                                           loops.bias(state["q"], state["qd"]))
        assert (result.rank, result.status) == (2, "redundant")
        assert_allclose(loops.J(state["q"]) @ result.qdd, -loops.bias(state["q"], state["qd"]), atol=1e-12)


def test_the_change_point_of_the_parallelogram():
    """Flat, J has rank 1; each branch's velocity is allowed, a mixture of both asks for what no acceleration gives."""
    case = case_of("open_3_closed_loops_planar", "parallelogram")
    model = model_of(case["model"])
    loop = loops_of(model, case["loops"])
    for state in case["flat_singular"]:
        q, branches = np.array(state["q"]), [np.array(v) for v in state["branches"].values()]
        assert_close(loop.J(q), state["J"], 1e-12)
        assert_close(delassus(of_model(model)(q, 0 * q).M, loop.J(q)), state["delassus"], 1e-12)
        for qd, status in ((branches[0], "redundant"), (branches[1], "redundant"), (branches[0] + branches[1], "inconsistent")):
            assert_allclose(loop.J(q) @ qd, 0, atol=1e-12)
            result = constrained_accelerations(of_model(model)(q, qd), np.zeros(3), loop.J(q), loop.bias(q, qd))
            assert (result.rank, result.status) == (1, status)
            assert np.all(np.isfinite(result.qdd)) and np.all(np.isfinite(result.lam))


def five_bar_example(B=0.2):
    """The five-bar of the examples and its loop."""
    p = load("examples")["five_bar"]["parameters"]
    bars = [Body(name, parent, Joint("revolute"), Pose(p=at), Inertia(m, (L / 2, 0, 0), np.diag([0, I, I])))
            for name, parent, at, m, L, I in zip("1234", (-1, 0, -1, 2), ((0, 0, 0), (p["L"][0], 0, 0), (B, 0, 0), (p["L"][2], 0, 0)),
                                                 p["m"], p["L"], p["I"])]
    model = Model(tuple(bars), gravity=(0, -p["g"], 0))
    return model, point_loop(model, 1, (p["L"][1], 0, 0), 3, (p["L"][3], 0, 0), XY)


@pytest.mark.parametrize("case", load("examples")["five_bar"]["cases"], ids=lambda case: case["name"])
def test_the_five_bar_of_the_examples(case):
    model, loop = five_bar_example()
    q, qd = np.array(case["q"]), np.array(case["qd"])
    form, J, gamma = of_model(model)(q, qd), loop.J(q), loop.bias(q, qd)
    tau = np.array([case["tau_q1_q3"][0], 0, case["tau_q1_q3"][1], 0])
    result = constrained_accelerations(form, tau, J, gamma)
    for found, key in ((form.M, "M"), (form.h, "h"), (J, "Jc"), (gamma, "Jcdot_qd"), (result.qdd, "qdd"),
                       (result.lam, "lambda_force_on_left_tip"), (J.T @ result.lam, "Jc_T_lambda"),
                       (delassus(form.M, J), "Delassus_W"), (J @ form.accelerations(tau) + gamma, "free_relative_acceleration")):
        assert_close(found, case[key], 1e-10)
    S = np.array([[2.0, 1], [0, 3]])
    scaled = constrained_accelerations(form, tau, S @ J, S @ gamma)
    assert_close(scaled.lam, case["lambda_bar_for_S=[[2,1],[0,3]]"], 1e-10)
    assert_close(S.T @ scaled.lam, result.lam, 1e-10)


@pytest.mark.parametrize("case", load("examples")["five_bar"]["singular_configurations"], ids=lambda case: case["name"][:7])
def test_singular_five_bars_are_classified(case):
    model, loop = five_bar_example(case["B"])
    q = np.array(case["q"])
    J, tip = loop.J(q), point_jacobian(model, q, 1, (0.3, 0, 0))[:2]
    found = singularity(J, np.eye(4)[:, [0, 2]], tip)
    kind = {"type I ": "serial", "type II": "parallel", "all lin": "both"}[case["name"][:7]]
    assert found.kind == kind
    assert found.rank_J == case["rank_Jc"] and found.rank_BJ == case["rank_[B Jc^T]"]
    assert found.rank_passive == np.sum(np.array(case["singular_values_J_passive(q2,q4)"]) > 1e-9)
    assert_allclose(J @ found.locked, 0, atol=1e-12)
    assert_allclose(found.locked[[0, 2]], 0, atol=1e-12)
    assert_allclose(np.vstack([J, tip]) @ found.unseen, 0, atol=1e-12)


def test_near_a_parallel_singularity_a_load_needs_torques_without_bound():
    """Massless links hold 10 N at the tip; at the singularity itself no torque does, while M keeps q̈ and λ unique."""
    model, loop = five_bar_example()
    for case in load("examples")["five_bar"]["holding_10N_down_at_tip_massless_links"]:
        tip = np.array([0.1, 0.15 + case["height_above_singularity"]])
        lifted = assemble(Together((loop, point_loop(model, 1, (0.3, 0, 0), GROUND, (*tip, 0), XY))),
                          np.array([2.3, -2.2, 0.8, 2.2]))
        J, down = loop.J(lifted.q), point_jacobian(model, lifted.q, 1, (0.3, 0, 0)).T @ [0, -10.0, 0]
        held = constrained_inverse(form_of(np.eye(4), -down), np.zeros(4), J, np.eye(4)[:, [0, 2]])
        assert lifted.status == held.status == "solved"
        assert_allclose(held.u, case["tau_q1_q3"], rtol=1e-8)
        assert_allclose(held.lam, case["lambda"], rtol=1e-8, atol=1e-8)
    q = np.array(load("examples")["five_bar"]["singular_configurations"][0]["q"])
    J, down = loop.J(q), point_jacobian(model, q, 1, (0.3, 0, 0)).T @ [0, -10.0, 0]
    assert constrained_inverse(form_of(np.eye(4), -down), np.zeros(4), J, np.eye(4)[:, [0, 2]]).status == "inconsistent"
    assert constrained_inverse(form_of(np.eye(4), 0 * down), np.zeros(4), J, np.eye(4)[:, [0, 2]]).status == "redundant"
    free = constrained_accelerations(of_model(model)(q, 0 * q), np.zeros(4), J, loop.bias(q, 0 * q))
    assert free.status == "solved"


@pytest.mark.parametrize("identity", ["table_rectangle", "table_quadrilateral"])
def test_tables_on_four_legs(identity):
    """Minimum norm, the vector that carries nothing, and the range of each leg that pushes."""
    for load_ in case_of("open_4_redundant", identity)["loads"]:
        A = np.array(load_["A"])
        weight = load_["weight"] * np.array([1, *load_["load_point"]])
        result = constrained_accelerations(form_of(np.eye(3), weight), np.zeros(3), A.T, np.zeros(4))
        assert (result.rank, result.status) == (load_["rank"], "redundant")
        assert_allclose(result.qdd, 0, atol=1e-9)
        assert_close(result.lam, load_["min_norm"], 1e-12)
        N, null = internal_forces(A.T)[:, 0], np.array(load_["null_vector"])
        assert_allclose(abs(N @ null), np.linalg.norm(null), rtol=1e-12)
        bounds = multiplier_bounds(A.T, result.lam, lower=0)
        assert (bounds.status == "bounded") == load_["feasible"]
        if load_["feasible"]:
            assert_allclose(np.transpose([bounds.lower, bounds.upper]), load_["leg_bounds"], atol=1e-7 * load_["weight"])


def test_the_table_of_the_examples():
    table = load("examples")["four_legged_table"]
    A, weight = np.array(table["equilibrium_matrix"]), np.array(table["right_side"])
    lam = constrained_accelerations(form_of(np.eye(3), weight), np.zeros(3), A.T, np.zeros(4)).lam
    assert_close(lam, table["minimum_norm_forces"], 1e-12)
    bounds = multiplier_bounds(A.T, lam, lower=0)
    assert_allclose(np.transpose([bounds.lower, bounds.upper]), table["feasible_pushing_interval_per_leg"], atol=1e-6)
    assert multiplier_bounds(A.T, lam).status == "unbounded" and np.all(multiplier_bounds(A.T, lam).upper == np.inf)
    assert multiplier_bounds(A.T, lam, lower=0, upper=70).status == "infeasible"
    assert not determined(A.T).any() and determined(A.T, A).all()


def test_a_table_that_moves():
    case = case_of("open_4_redundant", "table_dynamic")
    J = np.array(case["J"])
    result = constrained_accelerations(form_of(case["M"], case["h"]), case["tau"], J, np.zeros(4))
    assert (result.rank, result.status) == (3, "redundant")
    for found, key in ((result.lam, "lam_min_norm"), (J.T @ result.lam, "JT_lam"), (delassus(np.array(case["M"]), J), "delassus")):
        assert_close(found, case[key], 1e-12)
    assert_allclose(result.qdd, 0, atol=1e-12)


def test_a_constraint_written_twice():
    for state in case_of("open_4_redundant", "doubled_pendulum_constraint")["states"]:
        m, alpha, qd = state["mass"], state["alpha"], np.array(state["qd"])
        x, y = sympy.symbols("x y")
        length = (x**2 + y**2 - state["L"]**2) / 2
        rod = holonomic([length, alpha * length], [x, y])
        J, gamma = rod.J(state["q"]), rod.bias(state["q"], qd)
        assert_close(J, state["J"], 1e-14)
        assert_close(gamma, state["gamma"], 1e-12)
        result = constrained_accelerations(form_of(m * np.eye(2), [0, m * state["g"]], qd), np.zeros(2), J, gamma)
        assert (result.rank, result.status) == (1, "redundant")
        assert_close(result.qdd, state["qdd"], 1e-12)
        assert_close(result.lam, state["lam_min_norm"], 1e-12)
        assert result.lam @ [1, alpha] == pytest.approx(state["lam_single"], rel=1e-12)
        assert not determined(J).any() and determined(J, [[1, alpha]]).all()


def test_a_door_on_two_ball_hinges():
    """The axial split between the hinges is not determined; everything across the hinge line is, and so is the sum."""
    case = case_of("open_4_redundant", "door_two_ball_hinges")
    J = np.array(case["J"])
    result = constrained_accelerations(form_of(case["M"], case["h"]), np.zeros(6), J, case["gamma"])
    assert (result.rank, result.status) == (5, "redundant")
    assert_close(result.qdd, case["acc"], 1e-12)
    assert_close(result.lam, case["lam_min_norm"], 1e-12)
    assert determined(J).tolist() == [True, True, False, True, True, False]
    assert determined(J, [[0, 0, 1, 0, 0, 1]]).all()
    bounds = multiplier_bounds(J, result.lam)
    assert np.all(np.isfinite(bounds.lower) == determined(J)) and bounds.status == "unbounded"


def test_four_bar_with_its_pin_force_l01():
    case = fault("L01")
    model, inputs = model_of(case["model"]), case["inputs"]
    closure, q, qd = inputs["closure"], np.array(inputs["q"]), np.array(inputs["qd"])
    loop = point_loop(model, closure["body_a"], closure["point_a"], closure["body_b"], closure["point_b"], XY)
    form, J, gamma = of_model(model)(q, qd), loop.J(q), loop.bias(q, qd)
    result = constrained_accelerations(form, inputs["tau"], J, gamma)
    assert_allclose(gamma, case["expected"]["Jdot_qd"], atol=1e-9)
    assert_allclose(result.qdd, case["expected"]["qdd"], atol=1e-9)
    assert_allclose(result.lam, case["expected"]["lam"], atol=1e-9)
    forgotten = constrained_accelerations(form, inputs["tau"], J, 0 * gamma).qdd
    assert_allclose(forgotten, case["faulty_result"]["qdd_no_Jdot"], atol=1e-9)
    assert_allclose(form.accelerations(inputs["tau"]), case["faulty_result"]["qdd_open_tree"], atol=1e-9)


def test_slider_crank_at_both_dead_centres_l03():
    case = fault("L03")
    model = model_of(case["model"])
    loop = point_loop(model, "rod", (0.8, 0, 0), "slider", (0, 0, 0), XY)
    for given, expected in zip(case["inputs"]["cases"], case["expected"]["cases"]):
        q, qd = np.array(given["q"]), np.array(given["qd"])
        tau = np.array([given["crank_torque"], 0, given["slider_force"]])
        J = loop.J(q)
        assert_allclose(loop.phi(q), 0, atol=1e-12)
        result = constrained_accelerations(of_model(model)(q, qd), tau, J, loop.bias(q, qd))
        assert result.status == "solved"
        assert_allclose(result.qdd, expected["qdd"], atol=1e-9)
        assert_allclose(result.lam, expected["lam"], atol=1e-9)
        load_ = replace(of_model(model)(q, 0 * q), F=-np.array([0, 0, given["slider_force"]]))
        held = constrained_inverse(load_, np.zeros(3), J, np.eye(3)[:, :1])
        assert held.u[0] == pytest.approx(expected["static_crank_torque_for_slider_force_and_gravity"], abs=1e-9)
        by_slider = singularity(J, np.eye(3)[:, 2:])
        dead = abs(np.sin(q[0])) < 1e-9
        assert by_slider.kind == ("parallel" if dead else "regular")
        if dead:
            assert by_slider.rank_passive == case["expected"]["rank_of_columns_without_slider_driven_by_slider"]
            assert by_slider.rank_J == case["expected"]["rank_J_at_dead_centre"]


def test_the_two_gains_of_baumgarte_l06():
    case = fault("L06")
    given, expected = case["inputs"], case["expected"]
    q, qd, m = np.array(given["q"]), np.array(given["qd"]), given["mass"]
    x, y = sympy.symbols("x y")
    circle, form = holonomic(x**2 + y**2 - 1, [x, y]), form_of(m * np.eye(2), [0, m * 9.81], qd)
    result = constrained_accelerations(form, np.zeros(2), circle.J(q), baumgarte(circle, q, qd, given["alpha"], given["beta"]))
    assert_allclose(result.qdd, expected["qdd"], atol=1e-9)
    assert result.lam[0] == pytest.approx(expected["lam"], abs=1e-9)
    assert circle.J(q)[0] @ result.qdd + circle.bias(q, qd)[0] == pytest.approx(expected["constraint_acceleration"], abs=1e-9)
    s, sd, _ = coordinates("s", 2)
    mass = of_lagrangian(m * (sd[0]**2 + sd[1]**2) / 2 - m * 9.81 * s[1], s, sd)
    for alpha, key in ((given["alpha"], "violation_at_t"), (0.0, "violation_at_t_without_stabilisation")):
        end = simulate(constrained(mass, circle, alpha=alpha, projected=False), q, qd, [0, given["t"]], **PRECISE)
        assert circle.phi(end.q[-1])[0] == pytest.approx(expected[key], abs=1e-8)


def test_a_pendulum_in_cartesian_coordinates_keeps_its_period():
    """IFToMM A01: a point mass on x² + y² = 1, started horizontally."""
    case = case_of("open_3_iftomm", "A01_pendulum")
    s, sd, _ = coordinates("s", 2)
    mass = of_lagrangian((sd[0]**2 + sd[1]**2) / 2 - 9.81 * s[1], s, sd)
    rod = holonomic((s[0]**2 + s[1]**2 - 1) / 2, s)
    states = case["trajectory"]
    run = simulate(constrained(mass, rod), [1.0, 0.0], [0.0, 0.0], [state["t"] for state in states], **PRECISE)
    for q, qd, state in zip(run.q, run.qd, states):
        assert_allclose(q, [state["x"], state["y"]], atol=1e-8)
        assert_allclose(qd, [state["xd"], state["yd"]], atol=1e-8)
        J, gamma = rod.J(q), rod.bias(q, qd)
        lam = constrained_accelerations(mass(q, qd), np.zeros(2), J, gamma).lam
        assert lam[0] == pytest.approx(state["lam"], abs=1e-7)


# -- another route -----------------------------------------------------------------------------------------

def test_the_jacobian_is_the_derivative_of_the_gap(looped, eps=1e-6):
    model, loop, q, _, _ = looped
    columns = [(loop.phi(model.integrate(q, e, eps)) - loop.phi(model.integrate(q, e, -eps))) / (2 * eps) for e in np.eye(model.n)]
    assert_allclose(loop.J(q), np.transpose(columns), atol=1e-8)


def test_the_bias_is_the_rate_of_the_jacobian_times_the_velocity(looped, eps=1e-6):
    model, loop, q, qd, _ = looped
    ahead, behind = (loop.J(model.integrate(q, qd, h)) @ qd for h in (eps, -eps))
    assert_allclose(loop.bias(q, qd), (ahead - behind) / (2 * eps), atol=1e-7)


def test_loops_by_the_package_kinematics(looped):
    model, loop, q, qd, _ = looped
    world = [*poses(model, q), Pose()]
    gap = loop.axes @ (point(model, q, loop.a, loop.point_a) - point(model, q, loop.b, loop.point_b))
    (u, n), = loop.pairs
    assert_allclose(loop.phi(q), [*gap, world[loop.a].R @ u @ (world[loop.b].R @ n)], atol=1e-13)
    J = loop.axes @ (point_jacobian(model, q, loop.a, loop.point_a) - point_jacobian(model, q, loop.b, loop.point_b))
    assert_allclose(loop.J(q)[:2], J, atol=1e-13)
    assert_allclose(loop.velocity(q, qd), loop.J(q) @ qd, atol=1e-12)


def test_wrenches_on_the_bodies_are_the_transposed_jacobian(looped, rng):
    """External wrenches lower the joint forces of the recursion by Jᵀλ."""
    model, loop, q, qd, qdd = looped
    lam = rng.normal(size=3)
    assert_allclose(rnea(model, q, qd, qdd) - rnea(model, q, qd, qdd, loop.wrenches(q, lam)), loop.J(q).T @ lam, atol=1e-10)


def test_inverse_mass_by_recursion_and_by_matrices(looped, rng):
    model, loop, q, qd, _ = looped
    W = delassus(of_model(model)(q, qd).M, loop.J(q))
    assert_close(delassus_by_recursion(q, loop), W, 1e-9)
    lam = rng.normal(size=3)
    assert_close(delassus_by_recursion(q, loop, lam), W @ lam, 1e-9)


def test_three_routes_to_the_accelerations(looped, rng):
    """The null space, the block matrix [M −Jᵀ; J 0], and the elimination with W = J M⁻¹Jᵀ."""
    model, loop, q, qd, _ = looped
    tau, form, J, gamma = rng.normal(size=model.n), of_model(model)(q, qd), loop.J(q), loop.bias(q, qd)
    result = constrained_accelerations(form, tau, J, gamma)
    block = np.linalg.solve(np.block([[form.M, -J.T], [J, np.zeros((3, 3))]]), np.concatenate([tau - form.h, -gamma]))
    assert_close(np.concatenate([result.qdd, result.lam]), block, 1e-8)
    free = form.accelerations(tau)
    lam = np.linalg.solve(delassus(form.M, J), -(J @ free + gamma))
    assert_close(result.lam, lam, 1e-8)
    assert_close(result.qdd, form.accelerations(tau + J.T @ lam), 1e-8)
    assert (result.rank, result.status) == (3, "solved")


def test_symbols_go_through_the_elimination():
    """A point mass on a circle: λ = −m (|v|² + g·r)/ℓ², exactly."""
    x, y, u, v, m, g = sympy.symbols("x y u v m g")
    form = StandardForm(np.array([[m, 0], [0, m]], dtype=object), np.zeros((2, 2), dtype=int), np.array([0, m * g]),
                        np.zeros(2, dtype=int), np.array([u, v]))
    result = constrained_accelerations(form, np.array([0, 0], dtype=object), np.array([[x, y]]), np.array([u**2 + v**2]))
    assert sympy.simplify(result.lam[0] + m * (u**2 + v**2 - g * y) / (x**2 + y**2)) == 0
    assert sympy.simplify(x * result.qdd[0] + y * result.qdd[1] + u**2 + v**2) == 0


def test_a_loop_speaks_symbols():
    """φ of a slider-crank is the closed form, and its Jacobian that expression's derivative."""
    q, l1, l2 = sympy.symbols("q:3"), *sympy.symbols("l1 l2")
    model, loop = slider_crank(l1, l2)
    phi = sympy.Matrix(loop.phi(list(q)))
    expected = sympy.Matrix([l1 * sympy.cos(q[0]) + l2 * sympy.cos(q[0] + q[1]) - q[2],
                             l1 * sympy.sin(q[0]) + l2 * sympy.sin(q[0] + q[1])])
    assert sympy.simplify(phi - expected) == sympy.zeros(2, 1)
    assert sympy.simplify(sympy.Matrix(loop.J(list(q))) - expected.jacobian(q)) == sympy.zeros(2, 3)
    qd = sympy.symbols("qd:3")
    Jdot = sum((expected.jacobian(q).diff(x) * xd for x, xd in zip(q, qd)), sympy.zeros(2, 3))
    assert sympy.simplify(sympy.Matrix(loop.bias(list(q), list(qd))) - Jdot * sympy.Matrix(qd)) == sympy.zeros(2, 1)


def slider_crank(l1=0.1, l2=0.3):
    bars = (Body("crank", -1, Joint("revolute"), Pose(), Inertia(0.5, np.array([l1 / 2, 0, 0]), np.diag([0, 1, 1]) * 4e-4)),
            Body("rod", 0, Joint("revolute"), Pose(p=np.array([l1, 0, 0])), Inertia(0.4, np.array([l2 / 2, 0, 0]), np.diag([0, 1, 1]) * 3e-3)),
            Body("slider", -1, Joint("prismatic", (1, 0, 0)), Pose(), Inertia(0.7, np.zeros(3), np.zeros((3, 3)))))
    model = Model(bars, gravity=(0, -9.81, 0))
    return model, point_loop(model, "rod", np.array([l2, 0, 0]), "slider", (0, 0, 0), XY)


def test_a_planar_weld_and_a_spatial_hinge_have_no_spare_rows():
    """Two axes and one pair hold a planar body, three axes and two pairs hold all but the turn about the hinge."""
    rng = np.random.default_rng(3)
    free = random_tree(rng, 1, kinds=("free",))
    q, qd, _ = random_state(free, rng)
    here = poses(free, q)[0]
    u, n1, n2 = here.R          # the world's axes, in the body
    hinge = frame_loop(free, 0, (0, 0, 0), GROUND, here.p, pairs=[(u, (0, 1, 0)), (u, (0, 0, 1))])
    weld = frame_loop(free, 0, (0, 0, 0), GROUND, here.p, pairs=[(u, (0, 1, 0)), (n1, (0, 0, 1)), (n2, (1, 0, 0))])
    assert_allclose(weld.phi(q), 0, atol=1e-12)
    assert np.linalg.matrix_rank(hinge.J(q)) == 5 and np.linalg.matrix_rank(weld.J(q)) == 6
    turn = np.concatenate([u, np.zeros(3)])
    assert_allclose(hinge.J(q) @ turn, 0, atol=1e-12)
    plane = Model((Body("plate", -1, Joint("planar"), Pose(), Inertia(1, (0, 0, 0), np.eye(3))),), gravity=(0, -9.81, 0))
    held = frame_loop(plane, 0, (0, 0, 0), GROUND, (0, 0, 0), XY, [((1, 0, 0), (0, 1, 0))])
    assert_allclose(held.J(np.zeros(3)), np.eye(3), atol=1e-15)


def test_rows_in_other_units_leave_the_motion_alone(looped, rng):
    """φ in millimetres, or a row times 10^±8: the same q̈ and Jᵀλ, λ in the inverse units; and the same rank."""
    model, loop, q, qd, _ = looped
    tau, form, J, gamma = rng.normal(size=model.n), of_model(model)(q, qd), loop.J(q), loop.bias(q, qd)
    plain = constrained_accelerations(form, tau, J, gamma)
    for unit in (np.full(3, 1e3), np.array([1e8, 1, 1]), np.array([1, 1e-8, 1])):
        other = constrained_accelerations(form, tau, unit[:, None] * J, unit * gamma)
        assert (other.rank, other.status) == (3, "solved")
        assert_close(other.qdd, plain.qdd, 1e-9)
        assert_close(unit * other.lam, plain.lam, 1e-9)
    again = constrained_accelerations(form, tau, np.vstack([J, 1e-6 * J[0] + J[1]]), np.append(gamma, 1e-6 * gamma[0] + gamma[1]))
    assert (again.rank, again.status) == (3, "redundant")
    assert_close(again.qdd, plain.qdd, 1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_dependent_rows_in_mixed_units_still_balance_the_forces(seed):
    """Rows of rank three written in units from 1e-5 to 1e5: M q̈ + h − τ − Jᵀλ vanishes beside its terms."""
    rng = np.random.default_rng(seed)
    J, A = rng.normal(size=(7, 3)) @ rng.normal(size=(3, 6)), rng.normal(size=(6, 6))
    unit, form = 10.0 ** rng.uniform(-5, 5, 7), form_of(A @ A.T + np.eye(6), rng.normal(size=6))
    result = constrained_accelerations(form, np.zeros(6), unit[:, None] * J, unit * (J @ rng.normal(size=6)))
    assert (result.rank, result.status) == (3, "redundant")
    assert_allclose(form.forces(result.qdd), J.T @ (unit * result.lam), atol=1e-12)


def test_inverse_and_forward_dynamics_undo_each_other():
    """Motors at all joints, more than needed: the smallest efforts; at two, the only ones; at one, none."""
    model, loop = five_bar_example()
    case = load("examples")["five_bar"]["cases"][2]
    q, qd = np.array(case["q"]), np.array(case["qd"])
    form, J, gamma = of_model(model)(q, qd), loop.J(q), loop.bias(q, qd)
    qdd = constrained_accelerations(form, [1.0, 0, -2.0, 0], J, gamma).qdd
    two = constrained_inverse(form, qdd, J, np.eye(4)[:, [0, 2]])
    assert two.status == "solved" and two.rank == 4
    assert_allclose(two.u, [1, -2], atol=1e-10)
    four = constrained_inverse(form, qdd, J, np.eye(4))
    assert four.status == "redundant" and np.linalg.norm(four.u) < np.linalg.norm(two.u)
    assert_close(constrained_accelerations(form, four.u, J, gamma).qdd, qdd, 1e-10)
    assert_allclose(form.forces(qdd), four.u + J.T @ four.lam, atol=1e-10)
    assert constrained_inverse(form, qdd, J, np.eye(4)[:, :1]).status == "inconsistent"


def test_bounds_with_a_friction_cone():
    """A block between two walls pressed by 20 N and held by friction: each wall carries between nothing and μ N."""
    J, mu = np.array([[0, 1.0], [0, 1.0]]), 0.3          # the tangential forces of the two walls both act along y
    lam = constrained_accelerations(form_of(np.eye(2), [0, 5.0]), np.zeros(2), J, np.zeros(2)).lam
    assert_allclose(lam, [2.5, 2.5], atol=1e-12)
    pressed = multiplier_bounds(J, lam, lower=-mu * 20, upper=mu * 20)
    assert_allclose([pressed.lower, pressed.upper], [[-1, -1], [6, 6]], atol=1e-7)
    # with the normal forces as unknowns: rows (N₁, T₁, N₂, T₂), N₁ = N₂ + 4, and the cone |T| ≤ μ N
    J = np.array([[1.0, 0], [0, 1], [-1, 0], [0, 1]])
    lam = constrained_accelerations(form_of(np.eye(2), [4.0, 5.0]), np.zeros(2), J, np.zeros(4)).lam
    cone = np.array([[-mu, 1, 0, 0], [-mu, -1, 0, 0], [0, 0, -mu, 1], [0, 0, -mu, -1]])
    bounds = multiplier_bounds(J, lam, cone=cone)
    assert bounds.status == "unbounded" and np.all(bounds.upper == np.inf)
    assert bounds.lower[0] == pytest.approx((5 / mu + 4) / 2, abs=1e-6)      # T₁ + T₂ = 5 ≤ μ (N₁ + N₂) = μ (2 N₁ − 4)


# -- physics -----------------------------------------------------------------------------------------------

def test_constraint_forces_do_no_work_and_obey_action_and_reaction(looped, rng):
    model, loop, q, qd, _ = looped
    Z = np.linalg.svd(loop.J(q))[2][3:].T
    lam, allowed = rng.normal(size=3), Z @ rng.normal(size=model.n - 3)
    assert (loop.J(q).T @ lam) @ allowed == pytest.approx(0, abs=1e-10)
    force, moment = np.zeros(3), np.zeros(3)
    for i, wrench in loop.wrenches(q, lam).items():
        pose = poses(model, q)[i]
        force += pose.R @ wrench[3:]
        moment += pose.R @ wrench[:3] + np.cross(pose.p, pose.R @ wrench[3:])
    if loop.b != GROUND and np.linalg.norm(loop.phi(q)[:2]) > 0:
        gap = point(model, q, loop.a, loop.point_a) - point(model, q, loop.b, loop.point_b)
        assert_allclose(force, 0, atol=1e-12)
        assert_allclose(moment, np.cross(gap, loop.axes.T @ lam[:2]), atol=1e-10)       # zero once the loop is closed


def test_gauss_least_constraint(looped, rng):
    """Among all q̈ with J q̈ + γ = 0 the true one is nearest, by the mass matrix, to that of the open tree."""
    model, loop, q, qd, _ = looped
    tau, form, J, gamma = rng.normal(size=model.n), of_model(model)(q, qd), loop.J(q), loop.bias(q, qd)
    qdd, free = constrained_accelerations(form, tau, J, gamma).qdd, form.accelerations(tau)
    distance = (qdd - free) @ form.M @ (qdd - free)
    for step in np.linalg.svd(J)[2][3:]:
        for eps in (-1e-2, 1e-2):
            other = qdd + eps * step
            assert (other - free) @ form.M @ (other - free) > distance


def test_a_ball_rolls_down_an_incline_with_five_sevenths():
    """a = 5/7 g sin θ for a uniform ball; friction λ = 2/7 m g sin θ up the slope."""
    m, r, slope = 0.3, 0.05, 0.4
    gravity = 9.81 * np.array([np.sin(slope), 0, -np.cos(slope)])
    ball = Model((Body("ball", -1, Joint("free"), Pose(), sphere(m, r)),), gravity=gravity)
    rolls, rests = rolling(ball, 0, (0, 0, 0), r, (0, 0, 1), XY), point_loop(ball, 0, (0, 0, 0), GROUND, (0, 0, r), [[0, 0, 1]])
    both = Together((rests, rolls))
    q = np.array([0, 0, r, *np.array([0.1, -0.5, 0.3, 1]) / np.linalg.norm([0.1, -0.5, 0.3, 1])])
    R = poses(ball, q)[0].R
    qd = np.concatenate([R.T @ [0, 2.0, 0.7], R.T @ [2.0 * r, 0, 0]])
    assert_allclose(both.J(q) @ qd, 0, atol=1e-14)
    result = constrained_accelerations(of_model(ball)(q, qd), np.zeros(6), both.J(q), both.bias(q, qd))
    assert_allclose(result.lam, [m * 9.81 * np.cos(slope), -2 / 7 * m * 9.81 * np.sin(slope), 0], atol=1e-12)
    run = simulate(constrained(of_model(ball), both), q, qd, np.linspace(0, 0.2, 101), method="rk4")
    assert_allclose(run.q[:, 0], 2.0 * r * run.t + 5 / 7 * 9.81 * np.sin(slope) * run.t**2 / 2, atol=1e-8)
    assert_allclose(np.ptp(run.energy.total), 0, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_a_rolling_body_on_a_tree_does_not_move_at_its_lowest_point(seed, eps=1e-6):
    """J is that of the material point r below the centre; γ is the rate of J q̇ along the motion."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 4)
    q, qd, _ = random_state(model, rng)
    n, c, r = np.array([0, 0.6, 0.8]), rng.normal(size=3), 0.3
    across = np.array([[1.0, 0, 0], [0, 0.8, -0.6]])
    rolls = rolling(model, 3, c, r, n, across)
    lowest = c - r * poses(model, q)[3].R.T @ n
    assert_allclose(rolls.J(q), across @ point_jacobian(model, q, 3, lowest), atol=1e-13)
    ahead, behind = (rolls.J(model.integrate(q, qd, h)) @ qd for h in (eps, -eps))
    assert_allclose(rolls.bias(q, qd), (ahead - behind) / (2 * eps), atol=1e-7)


def test_a_skate_on_an_incline_draws_a_cycloid():
    """x along the fall line: x = g'/(2ω²) sin² ωt, y = g'/(2ω²) (ωt − ½ sin 2ωt); it never slides down."""
    s, sd, _ = coordinates("s", 3)
    g, w = 2.0, 1.5
    skate = nonholonomic(sd[0] * sympy.sin(s[2]) - sd[1] * sympy.cos(s[2]), s, sd)
    plate = of_lagrangian((sd[0]**2 + sd[1]**2 + sd[2]**2 / 2) / 2 + g * s[0], s, sd)
    assert not skate.holonomic.any() and np.all(skate.phi(np.ones(3)) == 0)
    t = np.linspace(0, 4, 9)
    run = simulate(constrained(plate, skate), np.zeros(3), [0, 0, w], t, **PRECISE)
    assert_allclose(run.q[:, 0], g / (2 * w**2) * np.sin(w * t)**2, atol=1e-8)
    assert_allclose(run.q[:, 1], g / (2 * w**2) * (w * t - np.sin(2 * w * t) / 2), atol=1e-8)


def test_a_bead_on_a_turning_wire_is_fed_by_the_wire():
    """Rheonomic: x sin ωt = y cos ωt. r = r₀ cosh ωt, and the ledger's constraint work is what the energy gains."""
    s, sd, _ = coordinates("s", 2)
    t, w = sympy.Symbol("t"), 2.0
    bead = of_lagrangian((sd[0]**2 + sd[1]**2) / 2, s, sd)
    wire = holonomic(s[0] * sympy.sin(w * t) - s[1] * sympy.cos(w * t), s, t)
    assert_allclose(wire.rate([1.0, 0], 0.0), [w], atol=1e-15)
    times = np.linspace(0, 1, 11)
    run = simulate(constrained(bead, wire), [1.0, 0.0], [0.0, w], times, **PRECISE)
    assert_allclose(np.linalg.norm(run.q, axis=1), np.cosh(w * times), atol=1e-9)
    assert_allclose(run.energy.constraint, run.energy.kinetic - run.energy.kinetic[0], atol=1e-9)
    assert run.energy.constraint[-1] > 1


def test_projection_keeps_the_constraint_and_the_energy():
    """A pendulum in x and y over five seconds: the gap grows, Baumgarte holds it down, projection takes it away."""
    s, sd, _ = coordinates("s", 2)
    mass, rod = of_lagrangian((sd[0]**2 + sd[1]**2) / 2 - 9.81 * s[1], s, sd), holonomic(s[0]**2 + s[1]**2 - 1, s)
    gaps, drifts = {}, {}
    for name, options in dict(none=dict(projected=False), baumgarte=dict(projected=False, alpha=10.0), projection={}).items():
        run = simulate(constrained(mass, rod, **options), [1.0, 0], [0.0, 0], np.linspace(0, 5, 501))
        gaps[name] = max(abs(rod.phi(q)[0]) for q in run.q)
        drifts[name] = np.ptp(run.energy.total)
    assert gaps["projection"] < 1e-11 < 1e-7 < gaps["baumgarte"] < gaps["none"] / 5
    assert drifts["projection"] < 1e-4


def test_projection_is_the_impact_that_closes_the_loop():
    """The new velocity differs by M⁻¹Jᵀ times an impulse, and no nearer one (by M) is allowed: kinetic energy falls."""
    model, loop = five_bar_example()
    q, qd = np.array(load("examples")["five_bar"]["cases"][0]["q"]), np.array([1.0, -2.0, 0.5, 3.0])
    M = of_model(model)(q, qd).M
    placed = project(loop, q, qd, M)
    J, change = loop.J(q), M @ (placed.qd - qd)
    assert placed.status == "solved"
    assert_allclose(J @ placed.qd, 0, atol=1e-13)
    assert_allclose(change, J.T @ np.linalg.lstsq(J.T, change, rcond=None)[0], atol=1e-12)
    assert qd @ M @ qd - placed.qd @ M @ placed.qd == pytest.approx((placed.qd - qd) @ M @ (placed.qd - qd), rel=1e-12)


# -- statuses ----------------------------------------------------------------------------------------------

def test_a_massless_direction_is_singular_unless_the_constraint_holds_it():
    """M = diag(1, 0): free along y there is no acceleration to find; with y held by a row there is."""
    form = form_of(np.diag([1.0, 0.0]), [0, 3.0])
    loose = constrained_accelerations(form, np.zeros(2), np.zeros((0, 2)), np.zeros(0))
    assert loose.status == "singular" and np.all(np.isfinite(loose.qdd))
    held = constrained_accelerations(form, [2.0, 0], [[0, 1.0]], [0.0])
    assert held.status == "solved" and held.lam[0] == pytest.approx(3) and held.qdd[0] == pytest.approx(2)


def test_rows_that_contradict_each_other_are_inconsistent():
    """ẍ = 1 and ẍ = 2 at once: the status says so, the acceleration is between, nothing is NaN."""
    result = constrained_accelerations(form_of(np.eye(2), np.zeros(2)), np.zeros(2), [[1.0, 0], [1, 0]], [-1.0, -2.0])
    assert result.status == "inconsistent" and result.qdd[0] == pytest.approx(1.5)
    assert np.all(np.isfinite(result.lam))


def test_without_constraints_the_tree_falls_freely():
    form = form_of(np.diag([2.0, 4.0]), [2.0, -4.0])
    result = constrained_accelerations(form, np.zeros(2), np.zeros((0, 2)), np.zeros(0))
    assert result.status == "solved" and result.rank == 0 and result.lam.shape == (0,)
    assert_allclose(result.qdd, [-1, 1], atol=1e-14)


def test_the_guess_chooses_the_branch():
    case = case_of("open_3_closed_loops_planar", "five_bar")
    model = model_of(case["model"])
    loop = loops_of(model, case["loops"])
    up, down = (np.array(state["q"]) for state in case["states"][:2])
    for target in (up, down):
        placed = assemble(loop, target + [0, 0.2, 0, -0.2], fixed=(0, 2))
        assert placed.status == "solved" and placed.violation < 1e-12
        assert_allclose(placed.q, target, atol=1e-10)


def test_parts_that_do_not_reach_are_not_assembled():
    """Two links of 0.25 and 0.3 m cannot touch a point 2 m away: the status says so, the gap is 1.45 m."""
    model, _ = five_bar_example()
    far = point_loop(model, 1, (0.3, 0, 0), GROUND, (2, 0, 0), XY)
    placed = assemble(far, np.array([0.3, 0.3, 0, 0]))
    assert placed.status == "none"
    assert np.linalg.norm(far.phi(placed.q)) == pytest.approx(2 - 0.55, abs=1e-6)
    assert project(far, placed.q).status == "none"


def test_a_motion_into_contradiction_is_an_error_with_its_place():
    x, y = sympy.symbols("x y")
    s, sd, _ = coordinates("s", 2)
    both = constrained(of_lagrangian((sd[0]**2 + sd[1]**2) / 2, s, sd), holonomic([x, x - y**2 / 2], [x, y]))
    with pytest.raises(np.linalg.LinAlgError, match=r"at q = \[0\., 0\.\].* leave the accelerations inconsistent"):
        both.accelerations([0.0, 0], [0.0, 1], np.zeros(2))


# -- errors ------------------------------------------------------------------------------------------------

def test_bad_input_is_refused_by_name():
    model, loop = slider_crank()
    form = of_model(model)(np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="a and b are both body 1; a loop joins two different bodies"):
        point_loop(model, "rod", (0, 0, 0), 1, (0, 0, 0))
    with pytest.raises(KeyError, match="no body is named 'knee'"):
        point_loop(model, "knee", (0, 0, 0), 1, (0, 0, 0))
    with pytest.raises(ValueError, match=r"axes has shape \(1, 2\)"):
        point_loop(model, 0, (0, 0, 0), 2, (0, 0, 0), [[1, 0]])
    with pytest.raises(ValueError, match=r"point_a has shape \(2,\)"):
        point_loop(model, 0, (0, 0), 2, (0, 0, 0))
    with pytest.raises(ValueError, match=r"J has shape \(2, 2\); wanted \(m, 3\)"):
        constrained_accelerations(form, np.zeros(3), np.ones((2, 2)), np.zeros(2))
    with pytest.raises(ValueError, match="gamma must be finite"):
        constrained_accelerations(form, np.zeros(3), np.ones((2, 3)), [0, np.nan])
    with pytest.raises(ValueError, match=r"tau has shape \(2,\)"):
        constrained_accelerations(form, np.zeros(2), np.ones((2, 3)), np.zeros(2))
    x, y, u = sympy.symbols("x y u")
    with pytest.raises(ValueError, match=r"the constraint holds \['y'\]"):
        holonomic(x**2 + y, [x])
    with pytest.raises(ValueError, match="psi is not linear"):
        nonholonomic(u**2 - x, [x], [u])
    with pytest.raises(ValueError, match="across the normal"):
        rolling(model, 0, (0, 0, 0), 0.1, (0, 1, 0), [[0, 1, 0]])
