"""Regular triangles bend along lines, as the formula says; others keep their hinges."""

import numpy as np
import pytest

from tests.core.bodies import built, disc, make_mesh, sheet, tube
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings


def equilateral(rows: int) -> MeshData:
    """A rhombus of equilateral triangles with sides of 1 m."""
    across, up = np.meshgrid(np.arange(rows + 1), np.arange(rows + 1))
    points = np.stack([across + up / 2, up * np.sqrt(0.75), 0.0 * up], axis=-1).reshape(-1, 3)
    firsts = (np.arange(rows)[:, None] * (rows + 1) + np.arange(rows)).ravel()
    faces = [(a, a + 1, a + rows + 1) for a in firsts.tolist()]
    faces += [(a + 1, a + rows + 2, a + rows + 1) for a in firsts.tolist()]
    return make_mesh(points, faces=faces)


def bending_energy(mesh: MeshData, angle: float) -> float:
    """Energy per area of a cylinder of curvature 1 per metre, the bending stiffness being 1.

    x² / 2 is one, and for lines, which are linear in the positions, any size of it will do.
    """
    bends = built((mesh, BodySettings(bend_compliance=1.0))).bends
    along = mesh.positions @ [np.cos(angle), np.sin(angle), 0.0]
    height = along**2 / 2
    strips, strays = bends.strips, bends.straight[0]
    rows = np.stack([strips.strips.path[:-2], strips.strips.path[1:-1], strips.strips.path[2:]])
    bent = (strips.coefficients[:, 1:-1] * height[rows]).sum(axis=0)
    soft = strips.compliances[1:-1]
    energy = (bent[soft > 0.0] ** 2 / soft[soft > 0.0]).sum() / 2
    stray = (strays.coefficients * height[strays.members]).sum(axis=1)
    return float(energy + (stray**2 / strays.compliances).sum() / 2)


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4, 2.0])
def test_equilateral_triangles_bend_alike_every_way(angle: float) -> None:
    """Energy grows by ½ κ² per area, whichever way the cloth is bent: the rim is left out here."""
    energies = [bending_energy(equilateral(rows), angle) for rows in (12, 16, 20)]
    areas = np.array([rows**2 for rows in (12, 16, 20)]) * np.sqrt(0.75)
    # Rim and corners grow with the side; the second difference is that of the area alone.
    within = np.diff(energies, 2) / np.diff(areas, 2)
    assert within == pytest.approx(0.5, rel=1e-6)


def test_lattices_have_no_hinges_left() -> None:
    """But for corners, lines say all of it."""
    for mesh in (sheet(8, triangles=True), equilateral(8)):
        bends = built((mesh, BodySettings())).bends
        assert len(bends.straight[1].members) + len(bends.hinges.members) <= 4


def test_others_keep_theirs() -> None:
    """Round discs and tubes have no lattice, and bend at their edges."""
    assert len(built((disc(6), BodySettings())).bends.straight[1].members) > 150
    assert len(built((tube(8, 4), BodySettings())).bends.hinges.members) > 0
