"""A strand that is held level droops as the elastica does under its own weight."""

import numpy as np
import pytest

from verlet_addon.core.rods.droop import droop_of, load_of


def test_stiff_strands_droop_by_an_eighth_of_their_load() -> None:
    """W L⁴ / (8 B), the formula of a cantilever for small angles."""
    assert droop_of(1e-3) == pytest.approx(1e-3 / 8.0, rel=1e-3)


def test_limp_strands_hang_down_but_for_the_bend_at_their_root() -> None:
    """A taut heavy strand bends over the length √(B / (w L)), which costs (2 − √2) of it."""
    load = 5e4
    assert 1.0 - droop_of(load) == pytest.approx((2.0 - np.sqrt(2.0)) / np.sqrt(load), rel=0.02)


@pytest.mark.parametrize(("load", "droop"), [(1.0, 0.1235), (10.0, 0.7002), (200.0, 0.9568)])
def test_droops_are_those_of_an_integration_from_the_root(load: float, droop: float) -> None:
    """Of B θ'' = −w (L − s) cos θ on 2,000 points by Newton's method."""
    assert droop_of(load) == pytest.approx(droop, abs=5e-4)


def test_each_droop_has_its_load() -> None:
    for droop in (0.01, 0.3, 0.9, 0.99):
        assert droop_of(load_of(droop)) == pytest.approx(droop, rel=1e-6)
