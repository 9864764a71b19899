"""Stiff surfaces that are curved at rest."""
