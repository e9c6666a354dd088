"""The judgement: the reference first, then the named mistakes, then what usually goes wrong."""

from typing import Any

from . import choices, equations, formulas, functions, motions, numbers, texts
from .trees import Meter, Unusable, bounded, canonical
from .verdict import Verdict

FORMS = {"numbers": numbers, "formulas": formulas, "equations": equations, "functions": functions,
         "choices": choices, "texts": texts, "motions": motions}
KINDS = {"equation": "equations", "function": "functions", "choice": "choices", "text": "texts", "trajectory": "motions"}
MODIFIED = "What your function returns is right, but it changes its inputs: work on copies (q = q + …, not q += …)."


def _form(question: dict, datas: list) -> str:
    if question["kind"] in KINDS:
        return KINDS[question["kind"]]
    if question["kind"] not in ("number", "expression", "matrix"):
        raise ValueError(f"{question.get('question')}: there is no kind {question['kind']!r}")
    return "numbers" if numbers.applies(datas) else "formulas"


def target(question: dict, reference: Any, seed: int = 0) -> dict:
    """All that a judgement needs of a question: the expected values of its reference and of its mistakes.

    ValueError where the reference or a mistake is no answer itself: that is the instructor's fault, not the student's.
    """
    mistakes = [own for own in question.get("mistakes", ()) if "data" in own]
    datas = [reference, *(own["data"] for own in mistakes)]
    try:
        form = _form(question, datas)
        common, parts = FORMS[form].prepare(question, datas, seed)
    except Unusable as reason:
        raise ValueError(f"{question.get('question')}: its reference, or a mistake, cannot be compared: {reason}") from None
    named = [{"message": own["message"], "credit": own.get("credit", 0), "part": part}
             for own, part in zip(mistakes, parts[1:])]
    aliases = {canonical(other): canonical(name) for other, name in question.get("aliases", {}).items()}
    return {"form": form, "common": common, "part": parts[0], "mistakes": named, "aliases": aliases}


def judge(target: dict, data: Any) -> Verdict:
    """The verdict on plain data, also on data that nobody would call an answer."""
    meter = Meter(aliases=target["aliases"])
    try:
        return _judge(target, data, meter)
    except Unusable as reason:
        return Verdict(False, str(reason), 0.0)
    except RecursionError:
        return Verdict(False, "Your answer is nested too deeply to be checked.", 0.0)


def _judge(target: dict, data: Any, meter: Meter) -> Verdict:
    form, common, part = FORMS[target["form"]], target["common"], target["part"]
    bounded(data)
    observed = form.probe(common, data, meter)
    if "property" not in common and target["form"] != "texts" and form.same(common, part, observed):
        return _right(observed)
    for mistake in target["mistakes"]:
        if form.same(common, mistake["part"], observed):
            return Verdict(False, mistake["message"], float(mistake["credit"]))
    if target["form"] == "texts":
        return Verdict(None, "A person reads this.") if observed else Verdict(False, "Nothing was written.", 0.0)
    if "property" in common and form.holds(common, part, observed):
        return _right(observed)
    try:
        return Verdict(False, form.hint(common, part, observed), 0.0)
    except Unusable:
        return Verdict(False, "Not right.", 0.0)


def _right(observed: Any) -> Verdict:
    if type(observed) is dict and observed.get("modified"):
        return Verdict(False, MODIFIED, 0.5)
    return Verdict(True, "Right.", 1.0)


def compare(question: dict, reference: Any, answer: Any, seed: int = 0) -> Verdict:
    """The verdict on an answer, plain data against plain data, at the random points of the seed."""
    return judge(target(question, reference, seed), answer)
