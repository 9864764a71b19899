"""What is constant during a simulation, and what a step changes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from .arrays import Floats, Integers
from .bending.all_at_once import StiffBendBatch
from .bending.along_strips import BendStripBatch
from .bending.choice import BendBatches, BendConstraints
from .bending.one_by_one import StencilBatch
from .ropes.trees import TreeBatches, Trees
from .stretch.at_most import DistanceBatch, Distances
from .stretch.clusters import Clusters
from .stretch.leftovers import Links
from .stretch.levels import Level
from .stretch.paths import Strips
from .stretch.strips import StripBatch
from .stretch.tethers import Tethers
from .stretch.warm_start import StripNet
from .volume.volumes import Volumes


@dataclass(frozen=True, eq=False)
class LengthConstraints:
    """Everything that keeps lengths."""

    stretch: Strips
    """Edges of surfaces, and of ropes that hang on them."""
    ropes: Strips
    """Edges of rings and nets: of everything that has no faces but rings."""
    trees: Trees
    """Edges of ropes, branched or not."""
    short: Strips
    """Edges of surfaces that are much shorter than those around them, once more."""
    clusters: Clusters
    """Particles that those join."""
    shear: Strips
    """Diagonals of quads."""
    folds: Distances
    """Opposite vertices of triangle pairs: at most as far apart as at rest."""
    levels: list[Level]
    """From coarse to fine; empty where nothing is to be gained."""
    tethers: Tethers


@dataclass(frozen=True, eq=False)
class SoftBodyModel:
    """All bodies of a scene, one after the other in shared arrays of n particles."""

    names: list[str]
    """The bodies' names, for messages."""
    body_starts: Integers
    """(bodies + 1,) the first particle of each body, and n."""
    inverse_masses: Floats
    """(n,) [1/kg]; 0 = pinned."""
    dampings: Floats
    """(n,) [1/s]"""
    thicknesses: Floats
    """(n,) [m]"""
    frictions: Floats
    """(n,)"""
    restitutions: Floats
    """(n,)"""
    pinned: Integers
    """(p,) particles that follow their targets exactly."""
    goals: Integers
    """(g,) particles drawn towards their targets."""
    goal_compliances: Floats
    """(g,) [m/N]"""
    lengths: LengthConstraints
    bends: BendConstraints
    volumes: Volumes
    free_components: Integers
    """(n,) label of each connected component that nothing holds, counted from 0; −1 = held."""


@dataclass(frozen=True, eq=False)
class Batches:
    """The model's constraints ready for one pair of steps."""

    steps: tuple[float, float]
    """This step and the one before [s]."""
    velocity_gains: Floats
    """(n,) what a step leaves of the displacement before it."""
    h_squared: Floats
    """(n,) the factor of acceleration [s²]."""
    stretch: list[StripBatch]
    stretch_net: StripNet
    stretch_links: Links
    short: list[StripBatch]
    ropes: list[StripBatch]
    trees: TreeBatches
    rope_net: StripNet
    shear: list[StripBatch]
    folds: list[DistanceBatch]
    bends: BendBatches
    levels: list[list[DistanceBatch]]

    def strips(self) -> list[StripBatch]:
        """Everything that remembers its tension."""
        return [*self.stretch, *self.shear, *self.rope_strips()]

    def rope_strips(self) -> list[StripBatch]:
        """Everything that has no faces."""
        return [*self.ropes, *(level.batch for level in self.trees.levels)]

    def fresh(self) -> Iterator[DistanceBatch | StencilBatch | BendStripBatch | StiffBendBatch]:
        """Every batch whose multipliers start at zero: all but strips, which remember theirs."""
        yield from chain(self.folds, *self.levels)
        bends = self.bends
        yield from chain(bends.stiff, bends.line_strips)
        yield from chain(bends.rope_lines, bends.lines, bends.flat_hinges, bends.hinges)


@dataclass(eq=False)
class ParticleState:
    """What a step changes; positions are component rows, which the kernels gather fastest."""

    positions: Floats
    """(3, n) [m]"""
    previous_positions: Floats
    """(3, n) one step ago, edited to set a velocity [m]."""
    previous_dt: float
    """Length of the step before [s]."""
    steps: int = 0
    """Steps taken; odd ones sweep backwards."""
    batches: Batches | None = field(default=None, repr=False)
    """Made anew when the steps change."""

    def velocities(self) -> Floats:
        """(3, n) mean velocities over the last step [m/s]."""
        return np.asarray((self.positions - self.previous_positions) / self.previous_dt)
