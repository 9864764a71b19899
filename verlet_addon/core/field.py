"""Force fields as plain data: the parameters of one field at one moment."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import inf, isfinite
from typing import Literal, get_args

import numpy as np

from .arrays import Floats

Kind = Literal["WIND", "FORCE", "VORTEX", "HARMONIC", "CHARGE", "TURBULENCE", "DRAG"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Shape = Literal["POINT", "LINE", "PLANE"]
Falloff = Literal["SPHERE", "TUBE", "CONE"]
Side = Literal["BOTH", "POSITIVE", "NEGATIVE"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Field:
    """A force field at one moment; `docs/reference/forces.md` gives the law of each kind."""

    name: str
    """The object's name, which identifies the field in the next sample."""
    kind: Kind
    shape: Shape
    """Whether distance is measured from the origin, the axis or the plane normal to it."""
    origin: Floats
    """(3,) [m]"""
    axis: Floats
    """(3,) unit vector."""
    strength: float
    """Speed of air [m/s], acceleration [m/s²], or another unit by kind."""
    flow: float = 0.0
    """Rate at which velocities decay towards the field's [1/s]."""
    wind_factor: float = 0.0
    """Share that acts as moving air on surfaces, along their normals; the rest acts on mass."""
    damping: float = 0.0
    """Damping: of HARMONIC, 1 = critical; of DRAG, the rate of its linear part [1/s]."""
    size: float = 0.0
    """Size of the eddies of TURBULENCE, or rest length of HARMONIC [m]."""
    falloff: Falloff = "SPHERE"
    """Definition of the distance in the falloff below."""
    side: Side = "BOTH"
    """Side of the plane normal to the axis on which the field acts."""
    power: float = 0.0
    """Exponent of the falloff (1 + distance)^(−power)."""
    nearest: float = 0.0
    """Distance up to which the strength is full [m]."""
    farthest: float = inf
    """Distance beyond which the field does not act [m]."""
    radial_power: float = 0.0
    """Power of the falloff across the axis, with distances in metres for TUBE, degrees for CONE."""
    radial_nearest: float = 0.0
    radial_farthest: float = inf
    inverse_square: bool = False
    """Whether the strength of FORCE also decreases with the square of the distance."""
    in_world: bool = False
    """Whether the eddies of TURBULENCE stay in place when the field moves."""


def non_finite_number(field: Field) -> str | None:
    """The name of the first parameter that is not finite, if any; `farthest` may be infinite."""
    for name, value in vars(field).items():
        if isinstance(value, float | np.ndarray):
            limit = name.endswith("farthest")
            if np.isnan(value).any() or not (limit or np.isfinite(value).all()):
                return name
    return None


def paired_fields(before: Sequence[Field], after: Sequence[Field]) -> list[tuple[Field, Field]]:
    """Each field of the later sample as it was before, and as it is; new ones do not change."""
    if not after:  # the usual case
        return []
    former = {field.name: field for field in before}
    return [(former.get(field.name, field), field) for field in after]


def interpolate_fields(
    before: Sequence[Field], after: Sequence[Field], share: float
) -> list[Field]:
    """The fields of the later sample, interpolated from the earlier one by `share`, 0 … 1."""
    return [_interpolate(*pair, share) for pair in paired_fields(before, after)]


def _interpolate(before: Field, after: Field, share: float) -> Field:
    """One field interpolated; non-numeric attributes are the later ones."""
    values = {}
    for field in fields(Field):
        start, end = getattr(before, field.name), getattr(after, field.name)
        if isinstance(end, np.ndarray) or (isinstance(end, float) and isfinite(start + end)):
            values[field.name] = start + (end - start) * share
    size = np.sqrt((values["axis"] ** 2).sum())
    values["axis"] = values["axis"] / size if size > 0.0 else after.axis
    return replace(after, **values)
