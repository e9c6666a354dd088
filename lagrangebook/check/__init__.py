"""Comparing answers. Answers are data: nothing of a student's is evaluated, unpickled, sympified or simplified.

    check("energy-3", answer)                   a student's own check, from the package's data -> Verdict
    plain(value)                                any Python or SymPy value as plain data; never raises
    answer(question, value, space, seed)        the same, for this question: a function is called on its hidden inputs
    key(question, space, seed)                  the question with its "reference" and each mistake's "data" filled in
    compare(question, reference, data, seed)    plain data against plain data -> Verdict
    variable(question)                          "answer_3", the name that holds the answer to energy-3
    digest(key)                                 what a student may hold of a key: values at random points, salted buckets

`space` is the namespace that the instructor's notebook leaves behind (for `answer`, its setup cells are enough); `key`
and `answer` evaluate the instructor's code in it. `compare` reads question["mistakes"][i]["data"] and the "message"
beside it, so give it the key. The seed chooses random points and hidden inputs: one for `key`, `answer` and `compare`.

Plain data (what JSON holds, no more):

    null, true, 1.5, "text", [..]           nested lists are vectors and matrices
    {"expr": tree}                          ["num", "1/3"] | ["sym", "qd1"] | [op, tree, ..], op of `trees.OPERATIONS`
    {"matrix": [[tree, ..], ..]}            {"eq": [tree, tree]}
    {"trajectory": {"t": [..], "q": [[..], ..], "qd": [[..], ..]}}
    {"outputs": [data, ..], "modified": false}      a function's, one for each tuple of inputs
    {"nonfinite": "nan"}   {"error": "TypeError: .."}   {"other": "a type"}   {"large": "why"}      no answers

Question metadata beyond question, kind, points and mistakes (all optional):

    accelerations   equation: names of the unknowns, ["qdd1", "qdd2"]; or, in inverse dynamics,
    forces          equation: names of the unknown forces, ["tau1", "tau2"]
    multipliers     equation: names of λ, eliminated first
    aliases         {"other name": "name"} of symbols
    domain          {"name": [low, high]} for the random points; else ±[0.3, 1.7], or the positive half
    tolerance       relative. Numbers: 0.5 %, less where a named mistake is near, none for integers; motions: 1 % of
                    the range; symbols: 1e-6; functions: 1e-5
    unit            of a number, for the messages
    inputs          function (needed there): code of one tuple of arguments, with the names of `space` and with `rng`,
                    a numpy Generator
    calls           function: how many tuples (5)
    property        function: "coriolis" (any C with the right C q̇ and C + Cᵀ), "factor" (any with C q̇),
                    "multipliers" ([q̈, λ]: any λ with the right Jᵀλ); named mistakes are looked for first
    rates           function with "coriolis": the position of q̇ among its arguments; else the last
    positive        names that are positive; else those that the reference's own symbols declare so
    jacobian        function with "multipliers": code of a function of the same arguments that returns J
    mistakes        [{"code", "message", "credit": 0.5}]: credit is the share of the points given for it (0)
"""

from .compare import compare
from .keys import answer, arguments, key, variable
from .own import check, digest
from .plain import outputs, plain
from .verdict import Verdict

__all__ = ["Verdict", "answer", "arguments", "check", "compare", "digest", "key", "outputs", "plain", "variable"]
