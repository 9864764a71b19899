"""The simulation: NumPy only, world space, metres, seconds, kilograms, float64."""
