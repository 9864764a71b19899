"""Mesh colliders hold, rub, bounce and carry as a textbook says; the ground's own laws."""

import numpy as np
import pytest

from tests.core.bodies import (
    floor,
    frames,
    make_mesh,
    moved,
    pinned,
    rotation,
    sheet,
    simulated,
    slow,
    strains,
    thrown,
)
from tests.core.colliders import GAP, TINY, ball, crossed, plate, puck
from verlet_addon.core.arrays import Floats
from verlet_addon.core.settings import BodySettings, SceneSettings

G = 9.81
SLICK = BodySettings(damping=0.0, thickness=GAP, friction=10.0)
"""A body of which the collider's own friction decides."""


ONE_STEP = SceneSettings(substeps=1)
"""Steps of a whole frame, in which contacts push far."""
PUCK = make_mesh(puck(), faces=[(0, 1, 2)])


@pytest.mark.parametrize(("fps", "substeps"), [(24, 1), (60, 3), (24, 20)])
@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.7, 1.0])
def test_bounce_reaches_the_height_it_should(restitution: float, fps: int, substeps: int) -> None:
    """A body dropped from h onto a mesh rises to e² h again, whatever the steps."""
    height = 1.0
    mesh = make_mesh(puck(height + GAP), faces=[(0, 1, 2)])
    body = BodySettings(damping=0.0, thickness=GAP, restitution=restitution)
    apex = np.sqrt(2 * height / G) * (1 + restitution)
    count = round(apex * fps)
    (track,) = simulated(
        [(mesh, body)],
        np.full(count, apex / count),
        SceneSettings(substeps=substeps),
        colliders=[plate()],
    )
    expected = GAP + restitution**2 * height
    assert track[-1, :, 2] == pytest.approx(expected, abs=1e-3 * height)


@pytest.mark.parametrize("substeps", [1, 8])
def test_slides_down_a_slope_by_coulombs_law(substeps: int) -> None:
    """On a slope steeper than friction holds, a body slides with g (sin − μ cos)."""
    tilt = 0.5
    friction = 0.5 * np.tan(tilt)
    mesh = make_mesh(puck(tilt=tilt), faces=[(0, 1, 2)])
    slope = plate(size=8.0, tilt=tilt, friction=friction, cells=4)
    (track,) = simulated(
        [(mesh, SLICK)], frames(1.0, 24), SceneSettings(substeps=substeps), colliders=[slope]
    )
    downhill = np.array([-np.cos(tilt), 0.0, -np.sin(tilt)])
    expected = G * (np.sin(tilt) - friction * np.cos(tilt)) / 2
    slid = (track[-1] - track[0]).mean(axis=0) @ downhill
    # The first step has no speed to brake yet and may differ by μ g h² in speed times a second.
    np.testing.assert_allclose(slid, expected, rtol=2e-2)


@pytest.mark.parametrize(("share", "slides"), [(0.98, True), (1.02, False)])
def test_slides_if_the_slope_is_steeper_than_friction(share: float, slides: bool) -> None:
    """A body slides if the tangent of the slope exceeds its friction, else sticks."""
    tilt = 0.4
    mesh = make_mesh(puck(tilt=tilt), faces=[(0, 1, 2)])
    slope = plate(tilt=tilt, friction=share * np.tan(tilt))
    (track,) = simulated(
        [(mesh, SLICK)], frames(1.0, 24), SceneSettings(substeps=4), colliders=[slope]
    )
    slid = np.linalg.norm(track[-1] - track[0], axis=1)
    assert (slid > 0.02).all() if slides else (slid < 1e-6).all()


def test_a_moving_collider_carries() -> None:
    """What lies on a plate that sets off sideways and upwards goes with it."""
    shape, places = plate(friction=1.0)

    def place(time: float) -> Floats:
        return np.asarray(places + np.array([0.3, 0.0, 0.2]) * time)

    (track,) = simulated(
        [(PUCK, SLICK)], frames(1.0, 24), SceneSettings(substeps=5), colliders=[(shape, place)]
    )
    # It is dragged up to speed over v²/(2 μ g), less than 5 mm.
    np.testing.assert_allclose(track[-1] - track[0], [(0.3, 0.0, 0.2)] * 3, atol=5e-3)
    np.testing.assert_allclose(track[-1, :, 2], GAP + 0.2, atol=TINY)


def test_a_turning_collider_carries() -> None:
    """What lies on a plate that turns goes round with it."""
    shape, places = plate(friction=1.0)

    def place(time: float) -> Floats:
        return np.asarray(places @ rotation((0, 0, 1), 0.5 * time).T)

    (track,) = simulated(
        [(PUCK, SLICK)], frames(1.0, 24), SceneSettings(substeps=5), colliders=[(shape, place)]
    )
    turned = track[0] @ rotation((0, 0, 1), 0.5).T
    # It is dragged up to speed over v²/(2 μ g), less than 1 mm; chords of a frame are shorter.
    np.testing.assert_allclose(track[-1], turned, atol=3e-3)


