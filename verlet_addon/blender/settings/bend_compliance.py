"""`Object.verlet_bend`: the bend compliance on a logarithmic scale, for the panel.

The arrows of a number field add a constant, but bend compliances span orders of magnitude: a
thousandfold from card to cotton. The property is not in the property group, since Blender 4.2 as a
Python module crashes at exit where a group has getters or setters.
"""

from math import log10
from typing import Any

import bpy

from .properties import body_properties

# Blender's type stubs do not allow a property to be assigned to a name.
_blender: Any = bpy


def _exponent(compliance: float) -> float:
    """The decimal logarithm of a compliance; linear from 0 to 10, so that 0 has a value too."""
    return log10(compliance) if compliance >= 10 else compliance / 10


def _compliance(exponent: float) -> float:
    """The inverse of `_exponent`."""
    return float(10**exponent) if exponent >= 1 else 10 * exponent


def _read_bend(obj: bpy.types.Object) -> float:
    """Getter: the exponent of the bend compliance."""
    return _exponent(body_properties(obj).bend_compliance)


def _write_bend(obj: bpy.types.Object, exponent: float) -> None:
    """Setter: the bend compliance from its exponent."""
    body_properties(obj).bend_compliance = _compliance(exponent)


BEND = _blender.props.FloatProperty(
    name="Bend Softness",
    description=(
        "How easily it folds, as the power of ten of 1/(N m), of ropes 1/(N m²): "
        "5.5 is silk, 4.5 cotton, 3.9 denim, 3.5 office paper, 2 card, 0 keeps its shape"
    ),
    get=_read_bend,
    set=_write_bend,
    soft_min=0.0,
    soft_max=8.0,
    step=10,
    precision=3,
    options=set(),
)
