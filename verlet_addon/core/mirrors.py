"""Bodies with a Mirror modifier, whose mesh is only one half.

Such a body is simulated whole, because forces act between the halves. After every step both halves
are set to their mean, because Gauss-Seidel sweeps are not symmetric. So the seam stays on the
plane, and momentum is conserved.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .arrays import Floats, Integers, dot
from .bodies.symmetry import Reflection, write_images
from .errors import MeshError
from .mesh import MeshData, Mirror, Paint, count_short
from .scene import GoalSprings, Plane


def complete_all(
    meshes: Sequence[MeshData],
) -> tuple[list[MeshData], list[list[Reflection]]]:
    """Every mesh with its mirror images, its own vertices first, and the reflections of each."""
    wholes = [complete(mesh) for mesh in meshes]
    return [mesh for mesh, _ in wholes], [reflections for _, reflections in wholes]


def complete(mesh: MeshData) -> tuple[MeshData, list[Reflection]]:
    """The mesh with its mirror images, its own vertices first, and the reflections.

    A mirror that no vertex is on has no reflection: its image is a separate copy with the same
    motion, and is not simulated.

    Raises
    ------
    MeshError
        If both ends of an edge across a mirror are merged on its plane.
    """
    reflections: list[Reflection] = []
    for number, mirror in enumerate(mesh.mirrors):
        offsets = mesh.positions - mirror.plane.point
        on_plane = np.abs(offsets @ mirror.plane.normal) <= mirror.merge_distance
        if on_plane.any():
            count, sources = len(mesh.positions), np.flatnonzero(~on_plane)
            images = count + np.arange(len(sources))
            reflections.append(Reflection(number, sources, images, np.flatnonzero(on_plane)))
            mesh = _doubled(mesh, mirror, reflections[-1])
            if count_short(mesh.positions, mesh.edges):
                raise MeshError(
                    f"'{mesh.name}' has edges shorter than the Merge Distance of its Mirror "
                    "modifier; lower that distance"
                )
    return mesh, reflections


def complete_positions(
    positions: Floats, reflections: Sequence[Reflection], planes: Sequence[Plane]
) -> Floats:
    """(n', 3) vertex positions of the whole mesh, from those of the mesh (n, 3) [m]."""
    for reflection in reflections:
        positions = _with_images(positions, reflection, planes[reflection.mirror])
    return positions


def complete_weights(weights: Floats, reflections: Sequence[Reflection]) -> Floats:
    """(n',) vertex weights of the whole mesh, from those of the mesh (n,)."""
    for reflection in reflections:
        weights = np.concatenate([weights, weights[reflection.sources]])
    return weights


def complete_springs(
    springs: GoalSprings, count: int, reflections: Sequence[Reflection], planes: Sequence[Plane]
) -> GoalSprings:
    """Goal springs of the whole mesh, from the springs of its half of `count` vertices."""
    if not reflections:
        return springs
    targets = np.full((count, 3), np.nan)
    targets[springs.vertices] = springs.targets
    values = np.zeros((2, count))
    values[:, springs.vertices] = springs.stiffnesses, springs.dampings
    places = complete_positions(targets, reflections, planes)
    stiffnesses, dampings = (complete_weights(row, reflections) for row in values)
    vertices = np.flatnonzero(stiffnesses)
    return GoalSprings(vertices, places[vertices], stiffnesses[vertices], dampings[vertices])


def plane_rows(planes: Sequence[Plane]) -> Floats:
    """(m, 6) a point and the normal of each plane."""
    return np.array([[*plane.point, *plane.normal] for plane in planes]).reshape(-1, 6)


def _with_images(positions: Floats, reflection: Reflection, plane: Plane) -> Floats:
    """(n', 3) positions (n, 3), with the seam projected to the plane, followed by the images."""
    whole: Floats = np.concatenate([positions, positions[reflection.sources]])
    write_images(whole.T, reflection, plane_rows([plane])[0])
    return whole


def _doubled(mesh: MeshData, mirror: Mirror, reflection: Reflection) -> MeshData:
    """A mesh with its image in one mirror, joined along the seam; `mirrors` is unchanged."""
    image = np.arange(len(mesh.positions))
    image[reflection.sources] = reflection.images
    edges = image[mesh.edges]
    starts, places = _image_faces(mesh, image)
    threads, layers = mesh.threads, vars(mesh.paint).values()
    velocities = _image_velocities(mesh, mirror)[reflection.sources]
    return replace(
        mesh,
        positions=_with_images(mesh.positions, reflection, mirror.plane),
        edges=np.concatenate([mesh.edges, edges[(edges != mesh.edges).any(axis=1)]]),
        face_starts=np.concatenate([mesh.face_starts, mesh.face_starts[-1] + starts]),
        face_vertices=np.concatenate([mesh.face_vertices, image[mesh.face_vertices[places]]]),
        pin_weights=complete_weights(mesh.pin_weights, [reflection]),
        velocities=np.concatenate([mesh.velocities, velocities]),
        rest_positions=None
        if mesh.rest_positions is None
        else _with_images(mesh.rest_positions, reflection, mirror.plane),
        paint=Paint(
            *(None if layer is None else complete_weights(layer, [reflection]) for layer in layers)
        ),
        threads=None if threads is None else np.concatenate([threads, threads[places]]),
    )


def _image_faces(mesh: MeshData, image: Integers) -> tuple[Integers, Integers]:
    """Faces of a mirror image, without those within the plane.

    Returns where each face ends, as in `face_starts`, and (c,) the corners of the mesh, as indices
    into `face_vertices`, that are mirrored to its corners.
    """
    moved = image[mesh.face_vertices] != mesh.face_vertices
    faces = np.split(np.arange(len(moved)), mesh.face_starts[1:-1])
    mirrored = [face[::-1] for face in faces if moved[face].any()]
    ends = np.cumsum([len(face) for face in mirrored], dtype=np.int64)
    return ends, np.concatenate([np.empty(0, np.int64), *mirrored])


def _image_velocities(mesh: MeshData, mirror: Mirror) -> Floats:
    """(n, 3) velocities of images x − 2 n (n · (x − p)); point p and normal n move too [m/s]."""
    normal, turning = mirror.plane.normal, mirror.normal_velocity
    offsets = mesh.positions - mirror.plane.point
    climb = dot(turning, offsets.T) + dot(normal, (mesh.velocities - mirror.point_velocity).T)
    heights = dot(normal, offsets.T)
    return np.asarray(
        mesh.velocities - 2.0 * (climb[:, None] * normal + heights[:, None] * turning)
    )
