"""Pages of the manual, each followed step by step in a window: as tests, and to take pictures."""
