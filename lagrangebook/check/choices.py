"""One letter out of a few."""

import hashlib
from typing import Any

from .grids import text_of
from .trees import Meter, Unusable


def prepare(question: dict, datas: list, seed: int) -> tuple[dict, list]:
    """The letters that there are, and those of the reference and of each mistake."""
    return {"options": sorted(question.get("options", ()))}, [{"letter": _letter(data)} for data in datas]


def probe(common: dict, data: Any, meter: Meter) -> str:
    letter = _letter(data)
    if common["options"] and letter not in common["options"]:
        raise Unusable(f"Answer with one of {', '.join(common['options'])}, as a text: 'a'.")
    return letter


def _letter(data: Any) -> str:
    """The bare letter of "B)", of 'b' or of a symbol b."""
    if type(data) is dict and type(data.get("expr")) is list and data["expr"][:1] == ["sym"]:
        data = data["expr"][-1]
    return text_of(data, "A letter is asked for, as a text: 'a'.").strip(" .()'\"\n\t").casefold()[:40]


def _hashed(salt: str, letter: str) -> str:
    return hashlib.sha256(f"{salt} {letter}".encode()).hexdigest()[:16]


def same(common: dict, part: dict, observed: str) -> bool:
    return part["letter"] == (_hashed(common["salt"], observed) if "salt" in common else observed)


def seal(common: dict, part: dict, salt: str) -> tuple[dict, dict]:
    return common | {"salt": salt}, {"letter": _hashed(salt, part["letter"])}


def hint(common: dict, part: dict, observed: str) -> str:
    return "Not right."
