"""What a force field is, as the core takes it from Blender: plain numbers at one moment."""

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
    """A force field at one moment; `docs/forces.md` says what each kind does."""

    name: str
    """The object's name, by which it is found again in the next sample."""
    kind: Kind
    shape: Shape
    """Whether distance is measured from a point, from the axis or from the plane across it."""
    origin: Floats
    """(3,) [m]"""
    axis: Floats
    """(3,) unit vector."""
    strength: float
    """[m/s] of air, [m/s²] of a force, and what else the law of its kind says."""
    flow: float = 0.0
    """Rate at which motion is slowed down to that of the field [1/s]."""
    wind_factor: float = 0.0
    """Share that acts as moving air, on surfaces by their normal; the rest acts on the mass."""
    damping: float = 0.0
    """Of HARMONIC: 1 = critical; of DRAG: rate of its linear part [1/s]."""
    size: float = 0.0
    """Of TURBULENCE: how large eddies are [m]; of HARMONIC: rest length [m]."""
    falloff: Falloff = "SPHERE"
    """What distance means for what follows."""
    side: Side = "BOTH"
    """On which side of the plane across the axis it acts."""
    power: float = 0.0
    """It decreases as (1 + distance)^(−power)."""
    nearest: float = 0.0
    """Up to this distance its strength is full [m]."""
    farthest: float = inf
    """Beyond this distance it does not act [m]."""
    radial_power: float = 0.0
    """The same across the axis, in metres for TUBE and in degrees for CONE."""
    radial_nearest: float = 0.0
    radial_farthest: float = inf
    inverse_square: bool = False
    """Of FORCE: it also decreases with the square of the distance, as gravity does."""
    in_world: bool = False
    """Of TURBULENCE: eddies stay where they are when the field moves."""


def non_finite_number(field: Field) -> str | None:
    """The first of a field's numbers that is none, by name; only limits may be infinite."""
    for name, value in vars(field).items():
        if isinstance(value, float | np.ndarray):
            limit = name.endswith("farthest")
            if np.isnan(value).any() or not (limit or np.isfinite(value).all()):
                return name
    return None


def interpolate_fields(
    before: Sequence[Field], after: Sequence[Field], share: float
) -> list[Field]:
    """The fields a share of the way from one sample to the next, at which each still is there."""
    if not after:  # as mostly, for each of many bodies
        return []
    former = {field.name: field for field in before}
    return [_interpolate(former.get(field.name, field), field, share) for field in after]


def _interpolate(before: Field, after: Field, share: float) -> Field:
    """One field on its way; what are no numbers are those at the end."""
    values = {}
    for field in fields(Field):
        start, end = getattr(before, field.name), getattr(after, field.name)
        if isinstance(end, np.ndarray) or (isinstance(end, float) and isfinite(start + end)):
            values[field.name] = start + (end - start) * share
    size = np.sqrt((values["axis"] ** 2).sum())
    values["axis"] = values["axis"] / size if size > 0.0 else after.axis
    return replace(after, **values)