def test_the_slipperier_decides_and_colliders_damp() -> None:
    """Of body and collider the lower friction counts, and of restitutions the product."""
    slippery = BodySettings(damping=0.0, thickness=GAP, friction=0.0)
    scene = SceneSettings(substeps=5)
    (track,) = simulated(
        [(thrown(PUCK, (1.0, 0.0, 0.0)), slippery)], frames(0.5, 24), scene, colliders=[plate()]
    )
    np.testing.assert_allclose(track[-1, :, 0] - track[0, :, 0], 0.5, atol=1e-9)
    dropped, fall = make_mesh(puck(1.0 + GAP), faces=[(0, 1, 2)]), np.sqrt(2.0 / G)
    (track,) = simulated(
        [(dropped, BodySettings(damping=0.0, thickness=GAP, restitution=0.8))],
        np.full(50, 1.4 * fall / 50),
        scene,
        colliders=[plate(restitution=0.5)],
    )
    assert track[-1, :, 2] == pytest.approx(0.16 + GAP, abs=1e-3)


def test_both_thicknesses_count() -> None:
    """A body comes to rest its own thickness and the collider's above the surface."""
    dropped = make_mesh(puck(0.1), faces=[(0, 1, 2)])
    (track,) = simulated(
        [(dropped, SLICK)], frames(1.0, 24), SceneSettings(), colliders=[plate(outer=0.02)]
    )
    np.testing.assert_allclose(track[-1, :, 2], GAP + 0.02, atol=TINY)


def test_only_its_own_colliders_stop_a_body() -> None:
    """What a body does not meet lets it pass."""
    dropped = make_mesh(puck(0.1), faces=[(0, 1, 2)])
    far = moved(dropped, np.eye(3), (50.0, 0.0, 0.0))
    (track, other) = simulated(
        [(dropped, SLICK), (far, SLICK)], frames(0.5, 24), SceneSettings(), colliders=[plate()]
    )
    assert track[-1, :, 2].min() > GAP - TINY
    assert other[-1, :, 2].max() < -1.0


@pytest.mark.slow
@pytest.mark.parametrize("substeps", [1, 10])
def test_a_sheet_comes_to_rest_over_a_ball(substeps: int) -> None:
    """It passes through nowhere, and sinks in by less than a tenth of its thickness.

    It lies still, but with a single substep.
    """
    # Dense air, or else its corners swing for longer.
    bodies = [(moved(sheet(12), np.eye(3), (-0.5, -0.5, 0.35)), BodySettings(damping=5.0))]
    scene = SceneSettings(substeps=substeps)
    around = [ball(friction=0.5)]
    tracks = simulated(bodies, frames(2.0, 24), scene, ground=floor(-0.3), colliders=around)
    assert crossed(bodies, tracks, around) == 0
    inner = 0.3 * np.cos(np.pi / 12)  # of the ball's facets
    assert np.linalg.norm(tracks[0], axis=2).min() > inner + 0.9 * BodySettings().thickness
    assert substeps < 10 or np.abs(np.diff(tracks[0][-2:], axis=0)).max() * 24 < 0.02


@pytest.mark.slow
def test_a_sheet_at_rest_over_a_ball_does_not_tremble() -> None:
    """From step to step its speed changes by less than a tenth of what gravity does in one.

    Most of that is two vertices beside the ball's pole, where the edge over it rests on one and on
    others of 24 edges in turn, 0.1 mm apart; so it lies in two places. It is half as much again if
    all that contacts have pushed is remembered.
    """
    squares = []
    for aside in (0.0, 0.001):
        mesh = moved(sheet(24, triangles=True), np.eye(3), (aside - 0.5, 2 * aside - 0.5, 0.35))
        around = [ball(friction=0.5)]
        bodies = [(mesh, BodySettings(damping=5.0))]
        (track,) = simulated(bodies, frames(1.25, 240), SceneSettings(substeps=1), colliders=around)
        resting = track[-1, :, 2] > 0.1
        speeds = np.diff(track[-80:, resting], axis=0) * 240
        squares.append((np.diff(speeds, axis=0) ** 2).sum(axis=2).mean())
    assert np.sqrt(np.mean(squares)) < 0.1 * G / 240


def test_what_hangs_over_a_ball_is_not_stretched_by_being_held_off_it() -> None:
    """Its flaps draw it in by a millimetre a step, unless contacts push first what they did before.

    Then 99 of 100 edges keep their length to 1.5 thousandths, and without to 2.4; on average of
    three sheets and a quarter of a second, for each by itself they are between 1.0 and 1.9.
    """
    stretched = []
    for cells in (18, 20, 22):
        mesh = moved(sheet(cells, size=1.2), np.eye(3), (-0.6, -0.6, 0.32))
        (track,) = simulated([(mesh, BodySettings())], frames(1.5, 24), colliders=[ball()])
        stretched.append(np.percentile(strains(mesh, track[-7:]), 99, axis=1))
    assert np.mean(stretched) < 0.0017


