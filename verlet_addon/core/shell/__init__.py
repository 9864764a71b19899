"""Shells: stiff surfaces that are curved at rest."""
