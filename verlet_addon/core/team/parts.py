"""Sizes of the parts that threads share: so large that a claim costs little beside them."""

PATH_PART = 512
"""Size: entries of paths in a part, which take some 5 µs."""
PARTICLE_PART = 1024
"""Size: particles in a part, and in a sum: sums of more are sums of these."""
ROD_PART = 128
"""Size: nodes of rods in a part, which take some 50 µs."""
HINGE_PART = 128
"""Size: bends of single hinges or lines in a part; those of a dressed figure have small colours."""
CELL_PART = 32
"""Size: cells of a solid in a part; where these have to be layers, at least so many."""
LEAF_PART = 256
"""Size: leaves of BVHs in a part of a refit."""


def part_count(elements: int, size: int) -> int:
    """The number of parts of so many elements."""
    return -(-elements // size)
