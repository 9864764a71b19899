"""A solid body: lattice, masses, stiffness and surface points, and its state between steps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import NONZERO, Floats, Integers, sum_by, weighted_sums
from ..errors import MeshError
from ..geometry.graph import edge_keys, find_components, label_free
from ..geometry.rest_shape import FIRM_PIN, RestShape, without_edges
from .grid import Grid, grid_around, symmetric_eigenvectors
from .kernels import Corotation
from .lattice import (
    Embedding,
    Lattice,
    build_lattice,
    embed,
    node_stiffnesses,
    with_painted_stiffness,
)
from .surface_points import SurfacePoints, build_surface_points

WAVE_TIME_SHARE = 0.5
"""`Solid.wave_time` as a share of the time that a wave of speed √(E/ρ) takes through the body."""
SWAY = 0.3
"""Angular frequency at which a cube that stands sways, times its wave time. There Kelvin–Voigt
damping has the loss factor of the material."""
CONTACT_MODULUS_FACTOR = 10.0
"""Modulus of contact springs, which are one cell long, as a multiple of Young's modulus. With
half as much a cube that leans on another does not come to rest; with twice as much a ball that
lands on a corner leaves it."""
MAX_SLENDERNESS = 1000.0
"""Limit of inputs: largest ratio of length to width; beyond, a second of simulation would take a
minute."""
MIN_FOLLOWING_SHARE = 0.05
"""Lower bound of `node_contact_areas` as a share of the points' mean area, so that nodes which
carry hardly any point are moved little. With half nothing moves by 0.001 mm; with twice, cloth in
jelly by 0.02 mm."""
MIN_ENCLOSED_SHARE = 1e-3
"""Smallest enclosed volume, as a share of that of a ball with the same surface area."""


NEWMARK = 0.25
"""Newmark's β in short steps: the average of accelerations, the only one that conserves energy."""


@dataclass(frozen=True, eq=False)
class Solid:
    """Constant properties of a solid of m nodes and p surface points, which are its particles."""

    lattice: Lattice
    points: Floats
    """(3, p) surface points at rest, the vertices first [m]."""
    surface: SurfacePoints
    """Areas of the points, and triangles between them."""
    embedding: Embedding
    """Nodes and weights from which points are interpolated."""
    masses: Floats
    """(m,) masses of the nodes [kg]."""
    free_components: Integers
    """(m,) connected component of each node, from 0; −1 = a component with firm pins."""
    modulus: float
    """Young's modulus [Pa]."""
    node_stiffnesses: Floats
    """(m,) diagonal of the stiffness matrix, mean of the three directions [N/m]."""
    wave_time: float
    """Time that a wave takes through half of the body; longer steps resolve no vibrations [s]."""
    retardation_time: float
    """Retardation time τ of Kelvin–Voigt damping: stress = E (strain + τ × strain rate) [s]."""
    contact_stiffnesses: Floats
    """(p,) stiffness of each point's contact spring [N/m]."""
    layer_masses: Floats
    """(p,) mass of the layer beneath each point, one cell deep [kg]."""
    hole_edges: int
    """Number of the mesh's edges around holes, which lids close."""

    def newmark_shares(self, dt: float) -> tuple[float, float, float]:
        """Weights of forces at the end of a step and in the step before, and retardation time [s].

        Steps longer than the wave time approach implicit Euler.
        """
        before = NEWMARK * (1.0 - min(1.0, (dt / self.wave_time) ** 2))
        return 1.0 - 3.0 * before, before, self.retardation_time

    @cached_property
    def contact_areas(self) -> Floats:
        """(p,) area of each point in contacts with other bodies; 0 = in no triangle [m²]."""
        touched = np.zeros(len(self.layer_masses))
        touched[self.surface.triangles] = 1.0
        return np.asarray(self.surface.areas * self.surface.area_factors * touched)

    def node_contact_areas(self, points: Integers | slice) -> Floats:
        """(m,) Σ |weight| × contact area over some points, with a lower bound [m²].

        Displacements of points are averaged to nodes with this as the denominator.
        """
        carried, shares = self.embedding, self.contact_areas[points]
        weights = np.abs(carried.weights[points]) * shares[:, None]
        total = sum_by(carried.nodes[points].ravel(), weights.ravel(), len(self.masses))
        return np.maximum(total, max(MIN_FOLLOWING_SHARE * shares.mean(), NONZERO))

    @cached_property
    def effective_masses(self) -> Floats:
        """(p,) effective mass of each point in contacts with other bodies [kg]."""
        following = self.masses / self.node_contact_areas(slice(None))
        shares = np.abs(self.embedding.weights) * following[self.embedding.nodes]
        return np.asarray(self.contact_areas * shares.sum(axis=1))


@dataclass(frozen=True, eq=False)
class SleepState:
    """Inputs and result of a step at rest, which are those of the next step if inputs stay."""

    inputs: Sequence[Floats]
    """Inputs of the step, see `solid_step.all_inputs`."""
    points: Floats
    """(3, p) positions of the points at the end of the step [m]."""


