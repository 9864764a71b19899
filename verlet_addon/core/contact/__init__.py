"""Contact constraints: rows between surfaces, the ground plane, warm start, tunnelling guard."""
