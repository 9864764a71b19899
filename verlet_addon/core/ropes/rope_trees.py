"""Trees: ropes without rings, decomposed into paths that hang on each other.

The first path of a tree joins the two longest branches of its root; other branches hang on it,
their branches on them, and so on, generation after generation. A junction is a particle on which
paths of the next generation hang.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..geometry.graph import find_components
from ..stretch.strip_batches import StripBatch
from ..stretch.strip_paths import ColoredPath, Strips, lay_out


@dataclass(frozen=True, eq=False)
class Trees:
    """Paths of ropes without rings, one generation after the other."""

    strips: Strips
    """The paths; their colours are the generations, from the root out. A colour may contain a
    junction several times."""
    on_support: Booleans
    """(k,) bool, the first entry of each path that hangs on a junction: the junction itself."""
    junctions: Integers
    """(j,) particles on which paths hang."""


@dataclass(frozen=True, eq=False)
class Generation:
    """The paths of one generation, prepared for steps of one length."""

    batch: StripBatch
    supports: Integers
    """(p,) number of the junction that each path hangs on by its first entry; −1 = none."""
    junctions: Integers
    """(c,) number of the junction at each entry, on which paths of the next generation hang; −1 =
    none, or that which the path itself hangs on."""


@dataclass(frozen=True, eq=False)
class TreeBatches:
    """All generations, from the root out, prepared for steps of one length."""

    generations: list[Generation]
    inverse_masses: Floats
    """(j,) of the junctions [1/kg]."""


def find_tree_edges(particle_count: int, edges: Integers) -> Booleans:
    """(m,) bool, edges of connected components without rings."""
    labels = find_components(particle_count, edges)
    count = int(labels.max(initial=-1)) + 1
    ends = labels[edges[:, 0]]
    edge_count = np.bincount(ends, minlength=count)
    return np.asarray((edge_count < np.bincount(labels, minlength=count))[ends])


def build_trees(
    pairs: Integers, rest_lengths: Floats, compliances: Floats, pinned: Booleans
) -> Trees:
    """Decomposes trees into paths.

    Parameters
    ----------
    pairs : (m, 2) edges without rings.
    rest_lengths : (m,) [m].
    compliances : (m,) [m/N].
    pinned : (n,) bool; the root of a tree is a pinned particle, where it has one.
    """
    branches: list[list[tuple[int, int]]] = [[] for _ in pinned]
    for pair, (a, b) in enumerate(pairs.tolist()):
        branches[a].append((b, pair))
        branches[b].append((a, pair))
    seen = [False] * len(pinned)
    colored_paths: list[ColoredPath] = []
    for root in [*np.flatnonzero(pinned).tolist(), *range(len(pinned))]:
        if branches[root] and not seen[root]:
            colored_paths.extend(_decompose_tree(branches, root, seen))
    colored_paths.sort(key=lambda piece: piece[0])
    strips = lay_out(colored_paths, rest_lengths, compliances, np.zeros(len(pairs)))
    sizes = [len(particles) for _, particles, _ in colored_paths]
    on_support = np.zeros(len(strips.path), dtype=bool)
    firsts = np.cumsum([0, *sizes])[:-1]
    on_support[firsts[[generation > 0 for generation, _, _ in colored_paths]]] = True
    return Trees(strips, on_support, np.unique(strips.path[on_support]))


def _decompose_tree(
    branches: list[list[tuple[int, int]]], root: int, seen: list[bool]
) -> Iterator[ColoredPath]:
    """The paths of one tree: (generation, particles, pairs)."""
    order, onward = [root], {root: branches[root]}
    seen[root] = True
    for particle in order:
        for other, _ in onward[particle]:
            seen[other] = True
            onward[other] = [branch for branch in branches[other] if branch[0] != particle]
            order.append(other)
    height = dict.fromkeys(order, 0)
    for particle in reversed(order):
        onward[particle].sort(key=lambda branch: -height[branch[0]])
        height[particle] = max((height[other] + 1 for other, _ in onward[particle]), default=0)

    def trace_path(particle: int, branch: int) -> tuple[list[int], list[int]]:
        particles, pairs = [particle], []
        while branch < len(onward[particle]):
            particle, pair = onward[particle][branch]
            particles.append(particle)
            pairs.append(pair)
            branch = 0
        return particles, pairs

    back, back_pairs = trace_path(root, 1)
    ahead, ahead_pairs = trace_path(root, 0)
    paths = [(0, back[:0:-1] + ahead, back_pairs[::-1] + ahead_pairs)]
    for generation, particles, pairs in paths:
        yield generation, particles, pairs
        inner = particles[0 if generation == 0 else 1 :]
        for particle in inner:
            rest = range(2 if particle == root else 1, len(onward[particle]))
            paths.extend((generation + 1, *trace_path(particle, branch)) for branch in rest)


def tree_batches(
    trees: Trees, batches: Sequence[StripBatch], inverse_masses: Floats
) -> TreeBatches:
    """The generations for inverse masses (n,), given the batches of their strips."""
    number = np.full(len(inverse_masses), -1)
    number[trees.junctions] = np.arange(len(trees.junctions))
    generations = []
    for batch, (start, stop) in zip(batches, pairwise(trees.strips.starts.tolist()), strict=True):
        on_support, junctions = trees.on_support[start:stop], number[batch.path]
        supports = np.full(int(batch.labels[-1]) + 1, -1)
        supports[batch.labels[on_support]] = junctions[on_support]
        generations.append(Generation(batch, supports, np.where(on_support, -1, junctions)))
    return TreeBatches(generations, inverse_masses[trees.junctions])
