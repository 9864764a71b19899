"""The kernels of response that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_response as compiled, numpy_response as reference

project_rows = either(reference.project_rows, compiled.project_rows)
rebound_rows = either(reference.rebound_rows, compiled.rebound_rows)
