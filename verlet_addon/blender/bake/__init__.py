"""The bake and its output: shape keys, their curves and actions, and a record."""
