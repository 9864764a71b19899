"""Force fields and the air they move: laws of nature, and promises about extremes."""

from dataclasses import replace
from math import pi, sqrt
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    GRAVITY,
    UP,
    WEIGHTLESS,
    block,
    field,
    floor,
    frames,
    pinned,
    rope,
    sheet,
    simulated,
    wind,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.errors import DivergenceError, SettingsError
from verlet_addon.core.field import Field, Kind
from verlet_addon.core.forces.fields import gust_factor
from verlet_addon.core.forces.kernels import AIR_DENSITY, DRAG_COEFFICIENT
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings

ALONG = np.array([1.0, 0.0, 0.0])
PRESSURE = AIR_DENSITY * DRAG_COEFFICIENT / 2
"""Times area and speed squared: the force on a plate [kg/m³]."""
LOOSE = BodySettings(damping=0.0)
PIN_RATE = 20.0
"""Angular frequency of a pin of weight ½ [rad/s]."""


def load(mesh: MeshData, body: BodySettings, fields: list[Field], substeps: int = 10) -> Floats:
    """(3,) the force that a body feels while soft pins hold it, by how far they give way [N]."""
    held = pinned(mesh, range(len(mesh.positions)), weight=0.5)
    track = simulated(
        [(held, replace(body, damping=40.0))],
        frames(1.5, 24),
        SceneSettings(substeps=substeps),
        gravity=WEIGHTLESS,
        fields=fields,
    )[0]
    # Jelly is solved to a thousandth in each step, and shivers by a ten thousandth for good.
    assert np.abs(track[-1] - track[-2]).max() < 2e-4 * np.abs(track - track[0]).max() + 1e-9
    return np.asarray((track[-1] - track[0]).mean(axis=0) * body.mass * PIN_RATE**2)


@pytest.mark.parametrize("speed", [1.0, 5.0, 12.0])
@pytest.mark.parametrize("kind", ["quads", "triangles"])
def test_wind_presses_on_a_plate_by_the_square_of_its_speed(speed: float, kind: str) -> None:
    """½ ρ c A v², within 3 %: soft pins turn it a little at its edges."""
    plate = sheet(6, triangles=kind == "triangles")
    force = load(plate, LOOSE, [wind(speed)])
    np.testing.assert_allclose(force, PRESSURE * speed**2 * UP, rtol=0.03, atol=1e-3)


@pytest.mark.slow
def test_the_load_does_not_depend_on_the_mesh_or_the_substeps() -> None:
    """Area counts, not how many faces it has."""
    wanted = load(sheet(2), LOOSE, [wind(5.0)])
    for plate, substeps in ((sheet(12), 10), (sheet(2), 4), (sheet(2), 40)):
        np.testing.assert_allclose(
            load(plate, LOOSE, [wind(5.0)], substeps), wanted, rtol=0.01, atol=1e-3
        )


def test_a_plate_across_and_along_the_stream_and_between() -> None:
    """Along the stream it feels nothing, aslant the sine's share, and that along its normal."""
    axes = {angle: np.array([np.cos(angle), 0.0, np.sin(angle)]) for angle in (0.0, pi / 6)}
    assert np.abs(load(sheet(4), LOOSE, [wind(5.0, axes[0.0])])).max() < 1e-6
    aslant = load(sheet(4), LOOSE, [wind(5.0, axes[pi / 6])])
    np.testing.assert_allclose(aslant, PRESSURE * 25.0 / 2 * UP, rtol=0.03, atol=0.02)


def test_wind_blows_alike_on_both_sides_of_a_face() -> None:
    below, above = (load(sheet(4), LOOSE, [wind(5.0, side * UP)]) for side in (1.0, -1.0))
    np.testing.assert_allclose(below, -above, rtol=1e-6, atol=1e-9)


def test_a_closed_body_has_one_side_in_the_air() -> None:
    """A cube, two faces of which lie across the stream, feels what one plate does."""
    body = replace(LOOSE, body_type="SOFT", mass=50.0, stiffness=1e5, resolution=2)
    force = load(block((2.0, 2.0, 2.0), (4, 4, 4)), body, [wind(5.0)])
    np.testing.assert_allclose(force, PRESSURE * 4.0 * 25.0 * UP, rtol=0.03, atol=0.05)


