"""The laws of Blender's force fields: acceleration and drag of a particle of 1 kg, and gusts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import acos, degrees, sqrt
from typing import get_args

import numpy as np

from ..arrays import SHORTEST, Floats, Integers, by_value, dot, magnitudes, norms
from ..field import KINDS, Field, Kind, Shape, Side
from ..kernel import Kernel, Sized, Struct, kernel
from .kernels import SLOPES, TABLE, turbulence

MAX_DRAG_STRENGTH = 2.0
"""Upper limit of both coefficients of a DRAG field, which is Blender's."""


SIDES: dict[Side, float] = {"BOTH": 0.0, "POSITIVE": 1.0, "NEGATIVE": -1.0}
"""Signs of heights on the side where a field acts."""

Struct(
    "field",
    Field,
    reads="origin axis strength flow wind_factor damping size power nearest farthest radial_power "
    "radial_nearest radial_farthest inverse_square in_world",
    kind=(int, lambda field: KINDS.index(field.kind)),
    shape=(int, lambda field: get_args(Shape).index(field.shape)),
    in_tube=(int, lambda field: field.falloff == "TUBE"),
    side=(float, lambda field: SIDES[field.side]),
    table=(Integers, lambda _: TABLE),
    slopes=(Floats, lambda _: SLOPES),
)


@dataclass(frozen=True, eq=False)
class FieldPath:
    """A field between two samples, and the share of its strength that acts on a body."""

    before: Field
    after: Field
    share: float


Struct("field_path", FieldPath, reads="before after share")


def is_algebraic(before: Field, after: Field) -> bool:
    """Whether a field between two samples needs no function that only Python's `math` has."""
    powers = after.power, after.radial_power
    return (
        after.falloff != "CONE"
        and powers == (before.power, before.radial_power)
        and all(power.is_integer() and power >= 0.0 for power in powers)
    )


@dataclass(eq=False)
class FieldEffect:
    """Sum of the effects of fields on n particles."""

    push: Floats
    """(3, n) acceleration of a particle at rest [m/s²]."""
    rate: Floats
    """(n,) drag rate: deceleration per velocity [1/s]."""
    air: Floats
    """(3, n) velocity of the air [m/s]."""
    slip_shares: Floats
    """(n,) share of a particle's velocity to subtract for the air's relative velocity, 0 … 1."""


@dataclass(frozen=True, eq=False)
class _FieldPoints:
    """Particles relative to one field."""

    positions: Floats
    """(3, n) [m]"""
    velocities: Floats
    """(3, n) [m/s]"""
    arms: Floats
    """(3, n) vectors from the field's origin [m]."""
    spans: Floats
    """(3, n) vectors from the nearest point of the field's shape [m]."""
    distances: Floats
    """(n,) lengths of the spans [m]."""
    falloff: Floats
    """(n,) factors on the field's strength; 0 out of its range."""


Law = Callable[[Field, _FieldPoints], Floats]


def sum_fields(
    fields: Sequence[Field], shares: Floats, positions: Floats, velocities: Floats
) -> FieldEffect:
    """Sum of the effects of fields at positions (3, n), each scaled by its share (k,)."""
    rows = body_for(fields, field_effects)(fields, shares, positions, velocities)
    return FieldEffect(rows[:3], rows[3], rows[4:7], rows[7])


def body_for(fields: Sequence[Field], either: Kernel[..., Floats]) -> Callable[..., Floats]:
    """The body of a kernel that can take these fields."""
    return either if all(map(is_algebraic, fields, fields)) else either.reference


@kernel(result=lambda _, __, positions, *___: np.zeros((8, positions.shape[1])))
def field_effects(
    fields: Sequence[Field], shares: Floats, positions: Sized, velocities: Floats
) -> Floats:
    """(8, n) the rows of a FieldEffect, by fields of which each is scaled by its share (k,).

    The share `wind_factor` of a field acts as moving air, the rest as a force.
    """
    effect = np.zeros((8, positions.shape[1]))
    for field, share in zip(fields, shares.tolist(), strict=True):
        push, rate = field_law(field, positions, velocities)
        as_air = min(max(field.wind_factor, 0.0), 1.0)
        effect[:3] += push * (share * (1.0 - as_air))
        effect[3] += rate * (share * (1.0 - as_air))
        effect[4:7] += push * (share * as_air)
        effect[7] += rate * (share * as_air)
    effect[7] = np.clip(effect[7], 0.0, 1.0)
    return effect


def field_law(field: Field, positions: Floats, velocities: Floats) -> tuple[Floats, Floats]:
    """Returns a (3, n) [m/s²] and c (n,) [1/s] of the law x'' = a − c v of one field.

    Parameters
    ----------
    positions, velocities : (3, n) [m] and [m/s].
    """
    place = _relative_to(field, positions, velocities)
    push = _PUSHES[field.kind](field, place)
    rate = _RATES.get(field.kind, _flow)(field, place)
    reached = place.falloff > 0.0
    return np.where(reached, push, 0.0), np.where(reached, rate, 0.0)


def _relative_to(field: Field, positions: Floats, velocities: Floats) -> _FieldPoints:
    """Particles at positions (3, n), with velocities (3, n), relative to a field."""
    axis = field.axis[:, None]
    arms = positions - field.origin[:, None]
    heights = _along(field.axis, arms)
    spans = arms
    if field.shape == "LINE" or (field.shape == "PLANE" and field.kind == "VORTEX"):
        spans = arms - axis * heights
    elif field.shape == "PLANE":
        spans = axis * heights
    distances = magnitudes(spans)
    falloff = _falloff(field, arms, heights, distances)
    return _FieldPoints(positions, velocities, arms, spans, distances, falloff)


