"""Depenetration of particles that start inside of the ground, solids or colliders."""
