"""The kernels of volumes that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

project_volumes = either(reference.project_volumes, compiled.project_volumes)
