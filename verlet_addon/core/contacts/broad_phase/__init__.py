"""Broad phase: surfaces, their bounding volume hierarchies, and pairs of near leaves."""
