"""Bakes as caches of other programs: read back into an empty scene, at every frame."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.round_trips import FORMATS as BLENDERS, imported, operator
from tests.blender.scenes import (
    body,
    file_content,
    line,
    mesh_object,
    pin,
    select,
    sheet,
    shown,
    verlet,
)

Addon = Callable[[str], ModuleType]
NEAR = 1e-5
"""What a cache may be off [m]."""
END = 8


def uneven(name: str = "Cape") -> Any:
    """A mesh that nobody tuned for: triangles, a pentagon and a loose edge."""
    vertices = [
        *((0, 0, 0), (1, 0, 0.1), (2, 0.2, 0), (2.1, 1, 0), (1, 1.1, 0), (0, 1, 0.2)),
        *((0.5, 1.9, 0), (1.6, 2.0, 0.1), (3, 0, 0)),
    ]
    faces = [(0, 1, 4), (0, 4, 5), (1, 2, 3, 7, 4), (4, 7, 6), (5, 4, 6)]
    return mesh_object(name, vertices, [(2, 8)], faces, height=4.0)


def moved(obj: Any) -> Any:
    """Moves, turns, scales, parents and animates an object."""
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler = (1.0, -2.0, 0.5), (0.1, 0.2, 0.7)
    obj.parent = parent
    obj.rotation_euler, obj.scale = (0.3, -0.4, 0.5), (1.5, 0.5, 0.8)
    for frame, x in ((1, 0.0), (END, 0.8)):
        parent.location.x = x
        parent.keyframe_insert("location", frame=frame)
    return obj


def baked(obj: Any, **options: Any) -> Any:
    """The object as a pinned body with a bake, at another frame than its first."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, END
    body(obj, body_type="CLOTH")
    pin(obj, [0, 1])
    verlet.bake(**options)
    scene.frame_set(3)
    return obj


def looks(obj: Any, frames: range = range(1, END + 1)) -> list[Any]:
    """World positions of what an object shows at each frame."""
    return [shown(obj, frame) for frame in frames]


def off(first: list[Any], second: list[Any]) -> float:
    """The largest distance between two of these [m]."""
    return max(
        float(np.linalg.norm(a - b, axis=1).max()) for a, b in zip(first, second, strict=True)
    )


def plain_copy(obj: Any) -> Any:
    """The bare mesh of an object, with its place, but without its bake and body."""
    mesh = bpy.data.meshes.new("Plain")
    own = obj.data
    mesh.from_pydata(
        [tuple(vertex.co) for vertex in own.vertices],
        [tuple(edge.vertices) for edge in own.edges],
        [tuple(face.vertices) for face in own.polygons],
    )
    copy = bpy.data.objects.new("Plain", mesh)
    bpy.context.scene.collection.objects.link(copy)
    copy.parent, copy.matrix_parent_inverse = obj.parent, obj.matrix_parent_inverse
    copy.location, copy.rotation_euler, copy.scale = obj.location, obj.rotation_euler, obj.scale
    return copy


@pytest.mark.parametrize("up", ["Z", "Y"])
@pytest.mark.parametrize("form", ["PC2", "MDD"])
def test_points_are_played_as_they_were_baked(tmp_path: Path, form: str, up: str) -> None:
    obj = baked(moved(uneven()))
    wanted = looks(obj)
    scene = bpy.context.scene
    scene.frame_set(3)
    before = file_content()
    path = tmp_path / f"cape.{form.lower()}"
    assert verlet.export_cache(filepath=str(path), format=form, up=up) == {"FINISHED"}
    assert file_content() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    copy = plain_copy(obj)
    select(copy)
    verlet.import_cache(filepath=str(path), up=up)
    assert off(looks(copy), wanted) <= NEAR


@pytest.mark.parametrize("form", ["PC2", "MDD"])
def test_points_in_world_space_are_played_in_an_empty_scene(tmp_path: Path, form: str) -> None:
    obj = baked(moved(uneven()))
    wanted, count = looks(obj), len(obj.data.vertices)
    path = tmp_path / f"cape.{form.lower()}"
    verlet.export_cache(filepath=str(path), format=form, space="WORLD")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    empty = mesh_object("Empty", [(0, 0, 0)] * count, [], [])
    verlet.import_cache(filepath=str(path))
    verlet.import_cache(filepath=str(path))
    assert len(empty.modifiers) == 1
    assert off(looks(empty), wanted) <= NEAR


@pytest.mark.parametrize("form", ["Alembic", "USD"])
def test_alembic_and_usd_are_read_as_they_were_baked(tmp_path: Path, form: str) -> None:
    kind = BLENDERS[form]
    if not kind.available:
        pytest.skip(f"This build of Blender does not write {form}")
    bpy.context.scene.world = bpy.data.worlds.new("World")
    obj = moved(uneven())
    obj.modifiers.new("Mirror", "MIRROR").mirror_object = sheet("Other")
    obj.modifiers.new("Subdivision", "SUBSURF")
    baked(obj)
    wanted = looks(obj)
    scene = bpy.context.scene
    scene.frame_set(3)
    scene.frame_end = 5
    select(obj)
    before = file_content()
    path = tmp_path / f"cape.{kind.suffix}"
    assert verlet.export_cache(filepath=str(path), format=form.upper()) == {"FINISHED"}
    assert file_content() == before
    assert (scene.frame_end, bpy.context.selected_objects) == (5, [obj])
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    operator(kind.importers[0])(filepath=str(path))
    assert imported("Other") is None
    assert not [each for each in bpy.data.objects if each.type == "LIGHT"]
    assert off(looks(imported("Cape")), wanted) <= NEAR


