"""`Object.verlet_bend`: the bend compliance as a power of ten, for the panel.

The arrows of a field only add, and a compliance is nothing to add to: from card to cotton it grows
a thousandfold. This is no part of the property group, for Blender 4.2 as a Python module crashes
when it ends with a group that has functions.
"""

from math import log10
from typing import Any

import bpy

from .properties import body_properties

# Blender's type stubs do not know that a property can be kept.
_blender: Any = bpy


def _exponent(compliance: float) -> float:
    """The power of ten that a compliance is; below 10 it goes on evenly, down to 0."""
    return log10(compliance) if compliance >= 10 else compliance / 10


def _compliance(exponent: float) -> float:
    """The compliance that is this power of ten."""
    return float(10**exponent) if exponent >= 1 else 10 * exponent


def _read_bend(obj: bpy.types.Object) -> float:
    """Shows the bend compliance as a power of ten."""
    return _exponent(body_properties(obj).bend_compliance)


def _write_bend(obj: bpy.types.Object, exponent: float) -> None:
    """Sets the bend compliance by its power of ten."""
    body_properties(obj).bend_compliance = _compliance(exponent)


BEND = _blender.props.FloatProperty(
    name="Bend",
    description=(
        "How easily it folds, each 1 ten times as easily: "
        "5.4 is silk, 4.5 cotton, 3.9 denim, 3.5 office paper, 2 card, 0 keeps its shape"
    ),
    get=_read_bend,
    set=_write_bend,
    soft_min=0.0,
    soft_max=8.0,
    step=10,
    precision=2,
    options=set(),
)
