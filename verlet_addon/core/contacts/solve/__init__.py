"""Solution of contacts in a step: islands, tunnelling guard, velocities, statistics."""
