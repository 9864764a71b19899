"""What is baked reaches other programs: nothing is lost from file to file, at any frame."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest

from tests.blender.round_trips import FORMATS, export, operator, round_trip
from tests.blender.scenes import body, mesh_object, open_apart, pin, sheet, verlet

SAMPLES = sorted((Path(__file__).parents[2] / "sample_blends").glob("*.blend"))
# Files hold float32, at sizes of a few metres; 1e-4 m is what no eye can see.
NEAR = 1e-4
FRAMES = 12


def still(obj: Any) -> None:
    """Nothing moves but the baked motion."""


def animated(obj: Any) -> None:
    """The object is animated by itself."""
    move(obj)


def animated_briefly(obj: Any) -> None:
    """The object's own animation ends before the bake does."""
    move(obj, end=5)


def parented(obj: Any) -> None:
    """The object hangs on another one that is animated."""
    obj.parent = mesh_object("Pole", [(0, 0, 0), (0, 0, 1), (0, 1, 0)], [], [(0, 1, 2)])
    move(obj.parent)


def rigged(obj: Any) -> None:
    """The object is carried by an animated bone."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Bone").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.parent = rig
    obj.modifiers.new("Rig", "ARMATURE").object = rig
    everything = [vertex.index for vertex in obj.data.vertices]
    obj.vertex_groups.new(name="Bone").add(everything, 1.0, "REPLACE")
    bone = rig.pose.bones["Bone"]
    for frame, x in ((1, 0.0), (6, 0.4), (FRAMES, -0.3)):
        bone.location.x = x
        bone.keyframe_insert("location", frame=frame)


def accompanied(_obj: Any) -> None:
    """Other bodies are baked along."""
    for x in (2.0, 4.0):
        other = body(sheet("Other", height=5.0))
        other.location.x = x
        pin(other, [0])


def thick(obj: Any) -> None:
    """A modifier gives the mesh its finish."""
    obj.modifiers.new("Thickness", "SOLIDIFY")


def torn(obj: Any) -> None:
    """The mesh is split for tearing, and tears."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    verlet.split_for_tearing()
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.verlet.use_tearing, obj.verlet.tear_strength = True, 1e-3


def thrown(obj: Any) -> None:
    """Keyframes before frame 0 throw the object."""
    move(obj, start=-1)


def move(obj: Any, *, start: int = 1, end: int = FRAMES) -> None:
    """Animates an object's place."""
    for frame, x in ((start, 0.0), (end, 0.5)):
        obj.location.x = x
        obj.keyframe_insert("location", frame=frame)


SCENES = [still, animated, animated_briefly, parented, rigged, accompanied, thick, torn, thrown]


@pytest.fixture(params=SCENES, ids=lambda prepare: prepare.__name__)
def bodies(request: pytest.FixtureRequest) -> list[str]:
    """Names of the bodies of a baked scene."""
    return baked_bodies(request.param)


def baked_bodies(prepare: Callable[[Any], None]) -> list[str]:
    """Bakes one of the scenes in the empty file that is open; returns the names of its bodies."""
    obj = body(sheet("Cloth", height=3.0))
    pin(obj, [0, 4])
    prepare(obj)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    verlet.bake()
    return [item.name for item in scene.objects if item.verlet.enabled]


def check(name: str, bodies: list[str], folder: Path, **settings: Any) -> None:
    form = FORMATS[name]
    if not form.available:
        pytest.skip(f"This build of Blender does not write {name}")
    distances = round_trip(form, bodies, folder, **settings)
    assert max(distances.values()) < NEAR, distances


@pytest.mark.skipif(bpy.app.version < (4, 4, 0), reason="Actions of older files hold one thing")
@pytest.mark.parametrize("prepare", SCENES, ids=lambda prepare: prepare.__name__)
def test_gltf_as_it_is_set_up(prepare: Callable[[Any], None], tmp_path: Path) -> None:
    """Only what begins before frame 0 comes late, unless it is cropped: nothing in a glTF does."""
    late = {"export_negative_frame": "CROP"} if prepare == thrown else {}
    check("glTF", baked_bodies(prepare), tmp_path, **late)


