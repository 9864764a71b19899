"""Plain bodies, with lengths, bends, pins, gravity and ground only: C structs for compiled steps.

In small bodies, the Python overhead of a step is ten times its computation. So compiled kernels
take all steps of a frame in one call, with the same bits.
"""

from dataclasses import dataclass
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, cached_struct, pack
from ..kernel import packed
from ..model import SoftBodyModel
from ..ropes.compiled_kernels import pack_trees
from ..ropes.numpy_kernels import RESOLVED_VIBRATION
from ..ropes.sweep import MAX_ROPE_ROUNDS, ROPE_STRAIN_TOLERANCE
from ..state import Batches, ParticleState, pack_restarted
from ..stretch.compiled_kernels import pack_diagonals, pack_level, pack_links, pack_strips
from ..stretch.compiled_rigid_clusters import pack_clusters
from ..stretch.compiled_tension_warm_start import pack_strip_system
from ..stretch.numpy_kernels import MIN_FACE_SCALE, OVER_RELAXATION, STRAIN_LIMITING_ROUNDS
from ..stretch.strip_system import SEARCH_DIRECTIONS
from ..stretch.sweep import MAX_STALLED_SWEEPS, MAX_STRAIN, MAX_SWEEPS, MIN_SWEEP_PROGRESS
from .inflation import MIN_TAUTNESS, SURFACE_WARM_START


def is_plain(model: SoftBodyModel, state: ParticleState) -> bool:
    """Whether a body is cloth, or ropes without closed loops, and has no other constraints."""
    others = (
        model.held,
        model.pieces,
        model.water,
        model.solid,
        model.shell,
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
        model.settings.pressure == 0.0
        and model.settings.inertia_share == 0.0
        and all(each is None for each in others)
        and not any(each.size for each in parts)
    )


@dataclass(frozen=True, eq=False)
class PlainStruct:
    """C struct of a plain body for steps of one length, and arrays that each step writes."""

    struct: Packed
    """The struct `plain_model` of plain_bodies.c, which points to the following arrays."""
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


def plain_struct(batches: Batches) -> PlainStruct:
    """The struct of a plain body's batches, cached."""
    found = _structs.get(batches)
    if found is None:
        n = batches.model.vertex_count
        start, predicted, accelerations, friction_corrections = (np.zeros((3, n)) for _ in range(4))
        work = start, predicted, accelerations, friction_corrections, np.zeros(n)
        found = _structs[batches] = PlainStruct(_pack_plain(batches, *work), *work)
    return found


_structs: WeakKeyDictionary[Batches, PlainStruct] = WeakKeyDictionary()


def _pack_plain(batches: Batches, *work: Floats) -> Packed:
    """The struct `plain_model` of plain_bodies.c, with the arrays of PlainStruct as `work`."""
    model = batches.model
    n, free = model.vertex_count, int(model.free_components.max(initial=-1)) + 1
    return pack(
        n,
        len(model.pinned),
        model.pinned,
        model.inverse_masses,
        _limits(),
        pack_restarted(batches),
        _pack_surface(batches) if model.lengths.edges.path.size else None,
        _pack_bends(batches),
        _pack_ropes(batches) if batches.ropes.strips else None,
        free,
        model.free_components,
        model.thicknesses,
        batches.velocity_gain,
        batches.h_squared,
        batches.steps[0],
        *batches.start_gains,
        *work,
        np.empty((3, n)),
        np.empty((free, 16)),
    )


@cache
def _limits() -> Packed:
    """The struct `limits` of plain_bodies.c."""
    return pack(
        SURFACE_WARM_START,
        MIN_TAUTNESS,
        MIN_FACE_SCALE,
        SEARCH_DIRECTIONS,
        MAX_SWEEPS,
        MAX_STALLED_SWEEPS,
        MIN_SWEEP_PROGRESS,
        MAX_STRAIN,
        OVER_RELAXATION,
        STRAIN_LIMITING_ROUNDS,
        MAX_ROPE_ROUNDS,
        ROPE_STRAIN_TOLERANCE,
        RESOLVED_VIBRATION,
    )


def _pack_surface(batches: Batches) -> Packed:
    """The struct `surface` of plain_bodies.c."""
    lengths, constant = batches.lengths, batches.model.lengths
    tethers, diagonals, clusters = constant.tethers, lengths.diagonals, constant.clusters
    return pack(
        pack_strip_system(lengths.strip_system),
        pack_diagonals(diagonals) if len(diagonals.faces) else None,
        len(lengths.shear),
        pack(*map(pack_strips, lengths.shear)),
        len(constant.levels),
        pack(*map(pack_level, constant.levels)),
        len(tethers.particles),
        tethers.particles,
        tethers.pins,
        tethers.lengths,
        _pack_strip_order(batches),
        pack_clusters(clusters) if len(clusters.particles) else None,
        pack_links(lengths.links),
        lengths.links.tolerance,
    )


def _pack_strip_order(batches: Batches) -> Packed:
    """The struct `strip_order` of strips.h."""
    edges, multipliers = batches.lengths.edges, batches.lengths.links.multipliers
    count = len(edges)
    return pack(
        count,
        len(multipliers),
        pack(*map(pack_strips, edges)),
        batches.model.lengths.edges.starts,
        multipliers,
        np.empty(count),
        np.empty(count, dtype=np.int64),
    )


strip_order = cached_struct(_pack_strip_order)


def _pack_bends(batches: Batches) -> Packed:
    """The struct `bends` of plain_bodies.c."""
    bends = batches.bends
    return pack(
        *(len(bends.ropes), len(bends.stiff)),
        *(len(bends.strips), len(bends.loops), len(bends.soft)),
        pack(*map(packed, bends.ropes)),
        pack(*map(packed, bends.stiff)),
        pack(*map(packed, bends.strips)),
        pack(*map(packed, bends.loops)),
        pack(*map(packed, bends.soft)),
    )


def _pack_ropes(batches: Batches) -> Packed:
    """The struct `ropes` of plain_bodies.c."""
    ropes = batches.ropes
    strips = pack(*map(pack_strips, ropes.strips))
    count = len(ropes.strips)
    return pack(
        pack_strip_system(ropes.strip_system),
        ropes.search_directions,
        pack_trees(ropes.trees),
        count,
        strips,
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
