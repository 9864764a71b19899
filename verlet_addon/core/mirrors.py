"""Bodies of which the mesh is one half, and a mirror shows the other.

They are simulated whole, for what pulls at the seam, presses from within or hangs on it is the
other half. After every step the image is made the mirror image of the mesh again, whatever order
constraints were solved in; so the seam never leaves the plane.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .arrays import Floats, Integers
from .mesh import MeshData, Mirror, Plane
from .state import ParticleState


@dataclass(frozen=True, eq=False)
class Reflection:
    """Which particles are the images of which in one of a body's mirrors."""

    mirror: int
    """Its number among the body's mirrors."""
    sources: Integers
    """(k,) particles beside the plane."""
    images: Integers
    """(k,) their images."""
    seam: Integers
    """(s,) particles on the plane, which are their own images."""


def complete_all(
    meshes: Sequence[MeshData],
) -> tuple[list[MeshData], list[list[Reflection]]]:
    """Every mesh as its mirrors show it, its own vertices first, and what is whose image there."""
    wholes = [complete(mesh) for mesh in meshes]
    return [mesh for mesh, _ in wholes], [reflections for _, reflections in wholes]


def complete(mesh: MeshData) -> tuple[MeshData, list[Reflection]]:
    """The whole mesh that its mirrors show, its own vertices first.

    Where a mesh does not touch a mirror, its image is another piece, that moves as it does: it is
    left out.
    """
    reflections: list[Reflection] = []
    for number, mirror in enumerate(mesh.mirrors):
        offsets = mesh.positions - mirror.plane.point
        on_plane = np.abs(offsets @ mirror.plane.normal) <= mirror.reach
        if on_plane.any():
            count, sources = len(mesh.positions), np.flatnonzero(~on_plane)
            images = count + np.arange(len(sources))
            reflections.append(Reflection(number, sources, images, np.flatnonzero(on_plane)))
            mesh = _doubled(mesh, mirror, reflections[-1])
    return mesh, reflections


def complete_positions(
    positions: Floats, reflections: Sequence[Reflection], planes: Sequence[Plane]
) -> Floats:
    """(n', 3) places of the whole mesh's vertices for those (n, 3) of its own."""
    for reflection in reflections:
        whole = np.concatenate([positions, positions[reflection.sources]])
        _mirror(whole.T, reflection, planes[reflection.mirror])
        positions = whole
    return positions


def keep_symmetric(
    state: ParticleState,
    reflections: Sequence[Reflection],
    before: Sequence[Plane],
    after: Sequence[Plane],
) -> None:
    """Lets images be where and as fast as mirrors show them, and the seams stay on the planes.

    Parameters
    ----------
    before, after : the body's mirrors at the beginning and at the end of the step.
    """
    for reflection in reflections:
        _mirror(state.previous_positions, reflection, before[reflection.mirror])
        _mirror(state.positions, reflection, after[reflection.mirror])


def between(before: Sequence[Plane], after: Sequence[Plane], share: float) -> list[Plane]:
    """The mirrors a share of the way from one sample to the next."""
    return [
        Plane(a.point + (b.point - a.point) * share, a.normal + (b.normal - a.normal) * share)
        for a, b in zip(before, after, strict=True)
    ]


def _mirror(positions: Floats, reflection: Reflection, plane: Plane) -> None:
    """Writes images, and puts the seam on the plane, in positions (3, n)."""
    normal = plane.normal / np.sqrt((plane.normal**2).sum())
    for particles, written, times in (
        (reflection.seam, reflection.seam, 1.0),
        (reflection.sources, reflection.images, 2.0),
    ):
        places = positions[:, particles]
        heights = np.einsum("x,xk->k", normal, places - plane.point[:, None])
        positions[:, written] = places - times * normal[:, None] * heights


def _doubled(mesh: MeshData, mirror: Mirror, reflection: Reflection) -> MeshData:
    """A mesh with its image in one mirror, joined along the seam; mirrors stay those they are."""
    image = np.arange(len(mesh.positions))
    image[reflection.sources] = reflection.images
    edges = image[mesh.edges]
    starts, corners = _image_faces(mesh, image)
    positions = np.concatenate([mesh.positions, mesh.positions[reflection.sources]])
    _mirror(positions.T, reflection, mirror.plane)
    velocities = _image_velocities(mesh, mirror)[reflection.sources]
    return replace(
        mesh,
        positions=positions,
        edges=np.concatenate([mesh.edges, edges[(edges != mesh.edges).any(axis=1)]]),
        face_starts=np.concatenate([mesh.face_starts, mesh.face_starts[-1] + starts]),
        face_vertices=np.concatenate([mesh.face_vertices, corners]),
        pin_weights=np.concatenate([mesh.pin_weights, mesh.pin_weights[reflection.sources]]),
        velocities=np.concatenate([mesh.velocities, velocities]),
    )


def _image_faces(mesh: MeshData, image: Integers) -> tuple[Integers, Integers]:
    """Ends and corners, turned round, of the images of all faces but those within the plane."""
    faces = np.split(mesh.face_vertices, mesh.face_starts[1:-1])
    mirrored = [image[face][::-1] for face in faces if (image[face] != face).any()]
    ends = np.cumsum([len(face) for face in mirrored], dtype=np.int64)
    return ends, np.concatenate([np.empty(0, np.int64), *mirrored])


def _image_velocities(mesh: MeshData, mirror: Mirror) -> Floats:
    """(n, 3) of x − 2 n (n · (x − p)), where the plane's point p and normal n move too [m/s]."""
    normal, turning = mirror.plane.normal, mirror.normal_velocity
    offsets = mesh.positions - mirror.plane.point
    climb = offsets @ turning + (mesh.velocities - mirror.point_velocity) @ normal
    heights = offsets @ normal
    return np.asarray(
        mesh.velocities - 2.0 * (climb[:, None] * normal + heights[:, None] * turning)
    )
