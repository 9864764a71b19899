"""The kernels of volumes that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

volumes_and_slopes = either(reference.volumes_and_slopes, compiled.volumes_and_slopes)
