"""Linear systems, and rotations."""
