"""Rigid pieces of a body, their poses during a step, and its mesh without their interior."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse, sum_by, sum_products, sum_rows
from ..geometry.faces import among_triangles
from ..geometry.graph import edge_keys, find_components
from ..geometry.rest_shape import RestShape, remeshed
from ..linear.rotations import ROTATION_DIGITS, cross_matrices, portable_rotations

PINNED_MASS_FACTOR = 1e6
"""Mass of a pinned particle as a multiple of that of its piece, so large that it counts as
fixed."""
JOINT_RINGS = 4
"""Edges up to this many edges away from a piece are projected together with it."""


@dataclass(frozen=True, eq=False)
class Joints:
    """Inextensible edges on and near pieces, which are solved as one system."""

    pairs: Integers
    """(2, e) particles at the ends of edges."""
    slots: Integers
    """(2, e) index of each end in `Pieces.particles`; −1 = on no piece."""
    rest_lengths: Floats
    """(e,) [m]."""
    tension_only: Booleans
    """(e,) bool, edges that resist tension, but not compression."""
    free: Integers
    """(f,) particles at ends of edges that are on no piece."""
    bodies: Integers
    """(e, 2) body at each end: a piece from 0 to s − 1, or s + index in `free`."""
    mobilities: Floats
    """(s + f,) inverse masses of pieces and of free particles [1/kg]."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The s rigid pieces of a body of n particles: k particles on pieces, at least two on each."""

    particles: Integers
    """(k,) particle numbers, sorted by piece."""
    labels: Integers
    """(k,) piece number of each, from 0."""
    masses: Floats
    """(k,) masses; pinned particles have PINNED_MASS_FACTOR times that of their piece [kg]."""
    totals: Floats
    """(s,) masses of the pieces [kg]."""
    arms: Floats
    """(3, k) lever arms from the piece's centre of mass, at rest [m]."""
    effective_inverse_masses: Floats
    """(k,) largest inverse effective mass, over all directions, of a piece at a particle [1/kg]."""
    mobilities: Floats
    """(n,) inverse masses of all particles for constraints [1/kg]. On pieces these are effective
    inverse masses × the number of particles with edges, so that the sum of all corrections moves a
    piece no farther than each alone would."""
    constraint_masses: Floats
    """(k,) 1 / mobilities, to turn constraint corrections into momentum; 0 if pinned [kg]."""
    starts: Integers
    """(s + 1,) index of each piece's first particle in `particles`, and k."""
    joints: Joints

    @property
    def count(self) -> int:
        """Number s of pieces."""
        return len(self.totals)

    @property
    def joins_all_particles(self) -> bool:
        """True if every particle is on a piece or at an edge of `joints`."""
        near = np.concatenate([self.particles, self.joints.pairs.ravel()])
        return len(np.unique(near)) == len(self.mobilities)


@dataclass(eq=False)
class PiecePoses:
    """Positions, rotations and momenta of s pieces with k particles; kernels write to arrays."""

    pieces: Pieces
    start_rotations: Floats
    """(s, 3, 3) rotations from rest to the start of the step."""
    rotations: Floats
    """(s, 3, 3) present rotations from rest."""
    arms: Floats
    """(3, k) lever arms from the centre of mass at the start of the step [m]."""
    second_moments: Floats
    """(s, 3, 3) Σ m a aᵀ at the start of the step [kg m²]."""
    centres: Floats
    """(3, s) present centres of mass [m]."""
    angular_momenta: Floats
    """(3, s) Σ m a × (x − x₀) in this step, h L [kg m²]."""
    particle_positions: Floats
    """(3, k) positions of particles on the pieces [m]."""
    linearizations: Integers = field(default_factory=lambda: np.zeros(2, dtype=np.int64))
    """(2,) numbers of linearizations of joints in this step, and since the last frame."""


def build_pieces(shape: RestShape) -> Pieces | None:
    """The connected pieces of the rigid vertex group; None if there are none."""
    labels = find_pieces(shape)
    particles = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    if not len(particles):
        return None
    labels = labels[particles]
    count = int(labels[-1]) + 1
    own = shape.masses[particles]
    weight = sum_by(labels, own, count)
    masses = np.where(shape.pinned[particles], PINNED_MASS_FACTOR * weight[labels], own)
    places = shape.mesh.positions.T.take(particles, axis=1)
    totals, arms, effective = _weigh(labels, masses, places, count)
    without_interior = without_rigid_interior(shape)
    worked_on = np.isin(particles, without_interior.mesh.edges)
    counts = np.maximum(np.bincount(labels, worked_on, count), 1.0)[labels]
    mobilities = shape.inverse_masses.copy()
    mobilities[particles] = np.where(shape.pinned[particles], 0.0, effective * counts)
    return Pieces(
        particles=particles,
        labels=labels,
        masses=masses,
        totals=totals,
        arms=arms,
        effective_inverse_masses=effective,
        mobilities=mobilities,
        constraint_masses=inverse(mobilities[particles], mobilities[particles]),
        starts=np.searchsorted(labels, np.arange(count + 1)),
        joints=_joints(without_interior, particles, find_pieces(shape), totals),
    )


