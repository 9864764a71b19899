"""Bodies with flesh for tests: a hemisphere on a board, and a limb that bends."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tests.core.bodies import tube
from verlet_addon.core.arrays import Floats
from verlet_addon.core.inputs import mesh_from_faces
from verlet_addon.core.mesh import MeshData, Paint
from verlet_addon.core.scene import Sample
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulation import Simulation, start_simulation

Pose = Callable[[float], Floats]
"""Places of the vertices (n, 3) at a time [s]."""


def hemisphere(radius: float = 0.1, rings: int = 10, segments: int = 24) -> MeshData:
    """A hemisphere of flesh on a thick board of bone."""
    angles = 2 * np.pi * np.arange(segments) / segments
    round_ = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    tilts = np.pi / 2 * np.arange(1, rings + 1) / rings
    circles = [*zip(radius * np.sin(tilts), radius * np.cos(tilts), strict=True)]
    circles += [(1.25 * radius, 0.0), (1.5 * radius, 0.0), (1.5 * radius, -radius)]
    rows = [np.column_stack([r * round_, np.full(segments, z)]) for r, z in circles]
    positions = np.concatenate([[[0, 0, radius]], *rows, [[0, 0, -radius]]])
    last = len(positions) - 1

    def at(circle: int, j: int) -> int:
        return 1 + circle * segments + j % segments

    faces: list[tuple[int, ...]] = [(0, at(0, j), at(0, j + 1)) for j in range(segments)]
    faces += [
        (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1))
        for i in range(len(circles) - 1)
        for j in range(segments)
    ]
    faces += [(at(len(circles) - 1, j), last, at(len(circles) - 1, j + 1)) for j in range(segments)]
    flesh = np.zeros(len(positions))
    flesh[: 1 + (rings - 1) * segments] = 1.0
    return replace(mesh_from_faces(positions, faces), paint=Paint(flesh=flesh))


def limb(
    radius: float = 0.05, length: float = 0.3, rings: int = 25, segments: int = 16
) -> MeshData:
    """A limb along x, of flesh except at its ends."""
    around = tube(segments, rings - 1, radius=radius, length=length)
    y, z, x = around.positions.T
    positions = np.stack([x - length / 2, y, z], axis=1)
    faces = [each.tolist() for each in np.split(around.face_vertices, around.face_starts[1:-1])]
    faces += [[*range(segments)][::-1], [*range(segments * (rings - 1), segments * rings)]]
    flesh = np.clip((0.14 - np.abs(positions[:, 0])) / 0.05, 0.0, 1.0)
    closed = mesh_from_faces(positions, faces)
    return replace(closed, paint=Paint(flesh=flesh))


LEG, HIP, STEP = 0.4, 0.1, 0.02
"""Lengths of legs and of the hip above them, and of their faces [m]."""


def legs(gap: float, turn: float = 0.0) -> tuple[MeshData, Floats]:
    """Two square legs of flesh that hang from one hip, and their places before they are turned.

    Parameters
    ----------
    gap : between the legs, along x [m].
    turn : angle about y and then about z [rad].
    """
    side = np.linspace(gap / 2, gap / 2 + 0.08, 5)
    xs, ys = np.concatenate([-side[::-1], side]), np.linspace(-0.04, 0.04, 5)
    zs = np.linspace(-LEG, HIP, round((LEG + HIP) / STEP) + 1)
    filled = np.pad(np.ones((9, 4, len(zs) - 1), dtype=bool), 1)
    filled[5, :, : 1 + round(LEG / STEP)] = False
    corners, faces = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]), []
    for cell in np.argwhere(filled):
        for axis, side_of in np.ndindex(3, 2):
            beyond = cell + (2 * side_of - 1) * np.eye(3, dtype=np.int64)[axis]
            if filled[tuple(beyond)]:
                continue
            face = np.tile(cell - 1, (4, 1))
            face[:, axis] += side_of
            face[:, [(axis + 1) % 3, (axis + 2) % 3]] += corners
            faces.append(face if side_of else face[::-1])
    at, numbers = np.unique(np.concatenate(faces), axis=0, return_inverse=True)
    straight = np.stack([xs[at[:, 0]], ys[at[:, 1]], zs[at[:, 2]]], axis=1)
    c, s = np.cos(turn), np.sin(turn)
    about_y = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    about_z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    mesh = mesh_from_faces(straight @ (about_z @ about_y).T, numbers.reshape(-1, 4).tolist())
    return replace(mesh, paint=Paint(flesh=np.ones(len(straight)))), straight


def bent(positions: Floats, degrees: float, width: float = 0.05) -> Floats:
    """Positions (n, 3) of a limb that is skinned to two bones, bent about y in the middle."""
    turn = np.radians(degrees)
    matrix = np.array(
        [[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]]
    )
    share = np.clip(0.5 + positions[:, :1] / (2 * width), 0.0, 1.0)
    share = share * share * (3 - 2 * share)
    return np.asarray(positions * (1 - share) + (positions @ matrix.T) * share)


def play(
    mesh: MeshData,
    pose: Pose,
    seconds: float,
    *,
    fps: float = 24.0,
    substeps: int = 4,
    gravity: float = 0.0,
    keys: Callable[[float], dict[str, Any]] | None = None,
    **settings: Any,
) -> tuple[Floats, Simulation]:
    """(f, n, 3) positions at all frames, and the simulation after the last.

    Parameters
    ----------
    gravity : its strength, downwards [m/s²].
    keys : settings at a time, in place of those that are constant.
    settings : of the body, besides its type.
    """
    given: dict[str, Any] = {
        "flesh_depth": 0.1,
        "stiffness": 5e3,
        "density": 950.0,
        "damping": 0.0,
        **settings,
    }

    def body(time: float) -> BodySettings:
        now = {**given, **(keys(time) if keys else {})}
        return BodySettings(body_type="FLESH", use_density=True, **now)

    def samples() -> Iterator[Sample]:
        for frame in range(round(seconds * fps) + 1):
            yield Sample(
                frame=frame,
                duration=1.0 / fps if frame else 0.0,
                gravity=np.array([0.0, 0.0, -gravity]),
                targets=[pose(frame / fps)],
                ground=None,
                settings=[body(frame / fps)] if keys else (),
            )

    every = samples()
    start = next(every)
    scene = SceneSettings(substeps=substeps, use_ground=False)
    moving = replace(mesh, positions=start.targets[0], rest_positions=mesh.positions)
    simulation = start_simulation([moving], [body(0.0)], scene, start)
    frames = [start.targets[0], *(simulation.advance(sample).positions[0] for sample in every)]
    return np.array(frames), simulation
