"""What nothing holds falls as the formulas say, at any frame rate and any step."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings as examples, strategies as st

from tests.core.bodies import (
    GRAVITY,
    WEIGHTLESS,
    frames,
    make_mesh,
    moved,
    rope,
    rotation,
    sheet,
    simulated,
    sphere,
    thrown,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, BodyType, Integrator, SceneSettings

EXACT = 1e-9
"""Rounding alone, summed over a thousand steps of a body a metre large [m]."""
STILL_AIR = BodySettings(damping=0.0)
PAIR = make_mesh([(0.0, 0.0, 2.0), (1.0, 0.0, 2.0)], edges=[(0, 1)])

durations = st.lists(st.floats(2e-3, 0.2), min_size=1, max_size=12)
velocities = st.tuples(*[st.floats(-20.0, 20.0)] * 3).map(np.array)


def falling(velocity: Floats, seconds: float, *, damping: float = 0.0) -> Floats:
    """How far a throw gets in a time, with drag [m]."""
    if damping == 0.0:
        return np.asarray(velocity * seconds + GRAVITY * seconds**2 / 2)
    decay = -np.expm1(-damping * seconds) / damping
    return np.asarray(velocity * decay + GRAVITY * (seconds - decay) / damping)


@pytest.mark.parametrize(
    ("fps", "substeps"),
    [
        *((fps, 3) for fps in (12, 24000 / 1001, 24, 25, 30, 60, 120)),
        *((24, substeps) for substeps in (1, 2, 5, 8, 20)),
    ],
)
def test_fall_is_the_same_at_every_frame_rate(fps: float, substeps: int) -> None:
    """A body at rest falls ½ g t², whatever the frame rate and the substeps."""
    durations = np.full(round(fps), 1.0 / fps)
    (track,) = simulated([(PAIR, STILL_AIR)], durations, SceneSettings(substeps=substeps))
    fall = falling(np.zeros(3), durations.sum())
    np.testing.assert_allclose(track[-1], PAIR.positions + fall, rtol=0, atol=EXACT)


@pytest.mark.parametrize("share", [1.0, 0.0, -0.5])
@pytest.mark.parametrize("stiff", [0.0, 1e-2])
@pytest.mark.parametrize(
    ("mesh", "body_type"),
    [
        (sheet(6), "CLOTH"),
        (sheet(5, triangles=True), "CLOTH"),
        (moved(sheet(6), rotation((1, 2, 3), 1.0)), "CLOTH"),
        (rope(np.cumsum(np.eye(3)[[0, 1, 2, 0, 1, 2]] / 4, axis=0)), "ROPE"),
        (sphere(8, 6), "SOFT"),
        (sphere(8, 6), "CLOTH"),
    ],
)
def test_every_kind_of_body_falls_alike(
    mesh: MeshData, body_type: BodyType, stiff: float, share: float
) -> None:
    """What a body is made of does not show while it falls or rises: it keeps its shape."""
    body = BodySettings(
        body_type=body_type,
        damping=0.0,
        stretch_compliance=stiff,
        bend_compliance=1.0,
        gravity=share,
    )
    (track,) = simulated([(mesh, body)], frames(0.25, 24), SceneSettings(substeps=3))
    expected = mesh.positions + share * falling(np.zeros(3), 0.25)
    np.testing.assert_allclose(track[-1], expected, rtol=0, atol=EXACT)


@given(durations=durations, velocity=velocities, substeps=st.integers(1, 4))
@examples(max_examples=12)
def test_slow_motion_changes_nothing_but_time(
    durations: list[float], velocity: Floats, substeps: int
) -> None:
    """A throw is on its parabola after every frame, however long each frame lasts."""
    (track,) = simulated(
        [(thrown(PAIR, velocity), STILL_AIR)], durations, SceneSettings(substeps=substeps)
    )
    for time, positions in zip(np.cumsum(durations), track[1:], strict=True):
        expected = PAIR.positions + falling(velocity, time)
        np.testing.assert_allclose(positions, expected, rtol=0, atol=EXACT)


@given(durations=durations, velocity=velocities, damping=st.floats(0.01, 10.0))
@examples(max_examples=12)
def test_drag_does_not_depend_on_steps(
    durations: list[float], velocity: Floats, damping: float
) -> None:
    """In air, too, a throw follows the formula, whatever the steps."""
    (track,) = simulated(
        [(thrown(PAIR, velocity), BodySettings(damping=damping))],
        durations,
        SceneSettings(substeps=2),
    )
    expected = PAIR.positions + falling(velocity, sum(durations), damping=damping)
    np.testing.assert_allclose(track[-1], expected, rtol=0, atol=EXACT)


def test_time_stands_still_and_goes_on() -> None:
    """Frames of no duration, at the start and later, leave the throw as it is."""
    (track,) = simulated(
        [(thrown(PAIR, (1.0, 0.0, 3.0)), STILL_AIR)], [0.0, 0.04, 0.0, 0.0, 0.02], SceneSettings()
    )
    for frame, time in enumerate([0.0, 0.0, 0.04, 0.04, 0.04, 0.06]):
        expected = PAIR.positions + falling(np.array([1.0, 0.0, 3.0]), time)
        np.testing.assert_allclose(track[frame], expected, rtol=0, atol=EXACT)


@pytest.mark.parametrize(("before", "after"), [(24, 120), (120, 24)])
@pytest.mark.parametrize("integrator", ["TCV_EXACT", "TCV", "VERLET"])
def test_plain_verlet_needs_equal_steps(integrator: Integrator, before: int, after: int) -> None:
    """Half a second of a fall, then 12 frames at another speed: who misses, and by how much.

    With T = 0.5 s before and n steps of h after the steps of h₀, TCV misses by ½ a n h (h − h₀),
    millimetres or centimetres, and plain Verlet by a n (h₀ − h)(T − (h₀ + h)/2): metres.
    """
    substeps, pull = 3, float(GRAVITY[2])
    h0, h, count = 1 / before / substeps, 1 / after / substeps, 12 * substeps
    misses = {
        "TCV_EXACT": 0.0,
        "TCV": pull * count * h * (h - h0) / 2,
        "VERLET": pull * count * (h0 - h) * (0.5 - (h0 + h) / 2),
    }
    durations = np.concatenate([frames(0.5, before), np.full(12, 1 / after)])
    scene = SceneSettings(substeps=substeps, integrator=integrator)
    (track,) = simulated([(PAIR, STILL_AIR)], durations, scene)
    missed = track[-1] - PAIR.positions - falling(np.zeros(3), durations.sum())
    np.testing.assert_allclose(missed[:, 2], misses[integrator], rtol=0, atol=EXACT)


@pytest.mark.parametrize("integrator", ["TCV_EXACT", "TCV", "VERLET"])
def test_equal_steps_are_exact_for_all(integrator: Integrator) -> None:
    """While steps are equal all three integrators fall ½ g t²."""
    (track,) = simulated([(PAIR, STILL_AIR)], frames(1.0, 24), SceneSettings(integrator=integrator))
    expected = PAIR.positions + falling(np.zeros(3), 1.0)
    np.testing.assert_allclose(track[-1], expected, rtol=0, atol=EXACT)


def test_spin_is_kept() -> None:
    """A body that turns at the start keeps turning: half a turn in half a period."""
    mesh = sheet(2)
    arms = mesh.positions - mesh.positions.mean(axis=0)
    spinning = replace(mesh, velocities=np.cross([0.0, 0.0, np.pi], arms))
    body = BodySettings(damping=0.0, shear_compliance=0.0)
    (track,) = simulated([(spinning, body)], frames(1.0, 24), gravity=WEIGHTLESS)
    expected = mesh.positions.mean(axis=0) - arms
    # Steps of h turn it by ω h to first order in (ω h)², 4e-5 here, over π radians of 0.7 m.
    np.testing.assert_allclose(track[-1], expected, rtol=0, atol=1e-4)
