"""One seed, played twice: with live simulation, and without; the file is the same in the end.

The same user does the same things to the same scene. In the first run the timeline simulates
meanwhile, now and then switched off and on. What it adds is gone in the end, so that every value of
every datablock is as after the second run.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from tests.blender.scenes import ball, blender, body, line, pin, select, sheet, verlet
from tests.fuzz.bodies import add_body, modifiers, motion, settings
from tests.fuzz.draw import Draw
from tests.fuzz.play import any_mesh, select_some
from tests.fuzz.promises import attempt, content, require, require_content, save_and_open
from tests.fuzz.surroundings import add_collider, add_field, build
from verlet_addon.blender.bake.bake import frame_range
from verlet_addon.blender.live import handlers
from verlet_addon.blender.live.control import session_of
from verlet_addon.blender.scene.cache_modifiers import is_live_modifier

MODES = ("EDIT", "SCULPT", "WEIGHT_PAINT", "OBJECT")
NORMALS = (
    r"'normal': '<[^>]*>'|'\w+_normals': \[\{[^]]*\]|'split_normals': \[\[[^]]*\](, \[[^]]*\])*\]"
)
"""Normals in the text of a file's content, which Blender computes anew, in other ways."""
MANY = 4
"""Objects of which none is duplicated any more, or bakes would take too long."""
FARTHEST = 12
"""Frames from the first one that are played at most."""


