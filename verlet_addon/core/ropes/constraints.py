"""Everything that keeps the lengths of ropes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats
from ..geometry.rest_shape import RestShape, painted
from ..stretch.elasticity import edge_strips
from ..stretch.paths import Strips
from ..stretch.strips import StripBatch, strip_batches
from ..stretch.warm_start import DIRECTIONS, StripNet, make_net
from .spans import Spans, find_spans, reach_pins, rigid_spans
from .springs import acting_from_start
from .trees import TreeBatches, Trees, are_trees, build_trees, tree_batches

REGULARIZATION = 1e-9
"""Share of the mobility added to ropes, so that a taut one between two pins has a solution. With
ten times as much, 1,000 links with a heavy tip stretch by more than 0.01 %."""


@dataclass(frozen=True, eq=False)
class RopeConstraints:
    """Constant sets of everything that keeps the lengths of ropes."""

    trees: Trees
    """Edges of ropes, branched or not."""
    rings: Strips
    """Edges of rings and nets."""
    spans: Spans
    """Ways along the former from pin to pin."""


@dataclass(frozen=True, eq=False)
class RopeBatches:
    """The same, ready for one h²."""

    trees: TreeBatches
    rings: list[StripBatch]
    net: StripNet
    """All of them."""
    spans: Spans
    """Ways from pin to pin along what does not yield."""
    rests: Floats
    """(k,) rest lengths of the trees' links…"""
    drawn: Floats
    """…and as long as pins need them to be in this step; the batches read these [m]."""

    @property
    def strips(self) -> Sequence[StripBatch]:
        """All of them."""
        return [*self.rings, *(generation.batch for generation in self.trees.generations)]

    @property
    def directions(self) -> int:
        """How many to search in for what former tension does; a path alone is solved directly."""
        return DIRECTIONS if self.net.labels[-1:].any() else 0


def build_ropes(shape: RestShape) -> RopeConstraints:
    """The sets of one body."""
    edges = shape.mesh.edges
    in_tree = shape.in_rope.copy()
    in_tree[in_tree] = are_trees(shape.particle_count, edges[in_tree])
    lengths = shape.lengths[in_tree]
    share = painted(shape.mesh.paint.stretch, edges[in_tree])
    compliances = shape.settings.stretch_compliance * share * lengths
    trees = build_trees(edges[in_tree], lengths, compliances, shape.pinned)
    return RopeConstraints(
        trees=trees,
        rings=edge_strips(shape, shape.in_rope & ~in_tree),
        spans=find_spans(trees.strips, shape.pinned),
    )


def rope_batches(ropes: RopeConstraints, inverse_masses: Floats, h_squared: float) -> RopeBatches:
    """The batches for one h² [s²]."""
    count = len(ropes.rings.path)
    rests = ropes.trees.strips.rest_lengths
    strips = replace(ropes.trees.strips, rest_lengths=rests.copy())
    tension = np.zeros(count + len(strips.path))
    rings, generations = (
        acting_from_start(
            strip_batches(
                strips,
                inverse_masses,
                h_squared,
                regularization=REGULARIZATION,
                multipliers=multipliers,
            )
        )
        for strips, multipliers in ((ropes.rings, tension[:count]), (strips, tension[count:]))
    )
    everything = np.ones(len(inverse_masses), dtype=bool)
    return RopeBatches(
        trees=tree_batches(ropes.trees, generations, inverse_masses),
        rings=rings,
        net=make_net([ropes.rings, strips], tension, inverse_masses, everything),
        spans=rigid_spans(ropes.spans, strips, inverse_masses, h_squared),
        rests=rests,
        drawn=strips.rest_lengths,
    )


def draw_out(positions: Floats, batches: RopeBatches) -> None:
    """Makes ropes as long as their pins at positions (3, n) need them to be."""
    reach_pins(positions, batches.spans, batches.rests, batches.drawn)
