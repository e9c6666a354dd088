"""Assigning exercises, collecting them and grading a class: `python -m lagrangebook.assign --help`.

Answers are data. A student's code runs in a jail (`jail`, `runner`) and comes out as plain JSON; what knows
the answers (`generate`, `grade`) never runs a student's code, and compares through `lagrangebook.check`.
"""
