"""Reference frames: rigid motion of the pins of bodies, of which inertia leaves out a share.

A step moves all particles by that share of the motion, and their velocities are relative to it: so
a share of 1 is the motion in a reference frame at rest, under the forces of the world. Air goes
along too. (Vellum and game engines have such shares, as *local space*.)
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .arrays import Floats, Integers
from .bodies.step_data import Body, RigidMotion, RigidMotions
from .linear.rotations import portable_rotations, rotation_by, rotation_vector
from .mesh import MeshData
from .model import SoftBodyModel
from .target_curves import TargetCurve

NO_PREFERENCE = 1e-9
"""Rounding: weight of no rotation in the fit, by which points on a line, or a single one, do not
spin."""


Motions = RigidMotion | RigidMotions | None
RigidWay = tuple[Floats, Floats, Floats]
"""What `rigid_motion` returns."""


def reference_motions(
    bodies: Sequence[Body],
    before: Sequence[Floats],
    after: Sequence[Floats],
    curves: Sequence[TargetCurve],
    substeps: int,
) -> list[list[Motions]]:
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


def _steps_of(model: SoftBodyModel, before: Floats, after: Floats, substeps: int) -> list[Motions]:
    """The motion of one body in each step; None where its frame rests, or no share is left out."""
    share = model.settings.inertia_share
    if share == 0.0 or np.array_equal(before, after):
        return [None] * substeps
    parts = [(points, _part_motion(model, points, before, after)) for points in _parts(model)]
    return [_shared(parts, share / substeps, step / substeps) for step in range(substeps)]


def _shared(
    parts: Sequence[tuple[Integers, RigidWay]], share: float, begun: float = 0.0
) -> RigidMotion | RigidMotions:
    """A share of the motions of parts, which go on from where a share of them has led."""
    found = [
        (points, RigidMotion(rotation_by(turn * share), begin + way * begun, way * share))
        for points, (begin, way, turn) in parts
    ]
    return found[0][1] if len(found) == 1 else RigidMotions(found)


def _steps_along(model: SoftBodyModel, curve: TargetCurve, substeps: int) -> list[Motions]:
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
        if more == 0.0 or np.array_equal(start, end):
            continue
        share = more * state.previous_dt / duration
        parts = [(points, _part_motion(model, points, start, end)) for points in _parts(model)]
        state.shift_previous(_shared(parts, share).apply)


def _parts(model: SoftBodyModel) -> list[Integers]:
    """Numbers of the particles of each part of a body that has a reference frame of its own.

    Trees of tuned joints, for each stands on a bone that moves by itself; all of other bodies.
    """
    rods = model.rods
    if rods is None or rods.first_mode is None:
        return [np.arange(len(model.inverse_masses))]
    return [rods.particles[rods.labels == label] for label in np.unique(rods.labels)]


def _part_motion(model: SoftBodyModel, points: Integers, before: Floats, after: Floats) -> RigidWay:
    """The rigid motion of the pins of a part or, without any, of its mesh."""
    held = np.concatenate([model.pinned, model.goals])
    held = held[np.isin(held, points)]
    held = held if len(held) else points
    return rigid_motion(before[held], after[held])


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
