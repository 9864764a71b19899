"""Meshes to simulate, and the simulation as tests run it: durations in, positions out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from verlet_addon.core.arrays import Floats, Integers, weighted_sums
from verlet_addon.core.bodies.inflation import prepare_gas
from verlet_addon.core.bodies.step_data import StepInputs
from verlet_addon.core.build import build
from verlet_addon.core.field import Field, Kind
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.model import SoftBodyModel
from verlet_addon.core.scene import Collider, Frame, Plane, Sample, SolverWork
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate
from verlet_addon.core.state import ParticleState
from verlet_addon.core.step import step

GRAVITY = np.array([0.0, 0.0, -9.81])
WEIGHTLESS = np.zeros(3)
UP = np.array([0.0, 0.0, 1.0])
IN_ONE_STEP = SceneSettings(substeps=1)
"""Frames are steps."""

Faces = Sequence[Sequence[int]]
Body = tuple[MeshData, BodySettings]


def slow(*cases: object) -> list[Any]:
    """Cases of a test that run in `make test` alone."""
    return [pytest.param(case, marks=pytest.mark.slow) for case in cases]


def make_mesh(
    positions: ArrayLike, *, faces: Faces = (), edges: ArrayLike = (), name: str = "Body"
) -> MeshData:
    """A mesh at rest and without pins; edges of faces come by themselves."""
    points = np.array(positions, dtype=float).reshape(-1, 3)
    around = [(face[k - 1], face[k]) for face in faces for k in range(len(face))]
    loose = np.array(edges, dtype=np.int64).reshape(-1, 2).tolist()
    pairs = {(min(a, b), max(a, b)) for a, b in [*around, *loose]}
    return MeshData(
        name=name,
        positions=points,
        edges=np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2),
        face_starts=np.cumsum([0, *map(len, faces)]).astype(np.int64),
        face_vertices=np.array([vertex for face in faces for vertex in face], dtype=np.int64),
        pin_weights=np.zeros(len(points)),
        velocities=np.zeros((len(points), 3)),
    )


def sheet(
    columns: int, rows: int | None = None, *, size: float = 1.0, triangles: bool = False
) -> MeshData:
    """A flat sheet in the XY plane, `size` metres wide, with square cells; row 0 lies at y = 0."""
    rows = columns if rows is None else rows
    x, y = np.meshgrid(np.arange(columns + 1), np.arange(rows + 1))
    points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1) * (size / columns)
    return make_mesh(points, faces=_cells(columns, rows, triangles=triangles))


SHEETS = ["quads", "triangles", "strewn triangles"]
"""The kinds of `flat_sheet`."""


def strewn(mesh: MeshData, by: float) -> MeshData:
    """The mesh with its inner vertices strewn in their plane, by this length [m]."""
    points = mesh.positions.copy()
    inner = ((points[:, :2] > 1e-6) & (points[:, :2] < 1.0 - 1e-6)).all(axis=1)
    points[inner, :2] += np.random.default_rng(1).uniform(-by, by, (inner.sum(), 2))
    return replace(mesh, positions=points)


def flat_sheet(kind: str, cells: int) -> MeshData:
    """A square of quads, triangles or strewn triangles."""
    flat = sheet(cells, triangles=kind != "quads")
    return strewn(flat, 0.3 / cells) if kind == "strewn triangles" else flat


def gaping_tube(around: int, rows: int) -> MeshData:
    """A tube that is cut open along its length, with loose edges across the cut."""
    radius, opening = 0.2, 0.6
    angle, height = np.meshgrid(
        np.linspace(opening / 2, 2 * np.pi - opening / 2, around), np.linspace(0, 0.5, rows)
    )
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=-1)
    at = np.arange(rows * around).reshape(rows, around)
    faces = [
        (int(at[j, k]), int(at[j, k + 1]), int(at[j + 1, k + 1]), int(at[j + 1, k]))
        for j in range(rows - 1)
        for k in range(around - 1)
    ]
    return make_mesh(points.reshape(-1, 3), faces=faces, edges=at[:, [0, -1]])


def tube(around: int, rows: int, *, radius: float = 0.3, length: float = 1.0) -> MeshData:
    """An open tube of quads along z."""
    angle, height = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(rows + 1))
    points = np.stack(
        [radius * np.cos(angle), radius * np.sin(angle), height * length / rows], axis=-1
    )
    faces = [
        (at + k, at + (k + 1) % around, at + around + (k + 1) % around, at + around + k)
        for at in range(0, rows * around, around)
        for k in range(around)
    ]
    return make_mesh(points.reshape(-1, 3), faces=faces)


def cube(size: float = 2.0) -> MeshData:
    """A closed cube of six quads around the origin."""
    points = np.array(list(np.ndindex(2, 2, 2))) * size - size / 2
    faces = [(0, 1, 3, 2), (2, 3, 7, 6), (6, 7, 5, 4), (4, 5, 1, 0), (2, 6, 4, 0), (7, 3, 1, 5)]
    return make_mesh(points, faces=faces)


def block(size: Sequence[float], cells: Sequence[int]) -> MeshData:
    """A closed box of quads from the origin on."""
    numbers: dict[tuple[int, ...], int] = {}
    faces = []
    for axis, side in np.ndindex(3, 2):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for i, j in np.ndindex(cells[u], cells[v]):
            face = []
            for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)):
                place = [0, 0, 0]
                place[axis], place[u], place[v] = side * cells[axis], i + di, j + dj
                face.append(numbers.setdefault(tuple(place), len(numbers)))
            faces.append(face if side else face[::-1])
    return make_mesh(np.array(list(numbers)) / np.array(cells) * np.array(size), faces=faces)


def cross(cells: int) -> MeshData:
    """A closed cross of cubes of size 1, so many along each of four arms, flat about its middle."""
    squares = [(i, 0) for i in range(-cells, cells + 1)]
    squares += [(0, j) for j in range(-cells, cells + 1) if j]
    steps = ((0, 0), (1, 0), (1, 1), (0, 1))
    places = sorted({(i + a, j + b) for i, j in squares for a, b in steps})
    number = {place: k for k, place in enumerate(places)}
    faces: list[list[int]] = []
    for i, j in squares:
        around = [number[i + a, j + b] for a, b in steps]
        faces += [around[::-1], [k + len(places) for k in around]]
        for k, (a, b) in enumerate(((0, -1), (1, 0), (0, 1), (-1, 0))):
            if (i + a, j + b) not in squares:
                u, v = around[k], around[(k + 1) % 4]
                faces.append([u, v, v + len(places), u + len(places)])
    flat = np.array(places) - 0.5
    levels = [np.column_stack([flat, np.full(len(flat), height)]) for height in (-0.5, 0.5)]
    return make_mesh(np.concatenate(levels), faces=faces)


def disc(rings: int, *, radius: float = 0.5) -> MeshData:
    """A flat disc of triangles in the XY plane: ring k has 6 k vertices."""
    points = [(0.0, 0.0, 0.0)]
    starts = [0]
    for ring in range(1, rings + 1):
        starts.append(len(points))
        angles = np.arange(6 * ring) * np.pi / (3 * ring)
        far = radius * ring / rings
        points += [(far * np.cos(angle), far * np.sin(angle), 0.0) for angle in angles]

    def vertex(ring: int, place: int) -> int:
        return starts[ring] + place % (6 * ring) if ring else 0

    faces = []
    for ring in range(1, rings + 1):
        for sector in range(6):
            for k in range(ring):
                inner, outer = sector * (ring - 1) + k, sector * ring + k
                faces.append(
                    (vertex(ring - 1, inner), vertex(ring, outer), vertex(ring, outer + 1))
                )
                if k < ring - 1:
                    faces.append(
                        (
                            vertex(ring - 1, inner),
                            vertex(ring, outer + 1),
                            vertex(ring - 1, inner + 1),
                        )
                    )
    return make_mesh(points, faces=faces)


def sphere(around: int, rows: int, *, radius: float = 0.5) -> MeshData:
    """A closed sphere of quads, with triangles round both poles."""
    angle, polar = np.meshgrid(
        np.arange(around) * 2 * np.pi / around, np.arange(1, rows) * np.pi / rows
    )
    middle = np.stack(
        [np.sin(polar) * np.cos(angle), np.sin(polar) * np.sin(angle), np.cos(polar)], axis=-1
    )
    points = np.concatenate([[[0.0, 0.0, 1.0]], middle.reshape(-1, 3), [[0.0, 0.0, -1.0]]]) * radius
    last = len(points) - 1
    faces: list[tuple[int, ...]] = []
    for k in range(around):
        onward = (k + 1) % around
        faces.append((0, 1 + k, 1 + onward))
        faces.append((last, last - around + onward, last - around + k))
        faces += [
            (at + k, at + around + k, at + around + onward, at + onward)
            for at in range(1, 1 + (rows - 2) * around, around)
        ]
    return make_mesh(points, faces=faces)


def rope(points: ArrayLike, *, name: str = "Rope") -> MeshData:
    """Points joined one to the next."""
    count = len(np.array(points, dtype=float))
    return make_mesh(points, edges=[(k, k + 1) for k in range(count - 1)], name=name)


def hair(places: Floats) -> MeshData:
    """Strands along places (k, p, 3), of which the first two points of each are held."""
    numbers = np.arange(len(places) * places.shape[1]).reshape(len(places), -1)
    edges = np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()], axis=1)
    return pinned(make_mesh(places.reshape(-1, 3), edges=edges), numbers[:, :2].ravel())


def coil(turns: float, points: int, *, radius: float = 0.02, height: float = 0.2) -> MeshData:
    """A rope wound around the z axis, from the origin's height down."""
    angles = np.linspace(0.0, 2.0 * np.pi * turns, points)
    around = radius * np.stack([np.cos(angles), np.sin(angles)])
    return rope(np.stack([*around, np.linspace(0.0, -height, points)], axis=1))


