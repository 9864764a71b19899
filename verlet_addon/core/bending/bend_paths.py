"""Straight bends along paths: each path is solved as one pentadiagonal system.

A path has rungs of one particle, as those of a strip of edges, or of two, as those of a row of
quads. A bend that is straight at rest is linear in the positions, so that the matrix of a path is
constant for one h².

Lines, bends of three consecutive particles, are solved along strips of edges. Twists, the bends of
a quad's four corners, are solved along face loops, which go from quad to quad across opposite
edges, their rungs. Each quad is in two loops. Solved along one and then along the other, twists
respond nearly as if all were solved as one system (alternating directions; D. W. Peaceman, H. H.
Rachford, *The Numerical Solution of Parabolic and Elliptic Differential Equations*, 1955).
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..coloring import first_free_colors
from ..geometry.graph import edge_keys
from ..linear.pentadiagonal import Bands
from ..stretch.strip_paths import Strips, shared_ends, trace_paths
from .stencil_batches import Springs


@dataclass(frozen=True, eq=False)
class BendPathBatch:
    """The l bends of paths that share no particle, prepared for steps of one length.

    Bend k has the particles of rung k and of the next ones.
    """

    rungs: Integers
    """(s, c) particles of each rung, path after path."""
    coefficients: Floats
    """(m, l) of a bend's particles, rung by rung [1/m]; 0 without a bend."""
    responses: Floats
    """(m, l) inverse mass × coefficient."""
    scaled_compliances: Floats
    """(l,) compliance / h²."""
    bands: Bands
    """The matrix of all bends, C M⁻¹ Cᵀ + α̃."""
    slots: Integers
    """(l,) column of each bend in `multipliers`."""
    multipliers: Floats
    """(3, t) XPBD multipliers by axis, which batches may share; changed by the kernel."""


def make_bend_paths(
    rungs: Integers,
    coefficients: Floats,
    scaled_compliances: Floats,
    slots: Integers,
    multipliers: Floats,
    *,
    inverse_masses: Floats,
    regularization: float,
) -> BendPathBatch:
    """The batch for inverse masses (n,).

    Parameters
    ----------
    regularization : share of the mobility added to the compliance.
    """
    span, count = len(coefficients) // len(rungs), len(scaled_compliances)
    masses = inverse_masses[rungs]
    responses = coefficients * np.concatenate([masses[:, k : k + count] for k in range(span)])
    mobility = (responses * coefficients).sum(axis=0)
    diagonal = mobility * (1.0 + regularization) + scaled_compliances
    rows = np.zeros((3, count))
    rows[0] = np.where(diagonal > 0.0, diagonal, 1.0)
    for k in range(1, span):
        own = len(rungs) * k
        rows[k, k:] = (responses[own:, :-k] * coefficients[:-own, k:]).sum(axis=0)
    return BendPathBatch(
        rungs, coefficients, responses, scaled_compliances, Bands(rows), slots, multipliers
    )


BEND_REGULARIZATION = 1e-9
"""Share of the mobility added to the compliance, so that rigid bends have a solution. With ten
times as much, rigid sheets droop by more than a micrometre; a tenth of it changes nothing."""


@dataclass(frozen=True, eq=False)
class BendStrips:
    """Lines along strips: bends g = Σ coefficient · x of three consecutive particles."""

    strips: Strips
    """Strips of edges, with a path of k entries."""
    coefficients: Floats
    """(3, k) of the particle before an entry, its own, and the one after [1/m]; 0 without a
    line."""
    compliances: Floats
    """(k,) |g| per moment [1/(N m)]."""

    def without_lines(self, left_out: Booleans) -> "BendStrips":
        """The strips without the lines `left_out`, (l,) bool."""
        coefficients = self.coefficients.copy()
        coefficients[:, line_indices(self)[left_out]] = 0.0
        return replace(self, coefficients=coefficients)


def find_strip_lines(
    members: Integers, coefficients: Floats, compliances: Floats, strips: Strips
) -> tuple[BendStrips, Integers]:
    """Divides lines into those along strips and others.

    Parameters
    ----------
    members : (m, 3) particles of each line; the first has a lower number than the last.
    coefficients : (m, 3) [1/m].
    compliances : (m,) |g| per moment [1/(N m)].
    strips : strips of the edges of the mesh.

    Returns
    -------
    on_strips : lines whose particles are consecutive on a strip.
    others : (s,) indices of the other lines.
    """
    path = strips.path
    before, after = path[:-2], path[2:]
    along = np.stack([np.minimum(before, after), path[1:-1], np.maximum(before, after)], axis=1)
    linked = np.flatnonzero(strips.linked[:-2] & strips.linked[1:-1])
    rows, place = _match_rows(members, along[linked])
    place = linked[place]
    line_coefficients = coefficients[rows]
    turned = before[place] > after[place]
    line_coefficients[turned] = line_coefficients[turned][:, ::-1]
    placed = np.zeros((3, len(path)))
    placed[:, place + 1] = line_coefficients.T
    placed_compliances = np.zeros(len(path))
    placed_compliances[place + 1] = compliances[rows]
    on_strips = BendStrips(strips, placed, placed_compliances)
    return on_strips, np.setdiff1d(np.arange(len(members)), rows)


def line_indices(bends: BendStrips) -> Integers:
    """(l,) entries of the path that are the middle of a line."""
    return np.flatnonzero(bends.coefficients[1])


def line_runs(bends: BendStrips) -> Integers:
    """(l,) run number of each line; consecutive lines of a strip form a run."""
    return np.cumsum(np.diff(line_indices(bends), prepend=-2) > 1) - 1


def _match_rows(members: Integers, wanted: Integers) -> tuple[Integers, Integers]:
    """Indices of the rows common to `members` (m, 3) and `wanted` (k, 3), in each of the two."""
    n = int(max(members.max(initial=0), wanted.max(initial=0))) + 1
    keys, sought = (
        (triples[:, 0] * n + triples[:, 1]) * n + triples[:, 2] for triples in (members, wanted)
    )
    _, rows, place = np.intersect1d(keys, sought, assume_unique=True, return_indices=True)
    return rows, place


def bend_strip_batches(
    bends: BendStrips, inverse_masses: Floats, h_squared: float, stiffening: float = 1.0
) -> list[BendPathBatch]:
    """One batch per colour with lines, for one h² [s²]; `stiffening` divides their compliances."""
    strips, batches = bends.strips, []
    for start, stop in pairwise(strips.starts):
        inner = slice(start + 1, stop - 1)
        coefficients = bends.coefficients[:, inner]
        if coefficients.any():
            scaled = bends.compliances[inner] / (h_squared * stiffening)
            batches.append(
                make_bend_paths(
                    strips.path[None, start:stop],
                    coefficients,
                    scaled,
                    np.arange(len(scaled)),
                    np.zeros((3, len(scaled))),
                    inverse_masses=inverse_masses,
                    regularization=BEND_REGULARIZATION,
                )
            )
    return batches


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
