"""Loose edges between faces sew panels together, by at most a certain force."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    GRAVITY,
    WEIGHTLESS,
    built,
    frames,
    gaping_tube,
    lengths,
    make_mesh,
    pinned,
    samples,
    sheet,
    simulated,
    strains,
    thrown,
    tube,
    wind,
)
from tests.core.intersections import crossings
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate
from verlet_addon.core.stretch.seams import with_seams

SEWN = BodySettings(use_sewing=True, damping=3.0, bend_compliance=1e5)
THICKNESS = SEWN.thickness


def panels(*, apart: float, cells: int = 6) -> MeshData:
    """Two square panels that hang beside each other, edge by edge, with seams between them."""
    side = np.linspace(0, 0.3, cells + 1)
    x, z = np.meshgrid(side, side)
    left = np.stack([x.ravel(), 0 * x.ravel(), z.ravel()], axis=1)
    right = left + np.array([0.3 + apart, 0, 0])
    at = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    faces = [
        (int(at[j, k]), int(at[j, k + 1]), int(at[j + 1, k + 1]), int(at[j + 1, k]))
        for j in range(cells)
        for k in range(cells)
    ]
    count = at.size
    faces += [tuple(vertex + count for vertex in face) for face in faces]  # type: ignore[misc]
    seams = np.stack([at[:, -1], at[:, 0] + count], axis=1)
    return make_mesh(np.concatenate([left, right]), faces=faces, edges=seams)


def settled(mesh: MeshData, settings: BodySettings, gravity: Floats, seconds: float) -> Floats:
    """(n, 3) where a body is after a while, without ground."""
    scene = SceneSettings(use_ground=False)
    track = simulated([(mesh, settings)], frames(seconds, 24), scene, gravity=gravity)[0]
    return np.asarray(track[-1])


def test_seams_are_loose_edges_between_faces() -> None:
    """Not those that hang on one face only, nor the faces' own."""
    mesh = make_mesh(
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (3, 0, 0), (4, 0, 0), (3, 1, 0), (9, 9, 0)],
        faces=[(0, 1, 2), (3, 4, 5)],
        edges=[(1, 3), (4, 6)],
    )
    found = with_seams(mesh, every=True)
    assert found.seams.tolist() == [[1, 3]]
    assert len(found.edges) == len(mesh.edges) - 1
    assert not len(with_seams(tube(6, 3), every=True).seams)


@pytest.mark.parametrize(("around", "rows"), [(13, 6), (25, 12)])
def test_a_sewn_tube_closes(around: int, rows: int) -> None:
    """No gap is left over twice the thickness, and no edge gives."""
    mesh = gaping_tube(around, rows)
    end = settled(mesh, SEWN, WEIGHTLESS, 2.0)
    seams = with_seams(mesh, every=True)
    assert lengths(end, seams.seams).max() < 2 * THICKNESS
    strain = lengths(end, seams.edges) / lengths(mesh.positions, seams.edges) - 1
    assert np.abs(strain).max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("around", "rows"), [(13, 6), (25, 12)])
def test_a_sewn_tube_closes_without_crossing_itself(around: int, rows: int) -> None:
    """With self-collision its rims meet too, and none passes through the other."""
    mesh = gaping_tube(around, rows)
    body = replace(SEWN, use_self_collision=True)
    end = settled(mesh, body, WEIGHTLESS, 1.0)
    seams = with_seams(mesh, every=True)
    assert lengths(end, seams.seams).max() < 2 * THICKNESS
    assert not crossings(end.T.copy(), seams.edges.T, built((seams, body)).triangles).size


def test_without_sewing_the_same_edges_are_ropes() -> None:
    mesh = gaping_tube(13, 6)
    end = settled(mesh, replace(SEWN, use_sewing=False), WEIGHTLESS, 1.0)
    loose = with_seams(mesh, every=True).seams
    assert lengths(end, loose) == pytest.approx(lengths(mesh.positions, loose), rel=0.01)


@pytest.mark.parametrize("mass", [0.05, 20.0])
@pytest.mark.parametrize("cells", [2, 10])
def test_a_garment_closes_however_heavy_it_is_and_however_few_its_stitches(
    mass: float, cells: int
) -> None:
    """One panel hangs from its upper edge, and draws the other, which falls, to its side."""
    mesh = panels(apart=0.2, cells=cells)
    upper = np.flatnonzero((mesh.positions[:, 2] > 0.3 - 1e-9) & (mesh.positions[:, 0] < 0.31))
    mesh = pinned(mesh, upper)
    end = settled(mesh, replace(SEWN, mass=mass), GRAVITY, 3.0)
    assert lengths(end, with_seams(mesh, every=True).seams).max() < 2 * THICKNESS


