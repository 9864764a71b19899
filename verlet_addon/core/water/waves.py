"""Waves on water: heights along the surface's normals, stepped by time-corrected Verlet."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats, Integers, weighted_sums
from ..errors import SettingsError
from ..integrators import step_gains
from ..linear.rotations import portable_rotations
from .compiled_kernels import wave_laplacian
from .submersion import SubmergedShape, submerged_depths
from .surface import Water

MAX_PHASE = 1.4
"""Verlet's steps h are stable for frequencies up to 2/h; waves are stepped so that theirs are below
this."""
MAX_WAVE_STEPS = 1000
"""So many steps within a step are enough for any water that is looked at."""


@dataclass(eq=False)
class SubmergedBody:
    """A body or collider that may dip in, and what it did when it was last looked at."""

    number: int
    """Which of all bodies and colliders."""
    shape: SubmergedShape
    positions: Floats = field(default_factory=lambda: np.empty(0))
    """(3, v) where its vertices were [m]."""
    filled: Floats = field(default_factory=lambda: np.empty(0))
    """(n,) how much of the column under each vertex of the water it filled [m]."""


@dataclass(eq=False)
class WaterState:
    """What a step changes of water."""

    heights: Floats
    """(n,) over the level [m]."""
    previous_heights: Floats
    """(n,) one step of the waves ago [m]."""
    previous_dt: float
    """Length of that step [s]."""
    submerged_bodies: Sequence[SubmergedBody] = ()
    """What may dip in."""
    level_positions: Floats = field(default_factory=lambda: np.empty((3, 0)))
    """(3, n) where the level was when they were last looked at [m]."""
    displaced: Floats | None = None
    """(n,) what all of them fill, spread out to neighbours [m]; None before the first."""
    rotation: Floats = field(default_factory=lambda: np.eye(3))
    """(3, 3) how its object has turned since the first frame."""


def start_waves(water: Water, velocities: Floats, dt: float) -> WaterState:
    """Water that moves with velocities (3, n) [m/s]."""
    offsets = water.origin - water.level
    heights = (offsets * water.normals).sum(axis=0)
    speeds = (velocities * water.normals).sum(axis=0)
    return WaterState(heights, heights - speeds * dt, dt)


@dataclass(frozen=True, eq=False)
class DrivenVertices:
    """Vertices that are drawn to heights."""

    vertices: Integers
    """(k,)"""
    heights: Floats
    """(k,) at the end of the step [m]."""
    rates: Floats
    """(k,) squares of the angular frequencies they are drawn with; ∞ = held [rad²/s²]."""


def count_steps(name: str, water: Water, speed: float, dt: float) -> int:
    """Into how many steps the waves' way through one of length dt is cut [s].

    Raises
    ------
    SettingsError
        If there would be too many; `name` is the body's.
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
    """Moves waves on: η'' = c² Δη − damping η', with ∫ Δη by finite elements.

    Edges reflect, for nothing flows through them. What is held goes to its height evenly.

    Parameters
    ----------
    driven : what pins hold, and where.
    speed : c, of the waves [m/s].
    dt, steps : the way ahead [s], and into how many steps it is cut.
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
    """Makes room for what dips in: the water whose place it takes swells up around it.

    What has dipped in by Δb metres of a column lifts the water there by as much at once, without
    speed, and the waves carry it off. So a pond rises by the volume of what lies in it.

    Parameters
    ----------
    vertex_positions : per body and collider (3, v) where its vertices are [m].
    level_positions : (3, n) the level, where the water's object has taken it [m].
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
    """(n,) values spread out to neighbours, of which none is lost."""
    carries = water.areas > 0.0
    rate = 1.0 / (water.max_frequency**2 * np.where(carries, water.areas, np.inf))
    for _ in range(2 if values.any() else 0):
        values = values - rate * wave_laplacian(water, values)
    return values


def find_object_motion(water: Water, targets: Floats, free: Integers) -> tuple[Floats, Floats]:
    """The rotation (3, 3) and shift (3, 1) that take the mesh at the first frame to its targets.

    That is how the water's object moves, and its level with it. Of the targets (3, n), those of
    free vertices count; what is held may move by itself.
    """
    if not (targets != water.origin).any(axis=0)[free].any():
        return np.eye(3), np.zeros((3, 1))
    before, after = water.origin[:, free], targets[:, free]
    centres = before.mean(axis=1, keepdims=True), after.mean(axis=1, keepdims=True)
    rotation = portable_rotations(np.einsum("ik,jk->ij", after - centres[1], before - centres[0]))
    return rotation, centres[1] - weighted_sums(rotation, centres[0])
