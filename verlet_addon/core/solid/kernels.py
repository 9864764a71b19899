"""The kernels of solids that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

find_shape = either(reference.find_shape, compiled.find_shape)
elastic_forces = either(reference.elastic_forces, compiled.elastic_forces)
stiffness_product = either(reference.stiffness_product, compiled.stiffness_product)
interpolate = either(reference.interpolate, compiled.interpolate)
