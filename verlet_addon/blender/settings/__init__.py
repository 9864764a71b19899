"""Property groups on objects and scenes, and their values as settings of the core."""
