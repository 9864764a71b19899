"""After a step, the rest lengths and angles of what was strained past its limit follow."""

import numpy as np

from ..bending.numpy_kernels import rope_bends, signed_bends
from ..plasticity import Plastic, strip_strains
from ..stretch.links import Links
from ..stretch.paths import Strips
from ..weave.numpy_kernels import thread_lengths
from .step_data import Mover


def wear(mover: Mover, dt: float) -> None:
    """Writes new rests into a body's batches where it has yielded; lengths only ever grow."""
    if mover.state.plastic is not None:
        _wear_lengths(mover, mover.state.plastic, dt)
        _wear_bends(mover, mover.state.plastic, dt)


def _wear_lengths(mover: Mover, plastic: Plastic, dt: float) -> None:
    """Of edges, ropes and threads."""
    fresh, positions, batches = mover.model, mover.state.positions, mover.batches
    used, hardening = batches.model, fresh.settings.hardening
    for original, strips, yielding in (
        (fresh.lengths.edges, used.lengths.edges, plastic.strips[0]),
        (fresh.ropes.rings, used.ropes.rings, plastic.strips[1]),
        (fresh.ropes.trees.strips, used.ropes.trees.strips, plastic.strips[2]),
    ):
        strains = strip_strains(positions, original)
        yielding.follow(np.maximum(strains, yielding.kept), hardening, dt)
        np.multiply(original.rest_lengths, 1.0 + yielding.kept, out=strips.rest_lengths)
    _hand_on(used.lengths.edges, batches.lengths.links)
    for batch in batches.weave:
        strains = thread_lengths(positions, batch).T - 1.0
        plastic.weave.follow(np.maximum(strains, plastic.weave.kept), hardening, dt)
        np.add(fresh.weave.rests, plastic.weave.kept, out=batch.rests)


def _hand_on(strips: Strips, links: Links) -> None:
    """Copies the rest lengths of strips to the links, which hold them too."""
    movable = np.isfinite(links.rest_lengths)
    links.rest_lengths[movable] = strips.rest_lengths[:-1][movable]


def _wear_bends(mover: Mover, plastic: Plastic, dt: float) -> None:
    """Of hinges and ropes."""
    fresh, used = mover.model.bends, mover.batches.model.bends
    for original, bends, yielding, measure in (
        (fresh.hinges, used.hinges, plastic.bends[0], signed_bends),
        (fresh.ropes, used.ropes, plastic.bends[1], rope_bends),
    ):
        bent = measure(mover.state.positions, bends) - original.rests
        yielding.follow(bent, mover.model.settings.hardening, dt)
        np.add(original.rests, yielding.kept, out=bends.rests)
