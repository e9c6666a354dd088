"""Robots from URDF files: what the format says, what is wrong, and what the parser would change in silence."""

import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import assert_close, fault, model_of

pytest.importorskip("yourdfpy")

from lagrangebook.kinematics import mass, point, poses          # noqa: E402
from lagrangebook.mass_matrix import crba                       # noqa: E402
from lagrangebook.mechanisms import ur6                        # noqa: E402
from lagrangebook.model import Body, Joint, Model               # noqa: E402
from lagrangebook.newton_euler import rnea                      # noqa: E402
from lagrangebook.spatial import Pose, rpy                      # noqa: E402
from lagrangebook.urdf import load_urdf                         # noqa: E402

INERTIAL = ('<inertial><origin xyz="0.1 0 0.2" rpy="0.3 -0.2 0.5"/><mass value="2"/>'
            '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0.002" izz="0.04"/></inertial>')
LIMIT = '<limit lower="-1" upper="2" effort="10" velocity="3"/>'


def joint(kind="revolute", name="j", parent="w", child="a", more=LIMIT):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>'


def link(name="a", more=INERTIAL):
    return f'<link name="{name}">{more}</link>'


@pytest.fixture
def loaded(tmp_path):
    """Loads the text of a robot's elements."""
    def load(*elements, text=None):
        path = tmp_path / "robot.urdf"
        path.write_text(text or f'<?xml version="1.0"?><robot name="r"><link name="w"/>{"".join(elements)}</robot>')
        return load_urdf(path)
    return load


# -- reported faults -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("identity", ["I01", "J01"])
def test_the_reported_files_give_the_right_torques(identity, loaded):
    case = fault(identity)
    model = loaded(text=case["inputs"]["urdf"])
    tau = rnea(model, case["inputs"]["q"], case["inputs"]["qd"], case["inputs"]["qdd"])
    assert_close(tau, case["expected"]["tau"])
    for name, wrong in case["faulty_result"].items():
        if name.startswith("tau_"):
            assert np.max(np.abs(tau - wrong)) > 0.01, name
    assert_close(rnea(model_of(case["model"]), *(case["inputs"][key] for key in ("q", "qd", "qdd"))), tau)


def test_I01_the_tensor_of_the_turned_inertial_frame(loaded):
    case = fault("I01")
    body = loaded(text=case["inputs"]["urdf"]).bodies[1].inertia
    assert_close(body.about_com, case["expected"]["inertia_com_body_axes"])
    for name in ("inertia_unrotated", "inertia_one_sided"):
        assert np.max(np.abs(body.about_com - case["faulty_result"][name])) > 0.01


def test_I05_no_origin_keeps_the_tensor_and_no_inertial_is_no_mass(loaded):
    case = fault("I05")
    model = loaded(text=case["inputs"]["urdf"])
    assert mass(model) == case["expected"]["total_mass"] != case["faulty_result"]["total_mass"]
    assert_close(crba(model, case["inputs"]["q"]), case["expected"]["M"], 1e-12)
    a = model.bodies[model.index("a")].inertia
    assert_close(a.com, case["expected"]["com_of_a"], 1e-12)
    assert_close(a.about_com, case["expected"]["inertia_a"], 1e-12)


# -- joints --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind, n", [("revolute", 1), ("continuous", 1), ("prismatic", 1), ("fixed", 0), ("planar", 3),
                                     ("floating", 6)])
def test_every_kind_of_joint(kind, n, loaded):
    model = loaded(link(), joint(kind, more='<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>' + LIMIT))
    assert model.n == n
    pose = poses(model, model.zero)[model.index("a")]
    assert_allclose(pose.R, rpy(0.1, 0.2, 0.3), atol=1e-15)
    assert_allclose(pose.p, [1, 2, 3], atol=0)


@pytest.mark.parametrize("text, axis", [("", (1, 0, 0)), ("<axis/>", (1, 0, 0)), ('<axis xyz="0 0 1"/>', (0, 0, 1)),
                                        ('<axis xyz="0 3 4"/>', (0, 0.6, 0.8)), ('<axis xyz="-1 2 -2"/>', (-1/3, 2/3, -2/3))])
def test_axes_are_normalised_and_x_by_default(text, axis, loaded):
    for kind in ("revolute", "prismatic", "continuous"):
        assert_allclose(loaded(link(), joint(kind, more=text + LIMIT)).bodies[1].joint.axis, axis, atol=1e-15)


