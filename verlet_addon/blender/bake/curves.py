"""F-curves that play baked shape keys."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..scene.action_channels import channels
from ..scene.mesh_access import shape_keys_of
from . import actions

_GROUP = "Verlet"
EVAL_TIME = "\0"
"""Stands for the curve of absolute keys among names of shape keys; no key has this name."""


def _number(attribute: str, choice: str) -> int:
    """The integer that Blender stores for an enum value of keyframes."""
    choices: Any = bpy.types.Keyframe.bl_rna.properties[attribute]
    return int(choices.enum_items[choice].value)


_PATH_START, _PATH_END = 'key_blocks["', '"].value'
_EVAL_PATH = "eval_time"
Point = tuple[float, float]
"""Frame and value of a keyframe."""

_EACH = {
    "interpolation": _number("interpolation", "LINEAR"),
    # Drawn small, so that the user's own stand out, from Blender 4.3 on.
    **({"type": _number("type", "GENERATED")} if bpy.app.version >= (4, 3, 0) else {}),
    "select_control_point": False,
    "select_left_handle": False,
    "select_right_handle": False,
}
"""Attributes of all keyframes of a bake; not selected, so that moving selected ones leaves them."""


def write_curves(
    obj: bpy.types.Object, names: Sequence[str], frames: Sequence[float], end: float | None = None
) -> None:
    """Writes F-curves that interpolate linearly from each shape key to the next.

    A key's value is 1 at its own frame and 0 at the frames of its neighbours; the first key is 1
    before its frame, the last after it. The curves are added beside the user's, in a group of their
    own, and hidden in the Graph Editor, where hundreds of them would cover the user's.

    Parameters
    ----------
    end : frame from which on the curves repeat, where the first key follows the last; None for
        motion that does not repeat.
    """
    pulses = _pulses(frames) if end is None else _repeated_pulses([*frames, end])
    paths = map(_value_path, names)
    _write(obj, dict(zip(paths, pulses, strict=True)), repeat=end is not None)


def write_weights(
    obj: bpy.types.Object,
    names: Sequence[str],
    frames: Sequence[float],
    weights: NDArray[np.float32],
    *,
    repeat: bool,
) -> None:
    """Writes F-curves of the values (len(frames), len(names)) of shape keys, linear in between."""
    rows = [list(zip(frames, each, strict=True)) for each in weights.T.tolist()]
    _write(obj, dict(zip(map(_value_path, names), rows, strict=True)), repeat=repeat)


def write_eval_time(
    obj: bpy.types.Object, frames: Sequence[float], times: Sequence[float], *, repeat: bool
) -> None:
    """Writes the F-curve that plays absolute keys, by the time of a key at each frame."""
    _write(obj, {_EVAL_PATH: list(zip(frames, times, strict=True))}, repeat=repeat)


def _write(obj: bpy.types.Object, curves: Mapping[str, Sequence[Point]], *, repeat: bool) -> None:
    """Writes linear F-curves by their paths, which may repeat before and after their keyframes."""
    channels = actions.own_channels(obj)
    group = channels.groups.new(_GROUP)
    for path, points in curves.items():
        curve = channels.fcurves.new(path)
        curve.group = group
        curve.keyframe_points.add(len(points))
        curve.keyframe_points.foreach_set("co", np.array(points, np.float32).ravel())
        for attribute, value in _EACH.items():
            curve.keyframe_points.foreach_set(attribute, [value] * len(points))
        curve.hide, curve.select = True, False
        if repeat:
            play_again(curve)
        curve.update()


def play_again(curve: bpy.types.FCurve) -> None:
    """Has a curve repeat before its first keyframe and after its last one."""
    cycles: Any = curve.modifiers.new("CYCLES")
    cycles.mode_before = cycles.mode_after = "REPEAT"


def remove_curves(key: bpy.types.Key, names: Iterable[str]) -> None:
    """Removes the curves that `write_curves` made for these shape keys.

    If another Key datablock uses the same curves, it keeps them, and this key gets a copy of its
    action without them.
    """
    chosen = {*names, EVAL_TIME}
    if _baked_curves(channels(key), chosen):
        if actions.is_shared(key):
            actions.take_copy(key)
        _strip(channels(key), chosen)
    actions.give_back(key)


def animated_names(key: bpy.types.Key, names: Iterable[str]) -> set[str]:
    """Current names of the shape keys with curves in the same groups as those of `names`.

    Blender renames the curve of a shape key together with the key, so renamed keys are found.
    """
    found = {key_of_curve(curve) for curve in _baked_curves(channels(key), set(names))}
    return found - {EVAL_TIME}


def mute_curves(obj: bpy.types.Object, names: Iterable[str], mute: bool) -> set[str]:
    """Mutes or unmutes the curves of these shape keys; returns the names of the changed ones."""
    key, wanted = shape_keys_of(obj), {*names, EVAL_TIME}
    held = channels(key) if key is not None else None
    curves = [curve for curve in (held.fcurves if held else ()) if curve.mute != mute]
    changed = {name: curve for curve in curves if (name := key_of_curve(curve)) in wanted}
    for curve in changed.values():
        curve.mute = mute
    return set(changed)


def key_of_curve(curve: bpy.types.FCurve) -> str:
    """Name of the shape key whose value a curve animates; empty for other curves.

    It is `EVAL_TIME` for the curve that plays baked absolute keys.
    """
    path = curve.data_path
    if path == _EVAL_PATH and _group_of(curve).split(".")[0] == _GROUP:
        return EVAL_TIME
    if not (path.startswith(_PATH_START) and path.endswith(_PATH_END)):
        return ""
    return str(bpy.utils.unescape_identifier(path[len(_PATH_START) : -len(_PATH_END)]))


def _pulses(frames: Sequence[float]) -> Iterator[list[Point]]:
    """Per key, (frame, value) points of its curve: 1 at its frame, 0 at the two neighbours."""
    for before, frame, after in zip([None, *frames], frames, [*frames[1:], None], strict=False):
        points = [(before, 0.0), (frame, 1.0), (after, 0.0)]
        yield [(at, value) for at, value in points if at is not None]


def _repeated_pulses(frames: Sequence[float]) -> Iterator[list[Point]]:
    """(frame, value) points per key, where the first key follows the last."""
    last = len(frames) - 1
    for key in range(last):
        places = sorted({0, max(key - 1, 0), key, key + 1, last - 1 if key == 0 else last, last})
        yield [(frames[place], float(place % last == key)) for place in places]


def _strip(channels: Any, names: set[str]) -> None:
    """Removes the curves of a bake, and their group if it becomes empty."""
    curves = _baked_curves(channels, names)
    groups = {_group_of(curve) for curve in curves}
    for curve in curves:
        channels.fcurves.remove(curve)
    # From Blender 4.4 on, Blender has removed empty groups by now.
    for group in [group for group in channels.groups if group.name in groups]:
        if not group.channels:
            channels.groups.remove(group)


def _baked_curves(channels: Any, names: set[str]) -> list[bpy.types.FCurve]:
    """Curves of these shape keys, and all others in the same groups of a bake."""
    curves = [curve for curve in (channels.fcurves if channels else ()) if key_of_curve(curve)]
    groups = {_group_of(curve) for curve in curves if key_of_curve(curve) in names}
    groups = {group for group in groups if group.split(".")[0] == _GROUP}
    return [c for c in curves if key_of_curve(c) in names or _group_of(c) in groups]


def _group_of(curve: bpy.types.FCurve) -> str:
    """Name of a curve's group; empty without one."""
    return str(curve.group.name) if curve.group is not None else ""


def _value_path(name: str) -> str:
    """RNA path of a shape key's value, relative to the Key datablock."""
    return _PATH_START + bpy.utils.escape_identifier(name) + _PATH_END
