"""Bakes as vertex animation textures, with the mesh that they move."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from typing import Any, NamedTuple, cast

import bpy
import numpy as np
from mathutils import Matrix

from ...core.arrays import Floats
from ...core.errors import MeshError, VerletError
from ...core.vertex_animation import Layout, fitting_layout, range_of
from ..scene.hair_curves import refuse_hair
from ..scene.mesh_access import mesh_of, read_vertices
from ..scene.mesh_io import world_matrix
from .motion import bakes_shown, check_shown, frames_of, in_axes, read_axes
from .scene_caches import alone_selected
from .written_files import written_whole

_PNG_END = b"IEND\xaeB`\x82"
"""Last bytes of a PNG that is whole."""
UV_LAYER = "VAT_UV"
"""Name of the UV layer with the places in the texture, as OpenVAT has it."""


class Textures(NamedTuple):
    """Files of a vertex animation texture."""

    layout: Layout
    paths: list[Path]


class _Motion(NamedTuple):
    """Motion of an object, in its own axes and about its location at the first frame."""

    mesh: bpy.types.Mesh
    """A copy of its evaluated mesh at the first frame."""
    axes: Floats
    """(4, 4) these axes, as `read_axes` gives them."""
    positions: Floats
    """(f, n, 3) [m]."""
    normals: Floats
    """(f, n, 3)."""


def texture_files(path: Path, *, normals: bool) -> list[Path]:
    """All files of a vertex animation texture: positions, ranges, mesh, and normals if wanted."""
    paths = [path, path.with_name(f"{path.stem}-remap_info.json"), path.with_suffix(".glb")]
    return [*paths, *([path.with_name(f"{path.stem}-vnrm{path.suffix}")] if normals else [])]


def write_textures(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    path: Path,
    form: str,
    *,
    normals: bool,
) -> Textures:
    """Writes what the bake of an object shows, with all modifiers, in the layout of OpenVAT.

    Beside the texture of positions are that of normals, `NAME-vnrm`, the JSON file,
    `NAME-remap_info.json`, and the mesh, `NAME.glb`, with the layer `VAT_UV` as its second.

    Parameters
    ----------
    form : PNG16, EXR16 or EXR32.
    normals : whether there is a texture of normals.

    Raises
    ------
    VerletError
        The object does not show its bake, its mesh changes from frame to frame or has no faces, the
        texture would be too large, or a file cannot be written; former files stay then.
    """
    if "gltf" not in dir(bpy.ops.export_scene):
        raise VerletError("Blender's add-on for glTF is turned off; turn it on in the preferences")
    refuse_hair(obj, "a vertex texture", "write it by Alembic or USD")
    check_shown(obj, view_layer)
    frames = frames_of([obj], scene)
    motion = _read(scene, view_layer, obj, frames)
    try:
        layout = fitting_layout(motion.positions.shape[1], len(frames))
        offsets = motion.positions - motion.positions[0]
        bounds = range_of(offsets)
        paths = texture_files(path, normals=normals)
        with written_whole(paths[2]) as partial:
            _write_mesh(scene, view_layer, obj, motion, layout, partial)
        with written_whole(path) as partial:
            write_image(partial, layout.texture(bounds.colors(offsets)), form)
        if normals:
            with written_whole(paths[3]) as partial:
                write_image(partial, layout.texture(0.5 + motion.normals / 2), form)
        with written_whole(paths[1]) as partial:
            text = json.dumps(bounds.description(len(frames)), indent=4)
            partial.write_text(text, encoding="utf-8")
    finally:
        bpy.data.meshes.remove(motion.mesh)
    return Textures(layout, paths)


def write_image(path: Path, colors: Floats, form: str) -> None:
    """Writes colors (h, w, 3), the top row first, without any color management.

    Parameters
    ----------
    form : PNG16, for values from 0 to 1 with 16 bits a channel; EXR16, as halves; EXR32, as floats.

    Raises
    ------
    OSError, RuntimeError
        The file cannot be written.
    VerletError
        If Blender's color management has no view without any.
    """
    height, width, _ = colors.shape
    pixels = np.ones((height, width, 4), np.float32)
    pixels[..., :3] = colors[::-1]
    image: Any = bpy.data.images.new(path.stem, width, height, float_buffer=True)
    scene: Any = bpy.data.scenes.new(path.stem)  # its settings are those of the file
    try:
        image.colorspace_settings.is_data = True
        _show_raw(scene.view_settings)
        image.pixels.foreach_set(pixels.ravel())
        file = scene.render.image_settings
        file.file_format = "PNG" if form == "PNG16" else "OPEN_EXR"
        file.color_mode, file.color_depth, file.exr_codec = "RGB", form[-2:], "ZIP"
        image.save_render(str(path), scene=scene)
        if form == "PNG16" and not path.read_bytes().endswith(_PNG_END):
            raise OSError(ENOSPC, "the disk is full")  # of which Blender tells nothing
    finally:
        bpy.data.scenes.remove(scene)
        bpy.data.images.remove(image)


def _show_raw(view_settings: Any) -> None:
    """Chooses the view that leaves colors as they are."""
    try:
        view_settings.view_transform = "Raw"
    except TypeError as error:
        raise VerletError(
            "Vertex animation textures need the view transform Raw, which the color management in "
            "use lacks; start Blender without the environment variable OCIO for this export"
        ) from error


def _read(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, obj: bpy.types.Object, frames: range
) -> _Motion:
    """The motion of an object's evaluated mesh."""
    positions, normals = [], []
    mesh: bpy.types.Mesh | None = None
    with bakes_shown(scene, [obj], finish=True):
        for number in frames:
            scene.frame_set(number)
            depsgraph = cast(bpy.types.Depsgraph, view_layer.depsgraph)
            evaluated = obj.evaluated_get(depsgraph)
            if mesh is None:
                _check_faces(obj, mesh_of(evaluated))
                axes = read_axes(obj, depsgraph)
                mesh = bpy.data.meshes.new_from_object(evaluated, depsgraph=depsgraph)
            linear, offset = world_matrix(obj, depsgraph)
            points = read_vertices(mesh_of(evaluated)) @ linear.T + offset
            if len(points) != len(mesh.vertices):
                bpy.data.meshes.remove(mesh)
                raise MeshError(
                    f"{obj.name} has other vertices at frame {number} than at {frames[0]}, which a "
                    "texture cannot show; turn the modifier off that changes them"
                )
            positions.append(in_axes(points, axes).astype(np.float32))
            turned = _normals(mesh_of(evaluated)) @ np.linalg.inv(linear) @ axes[:3, :3]
            lengths = np.linalg.norm(turned, axis=1, keepdims=True)
            normals.append((turned / np.maximum(lengths, 1e-12)).astype(np.float32))
    return _Motion(cast(bpy.types.Mesh, mesh), axes, np.stack(positions), np.stack(normals))


