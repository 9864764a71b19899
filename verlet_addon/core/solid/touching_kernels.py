"""What solves solids and what they touch: compiled kernels where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_touching as compiled, numpy_touching as reference, rolling

press = either(reference.press, compiled.press)
settle = either(reference.settle, compiled.settle)
resist_rolling = either(rolling.resist_rolling, compiled.resist_rolling)