class User:
    """What a user does; only in one of both runs is anything simulated live."""

    def __init__(self, seed: int, *, live: bool) -> None:
        self.draw, self.live = Draw(seed), live

    @property
    def scene(self) -> Any:
        """The scene in the window, which undo and loading replace."""
        return bpy.context.scene

    def switch(self) -> None:
        """Live on or off, by its property or the operator that ends it."""
        wanted, ends = self.draw.chance(0.7), self.draw.chance(0.5)
        if self.live and wanted:
            self.scene.verlet.use_live = True
        elif self.live and ends:
            verlet.reset()
        elif self.live:
            self.scene.verlet.use_live = False

    def play(self) -> None:
        """The timeline plays from the first frame, or goes on from where it is."""
        start, end = frame_range(self.scene)
        first = self.draw.one_of((start, start, self.scene.frame_current))
        last = self.draw.whole(start, min(max(end, start), start + FARTHEST))
        for frame in range(first, last + 1):
            self.scene.frame_set(frame)

    def jump(self) -> None:
        """To any frame, also between two."""
        self.scene.frame_set(self.draw.whole(-3, 12), subframe=self.draw.one_of((0.0, 0.0, 0.5)))

    def change(self) -> None:
        """Sets properties of a body, or adds modifiers to it."""
        if obj := any_mesh(self.draw):
            self.draw.one_of((settings, settings, modifiers))(self.draw, obj)

    def change_scene(self) -> None:
        """Gravity, ground, frames and the rate of frames."""
        kind = self.draw.whole(0, 4)
        if kind == 0:
            self.scene.gravity.z = self.draw.one_of((-9.81, 0.0, 3.0))
        elif kind == 1:
            self.scene.frame_start = self.draw.whole(0, 3)
        elif kind == 2:
            self.scene.frame_end = self.draw.whole(2, 9)
        elif kind == 3:
            self.scene.render.fps = self.draw.one_of((24, 30))
        else:
            self.scene.render.frame_map_new = self.draw.one_of((100, 150))

    def move(self) -> None:
        """Moves an object, and may set a key for it."""
        obj: Any = self._any_object()
        if obj is not None:
            obj.location = [*map(sum, zip(obj.location, self.draw.vector(0.3), strict=True))]
            if self.draw.chance(0.3):
                obj.keyframe_insert("location", frame=self.draw.whole(0, 6))

    def edit(self) -> None:
        """Changes the mode of a mesh, plays in it, and may change the mesh."""
        obj = any_mesh(self.draw)
        changes = self.draw.chance(0.5)
        mode: Any = self.draw.one_of(MODES)
        if obj is None or not obj.visible_get():
            return
        select(obj)
        bpy.ops.object.mode_set(mode=mode)
        self.play()
        if changes and mode == "EDIT":
            bpy.ops.mesh.select_all(action="SELECT")
            bpy.ops.mesh.subdivide()
        bpy.ops.object.mode_set(mode="OBJECT")

    def duplicate(self) -> None:
        """Duplicates some objects, their meshes too or not."""
        select_some(self.draw)
        linked = self.draw.chance(0.3)
        if bpy.context.selected_objects and len(bpy.context.view_layer.objects) <= MANY:
            bpy.ops.object.duplicate(linked=linked)

    def delete(self) -> None:
        """Deletes an object, or takes it out of the scene."""
        obj, wholly = self._any_object(), self.draw.chance(0.7)
        if obj is None:
            return
        if wholly:
            bpy.data.objects.remove(obj)
        else:
            for collection in obj.users_collection:
                collection.objects.unlink(obj)

    def rename(self) -> None:
        """Gives an object another name, or the scene."""
        item = self.draw.one_of((self._any_object(), self.scene))
        if item is not None:
            item.name = self.draw.one_of(("Other", "Body 0", "Longer name"))

    def hide(self) -> None:
        """Shows or hides an object."""
        if (obj := self._any_object()) is not None:
            obj.hide_set(not obj.hide_get())

    def add(self) -> None:
        """A further body or collider."""
        before = {*bpy.data.objects.keys()}
        if self.draw.chance(0.5):
            add_body(self.draw, 9)
        else:
            add_collider(self.draw, 9)
        for name in {*bpy.data.objects.keys()} - before:
            deselect(bpy.data.objects[name])

    def operators(self) -> None:
        """Operators on whatever is selected."""
        for name in ("convert", "release", "set_material", "clear_bake", "make_collider"):
            select_some(self.draw)
            if self.draw.chance(0.3):
                attempt(getattr(verlet, name))

    def undo(self) -> None:
        """Does something, takes it back, and may do it again."""
        again, act = self.draw.chance(0.5), self.draw.one_of((self.move, self.change, self.keep))
        bpy.ops.ed.undo_push(message="before")
        self.play()
        bpy.ops.ed.undo_push(message="played")
        act()
        bpy.ops.ed.undo_push(message="after")
        for step in (blender.ops.ed.undo, *((blender.ops.ed.redo,) if again else ())):
            if step.poll():  # not where the file was opened anew
                step()
                # The current frame comes back or not, by whether Blender reads the scene again.
                self.jump()
                self.play()

    def save(self) -> None:
        """Saves and opens the file, or saves a copy."""
        if self.draw.chance(0.5):
            save_and_open()
        else:
            path = Path(bpy.app.tempdir, "copy.blend")
            bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)

    def keep(self) -> None:
        """Bakes, which takes over what is simulated."""
        self.play()
        attempt(verlet.bake)

    def render(self) -> None:
        """Renders a few frames, without a camera now and then."""
        scene, sees = self.scene, self.draw.chance(0.8)
        frame, subframe = scene.frame_current, scene.frame_subframe
        data = bpy.data.cameras.new("Camera")
        camera = bpy.data.objects.new("Camera", data)
        scene.collection.objects.link(camera)
        before, scene.camera = scene.camera, camera if sees else None
        scene.render.engine, scene.cycles.samples = "CYCLES", 1
        scene.cycles.use_denoising = False  # which some builds lack
        scene.render.resolution_x = scene.render.resolution_y = 8
        attempt_render()
        scene.camera = before
        bpy.data.cameras.remove(data)
        scene.frame_set(frame, subframe=max(subframe, 0.0))

    def scenes(self) -> None:
        """A copy of the scene, which may become the one in the window, or a deleted one."""
        kind: Any = self.draw.one_of(("FULL_COPY", "LINK_COPY", "EMPTY"))
        stays, deleted = self.draw.chance(0.3), self.draw.chance(0.3)
        former = self.scene
        bpy.ops.scene.new(type=kind)
        self.play()
        made = self.scene
        if not stays:
            bpy.context.window.scene = former
        if deleted and not stays:
            bpy.data.scenes.remove(made)

    def view_layer(self) -> None:
        """A further view layer."""
        self.scene.view_layers.new("Layer")

    def disable(self) -> None:
        """Switches the add-on's handlers off and on, as disabling it does."""
        handlers.unregister_handlers()
        self.play()
        handlers.register_handlers()

    def _any_object(self) -> Any:
        """An object of the view layer, if there is one."""
        objects = bpy.context.view_layer.objects[:]
        return self.draw.one_of(objects) if objects else None


STEPS: tuple[Callable[[User], None], ...] = (
    *(User.play, User.play, User.play, User.switch, User.jump, User.change, User.change_scene),
    *(User.move, User.edit, User.duplicate, User.delete, User.rename, User.hide, User.add),
    *(User.operators, User.undo, User.save, User.keep, User.render, User.scenes),
    *(User.view_layer, User.disable),
)


