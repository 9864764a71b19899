"""Settings hold where they are painted; bodies take the rest shape and the size they are given."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    WEIGHTLESS,
    block,
    built,
    floor,
    frames,
    lengths,
    moved,
    pinned,
    rope,
    samples,
    sheet,
    simulated,
    tube,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.errors import MeshError
from verlet_addon.core.mesh import MeshData, Mirror, Paint, check_mesh
from verlet_addon.core.scene import Collider, Plane
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

G = 9.81
STILL = 5.0
"""Damping under which everything here comes to rest within two seconds [1/s]."""
LAYERS = {
    "stretch": ("stretch_compliance", 2e-3),
    "shear": ("shear_compliance", 5e-2),
    "bend": ("bend_compliance", 1e3),
}


def strip(kind: str) -> MeshData:
    """A strip of 0.9 m that is to hang by its upper end, and is 0.1 m wide, or a rope."""
    if kind == "rope":
        return pinned(rope([(0.0, 0.0, -k / 40) for k in range(37)]), [0])
    flat = sheet(4, 36, size=0.1, triangles=kind == "triangles")
    upright = moved(flat, [[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    return pinned(upright, range(5))


@pytest.mark.parametrize("kind", ["quads", "triangles", "rope"])
def test_each_part_stretches_as_it_is_painted(kind: str) -> None:
    """Strain = share × compliance × the weight that hangs below, per width where it has one."""
    mesh = strip(kind)
    depth = mesh.positions[0, 2] - mesh.positions[:, 2]
    weights = np.select([depth < 0.299, depth < 0.599], [0.0, 0.5], 1.0)
    mesh = replace(mesh, paint=Paint(stretch=weights))
    width = 1.0 if kind == "rope" else 0.1
    compliance, mass = (0.02, 0.5) if kind == "rope" else (0.002, 0.5)
    settings = BodySettings(
        body_type="ROPE" if kind == "rope" else "CLOTH",
        mass=mass,
        stretch_compliance=compliance,
        shear_compliance=1.0,  # diagonals would carry a part of the weight
        damping=STILL,
    )
    scene = SceneSettings(use_ground=False)
    hung = simulated([(mesh, settings)], frames(2.0, 24), scene)[0][-1]
    along = mesh.edges[np.abs(np.diff(depth[mesh.edges], axis=1)[:, 0]) > 1e-3]
    along = along[np.abs(np.diff(mesh.positions[along, 0], axis=1)[:, 0]) < 1e-3]
    gained = lengths(hung, along) - lengths(mesh.positions, along)
    middle = depth[along].mean(axis=1)
    # Edges from one part into the next have the mean of both shares, and count for neither.
    for share, low, high in ((0.0, 0.0, 0.27), (0.5, 0.33, 0.57), (1.0, 0.63, 0.9)):
        part = (middle > low) & (middle < high)
        pull = mass * G * (0.9 - middle[part]) / 0.9 / width
        wanted = (share * compliance * pull * lengths(mesh.positions, along)[part]).sum()
        assert gained[part].sum() == pytest.approx(wanted, rel=0.02, abs=2e-5)


@pytest.mark.parametrize("layer", LAYERS)
def test_paint_scales_the_setting(layer: str) -> None:
    """Painted ½ all over, a body is the same as with half the setting."""
    name, value = LAYERS[layer]
    mesh = pinned(sheet(6, triangles=True), [0, 6])
    half = replace(mesh, paint=Paint(**{layer: np.full(len(mesh.positions), 0.5)}))
    tracks = [
        simulated([(body, BodySettings(**settings))], frames(0.5, 24))[0]  # type: ignore[arg-type]
        for body, settings in ((half, {name: value}), (mesh, {name: value / 2}))
    ]
    assert tracks[0] == pytest.approx(tracks[1], abs=1e-9)


def test_what_is_painted_shows_in_a_mirror_too() -> None:
    half = sheet(4)
    plane = Plane(point=np.zeros(3), normal=np.array([1.0, 0.0, 0.0]))
    mirror = Mirror(
        plane=plane, point_velocity=WEIGHTLESS, normal_velocity=WEIGHTLESS, merge_distance=1e-3
    )
    shares = 0.5 * half.positions[:, 0]
    rest = half.positions * [0.5, 1.0, 1.0]
    half = replace(half, mirrors=[mirror], paint=Paint(shrinking=shares), rest_positions=rest)
    stage = samples([half], frames(2.0, 24), gravity=WEIGHTLESS)
    stage = [replace(sample, mirrors=[[plane]]) for sample in stage]
    settings = BodySettings(damping=STILL, bend_compliance=1e9)
    track = [f.positions[0] for f in simulate([half], [settings], SceneSettings(), stage)]
    assert lengths(track[-1], half.edges) == pytest.approx(lengths(rest, half.edges), rel=0.02)


@pytest.mark.parametrize("triangles", [False, True])
def test_a_body_returns_to_its_rest_shape(triangles: bool) -> None:
    """Stretched and bent at the start, it has the lengths of the rest shape in the end."""
    flat = sheet(8, triangles=triangles)
    bulge = np.sin(np.pi * flat.positions[:, 0]) * 0.2
    mesh = replace(
        flat,
        positions=flat.positions * 1.2 + bulge[:, None] * [0, 0, 1],
        rest_positions=flat.positions,
    )
    settings = BodySettings(bend_compliance=10.0, damping=STILL)
    tracks = simulated([(mesh, settings)], frames(2.0, 24), gravity=WEIGHTLESS)
    end = tracks[0][-1]
    assert lengths(end, flat.edges) == pytest.approx(lengths(flat.positions, flat.edges), rel=5e-3)
    # A plane through it: it lies flat again.
    spread = np.linalg.svd(end - end.mean(axis=0), compute_uv=False)
    assert spread[2] < 0.01 * spread[0]


def shrunk(mesh: MeshData, settings: BodySettings, shares: Floats) -> Floats:
    """(frames, n, 3) the weightless motion while a body shrinks by these shares, a frame each."""
    stage = samples([mesh], frames((len(shares) - 1) / 24, 24), gravity=WEIGHTLESS)
    stage = [
        replace(sample, settings=[replace(settings, shrinking=float(share))])
        for sample, share in zip(stage, shares, strict=True)
    ]
    settings = replace(settings, shrinking=float(shares[0]))
    return np.array([f.positions[0] for f in simulate([mesh], [settings], SceneSettings(), stage)])


@pytest.mark.parametrize("kind", ["quads", "triangles", "rope"])
def test_a_body_shrinks_as_its_factor_is_keyed(kind: str) -> None:
    """From full length down by 30 % in a second, and back."""
    mesh = replace(strip(kind), pin_weights=np.zeros(len(strip(kind).positions)))
    settings = BodySettings(body_type="ROPE" if kind == "rope" else "CLOTH", damping=STILL)
    way = np.concatenate([np.linspace(0, 0.3, 25), np.full(12, 0.3), np.linspace(0.3, 0, 25)])
    track = shrunk(mesh, settings, np.concatenate([way, np.zeros(24)]))
    rest = lengths(mesh.positions, mesh.edges)
    for frame, share in ((36, 0.3), (len(track) - 1, 0.0)):
        ratio = lengths(track[frame], mesh.edges) / rest
        assert ratio.mean() == pytest.approx(1 - share, rel=0.02)
        assert ratio.max() < (1 - share) * 1.01
        # Triangles give way to being pushed together.
        assert ratio.min() > (1 - share) * (0.9 if kind == "triangles" else 0.99)


def test_shrinking_is_painted() -> None:
    """One half keeps its size, the other one loses a fifth."""
    mesh = sheet(10, 4)
    left = mesh.positions[:, 0] < 0.45
    mesh = replace(mesh, paint=Paint(shrinking=np.where(left, 0.0, 1.0)))
    end = shrunk(mesh, BodySettings(damping=STILL), np.full(49, 0.2))[-1]
    # Across, cells of both halves would differ at the seam; along, each half is free.
    along = mesh.edges[np.abs(np.diff(mesh.positions[mesh.edges, 0], axis=1)[:, 0]) > 1e-6]
    ratio = lengths(end, along) / lengths(mesh.positions, along)
    inside = left[along].all(axis=1)
    outside = (~left[along]).all(axis=1)
    assert ratio[inside] == pytest.approx(1.0, rel=0.02)
    assert ratio[outside] == pytest.approx(0.8, rel=0.02)


@pytest.mark.parametrize("body_type", ["CLOTH", "ROPE"])
def test_what_shrinks_keeps_its_weight(body_type: str) -> None:
    mesh = sheet(3) if body_type == "CLOTH" else rope([(0, 0, 0), (1, 0, 0), (3, 0, 0)])
    settings = BodySettings(body_type=body_type, use_density=True, shrinking=0.5)  # type: ignore[arg-type]
    whole = built((mesh, replace(settings, shrinking=0.0))).inverse_masses
    assert built((mesh, settings)).inverse_masses == pytest.approx(whole)


def test_nonsense_is_refused_in_one_sentence() -> None:
    mesh = sheet(2)
    with pytest.raises(MeshError, match="rest shape"):
        check_mesh(replace(mesh, rest_positions=mesh.positions * 0.0))


@pytest.mark.slow
def test_each_part_of_a_tube_swells_as_its_pressure_is_painted() -> None:
    """A hoop of radius r under a pressure p is longer by c p r, as far as p is painted there."""
    radius, pressure, compliance = 0.1, 100.0, 1e-3
    mesh = tube(24, 36, radius=radius, length=1.8)
    height = mesh.positions[:, 2]
    weights = np.select([height < 0.6, height < 1.2], [0.0, 0.5], 1.0)
    mesh = replace(mesh, paint=Paint(pressure=weights))
    settings = BodySettings(
        mass=0.03,  # a heavy one swings to and fro for long
        pressure=pressure,
        stretch_compliance=compliance,
        shear_compliance=1.0,
        damping=20.0,
    )
    stage = samples([mesh], frames(2.0, 24), gravity=WEIGHTLESS)
    stage = [replace(sample, pressures=[pressure]) for sample in stage]
    track = [f.positions[0] for f in simulate([mesh], [settings], SceneSettings(), stage)]
    swollen = np.hypot(track[-1][:, 0], track[-1][:, 1]) / radius - 1.0
    # Gas that has more room presses less: p V stays what it is.
    rings = track[-1].reshape(37, 24, 3)
    areas = (swollen.reshape(37, 24).mean(axis=1) + 1.0) ** 2
    volume = (areas[:-1] + areas[1:]) @ np.diff(rings[:, :, 2].mean(axis=1)) / 2 / 1.8
    for share, middle in ((0.0, 0.3), (0.5, 0.9), (1.0, 1.5)):
        part = np.abs(height - middle) < 0.11
        wanted = compliance * share * pressure / volume * radius
        assert swollen[part].mean() == pytest.approx(wanted, rel=0.02, abs=1e-4)


@pytest.mark.slow
def test_each_part_keeps_the_distance_that_is_painted() -> None:
    """From the ground, and from a collider."""
    mesh = moved(sheet(12, 2), np.eye(3), (0.0, 0.0, 0.1))
    x = mesh.positions[:, 0]
    weights = np.select([x < 0.3, x < 0.6], [0.25, 0.5], 1.0)
    mesh = replace(mesh, paint=Paint(thickness=weights))
    settings = BodySettings(thickness=0.04, bend_compliance=1e7, damping=STILL)
    table = Collider(
        name="Table",
        triangles=np.array([[0, 1, 2], [0, 2, 3]]),
        outer=0.0,
        friction=1.0,
        restitution=0.0,
        single_sided=False,
    )
    square = np.array([[-1, -1, 0], [2, -1, 0], [2, 2, 0], [-1, 2, 0]], dtype=float)
    for ground, colliders in ((floor(), []), (None, [(table, square)])):
        end = simulated([(mesh, settings)], frames(2.0, 24), ground=ground, colliders=colliders)
        for share, middle in ((0.25, 0.1), (0.5, 0.45), (1.0, 0.9)):
            part = np.abs(x - middle) < 0.1
            assert end[0][-1][part, 2] == pytest.approx(0.04 * share, rel=0.02)


@pytest.mark.slow
def test_each_part_of_jelly_is_as_stiff_as_it_is_painted() -> None:
    """A bar that hangs by its end: strain = weight below / (share × E × section)."""
    bar = block((0.1, 0.1, 0.9), (2, 2, 18))
    depth = 0.9 - bar.positions[:, 2]
    weights = np.select([depth < 0.3, depth < 0.6], [1.0, 0.5], 0.25)
    mesh = pinned(replace(bar, paint=Paint(stiffness=weights)), np.flatnonzero(depth < 1e-9))
    settings = BodySettings(
        body_type="SOFT",
        stiffness=1e6,
        use_density=True,
        density=1000.0,
        resolution=10,
        damping=20.0,
    )
    scene = SceneSettings(use_ground=False, substeps=4)
    end = simulated([(mesh, settings)], frames(1.5, 24), scene)[0][-1]
    for share, top, bottom in ((1.0, 0.1, 0.2), (0.5, 0.4, 0.5), (0.25, 0.7, 0.8)):
        upper, lower = (np.abs(depth - at) < 1e-6 for at in (top, bottom))
        found = (end[upper, 2].mean() - end[lower, 2].mean()) / (bottom - top) - 1.0
        wanted = 1000.0 * G * (0.9 - (top + bottom) / 2) / (share * 1e6)
        assert found == pytest.approx(wanted, rel=0.02)
