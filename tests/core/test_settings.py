"""Settings refuse what means nothing, and say what to do instead."""

from dataclasses import fields
from math import inf, nan
from typing import Any, get_args

import pytest

from verlet_addon.core.errors import SettingsError, VerletError
from verlet_addon.core.field import Kind
from verlet_addon.core.settings import BodySettings, SceneSettings, weight_name

BAD_BODY: dict[str, list[Any]] = {
    "body_type": ["", "cloth", "LIQUID", None],
    "mass": [0.0, -1.0, nan, inf],
    "density": [0.0, -0.1, nan, inf],
    "stretch_compliance": [-1e-9, nan, inf],
    "weft_compliance": [-1.0, nan, inf],
    "yield_strain": [-1.0, nan, inf],
    "yield_curvature": [-1.0, nan, inf],
    "hardening": [-0.1, 1.1, nan, inf],
    "shear_compliance": [-1.0, nan, inf],
    "bend_compliance": [-1.0, nan, inf],
    "twist_ratio": [0.0, -1.0, nan, inf],
    "strand_friction": [-1.0, nan, inf],
    "strand_pressure": [-1.0, nan, inf],
    "strand_spacing": [0.0, -0.01, nan, inf],
    "angle_limit": [-0.1, 3.2, nan, inf],
    "sewing_force": [-0.1, nan, inf],
    "sewing_weight": [-0.1, 1.1, nan, inf],
    "maximum_distance": [-0.1, nan, inf],
    "inertia_share": [-0.1, 1.1, nan, inf],
    "tear_strength": [-1.0, nan, inf],
    "shrinking": [1.0, -11.0, nan, inf],
    "wave_speed": [-1.0, nan, inf],
    "pressure": [-1.0, nan, inf],
    "stiffness": [0.0, -1.0, nan, inf],
    "resolution": [0, -1, 101, nan],
    "flesh_depth": [0.0, -0.1, nan, inf],
    "flesh_resolution": [0, -1, 21, nan],
    "flesh_damping": [-0.1, 2.1, nan, inf],
    "keep_volume": [-0.1, 1.1, nan, inf],
    "muscle_length": [0.0, 0.2, 2.1, nan, inf],
    "damping": [-0.1, nan, inf],
    "inner_damping": [-0.1, nan, inf],
    "thickness": [-1e-3, nan, inf],
    "friction": [-0.5, nan, inf],
    "restitution": [-0.01, 1.01, nan, inf],
    "gravity": [nan, inf, -inf],
    "wind": [-0.1, nan, inf],
    **{weight_name(kind): [-0.1, nan, inf] for kind in get_args(Kind)},
}
BAD_SCENE: dict[str, list[Any]] = {
    "substeps": [0, -3, 10_001, nan],
    "iterations": [0, -1, 10_001, nan],
    "tolerance": [-1e-3, nan, inf],
    "integrator": ["", "EULER", "tcv", None],
    "time_scale": [-0.1, nan, inf],
    "ground_height": [nan, inf, -inf],
    "ground_friction": [-0.1, nan, inf],
    "ground_restitution": [-0.1, 1.1, nan, inf],
}
CASES: list[tuple[type, str, Any]] = [
    (kind, name, value)
    for kind, table in ((BodySettings, BAD_BODY), (SceneSettings, BAD_SCENE))
    for name, values in table.items()
    for value in values
]


@pytest.mark.parametrize(("kind", "name", "value"), CASES)
def test_values_without_meaning_are_refused(kind: type, name: str, value: Any) -> None:
    """One sentence names the setting, the value, and what it may be."""
    with pytest.raises(SettingsError) as error:
        kind(**{name: value})
    text = str(error.value)
    assert text.startswith(f"{name} is ")
    assert "; set it to " in text or "; choose one of " in text
    assert "\n" not in text


def test_every_setting_is_either_guarded_or_a_switch() -> None:
    """No number may be set to nonsense: each has bad values in the tables above."""
    for kind, table in ((BodySettings, BAD_BODY), (SceneSettings, BAD_SCENE)):
        guarded = {field.name for field in fields(kind) if not isinstance(field.default, bool)}
        assert guarded == set(table)


@pytest.mark.parametrize(
    "edge",
    [
        {"stretch_compliance": 0.0, "shear_compliance": 0.0, "bend_compliance": 0.0},
        {"damping": 0.0, "thickness": 0.0, "friction": 0.0},
        {"restitution": 1.0, "mass": 1e-9, "density": 1e-9},
    ],
)
def test_ends_of_ranges_are_allowed(edge: dict[str, float]) -> None:
    """The least and greatest values themselves are good."""
    body = BodySettings(**edge)  # type: ignore[arg-type]
    assert all(getattr(body, name) == value for name, value in edge.items())


def test_whole_numbers_serve_for_others_and_blenders_ends_of_ranges_too() -> None:
    """C reads 1000 otherwise than 1000.0; Blender knows 1e-6 as a hair less."""
    body = BodySettings(stiffness=1000, mass=2, resolution=8)
    assert [type(each) for each in (body.stiffness, body.mass, body.resolution)] == [
        float,
        float,
        int,
    ]
    assert BodySettings(stiffness=9.99999997e-07).stiffness > 0.0


def test_errors_are_of_one_family() -> None:
    """Whoever catches VerletError catches a bad setting."""
    with pytest.raises(VerletError):
        SceneSettings(substeps=0)
