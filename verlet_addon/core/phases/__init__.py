"""A body's way through the phases of a step."""
