"""A student's own check, from the package's data: values at random points and salted buckets, no formula, no answer."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from .compare import FORMS, judge, target
from .keys import answer as answered
from .verdict import Verdict

DATA = Path(__file__).parents[1] / "data" / "checks"
FORMAT = 2      # of the files; another number makes them out of date
PUBLIC = 0      # the seed of the self-checks; graded sets use their own


def digest(key: dict) -> dict:
    """What may be published of a key made with seed 0.

    For a function it holds the code of its inputs, and key["setup"], the source of the setup cells, which they need.
    """
    own = target(key, key["reference"], PUBLIC)
    form, salt = FORMS[own["form"]], hashlib.sha256(key["question"].encode()).hexdigest()[:8]
    common, part = form.seal(own["common"], own["part"], salt)
    mistakes = [mistake | {"part": form.seal(own["common"], mistake["part"], salt)[1]} for mistake in own["mistakes"]]
    asked = {name: key[name] for name in ("question", "kind", "inputs", "calls") if name in key}
    setup = {"setup": key.get("setup", "")} if key["kind"] == "function" else {}
    return own | {"asked": asked | setup, "common": common, "part": part, "mistakes": mistakes}


@cache
def _chapter(name: str) -> dict:
    file = DATA / f"{name}.json"
    return json.loads(file.read_text(encoding="utf8")) if file.exists() else {}


def check(name: str, answer: Any) -> Verdict:
    """The verdict on your answer to an exercise, as in check("energy-3", answer_3). KeyError where there is none."""
    own = _chapter(name.rpartition("-")[0]).get(name)
    if own is None:
        raise KeyError(f"there is no exercise {name!r} to check; its name stands in the exercise notebook, as 'energy-3'")
    space: dict = {}
    exec(own["asked"].get("setup", ""), space)      # the package's own data
    return judge(own, answered(own["asked"], answer, space, PUBLIC))
