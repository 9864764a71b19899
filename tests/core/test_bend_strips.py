"""Lines along strips are the same bends as ever, solved together."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.core.bodies import built_state, sheet, tube
from verlet_addon.core.arrays import Floats
from verlet_addon.core.bending.bend_paths import bend_strip_batches
from verlet_addon.core.bending.kernels import project_bend_paths
from verlet_addon.core.linear.pentadiagonal import Bands, solve
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.model import SoftBodyModel
from verlet_addon.core.settings import BodySettings

DT = 1 / 240


@given(sizes=st.lists(st.integers(1, 12), min_size=1, max_size=6), seed=st.integers(0, 1000))
def test_pentadiagonal_systems_are_solved(sizes: list[int], seed: int) -> None:
    """Runs of any length, one after the other, as a dense solver finds them."""
    random = np.random.default_rng(seed)
    n = sum(sizes)
    matrix = np.zeros((n, n))
    start = 0
    for size in sizes:
        bends = random.normal(size=(size, size + 2))
        band = np.subtract.outer(np.arange(size), np.arange(size + 2))
        bends[(band > 0) | (band < -2)] = 0.0
        matrix[start : start + size, start : start + size] = bends @ bends.T + 0.1 * np.eye(size)
        start += size
    right = random.normal(size=(3, n))
    rows = np.stack([np.pad(np.diag(matrix, k), (min(k, n), 0))[:n] for k in range(3)])
    found = solve(Bands(rows), right)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right.T).T, atol=1e-9)


def lines_of(model: SoftBodyModel, positions: Floats) -> Floats:
    """(lines, 3) g of every line along a strip."""
    strips = model.bends.strips
    points = positions[:, strips.strips.path]
    before, here, after = strips.coefficients
    bends = before[1:-1] * points[:, :-2] + here[1:-1] * points[:, 1:-1]
    bends += after[1:-1] * points[:, 2:]
    return np.asarray(bends[:, here[1:-1] != 0.0].T)


@pytest.mark.parametrize("mesh", [sheet(6, 4), tube(8, 6)], ids=["sheet", "tube"])
def test_every_straight_line_is_strung(mesh: MeshData) -> None:
    """Lines of a grid all lie along strips, once each, and none is bent at rest."""
    model, state = built_state((mesh, BodySettings()))
    assert not len(model.bends.straight[0].members)
    expected = 5 * 5 + 7 * 3 if len(mesh.positions) == 35 else 8 * 5
    bends = lines_of(model, state.positions)
    assert bends.shape == (expected, 3)
    np.testing.assert_allclose(bends, 0.0, atol=1e-12)


def test_far_from_the_origin_a_curve_is_no_less_curved() -> None:
    """Places are uncertain there in single precision, but not so that 0.01 rad a quad were none."""
    flat = sheet(10, 4, size=0.1).positions
    bent = np.stack([np.sin(flat[:, 0]), flat[:, 1], np.cos(flat[:, 0])], axis=1)
    mesh = replace(sheet(10, 4), positions=bent)
    near, far = (
        built_state((replace(mesh, positions=bent + away), BodySettings()))[0].bends.hinges.members
        for away in (0.0, 1000.0)
    )
    assert len(near) == len(far) > 0


def test_stiff_lines_are_solved_at_once() -> None:
    """One sweep over a rigid strip leaves no bend in it, and keeps momentum; a soft one yields."""
    mesh = sheet(12, 1)
    for compliance, left in ((0.0, 1e-6), (1e9, 0.9)):
        model, state = built_state((mesh, BodySettings(bend_compliance=compliance)))
        n = len(model.inverse_masses)
        batches = bend_strip_batches(model.bends.strips, model.inverse_masses, DT**2)
        shaken = state.positions + np.random.default_rng(2).normal(0.0, 0.01, (3, n))
        after = shaken.copy()
        project_bend_paths(after, batches)
        size = np.abs(lines_of(model, after)).max() / np.abs(lines_of(model, shaken)).max()
        assert size == pytest.approx(left, abs=left if left < 0.5 else 0.1)
        moved = (after - shaken) / model.inverse_masses
        np.testing.assert_allclose(moved.sum(axis=1), 0.0, atol=1e-12)
