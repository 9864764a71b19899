"""Frames that take no steps, or all of them in one call."""
