"""Materials by name: settings measured on real cloth, ropes, solids and flesh.

The source of each number is in docs/reference/materials.md.
"""

from dataclasses import dataclass
from typing import Any

from .settings import BodySettings, BodyType


@dataclass(frozen=True, kw_only=True)
class Material:
    """A named material."""

    label: str
    """Name in the interface."""
    example: str
    """The measured sample, in a few words."""
    settings: BodySettings
    """Settings, of which `body_type` and those of `material_settings` belong to the material."""


MATERIAL_SETTINGS = (
    *("use_density", "density", "stretch_compliance", "weft_compliance", "shear_compliance"),
    *("bend_compliance", "inner_damping", "damping", "friction", "restitution"),
)
"""Names of the settings that every material sets."""
OF_SOLIDS: dict[str, tuple[str, ...]] = {
    "SOFT": ("stiffness",),
    "FLESH": ("stiffness", "flesh_damping"),
}
"""Names of those that materials of a type set besides."""


def material_settings(name: str) -> tuple[str, ...]:
    """Names of the settings that a material sets, solids and balloons some more than others."""
    settings = MATERIALS[name].settings
    gas = () if settings.pressure == BodySettings.pressure else ("pressure",)
    return (*MATERIAL_SETTINGS, *OF_SOLIDS.get(settings.body_type, ()), *gas)


Row = tuple[str, str, tuple[float, ...]]
"""Row of a table of materials: label, sample, and values of the settings named above it."""
_CLOTHS: dict[str, Row] = {
    # density, stretch, weft, shear, bend, inner damping, damping, friction, restitution, pressure
    "SILK": ("Silk", "Habotai of 16 momme", (0.069, 0, 0, 0.02, 350_000, 0.3, 2, 0.3, 0, 0)),
    "COTTON": ("Cotton", "Plain weave of 150 g/m²", (0.15, 0, 0, 0.01, 29_000, 0.3, 1, 0.5, 0, 0)),
    "DENIM": ("Denim", "Twill of 11 ounces", (0.324, 0, 0, 0.004, 8_400, 0.21, 0.7, 0.6, 0, 0)),
    "WOOL": ("Wool", "Suiting of 235 g/m²", (0.235, 0, 0, 0.015, 29_500, 0.3, 1, 0.7, 0, 0)),
    "LEATHER": (
        *("Leather", "Garment leather of 0.8 mm"),
        (0.5, 0, 0, 0.01, 12_300, 0.15, 0.5, 0.6, 0, 0),
    ),
    "RUBBER_SHEET": (
        *("Rubber Sheet", "Natural rubber of 1 mm"),
        (0.93, 6.7e-4, 6.7e-4, 0.001, 6_000, 0.15, 0.5, 1, 0.5, 0),
    ),
    "PAPER": ("Paper", "Office paper of 80 g/m²", (0.08, 0, 0, 4e-6, 3_100, 0.3, 3, 0.4, 0, 0)),
    "BALLOON": (
        *("Balloon", "Latex of 0.25 mm, inflated"),
        (0.23, 2.7e-3, 2.7e-3, 4e-3, 380_000, 0.15, 0.5, 0.8, 0.6, 500),
    ),
}
_ROPES: dict[str, Row] = {
    # density, stretch, bend, damping, friction, restitution
    "HEMP": ("Hemp", "Laid rope of 12 mm", (0.11, 8e-6, 330, 0.5, 0.8, 0)),
    "NYLON": ("Nylon", "Laid rope of 12 mm", (0.089, 1.1e-5, 2_000, 0.5, 0.5, 0)),
    "BUNGEE": ("Bungee", "Shock cord of 13 mm", (0.12, 1e-3, 2_000, 0.3, 0.8, 0)),
    "STEEL_CHAIN": ("Steel Chain", "Short links of 6 mm", (0.8, 0, 1e8, 0.2, 0.4, 0.1)),
}
_HAIRS: dict[str, Row] = {
    # density, bend, inner damping, damping, friction, restitution
    "STRAIGHT": ("Straight", "A lock of 15 straight hairs", (1e-4, 9.3e6, 0.3, 5, 0.3, 0)),
    "WAVY": ("Wavy", "A lock of wavy hairs", (1e-4, 7e6, 0.25, 5, 0.3, 0)),
    "CURLY": ("Curly", "A lock of coarse curls", (1e-4, 5e6, 0.15, 4, 0.4, 0)),
    "AFRO": ("Afro", "A lock of tight coils", (1e-4, 3e6, 0.3, 6, 0.5, 0)),
    "FUR": ("Fur", "Guard hairs of a coat", (1e-4, 5.8e6, 0.3, 8, 0.3, 0)),
    "PONYTAIL": ("Ponytail", "Tresses held together by a band", (1e-3, 2.6e5, 0.4, 2, 0.4, 0)),
}
_SOLIDS: dict[str, Row] = {
    # density, stiffness, inner damping, damping, friction, restitution
    "GELATIN": ("Gelatin", "Gelatin dessert out of its mould", (1050, 8e3, 0.03, 1, 0.4, 0)),
    "RUBBER_BALL": ("Rubber Ball", "Solid natural rubber", (930, 1.5e6, 0.1, 0.3, 1, 0.7)),
}
_FLESHES: dict[str, Row] = {
    # density, stiffness, flesh damping, damping, friction, restitution
    "FAT": ("Fat", "Fat under the skin, and the skin", (950, 5e3, 0.12, 0, 0.5, 0)),
    "BREAST": ("Breast", "Breast of fat and glands", (980, 3.2e3, 0.1, 0, 0.5, 0)),
    "BELLY": ("Belly", "Belly of a heavy person", (950, 6e3, 0.12, 0, 0.5, 0)),
    "MUSCLE": ("Muscle", "Muscle at rest", (1060, 2e4, 0.25, 0, 0.5, 0)),
    "JOWL": ("Jowl", "Cheeks and double chin", (970, 8e3, 0.2, 0, 0.5, 0)),
}


def _materials(body_type: BodyType, rows: dict[str, Row], *names: str) -> dict[str, Material]:
    """The materials of a table whose columns are settings of these names."""
    found = {}
    for name, (label, example, numbers) in rows.items():
        given: dict[str, Any] = dict(zip(names, numbers, strict=True))
        settings = BodySettings(body_type=body_type, use_density=True, **given)
        found[name] = Material(label=label, example=example, settings=settings)
    return found


_CONTACT = ("damping", "friction", "restitution")
MATERIALS = {
    **_materials("CLOTH", _CLOTHS, *MATERIAL_SETTINGS[1:], "pressure"),
    **_materials("ROPE", _ROPES, "density", "stretch_compliance", "bend_compliance", *_CONTACT),
    **_materials("HAIR", _HAIRS, "density", "bend_compliance", "inner_damping", *_CONTACT),
    **_materials("SOFT", _SOLIDS, "density", "stiffness", "inner_damping", *_CONTACT),
    **_materials("FLESH", _FLESHES, "density", "stiffness", "flesh_damping", *_CONTACT),
}
"""All materials by their names in scripts."""

FITTING: dict[BodyType, str] = {
    "CLOTH": "COTTON",
    "ROPE": "HEMP",
    "HAIR": "STRAIGHT",
    "SOFT": "GELATIN",
    "FLESH": "FAT",
}
"""Default material of each body type; water has none."""
