"""All lengths of a surface body: weave, edges, seams, ropes, and joints of rigid pieces."""

from typing import Annotated

import numpy as np

from ..arrays import Floats, Integers
from ..kernel import Sized, Struct, kernel
from ..rigid.piece_motion import apply_constraints_to_pieces, project_joints
from ..rigid.pieces import PiecePoses
from ..ropes.kernels import project_ropes
from ..state import Batches
from ..stretch.coarse_levels import Level
from ..stretch.distance_limits import GoalRadii, Tethers, project_goal_radii
from ..stretch.rigid_clusters import Clusters
from ..stretch.seams import project_seams, seam_rounds
from ..stretch.strain_limiting import StripLinks
from ..stretch.strip_batches import Diagonals, StripBatch
from ..stretch.sweep import MAX_SWEEPS, project_stretch
from ..stretch.tension_warm_start import StripSystem
from ..weave.kernels import project_weave

ROPE_ROUNDS = 8
"""Alternations between rigid pieces and ropes. With half, a hinge lies 0.5 mm elsewhere; with
twice, it moves by less than 0.001 mm."""

STRIP_ORDER = Struct(
    "strip_order",
    Batches,
    batches=(list[StripBatch], lambda batches: batches.lengths.edges),
    links=(int, lambda batches: len(batches.lengths.links.multipliers)),
    starts=(Integers, lambda batches: batches.model.lengths.edges.starts),
    multipliers=(Floats, lambda batches: batches.lengths.links.multipliers),
    order=(Integers, lambda batches: np.zeros(len(batches.lengths.edges), dtype=np.int64)),
    scratch={"tensions": lambda batches: len(batches.lengths.edges)},
)
SURFACE = Struct(
    "surface",
    Batches,
    strip_system=(StripSystem, lambda batches: batches.lengths.strip_system),
    diagonals=(Diagonals, lambda batches: batches.lengths.diagonals),
    shear=(list[StripBatch], lambda batches: batches.lengths.shear),
    levels=(list[Level], lambda batches: batches.model.lengths.levels),
    tethers=(Tethers, lambda batches: batches.model.lengths.tethers),
    edges=(STRIP_ORDER, STRIP_ORDER.pack),
    clusters=(Clusters, lambda batches: batches.model.lengths.clusters),
    links=(StripLinks, lambda batches: batches.lengths.links),
)
BODY_LENGTHS = Struct(
    "body_lengths",
    Batches,
    reads="ropes seams weave",
    surface=(SURFACE, SURFACE.pack),
    seam_rounds=(int, lambda batches: seam_rounds(batches.seams)),
)


@kernel()
def project_lengths(
    positions: Sized,
    batches: Annotated[Batches, BODY_LENGTHS],
    rigid: PiecePoses | None,
    limits: GoalRadii | None,
    *,
    backwards: bool,
    single_sweep: bool,
) -> int:
    """Projects weave, edges, seams, ropes and rigid joints, with several sweeps or one.

    Moves positions (3, n) [m] in place. Returns the number of sweeps over edges.
    """
    lengths, sweeps = batches.model.lengths, 0
    project_weave(positions, batches.weave)
    for number in range(seam_rounds(batches.seams)):
        if number:
            project_seams(positions, batches.seams)
        sweeps += project_stretch(
            positions,
            lengths,
            batches.lengths,
            backwards=backwards,
            rigid=rigid,
            max_sweeps=1 if single_sweep else MAX_SWEEPS,
            limits=limits,
        )
    for _ in range(1 if rigid is None and (limits is None or single_sweep) else ROPE_ROUNDS):
        project_goal_radii(positions, limits)
        project_ropes(positions, batches.ropes)
        project_seams(positions, batches.seams)
        apply_constraints_to_pieces(rigid, positions)
    project_joints(rigid, positions)
    return sweeps if lengths.edges.path.size else 0
