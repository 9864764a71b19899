"""Cloth of threads."""
