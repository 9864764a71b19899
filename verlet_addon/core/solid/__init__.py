"""Elastic solids: corotational finite elements on a lattice around the body."""
