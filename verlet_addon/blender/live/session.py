"""One live simulation: frames simulated during playback, and their point caches."""

from contextlib import ExitStack
from dataclasses import dataclass, field

import bpy

from ...core.scene import Frame
from ...core.simulation import Simulation, start_simulation
from ..bake.bake import frame_range, prepare_stage, read_settings
from ..bake.former_bake import former_bakes_hidden
from ..scene.cache_modifiers import tag_player
from ..scene.cages import Shapes
from ..scene.key_points import shown_points
from ..scene.mesh_access import mesh_of, point_count, shape_keys_of
from ..scene.modifiers import finish_hidden
from ..scene.pc2 import append_sample, create_pc2
from ..scene.sampling import SampleReader, Stage
from ..scene.starting_meshes import read_meshes
from ..scene.visibility import shown_throughout
from ..settings.properties import scene_properties
from ..settings.timing import animation_frame
from .cache_files import Caches, temporary_cache
from .cache_modifier import checked_bodies, show_live
from .inputs import Inputs, read_inputs
from .updates import Updated, identity


@dataclass(eq=False, repr=False)
class Session:
    """A live simulation of a scene, from its first frame to the last one simulated."""

    stage: Stage
    inputs: Inputs
    """Inputs with which the simulation started."""
    reader: SampleReader
    simulation: Simulation
    start: int
    """Frame of the first sample."""
    shapes: Shapes
    """Bindings of bodies to cages, by which the simulation is shown."""
    caches: Caches
    """Point caches, in the order of the bodies."""
    frames: list[Frame] = field(default_factory=list)
    """The result at each frame from the first on."""
    stale: str = ""
    """Changes of inputs since the start; empty while the simulation is valid."""
    restarted: str = ""
    """Changes of inputs after which the simulation restarted."""
    waiting: bool = False
    """Whether changes by the user are evaluated with the frame change in progress."""
    follows: Updated = field(default_factory=set)
    """Changes that time and hidden modifiers cause, not a user."""
    reading: ExitStack | None = None
    """Restores the display, while Blender evaluates the scene as a bake reads it."""

    @property
    def last(self) -> int:
        """The last frame that is simulated."""
        return self.start + len(self.frames) - 1

    @property
    def remarks(self) -> list[str]:
        """Diagnostics of all frames, one sentence each for the user."""
        return [remark for frame in self.frames for remark in frame.remarks]

    def is_next(self, scene: bpy.types.Scene) -> bool:
        """Whether a scene is at the frame that is simulated next; none is after its last one."""
        _, end = frame_range(scene)
        return not self.stale and scene.frame_current == self.last + 1 <= end

    def prepare_reading(self) -> None:
        """Has Blender evaluate the next frame as a bake reads it."""
        if self.reading is None:
            self.reading = ExitStack()
            self.reading.enter_context(former_bakes_hidden(self.stage.bodies))
            self.reading.enter_context(finish_hidden(self.stage.bodies + self.stage.simulated))
            self.reading.enter_context(shown_throughout(self.stage.followed))

    def end_reading(self) -> None:
        """Restores the display of the bodies."""
        if self.reading is not None:
            reading, self.reading = self.reading, None
            reading.close()
            for obj in self.stage.bodies + self.stage.simulated:
                tag_player(obj)

    def simulate_frame(self, frame: int, depsgraph: bpy.types.Depsgraph) -> None:
        """Simulates the scene's current frame, which has to be the one after the last."""
        self.append(self.simulation.advance(self.reader.read(frame, depsgraph)), depsgraph)

    def append(self, result: Frame, depsgraph: bpy.types.Depsgraph) -> None:
        """Adds the result at the scene's current frame to the caches."""
        for obj, path, positions in zip(
            self.stage.bodies,
            self.caches.values(),
            self.shapes.of_bodies(result.positions),
            strict=True,
        ):
            append_sample(path, shown_points(obj, depsgraph, positions), len(self.frames))
        self.frames.append(result)


def begin_session(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Session:
    """Simulates up to the first frame of the scene's range, and shows that on all bodies.

    The current frame stays as it is.

    Raises
    ------
    VerletError
        As for a bake, or the modifiers of a body cannot show a point cache; nothing in the file is
        changed then.
    """
    objects = checked_bodies(scene, view_layer)
    start, _ = frame_range(scene)
    stage = prepare_stage(scene, view_layer, objects)
    with stage.left_as_found(former_bakes_hidden):
        session = _start(stage, start)
    for obj, path in zip(stage.bodies, session.caches.values(), strict=True):
        show_live(obj, path, start, stretch=animation_frame(scene, 1))
    view_layer.update()
    return session


def _start(stage: Stage, start: int) -> Session:
    """A session with its first frame, which is the scene's current one then."""
    scene = stage.scene
    meshes = read_meshes(stage, start)
    shapes = stage.bind([mesh.positions for mesh in meshes])
    settings, scene_settings = read_settings(stage)
    colliders = stage.read_colliders()
    reader = SampleReader(stage, start)
    first = start - scene_properties(scene).settle_frames
    simulation = start_simulation(
        meshes, settings, scene_settings, reader.read(first, stage.at(start)), colliders, spared=1
    )
    result = simulation.frame()
    for frame in range(first + 1, start + 1):
        result = simulation.advance(reader.read(frame, stage.at(start)))
    session = Session(
        stage=stage,
        inputs=read_inputs(scene, stage.view_layer, stage.bodies),
        reader=reader,
        simulation=simulation,
        start=start,
        shapes=shapes,
        caches={obj.session_uid: temporary_cache(obj) for obj in stage.bodies},
        follows={
            (identity(item), "geometry")
            for obj in stage.bodies + stage.simulated
            for item in _datablocks(obj)
        },
    )
    for obj, path in zip(stage.bodies, session.caches.values(), strict=True):
        create_pc2(path, vertex_count=point_count(obj), frame_start=start)
    session.append(result, stage.depsgraph)
    return session


def _datablocks(obj: bpy.types.Object) -> list[bpy.types.ID]:
    """A body, its mesh and its shape keys."""
    mesh, key = mesh_of(obj), shape_keys_of(obj)
    return [obj, mesh, *([key] if key is not None else [])]
