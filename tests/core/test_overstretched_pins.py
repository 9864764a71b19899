"""What pins pull longer than it is gives way, hangs still, and has its own length after that."""

import numpy as np
import pytest

from tests.core.bodies import frames, net, pinned, sheet, simulated, slow, strains
from verlet_addon.core.arrays import Floats
from verlet_addon.core.changes.overstretched_pins import PIN_SLACK, find_pin_paths, needed_growth
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings

CELLS = 6
SIDES = [0, 7, 14, 21, 28, 35, 42, 6, 13, 20, 27, 34, 41, 48]
"""Vertices of two sides across x, of CELLS by CELLS."""
CORNERS = [0, 6, 42, 48]


def pulled(mesh: MeshData, share: float) -> Floats:
    """(n, 3) where its vertices are when it is drawn out along x by such a share."""
    return np.asarray(mesh.positions * [1.0 + share, 1.0, 1.0])


@pytest.mark.parametrize(
    "case", ["sheet by its corners", *slow("sheet by its sides", "net by its sides")]
)
def test_what_pins_pull_too_long_hangs_still(case: str) -> None:
    """Drawn out by a third it flew about at 4 to 14 m/s, with edges three times as long.

    Between corners single threads take more of it than others.
    """
    mesh = net(CELLS) if case.startswith("net") else sheet(CELLS)
    body = BodySettings(body_type="ROPE" if case.startswith("net") else "CLOTH")
    held = pinned(mesh, CORNERS if case.endswith("corners") else SIDES)

    def targets(time: float) -> list[Floats]:
        return [pulled(held, 0.3 * min(2.0 * time, 1.0) if time < 2.5 else 0.0)]

    (track,) = simulated([(held, body)], frames(4.0, 24), targets=targets)
    drawn = track[48:60]
    assert np.abs(np.diff(drawn, axis=0)).max() * 24 < 0.3
    assert strains(held, drawn).max() < 0.5
    assert strains(held, track[-1]).max() < 0.02


def test_only_what_lies_between_pins_is_drawn_out() -> None:
    """Two that part at one end of a sheet leave the rest of it as long as it is."""
    mesh = pinned(sheet(CELLS), [0, 2])
    drawn = find_pin_paths(mesh, BodySettings())
    targets = mesh.positions.copy()
    targets[2, 0] += 0.1
    growth = needed_growth(drawn, mesh.positions, targets)
    apart = targets[2, 0] - targets[0, 0]
    np.testing.assert_allclose(growth[[0, 1, 2]], (1.0 + PIN_SLACK) * apart * CELLS / 2.0)
    assert (growth[14:] == 1.0).all()


@pytest.mark.parametrize("turned", [False, True])
def test_what_is_just_taut_is_not_drawn_out(*, turned: bool) -> None:
    """Nor what its pins move as a whole."""
    mesh = pinned(sheet(CELLS), SIDES)
    targets = mesh.positions[:, [1, 2, 0]] + 3.0 if turned else mesh.positions
    assert (needed_growth(find_pin_paths(mesh, BodySettings()), targets) == 1.0).all()
