"""The operators that write bakes as caches for other programs, and that play such caches."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ...core.errors import FileError, MeshError
from ..bake.record import is_baked
from ..export.point_caches import play_points, write_points
from ..export.scene_caches import check_built_in, write_scene_cache
from ..export.written_files import target
from ..live.control import working
from ..scene.curve_points import is_curve
from ..scene.file_context import FileContext, file_context
from ..translation.interface import translated
from .files_beside import WritesBeside
from .messages import report
from .operators import cancelled_by_errors, undoable_mode
from .panel_base import layout_of

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

FORMATS = (
    ("PC2", "PC2", "Point cache: positions of each vertex, played by Blender, 3ds Max and others"),
    ("MDD", "MDD", "Point cache: positions of each vertex, played by Blender, Houdini and others"),
    ("ALEMBIC", "Alembic", "Meshes with their modifiers, frame by frame"),
    ("USD", "USD", "Meshes with their modifiers, frame by frame"),
)
SUFFIXES = {"PC2": ".pc2", "MDD": ".mdd", "ALEMBIC": ".abc", "USD": ".usdc"}
_USD = {".usd", ".usda", ".usdc"}
UP = (("Z", "Z", "As in Blender and 3ds Max"), ("Y", "Y", "As in Maya and Houdini"))


def chosen_baked(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Lists the selected objects that have bakes; the active one alone if none is selected.

    Curves, which cannot be exported, are listed only where there are no others, for their error.

    Raises
    ------
    MeshError
        None has a bake.
    """
    if found := selected_baked(context):
        return found
    chosen = _chosen(context)
    if len(chosen) == 1:
        raise MeshError(
            f"{chosen[0].name} has no bake; bake it first, or select an object that has one"
        )
    raise MeshError("No selected object has a bake; select one that has, or bake first")


def selected_baked(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The same objects; none where `chosen_baked` raises an error."""
    found = [obj for obj in _chosen(context) if is_baked(obj)]
    return [obj for obj in found if not is_curve(obj)] or found


def _chosen(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected objects; the active one alone if none is selected."""
    here = file_context(context)
    active = here.view_layer.objects.active
    return list(here.selected_objects) or ([active] if active is not None else [])


def has_bake(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Whether any object of the scene has a bake, in a mode with undo; else sets the message."""
    if not any(map(is_baked, file_context(context).scene.objects)):
        operator.poll_message_set("No object of the scene has a bake; bake one first")
        return False
    return undoable_mode(operator, context)


class VERLET_OT_export_cache(WritesBeside, ExportHelper, bpy.types.Operator):  # type: ignore[misc]
    """Write the motion of the selected baked objects to a file that other programs play"""

    bl_idname = "verlet.export_cache"
    bl_label = "Export Baked Cache"

    format: EnumProperty(name="Format", description="Kind of file", items=FORMATS, default="PC2")
    space: EnumProperty(
        name="Space",
        description="Space of the positions of PC2 and MDD",
        items=(
            ("LOCAL", "Local", "The object's own, which its animation moves"),
            ("WORLD", "World", "The world's, for an object that stands still at the origin"),
        ),
        default="LOCAL",
    )
    up: EnumProperty(
        name="Up", description="Axis that points up in PC2 and MDD", items=UP, default="Z"
    )
    use_normals: BoolProperty(
        name="Normals",
        description="Write the normals of each frame to Alembic and USD, which makes the file four "
        "times as large; without, the program that reads it computes them",
    )
    filter_glob: StringProperty(default="*.pc2;*.mdd;*.abc;*.usd;*.usda;*.usdc", options={"HIDDEN"})

    @property
    def filename_ext(self) -> str:
        """Suffix of the format, which the file browser adds."""
        suffix = Path(cast(Any, self).filepath).suffix.lower()
        return suffix if self.format == "USD" and suffix in _USD else SUFFIXES[self.format]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_bake(cls, context)

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column()
        column.prop(self, "format")
        points = self.format in ("PC2", "MDD")
        for name in ("space", "up") if points else ("use_normals",):
            column.prop(self, name)
        if points:
            path = Path(cast(Any, self).filepath)
            self.draw_others(others(path, selected_baked(context)))

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        objects = chosen_baked(context)
        points = self.format in ("PC2", "MDD")
        if not points:
            check_built_in(self.format)
        path = target(cast(Any, self).filepath, self.filename_ext)
        self.check_others(others(path, objects) if points else [])
        with working():
            if points:
                frames = self.write_points(here, objects, path)
            else:
                frames = write_scene_cache(
                    here.scene,
                    here.view_layer,
                    objects,
                    path,
                    self.format,
                    normals=self.use_normals,
                )
        names = objects[0].name if len(objects) == 1 else f"{len(objects)} objects"
        where = path if len(objects) == 1 or not points else path.parent
        report(self, "INFO", f"Wrote frames {frames[0]} to {frames[-1]} of {names} to {where}")
        return {"FINISHED"}

    def write_points(
        self, here: FileContext, objects: Sequence[bpy.types.Object], path: Path
    ) -> range:
        """Writes a point cache for each object; returns the frames of all."""
        written = [
            write_points(
                here.scene, here.view_layer, obj, each, world=self.space == "WORLD", up=self.up
            )
            for obj, each in zip(objects, one_each(path, objects), strict=True)
        ]
        return range(min(each[0] for each in written), max(each[-1] for each in written) + 1)


def one_each(path: Path, objects: Sequence[bpy.types.Object]) -> list[Path]:
    """A path for each object: the one given for one alone; else with the names of the objects."""
    if len(objects) == 1:
        return [path]
    names = [bpy.path.clean_name(obj.name) for obj in objects]
    return [path.with_name(f"{path.stem}_{name}{path.suffix}") for name in names]


def others(path: Path, objects: Sequence[bpy.types.Object]) -> list[Path]:
    """The point caches of objects, but for one of the path that is given."""
    return [each for each in one_each(path, objects) if each != path]


class VERLET_OT_import_cache(ImportHelper, bpy.types.Operator):  # type: ignore[misc]
    """Have the active object play a point cache, by Blender's Mesh Cache modifier"""

    bl_idname = "verlet.import_cache"
    bl_label = "Play Cache"
    bl_options = {"REGISTER", "UNDO"}

    up: EnumProperty(
        name="Up", description="Axis that points up in the file", items=UP, default="Z"
    )
    filter_glob: StringProperty(default="*.pc2;*.mdd", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.object is None:
            cls.poll_message_set("Make the mesh that is to move the active object first")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        obj = cast(bpy.types.Object, context.object)
        if not (filepath := cast(Any, self).filepath):
            raise FileError("No file is chosen; choose one to play", Path())
        path = Path(bpy.path.abspath(filepath)).resolve()
        frames = play_points(obj, path, file_context(context).scene, up=self.up)
        report(self, "INFO", f"{obj.name} plays frames {frames[0]} to {frames[-1]} of {path}")
        return {"FINISHED"}


def draw_export_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the entries to File ▸ Export."""
    _entry(self, "verlet.export_cache", "Verlet Cache (.pc2, .mdd, .abc, .usd)")


def draw_import_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the entry to File ▸ Import."""
    _entry(self, "verlet.import_cache", "Verlet Cache (.pc2, .mdd)")


def _entry(menu: bpy.types.Menu, operator: str, text: str) -> None:
    """Adds an operator with a file browser to a menu."""
    layout = layout_of(menu)
    layout.operator_context = "INVOKE_DEFAULT"
    layout.operator(operator, text=translated(text))
