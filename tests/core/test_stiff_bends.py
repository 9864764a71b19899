"""Stiff cloth bends as one piece, the same at any number of steps."""

from dataclasses import replace
from time import thread_time

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.core.bodies import (
    SHEETS,
    WEIGHTLESS,
    built,
    built_state,
    disc,
    flat_sheet,
    frames,
    kinetic_energy,
    make_mesh,
    momenta,
    moved,
    pinned,
    rope,
    rotation,
    sheet,
    simulated,
    slow,
    sphere,
    split,
    strains,
    thrown,
    tube,
)
from tests.core.both_bodies import in_numpy
from verlet_addon.core.arrays import Floats
from verlet_addon.core.bending import kernels as bend_kernels
from verlet_addon.core.bending.constraints import bend_batches
from verlet_addon.core.bending.kernels import project_bends, project_stiff_bends
from verlet_addon.core.bending.stencil_batches import build_stencils, surface_stencil_batches
from verlet_addon.core.bending.stiff_bends import (
    stiff_bend_batches,
    stiffness_ratios,
    straight_bends,
)
from verlet_addon.core.compiled import backend
from verlet_addon.core.linear.nested_dissection import (
    add_update,
    eliminate_unknowns,
    factorize,
    solve,
)
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.state import ready_batches

STIFF = BodySettings(bend_compliance=0.2, mass=0.1, damping=10.0)


@pytest.mark.slow
@given(
    count=st.integers(1, 400),
    neighbours=st.integers(0, 12),
    dimensions=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_systems_of_meshes_are_solved(
    count: int, neighbours: int, dimensions: int, seed: int
) -> None:
    """Points coupled with some of those near them, and some far away, as a dense solver has it."""
    random = np.random.default_rng(seed)
    points = random.uniform(size=(count, dimensions))
    first = np.repeat(np.arange(count), neighbours)
    near = np.argsort(np.argsort(points[:, 0]))
    second = np.argsort(points[:, 0])[(near[first] + random.integers(1, 20, len(first))) % count]
    second[::50] = random.integers(0, count, len(second[::50]))
    pairs = np.unique(np.sort(np.stack([first, second], axis=1)[first != second], axis=1), axis=0)
    couplings = random.normal(size=len(pairs))
    matrix = np.zeros((count, count))
    matrix[tuple(pairs.T)] = couplings
    matrix += matrix.T
    diagonal = np.abs(matrix).sum(axis=1) + random.uniform(0.1, 1.0, count)
    np.fill_diagonal(matrix, diagonal)
    right = random.normal(size=(3, count))
    found = solve(factorize(points, pairs, couplings, diagonal), right)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right.T).T, atol=1e-9)


def front_of(size: int) -> Floats:
    """A symmetric positive definite matrix."""
    random = np.random.default_rng(size).normal(size=(size, size)) / size
    return np.asarray(random + random.T + 4.0 * np.eye(size))


@pytest.mark.parametrize(("size", "own"), [(1, 1), (7, 3), (45, 33), (70, 64), (131, 70)])
def test_fronts_are_eliminated_to_the_same_bits_in_blocks(size: int, own: int) -> None:
    """C takes 32 unknowns and four rows and columns at a time; each element is summed as before."""
    updates = front_of(size)[:own, :own]
    places = np.random.default_rng(own).permutation(size)[:own]
    found = []
    for add, eliminate in (
        (add_update, eliminate_unknowns),
        (add_update.reference, eliminate_unknowns.reference),
    ):
        front, root = front_of(size), np.eye(own)
        add(front, places, np.ascontiguousarray(updates))
        eliminate(front, root)
        found.append((np.triu(front), root))
    for compiled, reference in zip(*found, strict=True):
        np.testing.assert_array_equal(compiled, reference)


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
def test_the_time_to_factorize_grows_no_faster_than_its_multiplications() -> None:
    """One in a front beyond the cache, as of 100,000 vertices, takes no longer than in a small one.

    It takes 0.7 times as long; when fronts were read from memory for each unknown, 1 to 1.5 times.
    """

    def cost(size: int, own: int) -> float:
        front, root = front_of(size), np.eye(own)
        begin = thread_time()
        eliminate_unknowns(front, root)
        return (thread_time() - begin) / float(((size - np.arange(own)) ** 2).sum())

    small, large = (min(cost(*front) for _ in range(8)) for front in ((120, 40), (900, 300)))
    assert large < 0.95 * small


