"""Post-stabilization: contacts alone, after the alternation with lengths, within strain limits."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import NONZERO, Floats, magnitudes
from ..contact.contact_rows import ContactRows
from ..contact.kernels import project_rows
from ..detection.surfaces import Surfaces
from ..ropes.rope_trees import TreeBatches
from .alternating_projection import project_alternately
from .contact_step import ContactStep, gather_bodies, scatter_bodies

POST_ROUNDS = 4
"""Rounds of contact projection after the alternation with lengths."""
MAX_POST_STRAIN = 6e-3
"""Largest displacement in these rounds, as a share of a particle's shortest edge. With no limit a
sheet of 10,201 vertices that falls over a ball is stretched by 12 %; with half of it a ball that is
pressed between plates stays too near to them."""
MAX_GAP_DEFICIT = 0.4
"""Violation that contacts may keep, as a share of their owners' gap. Pairs that lie nearer at rest
mostly have short edges, which further corrections would stretch."""


def post_stabilize(
    contact_step: ContactStep, bodies: Sequence[Floats], trees: Sequence[TreeBatches]
) -> None:
    """Projects contacts of bodies (3, n), with their rope trees, within MAX_POST_STRAIN.

    Only contacts violated by more than MAX_GAP_DEFICIT are corrected beyond that.
    """
    world, rows, positions = contact_step.world, contact_step.rows, contact_step.positions
    gather_bodies(contact_step.touching_bodies, bodies, positions)
    own = list(contact_step.touching_bodies.values())
    initial = [positions[:, part].copy() for part in own]
    project_alternately(contact_step, bodies, trees, max_rounds=POST_ROUNDS)
    # Depenetration takes precedence over strain.
    depenetrating = world.depenetrating
    if any(depenetrating[part].any() for part in own):
        return
    for part, before in zip(own, initial, strict=True):
        moved = positions[:, part] - before
        far, allowed = magnitudes(moved), MAX_POST_STRAIN * world.shortest_edges[part]
        positions[:, part] = before + moved * np.minimum(1.0, allowed / np.maximum(far, NONZERO))
    _project_deep_contacts(rows, positions, world.surfaces)
    scatter_bodies(contact_step.touching_bodies, bodies, positions)


def _project_deep_contacts(rows: ContactRows, positions: Floats, surfaces: Surfaces) -> None:
    """Corrects contacts that are violated by more than MAX_GAP_DEFICIT."""
    first, second = surfaces.owners[rows.particles[[0, 3]]]
    least = rows.targets - MAX_GAP_DEFICIT * surfaces.gaps[first, second]
    for _ in range(POST_ROUNDS):
        near = (rows.heights(positions) < least) & ~rows.on_ropes
        if not near.any():
            break
        nearest = replace(
            rows,
            targets=np.where(near, least, -np.inf),
            normal_multipliers=np.zeros_like(rows.normal_multipliers),
            friction_multipliers=np.zeros_like(rows.friction_multipliers),
        )
        project_rows(positions, nearest)
        rows.normal_multipliers[:] += nearest.normal_multipliers
        rows.friction_multipliers[:] += nearest.friction_multipliers
