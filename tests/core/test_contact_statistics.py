"""What users are told of contacts: how deep something sank in."""

import numpy as np
import pytest

from verlet_addon.core.contacts.broad_phase.surfaces import Surface, join_surfaces
from verlet_addon.core.contacts.manifold.contacts import Contacts
from verlet_addon.core.contacts.manifold.row_setup import PairProperties, PredictedMotion, make_rows
from verlet_addon.core.contacts.solve.contact_statistics import empty_statistics, record_step

GAP = 0.005
CORNERS = np.array([[0.0, 0.04, 0.0], [0.0, 0.0, 0.04], [0.0, 0.0, 0.0]])
"""Of each triangle [m]."""


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(
    ("place", "depth"),
    [((0.01, 0.01, 0.001), 0.004), ((-0.018, 0.01, -0.007), 0.0)],
    ids=["above", "beside"],
)
def test_only_what_is_near_is_told_to_have_sunk_in(
    place: tuple[float, float, float], depth: float, sides: int
) -> None:
    """A corner that met a face on its way, and ends beside it, below its plane, is not in it.

    Nor has what is in it no room, unless it is pushed from two sides.
    """
    other = CORNERS - CORNERS[:, :1] + np.array(place)[:, None]
    triangle, none = np.array([[0], [1], [2]]), np.empty((2, 0), np.int64)
    parts = [Surface(rest, triangle, none) for rest in (CORNERS, other)]
    surfaces = join_surfaces(parts, np.ones((2, 2), dtype=bool), np.full((2, 2), GAP))
    met = Contacts(
        particles=np.array([[3], [0], [1], [2]]).repeat(sides, axis=1),
        weights=np.array([[1.0], [-0.5], [-0.25], [-0.25]]).repeat(sides, axis=1),
        normals=np.outer([0.0, 0.0, 1.0], [1.0, -1.0][:sides]),
        gaps=np.full(sides, GAP),
        owners=np.array([[1], [0]]).repeat(sides, axis=1),
        keys=np.arange(sides),
    )
    ends, still = np.concatenate([CORNERS, other], axis=1), np.zeros((2, 2))
    motion = PredictedMotion(np.ones(6), ends, ends, 0.0 * ends, np.zeros(6, dtype=bool), 1 / 240)
    rows, statistics = (
        make_rows(met, PairProperties(still, still, still), motion),
        empty_statistics(2),
    )
    rows.normal_multipliers[:] = 1.0
    record_step(statistics, surfaces, rows, rows.gaps - rows.heights(ends), ends)
    np.testing.assert_allclose(statistics.deepest, depth, rtol=0.0, atol=1e-12)
    assert statistics.crowded_steps.any() == (depth > 0.0 and sides == 2)
