"""`Object.verlet_bend`: the bend compliance on a logarithmic scale, for the panel.

`Object.verlet_droop` is that of hair, as how far a strand of 20 cm droops.

The arrows of a number field add a constant, but bend compliances span orders of magnitude: a
thousandfold from card to cotton. The property is not in the property group, since Blender 4.2 as a
Python module crashes at exit where a group has getters or setters.
"""

from math import log10
from typing import Any

import bpy

from ...core.rods.droop import droop_of, load_of
from .properties import body_properties

STRAND, GRAVITY = 0.2, 9.81
"""Length of the strand whose droop tells how hair bends [m], and gravity [m/s²]."""

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


def _load(obj: bpy.types.Object) -> float:
    """Weight per length of hair times the cube of the length of that strand [N m²]."""
    return float(max(body_properties(obj).density, 1e-9) * GRAVITY * STRAND**3)


def _read_droop(obj: bpy.types.Object) -> float:
    """Getter: how far the strand droops [m]."""
    return STRAND * droop_of(_load(obj) * body_properties(obj).bend_compliance)


def _write_droop(obj: bpy.types.Object, droop: float) -> None:
    """Setter: the bend compliance with which it does."""
    share = min(max(droop / STRAND, 0.0), 0.99)
    body_properties(obj).bend_compliance = load_of(share) / _load(obj)


DROOP = _blender.props.FloatProperty(
    name="Bending",
    description=(
        "How far the tip of a straight strand of 20 cm hangs below its root, if that is held "
        "level: 0 is rigid, 18 cm is fine hair"
    ),
    get=_read_droop,
    set=_write_droop,
    min=0.0,
    max=0.99 * STRAND,
    step=1,
    precision=3,
    subtype="DISTANCE",
    options=set(),
)
