"""Pieces of a body that move as one."""
