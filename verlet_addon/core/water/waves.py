"""Waves on water: heights along the surface's normals, integrated by time-corrected Verlet."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats, Integers, weighted_sums
from ..errors import SettingsError
from ..integrators import step_gains
from ..linear.rotations import portable_rotations
from .submersion import SubmergedShape, submerged_depths
from .surface import Water, wave_laplacian

MAX_PHASE = 1.4
"""Largest angular frequency × step of waves; Verlet integration is stable below 2. With half, the
surface of a pond lies 3 mm elsewhere; with 1.9, 10 mm."""
MAX_WAVE_STEPS = 1000
"""Most wave steps within one step of the simulation; more raise a SettingsError."""


@dataclass(eq=False)
class SubmergedBody:
    """A body or collider that displaces water, and its displacement in the last step."""

    number: int
    """Index among all bodies, followed by all colliders."""
    shape: SubmergedShape
    positions: Floats = field(default_factory=lambda: np.empty(0))
    """(3, v) vertex positions for which `filled` was computed [m]."""
    filled: Floats = field(default_factory=lambda: np.empty(0))
    """(n,) submerged length of the water column beneath each vertex [m]."""


@dataclass(eq=False)
class WaterState:
    """State of the water between steps."""

    heights: Floats
    """(n,) heights of vertices over the level [m]."""
    previous_heights: Floats
    """(n,) heights one wave step ago [m]."""
    previous_dt: float
    """Length of the previous wave step [s]."""
    submerged_bodies: Sequence[SubmergedBody] = ()
    """Bodies and colliders that displace water."""
    level_positions: Floats = field(default_factory=lambda: np.empty((3, 0)))
    """(3, n) level positions for which displacements were computed last [m]."""
    displaced: Floats | None = None
    """(n,) displaced length of each water column, smoothed [m]; None before the first step."""
    rotation: Floats = field(default_factory=lambda: np.eye(3))
    """(3, 3) rotation of the water's object since the first frame."""


def start_waves(water: Water, velocities: Floats, dt: float) -> WaterState:
    """The state for vertex velocities (3, n) [m/s], where the step before has length dt [s]."""
    offsets = water.origin - water.level
    heights = (offsets * water.normals).sum(axis=0)
    speeds = (velocities * water.normals).sum(axis=0)
    return WaterState(heights, heights - speeds * dt, dt)


@dataclass(frozen=True, eq=False)
class DrivenVertices:
    """Vertices with target heights: pins and soft pins."""

    vertices: Integers
    """(k,) vertex numbers."""
    heights: Floats
    """(k,) target heights at the end of the step [m]."""
    rates: Floats
    """(k,) spring stiffness per mass; ∞ = pinned [1/s²]."""


def count_steps(name: str, water: Water, speed: float, dt: float) -> int:
    """Number of wave steps that are stable within one step of length dt [s].

    Raises
    ------
    SettingsError
        If more than MAX_WAVE_STEPS are needed; `name` is the body's.
    """
    steps = int(np.ceil(water.max_frequency * speed * dt / MAX_PHASE)) or 1
    if steps > MAX_WAVE_STEPS:
        raise SettingsError(
            f"the wave speed of '{name}' is {speed:g} m/s, too fast for its smallest faces; raise "
            f"the substeps {np.ceil(steps / MAX_WAVE_STEPS):g}-fold, lower the speed, or merge "
            "vertices"
        )
    return steps


def step_waves(
    water: Water,
    state: WaterState,
    driven: DrivenVertices,
    *,
    speed: float,
    damping: float,
    integrator: str,
    dt: float,
    steps: int,
) -> None:
    """Advances heights by the wave equation η'' = c² Δη − damping η'.

    ∫ Δη is by finite elements without boundary terms, so that the boundary reflects waves. Target
    heights of driven vertices are interpolated linearly over the step.

    Parameters
    ----------
    driven : pinned and softly pinned vertices.
    speed : wave speed c [m/s].
    damping : [1/s].
    dt, steps : length of the simulation step [s], and number of wave steps in it.
    """
    h, carries = dt / steps, water.areas > 0.0
    stiffness = speed**2 / np.where(carries, water.areas, np.inf)
    starts = state.heights[driven.vertices]
    for number in range(1, steps + 1):
        gains = step_gains(integrator, h, state.previous_dt, damping)
        velocity_gain, h_squared = (float(gain) for gain in gains)
        displacement = (state.heights - state.previous_heights) * velocity_gain
        displacement -= h_squared * stiffness * wave_laplacian(water, state.heights)
        heights = state.heights + displacement
        wanted = starts + (driven.heights - starts) * (number / steps)
        share = 1.0 / (1.0 + 1.0 / (driven.rates * h_squared))
        heights[driven.vertices] += (wanted - heights[driven.vertices]) * share
        state.previous_heights, state.heights, state.previous_dt = state.heights, heights, h


def displace_water(
    water: Water, state: WaterState, vertex_positions: Sequence[Floats], level_positions: Floats
) -> None:
    """Raises heights by the change of the displaced water.

    A change of the submerged length of a column raises its height by as much at once, without
    velocity; waves then distribute it. So a pond rises by the volume of submerged bodies.

    Parameters
    ----------
    vertex_positions : (3, v) vertex positions of each body and collider [m].
    level_positions : (3, n) level positions, moved with the water's object [m].
    """
    level_stays = np.array_equal(level_positions, state.level_positions)
    changed = [
        each
        for each in state.submerged_bodies
        if not (level_stays and np.array_equal(each.positions, vertex_positions[each.number]))
    ]
    if not changed:
        return
    normals, state.level_positions = weighted_sums(state.rotation, water.normals), level_positions
    for each in changed:
        each.positions = vertex_positions[each.number].copy()
        each.filled = submerged_depths(
            level_positions, normals, water.areas, each.positions, each.shape
        )
    filled = (each.filled for each in state.submerged_bodies)
    displaced = _smooth(water, sum(filled, np.zeros(len(water.areas))))
    if state.displaced is not None:
        state.heights += displaced - state.displaced
        state.previous_heights += displaced - state.displaced
    state.displaced = displaced


def _smooth(water: Water, values: Floats) -> Floats:
    """(n,) values after two explicit diffusion steps, which conserve Σ value × area."""
    carries = water.areas > 0.0
    rate = 1.0 / (water.max_frequency**2 * np.where(carries, water.areas, np.inf))
    for _ in range(2 if values.any() else 0):
        values = values - rate * wave_laplacian(water, values)
    return values


def find_object_motion(water: Water, targets: Floats, free: Integers) -> tuple[Floats, Floats]:
    """Best-fit rotation (3, 3) and translation (3, 1) from the first frame's mesh to its targets.

    They are the motion of the water's object, which the level follows. Of the targets (3, n), only
    those of `free` (f,) vertices count, as pinned ones may be animated by themselves.
    """
    if not (targets != water.origin).any(axis=0)[free].any():
        return np.eye(3), np.zeros((3, 1))
    before, after = water.origin[:, free], targets[:, free]
    centres = before.mean(axis=1, keepdims=True), after.mean(axis=1, keepdims=True)
    rotation = portable_rotations(np.einsum("ik,jk->ij", after - centres[1], before - centres[0]))
    return rotation, centres[1] - weighted_sums(rotation, centres[0])
