"""Draw the pictures of docs/reference/materials.md: cloths on tables, ropes, solids."""

from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

import verlet_addon
from sample_blends.bake_demo import prepare_render
from sample_blends.fabrics import LOOKS, fabrics
from sample_blends.stage import (
    add_mesh,
    camera,
    empty_scene,
    light_and_ground,
    make_body,
    plain,
    rod,
    show_edges,
)
from verlet_addon.blender.settings.materials import give_material

IMAGES = Path(__file__).parents[1] / "images"
ROPES = {
    "HEMP": (0.50, 0.34, 0.16),
    "NYLON": (0.75, 0.74, 0.70),
    "BUNGEE": (0.05, 0.16, 0.45),
    "STEEL_CHAIN": (0.35, 0.36, 0.38),
}
SOLIDS = {
    "BALLOON": (0.70, 0.06, 0.08),
    "GELATIN": (0.75, 0.35, 0.05),
    "RUBBER_BALL": (0.05, 0.20, 0.45),
}
HEIGHT, LENGTH, RADIUS = 0.6, 0.5, 0.1


def main() -> None:
    """Bake both scenes and render their last frames."""
    verlet_addon.register()
    try:
        solids()
        draw(IMAGES / "materials_solids.png")
        fabrics(tuple(LOOKS))
        camera((0.0, -3.0, 1.5), (0.0, 0.0, 0.07), lens=42)
        draw(IMAGES / "materials_cloth.png")
        ropes()
        draw(IMAGES / "materials_ropes.png")
    finally:
        verlet_addon.unregister()


def ropes() -> None:
    """Each rope on a post, where its first two vertices hold it level."""
    empty_scene(frame_end=120)
    wood = plain("Wood", (0.30, 0.19, 0.10))
    for number, (name, color) in enumerate(ROPES.items()):
        left = 0.65 * (number - len(ROPES) / 2) + 0.1
        rod("Post", length=HEIGHT, radius=0.012, material=wood).location = (left, 0.0, 0.0)
        share = np.linspace(0, 1, 61)
        points = np.stack([left + LENGTH * share, 0 * share, 0 * share + HEIGHT], axis=1)
        edges = np.stack([np.arange(60), np.arange(1, 61)], axis=1)
        obj = add_mesh(name.title(), points, edges=edges)
        make_body(obj, "ROPE", pinned=np.array((0, 1)))
        give_material(obj.verlet, name)
        obj.verlet.damping = 2.0  # comes to rest sooner, in the same place
        show_edges(obj, radius=0.008, material=plain(name.title(), color))
    light_and_ground(ground=(0.30, 0.33, 0.30))
    camera((0.0, -3.4, 0.7), (0.0, 0.0, 0.35), lens=44)


def solids() -> None:
    """Balls of the same mesh: a balloon that is blown up, gelatin and rubber that have landed."""
    empty_scene(frame_end=72)
    for number, (name, color) in enumerate(SOLIDS.items()):
        points, faces = ball(RADIUS)
        place = np.array([0.34 * (number - 1), 0.0, RADIUS + 0.006])
        look = plain(name.title(), color, roughness=0.3)
        obj = add_mesh(name.title(), points + place, faces=faces, material=look)
        obj.verlet.enabled = True
        give_material(obj.verlet, name)
    light_and_ground(ground=(0.30, 0.33, 0.30))
    cast(Any, bpy.context.scene).verlet.use_ground = True
    camera((0.0, -1.9, 0.5), (0.0, 0.0, 0.1), lens=50)


def ball(radius: float) -> tuple[Any, Any]:
    """(n, 3) points and (t, 3) triangles of a closed ball round the origin."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=radius)
    obj = cast(Any, bpy.context.object)
    points = np.array([vertex.co[:] for vertex in obj.data.vertices])
    faces = np.array([polygon.vertices[:] for polygon in obj.data.polygons])
    bpy.data.objects.remove(obj)
    return points, faces


def draw(path: Path) -> None:
    """Bakes the scene and renders its last frame."""
    cast(Any, bpy.ops).verlet.bake()
    scene: Any = bpy.context.scene
    prepare_render(scene, width=1100, samples=48)
    scene.render.resolution_y = 300
    scene.frame_set(scene.frame_end)
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main()
