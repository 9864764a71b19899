"""Values of settings as pages write them: numbers, units, and names of choices."""

from math import degrees, isclose
from typing import Any

UNITS = {"MASS": "kg", "LENGTH": "m", "VELOCITY": "m/s", "ACCELERATION": "m/s²", "ROTATION": "°"}


def unit_of(known: Any, told: dict[str, str]) -> str:
    """The unit of a property, which Blender or settings.toml knows."""
    return told.get("unit") or UNITS.get(known.unit, "")


def scale_of(known: Any) -> float:
    """The factor from the values of a property to those that its field shows."""
    return degrees(1.0) if known.unit == "ROTATION" else 1.0


def number(value: float) -> str:
    """A number as one writes it, which Blender stores in single precision."""
    short = f"{value:.6g}"
    if isclose(float(short), round(value), rel_tol=1e-9) and abs(value) >= 1000.0:
        return f"{round(value):,}"
    return short.replace("-", "−")


def value_of(known: Any, value: Any, unit: str) -> str:
    """A value of a property, as its field shows it."""
    if known.type == "BOOLEAN":
        return "on" if value else "off"
    if known.type == "ENUM":
        return str(known.enum_items[value].name)
    if known.type in ("FLOAT", "INT"):
        joined = "" if unit in ("", "°") else " "
        return f"{number(value)}{joined}{unit}"
    return str(value) or "none"