def is_stiff(mesh: MeshData, body: BodySettings) -> bool:
    """Whether the bends of a body are solved as one in steps of 1/240 s."""
    model = built((mesh, body))
    return bool(bend_batches(model.bends, model.inverse_masses, 1 / 240**2).stiff)


@pytest.mark.parametrize("mesh", [sheet(20), sheet(20, triangles=True), disc(12)])
def test_only_stiff_cloth_is_solved_as_one(mesh: MeshData) -> None:
    """What cloth is by default is relaxed bend by bend, which is quicker."""
    assert not is_stiff(mesh, BodySettings())
    assert is_stiff(mesh, STIFF)


def test_only_the_stiff_part_is_solved_as_one() -> None:
    """Where a mesh is fine its bends are stiff; where it is coarse they are relaxed as ever."""
    mesh = sheet(24, triangles=True)
    points = mesh.positions.copy()
    points[:, 0] **= 2
    mesh = replace(mesh, positions=points)
    model = built((mesh, BodySettings(bend_compliance=3e3)))
    (stiff,) = bend_batches(model.bends, model.inverse_masses, 1 / 240**2).stiff
    assert 0 < len(stiff.free) < 0.5 * len(points)
    assert np.median(points[stiff.free, 0]) < 0.1


def test_a_rigid_sheet_of_triangles_swings_as_one() -> None:
    """Remembered tension and rigid bends would drive each other on, until edges lose half."""
    mesh = pinned(flat_sheet("strewn triangles", 14), range(15))
    rigid = BodySettings(bend_compliance=0.0)
    (track,) = simulated([(mesh, rigid)], frames(1.0, 24), SceneSettings(substeps=30))
    assert np.abs(strains(mesh, track)).max() < 0.01


def test_a_rigid_sheet_of_triangles_hangs_still() -> None:
    """By two corners, in air that takes its swinging: remembered tension would drive it on."""
    mesh = pinned(flat_sheet("strewn triangles", 14), [0, 14])
    rigid = BodySettings(bend_compliance=0.0, damping=4.0)
    (track,) = simulated([(mesh, rigid)], frames(4.0, 24), SceneSettings())
    assert np.linalg.norm(np.diff(track[-5:], axis=0), axis=2).max() * 24 < 0.01


def test_one_pair_of_triangles_forgets_alone() -> None:
    """Stiff quads remember their tension, though a cell of theirs be cut in two."""
    mesh = sheet(12)
    faces = [tuple(face) for face in mesh.face_vertices.reshape(-1, 4).tolist()]
    a, b, c, d = faces.pop(70)
    mesh = pinned(make_mesh(mesh.positions, faces=[*faces, (a, b, c), (a, c, d)]), [0, 12])
    model, state = built_state((mesh, STIFF))
    strip_system = ready_batches(model, state, "TCV_EXACT", 1 / 240).lengths.strip_system
    forgetting = np.unique(
        strip_system.path[:-1][~strip_system.warm_started & (np.diff(strip_system.labels) == 0)]
    )
    around = mesh.edges[np.isin(mesh.edges, [a, b, c, d]).any(axis=1)]
    assert np.isin(forgetting, [*around.ravel(), 0, 12]).all()
    assert len(forgetting) > 0


def relaxed(turn: float, rest: float, *, stretched: float = 0.0) -> list[Floats]:
    """(3, 4) how each kernel moves two triangles, turned at their edge, to a turn at rest [rad].

    Their heights are 1, and that of the first is longer by so much.
    """
    flat = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.5, 0.0]]).T
    flat[:, 3] += [-np.cos(turn), 0.0, np.sin(turn)]
    flat[0, 2] += stretched
    stencil = build_stencils(
        np.arange(4)[None],
        np.array([[-1.0, -1.0, 1.0, 1.0]]),
        np.array([-2.0 * np.sin(rest / 2.0)]),
        np.zeros(1),
    )
    found = []
    for kernels in (in_numpy(bend_kernels), bend_kernels):
        after = flat.copy()
        kernels.project_surface_bends(after, surface_stencil_batches(stencil, np.ones(4), 1.0, 1.0))
        found.append(after - flat)
    return found


