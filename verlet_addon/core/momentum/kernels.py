"""The kernels of momentum that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

conserve_momentum = either(reference.conserve_momentum, compiled.conserve_momentum)
