"""Water: waves run at their speed, on any mesh and in any steps, and lose nothing."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    Body,
    flat_sheet,
    frames,
    make_mesh,
    moved,
    pinned,
    rope,
    rotation,
    samples,
    sheet,
    simulated,
    sphere,
    split,
    strewn,
    thrown,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.errors import MeshError, SettingsError
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.scene import Collider
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

STILL = BodySettings(body_type="WATER", damping=0.0)
TIMES = [(12.0, 1), (60.0, 4)]
"""Frames a second, and steps a frame."""


def raised(mesh: MeshData, heights: Floats) -> MeshData:
    """Water that starts so far above its level [m]."""
    points = mesh.positions.copy()
    points[:, 2] += heights
    return replace(mesh, positions=points, rest_positions=mesh.positions)


def crest(mesh: MeshData, heights: Floats, cells: int) -> float:
    """Where along x a ridge is highest: the mean of rows, and a parabola through its top [m]."""
    nearest = np.round(mesh.positions[:, 0] * cells).astype(np.int64)
    counts = np.bincount(nearest)
    along = np.bincount(nearest, mesh.positions[:, 0]) / counts
    profile = np.bincount(nearest, heights) / counts
    top = np.abs(along - along[profile.argmax()]) < 0.06
    second, first, _ = np.polyfit(along[top], profile[top], 2)
    return float(-first / (2.0 * second))


@pytest.mark.parametrize(("fps", "substeps"), TIMES)
@pytest.mark.parametrize("cells", [30, 60])
@pytest.mark.parametrize("kind", ["quads", "strewn triangles"])
def test_a_front_runs_at_the_wave_speed(kind: str, cells: int, fps: float, substeps: int) -> None:
    """Within 2 %; a ridge 20 cm wide runs half a metre from the edge that it starts at."""
    pond = flat_sheet(kind, cells)
    ridge = 0.05 * np.exp(-((pond.positions[:, 0] / 0.1) ** 2) / 2)
    water = replace(STILL, wave_speed=0.8)
    (track,) = simulated(
        [(raised(pond, ridge), water)], frames(1.0, fps), SceneSettings(substeps=substeps)
    )
    early, late = round(fps / 3), round(fps * 11 / 12)
    run = crest(pond, track[late, :, 2], cells) - crest(pond, track[early, :, 2], cells)
    assert run / (late - early) * fps == pytest.approx(0.8, rel=0.02)


def amplitude(heights: Floats, shape: Floats) -> Floats:
    """(frames,) how much of a shape (n,) is in heights (frames, n)."""
    return np.asarray(heights @ shape / (shape @ shape))


def swing(times: Floats, values: Floats, rate: float) -> tuple[float, float]:
    """The amplitude of the best sine of an angular frequency, and the squares it leaves."""
    waves = np.stack([np.sin(rate * times), np.cos(rate * times)], axis=1)
    found, left, *_ = np.linalg.lstsq(waves, values, rcond=None)
    return float(np.hypot(*found)), float(left[0])


@pytest.mark.parametrize(("fps", "substeps"), TIMES)
@pytest.mark.parametrize("kind", ["quads", "strewn triangles"])
def test_a_standing_wave_has_its_frequency_and_keeps_its_energy(
    kind: str, fps: float, substeps: int
) -> None:
    """ω = π √2 c in a metre's square, within 1 %; energy within 0.1 % over ten seconds."""
    pond = flat_sheet(kind, 20)
    x, y, _ = pond.positions.T
    shape, rate = np.cos(np.pi * x) * np.cos(np.pi * y), np.pi * np.sqrt(2.0)
    (track,) = simulated(
        [(raised(pond, 0.05 * shape), STILL)], frames(10.0, fps), SceneSettings(substeps=substeps)
    )
    times = np.arange(len(track)) / fps
    swings = amplitude(track[:, :, 2], shape)
    rates = np.linspace(0.97, 1.03, 601) * rate
    best = rates[np.argmin([swing(times, swings, each)[1] for each in rates])]
    assert best == pytest.approx(rate, rel=0.01)
    spans = np.array_split(np.arange(len(track)), 4)
    energies = [swing(times[span], swings[span], best)[0] ** 2 for span in spans]
    assert energies == pytest.approx([energies[0]] * 4, rel=1e-3)


def test_damping_is_that_of_air() -> None:
    """V' = −c v − …: amplitudes fall as exp(−c t/2), whatever the steps."""
    pond = flat_sheet("quads", 16)
    shape = np.cos(np.pi * pond.positions[:, 0])
    for substeps in (2, 10):
        (track,) = simulated(
            [(raised(pond, 0.05 * shape), replace(STILL, damping=1.0))],
            frames(4.0, 24),
            SceneSettings(substeps=substeps),
        )
        times, swings = np.arange(97) / 24, amplitude(track[:, :, 2], shape)
        rate = np.sqrt(np.pi**2 - 0.25)
        first, last = (
            swing(times[span], swings[span] * np.exp(times[span] / 2), rate)[0]
            for span in (slice(0, 48), slice(48, None))
        )
        assert first == pytest.approx(0.05, rel=0.02)
        assert last == pytest.approx(first, rel=0.01)


