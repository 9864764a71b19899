"""Scenes of cloth that is sewn, or tears; docstrings are captions."""

from typing import Any

import bmesh
import bpy
import numpy as np

from docs.figures.scenes.forces import field
from docs.figures.scenes.parts import CLOTH, checked, start
from sample_blends.stage import add_mesh, camera, grid, make_body, plain, rod


def sewn() -> None:
    """Two panels around a post, whose sides are joined by edges without faces."""
    start()
    columns, rows = 12, 16
    flat, faces, uv = grid(columns, rows, lambda u, v: (0.5 * (u - 0.5), 0 * u, 0.15 + 0.6 * v))
    count = len(flat)
    at = np.arange(count).reshape(rows + 1, columns + 1)
    sides = at[:, [0, -1]].ravel()
    apart = np.array((0.0, 0.14, 0.0))
    obj = add_mesh(
        "Body",
        np.concatenate((flat - apart, flat + apart)),
        edges=np.stack((sides, sides + count), axis=1),
        faces=np.concatenate((faces, faces[:, ::-1] + count)),
        uv=np.concatenate((uv, uv)),
        material=checked(8.0),
    )
    make_body(obj, "CLOTH", pinned=np.zeros(0, np.int64), damping=3.0, gravity=0.0)
    post = rod("Post", length=0.9, radius=0.1, material=plain("Post", (0.22, 0.27, 0.33)))
    post.modifiers.new("Collision", "COLLISION")
    camera((1.1, -1.9, 0.9), (0.0, 0.0, 0.42), lens=52)


def torn() -> None:
    """A banner in wind, held at both sides, that is split down its middle."""
    start()
    columns, rows = 24, 12
    vertices, faces, uv = grid(
        columns, rows, lambda u, v: (1.2 * (u - 0.5), 0.01 * np.sin(9 * u), 0.5 + 0.5 * v)
    )
    obj = add_mesh("Body", vertices, faces=faces, uv=uv, material=checked(12.0))
    edge = np.arange(rows + 1) * (columns + 1)
    make_body(obj, "CLOTH", pinned=np.concatenate((edge, edge + columns)), mass=0.1)
    _split(obj)
    field("WIND", 12.0, place=(0.0, -2.0, 0.8), turned=(-90.0, 0.0, 0.0))
    for x in (-0.6, 0.6):
        pole = rod("Pole", length=1.1, radius=0.015, material=plain("Wood", CLOTH))
        pole.location = (x, 0.0, 0.0)
    camera((0.8, -2.6, 1.0), (0.0, 0.0, 0.65), lens=52)


def _split(obj: Any) -> None:
    """Splits a banner down its middle, by the operator."""
    bpy.context.view_layer.objects.active = obj  # type: ignore[union-attr]
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(obj.data)
    for edge in edited.edges:
        edge.select = all(abs(vertex.co.x) < 1e-4 for vertex in edge.verts)
    bmesh.update_edit_mesh(obj.data)
    operators: Any = bpy.ops
    operators.verlet.split_for_tearing()
    bpy.ops.object.mode_set(mode="OBJECT")
