"""A solid body: its lattice, what its surface feels, and how it moves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import NONZERO, Floats, Integers, sum_by, weighted_sums
from ..errors import MeshError
from ..geometry.graph import edge_keys, find_components, label_free
from ..geometry.rest_shape import FIRM_PIN, RestShape, without_edges
from .grid import Grid, grid_around, symmetric_eigenvectors
from .lattice import Embedding, Lattice, build_lattice, embed, node_stiffnesses
from .numpy_kernels import Corotation, Corotations
from .painted_stiffness import with_painted_stiffness
from .surface_points import SurfacePoints, build_surface_points

RETARDATION_SHARE = 0.5
"""Strain rates are felt for this share of the time that a pressure wave takes through the body: so
bodies of any size and stiffness stop wobbling after a few swings."""
CONTACT_MODULUS_FACTOR = 10.0
"""Points touch through a skin whose modulus is so many times the body's, as thick as a cell."""
MAX_SLENDERNESS = 1000.0
"""What is longer than so many times its width is no jelly: that would take a minute a second."""
MIN_FOLLOWING_SHARE = 0.05
"""Nodes follow what others do to points as these carry them, but those that hardly carry any by
this share of what points are followed by on average."""
MIN_ENCLOSED_SHARE = 1e-3
"""A surface encloses nothing if its volume is a smaller share of what a ball of its area has."""


@dataclass(frozen=True, eq=False)
class Solid:
    """What is constant about a solid of m nodes and p points, its particles."""

    lattice: Lattice
    points: Floats
    """(3, p) where its particles are at rest, the vertices first [m]."""
    surface: SurfacePoints
    """How these lie on the surface."""
    embedding: Embedding
    """Of its particles."""
    masses: Floats
    """(m,) of the nodes [kg]."""
    free_components: Integers
    """(m,) label of each connected piece that no firm pin holds, from 0; −1 = held."""
    modulus: float
    """Young's [Pa]."""
    node_stiffnesses: Floats
    """(m,) of the nodes to moving alone, the mean of the three directions [N/m]."""
    retardation_time: float
    """How long strain rates are felt: stress = E (strain + delay × strain rate) [s]."""
    contact_stiffnesses: Floats
    """(p,) how stiffly points touch things [N/m]."""
    layer_masses: Floats
    """(p,) mass beneath each point, as deep as a cell [kg]."""

    @cached_property
    def contact_areas(self) -> Floats:
        """(p,) by which share nodes follow each point that others move; 0 = nobody does [m²]."""
        touched = np.zeros(len(self.layer_masses))
        touched[self.surface.triangles] = 1.0
        return np.asarray(self.surface.areas * self.surface.area_factors * touched)

    def node_contact_areas(self, points: Integers | slice) -> Floats:
        """(m,) sum of these shares of some points, by which nodes follow."""
        carried, shares = self.embedding, self.contact_areas[points]
        weights = np.abs(carried.weights[points]) * shares[:, None]
        total = sum_by(carried.nodes[points].ravel(), weights.ravel(), len(self.masses))
        return np.maximum(total, max(MIN_FOLLOWING_SHARE * shares.mean(), NONZERO))

    @cached_property
    def effective_masses(self) -> Floats:
        """(p,) what of the nodes goes along with each point that others move [kg]."""
        following = self.masses / self.node_contact_areas(slice(None))
        shares = np.abs(self.embedding.weights) * following[self.embedding.nodes]
        return np.asarray(self.contact_areas * shares.sum(axis=1))


@dataclass(frozen=True, eq=False)
class SleepState:
    """What is known of a step that moved nothing."""

    inputs: Sequence[Floats]
    """All that acted on it."""
    points: Floats
    """(3, p) where the points of the solid were [m]."""


@dataclass(frozen=True, eq=False)
class SolidFriction:
    """How friction between solids holds what touches."""

    keys: Integers
    """(k,) of what they are between, the same from step to step."""
    deflections: Floats
    """(3, k) how far each has been drawn out of where it clings [m]."""


NO_FRICTION = SolidFriction(np.empty(0, dtype=np.int64), np.empty((3, 0)))


@dataclass(eq=False)
class SolidState:
    """What a step changes about a solid."""

    nodes: Floats
    """(3, m) [m]"""
    previous_nodes: Floats
    """(3, m) one step ago [m]."""
    moves: Floats
    """(3, m) what stress and contact added to free motion in the last step [m]."""
    corotations: Corotations
    """Of the lattice's groups of cells, when the step began."""
    anchors: Floats
    """(3, p) where friction holds each point that touches the ground, else nan [m]."""
    collider_anchors: Floats
    """(3, p) the same of each that touches a collider [m]."""
    solid_friction: SolidFriction
    """The same of what touches other solids, of all that are solved for together."""
    solved_points: Floats
    """(3, p) where the last step left its points, before others moved them [m]."""
    previous_solved_points: Floats
    """(3, p) the same of the step before that [m]."""
    depenetrated: bool = False
    """Whether it once had to be led out of something."""
    slow_steps: int = 0
    """For how many steps on end it has hardly moved."""
    unstressed: bool = False
    """Whether stress moved nothing in the last step in which it was looked for."""
    sleep_state: SleepState | None = None
    """Of the step before, if it moved nothing."""


