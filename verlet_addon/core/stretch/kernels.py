"""The kernels of lengths that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import (
    compiled_clusters,
    compiled_kernels as compiled,
    compiled_warm_start as compiled_start,
    numpy_clusters,
    numpy_kernels as reference,
    numpy_warm_start as reference_start,
)

project_strips = either(reference.project_strips, compiled.project_strips)
strain_range = either(reference.strain_range, compiled.strain_range)
project_at_most = either(reference.project_at_most, compiled.project_at_most)
project_tethers = either(reference.project_tethers, compiled.project_tethers)
add_interpolated = either(reference.add_interpolated, compiled.add_interpolated)
share_stretch = either(reference.share_stretch, compiled.share_stretch)
project_former_tension = either(
    reference_start.project_former_tension, compiled_start.project_former_tension
)
project_clusters = either(numpy_clusters.project_clusters, compiled_clusters.project_clusters)
