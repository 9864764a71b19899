"""Statistics of a bake: largest strain of any edge, deepest penetration, contact searches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.arrays import Floats, Integers
from ...core.geometry.graph import edge_lengths
from ...core.geometry.rest_shape import rest_lengths
from ...core.mesh import SHORTEST_EDGE, MeshData
from ...core.remark import Remark, graded
from ...core.scene import ContactSearch, Frame
from ...core.settings import BodySettings
from ..settings.unit_texts import length_text
from .contact_costs import costly_pairs
from .self_crossing import crossing

OVERSTRETCHED = 0.2
"""Strain from which on cloth and ropes that hardly give are reported: some twenty times that of a
sheet of 10,000 vertices that hangs from two corners."""
HARDLY_GIVES = 1e-4
"""Largest stretch compliance of bodies that are not meant to stretch: ropes of hemp and nylon are
below it, rubber and shock cord above [m/N], [1/N]."""
SHOWN_SHARE = 0.5
"""Edges with at least this share of the largest strain are what a button selects."""


@dataclass(frozen=True, eq=False)
class Overstretched:
    """The frame in which a body was stretched most."""

    strain: float
    """Strain of its longest edge."""
    frame: int
    edges: Integers
    """(k, 2) edges that were stretched nearly as far."""


@dataclass(frozen=True)
class Extremes:
    """The largest strain and deepest penetration of a bake up to a frame."""

    frame: int
    """Scene frame."""
    stretch: float = 0.0
    """Largest strain of any edge of any body."""
    stretched: str = ""
    """Name of the body with that edge."""
    penetration: float | None = None
    """Largest violation of a contact gap [m]; None where nothing can collide."""


class BakeStatistics:
    """The largest strain and deepest penetration over all frames so far, and the remarks.

    Parameters
    ----------
    meshes, settings
        All bodies at the first frame.
    before, earlier
        Extremes and warnings of the frames before, of a bake that goes on.
    """

    def __init__(
        self,
        meshes: Sequence[MeshData],
        settings: Sequence[BodySettings],
        before: Extremes | None = None,
        earlier: Sequence[Remark] = (),
    ) -> None:
        # Edges of water are not constrained, and a pose stretches those of flesh.
        ends = (0 if body.body_type in ("WATER", "FLESH") else None for body in settings)
        meshes = [
            replace(mesh, edges=mesh.edges[:end]) for mesh, end in zip(meshes, ends, strict=True)
        ]
        self.rest_lengths = list(map(rest_lengths, meshes, settings))
        """Per body, (m,) rest lengths of its edges after shrinking [m]; (0,) of water, flesh."""
        self._edges = [mesh.edges for mesh in meshes]
        self._rest = [_rest_lengths(mesh) for mesh in meshes]
        self._names = [mesh.name for mesh in meshes]
        self.extremes = before or Extremes(0)
        self._unyielding = [
            body.body_type in ("CLOTH", "ROPE") and body.stretch_compliance < HARDLY_GIVES
            for body in settings
        ]
        self._overstretched: dict[str, Overstretched] = {}
        self._depths = [each.flesh_depth for each in settings]
        self._swings = [(0.0, 0)] * len(settings)
        self.boneless: Mapping[str, str] = {}
        """By the names of bodies that an armature holds by no bone, that of the armature."""
        self.remarks = [*earlier, *crossing(meshes, settings)]
        self.contact_searches: dict[tuple[str, str], ContactSearch] = {}

    def measure(self, result: Frame) -> None:
        """Updates the statistics with the result of one more frame."""
        stretch, stretched = self.extremes.stretch, self.extremes.stretched
        bodies = zip(self._names, self._edges, self._rest, result.positions, strict=True)
        for (name, edges, rest, now), unyielding in zip(bodies, self._unyielding, strict=True):
            strains = edge_lengths(now, edges) / rest - 1.0
            strain = float(np.max(strains, initial=0.0))
            if strain > stretch:
                stretch, stretched = strain, name
            most = self._overstretched.get(name)
            if unyielding and strain > (most.strain if most else OVERSTRETCHED):
                found = Overstretched(strain, result.frame, edges[strains > SHOWN_SHARE * strain])
                self._overstretched[name] = found
        swings = [(swing, result.frame) for swing in result.swings] or self._swings
        self._swings = [max(each) for each in zip(self._swings, swings, strict=True)]
        penetration = self.extremes.penetration
        if result.deepest:
            penetration = max(penetration or 0.0, *result.deepest)
        self.extremes = Extremes(result.frame, stretch, stretched, penetration)
        self.remarks += result.remarks
        for names, search in result.contact_searches.items():
            before = self.contact_searches.get(names, ContactSearch())
            self.contact_searches[names] = before + search

    def at_end(self, frames: int) -> list[Remark]:
        """Sentences on all of so many frames: bodies drawn out, and contacts that take time."""
        costs = costly_pairs(self.contact_searches, self._names, frames)
        return [*self._drawn_out(), *self._swung_out(), *costs]

    def warnings(self) -> list[Remark]:
        """The warnings on all frames so far, for a bake that goes on after the last of them."""
        found = dict.fromkeys([*self.remarks, *self._drawn_out(), *self._swung_out()])
        return [each for each in map(graded, found) if each.grade != "INFO"]

    def _swung_out(self) -> list[Remark]:
        """One sentence for each body whose flesh swung farther from its pose than it is thick."""
        return [
            Remark(
                f"{name} swings by {length_text(swing)} from its pose at frame {frame}, farther "
                "than its flesh is thick; raise its Stiffness, lower its Depth, or set a Maximum "
                "Distance",
                grade="WARNING",
                body=name,
            )
            for name, depth, (swing, frame) in zip(
                self._names, self._depths, self._swings, strict=True
            )
            if swing > depth
        ]

    def _drawn_out(self) -> list[Remark]:
        """One sentence for each body that was drawn out although it hardly gives."""
        told = {graded(remark).body for remark in self.remarks}
        return [
            Remark(
                f"{name} is stretched by {most.strain:.0%} at frame {most.frame}, and follows no "
                f"bone of {self.boneless[name]}; choose a bone for that attachment"
                if name in self.boneless
                else f"{name} is stretched by {most.strain:.0%} at frame {most.frame}; raise "
                "Substeps or Iterations, or move more slowly what pulls it",
                grade="SERIOUS",
                body=name,
                vertices=np.unique(most.edges).tolist(),
            )
            for name, most in self._overstretched.items()
            if name not in told
        ]


def _rest_lengths(mesh: MeshData) -> Floats:
    """(e,) rest lengths of a mesh's edges [m]; infinite for edges of length 0."""
    lengths = edge_lengths(mesh.at_rest, mesh.edges)
    lengths[lengths < SHORTEST_EDGE] = np.inf  # across splits for tearing
    return lengths
