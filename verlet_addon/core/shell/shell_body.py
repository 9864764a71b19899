"""Elastic energy of a shell: bending and stretch of a curved surface as springs of one system.

A curved surface hardly bends without stretching. Alternate projection of bends and lengths
converges slowly there, and the shell appears too soft. So all energies are minimized as one sum.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, concatenated
from ..bending.constraints import BendConstraints
from ..bending.stencil_batches import Springs
from ..bending.stiff_bends import hinge_springs, straight_bends
from ..geometry.faces import edge_areas, face_diagonals
from ..geometry.rest_shape import RestShape, painted_shares

MEMBERS = 4
"""Particles of each spring; those with fewer repeat one with coefficient 0."""
MIN_HEIGHT_SHARE = 1e-3
"""Smallest ratio of height to base of a triangle, and sine between a quad's midlines: a bound
against degenerate faces, which have no springs. Half and twice as much give the same bakes."""


@dataclass(frozen=True, eq=False)
class ShellAngles:
    """Energies ½ (cos φ − rest)²/compliance of angles φ between two vectors Σ coefficient · x."""

    members: Integers
    """(a, 4) particles."""
    first: Floats
    """(a, 4) coefficients of the first vector."""
    second: Floats
    """(a, 4) coefficients of the second vector."""
    rests: Floats
    """(a,) cos φ at rest."""
    compliances: Floats
    """(a,) [1/J]; 0 = rigid."""


MAX_SHELL_PARTICLES = 12_000
"""Maximum number of particles of a shell, to bound the memory: its matrix then takes some 400 MB,
and seconds to factorize."""
EARTH_GRAVITY = 9.81
"""Physical constant: gravity of the Earth, which `_droop` assumes [m/s²]."""


@dataclass(frozen=True, eq=False)
class Shell:
    """The springs of a surface of n particles that is curved at rest."""

    bends: Springs
    """Hinges with a rest angle, followed by bends that are straight at rest."""
    hinges: int
    """Number of hinges with a rest angle."""
    lengths: Springs
    """Stretch of edges, and of faces along two axes."""
    angles: ShellAngles
    """Shear of quads and triangles."""
    positions: Floats
    """(3, n) positions at rest [m]."""
    components: Integers
    """(n,) connected component of each particle, from 0."""


def build_shell(shape: RestShape, bends: BendConstraints) -> Shell | None:
    """The springs of a body after `merge_triangle_pairs`; None where it is treated as cloth.

    These are surfaces without rest angles, soft ones, large ones (MAX_SHELL_PARTICLES),
    and those with ropes attached, as ropes are projected together with the surface they hang on.
    Constant strain triangles that stay unmerged are too stiff in in-plane bending.
    """
    curved = bends.hinges
    if not len(curved.members) or shape.loose.any() or shape.particle_count > MAX_SHELL_PARTICLES:
        return None
    if _droop(shape) > 30.0:  # a shirt: thousands; a cap of denim: 25; a paper cup: less than 1
        return None
    straight = straight_bends(bends.strips, bends.straight)
    across, slanted = _quad_springs(shape)
    axes, upright = _triangle_springs(shape)
    return Shell(
        bends=concatenated(hinge_springs(curved), straight),
        hinges=len(curved.members),
        lengths=concatenated(_edge_springs(shape), _diagonal_springs(shape), across, axes),
        angles=concatenated(slanted, upright),
        positions=np.ascontiguousarray(shape.mesh.positions.T),
        components=shape.components,
    )


def _droop(shape: RestShape) -> float:
    """Tip deflection / length of a flat cantilever of the body's length L, ρ g L³ / 8 B."""
    arms = shape.mesh.positions - shape.mesh.positions.mean(axis=0)
    length = np.sqrt(12.0 * (arms * arms).sum(axis=1).mean())  # of a rod with the same variance
    density = shape.masses.sum() / shape.areas.sum()
    return float(density * EARTH_GRAVITY * length**3 * shape.settings.bend_compliance / 8.0)


def _pair_springs(pairs: Integers, lengths: Floats, compliances: Floats) -> Springs:
    """Springs along pairs (m, 2) with rest lengths (m,): |g| is length / rest length."""
    return Springs(
        members=np.concatenate([pairs, pairs], axis=1),
        coefficients=np.outer(1.0 / lengths, [-1.0, 1.0, 0.0, 0.0]),
        rests=np.ones(len(pairs)),
        compliances=compliances,
    )


def _edge_springs(shape: RestShape) -> Springs:
    """Stretch of edges, for half the area of each n-gon beside them, or a sixth of each quad."""
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
    """(f, 4) vertices of faces with 4 corners, or 3, the first repeated; (f,) areas [m²]."""
    chosen = _corner_counts(shape) == corners
    face_corners = shape.mesh.face_starts[:-1][chosen, None] + np.arange(MEMBERS) % corners
    return shape.mesh.face_vertices[face_corners], shape.areas[chosen]


def _diagonal_springs(shape: RestShape) -> Springs:
    """Springs along diagonals of n-gons with more than four corners, with the shear compliance."""
    across, face = face_diagonals(shape.corners)
    lengths = shape.rest_distances(across)
    chosen = (_corner_counts(shape)[face] > MEMBERS) & (lengths > 0.0) & (shape.areas[face] > 0.0)
    compliance = shape.settings.shear_compliance * painted_shares(shape.mesh.paint.shear, across)
    areas = np.where(chosen, shape.areas[face], 1.0)
    return _pair_springs(across[chosen], lengths[chosen], (compliance / areas)[chosen])


def _quad_springs(shape: RestShape) -> tuple[Springs, ShellAngles]:
    """Stretch of quads along both midlines, for two thirds of the area, and their angle as shear.

    A midline joins the midpoints of opposite edges. With a sixth of the area for either edge beside
    it, this is Simpson's rule; with edges alone, in-plane bending of a quad would be three times
    too stiff. The angle has the shear modulus 1 / 2 c of two diagonals of shear compliance c, but
    resists no stretch.
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
    middles = Springs(
        np.concatenate([members, members]),
        np.concatenate([side / size[:, None] for side, size in zip(weights, shrunk, strict=True)]),
        np.ones(2 * len(members)),
        np.tile(1.5 * stretch / areas, 2),
    )
    first, second = (np.tile(side, (len(members), 1)) for side in weights)
    return middles, ShellAngles(
        members, first, second, cosines, shear / (areas * (1.0 - cosines**2))
    )


def _triangle_springs(shape: RestShape) -> tuple[Springs, ShellAngles]:
    """Constant strain triangles: stretch along two orthogonal axes, and their angle as shear.

    The first axis is along a side at the widest angle. With g₁, g₂ the deformation gradient along
    the axes, the energy per area is (|g₁| − 1)²/2c + (|g₂| − 1)²/2c for the compliance c, plus that
    of the angle as for quads.
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
    axes = Springs(
        np.concatenate([four, four]),
        np.concatenate([first, second]),
        np.ones(2 * len(members)),
        np.tile(stretch / areas, 2),
    )
    return axes, ShellAngles(four, first, second, none, 2.0 * shear / areas)


def _from_widest(members: Integers, shape: RestShape) -> Integers:
    """(f, 3) corners of triangles, rotated so that the one with the widest angle is first."""
    opposite = np.stack(
        [shape.rest_distances(members[:, [(k + 1) % 3, (k + 2) % 3]]) for k in range(3)]
    )
    widest = (opposite * (1.0 + 1e-6 * np.array([[2.0], [1.0], [0.0]]))).argmax(axis=0)
    return np.asarray(np.take_along_axis(members, (widest[:, None] + np.arange(3)) % 3, axis=1))
