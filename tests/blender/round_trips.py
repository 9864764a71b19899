"""Exports a scene, reads the file back into an empty one, and measures how far anything is off."""

import ast
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils.kdtree import KDTree

from tests.blender.scenes import blender, shown

SAME_PLACE = 1e-5
"""Vertices nearer than this to each other are told apart by how they move [m]."""
PRESETS = Path(__file__).parents[2] / "verlet_addon" / "blender" / "ui" / "presets" / "operator"


@dataclass(frozen=True)
class Format:
    """How Blender writes a kind of file and reads it back."""

    exporter: str
    importers: tuple[str, ...]
    """The first that this Blender has is used."""
    suffix: str
    finished: bool = False
    """Whether the file holds meshes as their modifiers leave them."""
    delays: tuple[int, ...] = (0,)
    """Frames by which exporter and importer together may move everything; the best one counts."""
    from_zero: str = ""
    """The setting of the exporter by which what the file plays begins at 0 s."""

    @property
    def preset(self) -> dict[str, Any]:
        """What our preset of the exporter sets."""
        text = (PRESETS / self.exporter / "baked_soft_bodies.py").read_text(encoding="utf-8")
        settings = [item for item in ast.parse(text).body if isinstance(item, ast.Assign)]
        return {
            item.targets[0].attr: ast.literal_eval(item.value)
            for item in settings
            if isinstance(item.targets[0], ast.Attribute)
        }

    @property
    def available(self) -> bool:
        """Whether this build of Blender knows the format."""
        return operator(self.exporter) is not None


FORMATS = {
    "glTF": Format(
        "export_scene.gltf", ("import_scene.gltf",), "glb", from_zero="export_anim_slide_to_zero"
    ),
    "FBX": Format("export_scene.fbx", ("wm.fbx_import", "import_scene.fbx"), "fbx", delays=(0, 1)),
    "USD": Format("wm.usd_export", ("wm.usd_import",), "usdc", finished=True),
    "Alembic": Format("wm.alembic_export", ("wm.alembic_import",), "abc", finished=True),
}


def round_trip(
    form: Format, bodies: Sequence[str], folder: Path, **settings: Any
) -> dict[str, float]:
    """Exports the open file, opens a new one, imports there, and compares every frame.

    Returns for each body the largest distance [m] of any exported vertex from where it was;
    infinite for a body of which nothing is found.
    """
    scene = bpy.context.scene
    frames, fps = range(scene.frame_start, scene.frame_end + 1), scene.render.fps
    delays = (-frames[0],) if settings.get(form.from_zero) else form.delays
    path = str(folder / f"round_trip.{form.suffix}")
    export(form, path, settings)
    if not form.finished:
        remove_finish(bodies)
    wanted = {name: [shown(bpy.data.objects[name], frame) for frame in frames] for name in bodies}
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.render.fps = fps
    next(filter(None, map(operator, form.importers)))(filepath=path)
    return {
        name: min(worst(name, wanted[name], frames, delay) for delay in delays) for name in bodies
    }


def export(form: Format, path: str, settings: dict[str, Any]) -> None:
    """Writes the open file's scene in a format.

    Blender 4.2 as a Python module crashes at its end once it has written glTF, with the add-on or
    without: another process does that, and ends before its end.
    """
    if form.suffix != "glb" or bpy.app.binary_path or bpy.app.version >= (4, 3, 0):
        operator(form.exporter)(filepath=path, **settings)
        return
    blend = f"{path}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=blend, copy=True)
    lines = [
        "import bpy, os",
        f"bpy.ops.wm.open_mainfile(filepath={blend!r})",
        f"bpy.ops.{form.exporter}(filepath={path!r}, **{settings!r})",
        "os._exit(0)",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def operator(identifier: str) -> Any:
    """An operator by its identifier; None if this build of Blender lacks it."""
    module, name = identifier.split(".")
    found = getattr(getattr(blender.ops, module), name)
    with suppress(KeyError):
        found.get_rna_type()
        return found
    return None


def remove_finish(bodies: Sequence[str]) -> None:
    """Removes the modifiers that only finish a mesh: formats with shape keys leave them out."""
    for name in bodies:
        obj = bpy.data.objects[name]
        for modifier in [item for item in obj.modifiers if item.type != "ARMATURE"]:
            obj.modifiers.remove(modifier)


def worst(name: str, wanted: Sequence[Any], frames: range, delay: int) -> float:
    """The largest distance of an imported body's vertices from where they should be.

    Importers may split, drop and sort vertices: each is one of those at its place in frame 1, of
    which there are two where a mesh is split for tearing.
    """
    found = imported(name)
    if found is None:
        return float("inf")
    tree = KDTree(len(wanted[0]))
    for index, position in enumerate(wanted[0]):
        tree.insert(position, index)
    tree.balance()
    ways, there = np.array([shown(found, frame + delay) for frame in frames]), np.array(wanted)

    def off(vertex: int) -> float:
        start = ways[0, vertex]
        near = tree.find_range(start, SAME_PLACE) or [tree.find(start)]
        apart = [ways[:, vertex] - there[:, index] for _, index, _ in near]
        return min(float(np.linalg.norm(way, axis=1).max()) for way in apart)

    return max(off(vertex) for vertex in range(ways.shape[1]))


def imported(name: str) -> Any:
    """The mesh object that was exported under a name; importers change names a little."""
    plain = re.sub(r"\W", "_", name)
    meshes = [obj for obj in bpy.data.objects if obj.type == "MESH" and obj.data.vertices]
    for ending in ("", "_001"):
        for obj in meshes:
            if re.sub(r"\W", "_", obj.name) == plain + ending:
                return obj
    return None
