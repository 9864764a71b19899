"""What solves solids and what they touch: compiled kernels where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_touching as compiled, numpy_touching as reference

press = either(reference.press, compiled.press)
settle = either(reference.settle, compiled.settle)
