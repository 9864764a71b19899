"""Baked soft bones in other programs: read back, joints and skin are where the bake has them."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from .rigs import LENGTH, fox, poses, swing
from .round_trips import FORMATS, round_trip
from .scenes import mesh_object, verlet
from .test_export import NEAR
from .test_soft_bones import soft

FIRST = 1
"""First frame that is exported."""
SCENE = {"export_animation_mode": "SCENE", "export_anim_scene_split_object": False}
"""What glTF's preset needs besides for keys in the NLA, of which it knows the active action."""
BESIDES = {"NLA"} if bpy.app.version >= (4, 4, 0) else {"NLA", "ACTION"}


def baked_fox(form: str) -> Any:
    """A fox with a skin over its soft tail, baked to a form."""
    obj = fox(4)
    swing(obj, 0.5)
    bpy.context.scene.frame_start = FIRST
    body = soft(obj, "tail.0")
    bpy.ops.object.mode_set(mode="OBJECT")
    cover(obj)
    body.verlet.bones_to = form
    verlet.bake()
    return obj


def cover(obj: Any) -> None:
    """A strip along the tail, down to its tip, each part on the bone beneath."""
    rows = np.linspace(0.0, -LENGTH, 9)
    places = [(x, y, 1.0) for y in rows for x in (-0.02, 0.02)]
    faces = [(2 * n, 2 * n + 1, 2 * n + 3, 2 * n + 2) for n in range(8)]
    skin = mesh_object("Skin", places, [], faces)
    skin.parent = obj
    skin.modifiers.new("Armature", "ARMATURE").object = obj
    for number in range(4):
        rows_of = range(2 * number + (number > 0), 2 * number + 3)
        vertices = [2 * row + side for row in rows_of for side in (0, 1)]
        skin.vertex_groups.new(name=f"tail.{number}").add(vertices, 1.0, "REPLACE")


def heads(obj: Any) -> Any:
    """(frames, 4, 3) where the bones of the tail begin."""
    names = [bone.name.replace("_", ".") for bone in obj.pose.bones]
    return poses(obj)[..., :3, 3][:, [names.index(f"tail.{n}") for n in range(4)]]


@pytest.mark.parametrize("form", ["CONSTRAINTS", "ACTION", "NLA"])
@pytest.mark.parametrize("name", ["glTF", "FBX", "USD"])
def test_with_the_preset_skin_and_joints_are_where_the_bake_has_them(
    name: str, form: str, tmp_path: Path
) -> None:
    """To 0.1 mm at every frame; USD has the skin alone, without a skeleton."""
    kind = FORMATS[name]
    if not kind.available:
        pytest.skip(f"This build of Blender does not write {name}")
    wanted = heads(baked_fox(form))
    assert np.ptp(wanted[:, 3], axis=0).max() > 0.05
    settings = kind.preset | (SCENE if name == "glTF" and form in BESIDES else {})
    assert round_trip(kind, ["Skin"], tmp_path, **settings)["Skin"] < NEAR
    found = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    assert bool(found) == (name != "USD")
    joints: Any = bpy.data.objects.get("Fox Bones")
    assert (joints is None) == (name != "FBX")
    if joints is not None:
        assert not joints.data.polygons
    if found:
        scene = bpy.context.scene
        delays = (-FIRST,) if name == "glTF" else kind.delays
        off = []
        for delay in delays:
            scene.frame_start, scene.frame_end = FIRST + delay, FIRST + delay + len(wanted) - 1
            off.append(np.linalg.norm(heads(found[0]) - wanted, axis=2).max())
        assert min(off) < NEAR


def test_usd_has_the_skeleton_with_armatures_on(tmp_path: Path) -> None:
    """For programs that play skeletons; each bone is where the bake has it."""
    kind = FORMATS["USD"]
    if not kind.available:
        pytest.skip("This build of Blender does not write USD")
    wanted = heads(baked_fox("CONSTRAINTS"))
    settings = kind.preset | {"export_armatures": True}
    assert round_trip(kind, ["Skin"], tmp_path, **settings)["Skin"] < NEAR
    (found,) = (obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, FIRST + len(wanted) - 1
    assert np.linalg.norm(heads(found) - wanted, axis=2).max() < NEAR
