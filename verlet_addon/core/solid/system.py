"""A solid made ready for steps of one length: what of its system stays the same, and what not."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, Integers
from ..contact.plane import PlaneContact
from .body import Solid, SolidState
from .numpy_touching import Holds, Part, Stops, System

NEWMARK = 0.25
"""β of short steps: accelerations are averaged over the step, which keeps energy."""


def step_shares(solid: Solid, dt: float, h_squared: float) -> tuple[float, float]:
    """How much stiffness opposes the way of a step, and that of the step before it [s²]."""
    former = NEWMARK * (1.0 - min(1.0, (dt / solid.delay) ** 2))
    delay = dt * solid.delay / 2
    return (1.0 - 3.0 * former) * h_squared + delay, delay - former * h_squared


def solid_system(
    solid: Solid, state: SolidState, dt: float, h_squared: float, drawn: Integers
) -> System:
    """What stress, pins and the ground do to moves that are added to free motion.

    Parameters
    ----------
    dt, h_squared : of the steps [s], and by which accelerations count [s²].
    drawn : (g,) points that pins and soft goals draw.
    """
    implicit, count = step_shares(solid, dt, h_squared)[0], len(solid.weight)
    return System(
        parts=[Part(solid.lattice, state.shapes, implicit * solid.modulus)],
        embedding=solid.embedding,
        masses=solid.masses,
        diagonal=solid.masses + implicit * solid.resistances,
        arrival=np.zeros((3, count)),
        components=solid.free_components,
        places=np.zeros_like(state.nodes),
        holds=Holds(drawn, np.zeros(len(drawn)), np.zeros((3, len(drawn)))),
        stops=Stops(
            normals=np.zeros((3, count)),
            levels=np.zeros(count),
            frictions=np.zeros(count),
            stiffnesses=solid.skin * h_squared + solid.weight,
            start=np.zeros((3, count)),
            anchors=state.anchors,
            grips=np.full(count, -1.0),
            loads=np.zeros(count),
        ),
    )


def draw(system: System, solid: Solid, h_squared: float, targets: Floats, soft: Floats) -> None:
    """Draws points to targets (3, g): pins where the compliance (g,) is 0, else soft goals."""
    holds = system.holds
    if len(holds.points):
        firm = solid.skin[holds.points] * h_squared
        goals = h_squared / np.where(soft > 0.0, soft, np.inf)
        holds.stiffnesses[:] = np.where(soft > 0.0, goals, firm)
        holds.targets[:] = targets


def stop_at_ground(stops: Stops, contacts: Sequence[PlaneContact]) -> None:
    """Lets the ground stop points, if there is any."""
    if not contacts:
        stops.normals[:], stops.levels[:] = np.array([[0.0], [0.0], [1.0]]), -np.inf
        stops.start[:] = stops.anchors
    for contact in contacts:
        stops.normals[:] = contact.plane.normal[:, None]
        np.add(contact.floors[1], contact.plane.level, out=stops.levels)
        stops.frictions.fill(contact.friction)
        stops.start[:] = contact.start