@pytest.mark.parametrize("segments", [5, 40])
def test_wind_pulls_ropes_by_their_length_and_thickness(segments: int) -> None:
    """½ ρ c d L v² across a rope, nothing along it."""
    body = replace(LOOSE, body_type="ROPE", thickness=0.02, mass=0.2)
    straight = rope([(2.0 * k / segments, 0.0, 0.0) for k in range(segments + 1)])
    force = load(straight, body, [wind(8.0)])
    np.testing.assert_allclose(force, PRESSURE * 0.04 * 2.0 * 64.0 * UP, rtol=0.03, atol=1e-3)
    assert np.abs(load(straight, body, [wind(8.0, ALONG)])).max() < 1e-6


@pytest.mark.parametrize("substeps", [3, 10, 40])
def test_a_falling_sheet_comes_to_its_terminal_velocity(substeps: int) -> None:
    """Air that stands still, but is there, carries the weight at v = √(2 m g / ρ c A)."""
    still = wind(0.0)
    scene = SceneSettings(substeps=substeps, use_ground=False)
    track = simulated([(sheet(4), LOOSE)], frames(2.0, 24), scene, fields=[still])[0]
    speed = (track[-2] - track[-1])[:, 2] * 24
    wanted = sqrt(LOOSE.mass * -GRAVITY[2] / PRESSURE)
    np.testing.assert_allclose(speed, wanted, rtol=0.01)


def test_in_wind_a_loose_sheet_comes_to_fly_with_it() -> None:
    track = simulated(
        [(sheet(2), LOOSE)],
        frames(10.0, 24),
        SceneSettings(substeps=3),
        gravity=WEIGHTLESS,
        fields=[wind(5.0)],
    )[0]
    speed = (track[-1] - track[-2]) * 24
    # v' = κ (w − v)² ends as 1/(κ t) below the wind's speed, κ being the pressure by mass.
    slip = 1.0 / (PRESSURE / LOOSE.mass * 10.0 + 1.0 / 5.0)
    np.testing.assert_allclose(speed[:, 2], 5.0 - slip, rtol=0.01)


FORCES = [
    field("FORCE", 3.0, flow=0.5),
    field("VORTEX", 2.0),
    field("HARMONIC", 5.0, size=0.5, damping=0.1),
    field("TURBULENCE", 4.0, size=0.7),
    field("CHARGE", 2.0),
    replace(field("FORCE", 3.0, power=1.0, farthest=4.0), shape="LINE", falloff="TUBE"),
]


@pytest.mark.parametrize("force", FORCES, ids=lambda force: force.kind)
def test_forces_accelerate_all_masses_alike(force: Field) -> None:
    """A light body follows the same path as a heavy one, as in gravity."""
    line = rope([(1.0, 0.2, 0.5), (1.2, 0.2, 0.5)])
    light, heavy = (
        simulated([(line, replace(LOOSE, mass=mass))], frames(0.5, 24), fields=[force])[0]
        for mass in (0.01, 10.0)
    )
    np.testing.assert_allclose(light, heavy, rtol=0, atol=1e-9)


@pytest.mark.parametrize("substeps", [3, 20])
def test_flow_carries_to_the_speed_of_the_field(substeps: int) -> None:
    """By v' = a − f v: to 2 % of the speed (1 − e^(−f t)) a / f at any substeps."""
    stream = field("WIND", 6.0, wind_factor=0.0, flow=2.0)
    track = simulated(
        [(sheet(2), LOOSE)],
        frames(3.0, 24),
        SceneSettings(substeps=substeps),
        gravity=WEIGHTLESS,
        fields=[stream],
    )[0]
    speeds = (track[1:, 0, 2] - track[:-1, 0, 2]) * 24
    middles = (np.arange(72) + 0.5) / 24
    np.testing.assert_allclose(speeds, 3.0 * (1.0 - np.exp(-2.0 * middles)), atol=0.06)


