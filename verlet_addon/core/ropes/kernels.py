"""The kernels of ropes that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

project_trees = either(reference.project_trees, compiled.project_trees)
hold_lengths = either(reference.hold_lengths, compiled.hold_lengths)
add_pulls_from_start = either(reference.add_pulls_from_start, compiled.add_pulls_from_start)
undo_implicit_damping = either(reference.undo_implicit_damping, compiled.undo_implicit_damping)
