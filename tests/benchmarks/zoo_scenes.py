"""Scenes of contact, drawn by their seeds, and some by hand."""

from dataclasses import dataclass
from typing import Any

import bpy as blender
import numpy as np

from tests.benchmarks import meshes, zoo_figure, zoo_person, zoo_samples
from tests.benchmarks.zoo_bodies import BODIES, FITTED, WORN, Random, make_body
from tests.benchmarks.zoo_colliders import COLLIDERS, MOTIONS, STOPS, make_colliders
from tests.blender.scenes import select
from verlet_addon.core.arrays import Floats

bpy: Any = blender

ALONE = ("quads", "triangles", "strewn", "ring", "tube")
SETS = (
    *[(kind,) for kind in ALONE for _ in range(3)],
    ("quads", "strewn"),
    ("triangles", "tube"),
    ("rope",) * 4,
    ("quads", "rope", "rope"),
    ("jelly", "quads"),
    ("brick", "strewn"),
    ("jelly", "brick", "rope"),
    ("balloon", "quads"),
)
"""Bodies of a scene, lowest first."""
COUNTS = (400, 400, 1000, 1000, 2601, 4900, 10_000)
"""Vertices of a scene's largest body; as many as these are drawn."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Bodies above colliders, and the circumstances."""

    name: str
    bodies: tuple[tuple[str, int, str], ...]
    """Kind, about how many vertices, and material of each."""
    collider: str
    motion: str = "still"
    stock: bool = True
    """Whether colliders have Blender's stock Collision settings, or ours."""
    seed: int = 0
    """Of face orders, turns and strewn vertices."""
    drop: float = 0.05
    """From the lowest body to the highest collider [m]."""
    tilt: float = 0.0
    """Greatest angle between bodies and the horizontal [rad]."""
    thickness: float = 0.005
    fps: int = 24
    substeps: int = 10
    seconds: float = 3.0
    wind: float = 0.0
    """Strength of Blender's Wind, along X."""
    held: str = ""
    """Two corners of the last body: "pinned", "attached" to what rises, or "" for free."""

    @property
    def frames(self) -> int:
        """The last frame; the first is 1."""
        return 1 + round(self.seconds * self.fps)

    @property
    def cost(self) -> float:
        """About how long it takes, for the order in which scenes are run."""
        return sum(count for _, count, _ in self.bodies) * self.frames * (self.substeps + 10)


def drawn(seed: int) -> Scene:
    """The scene of a seed."""
    random = np.random.default_rng(seed)

    def one_of(options: Any) -> Any:
        return options[int(random.integers(len(options)))]

    worn = random.random() < 0.2
    collider = "figure" if worn else one_of(list(COLLIDERS))
    kinds = (one_of(WORN),) if worn else one_of(SETS)
    count = one_of(COUNTS)
    motion = one_of(list(zoo_figure.MOTIONS if worn else MOTIONS))
    bodies = tuple(
        (kind, min(count, 80) if kind == "rope" else count, one_of(BODIES[kind][2]))
        for kind in kinds
    )
    return Scene(
        name=f"seed {seed}",
        seed=seed,
        bodies=bodies,
        collider=collider,
        motion="still" if collider == "floor" else motion,
        stock=random.random() < 0.5,
        drop=one_of((0.03, 0.1, 0.3, 1.0)),
        tilt=one_of((0.0, 0.3, 1.2)),
        thickness=one_of((0.001, 0.002, 0.005, 0.005, 0.01, 0.02)),
        fps=one_of((12, 24, 24, 30, 60)),
        substeps=one_of((5, 10, 10, 20, 40)),
        wind=one_of((0.0, 0.0, 0.0, 60.0)),
        held="" if worn else one_of(("", "", "pinned", "attached")),
    )


def by_hand() -> list[Scene]:
    """Scenes in which crossings were once found, in several orders of their colliders' faces."""
    found = [
        Scene(
            name=f"over sphere and cube, order {order}",
            bodies=(("quads", 3721, ""),),
            collider="sphere and cube",
            seed=order,
            drop=0.4,
        )
        for order in range(3)
    ]
    for order in range(2):
        strewn = Scene(
            name=f"over Suzanne, order {order}",
            bodies=(("strewn", 2601, ""),),
            collider="Suzanne",
            seed=order,
            drop=0.2,
        )
        spun = Scene(
            name=f"over a spinning torus, order {order}",
            bodies=(("strewn", 2209, ""),),
            collider="torus",
            motion="spinning",
            seed=order,
            seconds=4.0,
        )
        found += [strewn, spun]
    stairs = Scene(name="on stairs", bodies=(("quads", 2601, ""),), collider="stairs", seconds=4.0)
    return [*found, stairs]


def dressed() -> list[Scene]:
    """A person in a shirt and a skirt, whose hands pass through its hips, or are kept away."""
    return [
        Scene(
            name=f"dressed, motion {motion}",
            bodies=(("short skirt", 1656, ""), ("shirt", 6436, "")),
            collider="person",
            motion=motion,
            seconds=zoo_person.SECONDS,
        )
        for motion in zoo_person.ARMS_OUT
    ]


def clothed() -> list[Scene]:
    """People of our samples in shirt, skirt and cape, and in motions that these were not made for.

    Settings are those of the samples.
    """
    bodies = (("shirt", 3048, "COTTON"), ("skirt", 3360, "COTTON"), ("cape", 1845, "WOOL"))
    return [
        Scene(
            name=name,
            bodies=bodies,
            collider="clothed",
            motion=name,
            stock=False,
            thickness=0.004,
            substeps=20,
            seconds=(frame_end - 1) / 24,
        )
        for name, frame_end in zoo_samples.FRAME_ENDS.items()
    ]


