"""One seed: a scene, and a user who bakes, changes something, and bakes again."""

from collections.abc import Callable
from typing import Any

import bpy

from tests.blender.scenes import select, verlet
from tests.fuzz.bodies import add_body, modifiers, settings
from tests.fuzz.draw import Draw
from tests.fuzz.promises import attempt, bake, save_and_open
from tests.fuzz.surroundings import build


def play(seed: int, tell: Callable[[str], None]) -> None:
    """Plays a seed; tells the scene and each step before it begins.

    Raises
    ------
    BrokenError
        A promise was not kept. Whatever else is raised is as bad.
    """
    draw = Draw(seed)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    tell(build(draw))
    scene: Any = bpy.context.scene
    scene.frame_set(scene.frame_current)
    bake_again(draw)
    for _ in range(draw.whole(1, 4)):
        step = draw.one_of(STEPS)
        tell(step.__name__)
        step(draw)


def bake_again(draw: Draw) -> None:
    """Bakes in the scene's frames or in others, all bodies or some."""
    options: dict[str, Any] = {"selected": True} if draw.chance(0.1) else {}
    if draw.chance(0.2):
        start = draw.whole(-5, 5)
        options["frames"] = (start, start + draw.whole(0, 5))
    if draw.chance(0.1):
        options["step"] = draw.whole(1, 4)
    bake(draw, **options)


def convert(draw: Draw) -> None:
    """Makes some objects bodies, whatever they are."""
    select_some(draw)
    types = ("AUTO", "AUTO", "CLOTH", "ROPE", "SOFT", "WATER")
    attempt(verlet.convert, body_type=draw.one_of(types), use_material=draw.chance(0.5))
    bake_again(draw)


def release(draw: Draw) -> None:
    """Makes some bodies ordinary objects again."""
    select_some(draw)
    attempt(verlet.release)


def clear(draw: Draw) -> None:
    """Clears all bakes, or those of selected objects."""
    select_some(draw)
    attempt(verlet.clear_bake, selected=draw.chance(0.5))


def set_material(draw: Draw) -> None:
    """Gives some bodies a material."""
    select_some(draw)
    materials = verlet.set_material.get_rna_type().properties["material"].enum_items
    attempt(verlet.set_material, material=draw.one_of([item.identifier for item in materials]))
    bake_again(draw)


def add(draw: Draw) -> None:
    """Adds a body by an operator."""
    name = draw.one_of(("add_cloth", "add_rope", "add_jelly", "add_water"))
    number = "segments" if name == "add_rope" else "resolution"
    options: dict[str, Any] = {number: draw.whole(1, 6), "use_material": draw.chance(0.5)}
    if name == "add_water":
        del options["use_material"]
    attempt(getattr(verlet, name), **options)
    bake_again(draw)


def other_operators(draw: Draw) -> None:
    """Buttons beside those that bake, each on whatever is selected."""
    for name in ("make_collider", "show_tube", "attachment_add", "attachment_remove"):
        select_some(draw)
        attempt(getattr(verlet, name))
    bake_again(draw)


def undo(draw: Draw) -> None:
    """Bakes, and takes it back."""
    bpy.ops.ed.undo_push(message="before")
    bake_again(draw)
    bpy.ops.ed.undo_push(message="after")
    step_back: Any = bpy.ops.ed.undo
    if step_back.poll():  # not where the file was opened anew
        step_back()
    bake_again(draw)


def reopen(draw: Draw) -> None:
    """Saves and opens the file."""
    save_and_open()
    bake_again(draw)
    clear(draw)


def change(draw: Draw) -> None:
    """Sets properties of a body, or adds modifiers to it."""
    if obj := any_mesh(draw):
        draw.one_of((settings, modifiers))(draw, obj)
    bake_again(draw)


def empty_mesh(draw: Draw) -> None:
    """Takes everything out of a mesh; its keys stay."""
    if obj := any_mesh(draw):
        obj.data.clear_geometry()
    draw.one_of((clear, bake_again))(draw)
    clear(draw)


def edit(draw: Draw) -> None:
    """Deletes or adds vertices in Edit Mode, or stays in it."""
    obj = any_mesh(draw)
    if obj is None or not obj.visible_get() or obj.library or obj.data.library:
        return
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    if draw.chance(0.3):
        bake_again(draw)
    bpy.ops.mesh.select_all(action="SELECT")
    change_mesh = draw.one_of((bpy.ops.mesh.subdivide, bpy.ops.mesh.delete, bpy.ops.mesh.duplicate))
    attempt(verlet.split_for_tearing)
    change_mesh()
    bpy.ops.object.mode_set(mode="OBJECT")
    draw.one_of((clear, bake_again))(draw)
    clear(draw)


def change_keys(draw: Draw) -> None:
    """Removes, renames or mutes shape keys, baked ones among them."""
    if (obj := any_mesh(draw)) is None or obj.data.shape_keys is None:
        return
    for _ in range(draw.whole(1, 3)):
        if (key := obj.data.shape_keys) is None:
            break
        block = draw.one_of(key.key_blocks[:])
        kind = draw.whole(0, 4)
        if kind == 0:
            obj.shape_key_remove(block)
        elif kind == 1:
            obj.shape_key_clear()
        elif kind == 2:
            block.name = draw.one_of(("Basis", "verlet_0001", "verlet_0002", "Mine"))
        elif kind == 3:
            block.mute = True
        else:
            key.use_relative = False
    draw.one_of((clear, bake_again))(draw)
    clear(draw)


def remove(draw: Draw) -> None:
    """Deletes an object, a group or a modifier that others may need."""
    if not bpy.data.objects:
        return
    obj: Any = draw.one_of(bpy.data.objects[:])
    parts = [part for part in (obj.vertex_groups, obj.modifiers) if len(part)]
    if parts and draw.chance(0.5):
        part = draw.one_of(parts)
        part.remove(part[0])
    else:
        bpy.data.objects.remove(obj)
    bake_again(draw)


def body(draw: Draw) -> None:
    """Another body, made as those at the start."""
    add_body(draw, 9)
    bake_again(draw)


STEPS: tuple[Callable[[Draw], None], ...] = (
    *(convert, release, clear, set_material, add, other_operators, undo, reopen, change),
    *(empty_mesh, edit, change_keys, remove, body, change, change_keys),
)


def any_mesh(draw: Draw) -> Any:
    """A mesh object of the view layer, if there is one."""
    objects = [obj for obj in bpy.context.view_layer.objects if obj.type == "MESH"]
    return draw.one_of(objects) if objects else None


def select_some(draw: Draw) -> None:
    """Selects some objects of the view layer, maybe none; one of them, or none, is active."""
    objects = [obj for obj in bpy.context.view_layer.objects if draw.chance(0.6)]
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = draw.one_of(objects) if objects else None