def net(cells: int) -> MeshData:
    """The edges of a sheet, without faces."""
    flat = sheet(cells)
    return make_mesh(flat.positions, edges=flat.edges)


def arc(length: float, span: float, segments: int) -> Floats:
    """(n, 3) points of an arc hanging in the XZ plane, every link length / segments long."""
    low, high = 1e-6, 2 * np.pi / segments
    for _ in range(100):  # the turn from link to link, by bisection
        turn = (low + high) / 2
        across = length / segments * np.sin(segments * turn / 2) / np.sin(turn / 2)
        low, high = (turn, high) if across > span else (low, turn)
    slopes = (np.arange(segments) - (segments - 1) / 2) * turn
    links = np.stack([np.cos(slopes), np.zeros(segments), np.sin(slopes)], axis=1)
    return np.concatenate([np.zeros((1, 3)), np.cumsum(links * (length / segments), axis=0)])


def woven(mesh: MeshData, *, degrees: float = 0.0) -> MeshData:
    """A flat mesh with a map of its threads: its warp runs along y, or so turned towards x."""
    angle = np.radians(degrees)
    turned = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    threads = weighted_sums(turned.T, mesh.positions[:, :2].T).T
    return replace(mesh, threads=threads[mesh.face_vertices])


def _cells(columns: int, rows: int, *, triangles: bool) -> list[tuple[int, ...]]:
    """The faces of a grid, cut in two along alternating diagonals where triangles are wanted."""
    faces: list[tuple[int, ...]] = []
    for j in range(rows):
        for i in range(columns):
            a = j * (columns + 1) + i
            b, c, d = a + 1, a + columns + 2, a + columns + 1
            if not triangles:
                faces.append((a, b, c, d))
            elif (i + j) % 2:
                faces += [(a, b, c), (a, c, d)]
            else:
                faces += [(a, b, d), (b, c, d)]
    return faces


