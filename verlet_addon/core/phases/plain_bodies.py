"""Plain bodies, with lengths, bends, pins, gravity and ground only: C structs for compiled steps.

In small bodies, the Python overhead of a step is ten times its computation. So compiled kernels
take all steps of a frame in one call, with the same bits.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Floats, Integers
from ..bending.constraints import BendBatches
from ..compiled import Packed
from ..kernel import Struct
from ..model import SoftBodyModel
from ..ropes.constraints import RopeBatches
from ..state import Batches, ParticleState
from ..stretch.coarse_levels import Level
from ..stretch.rigid_clusters import Clusters
from ..stretch.shear_diagonals import Diagonals
from ..stretch.strip_batches import StripBatch
from ..stretch.strip_links import StripLinks
from ..stretch.strip_system import StripSystem
from ..stretch.tethers import Tethers


def is_plain(model: SoftBodyModel, state: ParticleState) -> bool:
    """Whether a body is cloth, or ropes without closed loops, and has no other constraints."""
    others = (
        model.held,
        model.pieces,
        state.plastic,
        state.gas,
    )
    parts = (
        model.goals,
        model.limited,
        model.seams.pairs,
        model.ropes.rings.path,
        model.weave.rests,
    )
    return (
        type(model) is SoftBodyModel
        and model.settings.pressure == 0.0
        and model.settings.inertia_share == 0.0
        and all(each is None for each in others)
        and not any(each.size for each in parts)
    )


@dataclass(frozen=True, eq=False)
class PlainWork:
    """Arrays of a plain body that each step in C writes."""

    start: Floats
    """(3, n) positions at the start of the step [m]."""
    predicted: Floats
    """(3, n) positions after free motion, before any constraint [m]."""
    accelerations: Floats
    """(3, n) accelerations of free motion [m/s²]."""
    friction_corrections: Floats
    """(3, n) accumulated corrections by friction on the ground [m]."""
    normal_corrections: Floats
    """(n,) accumulated corrections along the normal of the ground [m]."""


def plain_work(batches: Batches) -> PlainWork:
    """The arrays of a plain body's batches, cached."""
    found = _works.get(batches)
    if found is None:
        n = batches.model.vertex_count
        start, predicted, accelerations, corrections = (np.zeros((3, n)) for _ in range(4))
        found = PlainWork(start, predicted, accelerations, corrections, np.zeros(n))
        _works[batches] = found
    return found


_works: WeakKeyDictionary[Batches, PlainWork] = WeakKeyDictionary()

STRIP_ORDER = Struct(
    "strip_order",
    Batches,
    batches=(list[StripBatch], lambda batches: batches.lengths.edges),
    links=(int, lambda batches: len(batches.lengths.links.multipliers)),
    starts=(Integers, lambda batches: batches.model.lengths.edges.starts),
    multipliers=(Floats, lambda batches: batches.lengths.links.multipliers),
    order=(
        "const struct strip_batch *",
        lambda batches: np.zeros(len(batches.lengths.edges), dtype=np.int64),
    ),
    scratch={"tensions": lambda batches: len(batches.lengths.edges)},
)
SURFACE = Struct(
    "surface",
    Batches,
    strip_system=(StripSystem, lambda batches: batches.lengths.strip_system),
    diagonals=(Diagonals, lambda batches: batches.lengths.diagonals),
    shear=(list[StripBatch], lambda batches: batches.lengths.shear),
    levels=(list[Level], lambda batches: batches.model.lengths.levels),
    tethers=(Tethers, lambda batches: batches.model.lengths.tethers),
    edges=(STRIP_ORDER, STRIP_ORDER.pack),
    clusters=(Clusters, lambda batches: batches.model.lengths.clusters),
    links=(StripLinks, lambda batches: batches.lengths.links),
)


def _surface(batches: Batches) -> Packed | None:
    """The struct of the lengths of a surface, None for ropes alone."""
    return SURFACE.pack(batches) if batches.model.lengths.edges.path.size else None


Struct("bends", BendBatches, reads="ropes stiff paths soft")
Struct("ropes", RopeBatches, reads="strip_system search_directions trees strips")
PLAIN_MODEL = Struct(
    "plain_model",
    Batches,
    reads="velocity_gain h_squared bends",
    n=(int, lambda batches: batches.model.vertex_count),
    pins=(int, lambda batches: len(batches.model.pinned)),
    pinned=(Integers, lambda batches: batches.model.pinned),
    inverse_masses=(Floats, lambda batches: batches.model.inverse_masses),
    multipliers=(Batches, lambda batches: batches),
    surface=(SURFACE, _surface),
    ropes=(RopeBatches, lambda batches: batches.ropes if batches.ropes.strips else None),
    free=(int, lambda batches: batches.model.has_free_components),
    components=(Integers, lambda batches: batches.model.free_components),
    floors=(Floats, lambda batches: batches.model.thicknesses),
    dt=(float, lambda batches: batches.steps[0]),
    drift=(float, lambda batches: batches.start_gains[0]),
    bend=(float, lambda batches: batches.start_gains[1]),
    start=(Floats, lambda batches: plain_work(batches).start),
    predicted=(Floats, lambda batches: plain_work(batches).predicted),
    accelerations=(Floats, lambda batches: plain_work(batches).accelerations),
    friction_corrections=(Floats, lambda batches: plain_work(batches).friction_corrections),
    normal_corrections=(Floats, lambda batches: plain_work(batches).normal_corrections),
    scratch={
        "before": lambda batches: (3, batches.model.vertex_count),
        "whole": lambda batches: (int(batches.model.free_components.max(initial=-1)) + 1, 16),
    },
)


def warm_start_arrays(batches: Batches) -> list[Floats]:
    """Arrays besides positions that a step passes to the next: multipliers for warm starts."""
    strip_systems = batches.lengths.strip_system, batches.ropes.strip_system
    kept = [
        rows
        for strip_system in strip_systems
        for rows in (strip_system.multipliers, strip_system.displacement)
    ]
    lagging = [batch.multipliers for batch, share in batches.restarted() if share]
    return [*kept, *lagging, *(rows for rows in batches.followers if rows is not None)]
