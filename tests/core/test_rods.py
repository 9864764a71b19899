"""Ropes that are curved at rest bend and twist as rods do, and come back to their shape."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    WEIGHTLESS,
    built_state,
    coil,
    frames,
    lengths,
    make_mesh,
    masses,
    pinned,
    results,
    rope,
    rotation,
    simulated,
    thrown,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.rods.first_mode import TWIST_SHARE
from verlet_addon.core.rods.kernels import project_rods
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.state import batches_for

G = 9.81
STIFFNESS = 4e-5
"""Bending stiffness of wires [N m²]."""
WIRE = BodySettings(
    body_type="ROPE", use_density=True, density=0.01, bend_compliance=1 / STIFFNESS, damping=4.0
)
FINE = 480
"""Frames per second whose chords are arcs."""
SUBSTEPS = pytest.mark.parametrize("substeps", [5, 10, 40])


def swung(
    mesh: MeshData, seconds: float, substeps: int = 10, *, fps: float = 24, **more: Any
) -> Floats:
    """(frames, n, 3) positions of a wire [m]."""
    body, scene = more.pop("body", WIRE), SceneSettings(substeps=substeps)
    (track,) = simulated([(mesh, body)], frames(seconds, fps), scene, **more)
    return track


def bow(length: float, segments: int, curvature: float) -> Floats:
    """(n, 3) points of an arc in the XZ plane that starts along x, with one segment before it."""
    step = length / segments
    angles = curvature * step * (np.arange(segments) + 0.5)
    ways = step * np.stack([np.cos(angles), np.zeros(segments), np.sin(angles)], axis=1)
    return np.concatenate([[[-step, 0.0, 0.0]], np.zeros((1, 3)), np.cumsum(ways, axis=0)])


def elastica(length: float, segments: int, curvature: float, load: float) -> Floats:
    """(n, 2) points of an elastic rod with a curvature at rest, clamped level, under a load.

    B (θ' − κ)' = q (L − s) cos θ with θ(0) = 0 and θ'(L) = κ, by shooting, for a load q down per
    length over B.
    """
    steps = segments * 8
    h = length / steps

    def slope(s: float, y: Floats) -> Floats:
        cosine, sine = np.cos(y[0]), np.sin(y[0])
        return np.array([y[1], load * (length - s) * cosine, cosine, sine])

    def shoot(start: float) -> tuple[float, Floats]:
        y, points = np.array([0.0, start, 0.0, 0.0]), [(0.0, 0.0)]
        for number in range(steps):  # the midpoint rule
            s = number * h
            y = y + h * slope(s + h / 2, y + h / 2 * slope(s, y))
            points.append((y[2], y[3]))
        return float(y[1]) - curvature, np.array(points[::8])

    low, high = -100.0, 100.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if shoot(middle)[0] > 0 else (middle, high)
    return shoot(low)[1]


@SUBSTEPS
@pytest.mark.parametrize("curvature", [5.0, -10.0])
def test_a_curved_rod_droops_as_the_elastica_does(curvature: float, substeps: int) -> None:
    """To 0.5 mm of 200, at any number of substeps."""
    length, segments = 0.2, 32
    expected = elastica(length, segments, curvature, WIRE.density * G / STIFFNESS)
    mesh = pinned(rope(bow(length, segments, curvature)), [0, 1])
    track = swung(mesh, 3.0, substeps)
    assert np.linalg.norm(expected[-1] - mesh.positions[-1, [0, 2]]) > 0.03
    error = np.linalg.norm(track[-1, 1:, [0, 2]].T - expected, axis=1)
    assert error.max() < 5e-4
    np.testing.assert_allclose(lengths(track, mesh.edges) * segments / length, 1.0, atol=1e-6)


@SUBSTEPS
@pytest.mark.parametrize("twist_ratio", [TWIST_SHARE, 0.3])
def test_a_coil_sags_as_a_spring(substeps: int, twist_ratio: float) -> None:
    """By W S R²/2 (cos²α/C + sin²α/B), within 5 %; a rope that forgets its shape hangs straight."""
    radius, height, turns = 0.02, 0.2, 6.7
    mesh = pinned(coil(turns, 68, radius=radius, height=height), [0, 1, 2])
    wire = lengths(mesh.positions, mesh.edges)[2:].sum()
    slope = np.arctan(height / (2.0 * np.pi * turns * radius))
    body = replace(WIRE, density=4e-4 * twist_ratio, twist_ratio=twist_ratio)
    give = np.cos(slope) ** 2 / twist_ratio + np.sin(slope) ** 2
    expected = body.density * G * wire**2 * radius**2 / 2 * give / STIFFNESS
    track = swung(mesh, 2.0, substeps, body=body)
    assert -height - track[-1, -1, 2] == pytest.approx(expected, rel=0.05)


def shaken(mesh: MeshData, seconds: float) -> Any:
    """Targets that move to and fro and turn, so long."""

    def targets(time: float) -> list[Floats]:
        if time > seconds:
            return [mesh.positions]
        turn = rotation((1.0, 1.0, 1.0), np.sin(9.0 * time))
        shift = np.array([0.05 * np.sin(12.0 * time), 0.0, 0.0])
        return [np.einsum("xy,ny->nx", turn, mesh.positions) + shift]

    return targets


def branched() -> MeshData:
    """A coil with straight twigs on some of its points."""
    trunk = coil(2.0, 24, height=0.1)
    places = range(6, 24, 6)
    count = len(trunk.positions)
    tips = trunk.positions[list(places)] * [3.0, 3.0, 1.0]
    twigs = [(place, count + number) for number, place in enumerate(places)]
    return make_mesh(
        np.concatenate([trunk.positions, tips]), edges=np.concatenate([trunk.edges, twigs])
    )


SHAPES: dict[str, Callable[[], MeshData]] = {
    "coil": lambda: coil(6.7, 65),
    "branched": branched,
    "bow": lambda: rope(bow(0.2, 16, 12.0)),
}


@pytest.mark.parametrize("stiffness", [1e-3, 1.0, np.inf])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_shaken_comes_back_to_its_shape(shape: str, stiffness: float) -> None:
    """Without weight it ends where it began, at rest, three seconds after the shaking."""
    mesh = pinned(SHAPES[shape](), [0, 1, 2])
    body = replace(WIRE, density=2e-3, bend_compliance=1.0 / stiffness)
    given = {"targets": shaken(mesh, 1.0), "gravity": WEIGHTLESS, "body": body}
    track = swung(mesh, 4.0, **given)
    away = np.linalg.norm(track - mesh.positions, axis=2).max(axis=1)
    assert away.max() > 0.02
    assert away[-1] < 1e-6
    assert np.abs(track[-1] - track[-2]).max() * 24 < 1e-5
    stretched = lengths(track, mesh.edges) / lengths(mesh.positions, mesh.edges)
    np.testing.assert_allclose(stretched, 1.0, atol=1e-6)


def test_a_thrown_coil_keeps_momentum_and_spin() -> None:
    """Its centre flies on a parabola, and its angular momentum about that stays."""
    mesh = coil(3.0, 40)
    velocities = np.cross([5.0, -3.0, 8.0], mesh.positions) + np.array([1.0, 2.0, 3.0])
    velocities[-5:] += [0.5, 0.0, 0.0]
    body = replace(WIRE, damping=0.0)
    thrown_coil = thrown(mesh, velocities)
    track = swung(thrown_coil, 1.0, 2, fps=FINE, body=body)
    weights = masses((thrown_coil, body))
    weights /= weights.sum()
    centres = (weights * track).sum(axis=1)
    first = (weights * mesh.positions).sum(axis=0)
    speed = (weights * velocities).sum(axis=0)
    time = np.arange(len(track))[:, None] / FINE
    np.testing.assert_allclose(
        centres, first + speed * time - [0.0, 0.0, G / 2] * time**2, atol=1e-9
    )
    middles = (track[1:] + track[:-1]) / 2 - (centres[1:] + centres[:-1])[:, None] / 2
    ways = np.diff(track - centres[:, None], axis=0) * FINE
    spins = np.array(
        [(weights * np.cross(*each)).sum(axis=0) for each in zip(middles, ways, strict=True)]
    )
    # Chords of a frame are shorter than the way along the arc.
    assert np.abs(spins - spins[0]).max() < 2e-3 * np.linalg.norm(spins[0])


def test_it_does_not_matter_at_which_end_a_rod_begins() -> None:
    """A coil whose vertices are in reverse order hangs and swings alike."""
    mesh = coil(4.0, 40)
    track = swung(pinned(mesh, [0, 1, 2]), 1.0)
    other = swung(pinned(rope(mesh.positions[::-1]), [37, 38, 39]), 1.0)
    np.testing.assert_allclose(other[:, ::-1], track, atol=1e-5)


@SUBSTEPS
def test_inner_damping_is_a_time_constant(substeps: int) -> None:
    """Small swings become smaller by exp(−ω² τ t / 2), at any number of substeps."""
    mesh = pinned(rope(bow(0.2, 10, 1.0)), [0, 1])
    speeds = np.zeros_like(mesh.positions)
    speeds[2:, 2] = 0.02 * np.linspace(0.1, 1.0, 10) ** 2
    body = replace(WIRE, damping=0.0, inner_damping=0.06, bend_compliance=1e3)
    track = swung(thrown(mesh, speeds), 1.5, substeps, body=body, gravity=WEIGHTLESS)
    height = track[:, -1, 2] - mesh.positions[-1, 2]
    at = [k for k in range(1, len(height) - 1) if height[k] > max(height[k - 1], height[k + 1])]
    tops = np.array([top(height[k - 1 : k + 2]) for k in at])
    times = np.array(at) + tops[:, 0]
    omega = 2.0 * np.pi / (np.diff(times).mean() / 24)
    rate = -np.polyfit(times / 24, np.log(tops[:, 1]), 1)[0]
    time_constant = 0.07 * body.inner_damping / 0.3
    assert rate == pytest.approx(omega**2 * time_constant / 2, rel=0.05)


def top(values: Floats) -> tuple[float, float]:
    """Where a parabola through three values is highest, from the second on, and how high."""
    slope, bend = (values[2] - values[0]) / 2, values[0] - 2 * values[1] + values[2]
    return -slope / bend, values[1] - slope**2 / (2 * bend)


def test_a_coil_turns_with_its_pins() -> None:
    """Three pins that turn as the mesh does carry it along; it ends as if built so."""
    mesh = pinned(coil(4.0, 40), [0, 1, 2])

    def turned(time: float) -> Floats:
        turn = rotation((0.0, 0.0, 1.0), 2.0 * np.pi * min(0.4 * time, 0.6))
        return np.asarray(np.einsum("xy,ny->nx", turn, mesh.positions))

    track = swung(mesh, 4.0, targets=lambda time: [turned(time)])
    still = swung(replace(mesh, positions=turned(4.0)), 4.0)
    np.testing.assert_allclose(track[-1], still[-1], atol=1e-4)


LENGTH, BONES = 0.3, 8
TAIL = rope(np.linspace((-LENGTH / BONES, 0.0, 0.0), (LENGTH, 0.0, 0.0), BONES + 2))
FIRST_MODE = 2.0
"""Frequency of a tail's first mode [Hz]."""
MUSCLE = replace(
    WIRE,
    density=0.1,
    damping=0.5,
    bend_compliance=1.0 / ((FIRST_MODE * 2 * np.pi / 3.516) ** 2 * 0.1 * LENGTH**4),
)


def tossed(mesh: MeshData) -> Callable[[float], list[Floats]]:
    """Targets that swing by 46° and by 15 cm, at some 7 rad/s."""

    def targets(time: float) -> list[Floats]:
        turn = rotation((0.0, 1.0, 1.0), 0.8 * np.sin(9.0 * time))
        shift = 0.15 * np.sin(4.0 * np.pi * time) * np.array([0.0, 1.0, 0.5])
        return [np.einsum("xy,ny->nx", turn, mesh.positions) + shift]

    return targets


@pytest.mark.parametrize("substeps", [5, 10])
@pytest.mark.parametrize(
    ("limit", "softness"),
    [(0.05, 1.0), (0.3, 10.0), (0.05, 100.0), (0.1, 100.0), (0.3, 100.0), (0.6, 100.0)],
)
def test_a_tail_keeps_its_angle_limit(limit: float, softness: float, substeps: int) -> None:
    """To 0.01 rad at 120 and 240 steps a second, however it is thrown about and however limp."""
    mesh = pinned(TAIL, [0, 1])
    body = replace(MUSCLE, angle_limit=limit, bend_compliance=softness * MUSCLE.bend_compliance)
    track = swung(mesh, 2.0, substeps, body=body, targets=tossed(mesh))
    ways = np.diff(track, axis=1) * BONES / LENGTH
    angles = np.arccos(np.clip((ways[:, 1:] * ways[:, :-1]).sum(axis=2), -1.0, 1.0))
    assert angles.max() < limit + 0.01
    assert angles.max() > limit - 0.05
    np.testing.assert_allclose(lengths(track, mesh.edges) * BONES / LENGTH, 1.0, atol=1e-6)


def wagged(time: float) -> Floats:
    """(n, 3) a tail whose bones are keyed to wag while its hips swing at 1.5 Hz."""
    ease, bones = min(time / 0.3, 1.0) ** 2, np.arange(BONES + 1)
    bends = 0.25 * ease * np.sin(2.0 * np.pi * time - 0.4 * bones) * (bones > 0)
    angles = np.cumsum(bends)
    ways = np.stack([np.cos(angles), np.sin(angles), np.zeros(BONES + 1)], axis=1)
    points = np.concatenate([np.zeros((1, 3)), np.cumsum(ways * LENGTH / BONES, axis=0)])
    swing = ease * np.sin(3.0 * np.pi * time)
    turned = np.einsum("xy,ny->nx", rotation((0.0, 0.0, 1.0), 0.4 * swing), points - points[1])
    return np.asarray(turned + 0.08 * swing * np.array([0.0, 1.0, 0.5]))


def followed(fps: float, seconds: float = 2.0, **more: Any) -> Floats:
    """(frames, n, 3) positions of a tail that follows its animation, 240 steps a second."""
    body = replace(MUSCLE, use_dynamic_mesh=True, **more)
    given: dict[str, Any] = {"fps": fps, "body": body, "targets": lambda time: [wagged(time)]}
    return swung(pinned(TAIL, [0, 1]), seconds, round(240 / fps), **given)


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize(
    ("fps", "worst", "mean"), [(24, 0.01, 0.005), (60, 0.01, 0.005), (12, 0.04, 0.02)]
)
def test_a_tail_moves_alike_at_every_frame_rate(
    fps: int, worst: float, mean: float, share: float
) -> None:
    """Against 240 fps: at most 1 % of its length off, 0.5 % rms; 4 % at 12 fps.

    With all of its inertia, and without that of its reference frame.
    """
    fine = followed(240, inertia_share=share)[:: 240 // fps]
    poses = np.array([wagged(number / fps) for number in range(len(fine))])
    assert np.linalg.norm(fine - poses, axis=2).max() > 0.3 * LENGTH
    track = followed(fps, inertia_share=share)
    away = np.linalg.norm(track - fine, axis=2) / LENGTH
    assert away.max() < worst
    assert np.sqrt((away**2).mean()) < mean


def test_one_call_leads_a_tail_as_steps_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bit."""
    track = followed(24, 0.5, angle_limit=0.2)
    monkeypatch.setattr("verlet_addon.core.simulation.find_plain", lambda *_: [])
    np.testing.assert_array_equal(followed(24, 0.5, angle_limit=0.2), track)


def test_a_tail_comes_to_rest_in_its_keyed_pose() -> None:
    """With the keys still, and without weight, it moves by less than 0.01 mm/s after 3 s."""
    pose = wagged(0.9)

    def targets(time: float) -> list[Floats]:
        return [pose if time > 0.9 else wagged(time)]

    body = replace(MUSCLE, use_dynamic_mesh=True)
    track = swung(pinned(TAIL, [0, 1]), 3.9, body=body, targets=targets, gravity=WEIGHTLESS)
    assert np.linalg.norm(track[-1] - pose, axis=1).max() < 1e-5
    assert np.linalg.norm(track[-1] - track[-2], axis=1).max() * 24 < 1e-5


def test_a_single_edge_has_nothing_to_bend() -> None:
    """It falls and swings beside a rope that has, with every setting of rods."""
    places = [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (1.0, 0.0, 0.0), (1.1, 0.0, 0.0), (1.1, 0.1, 0.0)]
    mesh = pinned(make_mesh(places, edges=[(0, 1), (2, 3), (3, 4)]), [0, 2])
    body = replace(WIRE, use_dynamic_mesh=True, angle_limit=0.3)
    alone = swung(pinned(rope(places[:2]), [0]), 0.5, body=replace(WIRE, angle_limit=0.3))
    np.testing.assert_allclose(swung(mesh, 0.5, body=body)[:, :2], alone, atol=1e-9)


def test_it_is_told_where_ropes_cannot_follow() -> None:
    """A ring has neither a dynamic mesh nor an angle limit."""
    angles = np.arange(12) * np.pi / 6
    points = np.stack([np.cos(angles), np.sin(angles), np.zeros(12)], axis=1)
    ring = make_mesh(points, edges=[(k, (k + 1) % 12) for k in range(12)], name="Ring")
    body = replace(WIRE, angle_limit=0.1)
    remarks = [each for frame in results([(ring, body)], frames(0.1, 24)) for each in frame.remarks]
    assert any("Angle Limit do not act on all of Ring: open its rings" in each for each in remarks)


def test_a_long_rope_is_solved_as_the_reference_solves_it() -> None:
    """To rounding, which must not grow from node to node: nothing holds its first segment."""
    mesh = pinned(coil(4.0, 161, radius=0.1), [0, 160])
    body = BodySettings(body_type="ROPE", mass=0.5)
    both = []
    for solve in (project_rods, project_rods.reference):
        model, state = built_state((mesh, body))
        rods = batches_for(model, state, "TCV_EXACT", 1 / 120).rods
        assert rods is not None
        state.positions += 1e-4 * np.sin(np.arange(161) * [[7.0], [5.0], [3.0]])
        state.positions[:, model.pinned] = model.rest_positions[:, model.pinned]
        solve(state.positions, model.rest_positions, rods)
        both.append(state.positions)
    np.testing.assert_allclose(both[0], both[1], atol=1e-12)
