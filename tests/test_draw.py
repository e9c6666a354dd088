"""Pictures: they show where the mechanism is and which way it moves, in colours that can be told apart."""

import itertools
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose

matplotlib.use("agg")

from lagrangebook import draw, mechanisms
from lagrangebook.friction import viscous
from lagrangebook.kinematics import point
from lagrangebook.model import GROUND, Body, Joint, Model
from lagrangebook.inertia import point_mass
from lagrangebook.simulate import simulate
from lagrangebook.spatial import Pose
from lagrangebook.standard_form import of_model

TREES = [mechanisms.vertical_mass(), mechanisms.rp_arm(), mechanisms.two_link(), mechanisms.pendulum(3),
         mechanisms.cart_pole(), mechanisms.five_bar().model, mechanisms.slider_crank().model,
         mechanisms.andrews().model, mechanisms.puma560(), mechanisms.ur6(), mechanisms.arm7(),
         mechanisms.stance_leg(), mechanisms.biped(), mechanisms.table().model]


@pytest.fixture
def ax():
    fig, ax = draw.figure()
    yield ax
    draw.plt.close(fig)


@pytest.fixture(scope="module")
def swing():
    arm = mechanisms.two_link()
    rubbing = of_model(arm, friction=viscous([0.6, 0.3]))
    return arm, simulate(rubbing, [0.3, 0.2], [0, 0], np.linspace(0, 1, 101))


def texts(artists):
    return [artist.get_text() for artist in artists if hasattr(artist, "get_text") and artist.get_text()]


# -- the colours -----------------------------------------------------------------------------------------

def linear(colour):
    """Linear RGB of a colour (sRGB, IEC 61966-2-1)."""
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)**2.4)


def contrast(one, other):
    """The contrast ratio of WCAG 2."""
    low, high = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("page", ["#ffffff", "#121212", "#14181e"])
def test_every_colour_stands_out_on_light_and_dark_pages(page):
    assert min(contrast(colour, page) for colour in draw.PALETTE) >= 3


