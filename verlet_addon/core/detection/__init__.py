"""Collision detection along the motion of a step."""
