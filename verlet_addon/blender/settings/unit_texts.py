"""Measured lengths and speeds as text, in the metric units that Blender chooses for them."""

import bpy


def length_text(length: float) -> str:
    """A length [m] with two digits, as 0.31 mm, 4.6 cm or 12 m."""
    return bpy.utils.units.to_string("METRIC", "LENGTH", length, precision=2)


def speed_text(speed: float) -> str:
    """A speed [m/s] with two digits."""
    return bpy.utils.units.to_string("METRIC", "VELOCITY", speed, precision=2)
