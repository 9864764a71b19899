"""Checks of samples and of results, with errors of one sentence."""

from collections.abc import Sequence
from itertools import chain
from math import sqrt

import numpy as np

from .arrays import magnitudes
from .errors import DivergenceError, SettingsError
from .field import Field, non_finite_number
from .forces.fields import sum_fields
from .mesh import MeshData
from .model import SoftBodyModel
from .scene import Sample
from .state import ParticleState

MAX_SPEED = 1e4
"""Limit of inputs: speed above which a simulation counts as diverged [m/s], thirty times that of
sound."""
MAX_FIELD_DIFFERENCE = 1e3
"""Limit of inputs: difference of field accelerations within a body up to which self-collision works
[m/s²], unless steps are so short that its parts move by a third of its size or less."""
MAX_STILL_MOTION = 0.01
"""Limit of inputs: largest motion of pins in a frame of duration 0, as a share of the mean edge."""


def check_sample(sample: Sample) -> None:
    """Raises SettingsError if gravity or a parameter of a field is not finite."""
    if not np.isfinite(sample.gravity).all():
        raise SettingsError(
            f"gravity is {sample.gravity.tolist()} at frame {sample.frame}; set it anew"
        )
    # Bodies mostly share their fields.
    for field in {id(field): field for field in chain(*sample.every_field)}.values():
        if name := non_finite_number(field):
            raise SettingsError(
                f"the {name} of the force field {field.name} is {getattr(field, name)} at frame "
                f"{sample.frame}; set it anew"
            )


def check_fields(
    model: SoftBodyModel, state: ParticleState, fields: Sequence[Field], frame: int, dt: float
) -> None:
    """Raises SettingsError if fields move a body's parts too fast for its self-collision.

    Parameters
    ----------
    fields : force fields that act on the body.
    frame : scene frame, for the message.
    dt : length of the steps to that frame [s].
    """
    if not fields or not model.settings.use_self_collision:
        return
    shares = np.array([model.settings.field_shares[field.kind] for field in fields])
    effect = sum_fields(fields, shares, state.positions, state.velocities())
    pushes = effect.push[:, model.inverse_masses > 0.0]
    if not pushes.size:
        return  # pins or springs of infinite stiffness hold every vertex
    apart = float(np.ptp(pushes, axis=1).max())
    size = float(np.ptp(state.positions, axis=1).max())
    if apart > MAX_FIELD_DIFFERENCE and apart * dt * dt > 0.3 * size:
        raise SettingsError(
            f"The force fields push parts of '{model.name}' past each other at frame "
            f"{frame}, by {apart:.3g} m/s², too fast for Self Collision; lower their "
            "strength, raise the substeps, or turn Self Collision off"
        )


def check_pressures(meshes: Sequence[MeshData], sample: Sample) -> None:
    """Raises SettingsError if the pressure of a gas is negative or not finite."""
    for mesh, pressure in zip(meshes, sample.pressures, strict=False):
        if not 0.0 <= pressure < np.inf:
            raise SettingsError(
                f"the pressure of '{mesh.name}' is {pressure:g} at frame {sample.frame}; "
                "set it to 0 or more"
            )


def check_still(meshes: Sequence[MeshData], stopped: Sample, now: Sample) -> None:
    """Raises SettingsError if pins moved in frames of duration 0: bodies could not follow.

    Parameters
    ----------
    stopped, now : the last sample with a duration above 0, and the current one.
    """
    pin_weights = stopped.pin_weights or [mesh.pin_weights for mesh in meshes]
    targets = (stopped.targets, now.targets)
    for mesh, weights, start, end in zip(meshes, pin_weights, *targets, strict=True):
        pinned = weights > 0.0
        moved = np.abs(end[pinned] - start[pinned]).max(initial=0.0)
        spans = mesh.positions[mesh.edges[:, 1]] - mesh.positions[mesh.edges[:, 0]]
        if moved > 0.0 and moved > MAX_STILL_MOTION * np.abs(spans).mean():
            raise SettingsError(
                f"The pins of '{mesh.name}' move at frame {now.frame}, where the time scale is 0; "
                "remove their motion there, or raise the time scale above 0"
            )


def check_sane(model: SoftBodyModel, state: ParticleState, frame: int) -> None:
    """Raises DivergenceError if positions are not finite, or a speed exceeds MAX_SPEED."""
    farthest = np.abs(state.positions - state.previous_positions).max(initial=0.0)
    if sqrt(3.0) * farthest < MAX_SPEED * state.previous_dt:
        return  # the usual case; the comparison is false for nan
    speeds = magnitudes(state.velocities())
    slow = speeds < MAX_SPEED
    if not slow.all():
        wrong = np.flatnonzero(~slow)
        raise DivergenceError(
            f"'{model.name}' became unstable at frame {frame}, moving at "
            f"{speeds[wrong[0]]:.3g} m/s; raise the substeps, or remove jumps of pins and of "
            "the ground, and force fields that are too strong"
        )
