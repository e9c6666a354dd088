"""Functions, compared by what they return on inputs that they have not seen; some by a property of it."""

from typing import Any

import numpy as np

from .grids import listed, names, read, shape_message, squeezed, unusable
from .numbers import FACTORS, on_scale, scale
from .trees import Meter, Unusable, evaluate

TOLERANCE = 1e-5


def prepare(question: dict, datas: list, seed: int) -> tuple[dict, list]:
    """The outputs of the reference and of each mistake; an output that is an error stays out of the comparison."""
    meter = Meter()
    parts = [_outputs(data, meter) for data in datas]
    if not parts[0]["outputs"] or any(out is None for out in parts[0]["outputs"]):
        raise ValueError(f"{question.get('question')}: the reference has no value for some of its inputs: {datas[0]}")
    own = {name: question[name] for name in ("property", "context") if name in question}
    return {"tolerance": float(question.get("tolerance", TOLERANCE))} | own, parts


def _outputs(data: Any, meter: Meter) -> dict:
    if type(data) is not dict or type(data.get("outputs")) is not list:
        raise Unusable("A function is asked for." if type(data) is dict and "other" in data else unusable(data))
    outputs = []
    for out in data["outputs"]:
        try:
            shape, entries = read(out, meter)
            outputs.append({"shape": list(shape), "entries": [_entry(entry, meter) for entry in entries]})
        except Unusable as reason:
            outputs.append(None)
            data = data | {"reason": data.get("reason", str(reason))}
    return {"outputs": outputs, "modified": data.get("modified") is True, "reason": data.get("reason")}


def _entry(entry: Any, meter: Meter) -> Any:
    if type(entry) is str:
        return entry
    return float(evaluate(entry, {}, meter) if type(entry) is list else entry)


def probe(common: dict, data: Any, meter: Meter) -> dict:
    return _outputs(_numbers_only(data), meter)


def _numbers_only(data: Any) -> Any:
    """Outputs that hold symbols are no numbers; they stop here with their own sentence."""
    meter = Meter()
    for out in data["outputs"] if type(data) is dict and type(data.get("outputs")) is list else ():
        try:
            left = names(read(out, meter), meter)
        except Unusable:
            continue
        if left:
            raise Unusable(f"Your function returns an expression that still holds {', '.join(sorted(left))[:80]}.")
    return data


def close(own: dict | None, right: dict | None, tolerance: float, factor: float = 1.0) -> bool:
    """Whether two outputs agree, entry by entry."""
    if own is None or right is None or not _alike(own, right):
        return own is right
    texts = [(a, b) for a, b in zip(own["entries"], right["entries"]) if str in (type(a), type(b))]
    values = [(a * factor, b) for a, b in zip(own["entries"], right["entries"]) if str not in (type(a), type(b))]
    s = scale([b for _, b in values])
    near = all(abs(on_scale(a, s) - on_scale(b, s)) <= tolerance for a, b in values)
    return near and all(a == b for a, b in texts)


def _alike(own: dict, right: dict) -> bool:
    shapes = [squeezed(listed(output["shape"])) for output in (own, right)]
    return shapes[0] == shapes[1] and len(own["entries"]) == len(right["entries"])


def _all_close(common: dict, own: dict, right: dict, factor: float = 1.0) -> bool:
    pairs = list(zip(own["outputs"], right["outputs"]))
    every = len(own["outputs"]) == len(right["outputs"])
    return every and all(close(a, b, common["tolerance"], factor) for a, b in pairs)


def same(common: dict, part: dict, observed: dict) -> bool:
    """The outputs themselves."""
    return _all_close(common, observed, part)


def _grid(values: Any) -> dict:
    return {"shape": list(np.shape(values)), "entries": [float(x) for x in np.ravel(values)]}


def coriolis(output: dict, qd: list) -> dict:
    """What every valid C shares: C q̇ and C + Cᵀ (= Ṁ)."""
    C = np.reshape(output["entries"], output["shape"])
    return _grid(np.column_stack([C @ qd, C + C.T]))


def factor(output: dict, qd: list) -> dict:
    """What every factor C of the velocity terms shares: C q̇."""
    return _grid(np.reshape(output["entries"], output["shape"]) @ qd)


def multipliers(output: dict, J: list) -> dict:
    """What every valid split of λ shares: q̈ and Jᵀ λ; the output is (q̈, λ)."""
    J, entries = np.array(J), output["entries"]
    return _grid(np.concatenate([entries[:J.shape[1]], J.T @ entries[J.shape[1]:]]))


PROPERTIES = {"coriolis": coriolis, "factor": factor, "multipliers": multipliers}
PROPERTY_MESSAGES = {"coriolis": "C q̇ is not the velocity term of this machine.",
                     "factor": "C q̇ is not the velocity term of this machine.",
                     "multipliers": "q̈ or the constraint force Jᵀλ is not right."}


def holds(common: dict, part: dict, observed: dict) -> bool:
    """Whether the property that the question asks for holds; without one, whether the outputs are the same."""
    if "property" not in common:
        return same(common, part, observed)
    shared = PROPERTIES[common["property"]]
    for own, right, context in zip(observed["outputs"], part["outputs"], common["context"]):
        if own is None or not _alike(own, right) or any(type(x) is str for x in own["entries"]):
            return False
        if not close(shared(own | {"shape": right["shape"]}, context), shared(right, context), common["tolerance"]):
            return False
    return len(observed["outputs"]) == len(part["outputs"])


def seal(common: dict, part: dict, salt: str) -> tuple[dict, dict]:
    """Values at random inputs already tell no formula."""
    return common, part


def hint(common: dict, part: dict, observed: dict) -> str:
    if observed["reason"]:
        return "On one of the inputs it is tried with: " + observed["reason"]
    for own, right in zip(observed["outputs"], part["outputs"]):
        message = shape_message(listed(own["shape"]), listed(right["shape"]))
        if message:
            return message.replace("Your answer", "What your function returns")
    for factor, sentence in FACTORS if "property" not in common else ():
        if _all_close(common, observed, part, factor):
            return sentence
    right = sum(close(a, b, common["tolerance"]) for a, b in zip(observed["outputs"], part["outputs"]))
    if "property" not in common and right:
        return "Right for some inputs and wrong for others: which case is left out?"
    if common.get("property") == "coriolis" and holds(common | {"property": "factor"}, part, observed):
        return "C q̇ is right, but Ṁ − 2C is not skew."
    if "property" in common:
        return PROPERTY_MESSAGES[common["property"]]
    return "Not right: at random inputs it returns other values."