@pytest.mark.parametrize("cells", [11, 12, 14])
def test_a_ball_that_is_pulled_from_under_a_sheet_stretches_no_edge(cells: int) -> None:
    """Contacts push first what they did before; where they are gone, that is taken back."""
    mesh = moved(sheet(cells, size=0.6), np.eye(3), (-0.3, -0.3, 0.306))
    shape, places = ball(fine=16, friction=0.5)

    def at(time: float) -> Floats:
        return np.asarray(places - np.array([0.0, 0.0, float(time > 12.5 / 24)]))

    (track,) = simulated(
        [(mesh, BodySettings())], frames(13 / 24, 24), ONE_STEP, colliders=[(shape, at)]
    )
    assert strains(mesh, track[-1:]).max() < 0.01


@pytest.mark.slow
def test_a_sheet_of_triangles_keeps_its_lengths_where_it_lands() -> None:
    """With twice the rounds of contacts and lengths it was stretched by 40 % here, and flew off."""
    mesh = moved(sheet(50, size=2.0, triangles=True), np.eye(3), (-1.0, -1.0, 1.3))
    shape, places = ball(radius=0.5, fine=32, outer=0.02, friction=0.5)
    around = [(shape, places + np.array([0.0, 0.0, 0.6]))]
    (track,) = simulated([(mesh, BodySettings())], frames(0.7, 24), colliders=around)
    assert strains(mesh, track).max() < 0.03
    # It fell by 0.7 m at most, which is 4 m/s, and turns round the ball's edge.
    assert np.linalg.norm(np.diff(track[-2:], axis=0), axis=2).mean() * 24 < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("cells", [50, 80])
def test_a_fine_sheet_keeps_its_lengths_where_its_flaps_slap_a_ball(cells: int) -> None:
    """At 5 m/s and folding onto itself; with contacts solved last it was stretched by 3.5 %.

    With lengths solved to the last in each round a finer one was stretched by 4 %, and this one by
    3.5 % where nothing drew edges in again that the guard had held apart: creases shut like books,
    whose pages' diagonals would pass.

    A particle alone is moved by six thousandths of an edge, and farther only where contacts would
    be left much too near: at single edges.
    """
    mesh = moved(sheet(cells, size=2.0), np.eye(3), (-0.98, -0.99, 1.05))
    shape, places = ball(radius=0.5, fine=32, outer=0.001, friction=0.5)
    around = [(shape, places + np.array([0.0, 0.0, 0.5]))]
    body = (mesh, BodySettings(use_self_collision=True, thickness=0.005))
    (track,) = simulated([body], frames(0.5, 24), ground=floor(), colliders=around)
    assert strains(mesh, track).max() < 0.015
    assert max(np.percentile(strains(mesh, places), 99) for places in track) < 0.005
    assert crossed([body], [track[-1:]], around) == 0


@pytest.mark.parametrize("substeps", [1, *slow(3), 8, *slow(10)])
@pytest.mark.parametrize("what", ["plate at 50 m/s", *slow("ball at 100 m/s")])
def test_nothing_passes_however_fast(what: str, substeps: int) -> None:
    """What hits a hung sheet takes it along; half a second later it is under 5 % stretched.

    With few substeps it stays stretched for longer.
    """
    upright = rotation((1, 0, 0), np.pi / 2)
    mesh = pinned(moved(sheet(10), upright, (-0.5, 0.0, 0.0)), [110, 120])
    if what.startswith("plate"):
        (shape, places), speed = plate(size=0.4, cells=2, friction=0.3), 50.0
        places = places @ upright.T
    else:
        (shape, places), speed = ball(radius=0.025, fine=12, friction=0.3), 100.0

    def place(time: float) -> Floats:
        return np.asarray(places + np.array([0.0, min(speed * time - 0.5, 0.4), 0.5]))

    bodies = [(mesh, BodySettings())]
    scene = SceneSettings(substeps=substeps)
    tracks = simulated(bodies, frames(0.55, 24), scene, colliders=[(shape, place)])
    assert crossed(bodies, tracks, [(shape, place)]) == 0
    assert tracks[0][2, :, 1].max() > 0.39, "it should have been hit"
    assert substeps < 8 or np.abs(strains(mesh, tracks[0][-1])).max() < 0.05


@pytest.mark.parametrize("scale", [(0.0, 0.0, 0.0), *slow((1.0, 0.0, 0.0))], ids=["point", "line"])
def test_a_collider_without_area_is_not_met_until_it_grows(scale: tuple[float, ...]) -> None:
    """Cloth falls past a ball that is scaled to nothing, and lies on it once it has a size."""
    shape, full = ball(radius=0.1, friction=0.5)
    none = (full * scale) @ rotation((1, 1, 1), 0.7)
    sheets = [moved(sheet(6), np.eye(3), (-0.5, -0.5, height)) for height in (0.05, 0.6)]
    bodies = [(mesh, BodySettings()) for mesh in sheets]

    def growing(time: float) -> Floats:
        return full if time > 0.25 else none

    (alone,) = simulated(bodies[:1], frames(0.2, 24))
    (past, caught) = simulated(bodies, frames(0.8, 24), colliders=[(shape, growing)])
    np.testing.assert_array_equal(past[: len(alone)], alone)
    assert caught[-1, :, 2].max() > 0.1
