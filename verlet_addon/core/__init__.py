"""The simulation: NumPy and compiled kernels, without Blender; world space, SI units, float64."""
