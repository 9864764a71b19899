"""Cloth between colliders that pass into each other comes out of there as it was."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    built_state,
    frames,
    moved,
    pinned,
    rotation,
    sheet,
    simulated,
    sphere,
    split,
    strains,
    tube,
)
from tests.core.colliders import Moving, ball, collider, crossed
from verlet_addon.core.arrays import Floats
from verlet_addon.core.contacts.manifold.row_setup import PredictedMotion
from verlet_addon.core.contacts.sides.pinched_cloth import SolvedContacts
from verlet_addon.core.contacts.solve.collision_world import build_collision_world
from verlet_addon.core.contacts.solve.contact_step import detect_contacts
from verlet_addon.core.settings import BodySettings


def test_cloth_comes_out_from_between_two_balls_that_pass_into_each_other() -> None:
    """It hangs from a rail. What is within them keeps its lengths, and is clear when they part."""
    shape, places = ball(radius=0.3, friction=0.3)

    def place(side: float) -> Moving:
        def at(time: float) -> Floats:
            near = min(max(0.0, 2.5 * time - 0.25), 1.0) - min(max(0.0, 2.5 * time - 2.5), 1.0)
            return np.asarray(places + np.array([0.0, side * (0.45 - 0.175 * near), 0.0]))

        return shape, at

    hung = moved(sheet(14), rotation((1, 0, 0), np.pi / 2), (-0.5, 0.0, -0.5))
    mesh = pinned(hung, np.flatnonzero(hung.positions[:, 2] > 0.499))
    bodies = [(mesh, BodySettings(use_self_collision=True, thickness=0.01))]
    around = [place(1.0), place(-1.0)]
    (track,) = simulated(bodies, frames(2.25, 24), HALF, colliders=around)
    assert strains(mesh, track).max() < 0.01
    still = [(shape, at(2.25)) for shape, at in around if callable(at)]
    assert crossed(bodies, [track[-1:]], still) == 0


@pytest.mark.parametrize(
    ("apart", "above_seat", "pinched"), [(0.2, 0.3, True), (0.9, 0.8, False), (0.2, 1.5, False)]
)
def test_cloth_is_pinched_where_neither_face_has_room(
    apart: float, above_seat: float, *, pinched: bool
) -> None:
    """A sheet near a ball that comes down, on another one that lies on a seat or near it.

    Distances are in gaps. Cloth that is pushed by the ball alone, as a sleeve that an arm raises
    with a cape, yields to it.
    """
    gap, (shape, places) = 0.01, ball(radius=0.3, fine=32)
    meshes = [
        replace(moved(sheet(10, size=0.2), np.eye(3), (-0.1, -0.1, z)), colliders=range(2))
        for z in (0.0, -apart * gap)
    ]
    models = [built_state((mesh, BodySettings(thickness=gap)))[0] for mesh in meshes]
    seat = places - np.array([0.0, 0.0, 0.3 + (apart + above_seat) * gap])
    standing, above, near = (
        [places + np.array([0.0, 0.0, 0.3 + height]), seat - np.array([0.0, 0.0, lower])]
        for height, lower in ((0.2, 0.2), (0.5 * gap, 0.0), (0.4 * gap, 0.0))
    )
    world = build_collision_world(models, meshes, [shape, shape], standing)
    assert world is not None
    start, end = (world.gather_positions([m.positions.T for m in meshes], c) for c in (above, near))
    masses = (np.arange(end.shape[1]) < world.first_collider_particle).astype(float)
    motion = PredictedMotion(masses, start, end, 0.0 * end, world.on_ropes, 1 / 240)
    contact_step = detect_contacts(world, motion, end)
    rows = contact_step.rows
    rows.normal_multipliers[rows.heights(end) < rows.gaps] = 1.0
    world.sides.finish_step(SolvedContacts(rows, motion, contact_step.positions))
    assert bool(len(world.sides.pinched.particles)) == pinched


@pytest.mark.slow
@pytest.mark.parametrize("aside", [0.0, 0.001, 0.002])
def test_hands_that_pass_through_hips_and_along_them_leave_a_skirt_whole(aside: float) -> None:
    """As raw motion capture has it. Hips and hands are one collider with stock settings.

    The skirt keeps its lengths, and ten frames after the hands are out nothing crosses. Where the
    hands are by a millimetre more or less decided whether it was stretched by 1 % or by 60 %.
    """
    hips, hand = split(sphere(24, 16, radius=1.0)), split(sphere(12, 12, radius=1.0))
    counts = np.cumsum([0, len(hips.positions), len(hand.positions)])
    corners = [
        mesh.face_vertices.reshape(-1, 3) + start
        for mesh, start in zip((hips, hand, hand), counts, strict=True)
    ]
    shape = collider(np.concatenate(corners), outer=0.02, friction=0.5, restitution=0.0)

    def at(time: float) -> Floats:
        inwards, along = _eased(time, 0.1, 0.3) - _eased(time, 0.6, 0.3), _eased(time, 0.3, 0.4)
        hands = np.array([0.32 - 0.17 * inwards, 0.25 * along - 0.125 + aside, -0.05])
        right = hand.positions * [0.03, 0.03, 0.2] + hands
        left = hand.positions * [0.03, 0.03, 0.2] + hands * [-1.0, -1.0, 1.0]
        return np.concatenate([hips.positions * [0.15, 0.15, 0.5], right, left])

    cloth = moved(tube(44, 18, radius=0.19, length=0.5), np.eye(3), (0.0, 0.0, -0.25))
    skirt = pinned(cloth, np.flatnonzero(cloth.positions[:, 2] > 0.249))
    bodies = [(skirt, BodySettings(use_self_collision=True, thickness=0.005, mass=0.2))]
    (track,) = simulated(bodies, frames(1.3, 24), HALF, colliders=[(shape, at)])
    assert strains(skirt, track).max() < 0.05
    assert crossed(bodies, [track[-1:]], [(shape, at(1.3))]) == 0


def _eased(time: float, start: float, duration: float) -> float:
    """From 0 to 1, without a jerk."""
    share = min(max((time - start) / duration, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)
