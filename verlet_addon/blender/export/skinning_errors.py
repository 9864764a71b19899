"""Errors of a bake as bones: color and number attributes of the skinned mesh."""

from typing import Any

import bpy
import numpy as np

from ...core.skinning.decomposition import Skinning
from ..scene.mesh_access import mesh_of

COLOR, NUMBER = "Bone Error", "bone_error"
"""Names of the color attribute, and of the one with meters."""
RMS, WORST = "bone_error_rms", "bone_error_worst"
"""Names of the object's custom properties [m]."""


def show_errors(skin: bpy.types.Object, skinning: Skinning) -> None:
    """Stores the largest error of each vertex, as a color from blue, 0, to red, the worst of all.

    The object keeps the rms and the worst error as custom properties.
    """
    largest = skinning.errors.max(axis=0)
    attributes: Any = mesh_of(skin).attributes
    number = attributes.new(NUMBER, "FLOAT", "POINT")
    number.data.foreach_set("value", largest.astype(np.float32))
    share = largest / max(skinning.worst, 1e-12)
    colors = np.stack(
        [
            np.clip(2 * share - 0.5, 0, 1),
            np.clip(1.5 - np.abs(4 * share - 2), 0, 1),
            np.clip(1.5 - 2 * share, 0, 1),
            np.ones_like(share),
        ],
        axis=1,
    )
    color = attributes.new(COLOR, "FLOAT_COLOR", "POINT")
    color.data.foreach_set("color", colors.astype(np.float32).ravel())
    holder: Any = skin
    holder[RMS], holder[WORST] = skinning.rms, skinning.worst
