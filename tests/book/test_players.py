"""Animations in the page: the same on every run, one name each, complete without another host."""

import re

import numpy as np
import pytest

from lagrangebook import draw
from lagrangebook.mechanisms import two_link
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import of_model


@pytest.fixture(scope="module")
def swing():
    arm = two_link()
    return arm, simulate(of_model(arm), [0.3, 0.2], [0, 0], np.linspace(0, 1, 101))


def names(player):
    return set(re.findall(r'\bid="([^"]+)"', player))


def test_a_player_is_the_same_on_every_run(swing):
    assert draw.animate(*swing, frames=3).data == draw.animate(*swing, frames=3).data


def test_two_players_of_one_page_have_names_of_their_own(swing):
    one, other = (names(draw.animate(*swing, frames=frames).data) for frames in (3, 4))
    assert len(one) == len(other) == 5 and not one & other


def test_a_player_fetches_nothing_and_says_what_it_shows(swing):
    player = draw.animate(*swing, frames=3).data
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?https?:", player)
    assert re.findall(r"<img alt=\"[^\"]+\"", player)
    assert all(label.strip() for label in re.findall(r"<button[^>]*>(.*?)</button>", player, re.S))
