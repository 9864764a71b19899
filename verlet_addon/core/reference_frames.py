"""Reference frames: rigid motion of the pins of bodies, of which inertia leaves out a share.

A step moves all particles by that share of the motion, and their velocities are relative to it: so
a share of 1 is the motion in a reference frame at rest, under the forces of the world. Air goes
along too. (Vellum and game engines have such shares, as *local space*.)
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .arrays import Floats, Integers
from .bodies.step_data import Body, ReferenceMotion, RigidMotions
from .linear.rotations import portable_rotations, rotation_by, rotation_vector
from .mesh import MeshData
from .model import SoftBodyModel
from .target_curves import TargetCurve

NO_PREFERENCE = 1e-9
"""Rounding: weight of no rotation in the fit, by which points on a line, or a single one, do not
spin."""


RigidWay = tuple[Floats, Floats, Floats]
"""What `rigid_motion` returns."""


def reference_motion(
    model: SoftBodyModel, before: Floats, after: Floats, curve: TargetCurve, substeps: int
) -> ReferenceMotion | None:
    """A body's share of the motion of its reference frame; None where that rests, or has no share.

    Parameters
    ----------
    before, after : (n, 3) targets at two samples, with mirror images [m].
    curve : the way of its targets between them.
    """
    share = model.settings.frame_share
    if share == 0.0 or (curve.bends is None and np.array_equal(before, after)):
        return None
    labels = _labels(model)
    if curve.bends is None:
        ways = _part_ways(model, labels, before, after)
        steps = [_shared(ways, share / substeps, step / substeps) for step in range(substeps)]
    else:
        places = [curve.start, *(curve.at((step + 1) / substeps) for step in range(substeps))]
        steps = [
            _shared(_part_ways(model, labels, *ends), share * (not np.array_equal(*ends)))
            for ends in pairwise(places)
        ]
    return ReferenceMotion(np.array(steps), labels)


def _shared(ways: Sequence[RigidWay], share: float, begun: float = 0.0) -> Floats:
    """(p, 15) a share of the ways of parts, which go on from where a share of them has led."""
    if share == 0.0:
        return np.zeros((len(ways), 15))
    turns = [(rotation_by(turn * share) - np.eye(3)).ravel() for _, _, turn in ways]
    places = [(begin + way * begun, way * share) for begin, way, _ in ways]
    rows = zip(turns, places, strict=True)
    return np.array([[*turn, *centre, *(centre + shift)] for turn, (centre, shift) in rows])


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
        more = model.settings.frame_share - old.settings.frame_share
        if more == 0.0 or np.array_equal(start, end):
            continue
        share = more * state.previous_dt / duration
        labels = _labels(model)
        parts = _shared(_part_ways(model, labels, start, end), share)
        state.shift_previous(RigidMotions(parts, labels).apply)


def _labels(model: SoftBodyModel) -> Integers | None:
    """(n,) part of each particle with a reference frame of its own, −1 = none; None for one part.

    Trees of tuned joints have one each, for each stands on a bone that moves by itself.
    """
    rods = model.rods
    if rods is None or rods.first_mode is None:
        return None
    labels = np.full(len(model.inverse_masses), -1)
    labels[rods.particles] = np.unique(rods.labels, return_inverse=True)[1].reshape(-1)
    return labels


def _part_ways(
    model: SoftBodyModel, labels: Integers | None, before: Floats, after: Floats
) -> list[RigidWay]:
    """The rigid motion of the pins of each part or, without any, of its mesh."""
    held = np.concatenate([model.pinned, model.goals])
    if labels is None:
        every = [np.arange(len(before))]  # a solid's particles are nodes of its lattice instead
    else:
        every = [np.flatnonzero(labels == number) for number in range(labels.max() + 1)]
    chosen = ((held[np.isin(held, points)], points) for points in every)
    return [
        rigid_motion(*(rows[own if len(own) else points] for rows in (before, after)))
        for own, points in chosen
    ]


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
    ends = places + mesh.velocities * dt
    motion = reference_motion(model, places, ends, TargetCurve(places, ends), 1)
    if motion is None:
        return mesh.velocities
    return np.asarray(mesh.velocities - (motion.at(0).apply(places.T).T - places) / dt)
