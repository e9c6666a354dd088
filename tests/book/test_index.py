"""The two equations of the landing page, from conserved momentum and from a free flight."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.mechanisms import rp_arm
from lagrangebook.newton_euler import rnea
from reference import load


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@equation("eq-index-torque", r"\tau_1 = 2\, m_2\, d\, \dot d\, \dot\theta")
def test_the_torque_is_the_rate_of_angular_momentum(rng, eps=1e-6):
    for d, dd, thetad in rng.uniform(0.3, 1.5, (10, 3)):
        momentum = lambda t, d=d, dd=dd, thetad=thetad: 1.5 * (d + dd * t)**2 * thetad      # the rest of A(d) is constant
        rate = (momentum(eps) - momentum(-eps)) / (2 * eps)
        assert_allclose(2 * 1.5 * d * dd * thetad, rate, rtol=1e-8)
        assert_allclose(rnea(rp_arm(g=0.0), [0.6, d], [thetad, dd], [0, 0])[0], rate, rtol=1e-8)


@equation("eq-index-force", r"F_2 = -m_2\, d\, \dot\theta^2")
def test_the_force_bends_the_path_of_the_slider(rng, eps=1e-4):
    for d, thetad in rng.uniform(0.3, 1.5, (10, 2)):
        path = lambda t, d=d, thetad=thetad: d * np.array([np.cos(thetad * t), np.sin(thetad * t)])
        inward = 1.5 * ((path(eps) - 2 * path(0) + path(-eps)) / eps**2)[0]
        assert_allclose(-1.5 * d * thetad**2, inward, rtol=1e-5)
        assert_allclose(rnea(rp_arm(g=0.0), [0.6, d], [thetad, 0], [0, 0])[1], inward, rtol=1e-5)


def test_the_table_of_the_landing_page_is_the_published_one():
    table = load("examples")["four_legged_table"]
    least = np.linalg.pinv(np.array(table["equilibrium_matrix"])) @ table["right_side"]
    assert_allclose(least, table["minimum_norm_forces"], rtol=1e-12)
    assert_allclose(table["s_interval_f0_plus_s_null"], [-least[2], least[1]], rtol=1e-12)
