"""The operator that writes bakes as vertex animation textures."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ..export.vertex_textures import texture_files, write_textures
from ..export.written_files import target
from ..live.control import working
from ..scene.file_context import file_context
from .cache_exchange import chosen_baked, has_bake, one_each, selected_baked
from .files_beside import WritesBeside
from .messages import report
from .operators import cancelled_by_errors
from .panel_base import layout_of

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_export_vat(WritesBeside, ExportHelper, bpy.types.Operator):  # type: ignore[misc]
    """Write the motion of the selected baked objects as textures, from which shaders move meshes"""

    bl_idname = "verlet.export_vat"
    bl_label = "Export Vertex Animation Texture"

    format: EnumProperty(
        name="Format",
        description="Kind of texture",
        items=(
            ("PNG16", "PNG 16", "16 bits a channel: a 65,536th of the range of the motion"),
            ("EXR16", "EXR Half", "Half floats: a 2,048th of the range at worst"),
            ("EXR32", "EXR Float", "Floats: exact, and twice as large"),
        ),
        default="PNG16",
    )
    use_normals: BoolProperty(
        name="Normals", description="Also write a texture with the normals", default=True
    )
    filter_glob: StringProperty(default="*.png;*.exr", options={"HIDDEN"})

    @property
    def filename_ext(self) -> str:
        """Suffix of the format, which the file browser adds."""
        return ".png" if self.format == "PNG16" else ".exr"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_bake(cls, context)

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(self, "format")
        layout.prop(self, "use_normals")
        self.draw_others(self._others(Path(cast(Any, self).filepath), selected_baked(context)))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        helper = cast(Any, super())
        if not cast(Any, self).filepath:
            cast(Any, self).filepath = default_name(self.filename_ext)
        return helper.invoke(context, event)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        objects = chosen_baked(context)
        path = target(cast(Any, self).filepath, self.filename_ext)
        self.check_others(self._others(path, objects))
        with working():
            for obj, each in zip(objects, one_each(path, objects), strict=True):
                made = write_textures(
                    here.scene, here.view_layer, obj, each, self.format, normals=self.use_normals
                )
                layout = made.layout
                report(
                    self,
                    "INFO",
                    f"Wrote {layout.frames} frames of {obj.name} to {each}, "
                    f"{layout.width} by {layout.height} pixels",
                )
        return {"FINISHED"}

    def _others(self, path: Path, objects: Sequence[bpy.types.Object]) -> list[Path]:
        """The files that are written beside a path for objects."""
        files = [
            file
            for each in one_each(path, objects)
            for file in texture_files(each, normals=self.use_normals)
        ]
        return [file for file in files if file != path]


def default_name(suffix: str) -> str:
    """The path that the dialog proposes; glTF exporters propose another name for their mesh."""
    return f"{Path(bpy.data.filepath or 'untitled').with_suffix('')}_vat{suffix}"


def draw_vat_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the entry to File ▸ Export."""
    layout = layout_of(self)
    layout.operator_context = "INVOKE_DEFAULT"
    layout.operator("verlet.export_vat", text="Verlet Vertex Animation Texture (.png, .exr)")
