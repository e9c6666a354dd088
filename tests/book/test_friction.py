"""The labelled equations of the chapter on friction, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.friction import coulomb, smooth, stribeck, through_gear, viscous
from reference import load


@pytest.fixture
def rng():
    return np.random.default_rng(14)


@equation("eq-friction-coulomb", r"F = F_v\,\dot q + F_c\,\mathrm{sign}(\dot q)")
def test_coulomb_and_viscous_friction_add(rng):
    for v, Fv, Fc in zip(rng.normal(size=20), rng.uniform(0, 2, 20), rng.uniform(0, 2, 20)):
        assert_allclose(coulomb(Fc, Fv)(np.array([v])), viscous(Fv)(np.array([v])) + (Fc if v > 0 else -Fc), rtol=1e-13)


@equation("eq-friction-stribeck",
          r"F = \left(F_c + (F_s - F_c)\,e^{-|\dot q/v_s|^{\delta}}\right)\mathrm{sign}(\dot q) + F_v\,\dot q")
def test_the_stribeck_law_of_the_examples():
    case = load("examples")["stribeck"]
    p = case["parameters"]
    law = stribeck(p["Fc"], p["Fs"], p["vs"], p["Fv"])
    for sample in case["samples"]:
        assert_allclose(law(np.array([sample["v"], -sample["v"]])), [sample["F"], -sample["F"]], rtol=1e-12)


@equation("eq-friction-tanh", r"F = F_c \tanh(\dot q / v_0)")
def test_the_smooth_law_has_the_level_and_the_slope_of_a_tanh(rng):
    for Fc, v0 in rng.uniform(0.1, 2, (10, 2)):
        law = smooth(coulomb(Fc), v0)
        assert_allclose(law(np.array([100 * v0])), Fc, rtol=1e-12)
        assert_allclose(law(np.array([1e-8 * v0])) / (1e-8 * v0), Fc / v0, rtol=1e-6)
        double = 2 * law(np.array([v0])) / (1 + (law(np.array([v0])) / Fc)**2)      # tanh 2x = 2 tanh x / (1 + tanh² x)
        assert_allclose(law(np.array([2 * v0])), double, rtol=1e-12)


@equation("eq-friction-creep", r"\dot q = v_0\,\mathrm{artanh}(P / F_c)")
def test_at_the_creep_speed_a_smooth_law_carries_the_load(rng):
    for Fc, v0, share in rng.uniform(0.05, 0.95, (10, 3)):
        speed = v0 * np.log((1 + share) / (1 - share)) / 2
        assert_allclose(smooth(coulomb(Fc), v0)(np.array([speed])), share * Fc, rtol=1e-12)


@equation("eq-friction-stop", r"t_{\mathrm{stop}} = \frac{m}{F_v}\ln\left(1 + \frac{F_v\,\dot q_0}{F_c}\right)")
def test_the_stop_time_is_the_integral_of_the_deceleration():
    from scipy.integrate import quad
    case = next(c for c in load("open_6_standard_form")["cases"] if c["id"] == "mass_coulomb_viscous_stop")
    m, b, fc, v0 = (case["params"][k] for k in ("m", "b", "fc", "v0"))
    time = quad(lambda v: m / (fc + b * v), 0, v0)[0]
    assert_allclose([m / b * np.log(1 + b * v0 / fc), time], case["stop_time"], rtol=1e-10)


@equation("eq-friction-gear", r"F(\dot q) = N\,F_m(N\dot q)")
def test_a_gear_passes_power_unchanged(rng):
    for v, N in rng.normal(0, 30, (20, 2)):
        law = coulomb(0.1, 0.002)
        assert_allclose(through_gear(law, N)(np.array([v])) * v, law(np.array([N * v])) * (N * v), rtol=1e-12)


@equation("eq-friction-current", r"i = \frac{\tau + F + N^2 I_r\,\ddot q}{N\,k_t\,\eta}")
def test_the_current_balances_power_through_the_gear(rng):
    """Motor power k_t i ω_m, times the efficiency, is what load, friction and rotor take at the joint."""
    for tau, F, I_r, qdd, qd in rng.uniform(0.1, 2, (10, 5)):
        N, k_t, eta = 50.0, 0.07, 0.8
        i = (tau + F + N**2 * I_r * qdd) / (N * k_t * eta)
        assert_allclose(k_t * i * (N * qd) * eta, (tau + F) * qd + I_r * (N * qdd) * (N * qd), rtol=1e-12)