def test_faces_folded_onto_each_other_are_not_turned_inside_out() -> None:
    """What is to lie folded by 175° and has passed through, by 10°, stays there."""
    for moves in relaxed(np.radians(185.0), np.radians(175.0)):
        np.testing.assert_allclose(moves, 0.0, atol=1e-9)


def test_what_is_hardly_bent_has_no_sudden_side() -> None:
    """A stretched hinge that is flat goes one way, a hair to either side of it."""
    for one, other in zip(
        *(relaxed(turn, 1.0, stretched=1e-3) for turn in (-1e-6, 1e-6)), strict=True
    ):
        assert np.abs(one - other).max() < 0.5 * np.abs(one).max()


@pytest.mark.parametrize("kind", SHEETS)
@pytest.mark.parametrize("ratio", [0.02, 0.2, 5.0, 12.0])
def test_softer_bends_give_way_as_if_solved_at_once(kind: str, ratio: float) -> None:
    """A smooth wave flattens as fast, whether its bends are solved in turn or as one."""
    mesh = flat_sheet(kind, 24)
    x, y, z = mesh.positions.T.copy()
    z += 0.01 * np.sin(2 * np.pi * x) * np.sin(2 * np.pi * y)
    bends = built((mesh, BodySettings())).bends
    inverse_masses = np.full(len(x), 1000.0)
    every = straight_bends(bends.strips, bends.straight)
    h_squared = ratio / float(np.median(stiffness_ratios(every, inverse_masses, 1.0)))
    relaxed = bend_batches(bends, inverse_masses, h_squared)
    assert not relaxed.stiff or kind == "strewn triangles"
    in_turn, at_once = np.stack([x, y, z]), np.stack([x, y, z])
    project_bends(in_turn, relaxed, backwards=False)
    solved = stiff_bend_batches(every, bends.positions, inverse_masses, h_squared)
    project_stiff_bends(at_once, solved)
    inner = (np.abs(mesh.positions[:, :2] - 0.5) < 0.4).all(axis=1)
    flattened = [(after[2] - z)[inner] @ z[inner] for after in (in_turn, at_once)]
    assert flattened[0] == pytest.approx(flattened[1], rel=0.1)


def droops_from_a_corner(kind: str, bend: float) -> list[float]:
    """How far a square of cloth hangs down that is held at a corner, in larger and smaller steps.

    It bends along no row of its mesh.
    """
    flat = flat_sheet(kind, 16)
    mesh = pinned(flat, np.flatnonzero((flat.positions[:, :2] < 0.26).all(axis=1)))
    body = replace(STIFF, bend_compliance=bend)
    tracks = [
        simulated([(mesh, body)], frames(1.5, 24), SceneSettings(substeps=substeps))[0]
        for substeps in (3, 10, 30)
    ]
    return [-float(track[-1, -1, 2]) for track in tracks]


@pytest.mark.parametrize("kind", SHEETS)
def test_droop_from_a_corner_does_not_depend_on_steps(kind: str) -> None:
    droops = droops_from_a_corner(kind, bend=0.02)
    assert droops == pytest.approx([droops[0]] * 3, rel=0.005)


def test_quads_that_twist_one_after_the_other_twist_no_farther() -> None:
    """Nor along face loops, by more than 4 %: in the smallest steps they are that soft here.

    Up to twice the stiffness one after the other it would be 10 %, and without loops 60 %.
    """
    droops = droops_from_a_corner("quads", bend=1.5)
    assert droops == pytest.approx([droops[0]] * 3, rel=0.04)


def test_stiff_disc_keeps_its_momentum() -> None:
    """A stiff disc without weight that wobbles neither drifts nor gains speed."""
    mesh = disc(8)
    mesh = thrown(mesh, 0.3 * np.random.default_rng(3).normal(size=mesh.positions.shape))
    body = BodySettings(bend_compliance=1e-2, damping=0.0)
    assert is_stiff(mesh, body)
    (track,) = simulated(
        [(mesh, body)], frames(2.0, 240), SceneSettings(substeps=1), gravity=WEIGHTLESS
    )
    momentum, spin = momenta((mesh, body), track, 1 / 240)
    np.testing.assert_allclose(momentum, momentum[:1].repeat(len(momentum), axis=0), atol=1e-10)
    np.testing.assert_allclose(spin, spin[:1].repeat(len(spin), axis=0), atol=1e-10)
    energy = kinetic_energy((mesh, body), track, 1 / 240)
    assert energy.max() <= energy[0] * 1.001