def _falloff(field: Field, arms: Floats, heights: Floats, distances: Floats) -> Floats:
    """(n,) factors on a field's strength by distance; 0 on the side where it does not act."""
    if field.falloff == "SPHERE":
        left = _reach(distances, field.power, field.nearest, field.farthest)
    else:
        left = _reach(np.abs(heights), field.power, field.nearest, field.farthest)
        across = magnitudes(arms - field.axis[:, None] * heights)
        if field.falloff == "CONE":
            cosines = np.clip(heights / norms(arms), -1.0, 1.0)
            across = by_value(lambda cosine: degrees(acos(cosine)), cosines)
        limits = (field.radial_power, field.radial_nearest, field.radial_farthest)
        left = left * _reach(across, *limits)
    return np.where(heights * SIDES[field.side] < 0.0, 0.0, left)


def _reach(distances: Floats, power: float, nearest: float, farthest: float) -> Floats:
    """(n,) (1 + distance − nearest)^(−power) between the limits, 1 nearer and 0 farther."""
    beyond = np.maximum(distances - nearest, 0.0)
    if power.is_integer() and power >= 0.0:
        left = 1.0 / np.prod([1.0 + beyond] * int(power), axis=0)
    else:
        left = by_value(lambda at: (1.0 + at) ** -power, beyond)
    return np.where(distances > farthest, 0.0, left)


def _wind(field: Field, place: _FieldPoints) -> Floats:
    """(3, n) acceleration along the axis."""
    return field.axis[:, None] * (field.strength * place.falloff)


def _force(field: Field, place: _FieldPoints) -> Floats:
    """(3, n) acceleration away from the field."""
    strength = field.strength * place.falloff
    if field.inverse_square:
        strength = strength / np.maximum(place.distances, SHORTEST) ** 2
    return _direction(place.spans) * strength


def _vortex(field: Field, place: _FieldPoints) -> Floats:
    """(3, n) acceleration round the axis; that of shapes other than POINT is inwards too."""
    around = _around(field.axis, place.arms)
    strength = field.strength * place.falloff
    if field.shape == "POINT":
        return _direction(around) * (strength * place.distances)
    turning = around * strength
    return np.asarray(turning + _around(field.axis, turning) * strength)


def _harmonic(field: Field, place: _FieldPoints) -> Floats:
    """(3, n) acceleration by a spring to the field, of rest length `size`."""
    stretch = place.distances - field.size
    return _direction(place.spans) * (-field.strength * place.falloff * stretch)


def _charge(field: Field, place: _FieldPoints) -> Floats:
    """(3, n) acceleration away from the field, of particles with charge 1."""
    return place.spans * (field.strength * place.falloff)


def _turbulence(field: Field, place: _FieldPoints) -> Floats:
    """(3, n) acceleration by eddies that do not change in time."""
    at = place.positions if field.in_world else place.arms + field.axis[:, None]
    return turbulence(at, field.size) * (field.strength * place.falloff)


def _flow(field: Field, place: _FieldPoints) -> Floats:
    """(n,) drag rate of most kinds: that at which velocities approach the field's."""
    return field.flow * place.falloff


def _vortex_rate(field: Field, place: _FieldPoints) -> Floats:
    """(n,) drag rate of vortices; 1/s more for shapes other than POINT."""
    return _flow(field, place) + (0.0 if field.shape == "POINT" else 1.0)


def _harmonic_rate(field: Field, place: _FieldPoints) -> Floats:
    """(n,) drag rate of the spring; `damping` 1 is critical."""
    rate = 2.0 * field.damping * sqrt(abs(field.strength))
    return np.full_like(place.falloff, rate)


def _drag_rate(field: Field, place: _FieldPoints) -> Floats:
    """(n,) drag rate of linear and of quadratic drag."""
    square, linear = (min(value, MAX_DRAG_STRENGTH) for value in (field.strength, field.damping))
    return place.falloff * (square * magnitudes(place.velocities) + linear)


_PUSHES: dict[Kind, Law] = {
    "WIND": _wind,
    "FORCE": _force,
    "VORTEX": _vortex,
    "HARMONIC": _harmonic,
    "CHARGE": _charge,
    "TURBULENCE": _turbulence,
    "DRAG": lambda _, place: np.zeros_like(place.arms),
}
_RATES: dict[Kind, Law] = {
    "VORTEX": _vortex_rate,
    "HARMONIC": _harmonic_rate,
    "DRAG": _drag_rate,
}
"""Drag rates of kinds that have another than `_flow`."""


def _along(axis: Floats, vectors: Floats) -> Floats:
    """(n,) components of vectors (3, n) along an axis."""
    return dot(axis, vectors)


def _around(axis: Floats, vectors: Floats) -> Floats:
    """(3, n) cross products of the axis and vectors (3, n)."""
    return np.asarray(np.cross(axis[:, None], vectors, axis=0), dtype=np.float64)


def _direction(vectors: Floats) -> Floats:
    """(3, n) unit vectors; 0 for vectors (3, n) of length 0."""
    return np.asarray(vectors / norms(vectors))


def gust_factor(seed: int, frame: int) -> float:
    """Factor from −1 to 1 on a field's noise setting, another one in every frame.

    The first number that Blender draws in that frame, by the generator of POSIX `drand48`.
    """
    state = (((seed + abs(frame)) & 0xFFFFFFFF) << 16) | 0x330E
    draws = []
    for _ in range(2):
        state = (state * 0x5DEECE66D + 0xB) & (2**48 - 1)
        draws.append(state >> 17)
    level = (draws[0] + 1) % 128
    return (1.0 if level > 64 else -1.0) * level / (1.0 + draws[1] / 2**31) / 128.0
