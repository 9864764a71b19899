"""Cholesky elimination in C: the function of `numpy_elimination`, compiled."""

from ..arrays import Floats
from ..compiled import declare, falls_back_to
from . import numpy_elimination as reference

_eliminate = declare("eliminate", "pipi")


@falls_back_to(reference.eliminate)
def eliminate(front: Floats, root: Floats) -> None:
    _eliminate(front, len(front), root, len(root))
