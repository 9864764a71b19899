"""Points and lines that mark the pins, attachments and colliders of a body."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import bpy
import numpy as np

from ....core.arrays import Floats, Integers, Singles
from ...bake.bake import bodies
from ...scene.attachment_targets import nearest_targets
from ...scene.attachments import acting_attachments
from ...scene.colliders import met_colliders
from ...scene.pin_weights import pin_group_of
from ...scene.shown_mesh import read_weights, vertex_count
from ...settings.properties import body_properties
from .drawing_cache import Changes, kept, mesh_changes
from .positions import places_of

MOST_LINES = 100
"""Largest number of lines from the vertices of one attachment to its object."""

_CORNERS = np.array(
    [
        end
        for corner in product((0.0, 1.0), repeat=3)
        for inwards in 0.2 * np.diag(1.0 - 2.0 * np.array(corner))
        for end in (corner, corner + inwards)
    ]
)
"""(48, 3) ends of three lines at each corner of a box, a fifth of its sides long."""


@dataclass(frozen=True, eq=False)
class Held:
    """The vertices that a vertex group holds."""

    vertices: Integers
    """(k,) indices."""
    weights: Floats
    """(k,) weights, above 0."""


@dataclass(frozen=True, eq=False)
class Marks:
    """Points, and lines between further points, in world space."""

    points: Singles
    """(k, 3) [m]"""
    weights: Singles
    """(k,) how firmly each point is held, 0 … 1."""
    lines: Singles
    """(2 l, 3) both ends of each line [m]."""


NOTHING = np.empty((0, 3), np.float32)
"""(0, 3) ends of no lines."""
NO_MARKS = Marks(NOTHING, np.empty(0, np.float32), NOTHING)
"""Marks of a body whose vertices have no known places: none."""


def pin_marks(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Marks:
    """The vertices in the pin group of a body, with their weights by the factor on these."""
    held, factor = _held(obj)[0], body_properties(obj).pin_weight
    if not factor or (points := places_of(obj, depsgraph, held.vertices)) is None:
        return NO_MARKS
    return Marks(points, (factor * held.weights).astype(np.float32), NOTHING)


def attachment_marks(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Marks:
    """The attached vertices of a body, and lines to their targets."""
    marks = []
    for (number, item), held in zip(acting_attachments(obj), _held(obj)[1:], strict=True):
        if (points := places_of(obj, depsgraph, held.vertices)) is None:
            return NO_MARKS
        # At most MOST_LINES of the vertices, evenly chosen.
        starts = points[:: max(1, -(-len(points) // MOST_LINES))]
        key = (item.target.session_uid, item.bone, item.vertex_group, len(starts))
        follow = kept(
            f"targets {number}",
            obj,
            (Changes.edits, key),
            partial(nearest_targets, item, starts, depsgraph),
            lag=key,
        )
        ends = follow(item.target, depsgraph).astype(np.float32)
        lines = np.stack([starts, ends], axis=1).reshape(-1, 3)
        marks.append(Marks(points, (item.weight * held.weights).astype(np.float32), lines))
    return Marks(
        np.concatenate([NOTHING, *(each.points for each in marks)]),
        np.concatenate([np.empty(0, np.float32), *(each.weights for each in marks)]),
        np.concatenate([NOTHING, *(each.lines for each in marks)]),
    )


def attachments_key(obj: bpy.types.Object) -> tuple[Hashable, ...]:
    """Key of the settings on which the marks of a body's attachments depend."""
    return tuple(
        (number, item.target.session_uid, item.bone, item.vertex_group, item.weight)
        for number, item in acting_attachments(obj)
    )


def _held(obj: bpy.types.Object) -> list[Held]:
    """The vertices in the pin group of a body, then those of each acting attachment."""
    groups = [pin_group_of(obj)]
    groups += [item.vertex_group for _, item in acting_attachments(obj)]
    key = (mesh_changes(obj), obj.mode, vertex_count(obj), *groups)
    return kept("held", obj, key, lambda: _read_held(obj, groups), lag=key[1:])


def _read_held(obj: bpy.types.Object, groups: Sequence[str]) -> list[Held]:
    """The vertices in each of some vertex groups."""
    every = read_weights(obj, groups)
    held = [np.flatnonzero(weights > 0.0) for weights in every]
    return [
        Held(vertices, weights[vertices]) for vertices, weights in zip(held, every, strict=True)
    ]


def colliders_of(
    obj: bpy.types.Object, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> list[bpy.types.Object]:
    """The colliders that act on a body."""
    chosen = body_properties(obj).collision_collection
    key = (Changes.edits, scene.session_uid, view_layer.name, chosen and chosen.session_uid)
    uids = kept(
        "colliders",
        obj,
        key,
        lambda: [found.session_uid for found in met_colliders(obj, bodies(scene), view_layer)],
    )
    wanted = set(uids)
    return [found for found in view_layer.objects if found.session_uid in wanted] if uids else []


def corner_lines(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Singles:
    """(48, 3) ends of three short lines at each corner of the box around an object [m]."""
    evaluated = obj.evaluated_get(depsgraph)
    matrix = np.array(evaluated.matrix_world, np.float64)
    box = np.array(evaluated.bound_box, np.float64)
    low, high = box.min(axis=0), box.max(axis=0)
    ends = low + _CORNERS * (high - low)
    lines: Singles = (ends @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
    return lines