def _check_faces(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> None:
    """Raises MeshError for a mesh without faces, which cannot have places in a texture."""
    if not mesh.polygons:
        raise MeshError(
            f"{obj.name} has no faces, and so no UV map for a texture; show it as a tube first"
        )


def _normals(mesh: bpy.types.Mesh) -> Floats:
    """(n, 3) normals of the vertices in the object's space."""
    found = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertex_normals.foreach_get("vector", found)
    return found.reshape(-1, 3).astype(np.float64)


def _write_mesh(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    motion: _Motion,
    layout: Layout,
    path: Path,
) -> None:
    """Writes the mesh at the first frame as glTF, with places in the texture as second UV layer."""
    mesh = motion.mesh
    mesh.vertices.foreach_set("co", motion.positions[0].ravel())
    kept = next((each.name for each in mesh.uv_layers if each.active_render), "")
    for name in [each.name for each in mesh.uv_layers if each.name != kept]:
        mesh.uv_layers.remove(mesh.uv_layers[name])
    if not kept:
        mesh.uv_layers.new(name="UVMap")
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    places: Any = mesh.uv_layers.new(name=UV_LAYER, do_init=False)
    places.uv.foreach_set("vector", layout.uv()[corners].astype(np.float32).ravel())
    with _shown_for_export(scene, obj, motion) as still, alone_selected(view_layer, [still]):
        cast(Any, bpy.ops.export_scene).gltf(
            filepath=str(path),
            export_format="GLB",
            use_selection=True,
            export_animations=False,
            export_morph=False,
            export_skins=False,
        )


@contextmanager
def _shown_for_export(
    scene: bpy.types.Scene, obj: bpy.types.Object, motion: _Motion
) -> Iterator[bpy.types.Object]:
    """Adds an object with the mesh to the scene, and removes it afterwards."""
    still = bpy.data.objects.new(f"{obj.name} VAT", motion.mesh)
    try:
        still.matrix_world = Matrix(motion.axes.tolist())
        scene.collection.objects.link(still)
        yield still
    finally:
        bpy.data.objects.remove(still)