def test_pinned_edges_hold_and_free_ones_reflect() -> None:
    """A ridge comes back upside down from what is pinned, and upright from a free edge."""
    pond = sheet(60)
    x = pond.positions[:, 0]
    ridge = 0.05 * np.exp(-(((x - 0.5) / 0.08) ** 2) / 2)
    held = pinned(raised(pond, ridge), np.flatnonzero(x > 1 - 1e-9))
    (track,) = simulated([(held, STILL)], frames(1.0, 24))
    middle = np.abs(x - 0.5) < 1e-6
    at_end = np.abs(x - 1.0) < 1e-6
    assert track[:, at_end, 2] == pytest.approx(0.0, abs=1e-9)
    # Both halves meet in the middle after 1 s, one upright and one upside down: nothing is left.
    assert np.abs(track[-1, middle, 2]).max() < 2e-3
    (track,) = simulated([(raised(pond, ridge), STILL)], frames(1.0, 24))
    assert track[-1, middle, 2].mean() == pytest.approx(0.05, rel=0.03)


def test_a_pin_that_dips_makes_ripples() -> None:
    """Waves spread from where a pinned vertex is moved, and from nowhere else."""
    pond = sheet(40, size=2.0)
    middle = 20 * 41 + 20
    held = pinned(pond, [middle])

    def targets(time: float) -> list[Floats]:
        points = pond.positions.copy()
        points[middle, 2] = -0.1 * np.sin(8.0 * time)
        return [points]

    (track,) = simulated([(held, STILL)], frames(0.75, 24), targets=targets)
    far = np.linalg.norm(pond.positions - pond.positions[middle], axis=1)
    assert np.abs(track[-1, (far > 0.2) & (far < 0.6), 2]).max() > 1e-3
    assert np.abs(track[-1, far > 0.95, 2]).max() < 1e-4


def dipped(
    pond: MeshData, ball: MeshData, path: Sequence[Floats], settings: BodySettings
) -> Floats:
    """(frames, n, 3) water into which a ball dips along a path of shifts, one a frame."""
    triangles = np.array(
        [face.tolist() for face in np.split(ball.face_vertices, ball.face_starts[1:-1])]
    )
    collider = Collider("Ball", triangles, 0.0, 0.5, 0.0, False)
    still = samples([pond], frames((len(path) - 1) / 24, 24))
    scenes = [
        replace(sample, colliders=[ball.positions + shift])
        for sample, shift in zip(still, path, strict=True)
    ]
    met = replace(pond, colliders=[0])
    return np.array(
        [f.positions[0] for f in simulate([met], [settings], SceneSettings(), scenes, [collider])]
    )


@pytest.mark.parametrize("kind", ["quads", "strewn triangles"])
def test_a_pond_rises_by_the_volume_of_what_lies_in_it(kind: str) -> None:
    """Half a ball dips in, and stays: the level rises by its volume over the pond's area."""
    pond = flat_sheet(kind, 30)
    ball = split(sphere(16, 12, radius=0.2))
    path = [np.array([0.5, 0.5, max(0.0, 0.25 - 0.02 * k)]) for k in range(80)]
    track = dipped(pond, ball, path, replace(STILL, damping=4.0))
    rise = 2 / 3 * np.pi * 0.2**3
    assert track[-1, :, 2].mean() == pytest.approx(rise, rel=0.05)
    assert np.ptp(track[-1, :, 2]) < 0.2 * rise


def test_what_leaves_the_water_leaves_it_at_its_level() -> None:
    """In and out again: no water is made or lost."""
    pond, ball = sheet(30), split(sphere(16, 10, radius=0.2))
    path = [np.array([0.5, 0.5, abs(0.25 - 0.01 * k)]) for k in range(60)]
    track = dipped(pond, ball, path, STILL)
    assert np.abs(track[20:40, :, 2]).max() > 5e-3
    cells = np.ones((31, 31))
    cells[[0, -1]] /= 2
    cells[:, [0, -1]] /= 2
    lost = (track[-1, :, 2] * cells.ravel()).sum() / cells.sum()
    assert abs(lost) < 1e-9


def test_water_goes_where_its_object_goes() -> None:
    """A bowl that is carried and turned takes its level along, and does not ripple."""
    pond = sheet(10)

    def targets(time: float) -> list[Floats]:
        return [moved(pond, rotation((1, 2, 3), time), (0.5 * time, 0.0, time)).positions]

    (track,) = simulated([(pond, STILL)], frames(1.0, 24), targets=targets)
    np.testing.assert_allclose(track[-1], targets(1.0)[0], atol=1e-9)


