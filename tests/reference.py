"""Models and states of the reference data in tests/data (format "mbref-1"), in this package's order."""

import json
from functools import cache
from pathlib import Path

import numpy as np

from lagrangebook.inertia import Inertia
from lagrangebook.model import Body, Joint, Model
from lagrangebook.spatial import Pose

DATA = Path(__file__).parent / "data"
KIND = {"floating": "free", "continuous": "revolute"}
OPEN_CHAINS = ("open_1_open_chains", "open_1_tree5", "open_1_tree12", "open_1_tree30", "open_2_floating_base")


@cache
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


@cache
def open_case(identity):
    """(model, states) of one case of the open chains, trees and floating bases; velocities in our order."""
    case = next(case for name in OPEN_CHAINS for case in load(name)["cases"] if case["id"] == identity)
    model = model_of(case["model"])
    order, states = reorder(model), []
    for state in case["states"]:
        state = {key: np.array(value) if isinstance(value, list) else value for key, value in state.items()}
        for key in ("qd", "qdd", "tau", "tau_rnea", "tau_rnea_ext", "Cqd", "G", "qdd_fd", "qdd_fd_ext"):
            state[key] = state[key][order]
        state["J"] = np.array(state["point"]["J"])[:, order]
        if "M" in state:
            state["M"] = state["M"][np.ix_(order, order)]
        states.append(state)
    return model, states


def open_case_names():
    """The identities of all cases of the open chains."""
    return [case["id"] for name in OPEN_CHAINS for case in load(name)["cases"]]


def assert_close(actual, expected, tol=1e-9):
    """|actual − expected| ≤ tol (1 + max|expected|), in every entry."""
    expected = np.asarray(expected, dtype=float)
    np.testing.assert_allclose(np.asarray(actual, dtype=float), expected, rtol=0,
                               atol=tol * (1 + np.max(np.abs(expected), initial=0)))


def wrench(model, q, f_ext):
    """(body, (moment; force)) in the body's frame about its origin, from a world wrench at a point."""
    from lagrangebook.kinematics import poses
    i = model.index(f_ext["body"])
    R = poses(model, q)[i].R
    force, moment = R.T @ f_ext["force"], R.T @ f_ext["moment"]
    return {i: np.concatenate([moment + np.cross(f_ext["point"], force), force])}
