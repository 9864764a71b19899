"""The operator that fits garments to the morphs of a body."""

from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import FloatProperty, IntProperty, StringProperty

from ...core.errors import MeshError
from ..live.fit import FRAMES, SECONDS, fit
from ..scene.colliders import is_collider
from ..scene.file_context import file_context
from ..scene.mesh_access import shape_keys_of
from ..settings.properties import body_properties
from .bake_progress import FIT, Task, show_progress
from .messages import report
from .modal_operator import ModalOperator
from .operators import chosen_bodies, has_bodies, undoable_mode
from .panel_base import layout_of

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_fit(ModalOperator):
    """Drape the selected soft bodies on each shape key of a body, and keep a shape key of each"""

    bl_idname = "verlet.fit"
    bl_label = "Fit to Morphs"
    # Not REGISTER: Adjust Last Operation would fit again at every change of a number.
    bl_options = {"UNDO"}

    garment: StringProperty(
        name="Garment",
        description="Soft body to fit; without one, those that are selected",
        options={"SKIP_SAVE"},
    )
    on: StringProperty(
        name="On",
        description="Collider whose shape keys are the morphs; without one, the only one with any",
        options={"SKIP_SAVE"},
    )
    morphs: StringProperty(
        name="Morphs",
        description="Names of its shape keys, with commas between; without any, all of them",
        options={"SKIP_SAVE"},
    )
    frames: IntProperty(
        name="Frames",
        description="Frames over which a morph grows",
        default=FRAMES,
        min=1,
        soft_max=250,
    )
    seconds: FloatProperty(
        name="Longest Time",
        description="Time after which each shape is kept even if it is not at rest",
        default=SECONDS,
        min=0.1,
        soft_max=60.0,
        unit="TIME_ABSOLUTE",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_bodies(cls, context) and undoable_mode(cls, context)

    def invoke(
        self, context: bpy.types.Context, _event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        self.on = self.on or _only_morphed(context)
        return self._ask(context)

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        column = layout.column()
        scene = file_context(context).scene
        column.prop_search(self, "on", scene, "objects", icon="OBJECT_DATA")
        for name in ("morphs", "frames", "seconds"):
            column.prop(self, name)

    def _start(self, context: bpy.types.Context) -> None:
        """Starts to fit the chosen garments."""
        here = file_context(context)
        body = _named(here.scene, self.on or _only_morphed(context))
        if self.garment:
            garments = [cast(bpy.types.Object, _named(here.scene, self.garment))]
        else:
            chosen = chosen_bodies(context, selected=True, otherwise="name one")
            garments = [obj for obj in chosen if obj != body]
        names = [name.strip() for name in self.morphs.split(",") if name.strip()]
        self._fitting = fit(
            here.scene,
            here.view_layer,
            garments,
            body,
            names,
            frames=self.frames,
            seconds=self.seconds,
        )

    def _step(self) -> bool:
        """Simulates the next frame."""
        if (last := next(self._fitting, None)) is None:
            return False
        self._last = last
        return True

    def _show(self, context: bpy.types.Context) -> None:
        """Shows how many of the shapes are there."""
        last = self._last
        # With the name of the morph, it would be too long for the panel.
        text = f"shape {last.number} of {last.total}, {last.settling.seconds:.1f} s"
        show_progress(context, (last.number - 1) / last.total, text, FIT)

    def _finish(self, _context: bpy.types.Context) -> None:
        """Reports the shapes that are kept."""
        for remark in self._last.remarks:
            report(self, "WARNING", remark)
        report(self, "INFO", self._last.result())

    def _undo(self, _context: bpy.types.Context) -> None:
        """Ends the fit, which has kept nothing yet."""
        self._fitting.close()

    def _task(self) -> Task:
        """Labels of the fit in progress."""
        return FIT


def _named(scene: bpy.types.Scene, name: str) -> bpy.types.Object | None:
    """The object of a scene with a name; None without a name."""
    if name and name not in scene.objects:
        raise MeshError(f"There is no object {name} in {scene.name}; name one of its objects")
    return scene.objects[name] if name else None


def _only_morphed(context: bpy.types.Context) -> str:
    """Name of the only collider with shape keys; empty if there are none or several."""
    found = [
        obj.name
        for obj in file_context(context).scene.objects
        if is_collider(obj) and _has_morphs(obj) and not body_properties(obj).enabled
    ]
    return found[0] if len(found) == 1 else ""


def _has_morphs(obj: bpy.types.Object) -> bool:
    """Whether an object has shape keys beside its Basis."""
    key: Any = shape_keys_of(obj)
    return key is not None and len(key.key_blocks) > 1
