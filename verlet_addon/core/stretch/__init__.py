"""Length constraints of surfaces."""
