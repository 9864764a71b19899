"""Changes of pins, settings and pin distances in a running simulation, by a rebuilt model."""
