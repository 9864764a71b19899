"""What holds a body may change while it moves: it is let go, drawn, or taken hold of."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import GRAVITY, block, frames, pinned, rope, samples, sheet, strains
from verlet_addon.core.arrays import Floats
from verlet_addon.core.build import GOAL_RATE
from verlet_addon.core.mesh import MeshData, Mirror
from verlet_addon.core.remark import graded
from verlet_addon.core.scene import Plane
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

G = 9.81
FPS = 24
HANGING = BodySettings(damping=2.0)


def held(
    mesh: MeshData,
    weights: list[Floats],
    settings: BodySettings = HANGING,
    *,
    targets: list[Floats] | None = None,
    planes: tuple[Plane, ...] = (),
) -> Floats:
    """(frames, n, 3) the motion under weights, and towards targets, of each frame."""
    stage = samples([mesh], frames((len(weights) - 1) / FPS, FPS), gravity=GRAVITY)
    given = [
        replace(
            sample,
            pin_weights=[each],
            targets=[mesh.positions if targets is None else targets[number]],
            mirrors=[planes] if planes else (),
        )
        for number, (sample, each) in enumerate(zip(stage, weights, strict=True))
    ]
    return np.array([f.positions[0] for f in simulate([mesh], [settings], SceneSettings(), given)])


def constant(mesh: MeshData, weight: float, count: int) -> list[Floats]:
    """The same weight for every vertex in a number of frames."""
    return [np.full(len(mesh.positions), weight)] * count


@pytest.mark.parametrize("share", [1.0, -0.5])
@pytest.mark.parametrize("mesh", [sheet(6), rope(np.eye(3)[0] * np.linspace(0, 1, 9)[:, None])])
def test_what_is_let_go_falls_freely(mesh: MeshData, share: float) -> None:
    """All of it stands still until the frame at which nothing holds it any longer."""
    track = held(
        mesh,
        constant(mesh, 1.0, 12) + constant(mesh, 0.0, 13),
        BodySettings(damping=0.0, gravity=share),
    )
    assert np.array_equal(track[12], mesh.positions)
    for passed in (1, 6, 12):
        fall = share * G / 2 * (passed / FPS) ** 2
        assert track[12 + passed, :, 2] - mesh.positions[:, 2] == pytest.approx(-fall, rel=1e-6)


def test_jelly_that_is_let_go_falls_too() -> None:
    """Within 2 %, for its pins are springs, which have given way a little.

    It has points on its large faces besides its vertices, which no pin holds.
    """
    mesh = block((0.3,) * 3, (1,) * 3)
    jelly = BodySettings(body_type="SOFT", stiffness=1e5, damping=0.0)
    track = held(mesh, constant(mesh, 1.0, 12) + constant(mesh, 0.0, 13), jelly)
    assert np.array_equal(track[12], mesh.positions)
    assert (mesh.positions - track[24])[:, 2] == pytest.approx(G / 2 * (12 / FPS) ** 2, rel=0.02)


@pytest.mark.parametrize("weight", [0.3, 0.8])
def test_what_is_drawn_sags_as_its_spring_says(weight: float) -> None:
    """The weight that it has now counts, whatever it was before."""
    mesh = sheet(4)
    weights = constant(mesh, 0.5, 24) + constant(mesh, weight, 48)
    sag = (1 - weight) / weight * G / GOAL_RATE**2
    calm = BodySettings(damping=10.0)
    assert held(mesh, weights, calm)[-1, :, 2] == pytest.approx(-sag, rel=1e-3)


def test_weights_that_stay_the_same_change_nothing() -> None:
    mesh = pinned(sheet(6), [0, 6])
    assert np.array_equal(
        held(mesh, [mesh.pin_weights] * 10),
        [
            frame.positions[0]
            for frame in simulate(
                [mesh], [HANGING], SceneSettings(), samples([mesh], frames(9 / FPS, FPS))
            )
        ],
    )


def test_a_curtain_that_loses_a_ring_hangs_on_by_the_others() -> None:
    """Its edges stay within 3 % of their length, as those of a sheet do that starts like that."""
    mesh = sheet(20)
    rings = pinned(mesh, [0, 10, 20]).pin_weights
    fewer = pinned(mesh, [0, 10]).pin_weights
    track = held(mesh, [rings] * 48 + [fewer] * 48)
    stretch = strains(mesh, track)
    assert stretch.max() < 0.03
    assert track[48, 20] == pytest.approx(mesh.positions[20])
    assert track[-1, 20, 2] < -0.3
    assert track[-1, [0, 10]] == pytest.approx(mesh.positions[[0, 10]])


def test_what_is_taken_hold_of_elsewhere_comes_within_a_frame() -> None:
    """The free end of a rope, which hangs down by then, is caught beside its other end."""
    mesh = pinned(rope(np.eye(3)[0] * np.linspace(0, 1, 41)[:, None]), [0])
    caught = pinned(mesh, [40]).pin_weights
    hook = mesh.positions.copy()
    hook[40] = (0.3, 0.2, 0.0)
    track = held(mesh, [mesh.pin_weights] * 48 + [caught] * 48, targets=[hook] * 96)
    assert np.linalg.norm(track[48, 40] - hook[40]) > 0.3
    assert np.array_equal(track[49:, 40], np.broadcast_to(hook[40], (47, 3)))
    stretch = strains(mesh, track)
    assert stretch.max() < 0.01


def test_both_halves_of_a_mirrored_body_are_held() -> None:
    """All of a sheet stands until it hangs on its seam alone, and on both sides of that alike."""
    half = sheet(4)
    plane = Plane(np.zeros(3), np.array([1.0, 0.0, 0.0]))
    mesh = replace(half, mirrors=[Mirror(plane, np.zeros(3), np.zeros(3), merge_distance=1e-4)])
    seam = half.positions[:, 0] == 0.0
    alone = np.where(seam, 1.0, 0.0)
    track = held(mesh, constant(half, 1.0, 12) + [alone] * 24, planes=(plane,))
    assert np.array_equal(track[12], half.positions)
    assert track[-1, seam] == pytest.approx(half.positions[seam])
    assert (track[-1, half.positions[:, 0] > 0.9, 2] < -0.3).all()


def test_edges_held_by_what_parts_are_told_once() -> None:
    """The first frame by which one has been pulled to more than one and a half times its length."""
    mesh = sheet(4)
    top = np.flatnonzero(mesh.positions[:, 1] > mesh.positions[:, 1].max() - 1e-9)
    mesh = pinned(mesh, top[:2].tolist())
    stage = samples([mesh], frames(8 / FPS, FPS), gravity=GRAVITY)
    apart = np.zeros_like(mesh.positions)
    apart[top[0], 0] = -0.2 * (mesh.positions[top[1], 0] - mesh.positions[top[0], 0])
    given = [
        replace(sample, targets=[mesh.positions + number * apart])
        for number, sample in enumerate(stage)
    ]
    told = {
        frame.frame: frame.remarks
        for frame in simulate([mesh], [HANGING], SceneSettings(), given)
        if frame.remarks
    }
    third = [sample.frame for sample in given][3]
    assert list(told) == [third]
    (remark,) = told[third]
    assert "is pinned at vertices that move apart" in remark
    assert f"frame {third} the edges between them are stretched by up to 60%" in remark
    assert graded(remark).vertices == tuple(top[:2])
    assert graded(remark).grade == "SERIOUS"
