"""Robots from URDF files, on the parser yourdfpy (extra `urdf`).

The parser fills what a file leaves out with numbers of its own (a moment of 1 for a missing `ixx`), repairs broken
XML and drops surplus numbers. Here every element that matters is checked first, so that nothing is made up.
"""

import io
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from .inertia import Inertia
from .model import GROUND, Body, Joint, Model
from .spatial import Pose, rotation

KIND = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed",
        "planar": "planar", "floating": "free"}
READ = {"robot": {"link", "joint"}, "link": {"inertial"}, "inertial": {"origin", "mass", "inertia"},
        "joint": {"parent", "child", "origin", "axis", "limit", "mimic"}}
TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
NOTHING = Inertia(0, np.zeros(3), np.zeros((3, 3)))


def load_urdf(path: str | Path) -> Model:
    """The tree of bodies of a URDF file; gravity is (0, 0, −9.81).

    Each link is a body of its name, in the order of the joints in the file; the root link is body 0, fixed to the
    ground (give it a free joint to let it float). A body's frame is its link's frame. Defaults are those of the
    format: no origin is the identity, no axis is x, no inertial is no mass. A planar joint about another axis than z
    gets a massless body of the joint's name, which turns about z. Axes are normalised; of <limit> lower and upper
    are kept.

    What is not read (shapes, friction, transmissions, ...) is named in one warning. ValueError, naming file, link or
    joint, and element, where something is wrong: broken XML, numbers missing or not finite, impossible inertia,
    unknown, missing or repeated names, two roots, a loop; and for mimic joints, which a tree cannot hold.
    """
    try:
        import yourdfpy
        from lxml import etree
    except ImportError as error:
        raise ImportError("reading URDF files needs yourdfpy: pip install 'lagrangebook[urdf]'") from error
    path = Path(path)
    try:
        root = etree.fromstring(path.read_bytes(), etree.XMLParser(remove_comments=True, remove_pis=True))
    except etree.XMLSyntaxError as error:
        raise ValueError(f"{path.name} is not well-formed XML: {error}") from None
    if root.tag != "robot":
        raise ValueError(f"{path.name}: the root element is <{root.tag}>; wanted <robot>")
    ignored: Counter = Counter()
    _strip(root, ignored)
    _check(root, path.name)
    if ignored:
        said = ", ".join(f"{count} <{tag}>" for tag, count in sorted(ignored.items()))
        warnings.warn(f"{path.name}: not read: {said}", stacklevel=2)
    robot = yourdfpy.URDF.load(io.BytesIO(etree.tostring(root)), build_scene_graph=False, load_meshes=False).robot
    return Model(_bodies(robot, path.name), name=root.get("name"))


def _strip(element: Any, ignored: Counter) -> None:
    """Take out, and count, every element that is not read."""
    for child in list(element):
        if child.tag not in READ[element.tag]:
            ignored[child.tag] += 1
            element.remove(child)
        elif child.tag in READ:
            _strip(child, ignored)


# -- the file as it stands ---------------------------------------------------------------------------------

def _check(root: Any, file: str) -> None:
    """Names, references and numbers, before the parser fills anything in."""
    _attribute(root, "name", file)
    for tag in ("link", "joint"):
        names = Counter(_attribute(element, "name", file) for element in root.findall(tag))
        for name, count in names.items():
            if count > 1:
                raise ValueError(f"{file}: {count} {tag}s are named {name!r}; a name stands once")
    links = {link.get("name") for link in root.findall("link")}
    for link in root.findall("link"):
        _check_inertial(link, f"{file}, link {link.get('name')!r}")
    for joint in root.findall("joint"):
        _check_joint(joint, f"{file}, joint {joint.get('name')!r}", links)


def _check_inertial(link: Any, where: str) -> None:
    inertial = _one(link, "inertial", where)
    if inertial is None:
        return
    _numbers(_one(inertial, "origin", where), where, xyz=3, rpy=3)
    mass, tensor = _one(inertial, "mass", where), _one(inertial, "inertia", where)
    for tag, element in (("mass", mass), ("inertia", tensor)):
        if element is None:
            raise ValueError(f"{where}: <inertial> has no <{tag}>; leave <inertial> out for a link without mass")
    for element, names in ((mass, ("value",)), (tensor, TENSOR)):
        for name in names:
            _attribute(element, name, where)
        _numbers(element, where, **dict.fromkeys(names, 1))


def _check_joint(joint: Any, where: str, links: set[str]) -> None:
    kind = _attribute(joint, "type", where)
    if kind not in KIND:
        raise ValueError(f"{where}: type {kind!r} is not known; wanted one of {', '.join(KIND)}")
    if joint.find("mimic") is not None:
        raise ValueError(f"{where}: <mimic> follows joint {joint.find('mimic').get('joint')!r}; "
                         f"a tree of independent joints cannot hold it")
    for tag in ("parent", "child"):
        element = _one(joint, tag, where)
        if element is None:
            raise ValueError(f"{where}: <{tag}> is missing")
        if (link := _attribute(element, "link", where)) not in links:
            raise ValueError(f"{where}: <{tag}> names link {link!r}, which the file does not have")
    _numbers(_one(joint, "origin", where), where, xyz=3, rpy=3)
    _numbers(_one(joint, "axis", where), where, xyz=3)
    _numbers(_one(joint, "limit", where), where, lower=1, upper=1)


