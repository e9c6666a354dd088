"""Motions q(t): compared at random times by linear interpolation, relative to the range of each coordinate."""

import random
from typing import Any

import numpy as np

from .grids import unusable
from .trees import Meter, Unusable

SAMPLES, TOLERANCE = 20, 1e-2
DEGREES = "Degrees are not radians."
FACTORS = ((-1.0, "The sign is wrong."), (np.pi / 180, DEGREES), (180 / np.pi, DEGREES))
UNFIT = "Your motion needs increasing times (T,) and finite coordinates (T, n) that belong to them."


def prepare(question: dict, datas: list, seed: int) -> tuple[dict, list]:
    """Random times within the reference, and where everybody is then."""
    motions = [_motion(data) for data in datas]
    t = motions[0][0].tolist()
    rng = random.Random(f"{question.get('question', '')} {seed}")
    times = sorted(rng.uniform(t[0], t[-1]) for _ in range(SAMPLES)) + [t[-1]]
    common = {"times": times, "start": t[0], "tolerance": float(question.get("tolerance", TOLERANCE))}
    return common, [{"q": _sampled(motion, times)} for motion in motions]


def _motion(data: Any) -> tuple:
    """(t, q) as arrays (T,) and (T, n); q may be (T,)."""
    data = data.get("trajectory", data) if type(data) is dict else data
    if type(data) is list and len(data) == 2:
        data = {"t": data[0], "q": data[1]}
    if type(data) in (list, str, int, float):
        raise Unusable("A motion is asked for: a Trajectory, or the pair (t, q).")
    if type(data) is not dict or "t" not in data or "q" not in data:
        raise Unusable(unusable(data))
    try:
        t, q = np.array(data["t"], dtype=float), np.array(data["q"], dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise Unusable("Your motion does not consist of numbers (NaN among them?).") from None
    q = q[:, None] if q.ndim == 1 else q
    if t.ndim != 1 or q.ndim != 2 or len(t) != len(q) or len(t) < 2:
        raise Unusable(UNFIT)
    if not (np.diff(t) > 0).all() or not np.isfinite(t).all() or not np.isfinite(q).all():
        raise Unusable(UNFIT)
    return t, q


def _sampled(motion: tuple, times: list) -> list:
    t, q = motion
    return np.column_stack([np.interp(times, t, column) for column in q.T]).tolist() if q.size else []


def probe(common: dict, data: Any, meter: Meter) -> np.ndarray:
    t, q = _motion(data)
    start, end = common["start"], common["times"][-1]
    slack = 1e-6 * (end - start)
    if t[0] > start + slack or t[-1] < end - slack:
        raise Unusable(f"Your motion goes from t = {t[0]:.4g} to {t[-1]:.4g} s; from {start:.4g} to {end:.4g} s is asked for.")
    return np.array(_sampled((t, q), common["times"]))


def _apart(common: dict, part: dict, observed: np.ndarray) -> np.ndarray:
    """Where the motion is not the right one, time by time and coordinate by coordinate."""
    right = np.array(part["q"])
    size = np.maximum(np.ptp(right, axis=0), 1e-2 * np.abs(right).max(axis=0))
    return np.abs(observed - right) > common["tolerance"] * np.where(size > 0, size, 1)


def same(common: dict, part: dict, observed: np.ndarray) -> bool:
    return observed.shape == np.shape(part["q"]) and not _apart(common, part, observed).any()


def seal(common: dict, part: dict, salt: str) -> tuple[dict, dict]:
    """Places at random times already tell no motion."""
    return common, part


def hint(common: dict, part: dict, observed: np.ndarray) -> str:
    if observed.shape != np.shape(part["q"]):
        return f"Your motion has {observed.shape[-1]} coordinates; {np.shape(part['q'])[1]} are asked for."
    for factor, sentence in FACTORS:
        if same(common, part, factor * observed):
            return sentence
    first = common["times"][int(np.argmax(_apart(common, part, observed).any(axis=1)))]
    return f"Not right: your motion leaves the right one before t = {first:.2g} s."
