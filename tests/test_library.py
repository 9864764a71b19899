"""The core as a library: what its pages show runs without Blender."""

import os
import re
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from verlet_addon.core.bindings import bind
from verlet_addon.core.errors import MeshError
from verlet_addon.core.inputs import mesh_from_faces, sheet, sphere
from verlet_addon.core.scene import Frame, Sample, SolverWork

ROOT = Path(__file__).parents[1]
WITHOUT_BLENDER = "import sys\nsys.modules['bpy'] = sys.modules['mathutils'] = None\n"


def examples(path: Path) -> list[str]:
    """The pieces of Python in a text."""
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)


PAGE = ROOT / "docs" / "reference" / "library.md"
LIBRARY = [*examples(PAGE), *examples(ROOT / "release" / "library" / "README.md")]


def run(piece: str, folder: Path) -> None:
    """Runs a piece of Python where there is no Blender; warnings are errors."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", WITHOUT_BLENDER + piece]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("piece", LIBRARY, ids=range(len(LIBRARY)))
def test_each_example_of_the_library_runs(tmp_path: Path, piece: str) -> None:
    run(piece, tmp_path)


def test_examples_use_documented_names_alone() -> None:
    """And all documented names exist."""
    table = PAGE.read_text(encoding="utf-8").partition("## Names")[2]
    told = set(re.findall(r"`(\w+\.\w+)`", table))
    for piece in LIBRARY:
        for module, names in re.findall(
            r"^from verlet_addon\.core\.(\w+) import (.+)$", piece, re.M
        ):
            assert {f"{module}.{name}" for name in names.split(", ")} <= told
    of_samples = {name.partition(".")[2] for name in told if name.startswith("Sample.")}
    assert of_samples <= {each.name for each in fields(Sample)}
    assert len(of_samples) >= 8
    of_frames = {name.partition(".")[2] for name in told if name.startswith("Frame.")}
    assert {"work", "contact_searches"} <= of_frames <= {each.name for each in fields(Frame)}
    (work,) = re.findall(r"^\| `scene\.SolverWork`.*$", table, re.M)
    assert {each.name for each in fields(SolverWork)} <= set(re.findall(r"`(\w+)`", work))
    core = {name for name in told if not name[0].isupper()}
    for module, _, name in (each.partition(".") for each in core):
        assert hasattr(import_module(f"verlet_addon.core.{module}"), name)
    assert len(core) >= 12


def test_indices_of_no_vertex_are_named() -> None:
    points = np.zeros((3, 3))
    for what, arguments in (
        ("a face", {"faces": [(0, 1, 3)]}),
        ("an edge", {"edges": [(0, -1)]}),
        ("a pin", {"pinned": [7]}),
    ):
        with pytest.raises(MeshError, match=f"'Flag' has {what} at vertex"):
            mesh_from_faces(points, name="Flag", **arguments)


def test_a_sheet_is_a_grid_of_squares() -> None:
    mesh = sheet(3, 2, width=6.0, height=1.0)
    assert mesh.positions.shape == (12, 3)
    assert np.allclose(mesh.positions.mean(axis=0), [0.0, 0.0, 1.0])
    lengths = np.linalg.norm(np.diff(mesh.positions[mesh.edges], axis=1)[:, 0], axis=1)
    assert np.allclose(lengths, 2.0)
    assert len(mesh.edges) == 3 * 3 + 2 * 4
    assert len(mesh.face_starts) == 3 * 2 + 1


def test_a_sphere_is_closed_round_and_faces_outwards() -> None:
    ball = sphere(5, radius=2.0, center=(1.0, 2.0, 3.0))
    arms = ball.positions - [1.0, 2.0, 3.0]
    assert np.allclose(np.linalg.norm(arms, axis=1), 2.0)
    a, b, c = arms[ball.triangles.T]
    assert (np.linalg.det(np.stack([a, b, c], axis=1)) > 0.0).all()
    sides = np.concatenate([ball.triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
    assert len(np.unique(sides, axis=0)) == len(sides)
    assert sorted(map(tuple, sides)) == sorted(map(tuple, sides[:, ::-1]))
    with pytest.raises(MeshError, match="'Dot' has 1 rings"):
        sphere(1, name="Dot")


def test_bound_points_turn_with_the_mesh() -> None:
    """As rigidly as it turns, wherever they are."""
    ball = sphere(5)
    points = np.random.default_rng(1).normal(size=(40, 3))
    binding, quarter = bind(points, ball), np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert np.allclose(binding.carry(ball.positions @ quarter.T + 1.0), points @ quarter.T + 1.0)
    with pytest.raises(MeshError, match="'Line' has no face"):
        bind(points, mesh_from_faces([(0, 0, 0), (1, 0, 0)], edges=[(0, 1)], name="Line"))