def split(mesh: MeshData) -> MeshData:
    """The mesh with its faces cut into triangles, all from their first corners."""
    faces = np.split(mesh.face_vertices, mesh.face_starts[1:-1])
    triangles = [
        (int(face[0]), int(face[k]), int(face[k + 1]))
        for face in faces
        for k in range(1, len(face) - 1)
    ]
    return make_mesh(mesh.positions, faces=triangles)


def pinned(mesh: MeshData, vertices: ArrayLike, *, weight: float = 1.0) -> MeshData:
    """The mesh with these vertices pinned."""
    weights = mesh.pin_weights.copy()
    weights[np.array(vertices)] = weight
    return replace(mesh, pin_weights=weights)


def with_fringe(mesh: MeshData) -> MeshData:
    """The mesh with a rope at its last vertex."""
    ends = mesh.positions[-1] + np.outer([1.0, 2.0], [0.03, 0.0, -0.02])
    count = len(mesh.positions)
    return replace(
        mesh,
        positions=np.concatenate([mesh.positions, ends]),
        edges=np.concatenate([mesh.edges, [(count - 1, count), (count, count + 1)]]),
        pin_weights=np.append(mesh.pin_weights, [0.0, 0.0]),
        velocities=np.concatenate([mesh.velocities, np.zeros((2, 3))]),
    )


