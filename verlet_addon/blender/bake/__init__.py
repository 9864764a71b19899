"""The bake and what it writes: shape keys, their curves and actions, and a record of it."""
