"""The kernels of detection that serve."""

from . import numpy_kernels as reference

find_near = reference.find_near
refit = reference.refit
