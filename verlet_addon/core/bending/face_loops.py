"""Twists of quads along face loops; each loop is solved as one tridiagonal system.

A twist is the bend of a quad's four corners. A face loop goes from quad to quad across opposite
edges, its rungs; its matrix is constant for one h². Each quad is in two loops. Solved along one and
then along the other, twists respond nearly as if all were solved as one system (alternating
directions; D. W. Peaceman, H. H. Rachford, *The Numerical Solution of Parabolic and Elliptic
Differential Equations*, 1955).
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..coloring import first_free_colors
from ..geometry.graph import edge_keys
from ..linear.pentadiagonal import Bands
from ..stretch.strip_paths import shared_ends, trace_paths
from .stiff_bends import Bends

RUNGS = np.array([[[0, 2], [1, 3]], [[2, 1], [3, 0]]])
"""(2, 2, 2) indices into the members (p, q, a, b) of a twist: its two rungs, for both loops."""

Loop = tuple[list[int], list[int]]
"""Rungs, and the twists between them."""


@dataclass(frozen=True, eq=False)
class FaceLoopBatch:
    """The face loops of one colour, prepared for steps of one length.

    Twist k has the rungs k and k + 1.
    """

    rungs: Integers
    """(2, c) both particles of each rung, loop after loop."""
    coefficients: Floats
    """(4, c − 1) of a rung's two particles and of the next rung's [1/m]; 0 where a loop ends."""
    responses: Floats
    """(4, c − 1) inverse mass × coefficient."""
    scaled_compliances: Floats
    """(c − 1,) compliance / h²; 0 where a loop ends."""
    twists: Integers
    """(c − 1,) number of each twist among all t; t where a loop ends."""
    bands: Bands
    """The matrix of all twists, C M⁻¹ Cᵀ + α̃."""
    multipliers: Floats
    """(3, t + 1) XPBD multipliers of all twists by axis, shared by all batches; changed by the
    kernel."""


def face_loop_batches(
    twists: Bends, inverse_masses: Floats, h_squared: float, stiffening: float = 1.0
) -> list[FaceLoopBatch]:
    """One batch per colour, for one h² [s²]; `stiffening` divides the compliances.

    Each twist is in two batches. None may be rigid.
    """
    count = len(twists.members)
    if not count:
        return []
    rungs, loops = _find_loops(twists.members, len(inverse_masses))
    multipliers = np.zeros((3, count + 1))
    batches = []
    for chosen in _by_color(rungs, loops, len(inverse_masses)):
        path = rungs[[rung for along, _ in chosen for rung in along]].T
        order = np.array(
            [twist for _, twists_between in chosen for twist in [*twists_between, count]][:-1]
        )
        coefficients = _coefficients(twists, path, order)
        responses = inverse_masses[np.concatenate([path[:, :-1], path[:, 1:]])] * coefficients
        scaled = np.append(twists.compliances / (h_squared * stiffening), 0.0)[order]
        longest = max(len(twists_between) for _, twists_between in chosen)
        batches.append(
            FaceLoopBatch(
                rungs=path,
                coefficients=coefficients,
                responses=responses,
                scaled_compliances=scaled,
                twists=order,
                bands=Bands(_twist_matrix(coefficients, responses, scaled), longest),
                multipliers=multipliers,
            )
        )
    return batches


def _twist_matrix(coefficients: Floats, responses: Floats, scaled_compliances: Floats) -> Floats:
    """C M⁻¹ Cᵀ + α̃ of twists (4, m), as the (3, m) rows of `Bands`.

    A twist shares one rung with the next, and no particle with others.
    """
    diagonal = (responses * coefficients).sum(axis=0) + scaled_compliances
    rows = np.zeros((3, len(diagonal)))
    rows[0] = np.where(diagonal > 0.0, diagonal, 1.0)
    rows[1, 1:] = (responses[2:, :-1] * coefficients[:2, 1:]).sum(axis=0)
    return rows


def _find_loops(members: Integers, particle_count: int) -> tuple[Integers, list[Loop]]:
    """(r, 2) particles of rungs, and the face loops; a loop that meets itself is cut into quads."""
    ends = members[:, RUNGS].reshape(-1, 2)
    keys, rung = np.unique(edge_keys(ends.T, particle_count), return_inverse=True)
    rungs = np.stack(np.divmod(keys, particle_count), axis=1)
    pairs = rung.reshape(-1, 2)
    joints = np.stack(shared_ends(pairs), axis=1)
    loops: list[Loop] = []
    for along, ends_on_path in trace_paths(pairs, joints):
        twists_between = [end // 2 for end in ends_on_path]
        if len(set(rungs[along].ravel().tolist())) == 2 * len(along):
            loops.append((along, twists_between))
        else:
            loops += [(along[k : k + 2], [twist]) for k, twist in enumerate(twists_between)]
    return rungs, loops


def _by_color(rungs: Integers, loops: list[Loop], particle_count: int) -> list[list[Loop]]:
    """Loops by colour; loops of one colour share no particle. The longest are coloured first."""
    loops = sorted(loops, key=lambda loop: -len(loop[1]))
    particles = (rungs[along].ravel().tolist() for along, _ in loops)
    colors = first_free_colors(particles, particle_count)
    groups: list[list[Loop]] = [[] for _ in range(max(colors) + 1)]
    for color, loop in zip(colors, loops, strict=True):
        groups[color].append(loop)
    return groups


def _coefficients(twists: Bends, path: Integers, order: Integers) -> Floats:
    """(4, c − 1) coefficients of a rung's particles and the next's, as in `FaceLoopBatch`."""
    is_twist = order < len(twists.members)
    members = twists.members[np.where(is_twist, order, 0)]
    values = twists.coefficients[np.where(is_twist, order, 0)] * is_twist[:, None]
    wanted = np.concatenate([path[:, :-1], path[:, 1:]])
    return np.asarray(((members[None] == wanted[..., None]) * values[None]).sum(axis=2))
