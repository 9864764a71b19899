"""Narrow phase: pairs of features that touch, or come near, on the way of a step."""
