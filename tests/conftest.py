"""Seeded random models and states that the tests of the package share."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from random_models import random_state, random_tree  # noqa: E402


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(params=range(4), ids=lambda seed: f"seed{seed}")
def tree(request):
    """Random trees of seven one-axis joints: revolute and prismatic, oblique axes, not depth-first."""
    return random_tree(np.random.default_rng(request.param), 7, kinds=("revolute", "prismatic"))


@pytest.fixture
def state(tree, rng):
    """(q, qd, qdd) of the tree."""
    return random_state(tree, rng)
