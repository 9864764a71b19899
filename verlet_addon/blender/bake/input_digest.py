"""Digest of a bake's inputs beside the settings: meshes, transforms, animation, colliders."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import bpy
import numpy as np

from ...core.arrays import Floats
from ..scene.action_channels import channels
from ..scene.attachments import acting_attachments
from ..scene.cages import simulated_object
from ..scene.colliders import all_met
from ..scene.curve_points import curve_of, is_curve
from ..scene.force_fields import acting_fields, enabled_fields
from ..scene.hair_curves import hair_of, is_hair, read_ends
from ..scene.mesh_access import read_key, read_shape, shape_keys_of
from ..scene.spline_basis import make_of
from ..settings.properties import body_properties, scene_properties
from .curves import EVAL_TIME, key_of_curve
from .edit_names import is_edit
from .own_animation import own_curves, own_pose, own_tracks

_POINTS = {"co": 2, "handle_left": 2, "handle_right": 2, "interpolation": 1}
"""Attributes of keyframes that decide an F-curve's values, and the numbers that each has."""

_INTERFACE = ("select", "show_", "active")
"""Prefixes of the names of properties that affect the interface alone."""


def input_digests(
    bodies: Sequence[bpy.types.Object], scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> list[str]:
    """Per body, digests of the objects that its bake reads, by their names, as text.

    Equal only while a bake would read the same meshes and animation.

    Vertex-group weights are left out, since reading them takes too long for a redraw; so are other
    modifiers than the objects that they name.
    """
    colliders, met = all_met(bodies, view_layer)
    fields = enabled_fields(view_layer)
    contents: dict[bpy.types.Object, Any] = {}

    def content(obj: bpy.types.Object) -> Any:
        """Content of an object, read once."""
        if obj not in contents:
            contents[obj] = _content(obj)
        return contents[obj]

    ground = scene_properties(scene).ground_object
    digests = []
    for obj, numbers in zip(bodies, met, strict=True):
        surfaces = [colliders[number] for number in numbers]
        acting = acting_fields(obj, fields)
        targets = [item.target for _, item in acting_attachments(obj)]
        read = [obj, simulated_object(obj), *surfaces, *acting, *targets]
        read += [ground] if ground is not None else []
        inputs = {
            each.name_full: [
                content(each),
                _plain(each.collision) if each in surfaces else None,
                _plain(each.field) if each in acting else None,
            ]
            for each in with_carriers(read)
        }
        digests.append(json.dumps({name: _short(values) for name, values in inputs.items()}))
    return digests


def changed_inputs(before: str, now: str) -> list[str]:
    """Words on each object that differs between two texts of `input_digests`.

    Bakes of older versions have one digest of all objects, so that none is named.
    """
    if not before.startswith("{"):
        return []
    known, found = json.loads(before), json.loads(now)
    return [
        *(f"{name} acts no longer" for name in known if name not in found),
        *(f"{name} acts now" for name in found if name not in known),
        *(f"{name} changed" for name in found if name in known and known[name] != found[name]),
    ]


def _short(values: list[Any]) -> str:
    """Digest of an object's content, short enough to be kept for each."""
    return sha256(repr(values).encode()).hexdigest()[:16]


def with_carriers(objects: Iterable[bpy.types.Object]) -> Iterator[bpy.types.Object]:
    """Objects and, each once, the parents, surfaces, targets and modifier objects they follow."""
    waiting, seen = [*objects], set()
    while waiting:
        obj = waiting.pop(0)
        if obj in seen:
            continue
        seen.add(obj)
        yield obj
        named = [getattr(item, "object", None) for item in obj.modifiers]
        named += [getattr(item, "target", None) for item in obj.constraints]
        named += [hair_of(obj).surface] if is_hair(obj) else []
        waiting += [each for each in (obj.parent, *named) if isinstance(each, bpy.types.Object)]


def _content(obj: bpy.types.Object) -> list[Any]:
    """Name, transform, mesh and animation of an object.

    The transform is left out where the object is animated: it changes with the current frame.
    """
    animation = _animation(obj)
    content: list[Any] = [obj.name_full, animation]
    if animation is None:
        content += [_numbers(obj.matrix_basis), _numbers(obj.matrix_parent_inverse)]
        content += own_pose(obj)
    if isinstance(obj.data, bpy.types.Mesh):
        content += _shapes(obj, obj.data)
    elif is_curve(obj):
        content += _lines(obj)
    elif is_hair(obj):
        content += [read_ends(hair_of(obj)).tolist(), _hash(read_shape(obj))]
    return content


def _lines(obj: bpy.types.Object) -> list[Any]:
    """Makes of a curve's splines, digests of its control points, and their animation."""
    made, key = list(map(make_of, curve_of(obj).splines)), shape_keys_of(obj)
    if key is None:
        return [made, _hash(read_shape(obj)), None]
    baked = {item.name for item in body_properties(obj).baked_keys}
    own = [block for block in key.key_blocks if block.name not in baked]
    animation = _animation(key, baked)
    if body_properties(obj).made_basis and len(own) == 1:  # else it is not the bake's alone
        animation = None
    return [made, *(_hash(read_key(block)) for block in own), animation]


def _hash(coordinates: Floats) -> str:
    """Digest of coordinates (n, 3)."""
    return sha256(coordinates.astype(np.float32).tobytes()).hexdigest()


def _shapes(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> list[Any]:
    """Sizes of a mesh, digests of its vertices or of its shape keys, and their animation."""
    sizes = [len(mesh.vertices), len(mesh.edges), len(mesh.polygons)]
    if (key := shape_keys_of(obj)) is None:
        return [*sizes, _digest(mesh.vertices, "co", 3), None]
    baked = {item.name for item in body_properties(obj).baked_keys}
    own = [each for each in key.key_blocks if not (each.name in baked or is_edit(each.name))]
    if body_properties(obj).made_basis and len(own) == 1:  # else it is not the bake's alone
        return [*sizes, _digest(own[0].points, "co", 3), None]
    return [*sizes, *(_digest(block.points, "co", 3) for block in own), _animation(key, baked)]


def _animation(
    item: bpy.types.Object | bpy.types.Key, baked: Collection[str] = ()
) -> list[Any] | None:
    """F-curves, drivers and NLA strips that animate a datablock, but for those of baked keys."""
    animation: Any = item.animation_data
    if animation is None:
        return None
    if isinstance(item, bpy.types.Object):
        curves, tracks = own_curves(item), own_tracks(item)
    else:
        held, tracks = channels(item), animation.nla_tracks
        every = [*(held.fcurves if held is not None else ()), *animation.drivers]
        curves = [(curve, curve.mute) for curve in every]
    content = [
        _curve(curve, mute)
        for curve, mute in curves
        if key_of_curve(curve) not in (*baked, EVAL_TIME)
    ]
    strips = [
        [_plain(strip), strip.action.name if strip.action is not None else ""]
        for track in tracks
        for strip in track.strips
    ]
    return [content, strips] if content or strips else None


def _curve(curve: Any, mute: bool) -> list[Any]:
    """Path, keyframes, modifiers and driver of an F-curve."""
    driver = curve.driver
    return [
        (curve.data_path, curve.array_index, mute, curve.extrapolation),
        [_digest(curve.keyframe_points, name, size) for name, size in _POINTS.items()],
        [_plain(modifier) for modifier in curve.modifiers],
        None if driver is None else (driver.type, driver.expression),
    ]


def _digest(items: Any, name: str, size: int) -> str:
    """Digest of an attribute with some numbers per item."""
    values = np.empty(size * len(items), np.int32 if name == "interpolation" else np.float32)
    items.foreach_get(name, values)
    return sha256(values.tobytes()).hexdigest()


def _numbers(matrix: Any) -> tuple[float, ...]:
    """Entries of a matrix."""
    return tuple(entry for row in matrix for entry in row)


def _plain(item: Any) -> list[Any]:
    """Editable numbers, choices and texts of an RNA struct, but for the state of the interface."""
    names = [
        p.identifier
        for p in item.bl_rna.properties
        if not (p.is_readonly or p.type in ("POINTER", "COLLECTION"))
        and not p.identifier.startswith(_INTERFACE)
    ]
    values = [getattr(item, name) for name in names]
    return [tuple(value) if hasattr(value, "__len__") else value for value in values]
