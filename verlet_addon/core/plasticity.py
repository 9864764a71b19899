"""Lengths and bends that yield: what they are strained past a limit by, stays.

Perfect plasticity, or with linear hardening where only a share of what goes past the limit stays
(R. Hill, *The Mathematical Theory of Plasticity*, 1950): neither knows of time, so a bake does not
depend on steps. Rests follow what is measured, and so energy is only ever lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np

from .arrays import Floats, norms
from .bending.stencil_batches import Stencils
from .model import SoftBodyModel
from .stretch.strip_paths import Strips

AVERAGING_TIME = 0.05
"""Strains are averaged over this time: a sheet that is suddenly let go shakes for as long [s]."""


@dataclass(eq=False)
class Yielding:
    """How far the constraints of one set have yielded."""

    permanent: Floats
    """Strain, or bend, that has become permanent."""
    limits: Floats
    """Strain, or bend, beyond that, at which more becomes permanent; they rise as it hardens."""
    mean: Floats
    """Strain, or bend, on average over the last moments."""

    def flow(self, measured: Floats, hardening: float, dt: float) -> None:
        """Makes what is past its limit permanent, but for a share that raises the limit.

        It has to be past the limit now, so that no energy is gained, and on average over the last
        moments, so that trembling does not wear it out.
        """
        self.mean += (measured - self.mean) * (1.0 - exp(-dt / AVERAGING_TIME))
        beyond, before = measured - self.permanent, self.mean - self.permanent
        least = np.minimum(np.abs(beyond), np.abs(before)) * (beyond * before > 0.0)
        excess = np.maximum(least - self.limits, 0.0)
        self.permanent += (1.0 - hardening) * np.sign(beyond) * excess
        self.limits += hardening * excess


@dataclass(eq=False)
class Plastic:
    """How far a body has yielded."""

    strips: Sequence[Yielding]
    """Strains of edges, of rings of ropes and of other ropes."""
    bends: Sequence[Yielding]
    """Of hinges, and of ropes."""
    weave: Yielding
    """Strains of warp and weft."""


def start_plastic(model: SoftBodyModel) -> Plastic | None:
    """A body that has not yielded yet; None if it never does.

    What does not stretch at all does not yield either.
    """
    body = model.settings
    if not body.use_plasticity:
        return None

    def limits(compliances: Floats) -> Floats:
        return np.where(compliances > 0.0, body.yield_strain, np.inf)

    return Plastic(
        strips=[_unyielded(limits(strips.compliances)) for strips in _strips(model)],
        bends=[
            _unyielded(body.yield_curvature * _widths(bends))
            for bends in (model.bends.hinges, model.bends.ropes)
        ],
        weave=_unyielded(limits(model.weave.compliances[:, :2])),
    )


def _unyielded(limits: Floats) -> Yielding:
    """What has not been strained yet."""
    return Yielding(np.zeros_like(limits), limits, np.zeros_like(limits))


def _strips(model: SoftBodyModel) -> tuple[Strips, Strips, Strips]:
    """All strips, in the order of `Plastic.strips`."""
    return model.lengths.edges, model.ropes.rings, model.ropes.trees.strips


def _widths(bends: Stencils) -> Floats:
    """(m,) the length over which each angle is bent: half of the way to either side [m]."""
    return np.asarray((0.5 / bends.coefficients[:, [0, -1] if _is_line(bends) else [2, 3]]).sum(1))


def _is_line(bends: Stencils) -> bool:
    """Whether bends are of three particles in a row; else they are hinges."""
    return bends.members.shape[1] == 3


def with_permanent_rests(model: SoftBodyModel, plastic: Plastic) -> SoftBodyModel:
    """The model with the rests that yielding has left it."""
    edges, rings, ropes = (
        replace(strips, rest_lengths=strips.rest_lengths * (1.0 + yielding.permanent))
        for strips, yielding in zip(_strips(model), plastic.strips, strict=True)
    )
    hinges, rope_bends = (
        replace(bends, rests=bends.rests + yielding.permanent)
        for bends, yielding in zip(
            (model.bends.hinges, model.bends.ropes), plastic.bends, strict=True
        )
    )
    return replace(
        model,
        lengths=replace(model.lengths, edges=edges),
        ropes=replace(model.ropes, rings=rings, trees=replace(model.ropes.trees, strips=ropes)),
        bends=replace(model.bends, hinges=hinges, ropes=rope_bends),
        weave=replace(model.weave, rests=model.weave.rests + plastic.weave.permanent),
    )


def strip_strains(positions: Floats, strips: Strips) -> Floats:
    """(k,) by what share links are longer than at rest; 0 in gaps."""
    along = np.diff(positions.take(strips.path, axis=1), axis=1)
    linked = strips.linked[:-1]
    found = np.zeros(len(strips.path))
    found[:-1][linked] = norms(along)[linked] / strips.rest_lengths[:-1][linked] - 1.0
    return found
