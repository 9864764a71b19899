"""Length constraints of ropes: the constraints themselves, and batches of them for one h²."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats
from ..geometry.rest_shape import RestShape, painted_shares
from ..stretch.constraints import build_edge_strips
from ..stretch.strip_batches import StripBatch, strip_batches
from ..stretch.strip_paths import Strips
from ..stretch.tension_warm_start import SEARCH_DIRECTIONS, StripSystem, make_strip_system
from .rope_lengthening import PinSpans, find_pin_spans, lengthen_spans, select_rigid_spans
from .rope_trees import TreeBatches, Trees, build_trees, find_tree_edges, tree_batches

ROPE_REGULARIZATION = 1e-9
"""Share of the mobility added to the diagonal, so that a taut rope between two pins has a solution.
With ten times as much, 1,000 links with a heavy tip stretch by more than 0.01 %."""


@dataclass(frozen=True, eq=False)
class RopeConstraints:
    """Length constraints of the ropes of one body."""

    trees: Trees
    """Edges of ropes without rings, branched or not."""
    rings: Strips
    """Edges of rings and nets."""
    spans: PinSpans
    """Paths along the trees between pins, cut at junctions."""
    keep_tension: bool
    """Whether a step starts from the tension of the one before. Strands of hair have a free end, so
    they carry little, and their segments resist stretching themselves."""


@dataclass(frozen=True, eq=False)
class RopeBatches:
    """Batches of `RopeConstraints` for one h²."""

    trees: TreeBatches
    rings: list[StripBatch]
    strip_system: StripSystem
    """Strips of trees and rings, for the tension warm start."""
    spans: PinSpans
    """The paths between pins whose links are nearly inextensible."""
    rests: Floats
    """(k,) rest lengths of the trees' links, without lengthening [m]."""
    lengthened: Floats
    """(k,) rest lengths, longer where pins are too far apart in this step; the batches hold views
    of them [m]."""

    @property
    def strips(self) -> Sequence[StripBatch]:
        """All batches of strips; rings come first."""
        return [*self.rings, *(generation.batch for generation in self.trees.generations)]

    @property
    def search_directions(self) -> int:
        """Search directions of the tension warm start; a single path is solved directly."""
        return SEARCH_DIRECTIONS if self.strip_system.labels[-1:].any() else 0


def build_ropes(shape: RestShape) -> RopeConstraints:
    """Builds the length constraints of the ropes of one body."""
    edges = shape.mesh.edges
    in_tree = shape.in_rope.copy()
    in_tree[in_tree] = find_tree_edges(shape.particle_count, edges[in_tree])
    lengths = shape.lengths[in_tree]
    share = painted_shares(shape.mesh.paint.stretch, edges[in_tree])
    compliances = shape.settings.stretch_compliance * share * lengths
    trees = build_trees(edges[in_tree], lengths, compliances, shape.pinned)
    return RopeConstraints(
        trees=trees,
        rings=build_edge_strips(shape, shape.in_rope & ~in_tree),
        spans=find_pin_spans(trees.strips, shape.pinned),
        keep_tension=shape.settings.body_type != "HAIR",
    )


def rope_batches(ropes: RopeConstraints, inverse_masses: Floats, h_squared: float) -> RopeBatches:
    """The batches for one h² [s²] and inverse masses (n,)."""
    count = len(ropes.rings.path)
    rests = ropes.trees.strips.rest_lengths
    strips = replace(ropes.trees.strips, rest_lengths=rests.copy())
    tension = np.zeros(count + len(strips.path))
    rings, generations = (
        with_start_spring_forces(
            strip_batches(
                strips,
                inverse_masses,
                h_squared,
                regularization=ROPE_REGULARIZATION,
                multipliers=multipliers,
            )
        )
        for strips, multipliers in ((ropes.rings, tension[:count]), (strips, tension[count:]))
    )
    return RopeBatches(
        trees=tree_batches(ropes.trees, generations, inverse_masses),
        rings=rings,
        strip_system=make_strip_system(
            [ropes.rings, strips],
            tension,
            inverse_masses,
            np.full(len(inverse_masses), ropes.keep_tension),
        ),
        spans=select_rigid_spans(ropes.spans, strips, inverse_masses, h_squared),
        rests=rests,
        lengthened=strips.rest_lengths,
    )


def lengthen_ropes(positions: Floats, batches: RopeBatches) -> None:
    """Updates `lengthened`, for ropes shorter than the distance of their pins, at `positions`."""
    lengthen_spans(positions, batches.spans, batches.rests, batches.lengthened)


def with_start_spring_forces(batches: list[StripBatch]) -> list[StripBatch]:
    """Batches whose soft links act by their stretch C at a step's start as well as C' at its end.

    XPBD's λ = −C'/α̃ is implicit Euler's and damps every vibration, within a second where
    h ω = 0.1. Here λ = −((1 − β) C + β C')/α̃, with β = m/(m + α̃) and m the mobility of both ends.
    Links whose vibration the steps resolve are integrated almost explicitly, which preserves energy
    and period; stiffer ones stay implicit. The first part is a force at the start of the step,
    −C/(m + α̃); the second is a constraint of compliance α̃/β.
    """
    return [_with_start_spring_forces(batch) for batch in batches]


def _with_start_spring_forces(batch: StripBatch) -> StripBatch:
    """The batch with start spring forces of its soft links; unchanged if there are none."""
    scaled = batch.scaled_compliances
    if not scaled.any():
        return batch
    movable = batch.mobilities > 0.0
    more = scaled**2 / np.where(movable, batch.mobilities, np.inf)
    return replace(
        batch,
        scaled_compliances=scaled + more,
        diagonal=batch.diagonal + more,
        start_stiffnesses=np.where(movable & (scaled > 0.0), 1.0 / batch.diagonal, 0.0),
    )