def scene_of(draw: Draw) -> str:
    """A scene that can be simulated, unlike most of `build`, which makes one in ten."""
    if draw.chance(0.1):
        return build(draw)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = draw.whole(0, 3), draw.whole(6, 10)
    scene.verlet.settle_frames = draw.one_of((0, 0, 2))
    said = [tame_body(draw, number) for number in range(draw.whole(1, 3))]
    if draw.chance(0.6):
        obstacle = ball("Collider")
        obstacle.location, obstacle.scale = (0.5, 0.5, 1.2), (0.4, 0.4, 0.4)
        obstacle.modifiers.new("Collision", "COLLISION")
        said.append("collider " + (motion(draw, obstacle) if draw.chance(0.4) else "still"))
    if draw.chance(0.3):
        said.append(add_field(draw, 0))
    return "; ".join(said)


def tame_body(draw: Draw, number: int) -> str:
    """A body that can be simulated: pinned, animated, with modifiers and keys, or not."""
    kind = draw.one_of(("sheet", "sheet", "line", "ball"))
    make: Any = {"sheet": sheet, "line": line, "ball": ball}[kind]
    obj: Any = body(make(f"Body {number}"))
    obj.location.z = 2.0 + 1.5 * number
    said = [kind]
    if kind != "ball" and draw.chance(0.7):
        pin(obj, [0, 1])
        said.append("pinned")
    if draw.chance(0.3):
        said.append(motion(draw, obj))
    if draw.chance(0.3):
        obj.shape_key_add(name="Basis")
        obj.shape_key_add(name="Own").data[0].co.z += 0.1
        obj.data.shape_keys.key_blocks["Own"].value = 0.5
        said.append("keys")
    for modifier in ("SUBSURF", "SOLIDIFY"):
        if draw.chance(0.2):
            obj.modifiers.new(modifier.title(), modifier)
            said.append(modifier)
    return f"{obj.name}: {', '.join(said)}"


def deselect(obj: Any) -> None:
    """Deselects all of a new mesh, of which Blender leaves it to chance."""
    if obj.type == "MESH":
        for name in [each.name for each in obj.data.attributes if "select" in each.name]:
            obj.data.attributes.remove(obj.data.attributes[name])


def seed_fields() -> None:
    """Gives force fields, and what may become one, a seed that Blender does not draw."""
    for obj in blender.data.objects:
        if obj.field is not None:
            obj.field.seed = 1


def attempt_render() -> None:
    """Renders the current frame; without a camera Blender refuses."""
    try:
        bpy.ops.render.render()
    except RuntimeError as error:
        require("camera" in str(error).lower(), str(error))


def play(seed: int, tell: Callable[[str], None]) -> None:
    """Plays a seed with live simulation and without, and compares the files.

    Raises
    ------
    BrokenError
        A promise was not kept. Whatever else is raised is as bad.
    """
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    tell(scene_of(Draw(seed)))
    # Once: Blender gives new meshes and fields some values by chance.
    path = str(Path(bpy.app.tempdir, "start.blend"))
    bpy.ops.wm.save_as_mainfile(filepath=path)
    with_live = _played(path, seed, tell, live=True)
    tell("without live")
    without = _played(path, seed, tell, live=False)
    require_content(without, "live", now=with_live)


def _played(path: str, seed: int, tell: Callable[[str], None], *, live: bool) -> str:
    """Opens a file and plays a seed; all that the file holds in the end."""
    bpy.ops.wm.open_mainfile(filepath=path)
    user = User(seed, live=live)
    user.scene.frame_set(user.scene.frame_current)
    user.scene.verlet.use_live = live
    user.play()
    for _ in range(user.draw.whole(4, 10)):
        step = user.draw.one_of(STEPS)
        tell(step.__name__)
        step(user)
        seed_fields()
        bpy.context.view_layer.update()
    _end_all()
    # Blender evaluates these no more, so their world matrices are left to chance.
    for name in [obj.name for obj in bpy.data.objects if not obj.users_scene]:
        bpy.data.objects.remove(bpy.data.objects[name])
    user.scene.frame_set(user.scene.frame_current)
    return re.sub(NORMALS, "", content())


def _end_all() -> None:
    """Evaluates all scenes, and ends live simulations; nothing of theirs is left."""
    window = bpy.context.window
    shown = window.scene
    for scene in bpy.data.scenes:
        window.scene = scene
        verlet.reset()
        scene.frame_set(scene.frame_current)
    window.scene = shown
    require(not any(map(session_of, bpy.data.scenes)), "a live simulation is left")
    left = [
        obj.name for obj in bpy.data.objects for item in obj.modifiers if is_live_modifier(item)
    ]
    require(not left, f"modifiers of live simulations are left on {left}")
    files = [*Path(bpy.app.tempdir, "verlet_live").glob("*.pc2")]
    require(not files, f"files are left: {files}")
