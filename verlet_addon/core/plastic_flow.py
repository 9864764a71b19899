"""After a step, the rest lengths and angles of what was strained past its limit follow."""

import numpy as np

from .arrays import Floats
from .bending.numpy_kernels import rope_bends, signed_bends
from .model import SoftBodyModel
from .plasticity import Plastic, strip_strains
from .state import Batches, ParticleState
from .stretch.links import Links
from .stretch.paths import Strips
from .weave.numpy_kernels import thread_lengths


def wear(model: SoftBodyModel, state: ParticleState, batches: Batches, dt: float) -> None:
    """Writes new rests into the batches where a body has yielded; lengths only ever grow."""
    if state.plastic is None:
        return
    _wear_lengths(model, state.positions, state.plastic, batches, dt)
    _wear_bends(model, state.positions, state.plastic, batches, dt)


def _wear_lengths(
    model: SoftBodyModel, positions: Floats, plastic: Plastic, batches: Batches, dt: float
) -> None:
    """Of edges, ropes and threads."""
    fresh, used, hardening = model, batches.model, model.settings.hardening
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
        np.add(model.weave.rests, plastic.weave.kept, out=batch.rests)


def _hand_on(strips: Strips, links: Links) -> None:
    """Copies the rest lengths of strips to the links, which hold them too."""
    movable = np.isfinite(links.rest_lengths)
    links.rest_lengths[movable] = strips.rest_lengths[:-1][movable]


def _wear_bends(
    model: SoftBodyModel, positions: Floats, plastic: Plastic, batches: Batches, dt: float
) -> None:
    """Of hinges and ropes."""
    hardening = model.settings.hardening
    for original, bends, yielding, measure in (
        (model.bends.hinges, batches.model.bends.hinges, plastic.bends[0], signed_bends),
        (model.bends.ropes, batches.model.bends.ropes, plastic.bends[1], rope_bends),
    ):
        yielding.follow(measure(positions, bends) - original.rests, hardening, dt)
        np.add(original.rests, yielding.kept, out=bends.rests)