def test_a_share_of_zero_is_no_field_bit_for_bit() -> None:
    """So are no fields at all, and a field that does not reach the body."""
    hung = pinned(sheet(6), [0, 6])
    fields = [wind(10.0), *FORCES]
    plain = simulated([(hung, BodySettings())], frames(0.5, 24))[0]
    without = simulated([(hung, BodySettings(wind=0.0))], frames(0.5, 24), fields=fields)[0]
    np.testing.assert_array_equal(without, plain)
    far = simulated(
        [(hung, BodySettings())],
        frames(0.5, 24),
        fields=[replace(wind(10.0), origin=np.full(3, 50.0), farthest=20.0)],
    )[0]
    np.testing.assert_allclose(far, plain, rtol=0, atol=1e-12)


def test_half_the_share_is_half_the_strength() -> None:
    """For forces, exactly; for wind it is half its speed, and so a quarter of its load."""
    whole, half = (
        simulated(
            [(sheet(2), replace(LOOSE, wind=share))],
            frames(0.25, 24),
            gravity=WEIGHTLESS,
            fields=[replace(wind(4.0), wind_factor=0.0, flow=0.0)],
        )[0]
        for share in (1.0, 0.5)
    )
    np.testing.assert_allclose((whole - whole[0]) / 2, half - half[0], rtol=0, atol=1e-12)
    quarter = load(sheet(4), replace(LOOSE, wind=0.5), [wind(8.0)])
    np.testing.assert_allclose(quarter, load(sheet(4), LOOSE, [wind(4.0)]), rtol=1e-4, atol=1e-9)


def test_strength_may_change_between_frames() -> None:
    """A force that grows evenly pushes x = a t³/6 t, whatever the frame rate."""
    for fps in (12, 60):
        track = simulated(
            [(sheet(2), LOOSE)],
            frames(1.0, fps),
            SceneSettings(substeps=10),
            gravity=WEIGHTLESS,
            fields=lambda time: [field("WIND", 6.0 * time, wind_factor=0.0, flow=0.0)],
        )[0]
        np.testing.assert_allclose(track[-1, :, 2], 1.0, rtol=0.002)


def test_a_field_that_turns_blows_where_it_points() -> None:
    """Half way from up to along, it blows between them."""

    def turning(time: float) -> list[Field]:
        angle = time * pi / 2
        axis = np.array([np.sin(angle), 0.0, np.cos(angle)])
        return [replace(wind(6.0, axis), wind_factor=0.0, flow=0.0)]

    track = simulated([(sheet(2), LOOSE)], frames(1.0, 12), gravity=WEIGHTLESS, fields=turning)[0]
    # The integral of the integral of 6 cos(π t / 2), and of 6 sin(π t / 2).
    wanted = np.array([6.0 * 2 / pi * (1 - 2 / pi), 0.0, 6.0 * 4 / pi**2])
    np.testing.assert_allclose((track[-1] - track[0])[0], wanted, rtol=0.01, atol=1e-9)


@pytest.mark.parametrize("speed", [100.0, 1000.0, 3e38])
@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("hung", ["pinned", "loose"])
def test_storms_end_in_a_taut_flag_or_one_sentence(speed: float, substeps: int, hung: str) -> None:
    """Never in NaN; pytest takes NumPy's warnings for errors."""
    flag = sheet(10)
    flag = pinned(flag, range(0, 121, 11)) if hung == "pinned" else flag
    light = BodySettings(mass=0.1)
    try:
        track = simulated(
            [(flag, light)], frames(1.0, 24), SceneSettings(substeps=substeps), fields=[wind(speed)]
        )[0]
    except DivergenceError as error:
        assert speed > 1000.0
        assert "force field" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(track).all()


@pytest.mark.parametrize("speed", [10.0, 1000.0])
def test_drag_never_turns_a_loose_sheet_round(speed: float) -> None:
    """However light it is and long the steps are, it gets no faster than the air."""
    light = BodySettings(mass=0.01, damping=0.0)
    track = simulated(
        [(sheet(4), light)],
        frames(2.0, 24),
        SceneSettings(substeps=3),
        gravity=WEIGHTLESS,
        fields=[wind(speed)],
    )[0]
    speeds = np.diff(track[:, :, 2], axis=0) * 24
    assert speeds.min() >= 0.0
    assert speeds.max() <= speed * (1.0 + 1e-9)


