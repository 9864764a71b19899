"""Plastic flow: update of rest lengths and angles after a step."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import exp

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..bending.kernels import rope_bends, signed_bends
from ..bending.stencil_batches import Stencils
from ..kernel import Sized, Struct, kernel
from ..model import SoftBodyModel
from ..plasticity import MEAN_TIME, Plastic, Yielding, strip_strains
from ..state import Batches
from ..stretch.strain_limiting import StripLinks
from ..stretch.strip_paths import Strips
from ..weave.constraints import WeaveBatch
from ..weave.kernels import thread_lengths


@dataclass(frozen=True, eq=False)
class Flow(ABC):
    """One set of constraints that yield."""

    original: Floats
    """Rest values without permanent strain."""
    rests: Floats
    """Rest values of the batches, which flow."""
    yielding: Yielding

    @abstractmethod
    def apply(self, positions: Floats, hardening: float, mean_share: float) -> None:
        """Makes the strains at positions (3, n) permanent where they yield."""


@dataclass(frozen=True, eq=False)
class LengthFlow(Flow):
    """Lengths of strips, which only grow."""

    strips: Strips

    def apply(self, positions: Floats, hardening: float, mean_share: float) -> None:
        """Makes the strains at positions (3, n) permanent where they yield."""
        strains = strip_strains(positions, self.strips)
        self.yielding.flow(np.maximum(strains, self.yielding.permanent), hardening, mean_share)
        np.multiply(self.original, 1.0 + self.yielding.permanent, out=self.rests)


@dataclass(frozen=True, eq=False)
class ThreadFlow(Flow):
    """Lengths of warp and weft, which only grow."""

    batch: WeaveBatch

    def apply(self, positions: Floats, hardening: float, mean_share: float) -> None:
        """Makes the strains at positions (3, n) permanent where they yield."""
        strains = thread_lengths(positions, self.batch).T - 1.0
        self.yielding.flow(np.maximum(strains, self.yielding.permanent), hardening, mean_share)
        np.add(self.original, self.yielding.permanent, out=self.rests)


@dataclass(frozen=True, eq=False)
class BendFlow(Flow):
    """Bends of hinges, or of ropes."""

    bends: Stencils

    def apply(self, positions: Floats, hardening: float, mean_share: float) -> None:
        """Makes the bends at positions (3, n) permanent where they yield."""
        measure = rope_bends if self.bends.members.shape[1] == 3 else signed_bends
        bent = measure(positions, self.bends) - self.original
        self.yielding.flow(bent, hardening, mean_share)
        np.add(self.original, self.yielding.permanent, out=self.rests)


@dataclass(frozen=True, eq=False)
class PlasticFlow:
    """The plastic flow of a body."""

    hardening: float
    """Share of the excess that raises the limits, 0 … 1."""
    mean_share: float
    """Share of the way to the current strains by which their mean moves in a step."""
    lengths: list[LengthFlow]
    threads: list[ThreadFlow]
    bends: list[BendFlow]
    links: StripLinks
    """The links of all edges, which hold their rest lengths too."""

    def arrays(self) -> list[Floats]:
        """All arrays that change."""
        every = [*self.lengths, *self.threads, *self.bends]
        own = [rows for each in every for rows in (each.rests, *vars(each.yielding).values())]
        return [*own, self.links.rest_lengths]


Struct(
    "yielding",
    Yielding,
    shares="permanent limits mean",
    count=(int, lambda yielding: yielding.permanent.size),
)
Struct(
    "length_flow",
    LengthFlow,
    reads="original yielding",
    shares="rests",
    path=(Integers, lambda flow: flow.strips.path),
    linked=(Booleans, lambda flow: flow.strips.linked),
)
Struct("thread_flow", ThreadFlow, reads="original yielding batch", shares="rests")
Struct(
    "bend_flow",
    BendFlow,
    reads="original yielding",
    shares="rests",
    members=(Integers, lambda flow: flow.bends.members),
    coefficients=(Floats, lambda flow: flow.bends.coefficients),
    width=(int, lambda flow: flow.bends.members.shape[1]),
)
Struct("plastic_flow", PlasticFlow, reads="hardening mean_share lengths threads bends links")


@kernel()
def apply_plastic_flow(positions: Sized, flow: PlasticFlow) -> None:
    """Makes the strains of a body at positions (3, n) permanent where they yield."""
    for each in (*flow.lengths, *flow.threads, *flow.bends):
        each.apply(positions, flow.hardening, flow.mean_share)
    links, edges = flow.links.rest_lengths, flow.lengths[0]
    movable = np.isfinite(links)
    links[movable] = edges.rests[:-1][movable]


def plastic_flow(
    model: SoftBodyModel, plastic: Plastic | None, batches: Batches
) -> PlasticFlow | None:
    """The plastic flow of a body with these batches; None if it is elastic."""
    if plastic is None:
        return None
    used = batches.model
    strips = (
        (model.lengths.edges, used.lengths.edges),
        (model.ropes.rings, used.ropes.rings),
        (model.ropes.trees.strips, used.ropes.trees.strips),
    )
    bends = (model.bends.hinges, used.bends.hinges), (model.bends.ropes, used.bends.ropes)
    return PlasticFlow(
        hardening=model.settings.hardening,
        mean_share=1.0 - exp(-batches.steps[0] / MEAN_TIME),
        lengths=[
            LengthFlow(each.rest_lengths, its.rest_lengths, yielding, each)
            for (each, its), yielding in zip(strips, plastic.strips, strict=True)
        ],
        threads=[
            ThreadFlow(model.weave.rests, batch.rests, plastic.weave, batch)
            for batch in batches.weave
        ],
        bends=[
            BendFlow(each.rests, its.rests, yielding, its)
            for (each, its), yielding in zip(bends, plastic.bends, strict=True)
        ],
        links=batches.lengths.links,
    )
