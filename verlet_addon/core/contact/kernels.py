"""The kernels of contact that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

project_rows = either(reference.project_rows, compiled.project_rows)
rebound_rows = either(reference.rebound_rows, compiled.rebound_rows)
