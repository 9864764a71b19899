"""Steps that several pages of the manual have in common, as its reader takes them."""

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import baked, select, verlet
from tests.window.first_minutes import BAKE, MAKE, set_number
from tests.window.hand import Hand, Steps, wait, wait_until
from tests.window.touching import ATTACH, COLLIDER, RELEASE
from verlet_addon.core.materials import MATERIALS

SAMPLES = Path(__file__).resolve().parents[3] / "sample_blends"
REGISTRATION = "bl_ext.user_default.verlet_soft_body.verlet_addon.blender.registration"
PIN = "bpy.ops.verlet.pin_selected()"
TITLE = 26
"""Height of the title of a panel within another [Blender's pixels]."""


KEPT: dict[str, dict[str, Any]] = {}
"""Settings that bodies have in the sample that was opened last."""


def settings(obj: Any) -> dict[str, Any]:
    """The settings of a body that can be set, by their names."""
    properties = [each for each in obj.verlet.bl_rna.properties if not each.is_readonly]
    return {one.identifier: getattr(obj.verlet, one.identifier) for one in properties}


def path(obj: Any, setting: str) -> str:
    """What Blender calls a setting of a body: a place that `Hand.find` knows."""
    return f'bpy.data.objects["{obj.name}"].{setting}'


def named(*names: str) -> list[Any]:
    """Objects of the file by their names."""
    return [bpy.data.objects[name] for name in names]


def scale() -> float:
    """Pixels of the screen for each of Blender's."""
    preferences: Any = bpy.context.preferences
    return float(preferences.system.ui_scale)


def sample(hand: Hand, name: str, *plain: str) -> Steps:
    """Opens a sample, without what makes these of its objects bodies or colliders."""
    bpy.ops.wm.open_mainfile(filepath=str(SAMPLES / f"{name}.blend"), load_ui=False)
    yield from wait(0.5)
    scene: Any = bpy.context.scene
    scene.frame_end = min(scene.frame_end, hand.frames)
    for each in (bpy.data.objects[one] for one in plain):
        body: Any = each
        if body.verlet.enabled:
            KEPT[body.name] = settings(body)
            select(body)
            with hand.override():
                verlet.release()
            for group in [group for group in body.vertex_groups if group.name == "Pin"]:
                body.vertex_groups.remove(group)
        for modifier in [one for one in body.modifiers if one.type == "COLLISION"]:
            body.modifiers.remove(modifier)
    hand.area.spaces.active.region_3d.view_perspective = "CAMERA"
    yield from hand.sidebar()


def as_in_sample(obj: Any) -> None:
    """Gives a body all that it has in its sample, beside what its page speaks of."""
    for name, value in KEPT[obj.name].items():
        setattr(obj.verlet, name, value)


def choose(hand: Hand, *objects: Any) -> Steps:
    """Selects objects in Object Mode, the last one active."""
    select(*objects)
    yield from hand.redrawn()


def make_body(hand: Hand, *objects: Any) -> Steps:
    """Selects meshes and presses Make Soft Body."""
    yield from choose(hand, *objects)
    yield from hand.click((yield from hand.find(MAKE)))
    yield from wait_until(lambda: all(obj.verlet.enabled for obj in objects))
    yield from hand.redrawn()


def make_collider(hand: Hand, *objects: Any) -> Steps:
    """Selects meshes and presses Make Collider."""
    yield from choose(hand, *objects)
    yield from hand.click((yield from hand.find(COLLIDER)))
    yield from wait_until(
        lambda: all(any(one.type == "COLLISION" for one in obj.modifiers) for obj in objects)
    )
    yield from hand.redrawn()


def choose_type(hand: Hand, obj: Any, body_type: str, letter: str) -> Steps:
    """Chooses the type of the active body by its letter in the menu."""
    yield from hand.click((yield from hand.find(path(obj, "verlet_type"))))
    yield from wait(0.3)
    yield from hand.press(letter)
    yield from wait_until(lambda: obj.verlet.body_type == body_type)
    yield from hand.redrawn()


def take_up(hand: Hand, obj: Any, title: str, setting: str, number: str = "") -> Steps:
    """Opens a panel, and turns a setting on there, or types a number."""
    yield from open_panel(hand, title)
    if number:
        yield from enter(hand, path(obj, f"verlet.{setting}"), number)
    else:
        yield from turn_on(hand, obj, setting)