def thrown(mesh: MeshData, velocities: ArrayLike) -> MeshData:
    """The mesh in motion, (3,) or (n, 3) [m/s]."""
    return replace(mesh, velocities=np.broadcast_to(velocities, mesh.positions.shape).astype(float))


def moved(mesh: MeshData, matrix: ArrayLike, shift: ArrayLike = (0.0, 0.0, 0.0)) -> MeshData:
    """The mesh, with its velocities, turned or mirrored and then shifted."""
    linear = np.array(matrix, dtype=float)
    return replace(
        mesh,
        positions=weighted_sums(linear, mesh.positions.T).T + np.array(shift),
        velocities=weighted_sums(linear, mesh.velocities.T).T,
    )


def floor(height: float = 0.0, *, tilt: float = 0.0) -> Plane:
    """A plane through (0, 0, height) that rises towards +x by `tilt` [rad]."""
    normal = np.array([-np.sin(tilt), 0.0, np.cos(tilt)])
    return Plane(point=np.array([0.0, 0.0, height]), normal=normal)


def samples(
    meshes: Sequence[MeshData],
    durations: Sequence[float] | Floats,
    *,
    gravity: Floats = GRAVITY,
    ground: Plane | Callable[[float], Plane] | None = None,
    targets: Callable[[float], list[Floats]] | None = None,
    fields: Sequence[Field] | Callable[[float], Sequence[Field]] = (),
    colliders: Callable[[float], list[Floats]] | None = None,
) -> list[Sample]:
    """A sample at the start and one after each duration; what moves is a function of time [s]."""
    times = np.concatenate([[0.0], np.cumsum(durations)]).tolist()
    return [
        Sample(
            frame=number + 1,
            duration=duration,
            gravity=gravity,
            targets=[mesh.positions for mesh in meshes] if targets is None else targets(time),
            ground=ground(time) if callable(ground) else ground,
            fields=[fields(time) if callable(fields) else fields] * len(meshes),
            colliders=[] if colliders is None else colliders(time),
        )
        for number, (time, duration) in enumerate(zip(times, [0.0, *durations], strict=True))
    ]


HALF = SceneSettings(substeps=5)
"""Half as many steps as by default: mostly what holds with them holds with more."""


def simulated(
    bodies: Sequence[Body],
    durations: Sequence[float] | Floats,
    scene: SceneSettings | None = None,
    **options: Any,
) -> list[Floats]:
    """Per body (frames + 1, n, 3) positions, the start first [m]; options as for `results`."""
    return tracks(results(bodies, durations, scene, **options))


def tracks(frames: Iterable[Frame]) -> list[Floats]:
    """Per body (frames, n, 3) positions [m]."""
    return [np.array(track) for track in zip(*(frame.positions for frame in frames), strict=True)]


