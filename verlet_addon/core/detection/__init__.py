"""Continuous collision detection along the motion of a step."""
