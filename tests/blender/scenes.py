"""Small scenes for tests, and everything a file holds, to see whether anything changed."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

# Blender's type stubs know nothing of what the add-on registers.
blender: Any = bpy
verlet = blender.ops.verlet

# What Blender computes anew with every session or evaluation.
PASSING = {
    "bl_rna",
    "bound_box",
    "dimensions",
    "info",
    "is_evaluated",
    "is_frame_skip",
    "is_outdated",
    "original",
    "rna_type",
    "session_uid",
    "storage_type",
}


def sheet(
    name: str = "Sheet", *, resolution: int = 4, size: float = 1.0, height: float = 0.0
) -> Any:
    """A square grid in the XY plane."""
    count = resolution + 1
    rows, columns = np.divmod(np.arange(count * count), count)
    vertices = np.stack((columns, rows, np.zeros(count * count)), axis=1) / resolution * size
    first = (np.arange(resolution)[:, None] * count + np.arange(resolution)).reshape(-1, 1)
    faces = first + np.array((0, 1, count + 1, count))
    return mesh_object(name, vertices.tolist(), [], faces.tolist(), height=height)


def line(name: str = "Line", *, segments: int = 4, height: float = 0.0) -> Any:
    """A row of edges along X, a metre long."""
    vertices = [(number / segments, 0.0, 0.0) for number in range(segments + 1)]
    edges = [(number, number + 1) for number in range(segments)]
    return mesh_object(name, vertices, edges, [], height=height)


def ball(name: str = "Ball") -> Any:
    """A closed surface: an octahedron."""
    vertices = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    faces = [
        (x, y, z) if (x + y + z) % 2 else (y, x, z) for x in (0, 1) for y in (2, 3) for z in (4, 5)
    ]
    return mesh_object(name, vertices, [], faces)


def mesh_object(
    name: str,
    vertices: Sequence[Sequence[float]],
    edges: Sequence[Sequence[int]],
    faces: Sequence[Sequence[int]],
    *,
    height: float = 0.0,
) -> Any:
    """A mesh object of the scene, selected and active alone."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, edges, faces)
    obj = bpy.data.objects.new(name, mesh)
    obj.location.z = height
    bpy.context.scene.collection.objects.link(obj)
    select(obj)
    return obj


def open_apart(path: Path) -> None:
    """Opens a copy of a sample in a folder of its own, beside which a cache may be baked."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    if any(obj.type == "CURVES" for obj in bpy.data.objects):
        copy = Path(tempfile.mkdtemp(dir=bpy.app.tempdir)) / path.name
        bpy.ops.wm.save_as_mainfile(filepath=str(copy))


def body(obj: Any, **settings: Any) -> Any:
    """The object, converted, with some settings."""
    select(obj)
    verlet.convert(use_material=False)
    for name, value in settings.items():
        setattr(obj.verlet, name, value)
    return obj


def bake_each(**options: Any) -> None:
    """Bakes every body by itself, for bodies in the same place would push each other away."""
    bodies = [obj for obj in bpy.context.scene.objects if obj.verlet.enabled]
    for alone in bodies:
        for obj in bodies:
            obj.verlet.enabled = obj == alone
        verlet.bake(**options)
    for obj in bodies:
        obj.verlet.enabled = True


def pin(obj: Any, vertices: Sequence[int]) -> None:
    """Pins some vertices of a body."""
    obj.vertex_groups.new(name="Pin").add(list(vertices), 1.0, "REPLACE")
    obj.verlet.pin_group = "Pin"


def put_away(obj: Any, *, exclude: bool = False) -> Any:
    """Moves an object to a collection of its own, which is in the view layer or not."""
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = exclude
    return collection


def select(*objects: Any) -> None:
    """Selects these alone, the last one active."""
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1] if objects else None


def shown(obj: Any, frame: int) -> Any:
    """World positions of the evaluated mesh at a frame."""
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    return coordinates(evaluated.data.vertices) @ matrix[:3, :3].T + matrix[:3, 3]


def baked(obj: Any) -> dict[str, Any]:
    """Coordinates of the object's baked keys by name."""
    key = obj.data.shape_keys
    blocks = key.key_blocks if key is not None else []
    return {b.name: coordinates(b.points) for b in blocks if b.name.startswith("verlet_")}


def coordinates(points: Any) -> Any:
    """Coordinates (n, 3) of vertices or of a key's points."""
    found = np.empty(3 * len(points), np.float32)
    points.foreach_get("co", found)
    return found.reshape(-1, 3)


def file_content() -> dict[str, Any]:
    """Every value of every datablock that a bake could touch, and where the scene stands."""
    collections = (
        "objects",
        "meshes",
        "curves",
        "hair_curves",
        "node_groups",
        "shape_keys",
        "actions",
    )
    scene = bpy.context.scene
    return {
        f"{collection}/{item.name}": _content(item, {item.as_pointer()})
        for collection in collections
        for item in getattr(bpy.data, collection)
    } | {"frame": (scene.frame_current, scene.frame_subframe)}


def _content(item: Any, seen: set[int]) -> dict[str, Any]:
    """The values of an RNA struct and of what belongs to it; other datablocks by name."""
    names = [p.identifier for p in item.bl_rna.properties if p.identifier not in PASSING]
    return {name: _value(getattr(item, name), seen) for name in names}


def _value(value: Any, seen: set[int]) -> Any:
    """A value that compares equal only to the very same."""
    if isinstance(value, bpy.types.ID):
        return value.name
    if isinstance(value, bpy.types.bpy_struct):
        if value.as_pointer() in seen:
            return getattr(value, "name", "")
        return _content(value, seen | {value.as_pointer()})
    if isinstance(value, str | int | float | None):
        return value
    return [_value(part, seen) for part in value] if hasattr(value, "__iter__") else str(value)


def store(holder: Any, name: str, value: Any) -> None:
    """Stores a property as an add-on does whose Python class is not there any more."""
    own = getattr(holder, "bl_system_properties_get", None)
    (holder if own is None else own(do_create=True))[name] = value