def lab(rgb):
    """CIE L*a*b* of linear RGB, white of D65."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
    f = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# severity 1.0 in Machado, Oliveira and Fernandes (2009), A physiologically-based model for simulation of
# colour vision deficiency
SIGHT = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]]}


@pytest.mark.parametrize("sight", SIGHT)
def test_the_first_colours_can_be_told_apart_by_everybody(sight):
    seen = [lab(np.clip(np.array(SIGHT[sight]) @ linear(colour), 0, 1)) for colour in draw.PALETTE[:4]]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 15


# -- the file --------------------------------------------------------------------------------------------

DRAWING = """
import io, sys
from lagrangebook import draw
from lagrangebook.mechanisms import two_link
fig, ax = draw.figure()
draw.mechanism(ax, two_link(), [0.3, 0.7])
file = io.BytesIO()
fig.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
sys.stdout.buffer.write(file.getvalue())
"""


def test_a_picture_is_the_same_to_the_byte_in_another_process_and_transparent():
    one, other = (subprocess.run([sys.executable, "-c", DRAWING], capture_output=True, check=True).stdout
                  for _ in range(2))
    assert one == other and b"<svg" in one
    assert b"fill: #ffffff" not in one and b"<image" not in one


# -- the mechanism ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("model", TREES, ids=lambda model: model.name)
def test_the_whole_cast_can_be_drawn(ax, model):
    q = np.concatenate([body.joint.zero + (0.1 if body.joint.nq == 1 else 0) for body in model.bodies])
    assert len(draw.mechanism(ax, model, q)) > model.N
    ax.figure.canvas.draw()
    assert np.all(np.isfinite([ax.get_xlim(), ax.get_ylim()]))


def test_the_links_of_a_two_link_arm_are_drawn_where_it_is():
    q = np.array([0.3, 0.7])
    elbow = 0.5 * np.array([np.cos(q[0]), np.sin(q[0]), 0])
    tip = elbow + 0.4 * np.array([np.cos(q.sum()), np.sin(q.sum()), 0])
    lines = draw.skeleton(mechanisms.two_link(), q)
    assert_allclose(lines[0], [[[0, 0, 0], elbow]], atol=1e-15)
    assert_allclose(lines[1], [[elbow, tip]], atol=1e-15)


def test_a_picture_has_metres_on_both_axes_and_shows_what_falls_along_z_from_the_side(ax):
    draw.mechanism(ax, mechanisms.two_link(), [0.3, 0.7])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "y [m]")
    draw.mechanism(ax, mechanisms.biped(), mechanisms.biped().zero, labels=False)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "z [m]")


def test_a_pendulum_ends_at_its_bob_and_hangs_from_a_ceiling(ax):
    lines = draw.skeleton(mechanisms.pendulum(2), [0, 0])
    assert_allclose(lines[1][0][1], [0, -2, 0])
    before = len(ax.lines)
    draw.mechanism(ax, mechanisms.pendulum(1), [0.2])
    hatch = [line for line in ax.lines[before:] if line.get_color() == draw.GREY]
    assert hatch and min(np.min(line.get_ydata()) for line in hatch) > 0


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1)])
@pytest.mark.parametrize("gravity", [(0, -9.81, 0), (0, 0, -9.81)])
def test_the_arc_of_plus_q_turns_the_way_the_link_turns(ax, axis, gravity):
    """The arc against the motion itself: q grows a little, and a point of the link moves."""
    axis = axis if gravity[1] else (0, axis[2], 0)
    link = Body("link", GROUND, Joint("revolute", axis), Pose(), point_mass(1.0, (1.0, 0, 0)))
    model = Model((link,), gravity)
    a, b = draw.plane(model)
    moves = (point(model, [1e-3], 0, (1, 0, 0)) - point(model, [0.0], 0, (1, 0, 0)))[b]
    arc = next(line for line in draw.mechanism(ax, model, [0.0])
               if getattr(line, "get_color", str)() == draw.GREEN)
    x, y = arc.get_data()
    assert np.sign(x[0] * y[1] - y[0] * x[1]) == np.sign(moves)


def test_the_arrow_of_a_slide_points_where_it_slides(ax):
    model, q = mechanisms.rp_arm(), np.array([0.6, 0.8])
    moves = (point(model, q + [0, 1e-3], 1, (0, 0, 0)) - point(model, q, 1, (0, 0, 0)))[:2]
    drawn = [artist for artist in draw.mechanism(ax, model, q)
             if getattr(artist, "arrow_patch", None) and not artist.get_text()]
    along = np.array(drawn[-1].xy) - drawn[-1].xyann
    assert_allclose(along / np.linalg.norm(along), moves / np.linalg.norm(moves), atol=1e-9)


def test_every_joint_with_one_axis_is_named_once(ax):
    names = texts(draw.mechanism(ax, mechanisms.puma560(), np.full(6, 0.2)))
    assert sorted(names) == ["$g$"] + [f"+$q_{{{i}}}$" for i in range(1, 7)]


def test_gravity_is_marked_downward_and_only_where_it_acts(ax):
    (mark,) = draw.gravity_mark(ax, mechanisms.two_link())
    assert mark.get_text() == "$g$" and mark.xyann[1] > 0 == mark.xyann[0]   # its name above, its head below
    assert draw.gravity_mark(ax, mechanisms.two_link(g=0.0)) == []


# -- motion ----------------------------------------------------------------------------------------------

def test_the_ledger_on_paper_is_the_ledger_of_the_trajectory(ax, swing):
    curves = {line.get_label(): line.get_ydata() for line in draw.energies(ax, swing[1])}
    assert set(curves) == {"kinetic", "potential", "total", "friction"}
    assert_allclose(curves["kinetic"] + curves["potential"], curves["total"], atol=1e-12)
    assert_allclose(curves["total"] - curves["total"][0], curves["friction"], atol=1e-4)
    assert curves["friction"][-1] < -0.1


def test_a_ledger_without_friction_and_drive_has_no_curve_for_them(ax):
    path = simulate(of_model(mechanisms.pendulum()), [0.5], [0.0], np.linspace(0, 0.5, 51))
    assert [line.get_label() for line in draw.energies(ax, path)] == ["kinetic", "potential", "total"]


def test_a_phase_portrait_of_a_pendulum_without_friction_closes_on_itself(ax):
    period = 2 * np.pi / np.sqrt(9.81)                  # of small swings; 1e-3 rad changes it by 6e-8
    path = simulate(of_model(mechanisms.pendulum()), [1e-3], [0], np.linspace(0, period, 201))
    line, start = draw.phase_portrait(ax, path)
    assert_allclose(line.get_xydata()[-1], line.get_xydata()[0], atol=1e-8)
    assert_allclose(start.get_xydata()[0], [1e-3, 0])
    assert ax.get_xlabel() == "$q_{1}$ [rad]"


def test_a_still_shows_its_first_and_last_instant(ax, swing):
    arm, path = swing
    draw.still(ax, arm, path, frames=4)
    drawn = np.concatenate([line.get_xydata() for line in ax.lines if len(line.get_xydata()) == 2])
    for q in (path.q[0], path.q[-1]):
        tip = point(arm, q, 1, (0.4, 0, 0))[:2]
        assert np.min(np.linalg.norm(drawn - tip, axis=1)) < 1e-12


def test_a_player_stays_below_two_hundred_kilobytes(swing):
    assert len(draw.animate(*swing).data.encode()) < 200_000


def test_a_player_fetches_nothing_and_is_the_same_every_time(swing):
    first, second = (draw.animate(*swing, frames=4).data for _ in range(2))
    assert first == second and "http://" not in first and "https://" not in first
