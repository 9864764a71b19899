"""Bakes in the forms of other programs: caches, bones, vertex animation textures."""