def hung_panels(cells: int) -> MeshData:
    """One panel that is held altogether, and one that hangs on its lower edge, 5 mm away."""
    mesh = panels(apart=5e-3, cells=cells)
    upright = np.array([[0, 0, 1.0], [0, 1.0, 0], [-1.0, 0, 0]])
    return pinned(replace(mesh, positions=mesh.positions @ upright.T), np.arange((cells + 1) ** 2))


@pytest.mark.parametrize("cells", [6, 12])
def test_what_has_been_sewn_stays_sewn_when_it_is_jerked(cells: int) -> None:
    """Where no force is set: a dress that closed, and then fell on its shoulders, came off."""
    mesh = thrown(hung_panels(cells), (0.0, 0.0, -2.0))
    (track,) = simulated([(mesh, replace(SEWN, mass=1.0, use_tethers=False))], frames(1.0, 24))
    assert lengths(track, with_seams(mesh, every=True).seams).max() < 2 * THICKNESS


@pytest.mark.parametrize(("cells", "most"), [(6, 0.02), (12, 0.06)])
def test_what_hangs_by_a_seam_is_hardly_stretched_there(cells: int, most: float) -> None:
    """Edges beside it bore what hung on it, for a step each: 4 and 16 %."""
    mesh = hung_panels(cells)
    end = settled(mesh, replace(SEWN, mass=1.0, use_tethers=False), GRAVITY, 1.0)
    assert strains(with_seams(mesh, every=True), end).max() < most


@pytest.mark.parametrize(("share", "holds"), [(1.1, True), (0.9, False)])
def test_a_seam_holds_what_its_force_can_carry(share: float, holds: bool) -> None:
    """One panel hangs on the other by its seams: more weight than they draw with opens them."""
    mass, cells = 0.4, 6
    mesh = panels(apart=1e-3, cells=cells)
    upright = np.array([[0, 0, 1.0], [0, 1.0, 0], [-1.0, 0, 0]])
    mesh = replace(mesh, positions=mesh.positions @ upright.T)
    # The first panel is above, and all of it is held; from its lower edge hangs the second one.
    mesh = pinned(mesh, np.arange((cells + 1) ** 2))
    force = share * mass / 2 * 9.81 / (cells + 1)
    settings = replace(SEWN, mass=mass, sewing_force=force, use_tethers=False)
    end = settled(mesh, settings, GRAVITY, 2.0)  # until then what holds swings by 0.03 mm
    gap = lengths(end, with_seams(mesh, every=True).seams).max()
    assert gap < 1e-3 if holds else gap > 0.05


def test_sewing_makes_no_momentum() -> None:
    """Nothing within a body moves its centre of mass."""
    mesh = panels(apart=0.2)
    end = settled(mesh, SEWN, WEIGHTLESS, 3.0)
    assert end.mean(axis=0) == pytest.approx(mesh.positions.mean(axis=0), abs=1e-3)
    assert lengths(end, with_seams(mesh, every=True).seams).max() < 2 * THICKNESS


