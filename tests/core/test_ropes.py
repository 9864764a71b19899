"""Ropes hang, swing and stretch as the formulas say, and keep their length."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    WEIGHTLESS,
    advance,
    arc,
    built_state,
    floor,
    frames,
    lengths,
    make_mesh,
    pinned,
    rope,
    simulated,
    strains,
    thrown,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.settings import BodySettings, SceneSettings

G = 9.81
LIMP = 1e9
"""Bend compliance of a chain [1/(N m²)]."""


def line(segments: int, direction: tuple[float, float, float]) -> Floats:
    """(n, 3) points from the origin, a metre in a direction."""
    return np.asarray(np.linspace(0.0, 1.0, segments + 1)[:, None] * np.array(direction))


def turns(track: Floats, frame_duration: float) -> Floats:
    """The times at which a swinging value passes 0, between frames by a straight line [s]."""
    before = np.flatnonzero((track[:-1] > 0) != (track[1:] > 0))
    share = track[before] / (track[before] - track[before + 1])
    return np.asarray((before + share) * frame_duration)


@pytest.mark.parametrize("substeps", [1, 3, 20])
@pytest.mark.parametrize("count", [5, 20, 100])
def test_hanging_chain_of_springs(count: int, substeps: int) -> None:
    """Every spring carries what hangs below it: link i is longer by its tension over k."""
    compliance, mass = 0.002, 1.0
    body = BodySettings(
        body_type="ROPE",
        mass=mass,
        damping=50.0,
        stretch_compliance=compliance,
        bend_compliance=LIMP,
    )
    chain = pinned(rope(line(count, (0.0, 0.0, -1.0))), [0])
    (track,) = simulated([(chain, body)], frames(0.6, 24), SceneSettings(substeps=substeps))
    # A vertex carries half of each segment beside it, so the last weighs half as much.
    below = mass / count * (np.arange(count)[::-1] + 0.5)
    expected = compliance / count * below * G
    stretched = lengths(track[-1], chain.edges) - 1 / count
    np.testing.assert_allclose(stretched, expected, rtol=1e-4)
    assert stretched.sum() == pytest.approx(compliance * mass * G / 2, rel=1e-4)


def discrete_sag(length: float, segments: int) -> float:
    """The sag of equal weights on equal links between supports at distance 1, exactly."""
    steps = np.arange(segments) - (segments - 1) / 2
    low, high = 1e-3, 1e6
    for _ in range(200):  # the horizontal pull, in weights, by bisection
        pull = np.sqrt(low * high)
        span = (length / segments * pull / np.hypot(pull, steps)).sum()
        low, high = (pull, high) if span < 1.0 else (low, pull)
    return float(-np.cumsum(length / segments * steps / np.hypot(pull, steps)).min())


@pytest.mark.parametrize("segments", [20, 200])
@pytest.mark.parametrize(("length", "catenary"), [(1.2, 0.292344), (1.5, 0.502633)])
def test_rope_between_supports(length: float, catenary: float, segments: int) -> None:
    """A rope between two supports sags as a catenary does, to half a per cent."""
    hung = pinned(rope(arc(length, 1.0, segments)), [0, segments])
    body = BodySettings(body_type="ROPE", damping=8.0, bend_compliance=LIMP)
    (track,) = simulated([(hung, body)], frames(1.5, 24), SceneSettings(substeps=3))
    sag = -track[-1, :, 2].min()
    # What swinging is left after 1.5 s.
    assert sag == pytest.approx(discrete_sag(length, segments), rel=5e-4)
    assert sag == pytest.approx(catenary, rel=5e-3)
    np.testing.assert_allclose(lengths(track, hung.edges) * segments / length, 1.0, atol=1e-6)


@pytest.mark.parametrize(
    ("degrees", "ratio", "substeps"),
    [
        (30, 1.017409, 5),
        (60, 1.073182, 5),
        (90, 1.180341, 5),
        (120, 1.372881, 5),
        (60, 1.073182, 20),
    ],
)
def test_pendulum(degrees: int, ratio: float, substeps: int) -> None:
    """A pendulum's period grows with the angle as the elliptic integral says."""
    angle = np.radians(degrees)
    pendulum = pinned(rope(line(1, (np.sin(angle), 0.0, -np.cos(angle)))), [0])
    (track,) = simulated(
        [(pendulum, BodySettings(body_type="ROPE", damping=0.0))],
        frames(2.2, 24),
        SceneSettings(substeps=substeps),
    )
    period = 2 * np.diff(turns(track[:, 1, 0], 1 / 24))[0]
    assert period == pytest.approx(ratio * 2 * np.pi * np.sqrt(1.0 / G), rel=5e-3)
    np.testing.assert_allclose(np.linalg.norm(track[:, 1], axis=1), 1.0, atol=1e-7)


