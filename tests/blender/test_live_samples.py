"""Every sample file simulates live as it bakes, to the bit, and a bake takes the frames over."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import coordinates, file_content, open_apart, verlet

SAMPLES = sorted(Path(__file__).parents[2].joinpath("sample_blends").glob("*.blend"))
HEAVY = {"dancer", "jumper", "sitter"}
PARAMETERS = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in HEAVY else [])
    for path in SAMPLES
]
FEW, MANY = 3, 60
CARRIED = {"Rope", "Ponytail", "Seal", "Person"}
"""Bodies with carriers, hair on a head that turns, and flesh, which round what a bake shows."""


def bodies() -> list[Any]:
    """The bodies of the scene."""
    return [obj for obj in bpy.context.scene.objects if obj.verlet.enabled]


def _places(data: Any) -> Any:
    """Coordinates of the vertices of a mesh, or of the points of hair."""
    if isinstance(data, bpy.types.Mesh):
        return coordinates(data.vertices)
    points = np.empty(3 * len(data.points), np.float32)
    data.attributes["position"].data.foreach_get("vector", points)
    return points.reshape(-1, 3)


def looks(end: int) -> list[dict[str, Any]]:
    """Coordinates of all evaluated bodies at each frame, the timeline going through all of them."""
    found = []
    for frame in range(1, end + 1):
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        meshes = {obj.name: obj.evaluated_get(depsgraph).data for obj in bodies()}
        found.append({name: _places(mesh) for name, mesh in meshes.items()})
    return found


def opened(path: Path, end: int) -> Any:
    """The scene of a sample, so many frames long."""
    open_apart(path)
    scene: Any = bpy.context.scene
    scene.use_preview_range = False
    scene.frame_start, scene.frame_end = 1, end
    scene.frame_set(1)
    return scene


def live_as_baked(path: Path, end: int, control: ModuleType) -> list[dict[str, Any]]:
    """Plays a sample live, and then bakes it; returns what the bake shows."""
    scene = opened(path, end)
    scene.verlet.use_live = True
    lively = looks(end)
    assert control.session_of(scene).last == end
    verlet.reset()
    verlet.bake()
    stored = looks(end)
    for frame, now in enumerate(lively):
        for name, found in now.items():
            room = 1e-5 if name in CARRIED else 0.0
            assert np.allclose(found, stored[frame][name], rtol=0.0, atol=room), (name, frame)
    return stored


@pytest.fixture
def control(addon: Callable[[str], ModuleType]) -> ModuleType:
    """The control of live simulations."""
    return addon("blender.live.control")


@pytest.mark.parametrize("end", [FEW, pytest.param(MANY, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("path", PARAMETERS)
def test_a_sample_is_live_as_it_bakes(
    path: Path,
    end: int,
    control: ModuleType,
    addon: Callable[[str], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bake after live simulation to the end simulates no frame, and shows the same bits."""
    stored = live_as_baked(path, end, control)
    if any(obj.type == "CURVES" for obj in bodies()):
        return  # a bake to a cache, the one that hair has, simulates anew
    verlet.clear_bake()
    scene: Any = bpy.context.scene
    scene.frame_set(1)
    scene.verlet.use_live = True
    simulation, advanced = addon("core.simulation").Simulation, []
    advance = simulation.advance

    def counted(of: Any, sample: Any) -> Any:
        advanced.append(sample.frame)
        return advance(of, sample)

    monkeypatch.setattr(simulation, "advance", counted)
    looks(end)
    assert advanced
    advanced.clear()
    verlet.bake()
    assert not advanced
    for now, then in zip(looks(end), stored, strict=True):
        assert all(np.array_equal(now[name], then[name]) for name in then)


@pytest.mark.nightly
@pytest.mark.parametrize("path", PARAMETERS)
def test_live_simulation_leaves_a_sample_as_it_was(path: Path) -> None:
    scene = opened(path, MANY)
    before = file_content()
    scene.verlet.use_live = True
    looks(MANY)
    verlet.reset()
    scene.frame_set(1)
    assert file_content() == before


def test_there_are_all_samples() -> None:
    assert len(SAMPLES) == 26
