"""Properties of `Object.verlet` for ropes that are curve objects."""

from bpy.props import BoolProperty, StringProperty

CURVE_NAMES = ("hold_start", "hold_end", "pinned_points")
"""Properties that decide which points of a curve hold it."""


class CurveProperties:
    """Properties of `VERLET_PG_body` that curves have in place of vertex groups."""

    hold_start: BoolProperty(
        name="Hold Start",
        description="The first point of each open spline follows the animated curve",
        options=set(),
    )
    hold_end: BoolProperty(
        name="Hold End",
        description="The last point of each open spline follows the animated curve",
        options=set(),
    )
    pinned_points: StringProperty(
        name="Pinned Points",
        description=(
            "Numbers of control points that follow the animated curve, from 0 on over all splines; "
            "Pin Selected in Edit Mode adds them"
        ),
        options=set(),
    )
    handle_types: StringProperty(
        name="Handle Types",
        description="Types of the handles before the bake, which makes them free",
        options={"HIDDEN"},
    )
