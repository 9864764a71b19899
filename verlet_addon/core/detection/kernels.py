"""The kernels of detection that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

find_near = either(reference.find_near, compiled.find_near)
refit = either(reference.refit, compiled.refit)
activate = either(reference.activate, compiled.activate)
sum_weighted = either(reference.sum_weighted, compiled.sum_weighted)
