"""Vertex animation textures, read as an engine reads them."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np


class Model(NamedTuple):
    """The mesh of a GLB file."""

    positions: Any
    """(m, 3), with Y upwards."""
    places: Any
    """(m, 2) second UV layer, from the upper left corner."""
    matrix: Any
    """(4, 4) the place of its node."""


def read_glb(path: Path) -> Model:
    """Reads the mesh of a GLB file."""
    data = path.read_bytes()
    size = int.from_bytes(data[12:16], "little")
    content, binary = json.loads(data[20 : 20 + size]), data[28 + size :]

    def array(number: int) -> Any:
        accessor = content["accessors"][number]
        view = content["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        width = {"VEC2": 2, "VEC3": 3}[accessor["type"]]
        found = np.frombuffer(binary, "<f4", width * accessor["count"], start)
        return found.reshape(-1, width).astype(np.float64)

    (node,) = content["nodes"]
    parts = [each["attributes"] for each in content["meshes"][node["mesh"]]["primitives"]]
    return Model(
        np.concatenate([array(each["POSITION"]) for each in parts]),
        np.concatenate([array(each["TEXCOORD_1"]) for each in parts]),
        _matrix(node),
    )


def _matrix(node: Any) -> Any:
    """(4, 4) transform of a node."""
    matrix = np.eye(4)
    x, y, z, w = node.get("rotation", (0, 0, 0, 1))
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, 3] = node.get("translation", (0, 0, 0))
    assert "scale" not in node or np.allclose(node["scale"], 1, atol=1e-6)
    return matrix


def read_image(path: Path) -> Any:
    """(h, w, 3) colors of an image as Blender reads it, the top row first."""
    image: Any = bpy.data.images.load(str(path))
    image.colorspace_settings.name = "Non-Color"
    width, height = image.size
    pixels = np.empty(4 * width * height, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(height, width, 4)[::-1, :, :3].astype(np.float64)


def decode(model: Model, colors: Any, remap: Any, frame: int) -> Any:
    """(m, 3) world positions with Y upwards at a frame, by the arithmetic of the shaders."""
    sampled = sample(model, colors, frame)
    low, high = np.array(remap["os-remap"]["Min"]), np.array(remap["os-remap"]["Max"])
    x, y, z = (low + sampled * (high - low)).T
    moved = model.positions + np.stack([x, z, -y], axis=1)
    return moved @ model.matrix[:3, :3].T + model.matrix[:3, 3]


def sample(model: Model, colors: Any, frame: int) -> Any:
    """(m, 3) colors at the places of the vertices at a frame."""
    height, width, _ = colors.shape
    places = model.places + np.array((0, frame / height))
    column, row = np.floor(places * (width, height)).astype(int).T
    return colors[row, column]


def vertex_of(model: Model, colors: Any, frames: int, count: int) -> Any:
    """(m,) index of the mesh's vertex of each of the model's."""
    height, width, _ = colors.shape
    column, row = np.floor(model.places * (width, height)).astype(int).T
    return count - 1 - (row // frames * width + column)
