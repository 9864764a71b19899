"""Settings of soft bones by name, as a place to start from."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import pi, radians

import bpy

from .bone_properties import set_bone


@dataclass(frozen=True, kw_only=True)
class BoneMaterial:
    """Named settings of soft bones; their names are those of `BONE_SETTINGS`."""

    label: str
    """Name in the interface."""
    example: str
    """What moves like this, in a few words."""
    frequency: float
    """[Hz]"""
    damping_ratio: float
    angle_limit: float = pi
    """[rad]"""


BONE_MATERIALS = {
    "TAIL": BoneMaterial(
        label="Tail",
        example="A tail with muscles: it follows through, and swings once or twice",
        frequency=1.5,
        damping_ratio=0.3,
        angle_limit=radians(45.0),
    ),
    "EAR": BoneMaterial(
        label="Ear",
        example="An upright ear, which flicks back",
        frequency=4.0,
        damping_ratio=0.2,
        angle_limit=radians(30.0),
    ),
    "PONYTAIL": BoneMaterial(
        label="Ponytail", example="Long hair, which swings", frequency=0.8, damping_ratio=0.25
    ),
    "ANTENNA": BoneMaterial(
        label="Antenna",
        example="A springy feeler, which trembles for long",
        frequency=5.0,
        damping_ratio=0.05,
    ),
    "SKIRT": BoneMaterial(
        label="Skirt", example="Chains of a skirt or a cape", frequency=0.7, damping_ratio=0.4
    ),
    "BREAST": BoneMaterial(
        label="Breast",
        example="Soft flesh that holds its shape: it bounces once or twice, by a little",
        frequency=3.0,
        damping_ratio=0.25,
        angle_limit=radians(20.0),
    ),
}
"""All of them, by name."""


def set_bone_material(bones: Iterable[bpy.types.PoseBone], name: str) -> None:
    """Gives bones the settings of a material."""
    material = BONE_MATERIALS[name]
    for bone in bones:
        set_bone(
            bone,
            frequency=material.frequency,
            damping_ratio=material.damping_ratio,
            angle_limit=material.angle_limit,
        )
