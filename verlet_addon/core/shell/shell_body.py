"""What keeps a stiff curved surface in shape: all of it as springs of one elastic system.

A curved surface hardly bends without stretching as well. Bends and lengths that are relaxed in turn
undo each other's work, and together give way. Here they are energies of one sum.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, concatenated
from ..bending.constraints import BendConstraints
from ..bending.stiff_bends import straight_bends
from ..geometry.faces import edge_areas, face_diagonals
from ..geometry.rest_shape import RestShape, painted_shares

MEMBERS = 4
"""Particles of each spring; where there are fewer, one is named again and counts 0."""
MIN_HEIGHT_SHARE = 1e-3
"""Faces whose height or sine is less than this share are no faces."""


@dataclass(frozen=True, eq=False)
class ShellSprings:
    """Energies ½ (|g| − rest)²/compliance of vectors g = Σ coefficient · x."""

    members: Integers
    """(s, 4)"""
    coefficients: Floats
    """(s, 4) each row sums to 0 [1/m]."""
    rests: Floats
    """(s,) signed by the side of the normal for hinges."""
    compliances: Floats
    """(s,) [1/J]; 0 = rigid."""


@dataclass(frozen=True, eq=False)
class ShellAngles:
    """Energies ½ (cos φ − rest)²/compliance of the angle between two vectors Σ coefficient · x."""

    members: Integers
    """(a, 4)"""
    first: Floats
    """(a, 4) coefficients of one vector [1/m]…"""
    second: Floats
    """(a, 4) …and of the other."""
    rests: Floats
    """(a,) cos φ"""
    compliances: Floats
    """(a,) [1/J]"""


MAX_DROOP = 30.0
"""Flat and held at one end, what is no shell would droop by so many times its length, by the
formula for small droops: a shirt by thousands, a cap of denim by 25, a paper cup by less than 1."""
MAX_SHELL_PARTICLES = 12_000
"""Particles of the largest shell: its matrix takes some 400 MB then, and seconds to factorize."""
EARTH_GRAVITY = 9.81
"""[m/s²]"""


@dataclass(frozen=True, eq=False)
class Shell:
    """The springs of a surface that is curved at rest."""

    bends: ShellSprings
    """Hinges with a rest angle, and then what is straight at rest."""
    hinges: int
    """How many of them have a rest angle."""
    lengths: ShellSprings
    angles: ShellAngles
    positions: Floats
    """(3, n) at rest [m]."""
    components: Integers
    """(n,) label of each connected part, from 0."""


def build_shell(shape: RestShape, bends: BendConstraints) -> Shell | None:
    """The springs of a body after `merge_triangle_pairs`; None if it has no rest angle.

    Nor where it is floppy, where ropes hang on it, which are relaxed with what they hang on, or
    where it is too large. Triangles of constant strain are too firm when bent within their plane.
    """
    curved = bends.hinges
    if not len(curved.members) or shape.loose.any() or shape.particle_count > MAX_SHELL_PARTICLES:
        return None
    if _droop(shape) > MAX_DROOP:
        return None
    straight = straight_bends(bends.strips, bends.straight)
    across, slanted = _quad_springs(shape)
    axes, upright = _triangle_springs(shape)
    hinges = ShellSprings(curved.members, curved.coefficients, curved.rests, curved.compliances)
    none = np.zeros(len(straight.members))
    flat = ShellSprings(straight.members, straight.coefficients, none, straight.compliances)
    return Shell(
        bends=concatenated(hinges, flat),
        hinges=len(curved.members),
        lengths=concatenated(_edge_springs(shape), _diagonal_springs(shape), across, axes),
        angles=concatenated(slanted, upright),
        positions=np.ascontiguousarray(shape.mesh.positions.T),
        components=shape.components,
    )


def _droop(shape: RestShape) -> float:
    """ρ g L³ / 8 B of a strip as long as the body, as a share of L."""
    arms = shape.mesh.positions - shape.mesh.positions.mean(axis=0)
    length = np.sqrt(12.0 * (arms * arms).sum(axis=1).mean())  # a rod's, whose arms are such
    density = shape.masses.sum() / shape.areas.sum()
    return float(density * EARTH_GRAVITY * length**3 * shape.settings.bend_compliance / 8.0)


def _pair_springs(pairs: Integers, lengths: Floats, compliances: Floats) -> ShellSprings:
    """Springs along pairs (m, 2): |g| is how many times as long as at rest they are."""
    return ShellSprings(
        members=np.concatenate([pairs, pairs], axis=1),
        coefficients=np.outer(1.0 / lengths, [-1.0, 1.0, 0.0, 0.0]),
        rests=np.ones(len(pairs)),
        compliances=compliances,
    )


def _edge_springs(shape: RestShape) -> ShellSprings:
    """Edges of faces of more than three corners, for half the area of each; of quads, a sixth."""
    edges, sizes = shape.mesh.edges, _corner_counts(shape)
    counted = shape.areas * np.where(sizes > MEMBERS, 1.0, np.where(sizes == MEMBERS, 1 / 3, 0.0))
    areas = edge_areas(edges, shape.corners, counted, shape.particle_count)
    chosen = (areas > 0.0) & (shape.lengths > 0.0)
    compliance = shape.settings.stretch_compliance * painted_shares(shape.mesh.paint.stretch, edges)
    return _pair_springs(
        edges[chosen], shape.lengths[chosen], (compliance / np.where(chosen, areas, 1.0))[chosen]
    )


def _corner_counts(shape: RestShape) -> Integers:
    """(f,) corners of each face."""
    return np.asarray(np.diff(shape.mesh.face_starts))


def _face_members(shape: RestShape, corners: int) -> tuple[Integers, Floats]:
    """(f, 4) corners of the faces that have so many, the first once more for three; their areas."""
    chosen = _corner_counts(shape) == corners
    face_corners = shape.mesh.face_starts[:-1][chosen, None] + np.arange(MEMBERS) % corners
    return shape.mesh.face_vertices[face_corners], shape.areas[chosen]


def _diagonal_springs(shape: RestShape) -> ShellSprings:
    """Diagonals of faces of more than four corners, as firm as shear."""
    across, face = face_diagonals(shape.corners)
    lengths = shape.rest_distances(across)
    chosen = (_corner_counts(shape)[face] > MEMBERS) & (lengths > 0.0) & (shape.areas[face] > 0.0)
    compliance = shape.settings.shear_compliance * painted_shares(shape.mesh.paint.shear, across)
    areas = np.where(chosen, shape.areas[face], 1.0)
    return _pair_springs(across[chosen], lengths[chosen], (compliance / areas)[chosen])


def _quad_springs(shape: RestShape) -> tuple[ShellSprings, ShellAngles]:
    """The lines that join the middles of opposite edges, for two thirds of the area; their angle.

    With a sixth for either edge beside it, that is Simpson's rule: edges alone would make a quad
    that is bent within its plane three times too firm. The angle is as firm as both diagonals are:
    these, of compliance c, have the shear modulus 1 / 2 c; the angle alone resists no stretch.
    """
    members, areas = _face_members(shape, MEMBERS)
    weights = np.array([[-0.5, 0.5, 0.5, -0.5], [-0.5, -0.5, 0.5, 0.5]])
    points = shape.mesh.positions[members]
    lines = [(points * side[:, None]).sum(axis=1) for side in weights]
    lengths = [np.linalg.norm(line, axis=1) for line in lines]
    cosines = (lines[0] * lines[1]).sum(axis=1)
    product = lengths[0] * lengths[1]
    sound: Booleans = (areas > MIN_HEIGHT_SHARE * product) & (product > 0.0)
    members, areas = members[sound], areas[sound]
    cosines = cosines[sound] / product[sound]
    body, paint = shape.settings, shape.mesh.paint
    stretch = body.stretch_compliance * painted_shares(paint.stretch, members)
    shear = 2.0 * body.shear_compliance * painted_shares(paint.shear, members)
    shrunk = [length[sound] * shape.shrinkage(members) for length in lengths]
    middles = ShellSprings(
        np.concatenate([members, members]),
        np.concatenate([side / size[:, None] for side, size in zip(weights, shrunk, strict=True)]),
        np.ones(2 * len(members)),
        np.tile(1.5 * stretch / areas, 2),
    )
    first, second = (np.tile(side, (len(members), 1)) for side in weights)
    return middles, ShellAngles(
        members, first, second, cosines, shear / (areas * (1.0 - cosines**2))
    )


def _triangle_springs(shape: RestShape) -> tuple[ShellSprings, ShellAngles]:
    """Constant strain: two axes square to each other, along the side next to the widest angle.

    With g = Σ coefficient · x for the gradients along both, the energy for each area is
    (|g₁| − 1)²/2c + (|g₂| − 1)²/2c for the compliance c, and that of the angle, as for quads.
    """
    members, areas = _face_members(shape, 3)
    members = _from_widest(members[:, :3], shape)
    a, b, c = (shape.rest_distances(members[:, [k, (k + 1) % 3]]) for k in range(3))
    along = (a**2 + c**2 - b**2) / (2.0 * np.maximum(a, NONZERO))
    height = np.sqrt(np.maximum(c**2 - along**2, 0.0))
    sound: Booleans = (height > MIN_HEIGHT_SHARE * a) & (areas > 0.0)
    a, along, height, areas = a[sound], along[sound], height[sound], areas[sound]
    members = members[sound]
    none, share = np.zeros(len(members)), along / a
    first = np.stack([-1.0 / a, 1.0 / a, none, none], axis=1)
    second = np.stack([share - 1.0, -share, none + 1.0, none], axis=1) / height[:, None]
    body, paint = shape.settings, shape.mesh.paint
    stretch = body.stretch_compliance * painted_shares(paint.stretch, members)
    shear = body.shear_compliance * painted_shares(paint.shear, members)
    four = members[:, [0, 1, 2, 0]]
    axes = ShellSprings(
        np.concatenate([four, four]),
        np.concatenate([first, second]),
        np.ones(2 * len(members)),
        np.tile(stretch / areas, 2),
    )
    return axes, ShellAngles(four, first, second, none, 2.0 * shear / areas)


def _from_widest(members: Integers, shape: RestShape) -> Integers:
    """(f, 3) the corners of triangles, that of the widest angle first."""
    opposite = np.stack(
        [shape.rest_distances(members[:, [(k + 1) % 3, (k + 2) % 3]]) for k in range(3)]
    )
    widest = (opposite * (1.0 + 1e-6 * np.array([[2.0], [1.0], [0.0]]))).argmax(axis=0)
    return np.asarray(np.take_along_axis(members, (widest[:, None] + np.arange(3)) % 3, axis=1))
