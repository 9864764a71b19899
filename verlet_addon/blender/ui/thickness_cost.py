"""What the Thickness of cloth costs in collisions with itself, told before a bake."""

import bpy

from ..scene.body_creation import FITTING_THICKNESS, median_edge
from ..scene.cages import simulated_object
from ..settings.properties import body_properties
from .overlay.drawing_cache import kept, mesh_changes

NOTICEABLE = 1.5
"""Factor of the time from which on it is told."""


def duration(ratio: float) -> float:
    """Time of a bake with Self Collision at this ratio of Thickness to edges, that at 0 being 1.

    Pairs of triangles within a Thickness grow by its square. Fitted to
    docs/reference/collisions.md.
    """
    return 1.0 + 1.5 * ratio + 2.0 * ratio**2


def thickness_cost(obj: bpy.types.Object) -> str:
    """Sentence on how much slower Self Collision is than it could be; empty if it hardly is."""
    simulated = simulated_object(obj)
    key = (mesh_changes(simulated), simulated.matrix_world.to_scale().to_tuple())
    edge = kept("median edge", simulated, key, lambda: median_edge(simulated), lag=key[1])
    ratio = body_properties(obj).thickness / edge if edge else 0.0
    slower = duration(ratio) / duration(FITTING_THICKNESS)
    if slower < NOTICEABLE:
        return ""
    times = f"{slower:.0f}" if slower >= 2.0 else f"{slower:.1f}"
    return (
        f"Thickness is {ratio:.2g} of the edge length: up to {times} times as slow as at "
        f"{FITTING_THICKNESS:g}"
    )
