"""Ropes, solved to the last digit."""
