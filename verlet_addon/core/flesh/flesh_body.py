"""The flesh of a body: the lattice between skin and bone, what it follows, and its first mode."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, cross, dot, sum_rows
from ..errors import MeshError
from ..geometry.rest_shape import RestShape
from ..settings import BodySettings
from ..solid.elements import SAMPLES as ELEMENT_SAMPLES
from ..solid.kernels import CellPose, interpolate
from ..solid.lattice import (
    Embedding,
    Lattice,
    assemble_lattice,
    node_stiffnesses,
    share_corners,
    with_painted_stiffness,
)
from ..solid.solid_body import (
    CONTACT_MODULUS_FACTOR,
    NEWMARK,
    Solid,
    SolidState,
    check_closed,
    faces_at_edges,
    rest_nodes,
    solid_particles,
    start_solid,
)
from ..solid.surface_points import SurfacePoints, build_surface_points
from .embedding import FragmentedLattice, embed_points, hold_bone, samples_behind, with_bone
from .first_mode import HeldLattice, first_frequency
from .fragments import Fragments, find_fragments
from .kernels import Muscle, pose_cells
from .muscles import find_muscles
from .posing import Posing, build_posing, pose_nodes
from .region import MIN_THICKNESS, FleshRegion, find_region, fragment_weights

MAX_GRID_CELLS = 400_000
"""Limit of inputs: cells in the box around the flesh; they take 1.5 kB each while it is built."""
MIN_FLESH_SHARE = 0.1
"""Smallest share of flesh in a cell. With a fifth of it, slivers in the groin of a person who jumps
turn inside out, where the pose does; with half, all is as with this."""
BONE_MODULUS_FACTOR = 5.0
"""Modulus of the springs at the surface of bone, which are one cell long, as a multiple of Young's
modulus. With twice, hemispheres of 3 to 8 cells swing up to 4 % faster than an exact one; so, from
1 % slower to 2 % faster."""
MIN_VISCOUS_STEPS = 0.5
"""Least retardation time, in steps. Without, flesh that a cut in the animation has stretched
threefold flies apart, for there its stiffness is more than that of the linear system; with half,
cells still turn inside out."""
DAMPED_OCTAVES = 4.0
"""Ratio of frequencies over which the damping ratio is even: parts that are lighter than the
largest swing up to so many times as fast."""


@dataclass(frozen=True, eq=False)
class Flesh(Solid):
    """Constant properties of flesh. Its points are the skin's, and then b at the surface of bone.

    The nodes hold displacements from where the posed skin has them. So a point is where its pose
    is, and displaced as its embedding says; weights of points on thin flesh have a sum below 1, and
    are 0 on bone.
    """

    posing: Posing
    fragments: Fragments
    samples: Integers
    """(p, 3) the samples of the fragments that are behind the points on the skin; −1 = none."""
    muscles: Sequence[Muscle]
    """Per group of cells."""
    bone_embedding: Embedding
    """Interpolation of the b points at the surface of bone, which are held."""
    boneless_parts: int
    """Number of parts without bone, which are held in their middle."""
    depth: float
    """Greatest thickness [m]."""
    frequency: float
    """Angular frequency of the first mode [rad/s]."""

    @cached_property
    def bone(self) -> Integers:
        """(b,) numbers of the points at the surface of bone."""
        count = self.points.shape[1]
        return np.arange(count - len(self.bone_embedding.nodes), count)

    @cached_property
    def held(self) -> Booleans:
        """(p,) bool, points that are where their pose is."""
        still = ~self.embedding.weights.any(axis=1)
        still[self.bone] = True
        return np.asarray(still)

    def posed_points(self, skin: Floats, nodes: Floats) -> Floats:
        """(3, p) poses of points, given those of vertices (3, n) and nodes (3, m) [m]."""
        chosen = self.surface.corners.shape[1] - len(self.bone_embedding.nodes)
        corners, shares = self.surface.corners[:, :chosen], self.surface.shares[:, :chosen]
        further = (skin[:, corners] * shares).sum(axis=1)
        return np.concatenate([skin, further, interpolate(self.bone_embedding, nodes)], axis=1)

    def newmark_shares(self, dt: float) -> tuple[float, float, float]:
        """Weights of forces at the end of a step and in the step before, and retardation time [s].

        The weights conserve energy in steps of any length.
        """
        return NEWMARK, NEWMARK, max(self.retardation_time, MIN_VISCOUS_STEPS * dt)

    def drag_rate(self, damping_ratio: float, dt: float) -> float:
        """Rate at which velocities relative to the pose decay, beside Kelvin–Voigt damping [1/s].

        Both together damp the first mode by its ratio (Rayleigh damping).
        """
        square = self.frequency * self.frequency
        return max(0.0, 2.0 * damping_ratio * self.frequency - self.newmark_shares(dt)[2] * square)

    def turned(self, gravity: Floats, poses: Sequence[CellPose]) -> Floats:
        """(3, m) a vector (3,) as it turns with the cells around each node."""
        lattice, total = self.lattice, np.zeros((3, len(self.masses)))
        along = (lattice.grid.axes * gravity[:, None]).sum(axis=0)
        for cells, pose in zip(lattice.groups, poses, strict=True):
            weights = cells.elements.node_volumes[cells.kinds]
            vectors = np.einsum("eab,b->ae", pose.rotations, along)
            spread = (vectors[:, :, None] * weights).reshape(3, -1)
            total += sum_rows(cells.nodes.ravel(), spread, len(lattice.volumes))
        return np.asarray(total / lattice.volumes)


@dataclass(eq=False, kw_only=True)
class FleshState(SolidState):
    """State of flesh between steps; nodes are displacements from their pose."""

    pose: Floats
    """(3, m) where the posed skin has the nodes [m]."""
    pose_move: Floats
    """(3, m) its way in the last step [m]."""
    posed_points: Floats
    """(3, p) where it has the points [m]."""
    poses: Sequence[CellPose]
    """Per group of cells, rest shapes."""


def build_flesh(shape: RestShape) -> Flesh:
    """The flesh of a body by its map, `Paint.flesh`.

    Raises
    ------
    MeshError
        If the skin has edges without faces or inner walls, or no flesh anywhere.
    """
    check_closed(shape)
    settings, positions = shape.settings, shape.mesh.positions
    size, thicknesses = settings.flesh_cell, _thicknesses(shape)
    region = find_region(positions, shape.triangles, thicknesses, size)
    whole = _fragmented(shape, region)
    fleshy = np.flatnonzero(thicknesses > 0.0)
    skin = build_surface_points(positions, shape.triangles, size)
    samples = samples_behind(whole.fragments, skin, shape)
    known = whole.embed(positions[fleshy], samples[fleshy])
    lattice = _painted(whole.lattice, shape, known, fleshy)
    bone, areas, boneless_parts = hold_bone(whole, region, size)
    embedding = embed_points(whole, skin, positions, samples, thicknesses / size, bone)
    density = shape.masses.sum() / _enclosed_volume(positions, shape.triangles)
    skin, nodes = with_bone(skin, len(areas)), rest_nodes(lattice)
    flesh = Flesh(
        lattice=lattice,
        points=np.empty((3, len(skin.areas))),
        surface=skin,
        embedding=embedding,
        masses=density * lattice.volumes,
        free_components=np.full(nodes.shape[1], -1),
        modulus=settings.stiffness,
        node_stiffnesses=settings.stiffness * node_stiffnesses(lattice),
        wave_time=np.inf,
        retardation_time=0.0,
        contact_stiffnesses=settings.stiffness / size * _spring_areas(skin, areas),
        layer_masses=density * size * skin.areas,
        hole_edges=np.count_nonzero(faces_at_edges(shape) == 1),
        fragments=whole.fragments,
        samples=samples,
        posing=build_posing(whole, shape, fleshy, samples),
        muscles=find_muscles(shape, lattice, known, fleshy),
        bone_embedding=bone,
        boneless_parts=boneless_parts,
        depth=settings.flesh_depth,
        frequency=0.0,
    )
    return with_damping(_with_points(flesh, positions), settings)


def _spring_areas(surface: SurfacePoints, bone_areas: Floats) -> Floats:
    """(p,) areas of springs of flesh, one cell long, that hold points on skin and bone [m²]."""
    skin = surface.areas[: -len(bone_areas)]
    return np.append(CONTACT_MODULUS_FACTOR * skin, BONE_MODULUS_FACTOR * bone_areas)


def _painted(lattice: Lattice, shape: RestShape, known: Embedding, fleshy: Integers) -> Lattice:
    """A lattice with the stiffness that is painted at vertices with flesh."""
    weights = shape.mesh.paint.stiffness
    if weights is None:
        return lattice
    return with_painted_stiffness(lattice, known, weights[fleshy])


def _with_points(flesh: Flesh, positions: Floats) -> Flesh:
    """Flesh whose points are where a skin at rest with vertices (n, 3) has them."""
    return replace(flesh, points=flesh.posed_points(positions.T, rest_nodes(flesh.lattice)))


def _fragmented(shape: RestShape, region: FleshRegion) -> FragmentedLattice:
    """The lattice of a region, whose cells are linear and divided by gaps of the body.

    Raises
    ------
    MeshError
        If it is empty.
    """
    grid = region.grid
    fragments = find_fragments(grid, grid.to_cells(shape.mesh.positions), shape.triangles)
    fillings = fragment_weights(fragments.shares(region.shares))
    kept = fillings.sum(axis=(1, 2, 3)) > MIN_FLESH_SHARE
    if not kept.any():
        raise MeshError(_no_flesh(shape.mesh.name, shape.settings))
    corners = share_corners(grid, fragments.cells[kept], fragments.corner_labels()[kept])
    none = np.zeros(np.count_nonzero(kept), dtype=bool)
    filled = np.empty((0, ELEMENT_SAMPLES, ELEMENT_SAMPLES, ELEMENT_SAMPLES))
    lattice = assemble_lattice(grid, *corners, fillings[kept], none, filled)
    return FragmentedLattice(lattice, fragments, np.where(kept, np.cumsum(kept) - 1, -1))


def with_damping(flesh: Flesh, settings: BodySettings) -> Flesh:
    """Flesh whose first mode has the damping ratio of its settings, and faster ones about as much.

    Those up to DAMPED_OCTAVES times as fast have no more, by a share that resists strain rates and
    one that resists velocities.
    """
    springs = flesh.contact_stiffnesses[flesh.bone]
    held = HeldLattice(
        flesh.lattice,
        flesh.masses,
        flesh.node_stiffnesses,
        flesh.modulus,
        flesh.bone_embedding,
        springs,
    )
    frequency = flesh.frequency or first_frequency(held)
    return replace(
        flesh,
        frequency=frequency,
        wave_time=1.0 / frequency,
        retardation_time=2.0 * settings.flesh_damping / ((1.0 + DAMPED_OCTAVES) * frequency),
    )


def with_elasticity(flesh: Flesh, settings: BodySettings) -> Flesh:
    """Flesh with another stiffness and damping ratio; its lattice stays."""
    ratio = settings.stiffness / flesh.modulus
    stiffer = replace(
        flesh,
        modulus=settings.stiffness,
        node_stiffnesses=ratio * flesh.node_stiffnesses,
        contact_stiffnesses=ratio * flesh.contact_stiffnesses,
        frequency=float(np.sqrt(ratio)) * flesh.frequency,
    )
    return with_damping(stiffer, settings)


def start_flesh(
    flesh: Flesh, skin: Floats, velocities: Floats, settings: BodySettings, dt: float
) -> FleshState:
    """The state of flesh at its pose, by vertices (3, n) of the skin with velocities [m] [m/s]."""
    pose = pose_nodes(flesh.posing, skin)
    before = pose_nodes(flesh.posing, skin - velocities * dt)
    none = np.zeros_like(pose)
    state = start_solid(flesh, none.copy(), none)
    poses = [
        CellPose(
            turned.quaternions.copy(),
            turned.rotations.copy(),
            np.zeros((*cells.nodes.shape, 3)),
            np.ones(len(cells.nodes)),
        )
        for cells, turned in zip(flesh.lattice.groups, state.corotations, strict=True)
    ]
    set_rests(flesh, poses, pose, settings)
    for turned, own in zip(state.corotations, poses, strict=True):
        turned.quaternions[:], turned.rotations[:] = own.quaternions, own.rotations
    points = flesh.posed_points(skin, pose)
    return FleshState(
        **vars(state), pose=pose, pose_move=pose - before, posed_points=points, poses=poses
    )


def set_rests(
    flesh: Flesh, poses: Sequence[CellPose], nodes: Floats, settings: BodySettings
) -> None:
    """Sets the rest shapes of all cells by posed nodes (3, m) [m]."""
    pose_cells(
        flesh.lattice, nodes, poses, flesh.muscles, settings.keep_volume, settings.muscle_length
    )


def _thicknesses(shape: RestShape) -> Floats:
    """(n,) thickness of the flesh at vertices, 0 where it is too thin [m]."""
    weights = shape.mesh.paint.flesh
    if weights is None:
        raise MeshError(
            f"'{shape.mesh.name}' has no Flesh Group; use Paint from Bones, or choose a group"
        )
    thicknesses = shape.settings.flesh_depth * np.clip(weights, 0.0, 1.0)
    thicknesses[thicknesses < MIN_THICKNESS * shape.settings.flesh_cell] = 0.0
    if not thicknesses.any():
        raise MeshError(_no_flesh(shape.mesh.name, shape.settings))
    box = np.ptp(shape.mesh.positions[thicknesses > 0.0], axis=0) + shape.settings.flesh_depth
    cells = float(np.prod(box / shape.settings.flesh_cell))
    if cells > MAX_GRID_CELLS:
        raise MeshError(
            f"'{shape.mesh.name}' has flesh in cells of {1000 * shape.settings.flesh_cell:.3g} mm, "
            f"{cells / 1e6:.1f} million for its size and no more than "
            f"{MAX_GRID_CELLS / 1e6:.1f} million are possible; raise its Depth, "
            "or lower its Resolution"
        )
    return np.asarray(thicknesses)


def _no_flesh(name: str, settings: BodySettings) -> str:
    """The sentence for a body that is all bone."""
    return (
        f"'{name}' has no flesh: its Flesh Group is empty, or thinner everywhere than a quarter of "
        f"a cell of {1000 * settings.flesh_cell:.3g} mm; use Paint "
        "from Bones, or paint it"
    )


def _enclosed_volume(positions: Floats, triangles: Integers) -> float:
    """Volume within a closed surface [m³]."""
    a, b, c = (positions - positions.mean(axis=0))[triangles].transpose(0, 2, 1)
    return max(abs(float(dot(a, cross(b, c)).sum())) / 6.0, NONZERO)


def flesh_particles(shape: RestShape, flesh: Flesh) -> RestShape:
    """The points of flesh as particles without edges, of which those on bone are held."""
    particles, held = solid_particles(shape, flesh), flesh.held
    mesh = replace(particles.mesh, pin_weights=held.astype(np.float64))
    return replace(particles, mesh=mesh, pinned=held)
