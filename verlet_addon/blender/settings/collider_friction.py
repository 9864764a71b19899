"""`Object.verlet_collider_friction`: the friction of a collider in the range and sense of bodies.

Blender keeps it as a number from 0 to 80, of which a hundredth is the Coulomb coefficient. The
property is not in the property group, for the reason given in `bend_compliance`.
"""

from typing import Any

import bpy

# Blender's type stubs do not allow a property to be assigned to a name.
_blender: Any = bpy

PER_COEFFICIENT = 100.0
"""Blender's `cloth_friction` for a Coulomb coefficient of 1, as measured on its Cloth."""


def _read(obj: bpy.types.Object) -> float:
    """Getter: the coefficient of friction of a collider; 0 without Collision."""
    return obj.collision.cloth_friction / PER_COEFFICIENT if obj.collision is not None else 0.0


def _write(obj: bpy.types.Object, coefficient: float) -> None:
    """Setter: Blender's own number, from the coefficient."""
    if obj.collision is not None:
        obj.collision.cloth_friction = PER_COEFFICIENT * coefficient


COLLIDER_FRICTION = _blender.props.FloatProperty(
    name="Friction",
    description=(
        "Coefficient of friction, 0 slides freely; where two surfaces touch, the lower value "
        "counts. Blender's own Friction, under Physics, is a hundred times this, and 80 at most"
    ),
    get=_read,
    set=_write,
    min=0.0,
    max=0.8,
    step=10,
    options=set(),
)
