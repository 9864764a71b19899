"""Every setting, with its meaning, unit, range and default; the only home of the defaults."""

from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import Literal, get_args

from .errors import SettingsError
from .field import KINDS, Kind

BodyType = Literal["CLOTH", "ROPE", "SOFT", "WATER"]
Integrator = Literal["VERLET", "TCV", "TCV_EXACT"]


def weight_name(kind: Kind) -> str:
    """The setting that says how much of the force fields of a type a body feels."""
    return f"{kind.lower()}_weight"


ROUNDED = 1e-7
"""Blender's own numbers are off by no more than this share."""


def _require(owner: object, name: str, low: float, high: float = inf) -> None:
    """Raises SettingsError unless the named field is finite and within low … high.

    What scripts give as a whole number becomes what its default is: C tells them apart.
    """
    value = getattr(owner, name)
    least, most = low - ROUNDED * abs(low), high + ROUNDED * abs(high)
    if not isfinite(value) or not least <= value <= most:
        allowed = f"{low:g} or more" if high == inf else f"between {low:g} and {high:g}"
        allowed = "a finite number" if low == -inf else allowed
        raise SettingsError(f"{name} is {value:g}; set it to {allowed}")
    object.__setattr__(owner, name, type(getattr(type(owner), name))(value))


def _require_choice(owner: object, name: str, choices: tuple[str, ...]) -> None:
    """Raises SettingsError unless the named field is one of the choices."""
    value = getattr(owner, name)
    if value not in choices:
        raise SettingsError(f"{name} is {value!r}; choose one of {', '.join(choices)}")