def build_solid(shape: RestShape) -> Solid:
    """The solid that a closed surface encloses.

    Raises
    ------
    MeshError
        The surface is open, encloses nothing, or is a needle.
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
    # What soft pins draw moves as one, too: else it is not solved well where it is stiff.
    held = embedding.nodes[np.flatnonzero(shape.mesh.pin_weights >= FIRM_PIN)]
    length = lattice.volumes.sum() ** (1 / 3)
    return Solid(
        lattice=lattice,
        points=points.T.copy(),
        surface=surface,
        embedding=embedding,
        masses=density * lattice.volumes,
        free_components=label_free(_components(lattice), held),
        modulus=settings.stiffness,
        node_stiffnesses=settings.stiffness * node_stiffnesses(lattice),
        retardation_time=RETARDATION_SHARE * length * float(np.sqrt(density / settings.stiffness)),
        contact_stiffnesses=CONTACT_MODULUS_FACTOR * settings.stiffness * areas / size,
        layer_masses=density * areas * size,
    )


def start_solid(solid: Solid, nodes: Floats, displacements: Floats) -> SolidState:
    """Nodes (3, m) that such displacements (3, m) led to, and that stress has not moved yet [m]."""
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


def uniform_rotations(lattice: Lattice, turn: Floats) -> Corotations:
    """Cells of a lattice that are all turned by one quaternion (4,)."""
    return Corotations(
        *(
            Corotation(
                np.tile(turn, (len(cells.nodes), 1)),
                np.zeros((len(cells.nodes), 3, 3)),
                np.zeros((*cells.nodes.shape, 3)),
            )
            for cells in lattice.groups
        )
    )


def rest_nodes(lattice: Lattice) -> Floats:
    """(3, m) where the nodes are before anything moves [m]."""
    grid = lattice.grid
    return np.ascontiguousarray(grid.to_positions(lattice.nodes.T / grid.sizes).T)


def _quaternion(rotation: Floats) -> Floats:
    """(4,) of a rotation (3, 3), by the largest of its four parts (Shepperd 1978)."""
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
    """The points of a solid as particles that nothing but the solid joins.

    Its vertices share its mass as they do that of a skin; further points have no part in it.
    """
    more = len(solid.surface.areas) - shape.particle_count
    mesh = replace(
        shape.mesh,
        positions=solid.points.T,
        pin_weights=np.append(shape.mesh.pin_weights, np.zeros(more)),
    )
    return replace(
        without_edges(replace(shape, mesh=mesh)),
        components=_components(solid.lattice)[solid.embedding.nodes[:, 0]],
        pinned=np.append(shape.pinned, np.zeros(more, dtype=bool)),
        masses=np.append(shape.masses, np.full(more, shape.masses.mean())),
    )


def fit_linear(positions: Floats, values: Floats, points: Floats) -> Floats:
    """(3, k) at places (3, k): the linear function that is nearest to values (n, 3) at (n, 3)."""
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


def check_closed(shape: RestShape) -> None:
    """Raises MeshError, in one sentence, where a surface has no inside."""
    name, corners = shape.mesh.name, shape.corners
    keys = edge_keys(shape.mesh.edges.T, shape.particle_count)
    sides = edge_keys((corners.vertex, corners.following), shape.particle_count)
    faces = np.bincount(np.searchsorted(np.sort(keys), sides), minlength=len(keys))
    open_edges = np.count_nonzero(faces < 2)
    if open_edges:
        raise MeshError(
            f"'{name}' is open at {open_edges} edges, so there is no inside to be jelly; close "
            "it by Select Open Edges and Mesh ▸ Clean Up ▸ Fill Holes, or set its type to Cloth"
        )
    branching = np.count_nonzero(faces % 2)
    if branching:
        raise MeshError(
            f"'{name}' has {branching} edges at which three faces meet, so an inner wall hangs in "
            "it; delete that (Select Open Edges shows where), or set its type to Cloth"
        )


def check_slender(name: str, grid: Grid) -> None:
    """Raises MeshError, in one sentence, where a body is a needle, or its parts are far apart."""
    _, width, length = np.sort(grid.sizes * grid.counts)
    if length > MAX_SLENDERNESS * width:
        raise MeshError(
            f"'{name}' is {length:.3g} m long and {width:.3g} m wide, too slender for jelly; "
            "thicken it, separate what is far apart, or set its type to Cloth"
        )


def check_hollow(shape: RestShape, lattice: Lattice) -> None:
    """Raises MeshError, in one sentence, where a surface encloses nothing."""
    area, volume = shape.areas.sum(), lattice.volume
    if not volume > MIN_ENCLOSED_SHARE * area**1.5 / (6 * np.sqrt(np.pi)):
        raise MeshError(
            f"'{shape.mesh.name}' encloses no volume to speak of, {volume:.3g} m³ in {area:.3g} m² "
            "of surface; give it thickness, or set its type to Cloth"
        )


def _components(lattice: Lattice) -> Integers:
    """(m,) labels of the connected pieces."""
    edges = [
        np.stack(np.broadcast_arrays(cells.nodes[:, :1], cells.nodes[:, 1:]), axis=2).reshape(-1, 2)
        for cells in lattice.groups
    ]
    return find_components(lattice.nodes.shape[1], np.concatenate(edges))
