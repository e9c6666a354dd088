"""Sentences, which a person reads; only nothing, and what is named as a mistake, is refused here."""

from typing import Any

from .grids import text_of
from .trees import Meter


def prepare(question: dict, datas: list, seed: int) -> tuple[dict, list]:
    """The words of the mistakes; those of the reference are for the person."""
    _words(datas[0])
    return {}, [{}, *({"words": _words(data)} for data in datas[1:])]


def probe(common: dict, data: Any, meter: Meter) -> str:
    return _words(data)


def _words(data: Any) -> str:
    return " ".join(text_of(data, "Sentences are asked for, as a text.").split()).casefold()


def same(common: dict, part: dict, observed: str) -> bool:
    return part.get("words") == observed


def seal(common: dict, part: dict, salt: str) -> tuple[dict, dict]:
    return common, part
