"""Bend constraints of one body, and the choice of a solver for each of them for one h²."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, concatenated
from ..geometry.graph import edge_lengths
from ..geometry.hinges import Hinges, diagonal_hinges, find_hinges, with_both_diagonals
from ..geometry.rest_shape import RestShape
from ..stretch.strip_paths import Strips
from .bend_paths import (
    BendPathBatch,
    BendStrips,
    bend_strip_batches,
    face_loop_batches,
    line_indices,
    line_runs,
)
from .mesh_stencils import (
    MAX_STRAIGHT_TURN,
    BendLines,
    hinge_stencils,
    line_stencils,
    lines_across_quads,
    lines_along_ropes,
    rope_stencils,
)
from .stencil_batches import (
    Springs,
    StencilBatch,
    Stencils,
    stencil_batches,
    surface_stencil_batches,
)
from .stiff_bends import (
    HINGE_PARTICLES,
    StiffBendBatch,
    hinge_springs,
    stiff_bend_batches,
    stiffness_ratios,
    straight_bends,
)

MAX_SOFT_RATIO = 0.3
"""Stiffness ratio up to which bends are projected one after the other, for each hardly affects the
next. Half of it passes the same tests, but an irregular sheet stretches by 1.5 % instead of 1.2.
With twice as much, a stiff rope that hangs in an arc depends on the substeps, by 14 mm per
metre."""
MAX_STRIP_RATIO = 20.0
"""Stiffness ratio up to which lines are solved strip by strip. Half of it changes no test and no
real mesh; with twice as much, clamped triangles droop 5 % too far, and a dress stretches more."""
MAX_SOFT_TWIST_RATIO = 3.0
"""Stiffness ratio up to which twists of quads are projected one after the other; up to
MAX_STRIP_RATIO they are solved along face loops. With twice as much, a square pinned at a corner
hangs 10 % too low."""


@dataclass(frozen=True, eq=False)
class BendConstraints:
    """Bend constraints of one body."""

    positions: Floats
    """(n, 3) at rest [m]."""
    strips: BendStrips
    """Lines of surfaces along strips; all lines are straight at rest."""
    straight: Sequence[Stencils]
    """Other bends that are straight at rest: lines on no strip, hinges, and last twists of
    quads."""
    hinges: Stencils
    """Hinges with a rest angle."""
    ropes: Stencils
    """Bends of ropes, with their rest angles."""
    yields: bool
    """Whether rest angles change by plasticity; then no bend counts as straight."""

    @property
    def straight_ropes(self) -> Booleans:
        """(r,) bool, bends of ropes that are straight at rest."""
        return (self.ropes.rests < MAX_STRAIGHT_TURN) & (not self.yields)


@dataclass(frozen=True, eq=False)
class BendBatches:
    """Batches of `BendConstraints` by solver, for steps of one length; each bend is in one list."""

    stiff: list[StiffBendBatch]
    """Bends solved as one system: stiff ones, of surfaces and ropes."""
    paths: list[BendPathBatch]
    """Lines solved strip by strip; then twists of quads that are neither soft nor stiff, solved
    along face loops."""
    soft: list[StencilBatch]
    """Other bends of surfaces, projected one after the other."""
    ropes: list[StencilBatch]
    """Other bends of ropes, projected one after the other."""
    stiff_particles: Booleans
    """(n,) bool, particles most of whose bends have a stiffness ratio above MAX_STRIP_RATIO."""

    def of_surfaces(self) -> Iterator[StiffBendBatch | BendPathBatch | StencilBatch]:
        """All batches but `ropes`; of face loops only one, since they share multipliers."""
        yield from self.stiff
        yield from {id(batch.multipliers): batch for batch in self.paths}.values()
        yield from self.soft


def build_bends(shape: RestShape, edges: Strips, in_rods: Integers) -> BendConstraints:
    """Builds the bend constraints of a body with merged triangle pairs.

    Parameters
    ----------
    edges : its edges as strips.
    in_rods : (k, 2) edges of ropes whose bends are those of rods.
    """
    positions, yields = shape.mesh.positions, shape.settings.use_plasticity
    hinges = find_hinges(shape.corners, shape.particle_count)
    # Lines have no side, so they cannot keep a plastic rest angle; without faces there are none.
    if yields or not len(shape.areas):
        lines, (folds, share) = (
            BendLines(np.empty((0, 3), np.int64), np.empty(0)),
            with_both_diagonals(hinges),
        )
        within = 0
    else:
        lines, folds, share, within = _lines_and_folds(shape, hinges)
    strips, others = line_stencils(shape, lines, edges)
    ropes = lines_along_ropes(positions, shape.mesh.edges[shape.loose])
    ropes = ropes.without(in_rods)
    flat, twists, hinges_at_rest = hinge_stencils(shape, folds, share, within)
    return BendConstraints(
        positions=positions,
        strips=strips,
        straight=[others, flat, twists],
        hinges=hinges_at_rest,
        ropes=rope_stencils(shape, ropes),
        yields=yields,
    )


def _lines_and_folds(shape: RestShape, hinges: Hinges) -> tuple[BendLines, Hinges, Floats, int]:
    """Lines, hinges, (h,) the share of its energy that each hinge has, and the number of twists.

    The bending energy per area is ½ B (κ₁₁² + κ₂₂² + 2 κ₁₂²). Lines measure κ₁₁ and κ₂₂; twists,
    which are hinges across the diagonals of quads and the last of the hinges, measure κ₁₂; hinges
    between faces measure all of it, so that their share is 0 where lines replace them.
    """
    positions = shape.mesh.positions
    lines, bent = lines_across_quads(hinges, shape.areas, positions)
    left = np.isin(np.arange(len(hinges.p)), bent)
    sides = np.bincount(hinges.faces[bent].ravel(), minlength=len(shape.areas))
    wide = (hinges.sizes > 3).any(axis=1)
    folded_hinges, share = with_both_diagonals(hinges)
    twists = diagonal_hinges(shape.corners)
    face, ends = twists.faces[:, 0], np.stack([twists.p, twists.q], axis=1)
    # A hinge across the diagonal L of a rectangle has g = κ₁₂ L; its energy is to be B A κ₁₂².
    whole = 2.0 * (shape.areas[face] / edge_lengths(positions, ends) ** 2) ** 2
    twisted = whole * np.maximum(1.0 - sides[face] / 4.0, 0.0)
    share *= np.append(left, left[wide])
    return lines, concatenated(folded_hinges, twists), np.append(share, twisted), len(twisted)


def bend_batches(
    bends: BendConstraints, inverse_masses: Floats, h_squared: float, stiffening: float = 1.0
) -> BendBatches:
    """The batches for one h² [s²]; the stiffness ratio of a bend decides how it is solved.

    The stiffness of all but soft rope bends is multiplied by `stiffening`, for damping; see
    `bend_damping`.
    """
    if bends.yields:
        return _yielding_batches(bends, inverse_masses, h_squared, stiffening)
    straight_ropes = bends.ropes.select(bends.straight_ropes)
    straight = straight_bends(bends.strips, [*bends.straight, straight_ropes])
    every = concatenated(straight, hinge_springs(bends.hinges))
    ratios = stiffness_ratios(every, inverse_masses, h_squared)
    along, ropes = len(line_indices(bends.strips)), len(straight.members)
    n, surfaces = len(inverse_masses), ropes - len(straight_ropes.members)
    twists = slice(surfaces - len(bends.straight[-1].members), surfaces)
    stiff, looped = _choose_methods(every, ratios, line_runs(bends.strips), twists)
    soft_ropes = ~bends.straight_ropes
    soft_ropes[~soft_ropes] = ~stiff[surfaces:ropes]
    arguments = inverse_masses, h_squared, stiffening
    return BendBatches(
        stiff=stiff_bend_batches(every.select(stiff), bends.positions, *arguments),
        paths=bend_strip_batches(bends.strips.without_lines(stiff[:along]), *arguments)
        + face_loop_batches(every.select(looped), *arguments),
        soft=_soft_batches(bends.straight, (stiff | looped)[along:surfaces], *arguments)
        + surface_stencil_batches(bends.hinges.select(~stiff[ropes:]), *arguments),
        ropes=stencil_batches(bends.ropes.select(soft_ropes), inverse_masses, h_squared),
        stiff_particles=_mostly_stiff(every, ratios, n),
    )


def _choose_methods(
    every: Springs, ratios: Floats, runs: Integers, twists: slice
) -> tuple[Booleans, Booleans]:
    """(c,) bool, bends solved as one system, and (c,) bool, twists solved along face loops.

    Lines along strips, the first of the bends, count as stiff only if the stiffest of their run
    (l,) exceeds MAX_STRIP_RATIO. Twists beside stiff bends do from MAX_SOFT_TWIST_RATIO on.
    """
    lines, highest = slice(len(runs)), np.zeros(len(runs))
    np.maximum.at(highest, runs, ratios[lines])
    stiff, looped = ratios > MAX_SOFT_RATIO, np.zeros(len(ratios), dtype=bool)
    stiff[lines] &= highest[runs] > MAX_STRIP_RATIO
    stiff[twists] = False
    near = np.isin(every.members[twists], every.members[stiff]).any(axis=1)
    stiff[twists] = ratios[twists] > np.where(near, MAX_SOFT_TWIST_RATIO, MAX_STRIP_RATIO)
    looped[twists] = (ratios[twists] > MAX_SOFT_TWIST_RATIO) & ~stiff[twists]
    return stiff, looped


def _yielding_batches(
    bends: BendConstraints, inverse_masses: Floats, h_squared: float, stiffening: float
) -> BendBatches:
    """Batches of hinges and ropes whose rests change in place; one system if any hinge is stiff."""
    hinges, n = bends.hinges, len(inverse_masses)
    every = hinge_springs(hinges)
    ratios = stiffness_ratios(every, inverse_masses, h_squared)
    stiff = bool((ratios > MAX_SOFT_RATIO).any())
    arguments = inverse_masses, h_squared
    return BendBatches(
        stiff=stiff_bend_batches(every, bends.positions, *arguments, stiffening) if stiff else [],
        paths=[],
        soft=[] if stiff else surface_stencil_batches(hinges, *arguments, stiffening),
        ropes=stencil_batches(bends.ropes, *arguments),
        stiff_particles=_mostly_stiff(every, ratios, n),
    )


def _mostly_stiff(every: Springs, ratios: Floats, particle_count: int) -> Booleans:
    """(n,) bool, particles most of whose bends have a stiffness ratio above MAX_STRIP_RATIO."""
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
    """One batch per colour of the stencils except those solved otherwise, `stiff` (s,) bool."""
    batches, start = [], 0
    for stencils in straight:
        stop = start + len(stencils.members)
        not_stiff = stencils.masked(stiff[start:stop])
        batches += surface_stencil_batches(not_stiff, inverse_masses, h_squared, stiffening)
        start = stop
    return batches
