"""The operator that plays bakes by bones."""

from collections.abc import Generator
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty

from ...core.skinning.decomposition import SkinningProgress
from ..bake.motion import Deviation
from ..export.bone_fit import fit_bones, offset_beside
from ..export.bones import BoneBake, add_bones
from ..live.control import working
from ..scene.file_context import file_context
from .bake_progress import BONES, Task, show_progress
from .cache_exchange import chosen_baked, has_bake
from .messages import report
from .modal_operator import ModalOperator

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

_NOTICEABLE = 0.004
"""Share of an object's size from which the rms error of bones is a warning."""


class VERLET_OT_bake_bones(ModalOperator):
    """Play the bakes of selected objects by bones: an armature, and a copy with vertex groups"""

    bl_idname = "verlet.bake_bones"
    bl_label = "Bake to Bones"
    # Not REGISTER: Adjust Last Operation would fit bones again at every change of a number.
    bl_options = {"UNDO"}

    count: IntProperty(
        name="Bones", description="Number of bones, at most", default=32, soft_min=1, soft_max=128
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Root mean square of the error that the fewest bones are to reach; 0 takes all",
        default=0.0,
        soft_min=0.0,
        soft_max=0.1,
        step=0.1,
        precision=4,
        unit="LENGTH",
    )
    beside: BoolProperty(
        name="Beside",
        description="Put the result beside the objects, so that both are seen. Otherwise it stands "
        "where they do, as a game needs it that puts several exported objects together",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_bake(cls, context)

    def invoke(
        self, context: bpy.types.Context, _event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        return self._ask(context)

    def _start(self, context: bpy.types.Context) -> None:
        """Starts to fit bones to the chosen objects."""
        self._progress = SkinningProgress(0.0, "")
        self._fitting = self._fit(context)

    def _fit(self, context: bpy.types.Context) -> Generator[SkinningProgress, None, None]:
        """Fits bones to the objects, one after the other, and then adds all of them."""
        here = file_context(context)
        scene, layer = here.scene, here.view_layer
        fits = []
        with working():
            for obj in chosen_baked(context):
                fitting = fit_bones(scene, layer, obj, count=self.count, tolerance=self.tolerance)
                fits.append((yield from fitting))
            offset = offset_beside(fits).tolist() if self.beside else (0.0, 0.0, 0.0)
            self._made = [add_bones(scene, layer, fit, offset=offset) for fit in fits]

    def _step(self) -> bool:
        """Reads the next frame, or comes closer to the bones."""
        if (progress := next(self._fitting, None)) is None:
            return False
        self._progress = progress
        return True

    def _show(self, context: bpy.types.Context) -> None:
        """Shows the work that is done."""
        show_progress(context, self._progress.share, self._progress.text, BONES)

    def _finish(self, _context: bpy.types.Context) -> None:
        """Reports how far off the bones are."""
        for made in self._made:
            self._tell(made)

    def _undo(self, _context: bpy.types.Context) -> None:
        """Ends the fit, which has added nothing yet."""
        self._fitting.close()

    def _task(self) -> Task:
        """Labels of the fit in progress."""
        return BONES

    def _tell(self, made: BoneBake) -> None:
        """Reports how far off the bones are."""
        skinning = made.skinning
        count = skinning.weights.shape[1]
        bones = "1 bone is" if count == 1 else f"{count} bones are"
        off = Deviation(skinning.worst, skinning.rms).describe()
        sentence = f"{made.skin.name}: {bones} off by {off}"
        size = float((skinning.rest.max(axis=0) - skinning.rest.min(axis=0)).max())
        if 0 < self.tolerance < skinning.rms:
            sentence += "; more bones come nearer"
        elif skinning.rms > _NOTICEABLE * size:
            sentence += "; folds finer than the bones are lost, so take more, or another form"
        else:
            report(self, "INFO", sentence)
            return
        report(self, "WARNING", sentence)
