"""From an instructor's question, and the namespace that the notebook leaves behind, to the key that it is graded with."""

from typing import Any

import numpy as np

from .plain import outputs, plain

CALLS = 5


def arguments(question: dict, space: dict, seed: int) -> list[tuple]:
    """The hidden inputs of a function: the question's own code, run with the names of `space` and with `rng`."""
    if "inputs" not in question:
        raise ValueError(f"{question['question']}: a function needs `inputs`, code of one tuple of arguments made with `rng`")
    names = space | {"np": np, "rng": np.random.default_rng([seed, *question["question"].encode()])}
    drawn = (eval(question["inputs"], names) for _ in range(question.get("calls", CALLS)))     # the instructor's own code
    return [own if isinstance(own, tuple) else (own,) for own in drawn]


def answer(question: dict, value: Any, space: dict, seed: int = 0) -> Any:
    """The plain data of an answer to this question. `space` is the instructor's: the student's own is of no use here."""
    if question["kind"] == "function":
        return outputs(value, arguments(question, space, seed))
    return plain(value)


def variable(question: dict) -> str:
    """The name that holds the answer: energy-3 is answered in answer_3."""
    return f"answer_{question['question'].rpartition('-')[2]}"


def _evaluated(code: str, space: dict, name: str) -> Any:
    """The value of an expression, or what statements leave under the name."""
    try:
        program = compile(code, "<mistake>", "eval")
    except SyntaxError:
        own = dict(space)
        exec(compile(code, "<mistake>", "exec"), own)      # the instructor's own code
        return own[name]
    return eval(program, dict(space))                       # the instructor's own code


def _positive(value: Any) -> list:
    """The names that an expression's own assumptions make positive."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    names = (s for part in parts for s in getattr(part, "free_symbols", ()))
    return sorted({symbol.name for symbol in names if getattr(symbol, "is_positive", False)})


def _context(question: dict, space: dict, seed: int) -> dict:
    """What the property of a function needs for each call: q̇, or J."""
    if "property" not in question:
        return {}
    calls = arguments(question, space, seed)
    if question["property"] in ("coriolis", "factor"):
        where = question.get("rates", -1)
        return {"context": [plain(np.asarray(call[where], dtype=float)) for call in calls]}
    jacobian = eval(question["jacobian"], dict(space))      # the instructor's own code
    return {"context": [plain(np.asarray(jacobian(*call), dtype=float)) for call in calls]}


def key(question: dict, space: dict, seed: int = 0) -> dict:
    """The question with its "reference", each mistake's "data", its positive names and the context of its property."""
    name = variable(question)
    if name not in space:
        raise ValueError(f"{question['question']}: the notebook leaves no {name} behind")
    mistakes = [own | {"data": answer(question, _evaluated(own["code"], space, name), space, seed)}
                for own in question.get("mistakes", ())]
    found = {"reference": answer(question, space[name], space, seed), "mistakes": mistakes}
    if question["kind"] in ("equation", "expression", "matrix"):
        found["positive"] = question.get("positive", _positive(space[name]))
    return question | found | _context(question, space, seed)
