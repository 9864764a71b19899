"""The system of equations of a solid for one step length, and its pins and ground contacts."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, Integers
from ..contact.plane import PlaneContact
from .linear_system import PinSprings, PointContacts, SolidPart, SolidSystem
from .solid_body import Solid, SolidState

NEWMARK = 0.25
"""Newmark's β in short steps: the average of accelerations, which conserves energy."""


def step_shares(solid: Solid, dt: float, h_squared: float) -> tuple[float, float]:
    """Factors c₊, c₋ of stiffness for displacements of this step and the step before [s²].

    From Newmark's rule and Kelvin–Voigt damping, see `solid_step`.
    """
    of_step_before = NEWMARK * (1.0 - min(1.0, (dt / solid.retardation_time) ** 2))
    viscous = dt * solid.retardation_time / 2
    return (1.0 - 3.0 * of_step_before) * h_squared + viscous, viscous - of_step_before * h_squared


def solid_system(
    solid: Solid, state: SolidState, dt: float, h_squared: float, sprung_points: Integers
) -> SolidSystem:
    """The system of one solid with pins and ground contacts, whose values each step sets.

    Parameters
    ----------
    dt, h_squared : step length [s], and factor of accelerations [s²].
    sprung_points : (g,) pinned and softly pinned points.
    """
    implicit, count = step_shares(solid, dt, h_squared)[0], len(solid.layer_masses)
    return SolidSystem(
        parts=[SolidPart(solid.lattice, state.corotations, implicit * solid.modulus)],
        embedding=solid.embedding,
        masses=solid.masses,
        diagonal=solid.masses + implicit * solid.node_stiffnesses,
        predicted=np.zeros((3, count)),
        components=solid.free_components,
        predicted_nodes=np.zeros_like(state.nodes),
        pin_springs=PinSprings(
            sprung_points, np.zeros(len(sprung_points)), np.zeros((3, len(sprung_points)))
        ),
        contacts=PointContacts(
            normals=np.zeros((3, count)),
            levels=np.zeros(count),
            frictions=np.zeros(count),
            stiffnesses=solid.contact_stiffnesses * h_squared + solid.layer_masses,
            start=np.zeros((3, count)),
            anchors=state.anchors,
            friction_stiffnesses=np.full(count, -1.0),
            normal_forces=np.zeros(count),
        ),
    )


def set_pin_springs(
    system: SolidSystem, solid: Solid, h_squared: float, targets: Floats, soft: Floats
) -> None:
    """Sets targets (3, g) [m] and stiffnesses of pins; `soft` (g,) compliances, 0 = firm [m/N]."""
    pin_springs = system.pin_springs
    if len(pin_springs.points):
        pin_stiffnesses = solid.contact_stiffnesses[pin_springs.points] * h_squared
        goals = h_squared / np.where(soft > 0.0, soft, np.inf)
        pin_springs.stiffnesses[:] = np.where(soft > 0.0, goals, pin_stiffnesses)
        pin_springs.targets[:] = targets


def set_ground_contacts(contacts: PointContacts, planes: Sequence[PlaneContact]) -> None:
    """Sets the planes of ground contacts; without ground, none can become active."""
    if not planes:
        contacts.normals[:], contacts.levels[:] = np.array([[0.0], [0.0], [1.0]]), -np.inf
        contacts.start[:] = contacts.anchors
    for contact in planes:
        contacts.normals[:] = contact.plane.normal[:, None]
        np.add(contact.floors[1], contact.plane.level, out=contacts.levels)
        contacts.frictions.fill(contact.friction)
        contacts.start[:] = contact.start
