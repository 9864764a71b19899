"""Solid bodies: cells of material on a lattice."""
