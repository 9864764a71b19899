"""The linear system of a solid in one step: stress, pins and contacts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..contacts.manifold.plane import PlaneContact
from ..kernel import Struct
from .kernels import Corotation
from .lattice import Embedding, Lattice
from .solid_body import Solid, SolidState

PIECE = 56
"""Size of a rigid piece of a solid in C [numbers]."""
ROLLING = 50
"""Size of a rolling piece of a solid in C [numbers]."""


@dataclass(frozen=True, eq=False)
class PinSprings:
    """Springs that pull g points of the embedding to targets: pins and soft pins."""

    points: Integers
    """(g,) point numbers."""
    stiffnesses: Floats
    """(g,) stiffnesses × h² [kg]."""
    targets: Floats
    """(3, g) target positions [m]."""


@dataclass(frozen=True, eq=False)
class PointContacts:
    """One potential contact with a plane for each of p points, with Coulomb friction."""

    normals: Floats
    """(3, p) unit normals of the planes, towards the solid."""
    levels: Floats
    """(p,) coordinate of each plane along its normal; −∞ = no contact possible [m]."""
    frictions: Floats
    """(p,) Coulomb coefficients."""
    stiffnesses: Floats
    """(p,) stiffnesses of the contact springs × h² [kg]."""
    start: Floats
    """(3, p) friction anchors of contacts that begin in this step [m]."""
    anchors: Floats
    """(3, p) friction anchors of contacts that existed before, else nan; written to [m]."""
    friction_stiffnesses: Floats
    """(p,) tangential stiffness × h², less than the normal one while sliding; −1 = inactive
    contact; written to [kg]."""
    normal_forces: Floats
    """(p,) normal forces × h²; written to [kg m]."""


@dataclass(frozen=True, eq=False)
class SolidPart:
    """The stiffness c K of one solid in a system."""

    lattice: Lattice
    corotations: Sequence[Corotation]
    stiffness: float
    """c E, Young's modulus times the factor c₊ of `step_shares` [s² Pa]."""


@dataclass(frozen=True, eq=False)
class SolidSystem:
    """(M + c K + h² S) v = r for the moves v of one step, S: springs of pins and active contacts.

    m nodes carry p points.
    """

    parts: Sequence[SolidPart]
    """One or more solids in contact; their nodes are concatenated."""
    embedding: Embedding
    """Points of solids with Σ w = 1, followed by offsets between two solids with Σ w = 0."""
    masses: Floats
    """(m,) masses of the nodes [kg]."""
    diagonal: Floats
    """(m,) diagonal of M + c K, mean of the three directions [kg]."""
    predicted: Floats
    """(3, p) points after free motion, without the moves v [m]."""
    components: Integers
    """(m,) free component of each node, from 0; −1 = a pinned component."""
    predicted_nodes: Floats
    """(3, m) nodes after free motion, without the moves v [m]."""
    pin_springs: PinSprings
    contacts: PointContacts


@dataclass(frozen=True)
class SolverTolerance:
    """Stopping criteria of conjugate gradients, on the preconditioned residual norm r · P⁻¹ r."""

    relative: float
    """Tolerance relative to the norm of the right side; its square bounds r · P⁻¹ r."""
    absolute: float
    """Tolerance of r · P⁻¹ r in any case [kg m²]."""
    min_rounds: int
    """Fewest rounds, unless r · P⁻¹ r is negligible."""
    negligible: float
    """Value of r · P⁻¹ r that ends the solution at once [kg m²]."""


def count_pieces(system: SolidSystem) -> int:
    """Number of free components."""
    return int(system.components.max(initial=-1)) + 1


def _fours(system: SolidSystem) -> Floats:
    """Scratch memory of four numbers for each node."""
    return np.zeros((len(system.masses), 4))


Struct(
    "pin_springs",
    PinSprings,
    reads="points stiffnesses",
    shares="targets",
    count=(int, lambda springs: len(springs.points)),
)
Struct(
    "point_contacts",
    PointContacts,
    shares="normals levels frictions stiffnesses start anchors friction_stiffnesses normal_forces",
    points=(int, lambda contacts: len(contacts.levels)),
)
Struct("solid_part", SolidPart, reads="lattice corotations stiffness")
Struct(
    "solid_system",
    SolidSystem,
    reads="parts embedding masses diagonal components pin_springs contacts",
    shares="predicted predicted_nodes",
    nodes=(int, lambda system: len(system.masses)),
    pieces=(int, count_pieces),
    rigid_pieces=("struct solid_piece", lambda system: np.zeros((count_pieces(system), PIECE))),
    blocks=("four_reals", lambda system: np.zeros((3, len(system.masses), 4))),
    moves=("four_reals", _fours),
    forces=("four_reals", _fours),
    residual=("four_reals", _fours),
    ahead=("four_reals", _fours),
    search=("four_reals", _fours),
    along=("four_reals", _fours),
    arms=("four_reals", _fours),
    inverse_masses=(Floats, lambda system: 1.0 / system.masses),
    rolling=(Floats, lambda system: np.zeros((count_pieces(system), ROLLING))),
)
Struct("solver_tolerance", SolverTolerance, reads="relative absolute min_rounds negligible")


def step_shares(solid: Solid, dt: float, h_squared: float) -> tuple[float, float]:
    """Factors c₊, c₋ of stiffness for displacements of this step and the step before [s²].

    From Newmark's rule and Kelvin–Voigt damping, see `solid_step`.
    """
    ahead, behind, retardation_time = solid.newmark_shares(dt)
    viscous = dt * retardation_time / 2
    return ahead * h_squared + viscous, viscous - behind * h_squared


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
