"""Solid bodies: cells of material on a lattice, in which the mesh is embedded."""
