"""The constant part of a body during a simulation, with a class for each kind of body."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .arrays import Floats, Integers
from .bending.constraints import BendConstraints
from .flesh.flesh_body import Flesh
from .forces.kernels import ExposedSurface
from .rigid.pieces import Pieces
from .rods.rod_trees import Rods
from .ropes.constraints import RopeConstraints
from .settings import BodySettings
from .shell.shell_body import Shell
from .solid.solid_body import Solid
from .strands.strands import Strands
from .stretch.constraints import LengthConstraints
from .stretch.seams import Seams
from .water.surface import Water
from .weave.constraints import Weave


@dataclass(frozen=True, eq=False)
class HeldVertices:
    """Vertices that goal springs draw in steps of one length h, solved for implicitly."""

    vertices: Integers
    """(g,) each of them once."""
    spring_masses: Floats
    """(g,) h² (k + c / h): mass that stiffness k and damping c are in a step; infinite = the vertex
    is at its target [kg]."""
    target_shares: Floats
    """(g,) shares k / (k + c / h) of the way to its target by which a step draws each vertex."""
    own_inverse_masses: Floats
    """(n,) of all particles without springs; 0 = pinned [1/kg]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SoftBodyModel:
    """Constants and constraints of one body of n particles; the first are its mesh's vertices.

    Cloth and ropes have no more than these. Bodies of the other kinds have subclasses, and most of
    these constraints are empty in them.
    """

    name: str
    """The object's name, for messages."""
    settings: BodySettings
    rest_positions: Floats
    """(3, v) positions of the vertices at rest [m]."""
    triangles: Integers
    """(3, t) corners of the faces' triangles, counter-clockwise seen from outside."""
    inverse_masses: Floats
    """(n,) [1/kg]; 0 = pinned."""
    pinned: Integers
    """(p,) particles that follow their targets exactly."""
    goals: Integers
    """(g,) particles with soft pins, springs to their targets."""
    goal_compliances: Floats
    """(g,) compliances of those springs [m/N]."""
    limited: Integers
    """(k,) particles that stay within a distance of their targets."""
    limit_shares: Floats
    """(k,) painted factors on that distance."""
    thicknesses: Floats
    """(n,) distances kept from other surfaces [m]."""
    pressure_shares: Floats
    """(n,) painted factors on the pressure of the gas."""
    free_components: Integers
    """(n,) label of the particle's connected component, from 0; −1 for components with a pin."""
    lengths: LengthConstraints
    weave: Weave
    ropes: RopeConstraints
    bends: BendConstraints
    rods: Rods | None
    """Ropes that are curved at rest, in place of their bends."""
    seams: Seams
    exposed_surface: ExposedSurface
    """Areas that wind acts on."""
    pieces: Pieces | None
    """Rigid pieces, if the body has any."""
    strands: Strands | None = None
    """Strands of hair, if they act on each other."""
    held: HeldVertices | None = None
    """Vertices that goal springs draw; `inverse_masses` are with the masses of these springs."""

    @property
    def own_inverse_masses(self) -> Floats:
        """(n,) inverse masses without those of goal springs [1/kg]."""
        return self.inverse_masses if self.held is None else self.held.own_inverse_masses

    @property
    def vertex_count(self) -> int:
        """Number of particles that are vertices of the mesh."""
        return self.rest_positions.shape[1]

    @cached_property
    def has_free_components(self) -> bool:
        """Whether any connected component has no pin."""
        return bool((self.free_components >= 0).any())

    @property
    def contact_inverse_masses(self) -> Floats:
        """(v,) inverse masses of the points of its surface in contacts, 0 = pinned [1/kg]."""
        return self.inverse_masses

    @property
    def has_coupled_particles(self) -> bool:
        """Whether contacts move particles along with others: in rigid pieces, shells and solids."""
        return self.pieces is not None

    @property
    def mobilities(self) -> Floats:
        """(n,) inverse effective masses in constraints, smaller in rigid pieces [1/kg]."""
        return self.inverse_masses if self.pieces is None else self.pieces.mobilities


@dataclass(frozen=True, eq=False, kw_only=True)
class ShellModel(SoftBodyModel):
    """A stiff surface that is curved at rest."""

    shell: Shell
    """Lengths and bends as one implicit system."""
    has_coupled_particles = True


@dataclass(frozen=True, eq=False, kw_only=True)
class SolidModel(SoftBodyModel):
    """A solid; it has further particles in the middle of large faces."""

    solid: Solid
    """The lattice and the embedding."""
    has_coupled_particles = True

    @property
    def sprung(self) -> tuple[Integers, ...]:
        """Points that springs of its linear system hold: firm pins and soft ones."""
        return self.pinned, self.goals

    @cached_property
    def contact_inverse_masses(self) -> Floats:
        """(v,) inverse masses in contacts, of vertices, or of the points of a coarse solid [1/kg].

        Points share the solid's mass by the surface area around them; pinned vertices have 0.
        """
        if not self.solid.surface.subdivided:
            return self.inverse_masses[: self.vertex_count]
        areas = self.solid.surface.areas
        return self._inverse_masses_of(self.solid.masses.sum() * areas / areas.sum())

    @cached_property
    def coupled_inverse_masses(self) -> Floats:
        """(v,) inverse effective masses of a solid's points in contacts with other bodies [1/kg].

        An effective mass includes the share of the solid that moves along with the point.
        """
        return self._inverse_masses_of(self.solid.effective_masses)[
            : len(self.contact_inverse_masses)
        ]

    def _inverse_masses_of(self, masses: Floats) -> Floats:
        """(p,) inverses of masses (p,) [1/kg], 0 for pinned points."""
        found = 1.0 / np.maximum(masses, 1e-12 * masses.max())
        found[self.pinned] = 0.0
        return np.asarray(found)


@dataclass(frozen=True, eq=False, kw_only=True)
class FleshModel(SolidModel):
    """Flesh over what something poses; its last particles are at the surface of bone."""

    solid: Flesh

    @property
    def sprung(self) -> tuple[Integers, ...]:
        """Points that springs of its linear system hold: those at the surface of bone."""
        return (self.solid.bone,)

    def _inverse_masses_of(self, masses: Floats) -> Floats:
        """(p,) inverses of masses (p,) [1/kg], 0 for points that follow their pose."""
        found = super()._inverse_masses_of(masses)
        found[self.solid.held] = 0.0
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class WaterModel(SoftBodyModel):
    """A body of water, whose vertices are moved by waves alone."""

    water: Water
    """The water surface."""
