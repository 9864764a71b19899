"""The number of the results, by which caches know whether a bake may go on with them."""

RESULTS = 6
"""Number that is raised whenever bakes come out otherwise, if only in their last bits.

`make same-record` raises it where a recorded scene has other bits; `make same` compares it.
"""
