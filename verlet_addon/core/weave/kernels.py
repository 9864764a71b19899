"""The kernels of woven cloth that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

project_weave = either(reference.project_weave, compiled.project_weave)
