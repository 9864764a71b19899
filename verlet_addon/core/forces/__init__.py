"""External forces: gravity, force fields and moving air."""
