"""What makes no sense, in what is given and in what comes out, said in one sentence."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from .errors import DivergenceError, SettingsError
from .field import without_meaning
from .mesh import MeshData, Sample
from .model import SoftBodyModel
from .state import ParticleState

FASTEST = 1e4
"""Nothing that is simulated well moves faster than this [m/s]."""
STILL = 0.01
"""Pins that move less than this share of an edge may do so while time stands still."""


def check_sample(sample: Sample) -> None:
    """Raises SettingsError where the scene itself makes no sense."""
    if not np.isfinite(sample.gravity).all():
        raise SettingsError(
            f"gravity is {sample.gravity.tolist()} at frame {sample.frame}; "
            "set it to finite numbers"
        )
    for field in chain(*sample.every_field):
        if name := without_meaning(field):
            raise SettingsError(
                f"the {name} of the force field {field.name} is {getattr(field, name)} at frame "
                f"{sample.frame}; make it finite"
            )


def check_pressures(meshes: Sequence[MeshData], sample: Sample) -> None:
    """Raises SettingsError where gas would draw its walls inwards, or press without measure."""
    for mesh, pressure in zip(meshes, sample.pressures, strict=False):
        if not 0.0 <= pressure < np.inf:
            raise SettingsError(
                f"the pressure of '{mesh.name}' is {pressure:g} at frame {sample.frame}; "
                "set it to 0 or more"
            )


def check_still(meshes: Sequence[MeshData], stopped: Sample, now: Sample) -> None:
    """Raises SettingsError where pins moved since time stopped: they would tear at their body."""
    pin_weights = stopped.pin_weights or [mesh.pin_weights for mesh in meshes]
    targets = (stopped.targets, now.targets)
    for mesh, weights, start, end in zip(meshes, pin_weights, *targets, strict=True):
        pinned = weights > 0.0
        moved = np.abs(end[pinned] - start[pinned]).max(initial=0.0)
        if moved > 0.0 and moved > STILL * _mean_span(mesh):
            raise SettingsError(
                f"The pins of '{mesh.name}' move while time stands still at frame {now.frame}; "
                "keep them still there, or raise the time scale above 0"
            )


def _mean_span(mesh: MeshData) -> float:
    """How far an edge reaches along each axis, on average [m]."""
    spans = mesh.positions[mesh.edges[:, 1]] - mesh.positions[mesh.edges[:, 0]]
    return float(np.abs(spans).mean())


def check_sane(model: SoftBodyModel, state: ParticleState, frame: int) -> None:
    """Raises DivergenceError naming the first body that is not finite or far too fast."""
    speeds = np.sqrt((state.velocities() ** 2).sum(axis=0))
    wrong = np.flatnonzero(~(speeds < FASTEST))
    if len(wrong):
        raise DivergenceError(
            f"'{model.name}' became unstable at frame {frame}, moving at "
            f"{speeds[wrong[0]]:.3g} m/s; raise the substeps, or look for a pin, the ground "
            "or a force field that jumps or is too strong"
        )