@pytest.mark.parametrize("iterations", [1, 5])
@pytest.mark.parametrize("substeps", [5, 10, 40])
def test_spring_oscillates_at_its_frequency(iterations: int, substeps: int) -> None:
    """A mass of 1 kg on a spring of 1 mm/N swings with T = 2π √(α m), and goes on swinging."""
    spring = thrown(
        pinned(rope(line(1, (0.0, 0.0, -1.0))), [0]), [(0.0, 0.0, 0.0), (0.0, 0.0, -1.0)]
    )
    # The rope's 2 kg are shared by both its ends.
    body = BodySettings(body_type="ROPE", mass=2.0, damping=0.0, stretch_compliance=1e-3)
    # Each step of 24 fps × substeps as a frame, to see where the mass is in between.
    (track,) = simulated(
        [(spring, body)],
        frames(1.0, 24 * substeps),
        SceneSettings(substeps=1, iterations=iterations),
        gravity=WEIGHTLESS,
    )
    moved = track[1:, 1, 2] + 1.0
    crossings = turns(moved, 1 / 24 / substeps)
    assert 2 * np.diff(crossings).mean() == pytest.approx(0.198692, rel=5e-3)
    swings = np.abs(np.array_split(moved, 5)).max(axis=1)
    assert swings[0] == pytest.approx(np.sqrt(1e-3), rel=0.02)
    assert swings[-1] == pytest.approx(swings[0], rel=0.05 if substeps >= 10 else 0.3)


@pytest.mark.parametrize("segments", [10, 1000])
def test_heavy_tip_does_not_stretch_a_rope(segments: int) -> None:
    """With a hundred times its own weight at the tip, a swinging rope stretches under 0.01 %."""
    hung = pinned(rope(line(segments, (1.0, 0.0, 0.0))), [0])
    dt = 1 / 480
    model, state = built_state((hung, BodySettings(body_type="ROPE")), dt=dt)
    inverse_masses = model.inverse_masses.copy()
    inverse_masses[-1] = 1.0 / (100.0 * BodySettings().mass)
    model = replace(model, inverse_masses=inverse_masses)
    for _ in range(100):
        advance([(model, state)], [hung.positions], dt=dt)
        assert np.abs(strains(hung, state.positions.T)).max() < 1e-4
    # From the horizontal a pendulum falls ½ g t² (1 − g² t⁴/40 …), a tenth less here at most.
    fall = G / 2 * (100 * dt) ** 2
    assert 0.9 * fall < -state.positions[2, -1] < fall


def test_static_sag_is_steady_under_random_steps() -> None:
    """A spring at rest stays at rest while steps vary by half: compliance sees gravity's own h²."""
    sag = 0.01 * 0.5 * G
    hung = pinned(rope(line(1, (0.0, 0.0, -1.0))), [0])
    body = BodySettings(body_type="ROPE", mass=1.0, damping=10.0, stretch_compliance=0.01)
    varied = np.random.default_rng(1).uniform(0.5, 1.5, 100) / 24
    (track,) = simulated(
        [(hung, body)], np.concatenate([frames(3.0, 24), varied]), SceneSettings(substeps=3)
    )
    np.testing.assert_allclose(-track[-100:, 1, 2] - 1.0, sag, rtol=1e-6)


@pytest.mark.parametrize(
    "compliance",
    [
        0.0,
        1e-3,
        10.0,
    ],
)
def test_rope_keeps_its_rest_shape(compliance: float) -> None:
    """A bent rope that nothing acts on stays as it is."""
    bent = rope([(0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 1, 0.5), (2, 1, -1), (2, 0.8, 0.1)])
    body = BodySettings(body_type="ROPE", bend_compliance=compliance)
    (track,) = simulated([(bent, body)], frames(0.5, 24), SceneSettings(), gravity=WEIGHTLESS)
    np.testing.assert_allclose(track[-1], bent.positions, rtol=0, atol=1e-9)


