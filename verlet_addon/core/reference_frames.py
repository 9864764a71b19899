"""Reference frames: rigid motion of the pins of bodies, of which inertia leaves out a share.

A step moves all particles by that share of the motion, and their velocities are relative to it: so
a share of 1 is the motion in a reference frame at rest, under the forces of the world. Air goes
along too. (Vellum and game engines have such shares, as *local space*.)
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .arrays import Floats
from .bodies.step_data import Body, RigidMotion
from .linear.rotations import portable_rotations, rotation_by, rotation_vector
from .mesh import MeshData
from .model import SoftBodyModel
from .target_curves import TargetCurve

NO_PREFERENCE = 1e-9
"""Rounding: weight of no rotation in the fit, by which points on a line, or a single one, do not
spin."""


def reference_motions(
    bodies: Sequence[Body],
    before: Sequence[Floats],
    after: Sequence[Floats],
    curves: Sequence[TargetCurve],
    substeps: int,
) -> list[list[RigidMotion | None]]:
    """Per step between two samples, for each body, its share of the motion of its reference frame.

    Parameters
    ----------
    before, after : per body, (n, 3) targets at the samples, with mirror images [m].
    curves : per body, the way of its targets between them.
    """
    each = zip(bodies, before, after, curves, strict=True)
    found = [
        _steps_of(model, start, end, substeps)
        if curve.bends is None
        else _steps_along(model, curve, substeps)
        for (model, _), start, end, curve in each
    ]
    return [list(motions) for motions in zip(*found, strict=True)]


def _steps_of(
    model: SoftBodyModel, before: Floats, after: Floats, substeps: int
) -> list[RigidMotion | None]:
    """The motion of one body in each step; None where its frame rests, or no share is left out."""
    share = model.settings.inertia_share
    motion = None if share == 0.0 else _motion(model, before, after)
    if motion is None:
        return [None] * substeps
    begin, way, turn = motion
    rotation = rotation_by(turn * (share / substeps))
    return [
        RigidMotion(rotation, begin + way * (step / substeps), way * (share / substeps))
        for step in range(substeps)
    ]


def _steps_along(
    model: SoftBodyModel, curve: TargetCurve, substeps: int
) -> list[RigidMotion | None]:
    """The motion of one body in each step along a cubic curve."""
    places = [curve.start, *(curve.at((step + 1) / substeps) for step in range(substeps))]
    return [_steps_of(model, *ends, 1)[0] for ends in pairwise(places)]


def keep_velocities(
    former: Sequence[Body],
    bodies: Sequence[Body],
    before: Sequence[Floats],
    after: Sequence[Floats],
    duration: float,
) -> None:
    """Keeps the velocities of bodies in the world as their shares change.

    Parameters
    ----------
    former, bodies : with the settings of before, and with those of the steps between two samples.
    before, after : as for `reference_motions`.
    duration : from one sample to the other [s].
    """
    each = zip(former, bodies, before, after, strict=True)
    for (old, _), (model, state), start, end in each:
        more = model.settings.inertia_share - old.settings.inertia_share
        motion = None if more == 0.0 else _motion(model, start, end)
        if motion is not None:
            begin, way, turn = motion
            share = more * state.previous_dt / duration
            step = RigidMotion(rotation_by(turn * share), begin, way * share)
            state.shift_previous(step.apply)


def _motion(
    model: SoftBodyModel, before: Floats, after: Floats
) -> tuple[Floats, Floats, Floats] | None:
    """The rigid motion of a body's pins or, without any, of its mesh; None if that rests."""
    if np.array_equal(before, after):
        return None
    held = np.concatenate([model.pinned, model.goals])
    return rigid_motion(*(each[held] if len(held) else each for each in (before, after)))


def rigid_motion(before: Floats, after: Floats) -> tuple[Floats, Floats, Floats]:
    """The rigid motion that fits best from places (n, 3) to others [m].

    Returns
    -------
    tuple
        (3,) where their mean is at first [m], (3,) its way [m], and (3,) the rotation about it as a
        vector [rad].
    """
    centre, end = before.mean(axis=0), after.mean(axis=0)
    arms, ends = before - centre, after - end
    products = np.einsum("ni,nj->ij", ends, arms)
    size = float(np.einsum("ni,ni->", arms, arms))
    products += NO_PREFERENCE * (size or 1.0) * np.eye(3)
    return centre, end - centre, rotation_vector(portable_rotations(products))


def relative_velocities(model: SoftBodyModel, mesh: MeshData, dt: float) -> Floats:
    """(n, 3) velocities of a mesh at the start, without the share of its reference frame [m/s].

    Parameters
    ----------
    dt : length of the first step, in which the reference frame moves as the mesh does [s].
    """
    places = mesh.positions
    (motion,) = _steps_of(model, places, places + mesh.velocities * dt, 1)
    if motion is None:
        return mesh.velocities
    return np.asarray(mesh.velocities - (motion.apply(places.T).T - places) / dt)
