"""Materials by name: settings measured on real cloth, ropes and solids.

The source of each number is in docs/materials.md.
"""

from dataclasses import dataclass

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
    "use_density",
    "density",
    "stretch_compliance",
    "weft_compliance",
    "shear_compliance",
    "bend_compliance",
    "damping",
    "friction",
    "restitution",
)
"""Names of the settings that every material sets."""


def material_settings(name: str) -> tuple[str, ...]:
    """Names of the settings that a material sets; solids also have stiffness, balloons pressure."""
    settings = MATERIALS[name].settings
    if settings.body_type == "SOFT":
        return (*MATERIAL_SETTINGS, "stiffness")
    return (*MATERIAL_SETTINGS, "pressure") if settings.pressure > 0.0 else MATERIAL_SETTINGS


def _cloth(
    label: str,
    example: str,
    *,
    density: float,
    shear: float,
    bend: float,
    damping: float,
    friction: float,
    stretch: float = 0.0,
    restitution: float = 0.0,
    pressure: float = 0.0,
) -> Material:
    """A material of cloth; units as in `BodySettings`."""
    settings = BodySettings(
        body_type="CLOTH",
        use_density=True,
        density=density,
        stretch_compliance=stretch,
        weft_compliance=stretch,
        shear_compliance=shear,
        bend_compliance=bend,
        damping=damping,
        friction=friction,
        restitution=restitution,
        pressure=pressure,
    )
    return Material(label=label, example=example, settings=settings)


def _rope(
    label: str,
    example: str,
    *,
    density: float,
    stretch: float,
    bend: float,
    damping: float,
    friction: float,
    restitution: float = 0.0,
) -> Material:
    """A material of ropes; units as in `BodySettings`."""
    settings = BodySettings(
        body_type="ROPE",
        use_density=True,
        density=density,
        stretch_compliance=stretch,
        bend_compliance=bend,
        damping=damping,
        friction=friction,
        restitution=restitution,
    )
    return Material(label=label, example=example, settings=settings)


def _solid(
    label: str,
    example: str,
    *,
    density: float,
    stiffness: float,
    damping: float,
    friction: float,
    restitution: float,
) -> Material:
    """A material of solids; `stiffness` is Young's modulus [Pa]."""
    settings = BodySettings(
        body_type="SOFT",
        use_density=True,
        density=density,
        stiffness=stiffness,
        damping=damping,
        friction=friction,
        restitution=restitution,
    )
    return Material(label=label, example=example, settings=settings)


MATERIALS = {
    "SILK": _cloth(
        "Silk",
        "Habotai of 16 momme",
        density=0.069,
        shear=0.02,
        bend=350_000,
        damping=2.0,
        friction=0.3,
    ),
    "COTTON": _cloth(
        "Cotton",
        "Plain weave of 150 g/m²",
        density=0.15,
        shear=0.01,
        bend=29_000,
        damping=1.0,
        friction=0.5,
    ),
    "DENIM": _cloth(
        "Denim",
        "Twill of 11 ounces",
        density=0.324,
        shear=0.004,
        bend=8_400,
        damping=0.7,
        friction=0.6,
    ),
    "WOOL": _cloth(
        "Wool",
        "Suiting of 235 g/m²",
        density=0.235,
        shear=0.015,
        bend=29_500,
        damping=1.0,
        friction=0.7,
    ),
    "LEATHER": _cloth(
        "Leather",
        "Garment leather of 0.8 mm",
        density=0.5,
        shear=0.01,
        bend=12_300,
        damping=0.5,
        friction=0.6,
    ),
    "RUBBER_SHEET": _cloth(
        "Rubber Sheet",
        "Natural rubber of 1 mm",
        density=0.93,
        stretch=6.7e-4,
        shear=0.001,
        bend=6_000,
        damping=0.5,
        friction=1.0,
        restitution=0.5,
    ),
    "PAPER": _cloth(
        "Paper",
        "Office paper of 80 g/m²",
        density=0.08,
        shear=4e-6,
        bend=3_100,
        damping=3.0,
        friction=0.4,
    ),
    "BALLOON": _cloth(
        "Balloon",
        "Latex of 0.25 mm, inflated",
        density=0.23,
        stretch=2.7e-3,
        shear=4e-3,
        bend=380_000,
        damping=0.5,
        friction=0.8,
        restitution=0.6,
        pressure=500.0,
    ),
    "HEMP": _rope(
        "Hemp",
        "Laid rope of 12 mm",
        density=0.11,
        stretch=8e-6,
        bend=330,
        damping=0.5,
        friction=0.8,
    ),
    "NYLON": _rope(
        "Nylon",
        "Laid rope of 12 mm",
        density=0.089,
        stretch=1.1e-5,
        bend=2_000,
        damping=0.5,
        friction=0.5,
    ),
    "BUNGEE": _rope(
        "Bungee",
        "Shock cord of 13 mm",
        density=0.12,
        stretch=1e-3,
        bend=2_000,
        damping=0.3,
        friction=0.8,
    ),
    "STEEL_CHAIN": _rope(
        "Steel Chain",
        "Short links of 6 mm",
        density=0.8,
        stretch=0.0,
        bend=1e8,
        damping=0.2,
        friction=0.4,
        restitution=0.1,
    ),
    "GELATIN": _solid(
        "Gelatin",
        "Gelatin dessert out of its mould",
        density=1050.0,
        stiffness=8e3,
        damping=1.0,
        friction=0.4,
        restitution=0.0,
    ),
    "RUBBER_BALL": _solid(
        "Rubber Ball",
        "Solid natural rubber",
        density=930.0,
        stiffness=1.5e6,
        damping=0.3,
        friction=1.0,
        restitution=0.7,
    ),
}
"""All materials by their names in scripts."""

FITTING: dict[BodyType, str] = {"CLOTH": "COTTON", "ROPE": "HEMP", "SOFT": "GELATIN"}
"""Default material of each body type; water has none."""
