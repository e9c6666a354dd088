"""Figures that answer: JavaScript and Python compute the same, the package agrees, checks notice slips."""

import json
import re
import shutil
import subprocess
import sys
from functools import lru_cache

import numpy as np
import pytest
from book_browser import CHROMIUM, browser  # noqa: F401  (a fixture)
from book_pages import ROOT, markdown, notebooks
from numpy.testing import assert_allclose

sys.path.append(str(ROOT / "book" / "_ext"))

from figures import FIGURES  # noqa: E402
from figures.expressions import callable_of, functions  # noqa: E402
from figures.picture import CURVE_POINTS, Evaluated  # noqa: E402
from figures.write import page, script  # noqa: E402

from lagrangebook import mechanisms  # noqa: E402
from lagrangebook.constraints import assemble, constrained_accelerations, delassus  # noqa: E402
from lagrangebook.contact import solve_contact  # noqa: E402
from lagrangebook.forward import aba  # noqa: E402
from lagrangebook.friction import stribeck  # noqa: E402
from lagrangebook.kinematics import kinetic_energy, point_jacobian  # noqa: E402
from lagrangebook.lcp import lemke  # noqa: E402
from lagrangebook.mass_matrix import crba  # noqa: E402
from lagrangebook.newton_euler import rnea  # noqa: E402
from lagrangebook.standard_form import of_model  # noqa: E402

LIBRARY = ROOT / "book" / "_static" / "figures.js"
NODE = shutil.which("node") or shutil.which("nodejs")
EVERY = pytest.mark.parametrize("name", FIGURES)

HARNESS = """
function answers(asked) {
  const { figure, code } = liveFigures.all[asked.name];
  const all = (kind, extra) => (code[kind] || []).map((f) => asked.states.map((p) => f(p)(...extra)));
  const values = asked.states.map((p) => code.values[0](p)());
  const some = figure.motion ? asked.states.slice(0, 5) : [], start = figure.start;
  return { values, curves: all("curves", [asked.extra[0]]), drags: all("drags", asked.extra),
           motion: all("motion", []), moved: some.map((p) => liveFigures.travelled(figure, code, p)),
           panels: liveFigures.pictures(asked.name, figure, code, start, code.values[0](start)()).panels };
}
"""


@lru_cache(maxsize=None)
def figure(name):
    return FIGURES[name]()


@lru_cache(maxsize=None)
def evaluated(name):
    return Evaluated(figure(name))


def at(name, *p):
    """The figure `name` at parameters and switches p."""
    return evaluated(name).at(list(p))


def states(name, count=100, switches=False):
    """Random parameters within their ranges; switches off unless wanted."""
    rng, parts = np.random.default_rng(5), figure(name).parameters
    low, high = np.array([p.low for p in parts]), np.array([p.high for p in parts])
    n = len(figure(name).switches)
    return [
        [*rng.uniform(low, high), *(rng.integers(0, 2, n) if switches else np.zeros(n))] for _ in range(count)
    ]


