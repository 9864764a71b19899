"""Strands of hair among each other: friction and pressure by a grid."""
