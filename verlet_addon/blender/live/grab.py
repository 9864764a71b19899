"""A grab: a simulation off the timeline, in which vertices are dragged.

The scene stays at its frame. Mesh Cache modifiers show it, and nothing else of bodies is changed. A
live simulation is hidden meanwhile.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

import bpy
import numpy as np

from ...core.arrays import Booleans, Floats, Integers
from ...core.mesh import MeshData
from ...core.scene import Sample
from ...core.simulation import Simulation, start_simulation
from ..bake.bake import prepare_stage, read_settings
from ..bake.bone_pose import Pose, read_pose
from ..bake.former_bake import former_bakes_hidden
from ..scene.bone_joints import skeleton_of
from ..scene.cache_modifiers import tag_player
from ..scene.cages import refuse_cages
from ..scene.hair_curves import is_hair
from ..scene.mesh_io import world_matrix
from ..scene.modifiers import finish_hidden
from ..scene.ownership import check_data
from ..scene.pc2 import append_sample, create_pc2
from ..scene.sampling import SampleReader
from ..scene.starting_meshes import read_meshes
from ..scene.still_scene import StillStage, read_start
from ..scene.visibility import seen
from ..settings.bone_properties import armature_of
from ..settings.timing import seconds_per_frame
from .cache_files import remove_caches, temporary_cache
from .cache_modifier import checked_bodies, show_instead
from .control import working
from .dragging import Drag, goal_springs, parts_of

LONGEST_STEP = 1 / 60
"""Steps become longer, up to this, where shorter ones are not simulated in real time [s]."""
BUSY = 0.8
"""Share of real time that simulation may take before steps become longer."""
MOST_AT_ONCE = 1 / 12
"""Most that one tick simulates; what comes on top is left out, and motion becomes slower [s]."""


@dataclass(eq=False, repr=False)
class Grab:
    """A grab in progress."""

    stage: StillStage
    simulation: Simulation
    sample: Sample
    """Sample of the scene as it is, which all ticks repeat."""
    step: float
    """Length of a step [s]."""
    caches: list[Path]
    drags: list[Drag]
    """Per body, what holds it."""
    matrices: list[tuple[Floats, Floats]]
    """Per body, the inverse (3, 3) of its matrix, and its offset (3,)."""
    positions: list[Floats]
    """Per body (n, 3), where its vertices are [m]."""
    free: list[Booleans]
    """Per body (n,), vertices that can be taken hold of: joints that turn a soft bone, or all."""
    shown: ExitStack
    """What shows the grab, until it is closed."""
    waiting: float = 0.0
    """Real time that is not simulated yet [s]."""
    load: float = 0.0
    """Processor time of a step as a share of its length, averaged."""

    def tick(self, seconds: float) -> int:
        """Simulates what fixed steps fit into the time that has passed [s]; how many.

        Raises
        ------
        DivergenceError
            A body became unstable.
        """
        self.waiting = min(self.waiting + seconds, MOST_AT_ONCE)
        count = int(self.waiting / self.step)
        if count:
            self.waiting -= count * self.step
            begin = process_time()
            self.advance(count)
            self._note_load((process_time() - begin) / (count * self.step))
        return count

    def advance(self, steps: int) -> None:
        """Simulates a number of steps, and shows the result."""
        simulation = self.simulation
        self.sample = replace(
            self.sample,
            duration=steps * self.step,
            scene_settings=replace(simulation.scene_settings, substeps=steps),
            goal_springs=[
                goal_springs(*each) for each in zip(self.drags, self.positions, strict=True)
            ],
        )
        self.positions = list(simulation.advance(self.sample).positions)

    def hold(self, body: int, vertex: int, radius: float) -> None:
        """Takes hold of a vertex of a body, and of those within a radius along its mesh [m]."""
        if not self.simulation.bodies:
            self.advance(1)
        drag, (model, _) = self.drags[body], self.simulation.bodies[body]
        drag.parts = parts_of(model, drag.mesh.edges)
        drag.hold(vertex, radius, self.positions[body])

    def triangles(self, body: int) -> Integers:
        """(3, t) corners of the faces of a body, without those of its mirror images."""
        if not self.simulation.bodies:
            self.advance(1)
        found = self.simulation.bodies[body][0].triangles
        return found[:, (found < len(self.positions[body])).all(axis=0)]

    def _note_load(self, load: float) -> None:
        """Makes steps longer where they take too much of the time."""
        self.load += 0.1 * (load - self.load)
        if self.load > BUSY and 1.5 * self.step <= LONGEST_STEP:
            self.step *= 1.5
            self.load /= 1.5

    def show(self) -> None:
        """Has Blender show where bodies are, from its next redraw on."""
        for obj, path, (inverse, offset), places in zip(
            self.stage.bodies, self.caches, self.matrices, self.positions, strict=True
        ):
            append_sample(path, np.einsum("xy,ny->nx", inverse, places - offset), 0)
            tag_player(obj)

    def poses(self) -> list[Pose]:
        """Per body, the pose in which soft bones are shown; empty for other bodies."""
        self.show()
        self.stage.view_layer.update()
        return [read_pose(obj, self.stage.view_layer) for obj in self.stage.bodies]

    def end(self) -> None:
        """Removes all that shows the grab; bodies are as before."""
        self.shown.close()
        remove_caches(self.caches)


def begin_grab(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Grab:
    """Starts a simulation from what bodies show at the current frame, at rest.

    Raises
    ------
    VerletError
        As for a bake, or the modifiers of a body cannot show a point cache; nothing in the file is
        changed then.
    """
    objects = seen(checked_bodies(scene, view_layer), view_layer)
    refuse_cages(objects, "Grab")
    for obj in objects:
        if armature_of(obj) is None and not is_hair(obj):
            check_data(obj)  # the shape that a grab keeps is a key
    with ExitStack() as showing:
        showing.enter_context(working())
        stage = StillStage(**vars(prepare_stage(scene, view_layer, objects)))
        showing.callback(view_layer.update)
        grab = _read(stage, objects)
        for obj, path in zip(objects, grab.caches, strict=True):
            showing.callback(show_instead(obj, path, scene.frame_current))
        grab.show()
        view_layer.update()
        grab.shown = showing.pop_all()
    return grab


def _read(stage: StillStage, objects: Sequence[bpy.types.Object]) -> Grab:
    """The grab at its start, read from what bodies show and from what is beneath."""
    stage.view_layer.update()
    shown = [read_start(obj, stage.depsgraph) for obj in objects]
    with ExitStack() as reading:
        reading.callback(stage.view_layer.update)
        reading.enter_context(former_bakes_hidden(objects))
        reading.enter_context(finish_hidden(objects))
        stage.view_layer.update()
        return _start(stage, shown)


def _start(stage: StillStage, shown: Sequence[Floats]) -> Grab:
    """The grab at its start, while the scene is shown as a bake reads it."""
    scene, frame = stage.scene, stage.scene.frame_current
    meshes = [_shaped(*each) for each in zip(read_meshes(stage, frame), shown, strict=True)]
    settings, scene_settings = read_settings(stage)
    reader = SampleReader(stage, frame)
    sample = reader.read(frame, stage.depsgraph)
    simulation = start_simulation(
        meshes, settings, scene_settings, sample, stage.read_colliders(), spared=1
    )
    caches = [temporary_cache(obj, "_grab") for obj in stage.bodies]
    matrices = []
    for obj, path, mesh in zip(stage.bodies, caches, meshes, strict=True):
        create_pc2(path, vertex_count=len(mesh.positions), frame_start=frame)
        linear, offset = world_matrix(obj, stage.depsgraph)
        matrices.append((np.linalg.inv(linear), offset))
    return Grab(
        stage=stage,
        simulation=simulation,
        sample=sample,
        step=seconds_per_frame(scene) / scene_settings.substeps,
        caches=caches,
        drags=[
            Drag(mesh, comb=is_hair(obj)) for mesh, obj in zip(meshes, stage.bodies, strict=True)
        ],
        matrices=matrices,
        positions=[mesh.positions for mesh in meshes],
        free=list(map(_free, stage.bodies, meshes)),
        shown=ExitStack(),
    )


def _free(obj: bpy.types.Object, mesh: MeshData) -> Booleans:
    """(n,) bool, vertices of a body that can be taken hold of."""
    if is_hair(obj):
        return mesh.pin_weights < 1.0
    skeleton = skeleton_of(obj)
    return np.ones(len(mesh.positions), bool) if skeleton is None else ~skeleton.pins


def _shaped(mesh: MeshData, shown: Floats) -> MeshData:
    """The body in the shape that a bake shows now, with the rest shape that it has without."""
    if np.allclose(mesh.positions, shown, rtol=0.0, atol=1e-6):
        return mesh
    return replace(mesh, positions=shown, rest_positions=mesh.at_rest)
