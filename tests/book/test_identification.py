"""The labelled equations of the chapter on identification, each by an independent route."""

from dataclasses import replace

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.friction import coulomb
from lagrangebook.identify import FourierMotion, base_parameters, fit, pseudo_inertia, regressor
from lagrangebook.inertia import Inertia
from lagrangebook.mechanisms import puma560, two_link
from lagrangebook.standard_form import of_model


@pytest.fixture
def rng():
    return np.random.default_rng(17)


@equation("eq-identification-linear", r"\tau = Y(q, \dot q, \ddot q)\,\pi")
def test_torques_of_an_arm_with_friction_are_linear_in_its_parameters(rng):
    """By the recursion of a second arm: torques of the sum of two sets of parameters are the sum of torques."""
    for model in (two_link(), puma560()):
        friction = rng.uniform(0.1, 2, (2, model.n))
        pi = np.concatenate([*(b.inertia.parameters for b in model.bodies), *friction])
        for q, qd, qdd in rng.normal(size=(10, 3, model.n)):
            Y = regressor(model, q, qd, qdd, friction=True)
            law = coulomb(friction[1], friction[0])
            assert_allclose(Y @ pi, of_model(model, law).inverse(q, qd, qdd), rtol=1e-10, atol=1e-12)


@equation("eq-identification-base", r"Y = Y_b\,K, \qquad \pi_b = K\,\pi, \qquad \tau = Y_b\,\pi_b")
def test_torques_depend_on_the_base_parameters_alone(rng):
    """By two arms with other bodies and equal base parameters."""
    model = two_link()
    base = base_parameters(model)
    pi = np.concatenate([b.inertia.parameters for b in model.bodies])
    other = pi + (np.eye(20) - np.linalg.pinv(base.K) @ base.K) @ rng.normal(size=20)
    twin = replace(model, bodies=tuple(replace(b, inertia=_unchecked(p)) for b, p in zip(model.bodies, other.reshape(2, 10))))
    assert np.linalg.norm(other - pi) > 1
    for q, qd, qdd in rng.normal(size=(10, 3, 2)):
        Y = regressor(model, q, qd, qdd)
        assert_allclose(Y[:, list(base.kept)] @ base.K, Y, atol=1e-10)
        assert_allclose(of_model(twin).inverse(q, qd, qdd), of_model(model).inverse(q, qd, qdd), atol=1e-9)


def _unchecked(pi):
    """A body of these parameters, real or not; its mass is kept away from zero and below it."""
    if pi[0] <= 0:
        pytest.skip("this draw has a body without mass")
    return Inertia.from_parameters(pi)


@equation("eq-identification-fourier", r"q(t) = q_0 + \sum_{k=1}^{H} a_k \sin k\omega t + b_k \cos k\omega t")
def test_the_series_has_the_derivatives_that_it_claims(rng):
    """By central differences of the series written out."""
    q0, a, b, omega = rng.normal(size=2), rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), 1.3
    motion, eps, times = FourierMotion(q0, a, b, omega), 1e-4, rng.uniform(0, 5, 10)

    def q(t):
        return q0 + sum(a[k - 1] * np.sin(k * omega * t) + b[k - 1] * np.cos(k * omega * t) for k in (1, 2, 3))

    for t, position, velocity, acceleration in zip(times, *motion(times)):
        assert_allclose(position, q(t), rtol=1e-12)
        assert_allclose(velocity, (q(t + eps) - q(t - eps)) / (2 * eps), atol=1e-5)
        assert_allclose(acceleration, (q(t + eps) - 2 * q(t) + q(t - eps)) / eps**2, atol=1e-4)


@equation("eq-identification-fit", r"\hat\pi_b = (A^T A)^{-1} A^T b, \qquad \mathrm{cov}\,\hat\pi_b = (A^T A)^{-1}")
def test_the_claimed_errors_are_those_of_repeated_measurements(rng):
    """By four hundred simulated records."""
    Y, truth, sigma = rng.normal(size=(30, 2, 4)), rng.normal(size=4), np.array([0.5, 0.1])
    found = [fit(Y, Y @ truth + sigma * rng.normal(size=(30, 2)), sigma) for _ in range(400)]
    spread = np.std([f.pi for f in found], axis=0)
    assert_allclose(spread, found[0].errors, rtol=0.15)
    assert_allclose(np.mean([f.pi for f in found], axis=0), truth, atol=4 * np.max(found[0].errors) / 20)


@equation("eq-identification-pseudo", r"""P = \begin{bmatrix} \Sigma & m\,c \\ m\,c^T & m \end{bmatrix},
          \qquad \Sigma = \tfrac12\,\mathrm{tr}(I)\,1 - I""")
def test_the_pseudo_inertia_is_the_integral_over_the_mass(rng):
    """By a cloud of point masses."""
    for _ in range(10):
        masses, points = rng.uniform(0.1, 1, 7), rng.normal(size=(7, 3))
        I = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points))
        pi = np.array([masses.sum(), *(masses @ points), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])
        lifted = np.column_stack([points, np.ones(7)])
        assert_allclose(pseudo_inertia(pi), lifted.T @ (masses[:, None] * lifted), atol=1e-12)
        assert np.linalg.eigvalsh(pseudo_inertia(pi))[0] > 0
