"""Ropes that are curved at rest bend and twist as rods do, and come back to their shape."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    WEIGHTLESS,
    coil,
    frames,
    lengths,
    make_mesh,
    masses,
    pinned,
    rope,
    rotation,
    simulated,
    thrown,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.rods.rod_trees import TWIST_SHARE
from verlet_addon.core.settings import BodySettings, SceneSettings

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
def test_a_coil_sags_as_a_spring(substeps: int) -> None:
    """By W S R²/2 (cos²α/C + sin²α/B), within 5 %; a rope that forgets its shape hangs straight."""
    radius, height, turns = 0.02, 0.2, 6.7
    mesh = pinned(coil(turns, 68, radius=radius, height=height), [0, 1, 2])
    wire = lengths(mesh.positions, mesh.edges)[2:].sum()
    slope = np.arctan(height / (2.0 * np.pi * turns * radius))
    body = replace(WIRE, density=3e-4)
    give = np.cos(slope) ** 2 / TWIST_SHARE + np.sin(slope) ** 2
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
