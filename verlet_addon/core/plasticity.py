"""Plasticity of lengths and bends: strain beyond a yield limit becomes permanent.

Perfect plasticity, or linear hardening, where only a share of the excess is permanent (R. Hill,
*The Mathematical Theory of Plasticity*, 1950). Both are independent of rate, so a bake does not
depend on the step. Rest values move towards the measured ones, so energy only decreases.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .arrays import Floats, norms
from .bending.stencil_batches import Stencils
from .model import SoftBodyModel
from .stretch.strip_paths import Strips

MEAN_TIME = 0.05
"""Size: time for which a suddenly released sheet shakes [s]."""


@dataclass(eq=False)
class Yielding:
    """Plastic state of one set of constraints; all arrays have its shape.

    Strains are those of lengths, or bends in the unit of their rest values.
    """

    permanent: Floats
    """Permanent strain."""
    limits: Floats
    """Elastic strain, beyond the permanent one, above which the constraint yields; hardening raises
    it."""
    mean: Floats
    """Exponential mean of the strain over MEAN_TIME."""

    def flow(self, measured: Floats, hardening: float, mean_share: float) -> None:
        """Makes the excess over the limits permanent, except for a share that raises the limits.

        The smaller excess of the current and of the mean strain counts: of the current one, so that
        energy does not increase; of the mean, so that vibration does not cause yielding.

        Parameters
        ----------
        measured : current strains.
        hardening : share of the excess that raises the limits, 0 … 1.
        mean_share : share of the way to the current strains by which their mean moves.
        """
        self.mean += (measured - self.mean) * mean_share
        beyond, before = measured - self.permanent, self.mean - self.permanent
        least = np.minimum(np.abs(beyond), np.abs(before)) * (beyond * before > 0.0)
        excess = np.maximum(least - self.limits, 0.0)
        self.permanent += (1.0 - hardening) * np.sign(beyond) * excess
        self.limits += hardening * excess


@dataclass(eq=False)
class Plastic:
    """Plastic state of a body."""

    strips: Sequence[Yielding]
    """Lengths: of edges of surfaces, of closed loops of ropes, and of other ropes."""
    bends: Sequence[Yielding]
    """Bends: of hinges, and of ropes."""
    weave: Yielding
    """Lengths of warp and weft."""


def start_plastic(model: SoftBodyModel) -> Plastic | None:
    """The plastic state of a new body; None without plasticity.

    Inextensible lengths never yield.
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
    """The plastic state without any strain."""
    return Yielding(np.zeros_like(limits), limits, np.zeros_like(limits))


def _strips(model: SoftBodyModel) -> tuple[Strips, Strips, Strips]:
    """All strips, in the order of `Plastic.strips`."""
    return model.lengths.edges, model.ropes.rings, model.ropes.trees.strips


def _widths(bends: Stencils) -> Floats:
    """(m,) lengths over which bending angles are distributed, half of those on both sides [m]."""
    outer = [0, 2] if bends.members.shape[1] == 3 else [2, 3]  # of ropes, and of hinges
    return np.asarray((0.5 / bends.coefficients[:, outer]).sum(1))


def with_permanent_rests(model: SoftBodyModel, plastic: Plastic) -> SoftBodyModel:
    """The model with rest lengths and rest angles that include the permanent strains."""
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
    """(k,) strains of links at positions (3, n); 0 for entries between strips."""
    along = np.diff(positions.take(strips.path, axis=1), axis=1)
    linked = strips.linked[:-1]
    found = np.zeros(len(strips.path))
    found[:-1][linked] = norms(along)[linked] / strips.rest_lengths[:-1][linked] - 1.0
    return found
