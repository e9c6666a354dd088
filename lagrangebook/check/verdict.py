"""What comes out of a comparison."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """A judgement, and a sentence for the student that never holds the answer."""

    passed: bool | None         # None: a person has to read it
    message: str
    score: float | None = None  # share of the points, 0 … 1; None: a person gives it

    def __bool__(self) -> bool:
        return bool(self.passed)