@pytest.mark.parametrize("axis", [(0, 0, 2), (1, 0, 0), (0, 3, 4), (0, 0, -1)])
def test_a_planar_joint_moves_across_its_axis_and_turns_about_it(axis, loaded):
    model = loaded(link(), joint("planar", more=f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'))
    unit = np.array(axis) / np.linalg.norm(axis)
    q = np.array([0.3, -0.7, 0.9])
    pose = poses(model, q)[model.index("a")]
    assert_allclose(unit @ pose.p, 0, atol=1e-15)
    assert_allclose(np.linalg.norm(pose.p), np.linalg.norm(q[:2]), rtol=1e-14)
    assert_allclose(pose.R, Pose(R=expected_turn(unit, 0.9)).R, atol=1e-14)
    assert_allclose(poses(model, np.zeros(3))[model.index("a")].R, np.eye(3), atol=1e-15)
    assert_allclose(np.linalg.eigvalsh(crba(model, q)) > 0, True)


def expected_turn(axis, angle):
    from scipy.spatial.transform import Rotation
    return Rotation.from_rotvec(angle * axis).as_matrix()


def test_limits_are_kept_and_a_continuous_joint_has_none(loaded):
    def limits(kind, text):
        return loaded(link(), joint(kind, more=text)).bodies[1].joint.limits
    assert limits("revolute", LIMIT) == limits("prismatic", LIMIT) == (-1, 2)
    assert limits("continuous", LIMIT) is None and limits("revolute", "") is None
    assert limits("revolute", '<limit upper="2" effort="1" velocity="1"/>') == (0, 2)


def test_fixed_joints_stand_anywhere_and_a_zero_axis_does_not_matter_there(loaded):
    model = loaded(link("plate"), joint("fixed", "j0", "w", "plate", '<origin xyz="0 0 1"/><axis xyz="0 0 0"/>'),
                   link("a"), joint("revolute", "j1", "plate", "a"),
                   link("flange", ""), joint("fixed", "j2", "a", "flange", '<origin xyz="0.1 0 0" rpy="0 0 1"/>'),
                   link("tool"), joint("continuous", "j3", "flange", "tool", '<axis xyz="0 1 0"/>'),
                   link("tip", ""), joint("fixed", "j4", "tool", "tip", '<origin xyz="0 0 0.3"/>'))
    assert [body.name for body in model.bodies] == ["w", "plate", "a", "flange", "tool", "tip"]
    assert (model.n, mass(model)) == (2, 6)
    assert_allclose(point(model, [0, 0], "tip", (0, 0, 0)), [0.1, 0, 1.3], atol=1e-15)
    q, qd, qdd = [0.3, 0.4], [1, 2], [3, 4]
    assert_close(rnea(model.merged(), q, qd, qdd), rnea(model, q, qd, qdd), 1e-13)


def test_joints_may_stand_before_their_parents_and_keep_their_order_where_they_can(loaded):
    model = loaded(joint("revolute", "j2", "a", "b"), joint("revolute", "j1", "w", "a"), joint("revolute", "j3", "w", "c"),
                   link("c"), link("b"), link("a"))
    assert [body.name for body in model.bodies] == ["w", "a", "b", "c"]
    assert [body.parent for body in model.bodies] == [-1, 0, 1, 0]


def test_the_root_floats_when_it_is_given_a_free_joint(loaded):
    model = loaded(link(), joint())
    root = Body("w", -1, Joint("free"), Pose(), model.bodies[1].inertia)
    assert Model((root, *model.bodies[1:])).n == 7


# -- what is not read is said --------------------------------------------------------------------------------

def test_what_is_not_read_is_named_once_per_file(loaded):
    shape = '<{0}><geometry><capsule radius="1" length="2"/></geometry></{0}>'
    elements = (link("a", INERTIAL + shape.format("visual") * 2 + shape.format("collision")),
                joint(more=LIMIT + '<dynamics damping="0.1" friction="0.2"/><safety_controller k_velocity="1"/>'),
                '<transmission name="t"/>', '<gazebo/>', '<material name="m"/>')
    with pytest.warns(UserWarning) as caught:
        loaded(*elements)
    assert [str(w.message) for w in caught] == [
        "robot.urdf: not read: 1 <collision>, 1 <dynamics>, 1 <gazebo>, 1 <material>, 1 <safety_controller>, "
        "1 <transmission>, 2 <visual>"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded(link(), joint(), "<!-- a comment -->")


# -- what is wrong is an error that names file, place and element ------------------------------------------------

def inertial(mass='<mass value="2"/>', tensor='<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>', more=""):
    return link("a", f"<inertial>{more}{mass}{tensor}</inertial>")


WRONG = {
    "mimic": ((link(), joint(more=LIMIT + '<mimic joint="k" multiplier="2"/>')), r"joint 'j': <mimic> follows joint 'k'"),
    "joint type": ((link(), joint("helical")), r"joint 'j': type 'helical' is not known; wanted one of revolute"),
    "no joint type": ((link(), joint("")), r"joint 'j': <joint> \(line 1\) has no type"),
    "unknown parent": ((link(), joint(parent="x")), r"joint 'j': <parent> names link 'x', which the file does not have"),
    "unknown child": ((link(), joint(child="x")), r"joint 'j': <child> names link 'x', which the file does not have"),
    "no parent": ((link(), '<joint name="j" type="fixed"><child link="a"/></joint>'), r"joint 'j': <parent> is missing"),
    "parent without link": ((link(), '<joint name="j" type="fixed"><parent/><child link="a"/></joint>'), r"<parent> \(line 1\) has no link"),
    "two roots": ((link(), link("b"), joint()), r"wanted one root link, the <child> of no joint; found \['w', 'b'\]"),
    "a loop": ((link(), link("b"), joint("fixed", "j", "a", "b"), joint("fixed", "k", "b", "a")),
               r"joints \['j', 'k'\] close a loop, away from the root 'w'"),
    "two parents": ((link(), link("b"), joint(), joint("fixed", "k", "w", "b"), joint("fixed", "l", "b", "a")),
                    r"link 'a': it is the <child> of 2 joints"),
    "two links": ((link(), link(), joint()), r"2 links are named 'a'; a name stands once"),
    "two joints": ((link(), link("b"), joint(), joint(child="b")), r"2 joints are named 'j'; a name stands once"),
    "no name": ((link(), joint(), "<link/>"), r"<link> \(line 1\) has no name"),
    "no mass": ((inertial(mass=""), joint()), r"link 'a': <inertial> has no <mass>"),
    "no mass value": ((inertial(mass="<mass/>"), joint()), r"link 'a': <mass> \(line 1\) has no value"),
    "a bad mass": ((inertial(mass='<mass value="2kg"/>'), joint()), r"link 'a': <mass> has value='2kg' \(line 1\); wanted 1 finite number$"),
    "mass not finite": ((inertial(mass='<mass value="nan"/>'), joint()), r"link 'a': <mass> has value='nan'"),
    "negative mass": ((inertial(mass='<mass value="-2"/>'), joint()), r"link 'a', <inertial>: mass must not be negative; got -2.0"),
    "no tensor": ((inertial(tensor=""), joint()), r"link 'a': <inertial> has no <inertia>"),
    "half a tensor": ((inertial(tensor='<inertia ixx="1" iyy="1" izz="1"/>'), joint()), r"link 'a': <inertia> \(line 1\) has no ixy"),
    "a bad tensor": ((inertial(tensor='<inertia ixx="1" ixy="O" ixz="0" iyy="1" iyz="0" izz="1"/>'), joint()), r"link 'a': <inertia> has ixy='O'"),
    "an impossible tensor": ((inertial(tensor='<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="3"/>'), joint()),
                             r"link 'a', <inertial>: the inertia is impossible: principal moments 1, 1, 3 break the triangle"),
    "a tensor without mass": ((inertial(mass='<mass value="0"/>'), joint()), r"link 'a', <inertial>: the inertia is impossible: a tensor without"),
    "two masses": ((inertial(mass='<mass value="1"/><mass value="2"/>'), joint()), r"link 'a': 2 elements <mass>; wanted one"),
    "two inertials": ((link("a", INERTIAL * 2), joint()), r"link 'a': 2 elements <inertial>; wanted one"),
    "xyz of two": ((link(), joint(more='<origin xyz="1 2"/>' + LIMIT)), r"joint 'j': <origin> has xyz='1 2' \(line 1\); wanted 3 finite numbers"),
    "xyz of four": ((link(), joint(more='<origin xyz="1 2 3 4"/>' + LIMIT)), r"joint 'j': <origin> has xyz='1 2 3 4'"),
    "one number": ((inertial(more='<origin xyz="1"/>'), joint()), r"link 'a': <origin> has xyz='1'"),
    "rpy with commas": ((link(), joint(more='<origin rpy="0,0,0"/>' + LIMIT)), r"joint 'j': <origin> has rpy='0,0,0'"),
    "an unfilled macro": ((link(), joint(more='<origin xyz="0 0 ${l}"/>' + LIMIT)), r"joint 'j': <origin> has xyz='0 0 \$\{l\}'"),
    "an empty xyz": ((link(), joint(more='<origin xyz=""/>' + LIMIT)), r"joint 'j': <origin> has xyz=''"),
    "a zero axis": ((link(), joint(more='<axis xyz="0 0 0"/>' + LIMIT)), r"joint 'j': axis of a revolute joint must be finite and not zero"),
    "an axis of two": ((link(), joint(more='<axis xyz="0 1"/>' + LIMIT)), r"joint 'j': <axis> has xyz='0 1'"),
    "limits crossed": ((link(), joint(more='<limit lower="2" upper="1"/>')), r"joint 'j': limits must be \(lowest, highest\); got \(2.0, 1.0\)"),
    "a bad limit": ((link(), joint(more='<limit lower="low"/>')), r"joint 'j': <limit> has lower='low'"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named_with_file_place_and_element(what, loaded):
    elements, message = WRONG[what]
    with pytest.raises(ValueError, match=r"^robot\.urdf(, |: )" + r".*" + message.lstrip("^")):
        loaded(*elements)


def test_a_joint_of_the_file_with_nothing_to_move_is_named(loaded):
    with pytest.raises(ValueError, match=r"joint of body 1 'a' \(revolute\) has no inertia to move"):
        loaded(link("a", ""), joint())


@pytest.mark.parametrize("text, message", [
    ("<robot name='r'><link name='w'></robot>", "robot.urdf is not well-formed XML"),
    ("", "robot.urdf is not well-formed XML"),
    ("<sdf version='1.7'/>", "robot.urdf: the root element is <sdf>; wanted <robot>"),
    ("<robot><link name='w'/></robot>", r"robot.urdf: <robot> \(line 1\) has no name"),
    ("<robot name='r'/>", "robot.urdf: wanted one root link, the <child> of no joint; found none"),
])
def test_a_file_that_is_no_robot_is_refused(text, message, loaded, tmp_path):
    (tmp_path / "robot.urdf").write_text(text)
    with pytest.raises(ValueError, match=message):
        load_urdf(tmp_path / "robot.urdf")


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_urdf(tmp_path / "nowhere.urdf")


def test_without_the_parser_the_way_to_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yourdfpy", None)
    with pytest.raises(ImportError, match=r"pip install 'lagrangebook\[urdf\]'"):
        load_urdf(tmp_path / "robot.urdf")


# -- the file of the book ------------------------------------------------------------------------------------

BOOK = Path(__file__).parents[1] / "book" / "data" / "six_axis_arm.urdf"


def test_the_file_of_the_book_is_the_six_axis_arm_of_the_cast(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load_urdf(BOOK)
    arm = ur6()
    assert [body.name for body in model.bodies[1:-1]] == [body.name.replace(" ", "_") for body in arm.bodies]
    for _ in range(5):
        q, qd, qdd = rng.normal(size=(3, 6))
        assert_close(rnea(model, q, qd, qdd), rnea(arm, q, qd, qdd), 1e-13)
        assert_close(crba(model.merged(), q), crba(arm, q), 1e-13)
        tool, wrist = poses(model, q)[model.index("tool")], poses(arm, q)[5]
        assert_close(tool.p, wrist.R @ [0, 0.1, 0] + wrist.p, 1e-13)
        assert_close(tool.R[:, 2], wrist.R[:, 1], 1e-13)
    assert model.bodies[6].joint.limits is None and model.bodies[1].joint.limits == (-2 * np.pi, 2 * np.pi)


def test_the_turned_inertial_frames_of_that_file_matter():
    text = re.sub(r'(<origin xyz="[^"]*") rpy="0.3 0.2 0.1"', r"\1", BOOK.read_text())
    assert text != BOOK.read_text()
    straight = Path(BOOK.name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda self: text.encode())
        forearm = load_urdf(straight).bodies[3].inertia
    assert np.max(np.abs(forearm.about_com - ur6().bodies[2].inertia.about_com)) > 1e-3