def _one(element: Any, tag: str, where: str) -> Any:
    """The only child of this tag, or None."""
    found = element.findall(tag)
    if len(found) > 1:
        raise ValueError(f"{where}: {len(found)} elements <{tag}>; wanted one")
    return found[0] if found else None


def _attribute(element: Any, name: str, where: str) -> str:
    value = element.get(name)
    if not value:
        raise ValueError(f"{where}: <{element.tag}> (line {element.sourceline}) has no {name}")
    return value


def _numbers(element: Any, where: str, **counts: int) -> None:
    """Attributes that are there must hold so many finite numbers."""
    for name, count in counts.items():
        text = element.get(name) if element is not None else None
        if text is None:
            continue
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            values = []
        if len(values) != count or not np.all(np.isfinite(values)):
            raise ValueError(f"{where}: <{element.tag}> has {name}={text!r} (line {element.sourceline}); "
                             f"wanted {count} finite number{'s' * (count > 1)}")


# -- the tree ----------------------------------------------------------------------------------------------

def _bodies(robot: Any, file: str) -> tuple[Body, ...]:
    """Links as bodies, each after its parent; the joints' order in the file is kept as far as that allows."""
    inertia = {link.name: _inertia(link, file) for link in robot.links}
    children = Counter(joint.child for joint in robot.joints)
    roots = [name for name in inertia if name not in children]
    for name, count in children.items():
        if count > 1:
            raise ValueError(f"{file}, link {name!r}: it is the <child> of {count} joints; a tree has one")
    if len(roots) != 1:
        raise ValueError(f"{file}: wanted one root link, the <child> of no joint; "
                         f"found {roots or 'none: the joints close a loop'}")
    bodies, place = [Body(roots[0], GROUND, Joint("fixed"), Pose(), inertia[roots[0]])], {roots[0]: 0}
    waiting = list(robot.joints)
    while waiting:
        joint = next((joint for joint in waiting if joint.parent in place), None)
        if joint is None:
            raise ValueError(f"{file}: joints {[joint.name for joint in waiting]} close a loop, "
                             f"away from the root {roots[0]!r}")
        waiting.remove(joint)
        bodies += _moved_by(joint, place[joint.parent], len(bodies), inertia[joint.child], file)
        place[joint.child] = len(bodies) - 1
    return tuple(bodies)


def _moved_by(joint: Any, parent: int, index: int, inertia: Inertia, file: str) -> list[Body]:
    """The body of the joint's child link; two for a planar joint that does not turn about z."""
    try:
        placement, kind = _pose(joint.origin), KIND[joint.type]
        if kind in ("fixed", "free"):
            return [Body(joint.child, parent, Joint(kind), placement, inertia)]
        straight = Joint("revolute", joint.axis).axis
        if kind != "planar":
            limits = _limits(joint.limit) if joint.type != "continuous" else None
            return [Body(joint.child, parent, Joint(kind, joint.axis, limits=limits), placement, inertia)]
        tilt = _tilt(straight)
        if np.array_equal(tilt.R, np.eye(3)):
            return [Body(joint.child, parent, Joint("planar"), placement, inertia)]
        return [Body(joint.name, parent, Joint("planar"), placement @ tilt, NOTHING),
                Body(joint.child, index, Joint("fixed"), tilt.inverse, inertia)]
    except ValueError as error:
        raise ValueError(f"{file}, joint {joint.name!r}: {error}") from None


def _limits(limit: Any) -> tuple[float, float] | None:
    """(lower, upper); one that is not given is 0, as the format says. None where the file gives neither."""
    if limit is None or (limit.lower is None and limit.upper is None):
        return None
    return limit.lower or 0.0, limit.upper or 0.0


def _tilt(axis: np.ndarray) -> Pose:
    """The shortest turn that takes z to the axis."""
    normal = np.cross((0, 0, 1), axis)
    sine = np.linalg.norm(normal)
    if sine < 1e-12:
        return Pose() if axis[2] > 0 else Pose(np.diag([1, -1, -1]))
    return Pose(rotation(normal / sine, float(np.arctan2(sine, axis[2]))))


def _pose(matrix: np.ndarray | None) -> Pose:
    return Pose() if matrix is None else Pose(matrix[:3, :3], matrix[:3, 3])


def _inertia(link: Any, file: str) -> Inertia:
    """The link's inertia in its own axes: the tensor of a turned inertial frame becomes R I Rᵀ."""
    if link.inertial is None:
        return NOTHING
    try:
        inertia = Inertia(link.inertial.mass, np.zeros(3), link.inertial.inertia)
        inertia.require_physical("the inertia")
        return inertia.moved(_pose(link.inertial.origin))
    except ValueError as error:
        raise ValueError(f"{file}, link {link.name!r}, <inertial>: {error}") from None