def results(
    bodies: Sequence[Body],
    durations: Sequence[float] | Floats,
    scene: SceneSettings | None = None,
    *,
    gravity: Floats = GRAVITY,
    ground: Plane | Callable[[float], Plane] | None = None,
    targets: Callable[[float], list[Floats]] | None = None,
    fields: Sequence[Field] | Callable[[float], Sequence[Field]] = (),
    colliders: Sequence[tuple[Collider, Floats | Callable[[float], Floats]]] = (),
) -> Iterator[Frame]:
    """Frames of bodies, the start first."""
    everyone = range(len(colliders))
    meshes = [replace(mesh, colliders=everyone) if colliders else mesh for mesh, _ in bodies]

    def places(time: float) -> list[Floats]:
        return [place(time) if callable(place) else place for _, place in colliders]

    return simulate(
        meshes,
        [settings for _, settings in bodies],
        scene or SceneSettings(),
        samples(
            meshes,
            durations,
            gravity=gravity,
            ground=ground,
            targets=targets,
            fields=fields,
            colliders=places,
        ),
        [collider for collider, _ in colliders],
    )


def work(frames: Iterable[Frame]) -> SolverWork:
    """Work of the solvers in all of some frames."""
    return sum((frame.work for frame in frames), SolverWork())


def built(body: Body, gravity: Floats = GRAVITY, dt: float = 1 / 480) -> SoftBodyModel:
    """The model of a body."""
    return built_state(body, gravity=gravity, dt=dt)[0]


def built_state(
    body: Body, gravity: Floats = GRAVITY, dt: float = 1 / 480
) -> tuple[SoftBodyModel, ParticleState]:
    """The model of a body, and its state at the start."""
    mesh, settings = body
    return build(mesh, settings, gravity=gravity, dt=dt)


def advance(
    bodies: Sequence[tuple[SoftBodyModel, ParticleState]],
    targets: Sequence[Floats],
    *,
    dt: float = 1 / 240,
    steps: int = 1,
    gravity: Floats = GRAVITY,
    ground: Plane | None = None,
) -> None:
    """Takes steps of stock settings with bodies whose pins, (n, 3) for each, stand still."""
    given = StepInputs(
        dt=dt,
        gravity=gravity,
        targets=[points.T for points in targets],
        fields=[()] * len(targets),
        ground=ground,
        ground_shift=np.zeros(3),
    )
    scene = SceneSettings()
    for model, state in bodies:
        pressure = model.settings.pressure
        prepare_gas((model, state), (pressure, pressure), scene.integrator, dt)
    for _ in range(steps):
        step(bodies, scene, given)


def frames(seconds: float, fps: float) -> Floats:
    """(frames,) equal durations [s]."""
    return np.full(round(seconds * fps), 1.0 / fps)


def lengths(positions: Floats, pairs: Integers) -> Floats:
    """(…, m) distances between pairs of points of (…, n, 3) [m]."""
    ends = positions[..., pairs, :]
    return np.asarray(np.linalg.norm(ends[..., 1, :] - ends[..., 0, :], axis=-1))


def strains(mesh: MeshData, positions: Floats) -> Floats:
    """(…, m) how much longer edges are than at rest, as a share, at positions (…, n, 3)."""
    return np.asarray(lengths(positions, mesh.edges) / lengths(mesh.positions, mesh.edges) - 1.0)


def masses(body: Body) -> Floats:
    """(n, 1) what a body's particles weigh; 0 for pinned ones [kg]."""
    inverse = built(body).inverse_masses[:, None]
    return np.where(inverse > 0.0, 1.0 / np.where(inverse > 0.0, inverse, 1.0), 0.0)


def momenta(body: Body, track: Floats, dt: float) -> tuple[Floats, Floats]:
    """(steps, 3) linear and angular momentum along a track (steps + 1, n, 3) [kg m/s, kg m²/s].

    Verlet keeps Σ m xₙ × xₙ₊₁ / h.
    """
    carried = masses(body) * np.diff(track, axis=0) / dt
    return carried.sum(axis=1), np.cross(track[:-1], carried).sum(axis=1)