def choose_material(hand: Hand, obj: Any, material: str, letter: str) -> Steps:
    """Chooses the material of the active body, from the menu below its type."""
    x, y = yield from hand.find(path(obj, "verlet_type"))
    yield from hand.click((x, y - round(22 * scale())))
    yield from wait(0.3)
    yield from hand.press(letter)
    density = MATERIALS[material].settings.density
    yield from wait_until(lambda: bool(np.isclose(obj.verlet.density, density)))
    yield from hand.redrawn()


def open_panel(hand: Hand, title: str) -> Steps:
    """Opens or closes a panel while those above it within Soft Body, or within Bake, are closed."""
    if title in (above := titles("VERLET_PT_bake")):
        _, y = yield from hand.find(path(bpy.context.object, "verlet_type"))
        y += round((49 + TITLE * (len(above) - 1 - above.index(title))) * scale())
    else:
        _, y = yield from hand.find(RELEASE)
        y -= round((TITLE * titles("VERLET_PT_body").index(title) + 32) * scale())
    yield from hand.click((hand.region("UI").x + round(60 * scale()), y))
    yield from hand.redrawn()


def titles(parent: str) -> list[str]:
    """Titles of the panels within one, as far as they are shown now."""
    classes = [*import_module(REGISTRATION).CLASSES]
    children = [one for one in classes if getattr(one, "bl_parent_id", "") == parent]
    return [one.bl_label for one in children if not hasattr(one, "poll") or one.poll(bpy.context)]


def turn_on(hand: Hand, obj: Any, setting: str) -> Steps:
    """Clicks the checkbox of a setting of the body."""
    yield from hand.click((yield from hand.find(path(obj, f"verlet.{setting}"))))
    yield from wait_until(lambda: bool(getattr(obj.verlet, setting)))
    yield from hand.redrawn()


def enter(hand: Hand, what: str, number: str) -> Steps:
    """Types a number into a field."""
    yield from set_number(hand, (yield from hand.find(what)), number)
    yield from hand.redrawn()


def in_edit_mode(hand: Hand, obj: Any, vertices: Iterable[int]) -> Steps:
    """Goes to Edit Mode by Tab, and selects vertices."""
    yield from choose(hand, obj)
    yield from hand.over_view()
    yield from hand.press("TAB")
    yield from wait_until(lambda: obj.mode == "EDIT")
    with hand.override():
        bpy.ops.mesh.select_mode(type="VERT")
        bpy.ops.mesh.select_all(action="DESELECT")
        bpy.ops.object.mode_set(mode="OBJECT")
        for vertex in vertices:
            obj.data.vertices[vertex].select = True
        bpy.ops.object.mode_set(mode="EDIT")
    yield from hand.redrawn()


def in_object_mode(hand: Hand, obj: Any) -> Steps:
    """Goes back by Tab."""
    yield from hand.over_view()
    yield from hand.press("TAB")
    yield from wait_until(lambda: obj.mode == "OBJECT")


def pin_selected(hand: Hand, obj: Any) -> Steps:
    """Presses Pin Selected."""
    yield from hand.click((yield from hand.find(PIN, 0.3)))
    yield from wait_until(lambda: bool(obj.verlet.pin_group))
    yield from hand.redrawn()


def attach(hand: Hand, target: Any, obj: Any) -> Steps:
    """Selects a target, then the body with Shift, opens Attachments and presses +."""
    yield from choose(hand, target, obj)
    yield from open_panel(hand, "Attachments")
    yield from hand.click((yield from hand.find(ATTACH, 0.83)))
    yield from wait_until(lambda: len(obj.verlet.attachments) == 1)
    yield from hand.redrawn()


def bake(hand: Hand, *objects: Any) -> Steps:
    """Presses Bake, and lets it end, as shape keys."""
    scene: Any = bpy.context.scene
    count = scene.frame_end - scene.frame_start + 1
    yield from press(hand, BAKE, lambda: all(len(baked(obj)) == count for obj in objects))


def finish(hand: Hand, film: str, *objects: Any) -> Steps:
    """Gives bodies all that they have in their sample, bakes them and films them."""
    for obj in objects:
        as_in_sample(obj)
    yield from bake(hand, *objects)
    yield from hand.film(film)


def press(hand: Hand, command: str, done: Callable[[], bool]) -> Steps:
    """Presses a button, and lets what it does come about."""
    yield from hand.click((yield from hand.find(command)))
    yield from wait_until(done, seconds=900)
    yield from hand.redrawn()
