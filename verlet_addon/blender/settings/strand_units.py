"""`Object.verlet_droop` and `Object.verlet_strand_mass`: hair in units that a groomer knows.

They stand for the bend compliance and the density. As `bend_compliance.BEND`, they are in no
property group.
"""

from typing import Any

import bpy

from ...core.rods.droop import droop_of, load_of
from .properties import body_properties

STRAND, GRAVITY = 0.2, 9.81
"""Length of the strand whose droop tells how hair bends [m], and gravity [m/s²]."""
GRAMS = 1000.0
"""Grams in a kilogram."""

# Blender's type stubs do not allow a property to be assigned to a name.
_blender: Any = bpy


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


def _read_mass(obj: bpy.types.Object) -> float:
    """Getter: mass per length of a strand [g/m]."""
    return float(GRAMS * body_properties(obj).density)


def _write_mass(obj: bpy.types.Object, grams: float) -> None:
    """Setter: the density of hair."""
    body_properties(obj).density = grams / GRAMS


STRAND_MASS = _blender.props.FloatProperty(
    name="Mass",
    description="Grams per metre of a strand, which stands for a lock: a single hair has 0.0065",
    get=_read_mass,
    set=_write_mass,
    min=1e-6,
    soft_max=10.0,
    step=1,
    precision=3,
    options=set(),
)