def split_strip(cells: int) -> MeshData:
    """A strip 0.1 m wide that hangs 0.4 m, split across its middle, its upper end pinned."""
    long = 4 * cells
    x, z = np.meshgrid(np.arange(cells + 1), np.arange(long + 2))
    # The row in the middle is there twice.
    z = np.where(z > long // 2, z - 1, z)
    points = np.stack([x.ravel(), 0 * x.ravel(), -z.ravel()], axis=1) * (0.1 / cells)
    at = np.arange(points.shape[0]).reshape(long + 2, cells + 1)
    faces = [
        (int(at[j, k]), int(at[j, k + 1]), int(at[j + 1, k + 1]), int(at[j + 1, k]))
        for j in range(long + 1)
        for k in range(cells)
        if j != long // 2
    ]
    seams = np.stack([at[long // 2], at[long // 2 + 1]], axis=1)
    return pinned(make_mesh(points, faces=faces, edges=seams), range(cells + 1))


@pytest.mark.parametrize(
    ("cells", "substeps"), [(3, 5), (6, 5), pytest.param(6, 20, marks=pytest.mark.slow)]
)
def test_a_strip_tears_at_its_stated_force(cells: int, substeps: int) -> None:
    """It carries the weight below the split up to 5 % over its strength, and no more."""
    mesh, mass = split_strip(cells), 0.4
    below = mass / 2 * 9.81
    for share, holds in ((1.05, True), (0.95, False)):
        settings = BodySettings(
            mass=mass, use_tearing=True, tear_strength=share * below / 0.1, damping=3.0
        )
        scene = SceneSettings(substeps=substeps, use_ground=False)
        # Its weight comes on slowly, for a jerk would pull harder.
        stage = [
            replace(sample, gravity=GRAVITY * min(1.0, number / 24))
            for number, sample in enumerate(samples([mesh], frames(2.5, 24)))
        ]
        track = [f.positions[0] for f in simulate([mesh], [settings], scene, stage)]
        gap = lengths(track[-1], with_seams(mesh, every=False).seams)
        assert gap.max() < 2e-3 if holds else gap.min() > 1.0, share


def test_a_jerk_does_not_tear_what_can_carry_the_weight() -> None:
    """Let go at once it pulls harder than its strength for a moment, and gapes a little."""
    mesh, mass = split_strip(4), 0.4
    strength = 1.1 * mass / 2 * 9.81 / 0.1
    body = BodySettings(mass=mass, use_tearing=True, tear_strength=strength, damping=3.0)
    end = settled(mesh, body, GRAVITY, 1.5)
    assert lengths(end, with_seams(mesh, every=False).seams).max() < 1e-3


def test_what_is_split_holds_while_it_is_not_to_tear() -> None:
    """As if it were whole, but for its bends."""
    mesh = split_strip(4)
    end = settled(mesh, BodySettings(mass=100.0, damping=3.0), GRAVITY, 1.0)
    assert lengths(end, with_seams(mesh, every=False).seams).max() < 1e-6


def test_a_split_banner_holds_in_a_storm() -> None:
    """Between two poles, split but too strong to tear: it doubled its edges there, and more.

    Edges and seams are solved in turn, not at once, and so some of it is left.
    """
    flat = sheet(24, 6, size=1.0)
    points, middle = flat.positions, 0.5
    cut = np.flatnonzero(np.abs(points[:, 0] - middle) < 1e-9)
    doubles = np.arange(len(points))
    doubles[cut] = len(points) + np.arange(len(cut))
    faces = flat.face_vertices.reshape(-1, 4)
    right = points[faces].mean(axis=1)[:, :1] > middle
    mesh = make_mesh(
        np.concatenate([points, points[cut]]),
        faces=np.where(right, doubles[faces], faces).tolist(),
        edges=np.stack([cut, doubles[cut]], axis=1),
    )
    poles = np.flatnonzero(np.abs(mesh.positions[:, 0] - middle) > middle - 1e-9)
    cloth = BodySettings(use_density=True, use_tearing=True, tear_strength=1e4)
    scene = SceneSettings(use_ground=False)
    held = pinned(mesh, poles)
    (track,) = simulated([(held, cloth)], frames(0.5, 24), scene, fields=[wind(8.0)])
    seams = with_seams(held, every=False)
    assert lengths(track, seams.seams).max() < 1e-6
    assert strains(seams, track).max() < 0.9


def test_what_has_torn_does_not_heal() -> None:
    """Thrown apart, and then back on itself by its ropes' pull, it stays in two pieces."""
    mesh = split_strip(4)
    mesh = replace(mesh, pin_weights=np.zeros(len(mesh.positions)))
    upper = mesh.positions[:, 2] > -0.2 + 1e-9
    apart = np.where(upper, 3.0, -3.0)[:, None] * [0.0, 0.0, 1.0]
    settings = BodySettings(mass=0.1, use_tearing=True, tear_strength=1.0, damping=0.0)
    mesh = replace(mesh, velocities=apart)
    end = settled(mesh, settings, WEIGHTLESS, 1.0)
    assert lengths(end, with_seams(mesh, every=False).seams).min() > 1.0


def test_seams_are_sewn_and_let_go_as_their_weight_is_keyed() -> None:
    """Apart while it is 0, closed while it is 1, and the loose panel falls once it is 0 again."""
    mesh = pinned(panels(apart=0.1), range(42, 49))
    seams = with_seams(mesh, every=True).seams
    weights = [0.0] * 12 + [1.0] * 36 + [0.0] * 24
    stage = [
        replace(sample, settings=[replace(SEWN, sewing_weight=weight, gravity=weight)])
        for sample, weight in zip(samples([mesh], frames(71 / 24, 24)), weights, strict=True)
    ]
    stage[48:] = [replace(each, settings=[replace(SEWN, sewing_weight=0.0)]) for each in stage[48:]]
    found = [frame.positions[0] for frame in simulate([mesh], [SEWN], SceneSettings(), stage)]
    gaps = [lengths(found[frame], seams) for frame in (11, 47, 71)]
    assert gaps[0] == pytest.approx(lengths(mesh.positions, seams), abs=1e-3)
    assert gaps[1].max() < 2.5 * THICKNESS
    assert gaps[2].min() > 0.5
