"""Inertia against its definition, sums over clouds of points, and against published frame changes and solids."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose
from reference import assert_close, load

from lagrangebook.inertia import Inertia, box, cylinder, point_mass, rod, sphere
from lagrangebook.spatial import Pose, exp_so3

CASES = {case["id"]: case for case in load("open_7_inertia")["cases"]}


@pytest.fixture
def cloud(rng):
    """(masses, points): thirty point masses, welded together."""
    return rng.uniform(0.1, 1, 30), rng.normal(0.3, 0.4, (30, 3))


def moment_about(origin, masses, points):
    """∫ (r·r 1 − r rᵀ) dm by its definition, r from `origin`."""
    return sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points - origin))


def body_of(masses, points):
    com = masses @ points / masses.sum()
    return Inertia(masses.sum(), com, moment_about(com, masses, points))


def same_body(a, b, tol=1e-12):
    assert_close(a.parameters, b.parameters, tol)


# -- the definition ----------------------------------------------------------------------------------------

def test_the_moment_about_the_origin_is_the_sum_over_the_points(cloud):
    assert_allclose(body_of(*cloud).about_origin, moment_about(np.zeros(3), *cloud), atol=1e-12)


def test_the_ten_parameters_are_sums_over_the_points(cloud):
    masses, points = cloud
    I = moment_about(np.zeros(3), *cloud)
    expected = [masses.sum(), *(masses @ points), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
    assert_allclose(body_of(*cloud).parameters, expected, atol=1e-12)


def test_the_kinetic_energy_is_that_of_the_points(cloud, rng):
    v = rng.normal(size=6)
    energy = sum(m * np.sum((v[3:] + np.cross(v[:3], r))**2) / 2 for m, r in zip(*cloud))
    assert_allclose(v @ body_of(*cloud).matrix @ v / 2, energy, rtol=1e-12)


def test_the_momentum_is_that_of_the_points_about_the_origin(cloud, rng):
    v = rng.normal(size=6)
    p = [m * (v[3:] + np.cross(v[:3], r)) for m, r in zip(*cloud)]
    assert_allclose(body_of(*cloud).matrix @ v,
                    [*np.sum(np.cross(cloud[1], p), axis=0), *np.sum(p, axis=0)], atol=1e-12)


def test_a_body_seen_from_another_frame_is_the_moved_cloud(cloud, rng):
    pose = Pose(exp_so3(rng.normal(size=3)), rng.normal(size=3))
    masses, points = cloud
    same_body(body_of(*cloud).moved(pose), body_of(masses, points @ pose.R.T + pose.p))


def test_the_kinetic_energy_does_not_know_in_which_frame_it_is_written(cloud, rng):
    pose, v = Pose(exp_so3(rng.normal(size=3)), rng.normal(size=3)), rng.normal(size=6)
    body = body_of(*cloud)
    assert_allclose((pose.X @ v) @ body.matrix @ (pose.X @ v), v @ body.moved(pose).matrix @ v, rtol=1e-12)


def test_two_bodies_welded_together_are_the_union_of_their_points(cloud):
    masses, points = cloud
    same_body(body_of(masses[:11], points[:11]) + body_of(masses[11:], points[11:]), body_of(*cloud))


def test_the_parameters_give_the_body_back(cloud):
    body = body_of(*cloud)
    back = Inertia.from_parameters(body.parameters)
    assert_allclose([back.mass, *back.com], [body.mass, *body.com], atol=1e-12)
    assert_allclose(back.about_com, body.about_com, atol=1e-12)


def test_a_body_without_mass_keeps_its_tensor_and_has_no_first_moment():
    assert Inertia.from_parameters([0, 0, 0, 0, 0, 0, 0.35, 0, 0, 0]).about_com[1, 1] == 0.35
    with pytest.raises(ValueError, match="pi has no mass but the first moment"):
        Inertia.from_parameters([0, 0.1, 0, 0, 1, 0, 1, 0, 0, 1])


# -- published numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize("case", CASES["single_body_transforms"]["cases"], ids=lambda case: f"m={case['mass']}")
def test_frame_changes_of_the_reference(case):
    body = Inertia(case["mass"], case["com"], case["inertia_com"])
    assert_close(body.about_origin, case["inertia_about_origin"])
    assert_close(body.moved(Pose(p=-np.array(case["point"]))).about_origin, case["inertia_about_point"])
    assert_close(body.parameters, case["params10"])
    moved = body.moved(Pose(np.array(case["R"]), np.array(case["t"])))
    assert_close(moved.com, case["com_in_new_frame"])
    assert_close(moved.about_com, case["inertia_com_in_new_frame"])
    assert_close(moved.parameters, case["params10_new_frame"])
    angular_first = np.ix_([3, 4, 5, 0, 1, 2], [3, 4, 5, 0, 1, 2])
    assert_close(body.matrix, np.array(case["spatial_inertia_linear_first"])[angular_first])
    assert_close(np.linalg.eigvalsh(body.about_com), case["principal_moments"])
    v = np.concatenate([case["velocity"]["omega"], case["velocity"]["v_origin"]])
    assert_close(v @ body.matrix @ v / 2, case["kinetic_energy"])


@pytest.mark.parametrize("case", CASES["composite_bodies"]["cases"], ids=lambda case: f"m={case['mass']}")
def test_composite_bodies_of_the_reference(case):
    parts = [Inertia(part["mass"], part["com"], part["inertia"]).moved(Pose(np.array(part["R"]), np.array(part["t"])))
             for part in case["parts"]]
    whole = sum(parts[1:], parts[0])
    assert_close(whole.com, case["com"])
    assert_close(whole.about_com, case["inertia_com"])
    assert_close(whole.about_origin, case["inertia_origin"])


def test_box_cylinder_and_ball_of_the_reference():
    solids = {case["solid"].split(" ")[0]: case for case in CASES["solids"]["cases"]}
    for name, make in (("box", lambda m, p: box(m, p["a"], p["b"], p["c"])),
                       ("cylinder", lambda m, p: cylinder(m, p["R"], p["h"])),
                       ("sphere", lambda m, p: sphere(m, p["R"]))):
        case = solids[name]
        body = make(case["mass"], case["params"])
        assert_close(body.about_com, np.diag(case["inertia_com_diag"]))
        assert_close(body.com, case["com"])


@pytest.mark.parametrize("case", CASES["physical_consistency"]["cases"], ids=lambda case: case["name"])
def test_which_bodies_can_exist(case):
    try:
        physical = Inertia(case["mass"], case["com"], case["inertia"]).is_physical
    except ValueError:          # negative mass or an unsymmetric tensor: refused at once
        physical = False
    assert physical == case["consistent"]


# -- closed forms ------------------------------------------------------------------------------------------

def test_a_rod_turns_about_its_end_with_a_third_of_m_l_squared(rng):
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    body = rod(2.0, 0.6, axis)
    across = np.linalg.svd(axis[None])[2][1:]
    assert_allclose(across @ body.about_origin @ across.T, 2.0 * 0.6**2 / 3 * np.eye(2), atol=1e-15)
    assert_allclose(axis @ body.about_origin @ axis, 0, atol=1e-15)


def test_a_box_is_eight_boxes_of_half_the_size():
    whole, part = box(8.0, 0.2, 0.6, 1.0), box(1.0, 0.1, 0.3, 0.5)
    parts = [part.moved(Pose(p=np.array([x, y, z]))) for x in (-0.05, 0.05) for y in (-0.15, 0.15) for z in (-0.25, 0.25)]
    same_body(sum(parts[1:], parts[0]), whole)


def test_a_thin_disc_keeps_the_perpendicular_axes_theorem():
    moments = np.diag(cylinder(3.0, 0.4, 0.0).about_com)
    assert_allclose(moments[0] + moments[1], moments[2], rtol=1e-15)
    assert_allclose(moments[2], 3.0 * 0.4**2 / 2, rtol=1e-15)


def test_symbols_pass_and_mean_the_same():
    m, x, J = sympy.symbols("m x J", positive=True)
    body = Inertia(m, [x, 0, 0], np.diag([0, J, J]))
    assert body.about_origin[2, 2] == J + m * x**2 and body.about_origin[0, 0] == 0
    back = Inertia.from_parameters(body.parameters)
    assert all(sympy.simplify(entry) == 0 for entry in (back.about_com - body.about_com).ravel())
    welded = point_mass(m, (x, 0, 0)) + point_mass(m, (-x, 0, 0))
    assert sympy.simplify(welded.about_com[1, 1] - 2 * m * x**2) == 0
