"""Draw the picture of docs/reference/bakes.md: jellies as components, and their errors."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np

import verlet_addon
from sample_blends.bake_demo import prepare_render
from tests.blender.scenes import shown, verlet
from verlet_addon.blender.scene.modifiers import finish_hidden

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "components.jpg"
TOLERANCE = 1e-3


def main() -> None:
    """Bakes the jellies, measures components against the bake, and renders the worst frame."""
    verlet_addon.register()
    try:
        bpy.ops.wm.open_mainfile(filepath=str(ROOT / "sample_blends" / "jellies.blend"))
        scene: Any = bpy.context.scene
        bodies = [obj for obj in scene.objects if obj.verlet.enabled]
        frames = range(scene.frame_start, scene.frame_end + 1)
        with finish_hidden(bodies):
            verlet.bake()
            wanted = [[shown(obj, frame) for obj in bodies] for frame in frames]
            verlet.convert_bake(mode="COMPACT", tolerance=TOLERANCE)
            found = [[shown(obj, frame) for obj in bodies] for frame in frames]
        errors = [
            [np.linalg.norm(a - b, axis=1) for a, b in zip(*places, strict=True)]
            for places in zip(wanted, found, strict=True)
        ]
        worst = int(np.argmax([max(each.max() for each in at) for at in errors]))
        largest = max(each.max() for each in errors[worst])
        for obj, distances in zip(bodies, errors[worst], strict=True):
            color(obj, distances / largest)
        scene.frame_set(frames[worst])
        print(f"frame {frames[worst]}: {1000 * largest:.2f} mm")
        render(scene)
    finally:
        verlet_addon.unregister()


def color(obj: Any, shares: Any) -> None:
    """Gives vertices colors from blue to red by shares (n,) from 0 to 1."""
    attribute = obj.data.color_attributes.new("Error", "FLOAT_COLOR", "POINT")
    heat = np.clip(1.5 - np.abs(4.0 * shares[:, None] - np.array([3.0, 2.0, 1.0])), 0.0, 1.0)
    colors = np.column_stack([heat, np.ones(len(shares))]).astype(np.float32)
    attribute.data.foreach_set("color", colors.ravel())
    material: Any = bpy.data.materials.new("Error")
    material.use_nodes = True
    nodes = material.node_tree.nodes
    node = nodes.new("ShaderNodeVertexColor")
    node.layer_name = "Error"
    target = nodes["Principled BSDF"].inputs["Base Color"]
    material.node_tree.links.new(node.outputs["Color"], target)
    obj.data.materials.clear()
    obj.data.materials.append(material)


def render(scene: Any) -> None:
    """Renders the current frame."""
    prepare_render(scene, width=900, samples=32)
    scene.render.image_settings.file_format, scene.render.image_settings.quality = "JPEG", 90
    scene.render.filepath = str(PICTURE)
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main()