@dataclass(frozen=True, eq=False)
class SolidFriction:
    """Friction of k contacts between solids, kept from step to step."""

    keys: Integers
    """(k,) keys of contact rows, which identify a pair of primitives in each step."""
    deflections: Floats
    """(3, k) tangential deflection of each friction spring from its anchor [m]."""


NO_FRICTION = SolidFriction(np.empty(0, dtype=np.int64), np.empty((3, 0)))


@dataclass(eq=False)
class SolidState:
    """State of a solid between steps."""

    nodes: Floats
    """(3, m) positions of nodes [m]."""
    previous_nodes: Floats
    """(3, m) positions of nodes one step ago [m]."""
    moves: Floats
    """(3, m) displacement by stress, pins and contacts in the last step, in addition to free
    motion; the start of the next solution [m]."""
    corotations: Sequence[Corotation]
    """Rotations and volume gradients of each group of cells at the start of the last step."""
    anchors: Floats
    """(3, p) friction anchors of points in contact with the ground, else nan [m]."""
    collider_anchors: Floats
    """(3, p) friction anchors of points in contact with a collider, else nan [m]."""
    solid_friction: SolidFriction
    """Friction with other solids, of all contacts that were solved together."""
    solved_points: Floats
    """(3, p) points at the end of the last step, before constraints outside the solid [m]."""
    previous_solved_points: Floats
    """(3, p) points at the start of the last step, before such constraints [m]."""
    depenetrated: bool = False
    """True once depenetration from another body or a collider has been necessary."""
    slow_steps: int = 0
    """Number of consecutive steps with little motion, see `solid_step.SLOW_SHARE`."""
    solutions: int = 0
    """Number of solutions for stress since the last frame."""
    unstressed: bool = False
    """True if stress was negligible when it was computed last."""
    sleep_state: SleepState | None = None
    """Set if the last step was at rest."""


def build_solid(shape: RestShape) -> Solid:
    """The solid that a surface encloses, with lids over its holes.

    Raises
    ------
    MeshError
        If the surface has edges without faces or inner walls, encloses nothing, or is too slender.
    """
    check_closed(shape)
    positions, settings = shape.mesh.positions, shape.settings
    grid = grid_around(positions, shape.triangles, settings.resolution)
    check_slender(shape.mesh.name, grid)
    size = float(grid.sizes.max())
    surface = build_surface_points(positions, shape.triangles, size)
    points, areas = surface.interpolate(positions), surface.areas
    lattice = build_lattice(grid, positions, shape.triangles, points)
    check_hollow(shape, lattice)
    if shape.mesh.paint.stiffness is not None:
        lattice = with_painted_stiffness(
            lattice, embed(lattice, positions), shape.mesh.paint.stiffness
        )
    embedding = embed(lattice, points)
    density = shape.masses.sum() / lattice.volumes.sum()
    # Softly pinned components count as free: stiff ones need rigid modes to converge.
    held = embedding.nodes[np.flatnonzero(shape.mesh.pin_weights >= FIRM_PIN)]
    length = lattice.volumes.sum() ** (1 / 3)
    wave_time = WAVE_TIME_SHARE * length * float(np.sqrt(density / settings.stiffness))
    return Solid(
        lattice=lattice,
        points=points.T.copy(),
        surface=surface,
        embedding=embedding,
        masses=density * lattice.volumes,
        free_components=label_free(find_lattice_components(lattice), held),
        modulus=settings.stiffness,
        node_stiffnesses=settings.stiffness * node_stiffnesses(lattice),
        wave_time=wave_time,
        retardation_time=settings.inner_damping / SWAY * wave_time,
        contact_stiffnesses=CONTACT_MODULUS_FACTOR * settings.stiffness * areas / size,
        layer_masses=density * areas * size,
        hole_edges=np.count_nonzero(faces_at_edges(shape) == 1),
    )


def start_solid(solid: Solid, nodes: Floats, displacements: Floats) -> SolidState:
    """The state at nodes (3, m) that moved by displacements (3, m) in the step before [m]."""
    points, turn = solid.points.shape, _quaternion(solid.lattice.grid.axes)
    return SolidState(
        nodes=nodes,
        previous_nodes=nodes - displacements,
        moves=np.zeros_like(nodes),
        corotations=uniform_rotations(solid.lattice, turn),
        anchors=np.full(points, np.nan),
        collider_anchors=np.full(points, np.nan),
        solid_friction=NO_FRICTION,
        solved_points=np.zeros(points),
        previous_solved_points=np.zeros(points),
    )


def uniform_rotations(lattice: Lattice, turn: Floats) -> list[Corotation]:
    """Corotations of all cells of a lattice, with one quaternion (4,)."""
    return [
        Corotation(
            np.tile(turn, (len(cells.nodes), 1)),
            np.zeros((len(cells.nodes), 3, 3)),
            np.zeros((*cells.nodes.shape, 3)),
        )
        for cells in lattice.groups
    ]


