"""Models and states of the reference data in tests/data (format "mbref-1"), in this package's order."""

import json
from pathlib import Path

import numpy as np

from lagrangebook.inertia import Inertia
from lagrangebook.model import Body, Joint, Model
from lagrangebook.spatial import Pose

DATA = Path(__file__).parent / "data"
KIND = {"floating": "free", "continuous": "revolute"}


def load(name):
    """The parsed JSON file tests/data/<name>.json."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def fault(identity):
    """One case of the reported faults."""
    return next(case for case in load("reported_faults")["cases"] if case["id"] == identity)


def model_of(data, name=None):
    """A Model from the reference format."""
    bodies = tuple(
        Body(b["name"], b["parent"], Joint(KIND.get(b["joint"]["type"], b["joint"]["type"]), b["joint"]["axis"]),
             Pose(np.array(b["placement"]["rotation"]), np.array(b["placement"]["translation"])),
             Inertia(b["mass"], b["com"], b["inertia"]))
        for b in data["bodies"])
    return Model(bodies, gravity=data["gravity"], name=name or data.get("name", "reference"))


def reorder(model):
    """Index array: ours = theirs[reorder]. The data's free joints are linear first, ours angular first."""
    order = np.arange(model.n)
    for i, body in model.outward:
        if body.joint.kind == "free":
            start = model.slice_v(i).start
            order[start:start + 6] = start + np.array([3, 4, 5, 0, 1, 2])
    return order


def wrench(model, q, f_ext):
    """(body, (moment; force)) in the body's frame about its origin, from a world wrench at a point."""
    from lagrangebook.kinematics import poses
    i = model.index(f_ext["body"])
    R = poses(model, q)[i].R
    force, moment = R.T @ f_ext["force"], R.T @ f_ext["moment"]
    return {i: np.concatenate([moment + np.cross(f_ext["point"], force), force])}
