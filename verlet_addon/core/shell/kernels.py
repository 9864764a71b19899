"""The kernels of shells that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

linearize = either(reference.linearize, compiled.linearize)
multiply = either(reference.multiply, compiled.multiply)
precondition = either(reference.precondition, compiled.precondition)
