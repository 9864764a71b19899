"""The kernels of contact that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference, numpy_plane

project_rows = either(reference.project_rows, compiled.project_rows)
rebound_rows = either(reference.rebound_rows, compiled.rebound_rows)
project_plane = either(numpy_plane.project_plane, compiled.project_plane)
rebound_plane = either(numpy_plane.rebound_plane, compiled.rebound_plane)
