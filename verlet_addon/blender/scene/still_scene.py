"""The scene at the current frame, read as if time stood still."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy

from ...core.arrays import Floats
from ...core.mesh import MeshData
from ...core.scene import Sample
from ..settings.timing import seconds_per_frame
from .attachments import Anchor, take_hold
from .bone_joints import read_joints
from .mesh_io import world_matrix
from .modifiers import read_shown
from .sampling import SampleReader, Stage
from .starting_meshes import read_meshes


class StillStage(Stage):
    """A scene that stays at its current frame, whichever frame is asked for."""

    def at(self, frame: int) -> bpy.types.Depsgraph:
        """The scene as it is evaluated now."""
        return self.depsgraph


@dataclass(frozen=True)
class DrapeStage(StillStage):
    """A still scene, and where its bodies are as a drape begins."""

    starts: Sequence[Floats] = ()
    """Per body, (n, 3) positions of its vertices as the drape begins [m]."""

    def take_hold(self, depsgraph: bpy.types.Depsgraph) -> list[list[Anchor]]:
        """Ties the attachments of each body to its vertices where these are at first."""
        return [take_hold(*each, depsgraph) for each in zip(self.bodies, self.starts, strict=True)]


def stand_still(stage: Stage, starts: Sequence[Floats]) -> DrapeStage:
    """The stage at its current frame, with bodies that start elsewhere."""
    return DrapeStage(**vars(stage), starts=starts)


def read_start(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(n, 3) where a body's vertices, or its joints, are shown at the current frame [m]."""
    if (joints := read_joints(obj, depsgraph)) is not None:
        return joints
    linear, offset = world_matrix(obj, depsgraph)
    return read_shown(obj, depsgraph) @ linear.T + offset


def read_still(stage: DrapeStage) -> tuple[list[MeshData], Sample]:
    """The bodies where they are at first, at rest, and all that surrounds them.

    A body's rest shape is its own, or else that of its mesh without its simulation.
    """
    frame = stage.scene.frame_current
    meshes = [
        replace(mesh, positions=start, rest_positions=mesh.at_rest)
        for mesh, start in zip(read_meshes(stage, frame), stage.starts, strict=True)
    ]
    sample = SampleReader(stage, frame).read(frame, stage.depsgraph)
    return meshes, replace(sample, duration=seconds_per_frame(stage.scene))
