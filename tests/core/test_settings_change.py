"""Settings that are keyed act from the frame on at which they change."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    Body,
    block,
    floor,
    frames,
    moved,
    pinned,
    rope,
    samples,
    sheet,
    simulated,
    thrown,
    wind,
    woven,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.scene import Collider, Plane
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

G = 9.81
Values = dict[str, Any]
STILL = 8.0
"""Damping under which everything here comes to rest within a second and a half [1/s]."""


def keyed(
    body: Body,
    seconds: Sequence[float],
    values: Sequence[Values],
    *,
    turn: float = 1e-9,
    ground: Plane | None = None,
    collider: tuple[Collider, Floats] | None = None,
    fields: Any = (),
) -> Floats:
    """(frames + 1, n, 3) the motion while settings have these values, for so many seconds each.

    Each takes `turn` to become the next one [s].
    """
    mesh, settings = body
    mesh = replace(mesh, colliders=[0] if collider else [])
    places: Callable[[float], list[Floats]] | None = None
    if collider is not None:
        places = lambda _: [collider[1]]  # noqa: E731
    times = frames(sum(seconds), 24)
    stage = samples([mesh], times, ground=ground, colliders=places, fields=fields)
    ends = np.cumsum(seconds)
    moments = np.stack([np.append(0.0, ends[:-1] + turn), ends], axis=1).ravel()
    for number, sample in enumerate(stage):
        now: Any = {
            name: float(np.interp(number / 24, moments, np.repeat([v[name] for v in values], 2)))
            for name in values[0]
        }
        stage[number] = replace(sample, settings=[replace(settings, **now)])
    met = [collider[0]] if collider else []
    found = simulate([mesh], [settings], SceneSettings(), stage, met)
    return np.array([frame.positions[0] for frame in found])


def hanging(kind: str) -> Body:
    """A strip or a rope of 0.9 m that hangs by its upper end, and gives."""
    settings = BodySettings(mass=0.5, damping=STILL, shear_compliance=1e-4)
    if kind == "rope":
        line = pinned(rope([(0.0, 0.0, -k / 40) for k in range(37)]), [0])
        return line, replace(settings, body_type="ROPE")
    flat = sheet(4, 36, size=0.1, triangles=kind == "triangles")
    flat = woven(flat) if kind == "woven" else flat
    return pinned(moved(flat, [[1, 0, 0], [0, 0, 1], [0, -1, 0]]), range(5)), settings


@pytest.mark.parametrize("kind", ["quads", "triangles", "woven", "rope"])
def test_a_strip_gives_as_far_as_it_is_keyed_to(kind: str) -> None:
    """Not at all, some, thrice that, not at all: each time as if it had always been so."""
    mesh, settings = hanging(kind)
    values: list[Values] = [{"stretch_compliance": each} for each in (0.0, 4e-4, 12e-4, 0.0)]
    track = keyed((mesh, settings), [0.5, 1.5, 1.5, 1.5], values, turn=0.5)
    for times, value in zip([(0.5, 5.0), (2.0,), (3.5,)], values, strict=False):
        (alone,) = simulated([(mesh, replace(settings, **value))], frames(1.5, 24))
        for found in (track[round(24 * seconds)] for seconds in times):
            assert np.ptp(found[:, 2]) == pytest.approx(np.ptp(alone[-1, :, 2]), abs=2e-4)


@pytest.mark.parametrize("triangles", [False, True])
def test_a_plate_that_goes_limp_hangs_as_limp_cloth_does(triangles: bool) -> None:
    """And once it is stiff again it is as if it had been so all the time."""
    flat = sheet(4, 12, size=0.1, triangles=triangles)
    mesh = pinned(flat, range(10))
    settings = BodySettings(mass=0.01, damping=STILL)
    plate: Values = {"bend_compliance": 10.0}
    limp: Values = {"bend_compliance": 3e4}
    track = keyed((mesh, settings), [1.0, 1.5, 2.5], [plate, limp, plate], turn=0.5)
    lowest = track[..., 2].min(axis=1)
    for seconds, value in ((1.0, plate), (2.5, limp), (5.0, plate)):
        (alone,) = simulated([(mesh, replace(settings, **value))], frames(2.0, 24))
        assert lowest[round(24 * seconds)] == pytest.approx(alone[-1, :, 2].min(), abs=5e-3)


def test_cloth_swings_on_until_its_inner_damping_is_keyed() -> None:
    """Once it has a loss factor of 0.6, or more at its 1.4 Hz, two swings take nine tenths."""
    flat = sheet(10, 1, size=0.5)
    held = pinned(flat, np.flatnonzero(flat.positions[:, 0] < 0.06).tolist())
    settings = BodySettings(bend_compliance=20.0, mass=0.005, damping=0.0)
    sways = []
    for later in (0.0, 0.6):
        values = [{"inner_damping": 0.0}, {"inner_damping": later}]
        track = keyed((held, settings), [0.5, 1.5], values)
        sways.append(np.ptp(track[-18:, 10, 2]))
    assert sways[1] < 0.1 * sways[0]


def test_jelly_is_as_stiff_as_it_is_keyed_to() -> None:
    """A bar that hangs by its end, each time as if it had always been so."""
    mesh = moved(block((0.1, 0.1, 0.4), (2, 2, 8)), np.eye(3))
    top = np.flatnonzero(mesh.positions[:, 2] > mesh.positions[:, 2].max() - 1e-6)
    settings = BodySettings(body_type="SOFT", mass=4.0, damping=STILL)
    values: list[Values] = [{"stiffness": value} for value in (4e4, 8e4, 4e4)]
    held = pinned(mesh, top)
    track = keyed((held, settings), [1.5, 1.5, 1.5], values)
    for seconds, value in zip((1.5, 3.0, 4.5), values, strict=True):
        (alone,) = simulated([(held, replace(settings, **value))], frames(1.5, 24))
        found = track[round(24 * seconds)]
        assert np.ptp(found[:, 2]) > 0.41
        assert found == pytest.approx(alone[-1], abs=1e-4)


def test_what_acts_from_outside_is_keyed_too() -> None:
    """Gravity and drag: it falls, flies on evenly, and slows down by e for each 1/damping."""
    line = rope([(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)])
    settings = BodySettings(body_type="ROPE", damping=0.0)
    values = [
        {"gravity": 1.0, "damping": 0.0},
        {"gravity": 0.0, "damping": 0.0},
        {"gravity": 0.0, "damping": 5.0},
    ]
    height = keyed((line, settings), [1.0, 1.0, 1.0], values).mean(axis=1)[:, 2]
    assert height[24] == pytest.approx(-G / 2, abs=1e-6)
    assert height[48] == pytest.approx(-1.5 * G, abs=0.05)
    fall = G * (1.0 - np.exp(-5.0)) / 5.0
    assert height[48] - height[72] == pytest.approx(fall, rel=0.05)


def test_force_fields_are_felt_as_far_as_is_keyed() -> None:
    """What feels no wind hangs; then it is blown aside."""
    mesh, settings = hanging("quads")
    values = [{"wind": 0.0}, {"wind": 1.0}]
    blown = [wind(4.0, np.array([0.0, 1.0, 0.0]))]
    track = keyed((mesh, settings), [0.5, 0.5], values, fields=blown)
    assert np.abs(track[12, :, 1]).max() < 1e-3
    assert track[24, :, 1].max() > 0.05


@pytest.mark.parametrize("on", ["ground", "collider"])
def test_what_lies_on_a_slope_slides_once_it_is_slippery(on: str) -> None:
    """At 20 degrees it is held by a friction above tan 20°, and slides by g (sin − μ cos)."""
    tilt = np.radians(20.0)
    slope = floor(0.0, tilt=tilt)
    turn = np.array([[np.cos(tilt), 0, -np.sin(tilt)], [0, 1, 0], [np.sin(tilt), 0, np.cos(tilt)]])
    mesh = moved(sheet(4, size=0.2), turn, 0.006 * slope.normal)
    settings = BodySettings(damping=0.0, friction=0.8, thickness=0.005)
    plate = np.array([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]]) @ turn.T
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    collider = Collider("Slope", faces, 0.0, friction=0.8, restitution=0.0, single_sided=False)
    track = keyed(
        (mesh, settings),
        [0.5, 0.5],
        [{"friction": 0.8}, {"friction": 0.1}],
        ground=slope if on == "ground" else None,
        collider=None if on == "ground" else (collider, plate),
    )
    along = np.linalg.norm(track.mean(axis=1) - track[0].mean(axis=0), axis=1)
    assert along[12] < 0.005
    wanted = G * (np.sin(tilt) - 0.1 * np.cos(tilt)) * 0.5**2 / 2
    assert along[24] - along[12] == pytest.approx(wanted, rel=0.1)


@pytest.mark.parametrize("kind", ["quads", "rope"])
def test_settings_that_stay_the_same_change_nothing(kind: str) -> None:
    """To the bit, keyed or not."""
    body = hanging(kind)
    mesh = thrown(body[0], (0.3, 0.1, 0.0))
    (plain,) = simulated([(mesh, body[1])], frames(0.5, 24))
    np.testing.assert_array_equal(keyed((mesh, body[1]), [0.5], [{}]), plain)


def test_a_setting_that_hardly_changes_moves_a_sheet_no_otherwise() -> None:
    """Its tension is handed on; begun anew in each frame, corners would be 4 mm elsewhere."""
    body = pinned(sheet(12, 12), [0, 12]), BodySettings()
    still, shaken = ([{"damping": 1.0 + share * (k % 2)} for k in range(24)] for share in (0, 1e-6))
    as_ever, keyed_so = (keyed(body, [1 / 24] * 24, values) for values in (still, shaken))
    assert np.abs(keyed_so - as_ever).max() < 5e-4
