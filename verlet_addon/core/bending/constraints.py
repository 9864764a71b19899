"""Everything that keeps angles: the constraints, and which way they are solved for one h²."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, concatenated
from ..geometry.graph import edge_lengths
from ..geometry.hinges import Hinges, diagonal_hinges, find_hinges, with_both_diagonals
from ..geometry.rest_shape import RestShape
from ..stretch.strip_paths import Strips
from .bend_lines import MAX_STRAIGHT_TURN, BendLines, lines_across_quads, lines_along_ropes
from .bend_strips import BendStripBatch, BendStrips, bend_strip_batches, line_indices, line_runs
from .face_loops import FaceLoopBatch, face_loop_batches
from .mesh_stencils import hinge_stencils, line_stencils, rope_stencils
from .stencil_batches import StencilBatch, Stencils, stencil_batches, surface_stencil_batches
from .stiff_bends import (
    HINGE_PARTICLES,
    Bends,
    StiffBendBatch,
    hinges_as_bends,
    stiff_bend_batches,
    stiffness_ratios,
    straight_bends,
)

MAX_SOFT_RATIO = 0.3
"""Up to this ratio of stiffness, bends are relaxed one after the other: each hardly bends the next.
Half of it changes no law; a strewn sheet is stretched by 1.5 % for 1.2. With twice as much, a stiff
rope that hangs in a bow is 14 mm a metre elsewhere at other substeps."""
MAX_STRIP_RATIO = 20.0
"""Up to this one, lines along strips are solved strip after strip. Half of it changes no law and no
real mesh; with twice as much, clamped triangles droop 5 % too far, and a dress stretches more."""
MAX_SOFT_TWIST_RATIO = 3.0
"""Up to this ratio, twists of quads are projected one after the other, and up to MAX_STRIP_RATIO
along face loops; with twice as much a square held at a corner hangs 10 % too low."""

NEAR_QUADS = 3
"""Twists no more quads than this from stiff bends are solved for with them: with 0, leather cut one
way drapes two points more limply."""


@dataclass(frozen=True, eq=False)
class BendConstraints:
    """Constant sets of everything that keeps angles."""

    positions: Floats
    """(n, 3) at rest [m]."""
    strips: BendStrips
    """Lines of surfaces that are straight at rest, along strips."""
    straight: Sequence[Stencils]
    """What else is straight at rest: lines along no strip, hinges, and last the twists of quads."""
    hinges: Stencils
    """Hinges that keep a rest angle."""
    ropes: Stencils
    """Bends of ropes, at their rest angles."""
    yields: bool
    """Whether rests change; then none counts as straight."""

    @property
    def straight_ropes(self) -> Booleans:
        """(r,) bool, bends of ropes that are straight at rest."""
        return (self.ropes.rests < MAX_STRAIGHT_TURN) & (not self.yields)


@dataclass(frozen=True, eq=False)
class BendBatches:
    """The same, ready for one h²; each bend is in one list."""

    stiff: list[StiffBendBatch]
    strips: list[BendStripBatch]
    loops: list[FaceLoopBatch]
    """Twists of quads that are neither soft nor stiff."""
    soft: list[StencilBatch]
    """Other bends of surfaces, relaxed one after the other."""
    ropes: list[StencilBatch]
    stiff_particles: Booleans
    """(n,) bool, particles most of whose bends have a higher ratio than MAX_STRIP_RATIO."""

    def of_surfaces(
        self,
    ) -> Iterator[StiffBendBatch | BendStripBatch | FaceLoopBatch | StencilBatch]:
        """All but ropes that have multipliers of their own; face loops share theirs."""
        yield from self.stiff
        yield from self.strips
        yield from self.loops[:1]
        yield from self.soft


def build_bends(shape: RestShape, edges: Strips) -> BendConstraints:
    """Builds the bend constraints of one body with merged triangle pairs, given its edge strips."""
    positions, yields = shape.mesh.positions, shape.settings.use_plasticity
    hinges = find_hinges(shape.corners, shape.particle_count)
    # Lines know no side to stay bent to; where there are no faces, there are none across them.
    if yields or not len(shape.areas):
        lines, (folds, share) = (
            BendLines(np.empty((0, 3), np.int64), np.empty(0)),
            with_both_diagonals(hinges),
        )
        within = 0
    else:
        lines, folds, share, within = _lines_and_folds(shape, hinges)
    strips, others = line_stencils(shape, lines, edges)
    flat, twists, hinges_at_rest = hinge_stencils(shape, folds, share, within)
    return BendConstraints(
        positions=positions,
        strips=strips,
        straight=[others, flat, twists],
        hinges=hinges_at_rest,
        ropes=rope_stencils(shape, lines_along_ropes(positions, shape.mesh.edges[shape.loose])),
        yields=yields,
    )


def _lines_and_folds(shape: RestShape, hinges: Hinges) -> tuple[BendLines, Hinges, Floats, int]:
    """Lines, and the hinges that they do not stand for, with (h,) what share of each they leave.

    The last of these hinges, as many as the last answer says, are those within quads.

    A bend by κ costs ½ B (κ₁₁² + κ₂₂² + 2 κ₁₂²) for each area. Lines know κ₁₁ and κ₂₂, and hinges
    across the diagonals of quads the twist κ₁₂; hinges between quads know all of it.
    """
    positions = shape.mesh.positions
    lines, bent = lines_across_quads(hinges, shape.areas, positions)
    left = np.isin(np.arange(len(hinges.p)), bent)
    sides = np.bincount(hinges.faces[bent].ravel(), minlength=len(shape.areas))
    wide = (hinges.sizes > 3).any(axis=1)
    folded_hinges, share = with_both_diagonals(hinges)
    twists = diagonal_hinges(shape.corners)
    face, ends = twists.faces[:, 0], np.stack([twists.p, twists.q], axis=1)
    # A hinge across the diagonal L of a rectangle bends by κ₁₂ L: its ½ B 2 L² / A is B A.
    whole = 2.0 * (shape.areas[face] / edge_lengths(positions, ends) ** 2) ** 2
    twisted = whole * np.maximum(1.0 - sides[face] / 4.0, 0.0)
    share *= np.append(left, left[wide])
    return lines, concatenated(folded_hinges, twists), np.append(share, twisted), len(twisted)


def bend_batches(
    bends: BendConstraints, inverse_masses: Floats, h_squared: float, stiffening: float = 1.0
) -> BendBatches:
    """The batches for one h² [s²]: the stiffness of a bend decides how it is solved.

    All but soft rope bends are stiffened by the factor `stiffening`, for damping; see
    `bend_damping`.
    """
    if bends.yields:
        return _yielding_batches(bends, inverse_masses, h_squared, stiffening)
    straight_ropes = bends.ropes.select(bends.straight_ropes)
    straight = straight_bends(bends.strips, [*bends.straight, straight_ropes])
    every = concatenated(straight, hinges_as_bends(bends.hinges))
    ratios = stiffness_ratios(every, inverse_masses, h_squared)
    along, ropes = len(line_indices(bends.strips)), len(straight.members)
    n, surfaces = len(inverse_masses), ropes - len(straight_ropes.members)
    twists = slice(surfaces - len(bends.straight[-1].members), surfaces)
    stiff, looped = _choose_methods(every, ratios, line_runs(bends.strips), twists)
    soft_ropes = ~bends.straight_ropes
    soft_ropes[~soft_ropes] = ~stiff[surfaces:ropes]
    rests = np.append(np.zeros(ropes), bends.hinges.rests)[stiff]
    arguments = inverse_masses, h_squared, stiffening
    return BendBatches(
        stiff=stiff_bend_batches(
            every.select(stiff), bends.positions, inverse_masses, h_squared, rests, stiffening
        ),
        strips=bend_strip_batches(bends.strips.without_lines(stiff[:along]), *arguments),
        loops=face_loop_batches(every.select(looped), *arguments),
        soft=_soft_batches(bends.straight, (stiff | looped)[along:surfaces], *arguments)
        + surface_stencil_batches(bends.hinges.select(~stiff[ropes:]), *arguments),
        ropes=stencil_batches(bends.ropes.select(soft_ropes), inverse_masses, h_squared),
        stiff_particles=_mostly_stiff(every, ratios, n),
    )


def _choose_methods(
    every: Bends, ratios: Floats, runs: Integers, twists: slice
) -> tuple[Booleans, Booleans]:
    """(c,) which bends are solved for all at once, and which along face loops.

    The first are lines along strips, which go with the stiffest of their run (l,). Of twists, those
    near stiff bends go with them.
    """
    lines, highest = slice(len(runs)), np.zeros(len(runs))
    np.maximum.at(highest, runs, ratios[lines])
    stiff, looped = ratios > MAX_SOFT_RATIO, np.zeros(len(ratios), dtype=bool)
    stiff[lines] &= highest[runs] > MAX_STRIP_RATIO
    stiff[twists] = False
    near = _near_stiff(every.members[stiff], every.members[twists])
    stiff[twists] = ratios[twists] > np.where(near, MAX_SOFT_TWIST_RATIO, MAX_STRIP_RATIO)
    looped[twists] = (ratios[twists] > MAX_SOFT_TWIST_RATIO) & ~stiff[twists]
    return stiff, looped


def _near_stiff(stiff: Integers, twists: Integers) -> Booleans:
    """(t,) which twists (t, 4) are near stiff bends (s, 4)."""
    near, reached = np.zeros(len(twists), dtype=bool), stiff
    for _ in range(NEAR_QUADS + 1):
        near = np.isin(twists, reached).any(axis=1)
        reached = twists[near]
    return near


def _yielding_batches(
    bends: BendConstraints, inverse_masses: Floats, h_squared: float, stiffening: float
) -> BendBatches:
    """Hinges and ropes whose rests change, in place: hinges all at once if any of them is stiff."""
    hinges, n = bends.hinges, len(inverse_masses)
    every = hinges_as_bends(hinges)
    ratios = stiffness_ratios(every, inverse_masses, h_squared)
    stiff = bool((ratios > MAX_SOFT_RATIO).any())
    arguments = inverse_masses, h_squared
    return BendBatches(
        stiff=stiff_bend_batches(every, bends.positions, *arguments, hinges.rests, stiffening)
        if stiff
        else [],
        strips=[],
        loops=[],
        soft=[] if stiff else surface_stencil_batches(hinges, *arguments, stiffening),
        ropes=stencil_batches(bends.ropes, *arguments),
        stiff_particles=_mostly_stiff(every, ratios, n),
    )


def _mostly_stiff(every: Bends, ratios: Floats, particle_count: int) -> Booleans:
    """(n,) bool, particles most of whose bends have a higher ratio than MAX_STRIP_RATIO."""
    votes = np.where(ratios > MAX_STRIP_RATIO, 1.0, -1.0)
    return (
        np.bincount(every.members.ravel(), np.repeat(votes, HINGE_PARTICLES), particle_count) > 0.0
    )


def _soft_batches(
    straight: Sequence[Stencils],
    stiff: Booleans,
    inverse_masses: Floats,
    h_squared: float,
    stiffening: float,
) -> list[StencilBatch]:
    """One batch per colour of those stencils that are not stiff."""
    batches, start = [], 0
    for stencils in straight:
        stop = start + len(stencils.members)
        not_stiff = stencils.masked(stiff[start:stop])
        batches += surface_stencil_batches(not_stiff, inverse_masses, h_squared, stiffening)
        start = stop
    return batches
