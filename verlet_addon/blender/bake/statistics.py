"""Statistics of a bake: largest strain of any edge, deepest penetration, contact searches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.arrays import Floats
from ...core.geometry.graph import edge_lengths
from ...core.geometry.rest_shape import rest_lengths
from ...core.mesh import SHORTEST_EDGE, MeshData
from ...core.scene import ContactSearch, Frame
from ...core.settings import BodySettings
from .self_crossing import crossing


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
    before
        Extremes of the frames before, of a bake that goes on.
    """

    def __init__(
        self,
        meshes: Sequence[MeshData],
        settings: Sequence[BodySettings],
        before: Extremes | None = None,
    ) -> None:
        # Edges of water are not constrained, so they are left out.
        ends = (None if body.body_type != "WATER" else 0 for body in settings)
        meshes = [
            replace(mesh, edges=mesh.edges[:end]) for mesh, end in zip(meshes, ends, strict=True)
        ]
        self.rest_lengths = list(map(rest_lengths, meshes, settings))
        """Per body, (m,) rest lengths of its edges after shrinking [m]; (0,) for water."""
        self._edges = [mesh.edges for mesh in meshes]
        self._rest = [_rest_lengths(mesh) for mesh in meshes]
        self._names = [mesh.name for mesh in meshes]
        self.extremes = before or Extremes(0)
        self.remarks = [*crossing(meshes, settings)]
        self.contact_searches: dict[tuple[str, str], ContactSearch] = {}

    def measure(self, result: Frame) -> None:
        """Updates the statistics with the result of one more frame."""
        stretch, stretched = self.extremes.stretch, self.extremes.stretched
        bodies = zip(self._names, self._edges, self._rest, result.positions, strict=True)
        for name, edges, rest, now in bodies:
            strain = float(np.max(edge_lengths(now, edges) / rest, initial=1.0) - 1)
            if strain > stretch:
                stretch, stretched = strain, name
        penetration = self.extremes.penetration
        if result.deepest:
            penetration = max(penetration or 0.0, *result.deepest)
        self.extremes = Extremes(result.frame, stretch, stretched, penetration)
        self.remarks += result.remarks
        for names, search in result.contact_searches.items():
            before = self.contact_searches.get(names, ContactSearch())
            self.contact_searches[names] = before + search


def _rest_lengths(mesh: MeshData) -> Floats:
    """(e,) rest lengths of a mesh's edges [m]; infinite for edges of length 0."""
    lengths = edge_lengths(mesh.at_rest, mesh.edges)
    lengths[lengths < SHORTEST_EDGE] = np.inf  # across splits for tearing
    return lengths
