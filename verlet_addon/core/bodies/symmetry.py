"""Particles of mirrored bodies, and the symmetry of their motion."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..kernel import Sized, Struct, kernel


@dataclass(frozen=True, eq=False)
class Reflection:
    """Pairs of particles and mirror images in one of a body's mirrors."""

    mirror: int
    """Number of the mirror among the body's mirrors."""
    sources: Integers
    """(k,) particles that are not on the plane."""
    images: Integers
    """(k,) images of the sources."""
    seam: Integers
    """(s,) particles on the plane, which are their own images."""


Struct(
    "reflection",
    Reflection,
    reads="mirror sources images seam",
    pairs=(int, lambda reflection: len(reflection.sources)),
    on_seam=(int, lambda reflection: len(reflection.seam)),
)


@kernel()
def keep_symmetric(positions: Sized, reflections: Sequence[Reflection], planes: Floats) -> None:
    """Sets sources and images to their symmetric mean, in positions (3, n) [m].

    Parameters
    ----------
    planes : (m, 6) a point and a normal of each of the body's mirrors.
    """
    for reflection in reversed(reflections):
        sources = positions[:, reflection.sources]
        images = mirrored(positions[:, reflection.images], planes[reflection.mirror])
        positions[:, reflection.sources] = (sources + images) / 2
    # In order, because the image in one mirror is a source of the next.
    for reflection in reflections:
        write_images(positions, reflection, planes[reflection.mirror])


def write_images(positions: Floats, reflection: Reflection, plane: Floats) -> None:
    """Sets images to the reflections of sources, and projects the seam, in positions (3, n)."""
    positions[:, reflection.images] = mirrored(positions[:, reflection.sources], plane)
    seam = positions[:, reflection.seam]
    positions[:, reflection.seam] = (seam + mirrored(seam, plane)) / 2


def mirrored(positions: Floats, plane: Floats) -> Floats:
    """(3, k) reflections of positions (3, k) in a plane (6,), a point and a normal."""
    point, normal = plane[:3, None], plane[3:, None] / np.sqrt((plane[3:] ** 2).sum())
    heights = (normal * (positions - point)).sum(axis=0)
    return np.asarray(positions - 2.0 * normal * heights)
