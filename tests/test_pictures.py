"""Pictures draw what the model says: places, senses, and the same bytes every time."""

import io

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose

matplotlib.use("agg")

from lagrangebook import draw  # noqa: E402
from lagrangebook.kinematics import point  # noqa: E402
from lagrangebook.mechanisms import biped, pendulum, rp_arm, stance_leg, two_link  # noqa: E402
from lagrangebook.simulate import simulate  # noqa: E402
from lagrangebook.standard_form import of_model  # noqa: E402


@pytest.fixture
def ax():
    fig, ax = draw.figure()
    yield ax
    draw.plt.close(fig)


def test_links_end_where_kinematics_says(ax):
    q = [0.3, 0.7]
    draw.mechanism(ax, two_link(), q)
    ends = [np.column_stack(line.get_data()) for line in ax.lines]
    elbow, tip = (point(two_link(), q, 1, r)[:2] for r in ((0, 0, 0), (0.4, 0, 0)))
    assert any(line.shape == (2, 2) and np.allclose(line, [[0, 0], elbow]) for line in ends)
    assert any(line.shape == (2, 2) and np.allclose(line, [elbow, tip]) for line in ends)
    assert ax.get_xlabel() == "x [m]" and ax.get_ylabel() == "y [m]"


def test_a_positive_angle_is_drawn_counter_clockwise(ax):
    (arc, *_) = draw.angle_mark(ax, (0, 0), 1.0, 1.0)
    x, y = arc.get_data()
    assert np.all(x[:-1] * np.diff(y) - y[:-1] * np.diff(x) > 0)
    (arc, *_) = draw.angle_mark(ax, (0, 0), 1.0, -1.0)
    x, y = arc.get_data()
    assert np.all(x[:-1] * np.diff(y) - y[:-1] * np.diff(x) < 0)


@pytest.mark.parametrize("model, labels", [(rp_arm(), {"+$q_{1}$", "+$q_{2}$"}), (stance_leg(), {"+$q_{1}$", "+$q_{2}$", "+$q_{3}$"})])
def test_every_positive_coordinate_is_named(ax, model, labels):
    draw.mechanism(ax, model, np.full(model.nq, 0.4))
    assert labels <= {text.get_text() for text in ax.texts}


def test_falling_along_z_is_drawn_from_the_side(ax):
    assert draw.plane(stance_leg()) == (0, 2) and draw.plane(two_link()) == (0, 1)
    draw.mechanism(ax, biped(), biped().zero, labels=False)
    assert ax.get_ylabel() == "z [m]"


def test_energies_show_the_ledger_and_leave_out_what_is_zero(ax):
    run = simulate(of_model(pendulum(1)), [0.5], [0.0], np.linspace(0, 0.5, 51))
    total = {line.get_label(): line for line in draw.energies(ax, run)}
    assert set(total) == {"kinetic", "potential", "total"}
    assert_allclose(total["total"].get_ydata(), run.energy.kinetic + run.energy.potential)
    draw.phase_portrait(ax, run)
    assert ax.get_xlabel() == "$q_{1}$ [rad]"


def test_a_player_waits_fetches_nothing_and_is_the_same_every_time():
    run = simulate(of_model(pendulum(1)), [0.5], [0.0], np.linspace(0, 0.5, 51))
    first, second = (draw.animate(pendulum(1), run, frames=4).data for _ in range(2))
    assert first == second
    assert not any(part in first for part in ("http://", "https://"))


def test_a_figure_is_the_same_to_the_byte():
    def picture():
        fig, ax = draw.figure()
        draw.mechanism(ax, two_link(), [0.3, 0.7])
        out = io.BytesIO()
        fig.savefig(out, format="svg", metadata={"Date": None})
        draw.plt.close(fig)
        return out.getvalue()
    assert picture() == picture()
