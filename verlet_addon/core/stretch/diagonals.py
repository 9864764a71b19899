"""Diagonals of faces, whose rests follow how large their face is: they resist shear alone."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, inverse
from .paths import Strips


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
    places: Integers
    """(d,) where their rest lengths stand…"""
    drawn: Floats
    """…in (k,) those of the strips; changed by the kernel [m]."""


def make_diagonals(strips: Strips, faces: Integers) -> Diagonals:
    """The links of strips by face, (m,) that of each pair; writes to the strips' rest lengths."""
    places = np.flatnonzero(strips.linked)
    places = places[np.argsort(faces[strips.pairs[places]], kind="stable")]
    labels = np.unique(faces[strips.pairs[places]], return_inverse=True)[1].reshape(-1)
    rests = strips.rest_lengths[places]
    return Diagonals(
        pairs=np.stack([strips.path[places], strips.path[places + 1]], axis=1),
        faces=labels,
        rests=rests,
        weights=inverse(rests * np.bincount(labels)[labels], rests),
        places=places,
        drawn=strips.rest_lengths,
    )
