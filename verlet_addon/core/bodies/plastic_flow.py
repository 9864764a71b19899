"""Plastic flow: update of rest lengths and angles after a step."""

import numpy as np

from ..bending.kernels import rope_bends, signed_bends
from ..plasticity import Plastic, strip_strains
from ..stretch.strain_limiting import StripLinks
from ..stretch.strip_paths import Strips
from ..weave.kernels import thread_lengths
from .body_step import BodyStep


def apply_plastic_flow(body_step: BodyStep, dt: float) -> None:
    """Updates rest lengths and angles in a body's batches; rest lengths only grow."""
    if body_step.state.plastic is not None:
        _flow_lengths(body_step, body_step.state.plastic, dt)
        _flow_bends(body_step, body_step.state.plastic, dt)


def _flow_lengths(body_step: BodyStep, plastic: Plastic, dt: float) -> None:
    """Plastic flow of edges, ropes and threads."""
    fresh, positions, batches = body_step.model, body_step.state.positions, body_step.batches
    used, hardening = batches.model, fresh.settings.hardening
    for original, strips, yielding in (
        (fresh.lengths.edges, used.lengths.edges, plastic.strips[0]),
        (fresh.ropes.rings, used.ropes.rings, plastic.strips[1]),
        (fresh.ropes.trees.strips, used.ropes.trees.strips, plastic.strips[2]),
    ):
        strains = strip_strains(positions, original)
        yielding.flow(np.maximum(strains, yielding.permanent), hardening, dt)
        np.multiply(original.rest_lengths, 1.0 + yielding.permanent, out=strips.rest_lengths)
    _copy_rest_lengths(used.lengths.edges, batches.lengths.links)
    for batch in batches.weave:
        strains = thread_lengths(positions, batch).T - 1.0
        plastic.weave.flow(np.maximum(strains, plastic.weave.permanent), hardening, dt)
        np.add(fresh.weave.rests, plastic.weave.permanent, out=batch.rests)


def _copy_rest_lengths(strips: Strips, links: StripLinks) -> None:
    """Copies the rest lengths of strips to the links, which hold them too."""
    movable = np.isfinite(links.rest_lengths)
    links.rest_lengths[movable] = strips.rest_lengths[:-1][movable]


def _flow_bends(body_step: BodyStep, plastic: Plastic, dt: float) -> None:
    """Plastic flow of the bends of hinges and ropes."""
    fresh, used = body_step.model.bends, body_step.batches.model.bends
    for original, bends, yielding, measure in (
        (fresh.hinges, used.hinges, plastic.bends[0], signed_bends),
        (fresh.ropes, used.ropes, plastic.bends[1], rope_bends),
    ):
        bent = measure(body_step.state.positions, bends) - original.rests
        yielding.flow(bent, body_step.model.settings.hardening, dt)
        np.add(original.rests, yielding.permanent, out=bends.rests)
