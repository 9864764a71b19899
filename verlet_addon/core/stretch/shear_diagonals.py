"""Diagonals of faces, with rest lengths scaled by the size of the face: they resist shear alone."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, inverse
from .strip_paths import Strips


@dataclass(frozen=True, eq=False)
class Diagonals:
    """Links of shear strips, sorted by face."""

    pairs: Integers
    """(d, 2) particles."""
    faces: Integers
    """(d,) face numbers, counted from 0."""
    rests: Floats
    """(d,) lengths at rest [m]."""
    weights: Floats
    """(d,) 1 / rest, divided by the number of diagonals of the face [1/m]."""
    link_indices: Integers
    """(d,) indices of the diagonals in `rest_lengths`."""
    rest_lengths: Floats
    """(k,) the strips' rest lengths; changed by the kernel [m]."""


def make_diagonals(strips: Strips, faces: Integers) -> Diagonals:
    """Sorts the links of strips by the faces (m,) of their pairs, sharing their rest lengths."""
    link_indices = np.flatnonzero(strips.linked)
    link_indices = link_indices[np.argsort(faces[strips.pairs[link_indices]], kind="stable")]
    labels = np.unique(faces[strips.pairs[link_indices]], return_inverse=True)[1].reshape(-1)
    rests = strips.rest_lengths[link_indices]
    return Diagonals(
        pairs=np.stack([strips.path[link_indices], strips.path[link_indices + 1]], axis=1),
        faces=labels,
        rests=rests,
        weights=inverse(rests * np.bincount(labels)[labels], rests),
        link_indices=link_indices,
        rest_lengths=strips.rest_lengths,
    )
