"""Rows of contacts in NumPy: what compiled kernels solve one row after the other.

Rows of a turn share no particle that can move, so that solving turn after turn gives to the last
digit what solving row after row does.
"""

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, dot, magnitudes, sum_rows
from ..coloring import sequential_batches
from ..detection.numpy_kernels import sum_weighted
from .contact_rows import ContactRows


def project_rows(positions: Floats, rows: ContactRows) -> None:
    """C = n · Σ w x − target ≥ 0, and Coulomb friction up to its coefficient times the push.

    Those of ropes are left alone.
    Both are those of all rounds of a step together, so that a round may take back what the one
    before did too much. `positions` (3, N) are those of all bodies and colliders.
    """
    for batch in sequential_batches(rows.particles, rows.impulse_responses != 0.0):
        _project(positions, rows, batch[~rows.on_ropes[batch]])


def _project(positions: Floats, rows: ContactRows, batch: Integers) -> None:
    """The rows of one turn."""
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


def push_rows(positions: Floats, rows: ContactRows) -> None:
    """Moves particles (3, N) as rows have pushed and rubbed them in all."""
    impulses = rows.normals * rows.normal_multipliers - rows.friction_multipliers
    for corner in range(4):
        moves = rows.impulse_responses[corner] * impulses
        positions += sum_rows(rows.particles[corner], moves, positions.shape[1])


def rebound_rows(previous_positions: Floats, positions: Floats, rows: ContactRows) -> None:
    """Sets how fast what has been pushed parts: it stays together, or bounces.

    Parameters
    ----------
    previous_positions, positions : (3, N) of all bodies and colliders, the first of which change.
    """
    for batch in sequential_batches(rows.particles, rows.impulse_responses != 0.0):
        hit = batch[rows.normal_multipliers[batch] > 0.0]
        corners = rows.particles[:, hit], rows.weights[:, hit]
        apart = sum_weighted(positions, *corners) - sum_weighted(previous_positions, *corners)
        normals = rows.normals[:, hit]
        moved = dot(normals, apart)
        impulse = normals * ((moved - rows.rebounds[hit]) / rows.mobilities[hit])
        _add(previous_positions, rows, hit, impulse)


def find_unsafe(
    start: Floats, positions: Floats, end: Floats, rows: ContactRows, allowed: Floats, safe: float
) -> tuple[Booleans, Booleans]:
    """Finds which particles (N,) may have passed something on the way to where they are (3, N) [m].

    Astray is what went farther than allowed (m,) [m] from where it was to end, or keeps no safe
    share of its gap, of the first m. Fast is what moved, beside a row as a whole, by more than
    such a share of the distance.
    """
    astray, fast = np.zeros((2, positions.shape[1]), dtype=bool)
    astray[: len(allowed)] = magnitudes(positions - end)[: len(allowed)] > allowed
    near = rows.particles[:, rows.heights(positions) <= safe * rows.gaps]
    astray[near[near < len(allowed)]] = True
    limits = safe * np.minimum(rows.gaps, dot(rows.normals, rows.anchors))
    displacements = (positions - start).take(rows.particles, axis=1)
    # Nobody is farther off the mean of four than one and a half times as far as the farthest moved.
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
    return astray, fast


def _add(positions: Floats, rows: ContactRows, batch: Integers, impulse: Floats) -> None:
    """Moves the particles of rows that share none by impulses (3, t) [kg m]."""
    for corner in range(4):
        impulse_responses = rows.impulse_responses[corner, batch]
        moved = np.flatnonzero(impulse_responses)
        positions[:, rows.particles[corner, batch[moved]]] += (
            impulse_responses[moved] * impulse[:, moved]
        )