def test_waves_run_round_a_ball() -> None:
    """On a closed surface of a metre's radius: ω² = l (l + 1) c²; here l = 2, within 1 %."""
    planet = sphere(32, 20, radius=1.0)
    z = planet.positions[:, 2]
    shape = 1.5 * z**2 - 0.5
    outward = planet.positions * (0.02 * shape * np.sqrt(6.0))[:, None]
    (track,) = simulated([(thrown(planet, outward), STILL)], frames(5.0, 24))
    swings = amplitude(np.linalg.norm(track, axis=2) - 1.0, shape)
    times, rates = np.arange(len(track)) / 24, np.linspace(0.95, 1.05, 201) * np.sqrt(6.0)
    best = rates[np.argmin([swing(times, swings, each)[1] for each in rates])]
    assert best == pytest.approx(np.sqrt(6.0), rel=0.01)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_a_pond_of_any_size_ripples_alike(scale: float) -> None:
    """Where speeds are as many lengths a second."""
    pond = sheet(12)
    ridge = 0.05 * np.exp(-((pond.positions[:, 0] / 0.2) ** 2) / 2)
    tracks = []
    for size in (1.0, scale):
        mesh = raised(moved(pond, size * np.eye(3)), size * ridge)
        body: Body = (mesh, replace(STILL, wave_speed=size))
        tracks.append(simulated([body], frames(1.0, 24))[0] / size)
    np.testing.assert_allclose(tracks[1], tracks[0], atol=1e-9)


def test_a_speed_that_no_step_follows_is_told() -> None:
    """In one sentence with the remedy."""
    pond = strewn(sheet(10, triangles=True), 0.03)
    with pytest.raises(SettingsError, match=r"wave speed of 'Body' is 1e\+06 m/s, too fast"):
        simulated([(pond, replace(STILL, wave_speed=1e6))], frames(0.1, 24))


def test_water_needs_faces() -> None:
    """And says so."""
    line = make_mesh([(0, 0, 0), (1, 0, 0)], edges=[(0, 1)])
    with pytest.raises(MeshError, match="no faces, so it has no waves; add some"):
        simulated([(line, STILL)], frames(0.1, 24))


def test_one_huge_triangle_stays_as_it_is() -> None:
    """Nothing to run on, nothing to break."""
    plane = make_mesh([(0, 0, 0), (1e3, 0, 0), (0, 1e3, 0)], faces=[(0, 1, 2)])
    (track,) = simulated([(plane, STILL)], frames(1.0, 24))
    assert track[-1] == pytest.approx(track[0])


def falling_into(pond: MeshData, diver: Body, seconds: float) -> tuple[Floats, Floats]:
    """(frames, n, 3) water, and a body that falls into it from where it is."""
    bodies = [(pond, replace(STILL, damping=4.0)), diver]
    water, dived = simulated(bodies, frames(seconds, 24))
    return water, dived


@pytest.mark.parametrize("first", [True, False])
def test_a_jelly_ball_that_falls_in_makes_rings(first: bool) -> None:
    """Whichever of the two comes first in the scene, and water takes nothing of its fall."""
    pond, ball = sheet(30), moved(sphere(12, 8, radius=0.15), np.eye(3), (0.5, 0.5, 0.2))
    bodies = [(pond, STILL), (ball, BodySettings(body_type="SOFT", damping=0.0))]
    tracks = simulated(bodies if first else bodies[::-1], frames(0.5, 24))
    water, dived = tracks if first else tracks[::-1]
    assert np.abs(water[5:, :, 2]).max() > 0.02
    far = np.linalg.norm(pond.positions[:, :2] - 0.5, axis=1) > 0.3
    assert np.abs(water[-1, far, 2]).max() > 2e-3
    fallen = 0.2 - dived[-1, :, 2].mean()
    assert fallen == pytest.approx(9.81 * 0.5**2 / 2, rel=1e-3)


@pytest.mark.slow
def test_a_cloth_displaces_as_much_as_its_thickness() -> None:
    """A sheet that sinks lifts the level by its area times its thickness over the pond's area."""
    pond = sheet(30)
    cloth = moved(sheet(8, size=0.4), np.eye(3), (0.31, 0.31, 0.1))
    water, _ = falling_into(pond, (cloth, BodySettings(thickness=0.02)), 3.0)
    assert np.abs(water[0, :, 2]).max() == 0.0
    assert water[-1, :, 2].mean() == pytest.approx(0.4**2 * 0.02, rel=0.1)


@pytest.mark.slow
def test_a_rope_displaces_what_it_has_room_for() -> None:
    """A round thread of its thickness; what of it hangs beside the pond does not count."""
    pond = sheet(30)
    along = np.linspace(0.2, 1.8, 33)
    thread = rope(np.stack([along, np.full(33, 0.51), np.full(33, 0.05)], axis=1))
    water, _ = falling_into(pond, (thread, BodySettings(body_type="ROPE", thickness=0.04)), 3.0)
    expected = np.pi / 4 * 0.04**2 * 0.8
    assert water[-1, :, 2].mean() == pytest.approx(expected, rel=0.1)
