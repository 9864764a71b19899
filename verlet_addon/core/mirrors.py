"""Bodies of which the mesh is one half, and a mirror shows the other.

They are simulated whole, for what pulls at the seam, presses from within or hangs on it is the
other half. After every step both are set to the mean of what either did, whatever order constraints
were solved in; so the seam never leaves the plane, and no momentum is made.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from .arrays import Floats, Integers, dot
from .errors import MeshError
from .mesh import SHORTEST_EDGE, MeshData, Mirror, Paint
from .scene import Plane
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

    Raises
    ------
    MeshError
        A mirror takes both ends of an edge across it onto its plane.
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
            _check_lengths(mesh)
    return mesh, reflections


def complete_positions(
    positions: Floats, reflections: Sequence[Reflection], planes: Sequence[Plane]
) -> Floats:
    """(n', 3) places of the whole mesh's vertices for those (n, 3) of its own."""
    for reflection in reflections:
        positions = _with_images(positions, reflection, planes[reflection.mirror])
    return positions


def complete_weights(weights: Floats, reflections: Sequence[Reflection]) -> Floats:
    """(n',) weights of the whole mesh's vertices for those (n,) of its own."""
    for reflection in reflections:
        weights = np.concatenate([weights, weights[reflection.sources]])
    return weights


def keep_symmetric(
    state: ParticleState,
    reflections: Sequence[Reflection],
    before: Sequence[Plane],
    after: Sequence[Plane],
) -> None:
    """Makes positions, and those a step before, mirror images of each other again.

    Parameters
    ----------
    before, after : the body's mirrors at the beginning and at the end of the step.
    """
    for positions, planes in ((state.previous_positions, before), (state.positions, after)):
        for reflection in reversed(reflections):
            sources = positions[:, reflection.sources]
            images = _mirrored(positions[:, reflection.images], planes[reflection.mirror])
            positions[:, reflection.sources] = (sources + images) / 2
        # Forwards again, for the image in one mirror is a source of the next.
        for reflection in reflections:
            _write_images(positions, reflection, planes[reflection.mirror])


def interpolate_mirrors(
    before: Sequence[Plane], after: Sequence[Plane], share: float
) -> list[Plane]:
    """The mirrors a share of the way from one sample to the next."""
    return [a.towards(b, share) for a, b in zip(before, after, strict=True)]


def _with_images(positions: Floats, reflection: Reflection, plane: Plane) -> Floats:
    """(n', 3) positions (n, 3), the seam set onto the plane, and their images after them."""
    whole: Floats = np.concatenate([positions, positions[reflection.sources]])
    _write_images(whole.T, reflection, plane)
    return whole


def _write_images(positions: Floats, reflection: Reflection, plane: Plane) -> None:
    """Sets the images to where their sources show, and the seam onto the plane, in (3, n)."""
    positions[:, reflection.images] = _mirrored(positions[:, reflection.sources], plane)
    seam = positions[:, reflection.seam]
    positions[:, reflection.seam] = (seam + _mirrored(seam, plane)) / 2


def _mirrored(positions: Floats, plane: Plane) -> Floats:
    """(3, k) where a mirror shows positions (3, k)."""
    normal = plane.normal[:, None] / np.sqrt((plane.normal**2).sum())
    heights = (normal * (positions - plane.point[:, None])).sum(axis=0)
    return np.asarray(positions - 2.0 * normal * heights)


def _doubled(mesh: MeshData, mirror: Mirror, reflection: Reflection) -> MeshData:
    """A mesh with its image in one mirror, joined along the seam; mirrors stay those they are."""
    image = np.arange(len(mesh.positions))
    image[reflection.sources] = reflection.images
    edges = image[mesh.edges]
    starts, places = _image_faces(mesh, image)
    threads = mesh.threads
    velocities = _image_velocities(mesh, mirror)[reflection.sources]
    return replace(
        mesh,
        positions=_with_images(mesh.positions, reflection, mirror.plane),
        edges=np.concatenate([mesh.edges, edges[(edges != mesh.edges).any(axis=1)]]),
        face_starts=np.concatenate([mesh.face_starts, mesh.face_starts[-1] + starts]),
        face_vertices=np.concatenate([mesh.face_vertices, image[mesh.face_vertices[places]]]),
        pin_weights=np.concatenate([mesh.pin_weights, mesh.pin_weights[reflection.sources]]),
        velocities=np.concatenate([mesh.velocities, velocities]),
        rest_positions=None
        if mesh.rest_positions is None
        else _with_images(mesh.rest_positions, reflection, mirror.plane),
        paint=_mirrored_paint(mesh.paint, reflection),
        threads=None if threads is None else np.concatenate([threads, threads[places]]),
    )


def _mirrored_paint(paint: Paint, reflection: Reflection) -> Paint:
    """What is painted, with its image."""
    layers = {each.name: getattr(paint, each.name) for each in fields(paint)}
    return Paint(
        **{
            name: None if weights is None else complete_weights(weights, [reflection])
            for name, weights in layers.items()
        }
    )


def _check_lengths(mesh: MeshData) -> None:
    """Raises MeshError where joining the halves has left nothing of an edge."""
    spans = mesh.positions[mesh.edges[:, 1]] - mesh.positions[mesh.edges[:, 0]]
    if (np.linalg.norm(spans, axis=1) < SHORTEST_EDGE).any():
        raise MeshError(
            f"'{mesh.name}' has edges shorter than the distance at which its Mirror merges; "
            "lower that distance"
        )


def _image_faces(mesh: MeshData, image: Integers) -> tuple[Integers, Integers]:
    """Ends of the images of all faces but those within the plane, and the corners they are of."""
    moved = image[mesh.face_vertices] != mesh.face_vertices
    faces = np.split(np.arange(len(moved)), mesh.face_starts[1:-1])
    mirrored = [face[::-1] for face in faces if moved[face].any()]
    ends = np.cumsum([len(face) for face in mirrored], dtype=np.int64)
    return ends, np.concatenate([np.empty(0, np.int64), *mirrored])


def _image_velocities(mesh: MeshData, mirror: Mirror) -> Floats:
    """(n, 3) of x − 2 n (n · (x − p)), where the plane's point p and normal n move too [m/s]."""
    normal, turning = mirror.plane.normal, mirror.normal_velocity
    offsets = mesh.positions - mirror.plane.point
    climb = dot(turning, offsets.T) + dot(normal, (mesh.velocities - mirror.point_velocity).T)
    heights = dot(normal, offsets.T)
    return np.asarray(
        mesh.velocities - 2.0 * (climb[:, None] * normal + heights[:, None] * turning)
    )
