"""Every setting, with its meaning, unit, range and default; the only home of the defaults."""

from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, pi
from typing import Literal, get_args

from .errors import SettingsError
from .field import KINDS, Kind

BodyType = Literal["CLOTH", "ROPE", "SOFT", "WATER", "HAIR", "FLESH"]
DIMENSIONS: dict[BodyType, int] = {
    "ROPE": 1,
    "HAIR": 1,
    "CLOTH": 2,
    "WATER": 2,
    "SOFT": 3,
    "FLESH": 3,
}
"""Numbers of dimensions of bodies by type: along lines, over faces, within a closed surface."""
LINES = tuple(kind for kind, dimension in DIMENSIONS.items() if dimension == 1)
"""Types of bodies along lines."""
Integrator = Literal["VERLET", "TCV", "TCV_EXACT"]


def weight_name(kind: Kind) -> str:
    """Name of the setting that scales the force fields of a kind."""
    return f"{kind.lower()}_weight"


ROUNDED = 1e-7
"""Rounding: relative tolerance of ranges, because Blender stores single-precision numbers."""


def _require(owner: object, name: str, low: float, high: float = inf) -> None:
    """Raises SettingsError unless the named field is finite and within low … high.

    The value is converted to the type of its default: C structs tell integers from floats.
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
    """Material and collision settings of one body; shared by scripts and the interface."""

    body_type: BodyType = "CLOTH"
    """Kind of body; mass is distributed by area, length (ropes) or volume (jelly, flesh)."""
    mass: float = 0.5
    """Total mass [kg], lumped to the vertices by rest length, area or volume."""
    use_density: bool = False
    """Whether `density` determines the mass in place of `mass`."""
    density: float = 0.15
    """Mass per area of cloth [kg/m²], length of rope [kg/m] or volume of jelly or flesh [kg/m³]."""
    stretch_compliance: float = 0.0
    """Strain per unit tension along edges [m/N for surfaces, 1/N for ropes]; 0 = inextensible."""
    weft_compliance: float = 0.0
    """Strain per unit tension along the weft of a thread map [m/N]; with a map,
    `stretch_compliance` is that along the warp."""
    shear_compliance: float = 1e-2
    """Strain per unit tension across faces [m/N]; 0 = faces keep their angles."""
    bend_compliance: float = 1e5
    """Curvature per unit bending moment [1/(N m) for surfaces, 1/(N m²) for ropes]; 0 = rigid."""
    twist_ratio: float = 0.77
    """Twisting over bending stiffness of hair and of ropes that are curved at rest: 1 / (1 + ν) of
    a round rod with Poisson's ratio ν, here 0.3."""
    angle_limit: float = pi
    """Largest angle by which a segment of a rope turns away from its rest direction, relative to
    the segment before; π = none [rad]."""
    use_sewing: bool = False
    """Whether loose edges between faces are seams, which pull their ends together."""
    sewing_force: float = 0.0
    """Largest force of each of those seams [N]; 0 = as large as needed to close them."""
    sewing_weight: float = 1.0
    """Factor on that force, 0 … 1; 0 lets go of the seams."""
    use_tearing: bool = False
    """Whether cloth can tear along edges at which the mesh is split."""
    tear_strength: float = 100.0
    """Force per width at which cloth tears there [N/m]."""
    use_plasticity: bool = False
    """Whether cloth and ropes deform permanently beyond the limits below."""
    yield_strain: float = 0.05
    """Strain beyond which stretch becomes permanent, where the compliance is above 0."""
    yield_curvature: float = 20.0
    """Curvature, the inverse of a radius, beyond which bending becomes permanent [1/m]."""
    hardening: float = 0.0
    """Share of the excess beyond a limit that raises the limit instead of staying, 0 … 1."""
    shrinking: float = 0.0
    """Share by which all rest lengths become shorter, below 1; negative values grow the body."""
    pressure: float = 0.0
    """Pressure of the gas enclosed by cloth over that outside, at the rest volume [Pa]."""
    wave_speed: float = 1.0
    """Speed of waves on water [m/s]."""
    stiffness: float = 1e3
    """Young's modulus of jelly and flesh [Pa]; it does not depend on mesh, resolution, substeps or
    fps."""
    resolution: int = 8
    """Cells of the jelly's lattice along the mean of the body's two largest dimensions."""
    damping: float = 1.0
    """Rate at which free motion decays relative to still air [1/s]; 0 = none."""
    inner_damping: float = 0.3
    """Loss factor η of jelly, cloth and ropes that are curved at rest: swings become smaller by
    exp(−π η) in a period, those of a cube of jelly that stands, and of what bends to and fro in two
    and a half seconds."""
    flesh_depth: float = 0.08
    """Thickness of flesh under the skin where it is all fat [m]; bone lies below."""
    flesh_resolution: int = 3
    """Cells of the flesh's lattice over that thickness."""
    flesh_damping: float = 0.12
    """Damping ratio ζ of the first mode of flesh: swings become smaller by exp(−2π ζ) in a
    period."""
    keep_volume: float = 0.3
    """Share of the stretch of the posed mesh that flesh does not follow: 0 = its shape is that of
    the pose, 1 = it is as stretched as at rest, and the skin slides."""
    loaded_shape: bool = True
    """Whether flesh was modelled under gravity, which then acts as its difference from that in the
    orientation of the rest shape."""
    muscle_length: float = 1.0
    """Rest length of muscle fibres over that of the rest shape."""
    use_tethers: bool = True
    """Whether every vertex is limited to its rest distance, along the surface, from the nearest
    pin (long-range attachments)."""
    use_maximum_distance: bool = False
    """Whether vertices stay near the animated mesh."""
    maximum_distance: float = 0.1
    """Largest distance of each vertex from its place on the animated mesh [m]."""
    use_dynamic_mesh: bool = False
    """Whether a rope comes back to the shape of the animated mesh, in place of its rest shape."""
    inertia_share: float = 0.0
    """Share of the motion of its pins, or without any of the animated mesh, that carries the body
    along, 0 … 1; 1 = it moves as if that stood still."""
    thickness: float = 0.005
    """Distance kept from other surfaces [m]."""
    friction: float = 1.0
    """Coulomb coefficient of the surface; the lower one of two touching surfaces applies."""
    strand_friction: float = 0.0
    """Rate at which velocities of strands of hair approach the mean of those around [1/s]."""
    strand_pressure: float = 0.0
    """Acceleration that drives strands of hair apart where they stand twice as densely as at rest
    and `strand_spacing` further no more densely [m/s²]."""
    strand_spacing: float = 0.01
    """Distance within which strands of hair act on each other [m]."""
    restitution: float = 0.0
    """Coefficient of restitution, 0 … 1; the higher of two bodies applies, a collider's is a factor
    on it."""
    use_self_collision: bool = False
    """Whether the body collides with itself; collisions with other bodies are always on."""
    gravity: float = 1.0
    """Factor on the scene's gravity; 0 = none, below 0 the body rises."""
    wind: float = 1.0
    """Factor on the strength of all force fields; 0 = none."""
    wind_weight: float = 1.0
    """Factor on wind fields, besides `wind`; the factors below are for fields of other kinds."""
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
        _require(self, "flesh_depth", 1e-4)
        _require(self, "flesh_resolution", 1, 20)
        _require(self, "flesh_damping", 0.0, 2.0)
        _require(self, "muscle_length", 0.3, 2.0)
        for name in (
            "yield_strain",
            "yield_curvature",
            "sewing_force",
            "tear_strength",
            "maximum_distance",
            "pressure",
            "wave_speed",
            "damping",
            "inner_damping",
            "thickness",
            "friction",
            "strand_friction",
            "strand_pressure",
            "wind",
            *map(weight_name, KINDS),
        ):
            _require(self, name, 0.0)
        _require(self, "angle_limit", 0.0, pi)
        _require(self, "twist_ratio", 1e-3, 1e3)
        _require(self, "strand_spacing", 1e-4)
        _require(self, "gravity", -inf)
        shares = ("restitution", "hardening", "sewing_weight", "inertia_share", "keep_volume")
        for name in shares:
            _require(self, name, 0.0, 1.0)

    @property
    def dimension(self) -> int:
        """Number of dimensions: 1 = mass is by length, 2 = by area, 3 = by volume."""
        return DIMENSIONS[self.body_type]

    @property
    def flesh_cell(self) -> float:
        """Edge length of the cells of flesh [m]."""
        return self.flesh_depth / self.flesh_resolution

    @property
    def frame_share(self) -> float:
        """Share of the motion of its reference frame that its inertia leaves out.

        That of flesh leaves out the motion of its pose, place by place.
        """
        return 0.0 if self.body_type == "FLESH" else self.inertia_share

    @property
    def has_rods(self) -> bool:
        """Whether lines are rods also where they are straight at rest."""
        is_rope = self.body_type == "ROPE"
        return self.has_animated_rest or (is_rope and self.angle_limit < pi)

    @property
    def has_animated_rest(self) -> bool:
        """Whether lines come back to the shape of the animated mesh, as hair always does."""
        is_rope = self.body_type == "ROPE"
        return self.body_type == "HAIR" or (is_rope and self.use_dynamic_mesh)

    @cached_property
    def field_shares(self) -> dict[Kind, float]:
        """Factor on the strength of force fields of each kind."""
        return {kind: self.wind * getattr(self, weight_name(kind)) for kind in KINDS}


