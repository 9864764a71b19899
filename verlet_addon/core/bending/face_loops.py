"""Twists of quads along face loops; each loop is solved as one system.

A twist is the bend of a quad's four corners. A face loop goes from quad to quad across opposite
edges, its rungs. Each quad is in two loops. Solved along one and
then along the other, twists respond nearly as if all were solved as one system (alternating
directions; D. W. Peaceman, H. H. Rachford, *The Numerical Solution of Parabolic and Elliptic
Differential Equations*, 1955).
"""

import numpy as np

from ..arrays import Floats, Integers
from ..coloring import first_free_colors
from ..geometry.graph import edge_keys
from ..stretch.strip_paths import shared_ends, trace_paths
from .bend_paths import BendPathBatch, make_bend_paths
from .stiff_bends import Springs

RUNGS = np.array([[[0, 2], [1, 3]], [[2, 1], [3, 0]]])
"""(2, 2, 2) indices into the members (p, q, a, b) of a twist: its two rungs, for both loops."""

Loop = tuple[list[int], list[int]]
"""Rungs, and the twists between them."""


def face_loop_batches(
    twists: Springs, inverse_masses: Floats, h_squared: float, stiffening: float = 1.0
) -> list[BendPathBatch]:
    """One batch per colour, for one h² [s²]; `stiffening` divides the compliances.

    Each twist is in two batches, and has one multiplier; where a loop ends, the last one is not
    used. No twist may be rigid.
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
        scaled = np.append(twists.compliances / (h_squared * stiffening), 0.0)[order]
        batches.append(
            make_bend_paths(
                path,
                coefficients,
                scaled,
                order,
                multipliers,
                inverse_masses=inverse_masses,
                regularization=0.0,
            )
        )
    return batches


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


def _coefficients(twists: Springs, path: Integers, order: Integers) -> Floats:
    """(4, c − 1) coefficients of a rung's particles and the next's, as in `BendPathBatch`."""
    is_twist = order < len(twists.members)
    members = twists.members[np.where(is_twist, order, 0)]
    values = twists.coefficients[np.where(is_twist, order, 0)] * is_twist[:, None]
    wanted = np.concatenate([path[:, :-1], path[:, 1:]])
    return np.asarray(((members[None] == wanted[..., None]) * values[None]).sum(axis=2))