@dataclass(frozen=True, kw_only=True)
class BodySettings:
    """How one body is made and behaves; shared by scripts and the interface."""

    body_type: BodyType = "CLOTH"
    """Surfaces weigh by area, ropes by length, jelly by volume."""
    mass: float = 0.5
    """Total mass [kg], shared out over the vertices by rest length or rest area."""
    use_density: bool = False
    """Weigh by size: `density` in place of `mass`."""
    density: float = 0.15
    """Mass per area of cloth [kg/m²], length of rope [kg/m] or volume of jelly [kg/m³]."""
    stretch_compliance: float = 0.0
    """Strain per unit tension along edges [m/N for surfaces, 1/N for ropes]; 0 = inextensible."""
    weft_compliance: float = 0.0
    """The same across a map of threads; where there is one, what is above is along it [m/N]."""
    shear_compliance: float = 1e-2
    """Strain per unit tension across faces [m/N]; 0 = faces keep their angles."""
    bend_compliance: float = 1e5
    """Curvature per unit bending moment [1/(N m) for surfaces, 1/(N m²) for ropes]; 0 = rigid."""
    use_sewing: bool = False
    """Whether loose edges between faces draw their ends together."""
    sewing_force: float = 0.0
    """The greatest force with which each of those edges draws [N]; 0 = as closes what is sewn."""
    use_tearing: bool = False
    """Whether cloth tears where it was split beforehand."""
    tear_strength: float = 100.0
    """Pull per width at which it tears there [N/m]."""
    use_plasticity: bool = False
    """Whether cloth and ropes that are stretched or bent too far stay so."""
    yield_strain: float = 0.05
    """Share by which lengths stretch before some of it stays, where they stretch at all."""
    yield_curvature: float = 20.0
    """Curvature, the inverse of a radius, up to which they spring back [1/m]."""
    hardening: float = 0.0
    """Share of what goes beyond either that does not stay but hardens it, 0 … 1."""
    shrinking: float = 0.0
    """Share by which all its lengths become shorter, below 1; negative ones make it grow."""
    pressure: float = 0.0
    """Of the gas that a cloth encloses, over the outside, while it has its volume at rest [Pa]."""
    wave_speed: float = 1.0
    """How fast ripples run on water [m/s]."""
    stiffness: float = 1e3
    """Young's modulus of jelly [Pa]; it does not depend on mesh, resolution, substeps or fps."""
    resolution: int = 8
    """Cubes of jelly along a body, by the mean of its two largest dimensions; finer shows more."""
    damping: float = 1.0
    """Rate at which free motion decays relative to still air [1/s]; 0 = none."""
    use_tethers: bool = True
    """Keep every vertex within its rest distance, along the surface, of the nearest pin."""
    thickness: float = 0.005
    """Distance kept from whatever the body touches [m]."""
    friction: float = 1.0
    """Coulomb coefficient of the surface; the slipperier of two touching surfaces decides."""
    restitution: float = 0.0
    """Share of the approach speed kept in a bounce, 0 … 1; the bouncier of two surfaces decides."""
    use_self_collision: bool = False
    """Keep the body's own parts off each other; other bodies are always kept off."""
    gravity: float = 1.0
    """Share of the scene's gravity that pulls at the body; 0 = none, below 0 it rises."""
    wind: float = 1.0
    """Share of the strength that force fields act on the body with; 0 = it feels none."""
    wind_weight: float = 1.0
    """And of that, the share of fields of this type, and so for every type below."""
    force_weight: float = 1.0
    vortex_weight: float = 1.0
    harmonic_weight: float = 1.0
    charge_weight: float = 1.0
    turbulence_weight: float = 1.0
    drag_weight: float = 1.0

    def __post_init__(self) -> None:
        _require_choice(self, "body_type", get_args(BodyType))
        for name in ("mass", "density"):
            _require(self, name, 1e-9)
        for name in ("stretch", "weft", "shear", "bend"):
            _require(self, f"{name}_compliance", 0.0)
        _require(self, "shrinking", -10.0, 0.99)
        _require(self, "stiffness", 1e-6, 1e12)
        _require(self, "resolution", 1, 100)
        for name in (
            "yield_strain",
            "yield_curvature",
            "sewing_force",
            "tear_strength",
            "pressure",
            "wave_speed",
            "damping",
            "thickness",
            "friction",
            "wind",
            *map(weight_name, KINDS),
        ):
            _require(self, name, 0.0)
        _require(self, "gravity", -inf)
        _require(self, "restitution", 0.0, 1.0)
        _require(self, "hardening", 0.0, 1.0)

    @cached_property
    def field_shares(self) -> dict[Kind, float]:
        """Share of their strength that force fields of each type act on the body with."""
        return {kind: self.wind * getattr(self, weight_name(kind)) for kind in KINDS}


@dataclass(frozen=True, kw_only=True)
class SceneSettings:
    """How time is cut up, and the ground under all bodies."""

    substeps: int = 10
    """Steps per frame; more follow fast motion more closely."""
    iterations: int = 1
    """Relaxation sweeps per step; more substeps do more than more iterations."""
    tolerance: float = 0.0
    """Sweeping ends early once no edge is stretched by more than this share; 0 = never."""
    integrator: Integrator = "TCV_EXACT"
    """Time-corrected Verlet exact for constant acceleration, the article's TCV, or plain Verlet."""
    time_scale: float = 1.0
    """Simulated seconds per second of playback; below 1 is slow motion."""
    use_ground: bool = True
    """Whether bodies collide with the ground plane."""
    ground_height: float = 0.0
    """Height of the ground plane along its normal [m]."""
    ground_friction: float = 0.5
    """Coulomb coefficient of the ground; the slipperier of two touching surfaces decides."""
    ground_restitution: float = 0.0
    """Bounce of the ground, 0 … 1; the bouncier of two touching surfaces decides."""

    def __post_init__(self) -> None:
        _require(self, "substeps", 1, 10_000)
        _require(self, "iterations", 1, 10_000)
        _require(self, "tolerance", 0.0)
        _require_choice(self, "integrator", get_args(Integrator))
        _require(self, "time_scale", 0.0)
        _require(self, "ground_height", -inf)
        _require(self, "ground_friction", 0.0)
        _require(self, "ground_restitution", 0.0, 1.0)
