"""A simulation that is stored, read in another process and gone on with is as if never stopped."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import field, make_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    Body,
    coil,
    cube,
    floor,
    frames,
    gaping_tube,
    net,
    pinned,
    rope,
    samples,
    sheet,
    sphere,
    tube,
    woven,
)
from tests.core.colliders import Moving, ball
from tests.same.bakes import Scene, hashed
from tests.same.families import names, scenes_of
from verlet_addon.core import checkpoint
from verlet_addon.core.checkpoint import read_checkpoint, write_checkpoint
from verlet_addon.core.errors import CheckpointError, VerletError
from verlet_addon.core.mesh import MeshData, Paint
from verlet_addon.core.remark import Remark
from verlet_addon.core.scene import Sample
from verlet_addon.core.settings import BodySettings
from verlet_addon.core.simulation import Simulation, start_simulation

FRAMES, STOP = 8, 4
LONG = pytest.param(60, 30, marks=pytest.mark.slow)
ROOT = Path(__file__).parents[2]

OTHERS = ("blend_files", "trajectories")
"""Families of scenes that are no simulations of the core."""
Stage = tuple[list[Body], list[Moving]]


def lifted(mesh: MeshData, height: float) -> MeshData:
    """The mesh so much higher."""
    return replace(mesh, positions=mesh.positions + np.array([0.0, 0.0, height]))


def stacked(*kinds: Body) -> list[Body]:
    """Bodies half a metre above each other."""
    return [(lifted(mesh, 0.5 * k), settings) for k, (mesh, settings) in enumerate(kinds)]


def rigid_sheet() -> MeshData:
    """A sheet of which one corner is rigid."""
    mesh = sheet(6)
    weights = np.zeros(len(mesh.positions))
    weights[[0, 1, 7, 8]] = 1.0
    return replace(mesh, paint=Paint(rigid=weights))


CLOTH = BodySettings(body_type="CLOTH")
SCENES: dict[str, Callable[[], Stage]] = {
    "hung cloth": lambda: ([(pinned(sheet(8), [0, 8]), CLOTH)], []),
    "cloths on a collider": lambda: (
        stacked(
            (lifted(sheet(8, triangles=True), 0.35), replace(CLOTH, use_self_collision=True)),
            (sheet(7), CLOTH),
        ),
        [ball()],
    ),
    "shell": lambda: ([(tube(10, 4), replace(CLOTH, bend_compliance=1.0))], []),
    "woven": lambda: (
        [(pinned(woven(sheet(6)), [0]), replace(CLOTH, stretch_compliance=1e-4))],
        [],
    ),
    "coil": lambda: ([(pinned(coil(3.0, 30), [0]), BodySettings(body_type="ROPE"))], []),
    "rope that follows its mesh": lambda: (
        [
            (
                pinned(coil(3.0, 30), [0, 1, 2]),
                BodySettings(body_type="ROPE", use_dynamic_mesh=True, angle_limit=0.3),
            )
        ],
        [],
    ),
    "ropes that touch": lambda: (
        stacked(
            (
                rope(np.linspace((0.0, -0.5, 0.2), (0.1, 0.5, 0.2), 12)),
                BodySettings(body_type="ROPE"),
            ),
            (lifted(net(5), -0.2), BodySettings(body_type="ROPE")),
        ),
        [],
    ),
    "solids": lambda: (
        stacked(
            (cube(0.4), BodySettings(body_type="SOFT")), (cube(0.3), BodySettings(body_type="SOFT"))
        ),
        [],
    ),
    "gas": lambda: ([(sphere(12, 8), replace(CLOTH, pressure=500.0))], []),
    "water": lambda: (
        [(sheet(6), BodySettings(body_type="WATER")), (cube(0.2), BodySettings(body_type="SOFT"))],
        [],
    ),
    "rigid parts": lambda: ([(rigid_sheet(), CLOTH)], []),
    "plasticity": lambda: (
        [(pinned(sheet(6), [0]), replace(CLOTH, use_plasticity=True, yield_curvature=1.0))],
        [],
    ),
    "seams": lambda: ([(gaping_tube(10, 5), replace(CLOTH, use_sewing=True))], []),
}


def given(name: str, frame_count: int = FRAMES) -> tuple[Simulation, list[Sample]]:
    """A scene at its start, and its samples."""
    bodies, moving = SCENES[name]()
    meshes = [replace(mesh, colliders=range(len(moving))) for mesh, _ in bodies]
    around = samples(
        meshes,
        frames(frame_count / 24, 24),
        ground=floor(-0.3),
        colliders=lambda _: [np.array(place) for _, place in moving],
    )
    settings = [each for _, each in bodies]
    colliders = [shape for shape, _ in moving]
    return start_simulation(meshes, settings, HALF, around[0], colliders), around[1:]


def track(simulation: Simulation, around: list[Sample]) -> list[bytes]:
    """The positions of all bodies at each sample, as bytes."""
    results = (simulation.advance(sample).positions for sample in around)
    return [b"".join(np.ascontiguousarray(each).tobytes() for each in them) for them in results]


def go_on(name: str, path: str, frame_count: str, stop: str) -> None:
    """Prints the rest of a scene from a checkpoint; another process calls this."""
    _, around = given(name, int(frame_count))
    sys.stdout.buffer.write(b"".join(track(read_checkpoint(Path(path)), around[int(stop) :])))


def short_scenes() -> dict[str, Scene]:
    """The scenes of `make same` that are no files, by name, which meet all kinds of bodies."""
    found = {name: scenes_of(name.partition(": ")[0])[name.partition(": ")[2]] for name in names()}
    built = {name: make() for name, make in found.items() if not name.startswith(OTHERS)}
    return {name: each for name, each in built.items() if isinstance(each, Scene)}


def rest(simulation: Simulation, scene: Scene) -> list[str]:
    """Hashes of the second half of a scene, or the error that ends it."""
    hashes: list[str] = []
    second = scene.samples[len(scene.samples) // 2 :]
    try:
        hashes.extend(hashed(simulation.advance(sample).positions) for sample in second)
    except VerletError as error:
        hashes.append(str(error))
    return hashes


def go_on_with_all(folder: str) -> None:
    """Prints the second halves of all short scenes from checkpoints; another process calls this."""
    stored = {name: Path(folder, f"{n}.npz") for n, name in enumerate(short_scenes())}
    rests = {
        name: rest(read_checkpoint(stored[name]), scene)
        for name, scene in short_scenes().items()
        if stored[name].exists()
    }
    print(json.dumps(rests))


def in_another_process(function: str, *arguments: str) -> bytes:
    """Output of a function of this module in a new process."""
    script = "import sys; from tests.core import test_checkpoint as t\n"
    command = [sys.executable, "-c", script + f"t.{function}(*sys.argv[1:])", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout


@pytest.mark.parametrize(("frame_count", "stop"), [(FRAMES, STOP), LONG])
@pytest.mark.parametrize("name", SCENES)
def test_what_is_stored_goes_on_in_another_process_to_the_same_bits(
    name: str, frame_count: int, stop: int, tmp_path: Path
) -> None:
    simulation, around = given(name, frame_count)
    track(simulation, around[:stop])
    path = tmp_path / "stored.npz"
    write_checkpoint(path, simulation)
    wanted = b"".join(track(simulation, around[stop:]))
    assert in_another_process("go_on", name, str(path), str(frame_count), str(stop)) == wanted


@pytest.mark.slow
def test_all_short_scenes_go_on_in_another_process(tmp_path: Path) -> None:
    wanted = {}
    for number, (name, scene) in enumerate(short_scenes().items()):
        meshes, settings = zip(*scene.bodies, strict=True)
        try:
            simulation = start_simulation(
                meshes, settings, scene.settings, scene.samples[0], scene.colliders
            )
            for sample in scene.samples[1 : len(scene.samples) // 2]:
                simulation.advance(sample)
        except VerletError:
            continue
        write_checkpoint(tmp_path / f"{number}.npz", simulation)
        wanted[name] = rest(simulation, scene)
    assert len(wanted) > 100
    assert json.loads(in_another_process("go_on_with_all", str(tmp_path))) == wanted


def test_a_checkpoint_leaves_the_simulation_as_it_is(tmp_path: Path) -> None:
    first, around = given("cloths on a collider")
    second, _ = given("cloths on a collider")
    track(first, around[:STOP])
    track(second, around[:STOP])
    write_checkpoint(tmp_path / "stored.npz", second)
    assert track(first, around[STOP:]) == track(second, around[STOP:])


@pytest.mark.parametrize("damage", ["missing", "cut", "changed", "other version"])
def test_what_cannot_be_gone_on_with_is_told(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "stored.npz"
    if damage == "other version":
        monkeypatch.setattr("verlet_addon.core.checkpoint.FORMAT", 0)
    if damage != "missing":
        write_checkpoint(path, given("hung cloth")[0])
    monkeypatch.undo()
    content = path.read_bytes() if path.exists() else b""
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    if damage == "changed":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    with pytest.raises(CheckpointError, match="simulate from the start"):
        read_checkpoint(path)


def test_a_checkpoint_that_cannot_be_written_leaves_the_former_one_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no part of the new one on a disk that is full."""
    path = tmp_path / "state.npy"
    write_checkpoint(path, [1])

    def full(*_: Any, **__: Any) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "save", full)
        with pytest.raises(OSError, match="No space left"):
            write_checkpoint(path, [2])
    assert [*tmp_path.iterdir()] == [path]
    assert read_checkpoint(path) == [1]