def test_a_build_without_alembic_or_usd_says_so(
    tmp_path: Path, addon: Addon, monkeypatch: pytest.MonkeyPatch
) -> None:
    baked(sheet("Cape"))

    class Bare:
        """A Blender without libraries, as Debian builds it."""

        class app:  # noqa: N801
            build_options = type("Options", (), {"alembic": False, "usd": False})

    monkeypatch.setattr(addon("blender.export.scene_caches"), "bpy", Bare)
    for form, name in (("ALEMBIC", "Alembic"), ("USD", "USD")):
        with pytest.raises(RuntimeError, match=f"build of Blender has no {name}; choose PC2 or"):
            verlet.export_cache(filepath=str(tmp_path / "a"), format=form)
    assert list(tmp_path.iterdir()) == []


def test_several_objects_have_a_file_each(tmp_path: Path) -> None:
    first = baked(sheet("Cape"))
    second = baked(line("Rope", height=3.0))
    select(first, second)
    verlet.export_cache(filepath=str(tmp_path / "all"), format="MDD")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["all_Cape.mdd", "all_Rope.mdd"]
    (tmp_path / "all_Rope.mdd").write_bytes(b"of the user")
    with pytest.raises(RuntimeError, match=r"all_Cape.mdd, all_Rope.mdd in .* would be replaced"):
        verlet.export_cache(filepath=str(tmp_path / "all"), format="MDD")
    assert (tmp_path / "all_Rope.mdd").read_bytes() == b"of the user"
    verlet.export_cache(filepath=str(tmp_path / "all"), format="MDD", replace=True)
    assert (tmp_path / "all_Rope.mdd").read_bytes() != b"of the user"


def test_a_cache_bake_and_a_hidden_key_are_written_as_they_play(tmp_path: Path) -> None:
    obj = moved(uneven())
    obj.shape_key_add(name="Basis")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    baked(obj, mode="CACHE")
    wanted = looks(obj)
    obj.show_only_shape_key = True
    verlet.export_cache(filepath=str(tmp_path / "cape.pc2"))
    assert obj.show_only_shape_key
    copy = plain_copy(obj)
    select(copy)
    verlet.import_cache(filepath=str(tmp_path / "cape.pc2"))
    assert copy.modifiers[0].filepath == "//cape.pc2"
    assert off(looks(copy), wanted) <= NEAR
    obj.modifiers["Verlet Cache"].show_viewport = False
    select(obj)
    with pytest.raises(RuntimeError, match="The modifier Verlet Cache of Cape is turned off; turn"):
        verlet.export_cache(filepath=str(tmp_path / "cape.pc2"))


def test_what_cannot_be_written_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    obj = baked(sheet("Cape"))
    path = tmp_path / "cape.pc2"
    path.write_bytes(b"former")
    other = sheet("Other")
    with pytest.raises(RuntimeError, match="Other has no bake; bake it first, or select"):
        verlet.export_cache(filepath=str(path))
    select(obj)
    with pytest.raises(RuntimeError, match=r"there is no folder .*missing; make it, or choose"):
        verlet.export_cache(filepath=str(tmp_path / "missing" / "cape.pc2"))
    with pytest.raises(RuntimeError, match="it is a folder; name a file in it"):
        verlet.export_cache(filepath=str(tmp_path))
    with pytest.raises(RuntimeError, match="No file is chosen"):
        verlet.export_cache()
    obj.hide_set(True)
    bpy.context.view_layer.objects.active = obj
    with pytest.raises(RuntimeError, match="Cape is hidden; show it"):
        verlet.export_cache(filepath=str(path))
    obj.hide_set(False)
    select(obj)
    assert path.read_bytes() == b"former"
    verlet.clear_bake()
    with pytest.raises(RuntimeError, match="No object of the scene has a bake"):
        verlet.export_cache(filepath=str(path))
    assert other.modifiers[:] == []


def test_a_read_only_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    baked(sheet("Cape"))
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(RuntimeError, match="is read-only; choose another"):
        verlet.export_cache(filepath=str(tmp_path / "cape.pc2"))
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_does_not_fit_is_told(tmp_path: Path) -> None:
    baked(sheet("Cape"))
    for form in ("pc2", "mdd"):
        verlet.export_cache(filepath=str(tmp_path / f"cape.{form}"), format=form.upper())
    other = sheet("Other", resolution=2)
    for form in ("pc2", "mdd"):
        path = tmp_path / f"cape.{form}"
        with pytest.raises(RuntimeError, match=r"Other has 9 vertices but .* has 25; make"):
            verlet.import_cache(filepath=str(path))
        path.write_bytes(path.read_bytes()[:-5])
        with pytest.raises(RuntimeError, match="its end is missing; write it again"):
            verlet.import_cache(filepath=str(path))
        path.write_bytes(b"no")
        with pytest.raises(RuntimeError, match=r"it is no (PC2|MDD) point cache; write it again"):
            verlet.import_cache(filepath=str(path))
    for name, reason in (("none.pc2", "there is no such file"), ("cape.obj", "choose a file that")):
        (tmp_path / "cape.obj").touch()
        with pytest.raises(RuntimeError, match=reason):
            verlet.import_cache(filepath=str(tmp_path / name))
    assert other.modifiers[:] == []
