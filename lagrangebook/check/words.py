"""Letters, texts and motions."""

import hashlib
import random
from typing import Any

import numpy as np

from .grids import unusable
from .trees import Meter, Unusable

SAMPLES, TOLERANCE = 20, 1e-2


class choice:
    """One letter out of a few."""

    @staticmethod
    def prepare(question: dict, datas: list, seed: int) -> tuple[dict, list]:
        return {"options": sorted(question.get("options", ()))}, [{"letter": _letter(data)} for data in datas]

    @staticmethod
    def probe(common: dict, data: Any, meter: Meter) -> str:
        letter = _letter(data)
        if common["options"] and letter not in common["options"]:
            raise Unusable(f"Answer with one of {', '.join(common['options'])}, as a text: 'a'.")
        return letter

    @staticmethod
    def same(common: dict, part: dict, observed: str) -> bool:
        return part["letter"] == (_hashed(common["salt"], observed) if "salt" in common else observed)

    @staticmethod
    def seal(common: dict, part: dict, salt: str) -> tuple[dict, dict]:
        return common | {"salt": salt}, {"letter": _hashed(salt, part["letter"])}

    @staticmethod
    def hint(common: dict, part: dict, observed: str) -> str:
        return "Not right."


def _letter(data: Any) -> str:
    if type(data) is dict and type(data.get("expr")) is list and data["expr"][:1] == ["sym"] and len(data["expr"]) == 2:
        data = data["expr"][1]
    if type(data) is not str:
        raise Unusable("A letter is asked for, as a text: 'a'." if data is not None and type(data) is not dict else unusable(data))
    return data.strip(" .()'\"\n\t").casefold()[:40]


def _hashed(salt: str, text: str) -> str:
    return hashlib.sha256(f"{salt} {text}".encode()).hexdigest()[:16]


class text:
    """Sentences, which a person reads; only nothing, and what is named as a mistake, is refused here."""

    @staticmethod
    def prepare(question: dict, datas: list, seed: int) -> tuple[dict, list]:
        return {}, [{"text": _hashed("", _words(data))} for data in datas]

    @staticmethod
    def probe(common: dict, data: Any, meter: Meter) -> str:
        words = _words(data)
        return words

    @staticmethod
    def same(common: dict, part: dict, observed: str) -> bool:
        return part["text"] == _hashed("", observed)

    @staticmethod
    def seal(common: dict, part: dict, salt: str) -> tuple[dict, dict]:
        return common, part


def _words(data: Any) -> str:
    if type(data) is not str:
        raise Unusable("Sentences are asked for, as a text." if data is not None and type(data) is not dict else unusable(data))
    return " ".join(data.split()).casefold()


class trajectory:
    """A motion q(t): compared at random times by linear interpolation, relative to the range of each coordinate."""

    @staticmethod
    def prepare(question: dict, datas: list, seed: int) -> tuple[dict, list]:
        motions = [_motion(data) for data in datas]
        t = motions[0][0]
        rng = random.Random(f"{question.get('question', '')} {seed}")
        times = sorted(round(rng.uniform(t[0], t[-1]), 9) for _ in range(SAMPLES)) + [t[-1]]
        common = {"times": times, "start": t[0], "tolerance": float(question.get("tolerance", TOLERANCE))}
        return common, [{"q": _sampled(motion, times)} for motion in motions]

    @staticmethod
    def probe(common: dict, data: Any, meter: Meter) -> list:
        t, q = _motion(data)
        slack = 1e-6 * (common["times"][-1] - common["start"])
        if t[0] > common["start"] + slack or t[-1] < common["times"][-1] - slack:
            raise Unusable(f"Your motion goes from t = {t[0]:.4g} to {t[-1]:.4g} s; "
                           f"from {common['start']:.4g} to {common['times'][-1]:.4g} s is asked for.")
        return _sampled((t, q), common["times"])

    @staticmethod
    def same(common: dict, part: dict, observed: list) -> bool:
        own, right = np.array(observed), np.array(part["q"])
        if own.shape != right.shape:
            return False
        size = np.maximum(np.ptp(right, axis=0), 1e-2 * np.abs(right).max(axis=0))
        return bool(np.all(np.abs(own - right) <= common["tolerance"] * np.where(size > 0, size, 1)))

    @staticmethod
    def seal(common: dict, part: dict, salt: str) -> tuple[dict, dict]:
        return common, part

    @staticmethod
    def hint(common: dict, part: dict, observed: list) -> str:
        own, right = np.array(observed), np.array(part["q"])
        if own.shape != right.shape:
            return f"Your motion has {own.shape[1]} coordinates; {right.shape[1]} are asked for."
        for factor, sentence in ((-1, "The sign is wrong."), (np.pi / 180, "Degrees are not radians."), (180 / np.pi, "Degrees are not radians.")):
            if trajectory.same(common, part, (factor * own).tolist()):
                return sentence
        apart = np.abs(own - right).max(axis=1) > common["tolerance"] * np.maximum(np.ptp(right), 1e-300)
        return f"Not right: your motion leaves the right one before t = {common['times'][int(np.argmax(apart))]:.2g} s."


def _motion(data: Any) -> tuple:
    """(t, q) as arrays (T,) and (T, n); q may be (T,)."""
    data = data.get("trajectory", data) if type(data) is dict else data
    if type(data) is list and len(data) == 2:
        data = {"t": data[0], "q": data[1]}
    if type(data) is not dict or "t" not in data or "q" not in data:
        raise Unusable("A motion is asked for: a Trajectory, or the pair (t, q)." if type(data) in (list, str, int, float) else unusable(data))
    try:
        t, q = np.array(data["t"], dtype=float), np.array(data["q"], dtype=float)
    except (TypeError, ValueError):
        raise Unusable("Your motion does not consist of numbers (NaN among them?).") from None
    q = q[:, None] if q.ndim == 1 else q
    if t.ndim != 1 or q.ndim != 2 or len(t) != len(q) or len(t) < 2 or not (np.diff(t) > 0).all() or not np.isfinite(q).all():
        raise Unusable("Your motion needs increasing times (T,) and finite coordinates (T, n) that belong to them.")
    return t, q


def _sampled(motion: tuple, times: list) -> list:
    t, q = motion
    return np.column_stack([np.interp(times, t, column) for column in q.T]).tolist()
