"""Record an algorithm once, replay it as fast straight-line code: `record`, `Tape` and `compiled(model)`."""

from .compiled import Compiled, compiled
from .recording import Tape, record

__all__ = ["Compiled", "Tape", "compiled", "record"]
