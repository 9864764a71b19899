"""Cloth bends alike every way, whatever its mesh."""

import numpy as np
import pytest

from tests.core.bodies import built, disc, make_mesh, sheet, strewn
from verlet_addon.core.bending.stiff_bends import straight_bends
from verlet_addon.core.geometry.rest_shape import build_rest_shape
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

    x² / 2 is one, and for stencils, which are linear in the positions, any size of it will do. The
    rim is left out.
    """
    body = BodySettings(bend_compliance=1.0, use_density=True, density=1.0)
    bends = built((mesh, body)).bends
    height = (mesh.positions @ [np.cos(angle), np.sin(angle), 0.0]) ** 2 / 2
    every = straight_bends(bends.strips, bends.straight)
    bent = (every.coefficients * height[every.members]).sum(axis=1) ** 2 / every.compliances / 2
    parts = (every.coefficients != 0.0) / (every.coefficients != 0.0).sum(axis=1, keepdims=True)
    energies = np.bincount(
        every.members.ravel(), (parts * bent[:, None]).ravel(), len(mesh.positions)
    )
    flat = mesh.positions[:, :2]
    middle = (flat.min(axis=0) + flat.max(axis=0)) / 2
    within = np.linalg.norm(flat - middle, axis=1) < 0.3 * np.ptp(flat, axis=0).min()
    return float(energies[within].sum() / build_rest_shape(mesh, body).masses[within].sum())


def one_way(cells: int) -> MeshData:
    """A square grid of triangles, all of them cut along the same diagonal."""
    quads = sheet(cells).face_vertices.reshape(-1, 4).tolist()
    faces = [half for a, b, c, d in quads for half in ((a, b, c), (a, c, d))]
    return make_mesh(sheet(cells).positions, faces=faces)


GRIDS = [
    (sheet(20), 1e-6),
    (one_way(20), 1e-6),
    (equilateral(20), 1e-6),
    (sheet(20, triangles=True), 0.02),
]
ANGLES = [0.0, 0.3, np.pi / 4, 2.0, 3 * np.pi / 4]


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize(("mesh", "within"), GRIDS)
def test_cloth_bends_alike_every_way(mesh: MeshData, within: float, angle: float) -> None:
    """½ κ² per area, whichever way it is bent, and however its grid is cut.

    Where diagonals cross, every other vertex has twice the area: those counted are not all of it.
    """
    assert bending_energy(mesh, angle) == pytest.approx(0.5, rel=within)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("mesh", [sheet(20), sheet(20, triangles=True), one_way(20)])
@pytest.mark.parametrize(("by", "within"), [(0.1, 0.05), (0.2, 0.25)])
def test_uneven_cloth_bends_nearly_so(
    mesh: MeshData, angle: float, by: float, within: float
) -> None:
    """Strewn by a tenth and a fifth of a cell; by edges alone one way was four times another."""
    energy = bending_energy(strewn(mesh, by / 20), angle)
    assert energy == pytest.approx(0.5, rel=within)


def test_strewn_discs_bend_nearly_so() -> None:
    """Triangles that form no grid, by a tenth too stiffly."""
    found = [bending_energy(disc(12), angle) for angle in ANGLES]
    assert found == pytest.approx([0.5] * len(ANGLES), rel=0.15)


def test_triangles_bend_like_the_quads_that_they_are_halves_of() -> None:
    """Each quad twists once; whole grids have the same lines and hinges, however they are cut."""
    for mesh in (sheet(20), one_way(20), sheet(20, triangles=True)):
        _, folds, twists = built((mesh, BodySettings())).bends.straight
        assert len(folds.members) + len(twists.members) == 400
