"""A mesh taken apart, once, before anything moves."""