def heavier_pieces(pieces: Pieces, inverse_masses: Floats, added: Floats) -> Pieces:
    """The pieces of a body after some of its particles became heavier.

    Parameters
    ----------
    inverse_masses, added : (n,) of all particles: inverse masses [1/kg] and added masses [kg]; 0
        and infinite = as if pinned.
    """
    labels, particles, joints = pieces.labels, pieces.particles, pieces.joints
    most = PINNED_MASS_FACTOR * pieces.totals[labels]
    masses = pieces.masses + np.minimum(added[particles], most)
    totals, arms, effective = _weigh(labels, masses, pieces.arms, pieces.count)
    counts = pieces.mobilities[particles] / pieces.effective_inverse_masses
    mobilities = np.where(added > 0.0, inverse_masses, pieces.mobilities)
    mobilities[particles] = effective * counts
    return replace(
        pieces,
        masses=masses,
        totals=totals,
        arms=arms,
        effective_inverse_masses=effective,
        mobilities=mobilities,
        constraint_masses=inverse(mobilities[particles], mobilities[particles]),
        joints=replace(
            joints, mobilities=np.concatenate([1.0 / totals, inverse_masses[joints.free]])
        ),
    )


def _joints(
    without_interior: RestShape, particles: Integers, labels: Integers, totals: Floats
) -> Joints:
    """The inextensible edges near pieces, of a body without rigid interior.

    Parameters
    ----------
    particles : (k,) particles on pieces.
    labels : (n,) piece number of each particle; −1 = none.
    totals : (s,) masses of pieces [kg].
    """
    edges, near = without_interior.mesh.edges, labels >= 0
    for _ in range(JOINT_RINGS):
        near[edges[near[edges].any(axis=1)]] = True
    a, b = labels[edges].T
    chosen = near[edges].all(axis=1) & ((a != b) | (a < 0))
    if without_interior.settings.stretch_compliance > 0.0:
        chosen[:] = False
    slots = np.full(without_interior.particle_count, -1)
    slots[particles] = np.arange(len(particles))
    pairs = np.ascontiguousarray(edges[chosen].T)
    tension_only = among_triangles(
        edges[chosen], without_interior.corners, without_interior.particle_count
    )
    free = np.unique(pairs[labels[pairs] < 0])
    bodies = np.where(
        labels < 0, len(totals) + np.searchsorted(free, np.arange(len(labels))), labels
    )
    mobilities = np.concatenate([1.0 / totals, without_interior.inverse_masses[free]])
    ends = np.ascontiguousarray(bodies[pairs.T])
    return Joints(
        pairs, slots[pairs], without_interior.lengths[chosen], tension_only, free, ends, mobilities
    )


def find_pieces(shape: RestShape) -> Integers:
    """(n,) piece number of each particle, from 0; −1 = none."""
    stiff, n = shape.rigid, shape.particle_count
    inside = shape.mesh.edges[stiff[shape.mesh.edges].all(axis=1)]
    labels = find_components(n, inside)
    connected = stiff & (np.bincount(labels)[labels] > 1)
    pieces = np.full(n, -1)
    pieces[connected] = np.unique(labels[connected], return_inverse=True)[1].reshape(-1)
    return pieces


def without_rigid_interior(shape: RestShape) -> RestShape:
    """The body without edges and faces inside of pieces, except the faces at a piece's boundary.

    Those stay, because the deformable surface beside them bends and shears against them.
    """
    labels = find_pieces(shape)
    if (labels < 0).all():
        return shape
    mesh, edges, n = shape.mesh, shape.mesh.edges, shape.particle_count
    outer = labels < 0
    outer[edges[labels[edges[:, 0]] != labels[edges[:, 1]]]] = True
    faces = np.zeros(len(shape.areas), dtype=bool)
    faces[shape.corners.face[outer[shape.corners.vertex]]] = True
    corners = faces[shape.corners.face]
    kept = (labels[edges[:, 0]] != labels[edges[:, 1]]) | (labels[edges[:, 0]] < 0)
    sides = edge_keys((mesh.face_vertices[corners], shape.corners.following[corners]), n)
    kept |= np.isin(edge_keys(edges.T, n), sides)
    threads = None if mesh.threads is None else mesh.threads[corners]
    return remeshed(
        replace(shape, mesh=replace(mesh, threads=threads)),
        kept,
        np.diff(mesh.face_starts)[faces],
        mesh.face_vertices[corners],
        shape.areas[faces],
    )


def _weigh(
    labels: Integers, masses: Floats, places: Floats, count: int
) -> tuple[Floats, Floats, Floats]:
    """Masses (s,) of pieces, lever arms (3, k) of places, and (k,) effective inverse masses there.

    These are the largest eigenvalues of 1/M + [r]ᵀ I⁻¹ [r] for lever arms r [1/kg].
    """
    totals = sum_by(labels, masses, count)
    arms = places - (sum_rows(labels, places * masses, count) / totals)[:, labels]
    second = sum_products(labels, arms * masses, arms, len(totals))
    inertia = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    inverse = np.linalg.pinv(inertia, rcond=1e-9, hermitian=True)[labels]
    cross = cross_matrices(arms.T)
    turning = np.einsum("kji,kjl,klm->kim", cross, inverse, cross)
    # Rounding of eigenvalues depends on the processor.
    shares, powers = np.frexp(1.0 / totals[labels] + np.linalg.eigvalsh(turning)[:, -1])
    return totals, arms, np.ldexp(np.round(shares, ROTATION_DIGITS), powers)


def fit_poses(pieces: Pieces, positions: Floats) -> PiecePoses:
    """Poses whose rotations fit particles at positions (3, n) best; centres are not set yet."""
    weighted = positions[:, pieces.particles] * pieces.masses
    rotations = portable_rotations(sum_products(pieces.labels, weighted, pieces.arms, pieces.count))
    return PiecePoses(
        pieces=pieces,
        start_rotations=rotations,
        rotations=rotations.copy(),
        arms=pieces.arms.copy(),
        second_moments=np.zeros_like(rotations),
        centres=np.zeros((3, pieces.count)),
        angular_momenta=np.zeros((3, pieces.count)),
        particle_positions=positions.take(pieces.particles, axis=1),
    )
