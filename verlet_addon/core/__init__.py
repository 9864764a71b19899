"""The simulation: NumPy only, world space, SI units, float64."""
