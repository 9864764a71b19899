"""Tracks of the NLA with a bake of soft bones, above the user's own action."""

from collections.abc import Sequence
from typing import Any

from ..scene.action_channels import HAS_SLOTS, channels_of

TRACK, PUSHED = "Verlet Bones", "Verlet Animation"
"""Names of the NLA tracks of a bake, and of the user's action below it."""
TURNS = 100
"""Number of turns of a loop in the NLA, before and after the one that was baked."""
FAR = 100_000.0
"""Frames to either side that a strip needs of curves that go on beyond their keys."""


def stack_strips(
    animation: Any, action: Any, slot: Any, moments: Sequence[float], *, repeat: bool
) -> list[str]:
    """Puts an action on top of the NLA, above the user's own; returns the tracks that are new.

    As the active action, the user's would hide what is above.
    """
    names, former = [], animation.action
    if former is not None:
        own = animation.action_slot if HAS_SLOTS else None
        start, end = _reach(former, own, moments)
        strip = _new_strip(animation, PUSHED, former, own, start, end)
        strip.blend_type = animation.action_blend_type
        strip.extrapolation = animation.action_extrapolation
        names.append(animation.nla_tracks[-1].name)
        animation.action = None
    first, last = moments[0], max(moments[-1], moments[0] + 1)
    strip = _new_strip(animation, TRACK, action, slot, first, last)
    strip.extrapolation = "NOTHING"
    if repeat:
        strip.frame_start, strip.repeat = first - TURNS * (last - first), 2 * TURNS
    names.append(animation.nla_tracks[-1].name)
    return names


def _reach(action: Any, slot: Any, moments: Sequence[float]) -> tuple[float, float]:
    """First and last frame that a strip of an action needs, to play as the action did."""
    start, end = (float(value) for value in action.curve_frame_range)
    held = channels_of(action, slot)
    curves = held.fcurves if held is not None else ()
    if any(len(curve.modifiers) or curve.extrapolation == "LINEAR" for curve in curves):
        return -FAR, FAR
    return min(start, moments[0]), max(end, moments[-1])


def _new_strip(animation: Any, name: str, action: Any, slot: Any, start: float, end: float) -> Any:
    """A strip with these frames of an action, on a new NLA track at the top."""
    track = animation.nla_tracks.new(
        prev=animation.nla_tracks[-1] if animation.nla_tracks else None
    )
    track.name = name
    strip = track.strips.new(action.name, int(start), action)
    if slot is not None:
        strip.action_slot = slot
    strip.action_frame_end, strip.action_frame_start = end, start  # else limited to an end before
    strip.frame_start, strip.blend_type = start, "REPLACE"
    return strip
