"""The kernels of angles that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

project_bend_strips = either(reference.project_bend_strips, compiled.project_bend_strips)
project_flat_bends = either(reference.project_flat_bends, compiled.project_flat_bends)
project_signed_bends = either(reference.project_signed_bends, compiled.project_signed_bends)
project_rope_bends = either(reference.project_rope_bends, compiled.project_rope_bends)
project_stiff_bends = either(reference.project_stiff_bends, compiled.project_stiff_bends)
aim = reference.aim
