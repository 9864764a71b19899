"""One live simulation: frames simulated during playback, and their point caches."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import bpy

from ...core.errors import MeshError
from ...core.scene import Frame
from ...core.simulation import Simulation, start_simulation
from ..bake.bake import bodies, frame_range, prepare_stage, read_settings, taking_part
from ..bake.cautions import why_nothing
from ..bake.former_bake import former_bakes_hidden
from ..bake.record import settings_mark
from ..scene.key_points import shown_points
from ..scene.mesh_access import mesh_of
from ..scene.modifiers import finish_hidden
from ..scene.sampling import SampleReader, Stage, read_meshes
from ..scene.timing import animation_frame
from ..settings.properties import scene_properties
from .cache_files import cache_file
from .cache_modifier import add_cache_modifier, remove_cache_modifiers
from .pc2 import append_sample, create_pc2


@dataclass(eq=False, repr=False)
class Session:
    """A live simulation of a scene, from its first frame to the last one simulated."""

    stage: Stage
    marks: tuple[str, ...]
    """Of the settings of each body, with which the simulation began."""
    reader: SampleReader
    simulation: Simulation
    start: int
    """Frame of the first sample."""
    caches: list[Path]
    """The point cache of each body."""
    frames: list[Frame] = field(default_factory=list)
    """The result at each frame from the first on."""
    stale: str = ""
    """Why what was simulated no longer holds; empty while it does."""
    reading: ExitStack | None = None
    """While Blender evaluates the scene as a bake would see it: what puts that back."""

    @property
    def last(self) -> int:
        """The last frame that is simulated."""
        return self.start + len(self.frames) - 1

    @property
    def remarks(self) -> list[str]:
        """What the user should know of what happened, in one sentence each."""
        return [remark for frame in self.frames for remark in frame.remarks]

    def prepare_reading(self) -> None:
        """Has Blender evaluate the next frame as a bake would see it."""
        self.reading = ExitStack()
        self.reading.enter_context(former_bakes_hidden(self.stage.bodies))
        self.reading.enter_context(finish_hidden(self.stage.bodies))

    def end_reading(self) -> None:
        """Shows the bodies again as they are."""
        if self.reading is not None:
            reading, self.reading = self.reading, None
            reading.close()
            for obj in self.stage.bodies:
                mesh_of(obj).update_tag()

    def simulate_frame(self, frame: int, depsgraph: bpy.types.Depsgraph) -> None:
        """Simulates the frame at which the scene stands, which follows the last one."""
        self.keep(self.simulation.advance(self.reader.read(frame, depsgraph)), depsgraph)

    def keep(self, result: Frame, depsgraph: bpy.types.Depsgraph) -> None:
        """Adds the result at the current frame to the caches."""
        for obj, path, positions in zip(
            self.stage.bodies, self.caches, result.positions, strict=True
        ):
            append_sample(path, shown_points(obj, depsgraph, positions), len(self.frames))
        self.frames.append(result)


def current_marks(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object]) -> tuple[str, ...]:
    """What tells whether bodies still have the names and settings that a session began with."""
    return tuple(f"{obj.name} {settings_mark(obj, scene)}" for obj in objects)


def acting_bodies(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> Sequence[bpy.types.Object]:
    """The bodies that a bake of the whole scene would take."""
    return taking_part(bodies(scene), view_layer)


def begin_session(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Session:
    """Simulates up to the first frame of the scene's range, and shows that on all bodies.

    The scene then stands where it stood before.

    Raises
    ------
    VerletError
        As a bake does; nothing of the file is then changed.
    """
    remove_cache_modifiers(scene.objects)
    objects = acting_bodies(scene, view_layer)
    if not objects:
        raise MeshError(why_nothing(scene, view_layer))
    start, _ = frame_range(scene)
    stage = prepare_stage(scene, view_layer, objects)
    with stage.left_as_found(former_bakes_hidden):
        session = _start(stage, start)
    for obj, path in zip(stage.bodies, session.caches, strict=True):
        add_cache_modifier(obj, path, start, stretch=animation_frame(scene, 1))
    return session


def _start(stage: Stage, start: int) -> Session:
    """The session with its first frame, at which the scene stands."""
    scene = stage.scene
    meshes = read_meshes(stage, start)
    settings, scene_settings = read_settings(stage)
    colliders = stage.read_colliders()
    reader = SampleReader(stage, start)
    first = start - scene_properties(scene).settle_frames
    simulation = start_simulation(
        meshes, settings, scene_settings, reader.read(first, stage.at(start)), colliders
    )
    result = simulation.frame()
    for frame in range(first + 1, start + 1):
        result = simulation.advance(reader.read(frame, stage.at(start)))
    session = Session(
        stage=stage,
        marks=current_marks(scene, stage.bodies),
        reader=reader,
        simulation=simulation,
        start=start,
        caches=[cache_file(obj) for obj in stage.bodies],
    )
    for obj, path in zip(stage.bodies, session.caches, strict=True):
        create_pc2(path, vertex_count=len(mesh_of(obj).vertices), frame_start=start)
    session.keep(result, stage.depsgraph)
    return session
