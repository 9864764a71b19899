"""Projection and velocity update of contact rows.

In C they go row by row. Rows of a batch share no movable particle, so that solving batch after
batch gives the same bits as solving row after row (Gauss-Seidel).
"""

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, dot, magnitudes, sum_rows
from ..coloring import sequential_batches
from ..kernel import Sized, Struct, kernel
from .contact_rows import ContactRows
from .row_terms import sum_weighted

Struct(
    "contact_rows",
    ContactRows,
    reads="particles weights impulse_responses mobilities normals gaps targets rebounds anchors",
    shares="friction on_ropes normal_multipliers friction_multipliers",
    count=(int, lambda rows: len(rows.targets)),
)


@kernel()
def project_rows(positions: Sized, rows: ContactRows) -> None:
    """C = n · Σ w x − target ≥ 0, and Coulomb friction, |friction| ≤ coefficient × normal.

    Multipliers accumulate over all rounds of a step, so that a round can reduce an excess of the
    one before. Rows on ropes are skipped. `positions` (3, N) are those of all bodies and colliders.
    """
    for batch in sequential_batches(rows.particles, rows.impulse_responses != 0.0):
        _project(positions, rows, batch[~rows.on_ropes[batch]])


def _project(positions: Floats, rows: ContactRows, batch: Integers) -> None:
    """Projects the rows of one batch."""
    apart = sum_weighted(positions, rows.particles[:, batch], rows.weights[:, batch])
    normals, mobilities = rows.normals[:, batch], rows.mobilities[batch]
    height = dot(normals, apart)
    before = rows.normal_multipliers[batch]
    normal_multipliers = np.maximum(before + (rows.targets[batch] - height) / mobilities, 0.0)
    touching = (normal_multipliers > 0.0) | (before > 0.0)
    batch, apart, normals, mobilities = (
        batch[touching],
        apart[:, touching],
        normals[:, touching],
        mobilities[touching],
    )
    normal_multipliers, before = normal_multipliers[touching], before[touching]
    friction_multipliers = rows.friction_multipliers[:, batch]
    slid: Floats = np.subtract(apart, rows.anchors[:, batch])
    slid += friction_multipliers * mobilities
    away = dot(normals, slid)
    slid -= normals * away
    length = magnitudes(slid)
    limit = rows.friction[batch] * normal_multipliers
    held = slid * np.minimum(1.0 / mobilities, limit / np.maximum(length, NONZERO))
    rows.normal_multipliers[batch] = normal_multipliers
    rows.friction_multipliers[:, batch] = held
    impulse = normals * (normal_multipliers - before) - (held - friction_multipliers)
    _add(positions, rows, batch, impulse)


@kernel()
def push_rows(positions: Sized, rows: ContactRows) -> None:
    """Applies the accumulated multipliers of rows, with friction, to positions (3, N)."""
    impulses = rows.normals * rows.normal_multipliers - rows.friction_multipliers
    for corner in range(4):
        moves = rows.impulse_responses[corner] * impulses
        positions += sum_rows(rows.particles[corner], moves, positions.shape[1])


@kernel()
def rebound_rows(previous_positions: Floats, positions: Sized, rows: ContactRows) -> None:
    """Velocity update of contacts: sets the normal speed to 0, or to the speed of a bounce.

    Parameters
    ----------
    previous_positions, positions : (3, N) of all bodies and colliders [m]; previous
        positions change.
    """
    for batch in sequential_batches(rows.particles, rows.impulse_responses != 0.0):
        hit = batch[rows.normal_multipliers[batch] > 0.0]
        corners = rows.particles[:, hit], rows.weights[:, hit]
        apart = sum_weighted(positions, *corners) - sum_weighted(previous_positions, *corners)
        normals = rows.normals[:, hit]
        moved = dot(normals, apart)
        impulse = normals * ((moved - rows.rebounds[hit]) / rows.mobilities[hit])
        _add(previous_positions, rows, hit, impulse)


@kernel(
    result=lambda _, positions, *__: tuple(np.zeros((2, positions.shape[1]), dtype=bool)),
    work=lambda _, positions, *__: np.empty(positions.shape[1]),
)
def find_unsafe(
    start: Floats, positions: Floats, end: Sized, rows: ContactRows, allowed: Sized, safe: float
) -> tuple[Booleans, Booleans]:
    """Finds particles (N,) that may have tunnelled on the way to their positions (3, N) [m].

    Of the first m particles, `displaced` are those displaced by more than `allowed` (m,) [m] from
    `end`, or in rows that keep no `safe` share of their gap. `fast` are particles of rows in which
    any moved, relative to the mean, by more than such a share of the distance.
    """
    displaced, fast = np.zeros((2, positions.shape[1]), dtype=bool)
    displaced[: len(allowed)] = magnitudes(positions - end)[: len(allowed)] > allowed
    near = rows.particles[:, rows.heights(positions) <= safe * rows.gaps]
    displaced[near[near < len(allowed)]] = True
    limits = safe * np.minimum(rows.gaps, dot(rows.normals, rows.anchors))
    displacements = (positions - start).take(rows.particles, axis=1)
    # The deviation from the mean of four is at most 1.5 times the largest displacement.
    perhaps = 2.0 * magnitudes(displacements).max(axis=0, initial=0.0) > limits
    beside = (
        displacements
        - (displacements[:, 0] + displacements[:, 1] + displacements[:, 2] + displacements[:, 3])[
            :, None
        ]
        / 4.0
    )
    far = perhaps & (magnitudes(beside).max(axis=0, initial=0.0) > limits)
    fast[rows.particles[:, far]] = True
    return displaced, fast


def _add(positions: Floats, rows: ContactRows, batch: Integers, impulse: Floats) -> None:
    """Adds impulses (3, t) of a batch's rows to their particles [kg m]."""
    for corner in range(4):
        impulse_responses = rows.impulse_responses[corner, batch]
        moved = np.flatnonzero(impulse_responses)
        positions[:, rows.particles[corner, batch[moved]]] += (
            impulse_responses[moved] * impulse[:, moved]
        )
