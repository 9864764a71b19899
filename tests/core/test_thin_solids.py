"""What is thinner than the cells of its jelly, and aslant in them, bends as it does along them."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    block,
    cross,
    cube,
    floor,
    frames,
    moved,
    pinned,
    rotation,
    simulated,
    slow,
    sphere,
    strains,
)
from verlet_addon.core.geometry.rest_shape import build_rest_shape
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.solid.elements import POISSON
from verlet_addon.core.solid.kernels import find_stress
from verlet_addon.core.solid.lattice import Lattice
from verlet_addon.core.solid.solid_body import build_solid, rest_nodes, uniform_rotations

JELLY = BodySettings(body_type="SOFT")


def lattice_of(mesh: MeshData, resolution: int) -> Lattice:
    """Of the solid that a mesh encloses."""
    return build_solid(build_rest_shape(mesh, replace(JELLY, resolution=resolution))).lattice


def across(mesh: MeshData, size: float) -> int:
    """The resolution at which cells have this size."""
    extents = np.sort(np.ptp(mesh.positions, axis=0))[1:]
    return round(float(np.sqrt(extents.prod())) / size)


@pytest.mark.parametrize(
    "case",
    slow((22.5, 1.0), (45.0, 2.0)),
)
def test_arms_some_cells_thick_droop_by_the_formula_at_any_angle(
    case: tuple[float, float],
) -> None:
    """Euler's beam with Timoshenko's shear, within 10 %; with straight cells 20 to 54 % too stiff.

    A cross has no axes of its own in its plane, so its cells do not turn with it. Pins hold all
    that is in their cells, so arms are a little shorter than they look: long ones, where cells are.
    """
    angle, thick = case
    side, cells = 0.1, 16 if thick < 1.5 else 7
    modulus = 2e6 * (cells / 8) ** 4
    mesh = moved(cross(cells), side * np.eye(3))
    middle = np.flatnonzero(np.abs(mesh.positions[:, :2]).max(axis=1) < 0.6 * side)
    tips = np.flatnonzero(np.abs(mesh.positions[:, 0]) > (cells + 0.4) * side)
    turn = rotation((0, 0, 1), np.radians(angle))
    turned = moved(pinned(mesh, middle), turn)
    mass = 1000.0 * side**3 * (4 * cells + 1)
    body = replace(
        JELLY, stiffness=modulus, mass=mass, resolution=across(turned, side / thick), damping=14.0
    )
    (hung,) = simulated(
        [(turned, body)], frames(1.25, 12), SceneSettings(substeps=4), gravity=-turn[:, 1]
    )
    droop = ((hung[0, tips] - hung[-1, tips]) @ turn[:, 1]).mean()
    length, load, inertia = cells * side, 1000.0 * side**2, side**4 / 12
    shear = modulus / (2 * (1 + POISSON)) * side**2 * 5 / 6
    formula = load * length**4 / (8 * modulus * inertia) + load * length**2 / (2 * shear)
    assert droop == pytest.approx(formula, rel=0.1)
    assert np.abs(hung[-1] - hung[-2]).max() * 12 < 1e-3


@pytest.mark.parametrize("size", [1.0, 0.9, 0.5])
def test_faces_at_45_degrees_enclose_what_they_do(size: float) -> None:
    """Rays in rows along such faces would find up to 4 % too much or too little."""
    mesh = moved(cross(8), rotation((0, 0, 1), np.radians(45.0)))
    assert lattice_of(mesh, across(mesh, size)).volume == pytest.approx(33.0, rel=0.01)


@pytest.mark.parametrize(
    "mesh",
    [cube(), sphere(24, 16), block((1.0, 1.0, 0.05), (8, 8, 1)), block((1, 0.1, 0.1), (9, 1, 1))],
)
def test_what_is_thick_or_lies_along_its_cells_has_straight_ones(mesh: MeshData) -> None:
    """They take a sixth of the time, and bend rightly there."""
    assert not len(lattice_of(mesh, 8).quadratic.nodes)


def test_cells_that_bend_answer_uniform_strain_uniformly() -> None:
    """Nodes within pull at nothing; the energy is Hooke's, but for what empty cells keep."""
    mesh = moved(cross(4), rotation((0, 0, 1), 0.5))
    lattice = lattice_of(mesh, across(mesh, 0.8))
    assert len(lattice.quadratic.nodes) > 0.5 * len(lattice.linear.nodes)
    rest, random = rest_nodes(lattice), np.random.default_rng(4)
    moves = 1e-6 * random.normal(size=(3, 3)) @ rest
    forces, opposed = find_stress(
        lattice, rest, uniform_rotations(lattice, np.eye(4)[0]), 1.0, moves
    )
    np.testing.assert_allclose(forces, 0.0, atol=1e-12)
    slope = np.linalg.lstsq(rest.T, moves.T, rcond=None)[0]
    strain = (slope + slope.T) / 2
    first, shear = POISSON / ((1 + POISSON) * (1 - 2 * POISSON)), 1 / (1 + POISSON)
    density = first * np.trace(strain) ** 2 + shear * (strain * strain).sum()
    assert (opposed * moves).sum() == pytest.approx(density * lattice.volume, rel=0.005)


def test_middles_of_edges_weigh_their_part() -> None:
    """The nodes weigh what is filled, about the same centre, and none less than nothing."""
    mesh = moved(cross(4), rotation((0, 0, 1), 0.5), (1.0, 2.0, 3.0))
    lattice = lattice_of(mesh, across(mesh, 0.8))
    assert lattice.volumes.min() > 0.0
    assert lattice.volumes.sum() == pytest.approx(lattice.volume, rel=0.005)
    centre = (rest_nodes(lattice) * lattice.volumes).sum(axis=1) / lattice.volumes.sum()
    np.testing.assert_allclose(centre, [1.0, 2.0, 3.0], atol=1e-3)


def test_a_corkscrew_of_jelly_keeps_its_edges() -> None:
    """Neighbours that are outside of all cells, and that different ones carry, were torn apart."""
    straight = block((0.02, 0.02, 1.0), (2, 2, 48))
    x, y, along = straight.positions.T
    angles, arms = 3 * np.pi * along, 1 / (3 * np.pi) + x - 0.01
    coiled = np.stack([arms * np.cos(angles), arms * np.sin(angles), 0.5 * along + y], axis=1)
    body = replace(JELLY, stiffness=3000.0, mass=0.2)
    mesh = moved(replace(straight, positions=coiled), np.eye(3), (0.0, 0.0, 0.5))
    (fallen,) = simulated([(mesh, body)], frames(0.6, 24), ground=floor())
    assert strains(mesh, fallen).max() < 5.0


def test_thin_limbs_of_soft_jelly_do_not_spin_themselves_up() -> None:
    """Falling a metre makes nothing much quicker than 4.4 m/s; limbs once flew off at 10 km/s.

    Forces of the step before lag behind what turns: limbs far thinner than their cells, which fold
    in them, were driven on by that.
    """
    limbs = moved(cross(40), np.eye(3) / 81)
    body = replace(JELLY, stiffness=1000.0, mass=0.1)
    thrown_down = moved(limbs, rotation((1.0, 0.3, 0.2), 0.9), (0.0, 0.0, 1.0))
    (fallen,) = simulated([(thrown_down, body)], frames(3.0, 24), ground=floor())
    assert np.linalg.norm(np.diff(fallen, axis=0), axis=2).max() * 24 < 10.0
