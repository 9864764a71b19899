"""Hinges: pairs of faces with a common edge."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, concatenated
from .faces import Corners
from .graph import edge_keys


@dataclass(frozen=True, eq=False)
class Hinges:
    """h pairs of faces with a common edge (p, q), which the first face has in the order p, q."""

    p: Integers
    """(h,)"""
    q: Integers
    """(h,)"""
    beyond_p: Integers
    """(h, 2) the vertex next to p in either face, away from the edge."""
    beyond_q: Integers
    """(h, 2) the vertex next to q in either face, away from the edge."""
    faces: Integers
    """(h, 2) the first and the second face."""
    sizes: Integers
    """(h, 2) numbers of corners of the faces."""


def find_hinges(corners: Corners, particle_count: int) -> Hinges:
    """Pairs the faces at each edge; of more than two, each with the next by number."""
    keys = edge_keys((corners.vertex, corners.following), particle_count)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    first, second = order[same], order[same + 1]
    before, after = corners.preceding, corners.after_next
    p, q = corners.vertex[first], corners.following[first]
    turned = corners.vertex[second] == q
    return Hinges(
        p=p,
        q=q,
        beyond_p=np.stack([before[first], np.where(turned, after[second], before[second])], axis=1),
        beyond_q=np.stack([after[first], np.where(turned, before[second], after[second])], axis=1),
        faces=np.stack([corners.face[first], corners.face[second]], axis=1),
        sizes=np.stack([corners.size[first], corners.size[second]], axis=1),
    )


def triangle_pair_diagonals(hinges: Hinges) -> tuple[Integers, Integers]:
    """(t, 2) opposite vertices of two triangles with a common edge, and (t,) their hinges."""
    both = np.flatnonzero((hinges.sizes == 3).all(axis=1))
    return hinges.beyond_p[both], both


def with_both_diagonals(hinges: Hinges) -> tuple[Hinges, Floats]:
    """All hinges, with a second one at edges of quads, and (h,) the share of its energy of each.

    At an edge of a quad there are two hinges of share ½, across opposite diagonals, because one
    alone would not resist bending along the other. On squares the two together are isotropic.
    """
    wide = (hinges.sizes > 3).any(axis=1)
    turned = Hinges(
        p=hinges.q[wide],
        q=hinges.p[wide],
        beyond_p=hinges.beyond_q[wide],
        beyond_q=hinges.beyond_p[wide],
        faces=hinges.faces[wide],
        sizes=hinges.sizes[wide],
    )
    shares = np.where(wide, 0.5, 1.0)
    return concatenated(hinges, turned), np.concatenate([shares, shares[wide]])


def diagonal_hinges(corners: Corners) -> Hinges:
    """Quads as hinges across the diagonal from their first corner."""
    first = np.flatnonzero((corners.size == 4) & (np.diff(corners.face, prepend=-1) > 0))
    p, one, q, other = (corners.vertex[first + k] for k in range(4))
    beyond = np.stack([other, one], axis=1)
    faces = np.stack([corners.face[first]] * 2, axis=1)
    return Hinges(p, q, beyond, beyond, faces, np.full((len(p), 2), 3))
