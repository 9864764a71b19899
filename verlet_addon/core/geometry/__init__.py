"""Geometry of meshes: faces, edges, hinges, the rest shape, and queries by rays and boxes."""
