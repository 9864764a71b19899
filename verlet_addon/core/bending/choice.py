"""Everything that keeps angles: the constraints, and which way they are solved for one h²."""

from dataclasses import dataclass, field

from ..arrays import Floats
from .all_at_once import StiffBendBatch, along_strips, joined, stiff_bend_batch, stiffness, unstrung
from .along_strips import BendStripBatch, BendStrips, bend_strip_batches
from .one_by_one import StencilBatch, Stencils, stencil_batches

ALONE = 0.3
"""Up to this stiffness, bends are relaxed one after the other: each hardly bends the next."""
STRIPS_ALONE = 20.0
"""Up to this stiffness, lines along strips are solved strip after strip."""


@dataclass(frozen=True, eq=False)
class BendConstraints:
    """Everything that keeps angles."""

    positions: Floats
    """(n, 3) at rest [m]."""
    line_strips: BendStrips
    """Straight bends of three particles in surfaces, along strips."""
    lines: Stencils
    """Those that are not along any."""
    rope_lines: Stencils
    """Bends of ropes, at their rest angles."""
    flat_hinges: Stencils
    """Hinges that are flat at rest."""
    hinges: Stencils
    """Hinges that keep a rest angle."""


@dataclass(frozen=True, eq=False)
class BendBatches:
    """Everything that keeps angles, ready for one h².

    What is straight at rest is stiff as a whole, or else in the lists after that.
    """

    stiffness: float
    """Of those that are straight at rest: how much more easily particles give way than they do."""
    rope_lines: list[StencilBatch]
    hinges: list[StencilBatch]
    stiff: list[StiffBendBatch] = field(default_factory=list)
    line_strips: list[BendStripBatch] = field(default_factory=list)
    lines: list[StencilBatch] = field(default_factory=list)
    flat_hinges: list[StencilBatch] = field(default_factory=list)


def bend_batches(bends: BendConstraints, inverse_masses: Floats, h_squared: Floats) -> BendBatches:
    """The batches for one h² (n,) [s²]."""
    rope_lines = stencil_batches(bends.rope_lines, inverse_masses, h_squared)
    hinges = stencil_batches(bends.hinges, inverse_masses, h_squared)
    strung = along_strips(bends.line_strips)
    alone = unstrung([bends.lines, bends.flat_hinges])
    firmness = [stiffness(some, inverse_masses, h_squared) for some in (strung, alone)]
    if firmness[0] > STRIPS_ALONE or firmness[1] > ALONE:
        straight = joined([strung, alone])
        stiff = stiff_bend_batch(straight, bends.positions, inverse_masses, h_squared)
        return BendBatches(max(firmness), rope_lines, hinges, [stiff])
    return BendBatches(
        max(firmness),
        rope_lines,
        hinges,
        line_strips=bend_strip_batches(bends.line_strips, inverse_masses, h_squared),
        lines=stencil_batches(bends.lines, inverse_masses, h_squared),
        flat_hinges=stencil_batches(bends.flat_hinges, inverse_masses, h_squared),
    )
