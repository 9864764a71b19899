"""Meshes that cannot be simulated are refused with one sentence; the others never break."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    GRAVITY,
    floor,
    frames,
    make_mesh,
    moved,
    pinned,
    samples,
    sheet,
    simulated,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.errors import DivergenceError, MeshError, SettingsError
from verlet_addon.core.mesh import MeshData, check_mesh
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate


def with_position(value: float) -> MeshData:
    """A sheet with one coordinate set."""
    mesh = sheet(2)
    mesh.positions[4, 1] = value
    return mesh


def with_infinite_speed() -> MeshData:
    """A sheet, one vertex of which is infinitely fast."""
    mesh = sheet(2)
    mesh.velocities[3, 0] = np.inf
    return mesh


def with_zero_edge() -> MeshData:
    """A sheet, two neighbours of which coincide."""
    mesh = sheet(2)
    mesh.positions[1] = mesh.positions[0]
    return mesh


HOSTILE: dict[str, tuple[Callable[[], MeshData], str, str]] = {
    "no vertices": (lambda: make_mesh([]), "no vertices", "add some"),
    "no edges": (lambda: make_mesh(np.eye(3)), "no edges", "add edges"),
    "not a number": (lambda: with_position(np.nan), "vertex 4 at (0.5, nan, 0)", "move or delete"),
    "infinite": (lambda: with_position(np.inf), "vertex 4 at (0.5, inf, 0)", "move or delete"),
    "far away": (lambda: with_position(1e30), "vertex 4 at (0.5, 1e+30, 0)", "move or delete"),
    "infinitely fast": (with_infinite_speed, "infinite speed", "correct its animation"),
    "zero-length edge": (with_zero_edge, "edges of length 0 (1 of them)", "Merge by Distance"),
    "scale 0": (lambda: sheet(2, size=0.0), "edges of length 0 (12 of them)", "Merge by Distance"),
    "duplicate faces": (
        lambda: make_mesh(np.eye(3), faces=[(0, 1, 2), (1, 2, 0), (2, 1, 0)]),
        "duplicate faces (2 of them)",
        "delete them",
    ),
    "all pinned": (lambda: pinned(sheet(2), np.arange(9)), "every vertex pinned", "lower some"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_mesh_is_refused(case: str) -> None:
    """One sentence names the object, what is wrong with it, and the remedy."""
    make, problem, remedy = HOSTILE[case]
    mesh = replace(make(), name="Flag.001")
    with pytest.raises(MeshError) as error:
        check_mesh(mesh)
    text = str(error.value)
    assert text.startswith("'Flag.001' ")
    assert problem in text
    assert remedy in text.split(problem)[1]
    assert "\n" not in text


def test_refused_before_the_first_frame() -> None:
    """The simulation checks every body before it yields anything."""
    meshes = [sheet(2), replace(make_mesh(np.eye(3)), name="Loose")]
    run = simulate(meshes, [BodySettings()] * 2, SceneSettings(), samples(meshes, frames(0.1, 24)))
    with pytest.raises(MeshError, match="'Loose'"):
        next(run)


ODD: dict[str, MeshData] = {
    "loose vertex": make_mesh([*np.eye(3), (5, 5, 5)], faces=[(0, 1, 2)]),
    "loose edge": make_mesh([*np.eye(3), (2, 0, 0)], faces=[(0, 1, 2)], edges=[(0, 3)]),
    "face without area": make_mesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], faces=[(0, 1, 2)]),
    "three faces on an edge": make_mesh(
        [(0, 0, 0), (0, 1, 0), (1, 0, 0), (-1, 0, 0.5), (0, 0, -1)],
        faces=[(0, 1, 2), (1, 0, 3), (0, 1, 4)],
    ),
    "faces that disagree on the side": make_mesh(
        [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], faces=[(0, 1, 2), (0, 3, 2)]
    ),
    "bow tie": make_mesh([(0, 0, 0), (1, 1, 0), (1, 0, 0), (0, 1, 0)], faces=[(0, 1, 2, 3)]),
    "ring of edges": make_mesh(
        [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], edges=[(0, 1), (1, 2), (2, 3), (3, 0)]
    ),
    "star of edges": make_mesh(
        [(0, 0, 0), *np.eye(3), *-np.eye(3)], edges=[(0, k) for k in range(1, 7)]
    ),
    "tiny beside huge": make_mesh(
        [(0, 0, 0), (1e-6, 0, 0), (100, 100, 0), (0, 100, 0)], faces=[(0, 1, 2, 3)]
    ),
    "folded right back": make_mesh(
        [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1e-3, 0)], faces=[(0, 1, 2), (1, 0, 3)]
    ),
}


@pytest.mark.parametrize(
    "case",
    ODD,
)
@pytest.mark.parametrize("pins", [[], [0]])
def test_odd_mesh_is_simulated(case: str, pins: list[int]) -> None:
    """What is merely odd falls onto the ground without a warning, an error or a NaN."""
    mesh = pinned(ODD[case], np.array(pins, dtype=np.int64))
    (track,) = simulated(
        [(mesh, BodySettings())], frames(0.5, 24), SceneSettings(substeps=5), ground=floor(-1.5)
    )
    assert np.isfinite(track).all()
    assert (track[-1] < mesh.positions.max(axis=0) + 1.0).all()


def test_divergence_names_object_and_frame() -> None:
    """A pin that jumps tears the body away: the error says whose, when and what to do."""
    calm = moved(sheet(2), np.eye(3), (0.0, 10.0, 0.0))
    torn = replace(pinned(sheet(2), [0]), name="Flag.001")

    def targets(time: float) -> list[Floats]:
        jump = np.array([1e4 if time > 0.11 else 0.0, 0.0, 0.0])
        return [calm.positions, torn.positions + jump]

    meshes = [replace(calm, name="Calm"), torn]
    run = simulate(
        meshes,
        [BodySettings()] * 2,
        SceneSettings(),
        samples(meshes, frames(0.2, 25), gravity=GRAVITY, targets=targets),
    )
    came = []
    with pytest.raises(DivergenceError) as error:
        came += [frame.frame for frame in run]
    text = str(error.value)
    assert text.startswith("'Flag.001' became unstable at frame 4, ")
    assert "raise the substeps" in text


def test_frames_before_a_divergence_stand() -> None:
    """Whatever was simulated before the error has been handed out, unspoilt."""
    torn = pinned(sheet(2), [0])

    def targets(time: float) -> list[Floats]:
        return [torn.positions + np.array([1e4 if time > 0.11 else 0.0, 0.0, 0.0])]

    run = simulate(
        [torn], [BodySettings()], SceneSettings(), samples([torn], frames(0.2, 25), targets=targets)
    )
    came = [next(run) for _ in range(3)]
    with pytest.raises(DivergenceError):
        next(run)
    assert [frame.frame for frame in came] == [1, 2, 3]
    assert all(np.isfinite(frame.positions[0]).all() for frame in came)


def test_gravity_that_is_no_number_is_named() -> None:
    """Gravity of NaN ends in a sentence, with the frame, and not in a traceback."""
    body = (sheet(2), BodySettings())
    with pytest.raises(SettingsError, match=r"gravity is \[0.0, 0.0, nan\] at frame 1"):
        simulated([body], [1 / 24], gravity=np.array([0.0, 0.0, np.nan]))
