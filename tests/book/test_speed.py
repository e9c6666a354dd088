"""The labelled equation of the chapter on speed, and the numbers it prints from the measurements."""

import json
from pathlib import Path

import numpy as np
from book_equations import equation

from lagrangebook.forward import aba
from lagrangebook.mechanisms import pendulum
from lagrangebook.newton_euler import rnea
from lagrangebook.tape import record


@equation("eq-speed-linear", r"\text{recorded operations} \approx a + b\,n \quad\text{(recursion, articulated bodies)}")
def test_recorded_recursions_grow_by_the_same_amount_with_every_rod():
    for algorithm in (rnea, aba):
        counts = [record(lambda *x, m=pendulum(n), f=algorithm: f(m, *x), n, n, n).operations for n in range(4, 10)]
        assert np.ptp(np.diff(counts)) <= 0.02 * np.diff(counts)[-1]


def test_the_measurements_name_their_machine_and_compare_with_a_peer():
    bench = json.loads((Path(__file__).parents[2] / "bench" / "results.json").read_text(encoding="utf8"))
    assert {"cpu", "cores", "python", "numpy"} <= set(bench["machine"])
    assert all(row["best"] > 0 and row["peer"] for row in bench["rows"] if "best" in row)