def find_scene(name: str) -> Scene:
    """The scene of that name."""
    if name.startswith("seed "):
        return drawn(int(name[5:]))
    return next(scene for scene in (*by_hand(), *dressed(), *clothed()) if scene.name == name)


@dataclass(frozen=True, eq=False)
class Built:
    """A scene's objects in Blender."""

    bodies: list[Any]
    colliders: list[Any]


def build(scene: Scene) -> Built:
    """Makes the scene in an empty file; bodies are plain meshes still, but for clothed people."""
    if scene.collider == "clothed":
        return Built(*zoo_samples.make_clothed(scene.motion))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    random = np.random.default_rng(scene.seed)
    settings = bpy.context.scene
    settings.render.fps, settings.frame_end = scene.fps, scene.frames
    make = make_colliders(
        scene.collider, scene.motion, stock=scene.stock, fps=scene.fps, random=random
    )
    bodies = [make_body(kind, count, random) for kind, count, _ in scene.bodies]
    _place(scene, bodies, make[:-1], random)
    if scene.wind:
        bpy.ops.object.effector_add(type="WIND", location=(-3, 0, 1), rotation=(0, np.pi / 2, 0))
        bpy.context.object.field.strength = scene.wind
        bpy.context.object.field.seed = 1
    if scene.held:
        _hold(bodies[-1])
    return Built(bodies, make)


def _place(scene: Scene, bodies: list[Any], colliders: list[Any], random: Random) -> None:
    """Turns bodies and puts them above the colliders and each other; clothes stay on a figure."""
    bpy.context.view_layer.update()
    top = max((_heights(obj).max() for obj in colliders), default=0.0) + scene.drop
    for obj, (kind, _, _) in zip(bodies, scene.bodies, strict=True):
        if (scene.collider == "figure" and kind in WORN) or kind in FITTED:
            continue
        tilt = random.uniform(-scene.tilt, scene.tilt, 2) if scene.tilt else (0.0, 0.0)
        obj.rotation_euler = (*tilt, random.uniform(0, 6))
        obj.location = (0.02, 0.01, 0.0)
        bpy.context.view_layer.update()
        heights = _heights(obj)
        obj.location.z = top + scene.thickness + 0.02 - heights.min()
        top += np.ptp(heights) + 2 * scene.thickness + 0.05


def _heights(obj: Any) -> Floats:
    """(n,) of an object's vertices in the world [m]."""
    matrix = np.array(obj.matrix_world)
    points = meshes.coordinates(obj.data)
    found: Floats = points @ matrix[2, :3] + matrix[2, 3]
    return found


def _hold(obj: Any) -> None:
    """Puts two corners into the group "Pin"."""
    points = meshes.coordinates(obj.data)
    corners = {int(np.argmax(points[:, 1] + x * points[:, 0])) for x in (-1, 1)}
    obj.vertex_groups.new(name="Pin").add(sorted(corners), 1.0, "REPLACE")


def add_riser(fps: float) -> Any:
    """An empty that rises by 20 cm."""
    bpy.ops.object.empty_add()
    empty = bpy.context.object
    for seconds, height in ((0.0, 0.0), (STOPS, 0.2)):
        empty.location.z = height
        empty.keyframe_insert("location", frame=1 + round(seconds * fps))
    bpy.context.scene.frame_set(1)
    return empty


def make_verlet(scene: Scene, built: Built) -> None:
    """Makes the bodies ours."""
    if scene.collider == "clothed":
        return
    settings = bpy.context.scene.verlet
    settings.use_ground, settings.substeps = False, scene.substeps
    for obj, (kind, _, material) in zip(built.bodies, scene.bodies, strict=True):
        select(obj)
        bpy.ops.verlet.convert(body_type=BODIES[kind][1], use_material=False)
        if material:
            bpy.ops.verlet.set_material(material=material)
        obj.verlet.thickness, obj.verlet.use_self_collision = scene.thickness, True
        if scene.held != "attached" and "Pin" in obj.vertex_groups:
            obj.verlet.pin_group = "Pin"
    last = built.bodies[-1]
    if scene.held == "attached":
        item = last.verlet.attachments.add()
        item.target, item.vertex_group = add_riser(scene.fps), "Pin"


def make_cloth(scene: Scene, built: Built) -> None:
    """Makes the bodies Blender's Cloth at its stock quality of 5, with collisions of all kinds."""
    riser = add_riser(scene.fps) if scene.held == "attached" else None
    for obj in built.bodies:
        if riser is not None and obj == built.bodies[-1]:
            hook = obj.modifiers.new("Hook", "HOOK")
            hook.object, hook.vertex_group = riser, "Pin"
            hook.matrix_inverse = riser.matrix_world.inverted() @ obj.matrix_world
        held = zoo_samples.hold_by_hooks(obj) if scene.collider == "clothed" else ""
        cloth = obj.modifiers.new("Cloth", "CLOTH")
        cloth.collision_settings.use_self_collision = True
        cloth.collision_settings.distance_min = scene.thickness
        cloth.collision_settings.self_distance_min = scene.thickness
        cloth.point_cache.frame_end = scene.frames
        if held or obj.vertex_groups:
            cloth.settings.vertex_group_mass = held or "Pin"
        if len(built.bodies) > 1:
            obj.modifiers.new("Collision", "COLLISION")
            obj.collision.thickness_outer = scene.thickness
