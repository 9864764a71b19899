"""Random choices of one seed, and random values of Blender's properties."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

WITHIN = {
    "substeps": (1, 20),
    "iterations": (1, 5),
    "resolution": (2, 8),
    "settle_frames": (0, 4),
    "key_step": (1, 4),
    "ground_height": (-2.0, 2.0),
}
"""Ranges that keep a bake short, in place of a property's own."""
NONSENSE = (0.0, -1.0, 1e-30, 1e30)


class Draw:
    """Choices that are the same in every run of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def chance(self, share: float) -> bool:
        """Whether it happens, in such a share of cases."""
        return bool(self.random.random() < share)

    def whole(self, low: int, high: int) -> int:
        """A whole number; both ends belong to the range."""
        return int(self.random.integers(low, high + 1))

    def between(self, low: float, high: float) -> float:
        """A number within a range."""
        return float(self.random.uniform(low, high))

    def magnitude(self, low: float, high: float) -> float:
        """A number above 0, each power of ten as likely as any other."""
        return float(10 ** self.random.uniform(np.log10(low), np.log10(high)))

    def one_of(self, options: Sequence[T]) -> T:
        """One of several things."""
        return options[self.whole(0, len(options) - 1)]

    def vector(self, size: float) -> Any:
        """Three numbers of a normal distribution."""
        return self.random.normal(size=3) * size

    def value(self, prop: Any, *, nonsense: bool = False) -> Any:
        """A value of a property: any choice, or a number from its soft range or its limits.

        Nonsense is a number that the hard range allows.
        """
        if prop.type == "BOOLEAN":
            return self.chance(0.5)
        if prop.type == "ENUM":
            return self.one_of([item.identifier for item in prop.enum_items])
        kind = int if prop.type == "INT" else float
        if nonsense:
            number = self.one_of((*NONSENSE, prop.hard_min, prop.hard_max))
            return kind(min(max(number, prop.hard_min), prop.hard_max))
        low, high = WITHIN.get(prop.identifier, (prop.soft_min, prop.soft_max))
        return kind(self._number(max(low, -10.0), high if high < 1e9 else 10.0))

    def _number(self, low: float, high: float) -> float:
        """A number from a range, one of its ends in a fifth of cases."""
        if self.chance(0.2):
            return self.one_of((low, high))
        if low < 0.0 and self.chance(0.3):
            return -self.magnitude(-1e-3 * low, -low)
        return max(low, self.magnitude(1e-6 * high, high))