def test_rope_dropped_on_its_end_stays_down() -> None:
    """A rope gains no height from the ground."""
    tilted = np.array([0.1, -0.05, 1.0]) / np.linalg.norm([0.1, -0.05, 1.0])
    places = np.linspace(0.0, 1.0, 41)[:, None] * tilted + [0.0, 0.0, 0.3]
    body = (rope(places), BodySettings(body_type="ROPE"))
    (path,) = simulated([body], np.full(72, 1 / 24), ground=floor())
    assert path[..., 2].max() <= places[:, 2].max() + 1e-9


@pytest.mark.parametrize("links", [2, 10, 200])
@pytest.mark.parametrize("pulled", [1e-5, 0.01, 1.0])
def test_a_rope_pulled_longer_than_it_is_hangs_still(links: int, pulled: float) -> None:
    """Between two pins it is evenly as long as it has to be, and its own length again after that.

    Its system is singular then: rounding threw it about by up to half a metre. It sags by no more
    than a rope that is a millionth too long, √(3/8 · 1e-6) of its length.
    """
    mesh = pinned(rope(line(links, (1.0, 0.0, 0.0))), [0, links])

    def targets(time: float) -> list[Floats]:
        moved = mesh.positions.copy()
        moved[links, 0] += pulled * min(time / 0.25, 1.0) if time < 1.0 else -0.1
        return [moved]

    body = BodySettings(body_type="ROPE")
    (track,) = simulated([(mesh, body)], frames(1.5, 24), targets=targets)
    taut = track[16:24]
    np.testing.assert_allclose(strains(mesh, taut), pulled, rtol=1e-3, atol=2e-6)
    assert np.abs(np.diff(taut, axis=0)).max() * 24 < 1e-3
    assert -taut[..., 2].min() < 1e-3 * (1.0 + pulled)
    np.testing.assert_allclose(strains(mesh, track[-3:]), 0.0, atol=1e-5)


def test_a_branched_rope_is_drawn_out_from_pin_to_pin() -> None:
    """A branch that is pinned is drawn out with what it hangs on; what nothing holds is not."""
    trunk = [(0.1 * k, 0.0, 0.0) for k in range(11)]
    branch = [(0.5, 0.0, -0.1), (0.5, 0.0, -0.2)]
    ends = [*((k, k + 1) for k in range(10)), (5, 11), (11, 12)]
    mesh = pinned(make_mesh([*trunk, *branch], edges=ends), [0, 12])

    def targets(time: float) -> list[Floats]:
        moved = mesh.positions.copy()
        moved[12] = (0.5 + 0.5 * min(time / 0.5, 1.0), 0.0, 0.0)
        return [moved]

    body = BodySettings(body_type="ROPE", damping=10.0)
    (track,) = simulated([(mesh, body)], frames(2.0, 24), targets=targets)
    drawn = ~np.isin(mesh.edges, [*range(6, 11)]).any(axis=1)
    found = strains(mesh, track[-1])
    np.testing.assert_allclose(found[drawn], 1.0 / 0.7 - 1.0, atol=0.01)
    np.testing.assert_allclose(found[~drawn], 0.0, atol=1e-5)
    assert np.abs(np.diff(track[-6:], axis=0)).max() * 24 < 0.05


def test_a_junction_that_pins_draw_quickly_goes_there_at_once() -> None:
    """It comes to lie where ropes to three pins are stretched least, and overshoots by nothing."""
    trunk = [(0.1 * k, 0.0, 0.0) for k in range(11)]
    edges = [*((k, k + 1) for k in range(10)), (5, 11), (11, 12)]
    mesh = make_mesh([*trunk, (0.5, 0.0, -0.1), (0.5, 0.0, -0.2)], edges=edges)
    mesh = pinned(mesh, [0, 10, 12])

    def targets(time: float) -> list[Floats]:
        moved = mesh.positions.copy()
        moved[12] += np.array([0.5, 1.0, 0.3]) * min(time / 0.5, 1.0)
        return [moved]

    body = BodySettings(body_type="ROPE", damping=5.0)
    (track,) = simulated([(mesh, body)], frames(1.0, 24), targets=targets)
    assert strains(mesh, track).max() < 1.01 * strains(mesh, track[-1]).max()
