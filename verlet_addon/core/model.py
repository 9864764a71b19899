"""What is constant about a body during a simulation."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .arrays import Floats, Integers
from .bending.constraints import BendConstraints
from .forces.exposed_surface import ExposedSurface
from .rigid.pieces import Pieces
from .ropes.constraints import RopeConstraints
from .settings import BodySettings
from .shell.shell_body import Shell
from .solid.solid_body import Solid
from .stretch.constraints import LengthConstraints
from .stretch.seams import Seams
from .water.surface import Water
from .weave.constraints import Weave


@dataclass(frozen=True, eq=False)
class SoftBodyModel:
    """One body of n particles, of which the first are the vertices of its mesh."""

    name: str
    """For messages."""
    settings: BodySettings
    rest_positions: Floats
    """(3, n) [m]"""
    triangles: Integers
    """(3, t) the faces, counter-clockwise seen from outside."""
    inverse_masses: Floats
    """(n,) [1/kg]; 0 = pinned."""
    pinned: Integers
    """(p,) particles that follow their targets exactly."""
    goals: Integers
    """(g,) particles drawn towards their targets."""
    goal_compliances: Floats
    """(g,) [m/N]"""
    thicknesses: Floats
    """(n,) distance that each keeps from what it touches [m]."""
    pressure_shares: Floats
    """(n,) share of the gas's pressure that each feels."""
    free_components: Integers
    """(n,) label of each connected component that nothing holds, counted from 0; −1 = held."""
    lengths: LengthConstraints
    weave: Weave
    ropes: RopeConstraints
    bends: BendConstraints
    shell: Shell | None
    """The same lengths and bends as one system, if the body is stiff and curved at rest."""
    seams: Seams
    exposed_surface: ExposedSurface
    pieces: Pieces | None
    """Those that are rigid."""
    water: Water | None
    """Its surface, if it is water; then nothing of the above joins its particles."""
    solid: Solid | None
    """What carries its particles, if it is one."""

    @property
    def vertex_count(self) -> int:
        """How many of its particles the mesh shows."""
        return self.rest_positions.shape[1]

    @cached_property
    def has_free_components(self) -> bool:
        """Whether nothing holds any of its components."""
        return bool((self.free_components >= 0).any())

    @cached_property
    def contact_inverse_masses(self) -> Floats:
        """(v,) inverse masses of what touches others: vertices, or points of a coarse solid [1/kg].

        Points share the solid's mass by the area of skin around them; pinned vertices have 0.
        """
        if self.solid is None or not self.solid.surface.subdivided:
            return self.inverse_masses[: self.vertex_count]
        areas = self.solid.surface.areas
        return self._inverse_masses_of(self.solid.masses.sum() * areas / areas.sum())

    @cached_property
    def coupled_inverse_masses(self) -> Floats:
        """(v,) the same, of what of a solid goes along with each: what others feel of it [1/kg]."""
        assert self.solid is not None
        return self._inverse_masses_of(self.solid.effective_masses)[
            : len(self.contact_inverse_masses)
        ]

    def _inverse_masses_of(self, masses: Floats) -> Floats:
        """(p,) inverse masses of points, of their masses (p,) [1/kg]."""
        found = 1.0 / np.maximum(masses, 1e-12 * masses.max())
        found[self.pinned] = 0.0
        return np.asarray(found)

    @property
    def mobilities(self) -> Floats:
        """(n,) inverse masses as constraints see them: pieces are heavier than their particles."""
        return self.inverse_masses if self.pieces is None else self.pieces.mobilities