@pytest.mark.parametrize("strength", [1e6, 3e38, -3e38])
@pytest.mark.parametrize(
    "kind", ["FORCE", "VORTEX", "HARMONIC", "CHARGE", "TURBULENCE", "DRAG", "WIND"]
)
@pytest.mark.parametrize("held", [0, 5])
def test_huge_strengths_are_right_or_one_sentence(kind: Kind, strength: float, held: int) -> None:
    hung = pinned(sheet(4), range(held)) if held else sheet(4)
    try:
        track = simulated(
            [(hung, BodySettings())],
            frames(0.5, 24),
            ground=floor(-1.0),
            fields=[field(kind, strength)],
        )[0]
    except DivergenceError as error:
        assert "force field" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(track).all()


@pytest.mark.parametrize("kind", ["FORCE", "HARMONIC", "CHARGE", "TURBULENCE"])
def test_fields_that_toss_parts_past_each_other_are_one_sentence(kind: Kind) -> None:
    """With Self Collision a step of a few dozen vertices would take seconds, and mean nothing."""
    with pytest.raises(SettingsError, match="push parts of 'Body' past each other"):
        simulated(
            [(sheet(6), BodySettings(use_self_collision=True))],
            frames(0.5, 24),
            fields=[field(kind, 1e6 if kind == "HARMONIC" else -1e6, size=0.3)],
        )


@pytest.mark.parametrize(
    "wrong",
    [
        {"strength": np.nan},
        {"strength": np.inf},
        {"flow": np.nan},
        {"farthest": np.nan},
        {"origin": np.full(3, np.nan)},
    ],
    ids=str,
)
def test_what_is_no_number_is_one_sentence(wrong: dict[str, Any]) -> None:
    """It names the setting, the field, the value and the frame."""
    (name,) = wrong
    with pytest.raises(SettingsError, match=rf"the {name} of .* WIND is .*(nan|inf).* frame 1; "):
        simulated(
            [(sheet(2), BodySettings())], frames(0.1, 24), fields=[replace(wind(1.0), **wrong)]
        )


@pytest.mark.parametrize("size", [1e-30, -1.0, 1e30])
def test_eddies_of_any_size_are_finite(size: float) -> None:
    track = simulated(
        [(sheet(2), BodySettings())],
        frames(0.1, 24),
        fields=[field("TURBULENCE", 5.0, size=size)],
    )[0]
    assert np.isfinite(track).all()


def test_a_field_at_the_very_place_of_a_vertex_does_no_harm() -> None:
    for kind in ("FORCE", "VORTEX", "HARMONIC", "CHARGE"):
        inverse = replace(field(kind, 5.0), inverse_square=True)
        track = simulated([(sheet(4), BodySettings())], frames(0.1, 24), fields=[inverse])[0]
        assert np.isfinite(track).all()


def test_gusts_come_again_with_their_seed() -> None:
    """The same for the same seed and frame, of both signs, 0.17 on average as Blender's."""
    draws = np.array([gust_factor(7, frame) for frame in range(2000)])
    assert draws.tolist() == [gust_factor(7, frame) for frame in range(2000)]
    assert draws.tolist() != [gust_factor(8000, frame) for frame in range(2000)]
    assert abs(draws.mean()) < 0.2
    assert 0.2 < draws.std() < 0.6
    assert np.abs(draws).max() <= 1.0


def test_each_type_of_field_has_its_own_share() -> None:
    """Half of the wind, none of the force, all of the rest; times the share of all fields."""
    fields = [field("FORCE", strength=3.0), field("CHARGE", strength=2.0)]
    mesh = sheet(2)
    moves = []
    for settings in (
        BodySettings(damping=0.0, force_weight=0.0, charge_weight=0.5),
        BodySettings(damping=0.0, wind=0.25, force_weight=0.0, charge_weight=2.0),
    ):
        (track,) = simulated([(mesh, settings)], [1e-3], fields=fields, gravity=WEIGHTLESS)
        moves.append(track[-1] - track[0])
    half = [field("CHARGE", strength=1.0)]
    (track,) = simulated(
        [(mesh, BodySettings(damping=0.0))], [1e-3], fields=half, gravity=WEIGHTLESS
    )
    for moved_by in moves:
        np.testing.assert_allclose(moved_by, track[-1] - track[0], rtol=1e-9, atol=1e-15)
