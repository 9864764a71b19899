"""Bakes as Alembic and USD caches, by Blender's own exporters."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import VerletError
from .motion import bakes_shown, check_shown, frames_of
from .written_files import written_whole

_BUILT_IN = {"ALEMBIC": ("alembic", "Alembic"), "USD": ("usd", "USD")}
"""Names of Blender's build option and of the format in the interface, by format."""


def check_built_in(form: str) -> None:
    """Raises VerletError if this build of Blender lacks a format, ALEMBIC or USD."""
    option, name = _BUILT_IN[form]
    if not getattr(bpy.app.build_options, option):
        raise VerletError(
            f"This build of Blender has no {name}; choose PC2 or MDD, or use Blender from "
            "blender.org"
        )


def write_scene_cache(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
    path: Path,
    form: str,
    *,
    normals: bool,
) -> range:
    """Writes what the bakes of objects show, with all modifiers, as an Alembic or a USD cache.

    Parameters
    ----------
    form : ALEMBIC or USD.
    normals : whether it has the normals of each frame, which take four times the space.

    Returns
    -------
    range
        The frames.

    Raises
    ------
    VerletError
        This build of Blender lacks the format, an object does not show its bake, or the file
        cannot be written; a former file stays then.
    """
    check_built_in(form)
    for obj in objects:
        check_shown(obj, view_layer)
    frames = frames_of(objects, scene)
    with (
        written_whole(path) as partial,
        bakes_shown(scene, objects, finish=True),
        alone_selected(view_layer, objects),
        _frames_set(scene, frames),
    ):
        _export(form, partial, frames, normals=normals)
    return frames


def _export(form: str, path: Path, frames: range, *, normals: bool) -> None:
    """Exports the selected objects by Blender's exporter, as viewports show them."""
    operators: Any = bpy.ops.wm
    if form == "ALEMBIC":
        operators.alembic_export(
            filepath=str(path),
            start=frames[0],
            end=frames[-1],
            selected=True,
            normals=normals,
            apply_subdiv=True,
            evaluation_mode="VIEWPORT",
            as_background_job=False,
        )
        return
    wanted = {
        "selected_objects_only": True,
        "export_animation": True,
        "export_normals": normals,
        "export_subdivision": "TESSELLATE",
        "export_materials": False,
        "export_shapekeys": False,
        "export_armatures": False,
        "convert_world_material": False,
        "evaluation_mode": "VIEWPORT",
    }
    # Not every version converts the world to a light.
    known = operators.usd_export.get_rna_type().properties.keys()
    operators.usd_export(
        filepath=str(path), **{name: wanted[name] for name in wanted if name in known}
    )


@contextmanager
def alone_selected(
    view_layer: bpy.types.ViewLayer, objects: Sequence[bpy.types.Object]
) -> Iterator[None]:
    """Selects these objects alone; restores selection, active object and its mode afterwards."""
    active = view_layer.objects.active
    mode: Any = active.mode if active is not None else ""
    selected = [obj for obj in view_layer.objects if obj.select_get(view_layer=view_layer)]
    try:
        for obj in view_layer.objects:
            obj.select_set(obj in objects, view_layer=view_layer)
        yield
    finally:
        for obj in view_layer.objects:
            obj.select_set(obj in selected, view_layer=view_layer)
        view_layer.objects.active = active
        if active is not None and active.mode != mode:
            bpy.ops.object.mode_set(mode=mode)


@contextmanager
def _frames_set(scene: bpy.types.Scene, frames: range) -> Iterator[None]:
    """Sets the frames that a scene plays, and restores them afterwards."""
    names = ("use_preview_range", "frame_start", "frame_end")
    before = [getattr(scene, name) for name in names]
    try:
        scene.use_preview_range, scene.frame_start, scene.frame_end = False, frames[0], frames[-1]
        yield
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(scene, name, value)
