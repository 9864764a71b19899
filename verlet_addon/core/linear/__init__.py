"""Linear systems, each kind solved in its own way, and rotations."""
