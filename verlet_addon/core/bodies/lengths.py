"""All lengths of a surface body: weave, edges, seams, ropes, and joints of rigid pieces."""

from typing import Annotated

import numpy as np

from ..arrays import Floats, Integers
from ..kernel import Sized, Struct, kernel
from ..rigid.piece_motion import apply_constraints_to_pieces, project_joints
from ..rigid.pieces import PiecePoses
from ..ropes.kernels import project_ropes
from ..state import Batches, ParticleState
from ..stretch.coarse_levels import Level
from ..stretch.distance_limits import GoalRadii, Tethers, project_goal_radii
from ..stretch.rigid_clusters import Clusters
from ..stretch.seams import project_seams, seam_rounds
from ..stretch.strain_limiting import StripLinks
from ..stretch.strip_batches import Diagonals, StripBatch
from ..stretch.sweep import MAX_SWEEPS, project_stretch
from ..stretch.tension_warm_start import StripSystem, warm_start_tension
from ..volume.gas import drop_tension_jumps
from ..weave.kernels import project_weave

SURFACE_WARM_START = 0.75
"""Share of the previous tension that slack links of pinned surfaces start a step from. Silk that
hangs over a rim then comes to rest except for some millimetres a second; with 0.85 everywhere its
corners move on at 0.2 m/s, because sweeps do not resist lateral motion under tension. With less,
sweeps have more to solve: a dress takes a tenth longer than with 0.85, and silk hangs in deeper
folds on some meshes than on others.
Surfaces without pins carry no load, and start from 0. Surfaces with gas start from all of their
tension: the gas keeps them smooth, and an imbalance with tension would shake them."""
GAS_SEARCH_DIRECTIONS = 16
"""Search directions for the balance of gas and tension, which couples the whole body; with 2, a
ball of 1,100 vertices at 1000 Pa wobbles increasingly, with 6 it comes to rest."""
MIN_TAUTNESS = 2.5
"""Tautness h² T/(l m) from which a strip is solved directly in the warm start of surfaces. With
half, a balloon between plates stretches by 3.8 % in place of 1.5 %; with twice, by 36 %."""
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


def warm_start_tensions(state: ParticleState, batches: Batches) -> None:
    """Warm-starts strips with the previous tension, so that sweeps only solve for its change."""
    positions, strip_system = state.positions, batches.lengths.strip_system
    if batches.weave:
        # Weave patches balance the gas, and have their own warm start. With one of edges as well, a
        # sheet of 2,601 vertices would be thrown up as it falls into its corners.
        positions += strip_system.gas_forces / strip_system.masses
        strip_system.gas_forces.fill(0.0)
        strip_system.multipliers.fill(0.0)
    elif state.gas is None:
        warm_start_tension(
            positions, strip_system, kept_share=SURFACE_WARM_START, min_tautness=MIN_TAUTNESS
        )
    else:
        multipliers = strip_system.multipliers
        drop_tension_jumps(multipliers, state.gas.former_tension(multipliers))
        warm_start_tension(
            positions,
            strip_system,
            kept_share=1.0,
            min_tautness=MIN_TAUTNESS,
            rounds=GAS_SEARCH_DIRECTIONS,
        )
    ropes = batches.ropes
    warm_start_tension(
        positions,
        ropes.strip_system,
        kept_share=1.0,
        min_tautness=0.0,
        rounds=ropes.search_directions,
    )
