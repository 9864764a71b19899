"""Rigid clusters in C: `numpy_rigid_clusters`, by the functions of rigid_clusters.c."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, cached_struct, declare, falls_back_to, members, pack
from . import numpy_rigid_clusters as reference
from .rigid_clusters import Clusters

_project_clusters = declare("project_clusters", "pip")


def pack_clusters(clusters: Clusters) -> Packed:
    """The clusters of rigid_clusters.c."""
    ends = np.append(np.flatnonzero(np.diff(clusters.labels)) + 1, len(clusters.labels))
    return pack(
        len(ends) if len(clusters.labels) else 0,
        len(clusters.labels),
        ends,
        *members(clusters, "particles movable shares arms"),
    )


_clusters_struct = cached_struct(pack_clusters)


@falls_back_to(reference.project_clusters)
def project_clusters(positions: Floats, clusters: Clusters) -> None:
    if len(clusters.particles):
        _project_clusters(positions, positions.shape[1], _clusters_struct(clusters))
