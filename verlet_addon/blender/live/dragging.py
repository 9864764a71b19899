"""Springs on a body in a grab: on vertices around the mouse, and on pinned vertices."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...core.arrays import Booleans, Floats, Integers
from ...core.geometry.graph import find_components
from ...core.mesh import MeshData
from ...core.model import SoftBodyModel, SolidModel
from ...core.scene import GoalSprings

RATE = 40.0
"""Angular frequency of the springs by which a body follows the mouse, critically damped; it is
behind by 2 / RATE, and hangs 9.81 / RATE² = 6 mm below [rad/s]."""
JOINT_RATE = 6.0
"""Least angular frequency of these springs over that of soft bones: the tip of a chain of 300 mm
that is pulled 215 mm aside stays 6 mm behind; 11 with half, and 4 with 10, which oscillates."""
STRONGEST = 500.0
"""Greatest acceleration of the whole body by these springs [m/s²]."""


@dataclass(eq=False)
class Drag:
    """The vertices of one body that are dragged or pinned."""

    mesh: MeshData
    comb: bool = False
    """Whether all that is within the radius is dragged, as by a comb, connected or not."""
    parts: "Parts | None" = None
    """The components of the body, once one of its vertices is held."""
    vertex: int = -1
    """The dragged vertex; −1 = none."""
    vertices: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    """(g,) vertices around it."""
    weights: Floats = field(default_factory=lambda: np.empty(0))
    """(g,) shares of the force, of sum 1."""
    offsets: Floats = field(default_factory=lambda: np.empty((0, 3)))
    """(g, 3) offsets of these from the dragged vertex when the drag began [m]."""
    target: Floats = field(default_factory=lambda: np.zeros(3))
    """(3,) target of the dragged vertex [m]."""
    pins: dict[int, Floats] = field(default_factory=dict)
    """Pinned vertices, each with its target position [m]."""

    @property
    def mass(self) -> float:
        """Mass of the dragged parts of the body [kg]."""
        return 0.0 if self.parts is None else self.parts.mass(self.vertices)

    @cached_property
    def rate(self) -> float:
        """Angular frequency of the springs that drag the body [rad/s]."""
        if (joints := self.mesh.joints) is None:
            return RATE
        frequencies = joints.frequencies[np.isfinite(joints.frequencies)]
        return max(RATE, JOINT_RATE * 2.0 * np.pi * float(frequencies.max(initial=0.0)))

    def hold(self, vertex: int, radius: float, positions: Floats) -> None:
        """Starts to drag a vertex and its neighbourhood, at positions (n, 3) [m]."""
        self.vertex, self.target = vertex, positions[vertex].copy()
        self.reach(radius, positions)

    def reach(self, radius: float, positions: Floats) -> None:
        """Sets the dragged vertices: those within a radius along the mesh at rest [m]."""
        if self.comb:
            distances = np.linalg.norm(positions - positions[self.vertex], axis=1)
            inside = (distances < radius) & (self.mesh.pin_weights < 1.0)
            inside[self.vertex] = True
            near = np.flatnonzero(inside)
        else:
            rest = self.mesh.at_rest
            distances = np.linalg.norm(rest - rest[self.vertex], axis=1)
            near = np.flatnonzero(_joined(self.mesh.edges, distances < radius, self.vertex))
        weights = (
            (1.0 - (distances[near] / max(radius, 1e-9)) ** 2) ** 2 if len(near) > 1 else np.ones(1)
        )
        self.vertices, self.weights = near, weights / weights.sum()
        self.offsets = positions[near] - positions[self.vertex]

    def let_go(self) -> None:
        """Ends the drag; pins remain."""
        self.vertex, self.vertices, self.weights = -1, self.vertices[:0], self.weights[:0]

    def toggle_pin(self, vertex: int, positions: Floats) -> bool:
        """Pins a vertex at its position, or unpins it; returns whether it is pinned now."""
        if self.pins.pop(vertex, None) is None:
            self.pins[vertex] = positions[vertex].copy()
        return vertex in self.pins


def goal_springs(drag: Drag, positions: Floats) -> GoalSprings | None:
    """Goal springs of the drag and the pins, for positions (n, 3) [m]; None without any."""
    dragged = ~np.isin(drag.vertices, list(drag.pins))
    vertices = drag.vertices[dragged]
    targets = drag.target + drag.offsets[dragged] if len(vertices) else np.empty((0, 3))
    ways = targets - positions[vertices]
    rate = drag.rate
    far = STRONGEST / rate**2 / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-12)
    stiffnesses = drag.mass * rate**2 * drag.weights[dragged]
    pins = np.array(list(drag.pins), np.int64)
    if not len(vertices) + len(pins):
        return None
    return GoalSprings(
        vertices=np.append(vertices, pins),
        targets=np.concatenate(
            [
                positions[vertices] + ways * np.minimum(far, 1.0),
                *(p[None] for p in drag.pins.values()),
            ]
        ),
        stiffnesses=np.append(stiffnesses, np.full(len(pins), np.inf)),
        dampings=np.append(2.0 * stiffnesses / rate, np.zeros(len(pins))),
    )


@dataclass(frozen=True, eq=False)
class Parts:
    """The connected components of a body, and the mass of each that can move."""

    labels: Integers
    """(n,) number of the component of each vertex."""
    masses: Floats
    """(c,) mass of each component, with that of rigid pieces [kg]."""

    def mass(self, vertices: Integers) -> float:
        """Mass of the components of some vertices [kg]."""
        return float(self.masses[np.unique(self.labels[vertices])].sum())


def parts_of(model: SoftBodyModel, edges: Integers) -> Parts:
    """The components of a body; a solid is one."""
    if isinstance(model, SolidModel):
        return Parts(np.zeros(model.vertex_count, np.int64), np.array([model.solid.masses.sum()]))
    labels, inverse = find_components(model.vertex_count, edges), model.inverse_masses
    own, further = inverse[: len(labels)], inverse[len(labels) :]
    movable = own > 0.0
    masses = np.bincount(labels[movable], 1.0 / own[movable], minlength=labels.max() + 1)
    return Parts(labels, masses + (1.0 / further[further > 0.0]).sum())


def _joined(edges: Integers, near: Booleans, vertex: int) -> Booleans:
    """(n,) bool, the vertices among `near` (n,) that are connected to `vertex` within it."""
    near = near.copy()
    near[vertex] = True
    labels = find_components(len(near), edges[near[edges].all(axis=1)])
    return np.asarray(near & (labels == labels[vertex]))