def kinetic_energy(body: Body, track: Floats, dt: float) -> Floats:
    """(steps,) along a track (steps + 1, n, 3) [J]."""
    return np.asarray((masses(body) * np.diff(track, axis=0) ** 2).sum(axis=(1, 2)) / (2 * dt**2))


def rotation(axis: ArrayLike, angle: float) -> Floats:
    """(3, 3) the rotation about an axis by an angle [rad]."""
    x, y, z = unit(np.array(axis, dtype=float))
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    twice = weighted_sums(cross, cross)
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * twice)


def unit(vector: Floats) -> Floats:
    """A vector (3,) divided by its length, to the same bits on every machine."""
    return np.asarray(vector / np.sqrt((vector * vector).sum()))


def scanned(cells: int, *, tiny: float) -> MeshData:
    """A triangulated sheet with uneven vertices, some drawn up to a neighbour, as scans have them.

    `tiny` is the length of the shortest edges, in cells.
    """
    random = np.random.default_rng(3)
    mesh = sheet(cells, triangles=True)
    positions = mesh.positions.copy()
    inner = (np.abs(positions[:, :2] - 0.5) < 0.499).all(axis=1)
    positions[inner, :2] += random.uniform(-0.2, 0.2, (inner.sum(), 2)) / cells
    taken = np.zeros(len(positions), dtype=bool)
    for a, b in mesh.edges[random.permutation(len(mesh.edges))]:
        if inner[[a, b]].all() and not taken[[a, b]].any():
            arm = positions[b] - positions[a]
            positions[b] = positions[a] + unit(arm) * (tiny / cells)
            around = mesh.edges[np.isin(mesh.edges, [a, b]).any(axis=1)]
            taken[around] = True
        if taken[inner].mean() > 0.5:
            break
    return replace(mesh, positions=positions)


def star(arms: int) -> MeshData:
    """Ropes that meet in the middle: a tree."""
    angles = np.arange(arms) * 2.0 * np.pi / arms
    ends = [(k * np.cos(a), k * np.sin(a), 0.0) for a in angles for k in (0.1, 0.2, 0.3)]
    edges = [(3 * k + i if i else 0, 3 * k + i + 1) for k in range(arms) for i in range(3)]
    return make_mesh([(0.0, 0.0, 0.0), *ends], edges=edges)


def thicket(count: int) -> MeshData:
    """Ropes that branch and branch again, each particle joined to an earlier one at random."""
    rng = np.random.default_rng(3)
    stems = [int(rng.integers(max(0, k - 6), k)) for k in range(1, count)]
    points = np.zeros((count, 3))
    for k, stem in enumerate(stems, start=1):
        way = rng.normal(size=3)
        points[k] = points[stem] + 0.05 * unit(way)
    return make_mesh(points, edges=list(enumerate(stems, start=1)))


def off_shape(rest: Floats, positions: Floats) -> float:
    """How far positions are from the nearest place of the rest shape as a rigid body [m]."""
    p, q = rest - rest.mean(axis=0), positions - positions.mean(axis=0)
    u, _, v = np.linalg.svd(p.T @ q)
    turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
    return float(np.linalg.norm(p @ turn - q, axis=1).max())


def field(kind: Kind, strength: float, axis: Floats = UP, **more: Any) -> Field:
    """A field at the origin."""
    plain = Field(
        name=kind,
        kind=kind,
        shape="PLANE" if kind in ("WIND", "VORTEX") else "POINT",
        origin=np.zeros(3),
        axis=axis,
        strength=strength,
    )
    values: dict[str, Any] = {"flow": 1.0, "wind_factor": 1.0} if kind == "WIND" else {}
    return replace(plain, **(values | more))


def wind(speed: float, axis: Floats = UP) -> Field:
    """Wind as Blender adds it."""
    return field("WIND", speed, axis)
