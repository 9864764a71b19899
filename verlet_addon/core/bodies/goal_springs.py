"""Goal springs: vertices drawn to targets that may change from step to step.

A damped spring of stiffness k and damping c, solved for implicitly in a step of length h, makes a
particle of mass m one of mass m + h² (k + c / h), whose free motion ends that much nearer to where
the spring draws it. So all constraints of a body are solved together with its springs, at any
stiffness, and an infinite one is a pin.

D. Baraff, A. Witkin, *Large Steps in Cloth Simulation* (1998), section 4.
"""

from dataclasses import replace

import numpy as np

from ..arrays import Floats, with_added_masses
from ..geometry.graph import label_free
from ..kernel import Sized, Struct, kernel
from ..model import HeldVertices, SoftBodyModel, SolidModel, WaterModel
from ..rigid.pieces import heavier_pieces
from ..scene import GoalSprings
from ..stretch.coarse_levels import heavier_levels

Struct(
    "held_vertices",
    HeldVertices,
    reads="vertices spring_masses target_shares own_inverse_masses",
    count=(int, lambda held: len(held.vertices)),
)


def hold_vertices(
    model: SoftBodyModel, springs: GoalSprings, dt: float, h_squared: float
) -> SoftBodyModel:
    """The model of a body whose vertices are held by goal springs, for steps of one length.

    The constraints are those of the model, and are not built anew.

    Parameters
    ----------
    springs : of vertices that are not pinned, with stiffnesses above 0.
    dt, h_squared : length of the steps [s], and their factor of acceleration [s²].
    """
    vertices, infinite = springs.vertices, np.isinf(springs.stiffnesses)
    total = springs.stiffnesses + springs.dampings / dt
    shares = np.divide(springs.stiffnesses, total, out=np.ones_like(total), where=~infinite)
    held = HeldVertices(
        vertices=vertices,
        spring_masses=h_squared * total,
        target_shares=shares,
        own_inverse_masses=model.inverse_masses,
    )
    free_components = label_free(model.free_components, vertices)
    model = replace(model, held=held, free_components=free_components)
    # Solids have their springs beside their pins, and water beside what drives it.
    return model if isinstance(model, SolidModel | WaterModel) else _with_springs(model, held)


def _with_springs(model: SoftBodyModel, held: HeldVertices) -> SoftBodyModel:
    """The model with the masses of springs."""
    added, lengths, pieces = np.zeros_like(model.inverse_masses), model.lengths, model.pieces
    added[held.vertices] = held.spring_masses
    inverse_masses = with_added_masses(model.inverse_masses, added)
    if lengths.levels:
        shares = np.divide(
            inverse_masses, model.inverse_masses, out=np.ones_like(added), where=added > 0.0
        )
        lengths = replace(lengths, levels=heavier_levels(lengths.levels, shares, added))
    if pieces is not None:
        pieces = heavier_pieces(pieces, inverse_masses, added)
    return replace(model, inverse_masses=inverse_masses, lengths=lengths, pieces=pieces)


@kernel(result=lambda *given: np.empty(given[2].shape))
def spring_goals(start: Sized, held: HeldVertices, targets: Floats) -> Floats:
    """(3, g) where springs draw vertices in a step from `start` (3, n) to targets (3, g) [m]."""
    begin = start[:, held.vertices]
    return np.asarray(begin + (targets - begin) * held.target_shares)


@kernel()
def draw_held_vertices(positions: Sized, held: HeldVertices, goals: Floats) -> None:
    """Moves the end of free motion, positions (3, n), towards the goals (3, g) of springs [m]."""
    own = 1.0 / held.own_inverse_masses[held.vertices]
    shares = 1.0 - own / (own + held.spring_masses)
    rows = positions[:, held.vertices]
    positions[:, held.vertices] = rows + (goals - rows) * shares


@kernel()
def put_on_goals(positions: Sized, held: HeldVertices, goals: Floats) -> None:
    """Puts vertices of infinite stiffness on their goals (3, g), in positions (3, n) [m]."""
    exact = np.isinf(held.spring_masses)
    positions[:, held.vertices[exact]] = goals[:, exact]
