"""Elimination in C: what `numpy_elimination` does."""

from ..arrays import Floats
from ..compiled import declare, instead_of
from . import numpy_elimination as reference

_eliminate = declare("eliminate", "pipi")


@instead_of(reference.eliminate)
def eliminate(front: Floats, root: Floats) -> None:
    _eliminate(front, len(front), root, len(root))