def test_a_checkpoint_names_no_class_outside_the_core(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="holds no"):
        write_checkpoint(tmp_path / "stored.npz", [Path()])


def record_class(name: str, *further: tuple[str, type, Any]) -> type:
    """A class of the core in another release, with a field and further ones."""
    of = {"__module__": "verlet_addon.core.former"}
    return make_dataclass(name, [("before", int), *further], namespace=of)


Earlier = record_class("Moved")
Later = record_class("Later", ("further", list, field(default_factory=lambda: [7])))


@pytest.fixture
def stored_earlier(tmp_path: Path) -> Path:
    """A checkpoint that an earlier release wrote."""
    write_checkpoint(tmp_path / "stored", Earlier(3))
    return tmp_path / "stored"


def test_a_checkpoint_is_read_where_classes_have_moved_and_have_further_fields(
    stored_earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resume goes on over an update that changed no result."""
    monkeypatch.setattr(checkpoint, "_classes", lambda: {"Moved": {"present.Moved": Later}})
    assert read_checkpoint(stored_earlier) == Later(3, [7])


def test_a_checkpoint_is_read_where_a_class_has_another_name(
    stored_earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "_classes", lambda: {"Later": {"present.Later": Later}})
    monkeypatch.setitem(checkpoint.RENAMED, "former.Moved", "present.Later")
    assert read_checkpoint(stored_earlier) == Later(3, [7])


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({}, "of another version of Verlet, as this one has no former.Moved; simulate from"),
        ({"a.Moved": Later, "b.Moved": Later}, "of another version of Verlet"),
        ({"a.Moved": Path}, "cannot be read"),
        ({"a.Moved": Remark}, "cannot be read"),
        ({"a.Moved": Paint}, "whose former.Moved has other fields; simulate from"),
    ],
)
def test_a_checkpoint_that_fits_no_class_says_so(
    known: dict[str, type], told: str, stored_earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No guess is made, and no object is made that is no plain record of its fields."""
    monkeypatch.setattr(checkpoint, "_classes", lambda: {"Moved": known})
    with pytest.raises(CheckpointError, match=told):
        read_checkpoint(stored_earlier)
