"""Sentences for the user on solids at the start."""

from collections.abc import Sequence

import numpy as np

from ...arrays import Floats
from ...bodies.step_data import Body
from ...model import FleshModel, SolidModel
from ...remark import Remark
from ..manifold.plane import along

SELF_WEIGHT_STIFFNESS = 40.0
"""Modulus advised for a solid that sags under its weight, as a multiple of the pressure of a
solid's own weight: a cube settles by 1.3 % of its height; with half, by 2.5 %, with twice, by 0.6
%."""
SAMPLED = 500
"""Number of vertices and of pins, evenly chosen, by whose distance a solid is too heavy or not.
With half, pins of a character's skin are some 7 cm apart, with twice 3 cm."""


def closed_holes(bodies: Sequence[Body]) -> list[str]:
    """One sentence for each solid whose mesh has holes."""
    return [
        Remark(
            f"{model.name} is open at {model.solid.hole_edges} edges, and flat lids close its "
            "holes in the simulation only; use Mesh ▸ Clean Up ▸ Fill Holes to close them in the "
            "mesh",
            grade="INFO",
        )
        for model, _ in bodies
        if isinstance(model, SolidModel) and model.solid.hole_edges
    ]


def too_soft(bodies: Sequence[Body], gravity: Floats) -> list[str]:
    """One sentence for each solid too soft for its own weight."""
    sentences = []
    for model, state in bodies:
        pull = gravity * model.settings.gravity
        strength = float(np.sqrt((pull * pull).sum()))
        is_loaded = isinstance(model, FleshModel) and model.settings.loaded_shape
        if not isinstance(model, SolidModel) or is_loaded or strength == 0.0:
            continue
        height = _unheld_size(model, state.positions, pull / strength)
        density = float(model.solid.masses.sum()) / model.solid.lattice.volume
        if density * strength * height > model.solid.modulus:
            wanted = float(f"{SELF_WEIGHT_STIFFNESS * density * strength * height:.1g}")
            sentences.append(
                f"{model.name} is too heavy to keep its shape: at {density:,.3g} kg/m³ and "
                f"{height:.3g} m high it needs a Stiffness of about {wanted:,.10g} Pa; raise that, "
                "or lower its Mass"
            )
    return sentences


def _unheld_size(model: SolidModel, positions: Floats, down: Floats) -> float:
    """Height of a solid, or the largest distance from its nearest pin if that is less [m].

    Parameters
    ----------
    positions : (3, n) vertices, of which the first are those of the mesh [m].
    down : (3,) direction of gravity.
    """
    height = float(np.ptp(along(down, positions)))
    free = np.setdiff1d(np.arange(model.vertex_count), model.pinned)
    if not len(model.pinned) or not len(free):
        return height if len(free) else 0.0
    ends, pins = (positions.T[each[:: -(-len(each) // SAMPLED)]] for each in (free, model.pinned))
    away = np.linalg.norm(ends[:, None] - pins, axis=2).min(axis=1)
    return min(height, float(away.max(initial=0.0)))


def boneless(bodies: Sequence[Body]) -> list[str]:
    """One sentence for each body with parts of flesh that have no bone."""
    return [
        f"{model.name} is all flesh, without bone, in {model.solid.boneless_parts} of its parts, "
        "which are held in their middle alone; lower its Depth, or paint less of its Flesh Group"
        for model, _ in bodies
        if isinstance(model, FleshModel) and model.solid.boneless_parts
    ]
