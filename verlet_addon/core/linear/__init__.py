"""Solvers of linear systems, and rotation matrices."""
