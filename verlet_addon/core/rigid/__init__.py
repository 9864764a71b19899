"""Rigid pieces of deformable bodies."""