@pytest.mark.parametrize(
    "mesh",
    [disc(12), *slow(split(sphere(32, 16)))],
    ids=["disc", "sphere"],
)
def test_rigid_bends_do_not_magnify_rounding(mesh: MeshData) -> None:
    """The matrix of rigid bends is nearly singular; what it solves is not."""
    (track,) = simulated(
        [(mesh, BodySettings(bend_compliance=0.0))], frames(1.0, 24), gravity=WEIGHTLESS
    )
    np.testing.assert_allclose(track[-1], mesh.positions, atol=1e-9)


@pytest.mark.parametrize("segments", [16, 64])
@pytest.mark.parametrize("substeps", [5, 20])
def test_a_stiff_rope_held_level_droops_by_the_formula(segments: int, substeps: int) -> None:
    """W L⁴ / (8 B), from the second of two pinned vertices on, and comes to rest."""
    line = rope([(x, 0.0, 0.0) for x in np.linspace(0.0, 0.5, segments + 1)])
    length, mass, wanted = 0.5 - 0.5 / segments, 0.05, 0.01
    load = mass / 0.5 * 9.81
    settings = BodySettings(
        body_type="ROPE", mass=mass, bend_compliance=8 * wanted / (load * length**4), damping=4.0
    )
    scene = SceneSettings(substeps=substeps, use_ground=False)
    track = simulated([(pinned(line, [0, 1]), settings)], frames(3.0, 24), scene)[0]
    # The bend at the pin stands for half an edge beyond it, which is clamped: 2 / segments more.
    assert -track[-1, -1, 2] == pytest.approx(wanted, rel=0.03 + 2 / segments)
    assert np.abs(track[-1] - track[-2]).max() < 1e-4


def test_a_stiff_rope_goes_on_through_where_another_hangs_on_it() -> None:
    """It would droop by a quarter of a metre, as at a hinge; its own weight bends it by 1 cm."""
    along = [(x, 0.0, 0.0) for x in np.linspace(0.0, 0.5, 17)]
    branch = [(0.25, y, 0.0) for y in np.linspace(0.03, 0.12, 4)]
    edges = [(k, k + 1) for k in range(20) if k != 16]
    mesh = pinned(make_mesh(along + branch, edges=[*edges, (8, 17)]), [0, 1])
    settings = BodySettings(body_type="ROPE", mass=0.062, bend_compliance=1.7, damping=4.0)
    scene = SceneSettings(substeps=5, use_ground=False)
    (track,) = simulated([(mesh, settings)], frames(1.5, 24), scene)
    assert -track[-1, 16, 2] < 0.02
    assert -track[-1, 20, 2] > 0.12, "it should hang"


@pytest.mark.parametrize("segments", [16, *slow(64)])
def test_a_stiff_rope_that_hangs_in_a_bow_is_the_same_at_any_substeps(segments: int) -> None:
    """Hemp over the edge of a table: bent far, and pulled along by its own weight."""
    line = rope([(x, 0.0, 0.0) for x in np.linspace(0.0, 0.5, segments + 1)])
    settings = BodySettings(body_type="ROPE", mass=0.05, bend_compliance=330.0, damping=2.0)
    tips = []
    for substeps in (10, 40):
        scene = SceneSettings(substeps=substeps, use_ground=False)
        track = simulated([(pinned(line, [0, 1]), settings)], frames(4.0, 24), scene)[0]
        assert np.abs(track[-1] - track[-2]).max() * 24 < 0.05
        tips.append(track[-1, -1])
    assert tips[0] == pytest.approx(tips[1], abs=0.01)


def test_a_stiff_sleeve_hangs_still() -> None:
    """Hinges with an angle at rest, stiff and fine, do not swing past it in every other step."""
    lying = moved(split(tube(40, 24, radius=0.1, length=0.3)), rotation([1.0, 0.0, 0.0], np.pi / 2))
    heights = lying.positions[:, 2]
    mesh = pinned(lying, np.flatnonzero(heights > heights.min() + 0.85 * np.ptp(heights)))
    body = mesh, BodySettings(bend_compliance=100.0)
    (track,) = simulated([body], np.full(240, 1 / 240), SceneSettings(substeps=1))
    shaking = np.diff(track[-60:], n=2, axis=0) * 240.0**2
    assert np.sqrt((shaking**2).sum(axis=2).mean()) < 9.81