def rest_nodes(lattice: Lattice) -> Floats:
    """(3, m) rest positions of nodes in world space [m]."""
    grid = lattice.grid
    return np.ascontiguousarray(grid.to_positions(lattice.nodes.T / grid.sizes).T)


def _quaternion(rotation: Floats) -> Floats:
    """(4,) quaternion of a rotation (3, 3), from its largest component (Shepperd 1978)."""
    x, y, z = np.diag(rotation)
    squares = np.array([1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z])
    (a, b, c), (d, e, f) = (
        (rotation[2, 1], rotation[0, 2], rotation[1, 0]),
        (rotation[1, 2], rotation[2, 0], rotation[0, 1]),
    )
    rows = [
        [squares[0], a - d, b - e, c - f],
        [a - d, squares[1], c + f, b + e],
        [b - e, c + f, squares[2], a + d],
        [c - f, b + e, a + d, squares[3]],
    ]
    largest = int(squares.argmax())
    return np.asarray(np.array(rows[largest]) / (2.0 * np.sqrt(squares[largest])))


def solid_particles(shape: RestShape, solid: Solid) -> RestShape:
    """The surface points of a solid as particles without edges.

    Vertices keep the masses of the surface mesh; further points, which have no share in these, get
    their mean.
    """
    more = len(solid.surface.areas) - shape.particle_count
    mesh = replace(
        shape.mesh,
        positions=solid.points.T,
        pin_weights=np.append(shape.mesh.pin_weights, np.zeros(more)),
    )
    return replace(
        without_edges(replace(shape, mesh=mesh)),
        components=find_lattice_components(solid.lattice)[solid.embedding.nodes[:, 0]],
        pinned=np.append(shape.pinned, np.zeros(more, dtype=bool)),
        masses=np.append(shape.masses, np.full(more, shape.masses.mean())),
    )


def fit_linear(positions: Floats, values: Floats, points: Floats) -> Floats:
    """(3, k) values at points (3, k) by a linear fit of values (n, 3) at positions (n, 3)."""
    mean, centre = values.mean(axis=0), positions.mean(axis=0)
    arms, differences = positions - centre, values - mean
    moments, axes = symmetric_eigenvectors((arms[:, :, None] * arms[:, None, :]).sum(axis=0))
    extended = moments > 1e-9 * moments[2]
    weights = weighted_sums(
        arms, axes * np.where(extended, 1.0 / np.where(extended, moments, 1.0), 0.0)
    )
    rates = (differences[:, :, None] * weights[:, None, :]).sum(axis=0)
    along = weighted_sums(axes.T, points - centre[:, None])
    return np.asarray(mean[:, None] + weighted_sums(rates, along))


def faces_at_edges(shape: RestShape) -> Integers:
    """(m,) number of faces at each edge, in the order of the edges' keys."""
    keys = edge_keys(shape.mesh.edges.T, shape.particle_count)
    sides = edge_keys((shape.corners.vertex, shape.corners.following), shape.particle_count)
    return np.bincount(np.searchsorted(np.sort(keys), sides), minlength=len(keys))


def check_closed(shape: RestShape) -> None:
    """Raises MeshError if a surface has edges without faces, or with an odd number above one."""
    name, faces = shape.mesh.name, faces_at_edges(shape)
    wires = np.count_nonzero(faces == 0)
    if wires:
        raise MeshError(
            f"'{name}' has {wires} edges without faces, which enclose no volume for jelly; delete "
            "them (Select Open Edges shows where), or set its type to Cloth"
        )
    branching = np.count_nonzero((faces % 2 == 1) & (faces > 1))
    if branching:
        raise MeshError(
            f"'{name}' has {branching} edges at which three faces meet, so it has inner faces; "
            "delete them (Select Open Edges shows where), or set its type to Cloth"
        )


def check_slender(name: str, grid: Grid) -> None:
    """Raises MeshError if a body is too slender, or its parts are too far apart."""
    _, width, length = np.sort(grid.sizes * grid.counts)
    if length > MAX_SLENDERNESS * width:
        raise MeshError(
            f"'{name}' is {length:.3g} m long and {width:.3g} m wide, too slender for jelly; "
            "thicken it, separate parts that are far apart, or set its type to Cloth"
        )


def check_hollow(shape: RestShape, lattice: Lattice) -> None:
    """Raises MeshError if a surface encloses no volume."""
    area, volume = shape.areas.sum(), lattice.volume
    if not volume > MIN_ENCLOSED_SHARE * area**1.5 / (6 * np.sqrt(np.pi)):
        raise MeshError(
            f"'{shape.mesh.name}' encloses almost no volume, {volume:.3g} m³ in {area:.3g} m² of "
            "surface; give it thickness, or set its type to Cloth"
        )


def find_lattice_components(lattice: Lattice) -> Integers:
    """(m,) connected component of each node, from 0."""
    edges = [
        np.stack(np.broadcast_arrays(cells.nodes[:, :1], cells.nodes[:, 1:]), axis=2).reshape(-1, 2)
        for cells in lattice.groups
    ]
    return find_components(lattice.nodes.shape[1], np.concatenate(edges))
