"""Diagonals of faces, whose rests follow how large their face is: they resist shear alone."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, inverse
from .strip_paths import Strips


@dataclass(frozen=True, eq=False)
class Diagonals:
    """Links of strips, those of a face one after the other."""

    pairs: Integers
    """(d, 2) particles."""
    faces: Integers
    """(d,) numbers of the faces, from 0 on."""
    rests: Floats
    """(d,) lengths at rest [m]."""
    weights: Floats
    """(d,) 1 / rest, shared out over the diagonals of the face [1/m]."""
    link_indices: Integers
    """(d,) where their rest lengths stand…"""
    rest_lengths: Floats
    """…in (k,) those of the strips; changed by the kernel [m]."""


def make_diagonals(strips: Strips, faces: Integers) -> Diagonals:
    """The links of strips by face, (m,) that of each pair; writes to the strips' rest lengths."""
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
