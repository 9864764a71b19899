"""Everything that keeps angles: the constraints, and which way they are solved for one h²."""

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats
from ..geometry.hinges import Hinges
from ..geometry.rest_shape import RestShape
from ..stretch.paths import Strips
from .all_at_once import StiffBendBatch, along_strips, joined, stiff_bend_batch, stiffness, unstrung
from .along_strips import BendStripBatch, BendStrips, bend_strip_batches
from .lattices import triangle_lines
from .lines import Lines, lines_across_quads, lines_along_ropes
from .one_by_one import StencilBatch, Stencils, stencil_batches
from .stencils import hinge_stencils, line_stencils, rope_stencils

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


def build_bends(shape: RestShape, hinges: Hinges, strips: Strips) -> BendConstraints:
    """The sets of one body, given the strips of its edges."""
    positions = shape.mesh.positions
    lines, bent = lines_across_quads(hinges, shape.areas, positions)
    more, hinged = triangle_lines(shape, hinges)
    lines = Lines(
        np.concatenate([lines.vertices, more.vertices]), np.concatenate([lines.share, more.share])
    )
    bent = bent[hinged[bent] > 0.0]
    line_strips, stray_lines = line_stencils(shape, lines, strips)
    rope_lines = lines_along_ropes(positions, shape.mesh.edges[shape.loose])
    flat_hinges, signed_hinges = hinge_stencils(shape, hinges, bent, hinged[bent])
    return BendConstraints(
        positions=positions,
        line_strips=line_strips,
        lines=stray_lines,
        rope_lines=rope_stencils(shape, rope_lines),
        flat_hinges=flat_hinges,
        hinges=signed_hinges,
    )


def bend_batches(bends: BendConstraints, inverse_masses: Floats, h_squared: float) -> BendBatches:
    """The batches for one h² [s²]."""
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
