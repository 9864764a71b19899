"""Clusters in C: what `numpy_clusters` does, by the functions of clusters.c."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, instead_of, members, once, pack
from . import numpy_clusters as reference
from .clusters import Clusters

_project_clusters = declare("project_clusters", "pip")


def pack_clusters(clusters: Clusters) -> Packed:
    """The clusters of clusters.c."""
    ends = np.append(np.flatnonzero(np.diff(clusters.labels)) + 1, len(clusters.labels))
    return pack(
        len(ends) if len(clusters.labels) else 0,
        len(clusters.labels),
        ends,
        *members(clusters, "particles movable shares arms"),
    )


_clusters_struct = once(pack_clusters)


@instead_of(reference.project_clusters)
def project_clusters(positions: Floats, clusters: Clusters) -> None:
    if len(clusters.particles):
        _project_clusters(positions, positions.shape[1], _clusters_struct(clusters))