@lru_cache(maxsize=None)
def in_javascript(name):
    """What the generated script answers at random states, in Node or in Chromium."""
    asked = json.dumps(
        {
            "name": name,
            "states": [list(map(float, p)) for p in states(name, switches=True)],
            "extra": [0.31, 0.17],
        }
    )
    text = "\n".join((LIBRARY.read_text(encoding="utf8"), script(name, figure(name)), HARNESS))
    if NODE:
        text += f"process.stdout.write(JSON.stringify(answers({asked})));"
        return json.loads(
            subprocess.run(
                [NODE], input=text, capture_output=True, text=True, encoding="utf8", check=True
            ).stdout
        )
    if not CHROMIUM:
        pytest.skip("neither Node nor Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.add_script_tag(content=text)
        found = tab.evaluate(f"answers({asked})")
        browser.close()
    return found


# -- JavaScript and Python -----------------------------------------------------------------------------------


@EVERY
def test_javascript_computes_what_python_computes_at_random_states(name):
    found, extra = in_javascript(name), {"curves": (0.31,), "drags": (0.31, 0.17)}
    for kind, parts in functions(figure(name)).items():
        if kind == "paths":
            continue
        for k, part in enumerate(parts):
            f = callable_of(figure(name), *part)
            expected = [f(p)(*extra.get(kind, ())) for p in states(name, switches=True)]
            seen = found["values"] if kind == "values" else found[kind][k]
            assert np.all(np.isfinite(expected))
            assert_allclose(np.array(seen, dtype=float), expected, rtol=1e-9, atol=1e-9, err_msg=kind)


@EVERY
def test_a_motion_in_javascript_is_the_motion_in_python(name):
    for p, seen in zip(states(name, switches=True), in_javascript(name)["moved"]):
        assert_allclose(seen[:51], at(name, *p).path()[:51], rtol=1e-6, atol=1e-8)


@EVERY
def test_the_still_picture_is_the_first_picture_of_the_script(name):
    number = re.compile(r"-?\d+\.?\d*")
    for still, first in zip(
        at(name, *figure(name).start).pictures(name), in_javascript(name)["panels"], strict=True
    ):
        assert number.sub("#", still) == number.sub("#", first)
        assert_allclose(
            [float(x) for x in number.findall(first)], [float(x) for x in number.findall(still)], atol=0.11
        )


# -- what the figures say ------------------------------------------------------------------------------------


@EVERY
def test_every_check_holds_at_random_states(name):
    for p in states(name):
        checks = at(name, *p).checks
        assert_allclose(
            checks[:2] if name == "four_legs" else checks, 0, atol=1e-7, err_msg=str(p)
        )  # a leg may have to pull


@EVERY
def test_every_slip_is_noticed_by_a_check(name):
    for k, switch in enumerate(figure(name).switches):
        worst = 0
        for p in states(name, 20):
            p[len(figure(name).parameters) + k] = 1
            worst = max(worst, np.max(np.abs(at(name, *p).checks)))
        assert worst > 1e-2, switch.label


def test_torque_and_force_of_the_arm_that_extends_are_those_of_the_recursion():
    for p in states("rp_arm"):
        assert_allclose(
            at("rp_arm", *p).readouts, rnea(mechanisms.rp_arm(g=0), p[:2], p[2:4], [0, 0]), atol=1e-10
        )


def test_velocity_torques_are_those_of_the_recursion():
    for p in states("velocity_terms"):
        by_recursion = rnea(mechanisms.two_link(g=0), p[:2], p[2:4], [0, 0])
        assert_allclose(at("velocity_terms", *p).readouts, by_recursion, atol=1e-10)


def test_the_double_pendulum_accelerates_as_the_articulated_bodies_say():
    rates = callable_of(figure("double_pendulum"), *functions(figure("double_pendulum"))["motion"][0])
    for p in states("double_pendulum"):
        assert_allclose(
            rates(p)()[2:], aba(mechanisms.pendulum(2), p[:2], p[2:4], [0, 0]), rtol=1e-9, atol=1e-9
        )


def test_the_mass_matrix_is_twice_the_energy_of_unit_rates():
    arm = mechanisms.two_link()
    for p in states("mass_matrix"):
        K = [kinetic_energy(arm, p[:2], rates) for rates in ([1, 0], [0, 1], [1, 1])]
        m11, m12, m22, det = at("mass_matrix", *p).readouts
        assert_allclose([m11, m22, m12], [2 * K[0], 2 * K[1], K[2] - K[0] - K[1]], atol=1e-12)
        assert_allclose(det, m11 * m22 - m12**2)


def test_friction_is_stribecks_law_of_the_package():
    for v, Fc, Fs, vs, Fv, *off in states("friction"):
        Fs = max(Fs, Fc)
        F, lost = at("friction", v, Fc, Fs, vs, Fv, *off).readouts
        assert_allclose(F, stribeck(Fc, Fs, vs, Fv)([v])[0])
        assert lost >= 0


def test_the_pin_of_the_five_bar_carries_what_the_block_system_says():
    five = mechanisms.five_bar()
    (loop,) = five.loops
    for left, right, leftd, rightd, off in states("five_bar", 20):
        q = assemble(loop, np.array([left, -1.2, right, 1.2]), fixed=(0, 2)).q
        J = loop.J(q)
        qd = np.array([leftd, 0, rightd, 0])
        qd[[1, 3]] = np.linalg.solve(J[:, [1, 3]], -J @ qd)
        found = constrained_accelerations(of_model(five.model)(q, qd), np.zeros(4), J, loop.bias(q, qd))
        assert_allclose(
            at("five_bar", left, right, leftd, rightd, off).readouts, found.lam, rtol=1e-7, atol=1e-8
        )


def test_the_hand_answers_a_force_as_the_delassus_operator_says():
    arm = mechanisms.two_link()
    for q1, q2, angle, *off in states("effective_mass"):
        W = delassus(crba(arm, [q1, q2]), point_jacobian(arm, [q1, q2], 1, (0.4, 0, 0))[:2])
        a = W @ [np.cos(angle), np.sin(angle)]
        expected = np.linalg.norm(a), 1 / (a @ [np.cos(angle), np.sin(angle)])
        assert_allclose(at("effective_mass", q1, q2, angle, *off).readouts, expected, rtol=1e-9)


def test_the_four_legs_hold_the_table_of_the_package():
    for x, y, s, *off in states("four_legs", 20):
        table = mechanisms.table(load_at=(x, y))
        q, lam = table.model.zero, at("four_legs", x, y, s, *off).readouts
        J = np.vstack([loop.J(q) for loop in table.loops])
        assert_allclose(J.T @ lam, of_model(table.model)(q, np.zeros(6)).G, atol=1e-9)


def test_the_contact_law_is_a_complementarity_problem():
    for u, m, *off in states("contact_law"):
        found = lemke(np.array([[1 / m]]), np.array([u / m - 9.81]))
        assert_allclose(at("contact_law", u, m, *off).readouts, [found.z[0], found.w[0]], atol=1e-12)


def test_the_floor_answers_in_its_cone_as_the_solver_of_contacts_says():
    for fx, fy, mu, *off in states("friction_cone", 30):
        free = np.array([fy / 2.0 - 9.81, fx / 2.0])
        found = solve_contact(np.eye(2) / 2.0, free, np.array([mu]), (2,))
        normal, tangent, limit = at("friction_cone", fx, fy, mu, *off).readouts
        assert_allclose([normal, tangent], np.ravel(found.p)[:2], atol=1e-8)
        assert_allclose(limit, mu * normal)


@pytest.mark.parametrize("e", [0.0, 0.5, 0.8])
def test_the_ball_returns_to_e_squared_of_its_height(e):
    heights = np.array([p[0] for p in at("bouncing_ball", 1.0, 0.0, e, 0, 0).path()])
    landed = np.argmax(heights < 0.01)
    assert_allclose(heights[landed + 2 :].max(), e**2, atol=0.03)


# -- in the pages --------------------------------------------------------------------------------------------


def test_every_figure_stands_in_one_page():
    text = [markdown(path) for path in notebooks("book")]
    shown = [name for page in text for name in re.findall(r"^```\{live\} (\w+)$", page, re.M)]
    assert len(set(shown)) == len(shown)
    assert set(shown) == set(FIGURES)


@EVERY
def test_a_figure_is_small_and_says_in_words_what_it_shows(name):
    assert (
        len(script(name, figure(name)).encode()) < 20_000 and len(page(name, figure(name)).encode()) < 30_000
    )
    assert len(figure(name).alt.split()) > 8
    assert len(LIBRARY.read_text(encoding="utf8").splitlines()) <= 400 and CURVE_POINTS <= 200


@pytest.fixture
def tab(browser):  # noqa: F811
    tab = browser.new_page(viewport={"width": 390, "height": 844})
    yield tab
    tab.close()


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine")
@EVERY
def test_a_figure_answers_to_keys_pointer_and_slips(tab, name):
    css = (ROOT / "book" / "_static" / "custom.css").read_text(encoding="utf8")
    errors = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.set_content(f"<style>{css}</style><body>{page(name, figure(name))}</figcaption></figure>")
    still = tab.inner_html(".panels")
    assert tab.locator(".controls input").count() == 0  # without the script, the still alone
    for content in (LIBRARY.read_text(encoding="utf8"), script(name, figure(name))):
        tab.add_script_tag(content=content)
    texts = lambda: tab.inner_html(".panels") + tab.inner_text(".readouts")
    ranges = tab.locator("input[type=range]")
    for k in range(ranges.count()):  # every slider has a name and moves something
        before = texts()
        assert ranges.nth(k).evaluate("slider => slider.labels[0].innerText").strip()
        ranges.nth(k).focus()
        for _ in range(5):
            tab.keyboard.press("ArrowLeft")
        assert texts() != before, figure(name).parameters[k].label
    tab.click("text=Reset")
    handle = tab.locator(".handle").first
    if figure(name).drags:
        handle.scroll_into_view_if_needed()
        box, before = handle.bounding_box(), texts()
        tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        tab.mouse.down()
        tab.mouse.move(box["x"] + box["width"] / 2 - 12, box["y"] + box["height"] / 2 - 9, steps=3)
        tab.mouse.up()
        assert texts() != before
    noticed = 0
    for box in tab.locator("input[type=checkbox]").all():                       # two slips may well cancel
        box.check()
        noticed += tab.locator(".checks .fails").count()
        box.uncheck()
    assert noticed > 0
    tab.click("text=Reset")
    assert tab.locator(".checks .fails").count() == 0
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len(still) > 500 and errors == []