@dataclass(frozen=True, kw_only=True)
class SceneSettings:
    """Time stepping, and the ground under all bodies."""

    substeps: int = 10
    """Steps per frame; more resolve fast motion better."""
    iterations: int = 1
    """Gauss-Seidel sweeps per step; more substeps help more than more iterations."""
    tolerance: float = 0.0
    """Strain of edges below which a step takes no further sweeps; 0 = never."""
    integrator: Integrator = "TCV_EXACT"
    """Time-corrected Verlet exact for constant acceleration, the article's TCV, or plain Verlet."""
    time_scale: float = 1.0
    """Simulated seconds per second of playback; below 1 is slow motion."""
    use_ground: bool = True
    """Whether bodies collide with the ground plane."""
    ground_height: float = 0.0
    """Height of the ground plane along its normal [m]."""
    ground_friction: float = 0.5
    """Coulomb coefficient of the ground; the lower one of two touching surfaces applies."""
    ground_restitution: float = 0.0
    """Coefficient of restitution of the ground, 0 … 1; the higher one of two applies."""

    def __post_init__(self) -> None:
        _require(self, "substeps", 1, 10_000)
        _require(self, "iterations", 1, 10_000)
        _require(self, "tolerance", 0.0)
        _require_choice(self, "integrator", get_args(Integrator))
        _require(self, "time_scale", 0.0)
        _require(self, "ground_height", -inf)
        _require(self, "ground_friction", 0.0)
        _require(self, "ground_restitution", 0.0, 1.0)