@pytest.mark.slow
@pytest.mark.skipif(not SAMPLES, reason="the samples are not beside these tests")
def test_samples_have_no_keyframes_before_frame_0() -> None:
    """So glTF as it is set up plays them in time, and a bake adds none."""
    for path in SAMPLES:
        open_apart(path)
        verlet.bake(frame_start=1, frame_end=2)
        assert min(action.frame_range[0] for action in bpy.data.actions) >= 0, path.name


@pytest.mark.skipif(bpy.app.version < (4, 4, 0), reason="Actions of older files hold one thing")
def test_what_is_attached_to_a_figure_is_in_its_clip(tmp_path: Path) -> None:
    """As it is set up, glTF has both motions in one clip: neither figure nor cloth stands still."""
    figure = sheet("Figure", height=3.0)
    rigged(figure)

    def attached(obj: Any) -> None:
        item = obj.verlet.attachments.add()
        item.target, item.vertex_group, obj.verlet.pin_group = figure, obj.verlet.pin_group, ""

    baked_bodies(attached)
    keys = bpy.data.objects["Cloth"].data.shape_keys
    assert keys.animation_data.action == bpy.data.objects["Rig"].animation_data.action
    check("glTF", ["Cloth", "Figure"], tmp_path)


def test_alembic_as_it_is_set_up(bodies: list[str], tmp_path: Path) -> None:
    check("Alembic", bodies, tmp_path)


@pytest.mark.parametrize("name", ["glTF", "FBX", "USD"])
def test_with_the_preset(name: str, bodies: list[str], tmp_path: Path) -> None:
    check(name, bodies, tmp_path, **FORMATS[name].preset)


def times_in(path: Path) -> set[float]:
    """First and last time of all curves in a GLB file [s]."""
    data = path.read_bytes()
    content = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
    samplers = [each for clip in content["animations"] for each in clip["samplers"]]
    accessors = [content["accessors"][each["input"]] for each in samplers]
    return {round(time, 4) for each in accessors for time in (*each["min"], *each["max"])}


@pytest.mark.parametrize("start", [1, 1001])
def test_a_gltf_plays_from_its_first_moment_wherever_the_shot_begins(
    tmp_path: Path, start: int
) -> None:
    """Else players show a shot that begins at frame 1001 after it has stood still for 42 s."""
    scene: Any = bpy.context.scene
    pin(body(sheet("Cloth", height=3.0)), [0, 4])
    scene.frame_start, scene.frame_end = start, start + 6
    verlet.bake()
    path = tmp_path / "shot.glb"
    export(FORMATS["glTF"], str(path), FORMATS["glTF"].preset)
    assert times_in(path) == {0.0, 6 / scene.render.fps}


def test_a_loop_is_exported_as_a_whole_turn_in_a_longer_scene(tmp_path: Path) -> None:
    """Of what is baked alone already; beside what moves otherwise, once the scene's range is."""
    scene: Any = bpy.context.scene
    pin(body(sheet("Cloth", height=3.0)), [0, 4])
    scene.frame_start, scene.frame_end = 1, 40
    verlet.bake(loop=12)
    turn = {0.0, 12 / scene.render.fps}
    path = tmp_path / "loop.glb"
    export(FORMATS["glTF"], str(path), FORMATS["glTF"].preset)
    assert times_in(path) == turn
    move(sheet("Other", height=5.0), end=40)
    export(FORMATS["glTF"], str(path), FORMATS["glTF"].preset)
    assert len(times_in(path)) > 2
    assert verlet.scene_range_to_loop() == {"FINISHED"}
    start = bpy.data.objects["Cloth"].verlet.baked_start  # type: ignore[attr-defined]
    assert (scene.frame_start, scene.frame_end) == (start, start + 12)
    export(FORMATS["glTF"], str(path), FORMATS["glTF"].preset)
    assert times_in(path) == turn


@pytest.mark.parametrize("name", ["glTF", "FBX", "USD"])
def test_the_export_dialogue_offers_the_preset(name: str) -> None:
    folders = bpy.utils.preset_paths(f"operator/{FORMATS[name].exporter}")
    assert any(Path(folder, "baked_soft_bodies.py").is_file() for folder in folders)


@pytest.mark.parametrize("name", ["glTF", "FBX", "USD"])
def test_the_preset_sets_what_the_exporter_has(name: str) -> None:
    """Assigning to what is not there would fail in the dialogue, without a word."""
    form = FORMATS[name]
    if form.available:
        properties = operator(form.exporter).get_rna_type().properties
        assert set(form.preset) <= set(properties.keys())
