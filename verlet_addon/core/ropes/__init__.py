"""Length constraints of ropes, solved to tolerance."""
