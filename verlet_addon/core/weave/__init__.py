"""Woven cloth: strains along the threads that a UV map gives, and shear."""
