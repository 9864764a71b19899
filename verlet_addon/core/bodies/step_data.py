"""Inputs of one step, for all bodies."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..field import Field
from ..kernel import Sized, Struct, kernel
from ..model import SoftBodyModel
from ..scene import Plane
from ..state import ParticleState
from ..target_curves import TargetCurve
from .symmetry import Reflection

NO_TARGETS = np.empty((3, 0))
"""Targets of a body without goal springs."""
NO_MIRRORS = np.empty((2, 0, 6))
"""Planes of a body without mirrors."""

Body = tuple[SoftBodyModel, ParticleState]


@dataclass(frozen=True, eq=False)
class RigidMotions:
    """Rigid motions of the p parts of a body."""

    parts: Floats
    """(p, 15) per part: its rotation less the identity, row by row, the point that this is about
    [m], and where that comes to [m]."""
    labels: Integers | None = None
    """(n,) number of the part of each point, −1 = at rest; None where all are of one."""

    def apply(self, rows: Floats) -> Floats:
        """Points (3, n) after these motions [m]."""
        return moved_rigidly(rows, self.parts, self.labels)


@kernel(result=lambda rows, *_: np.empty(rows.shape))
def moved_rigidly(rows: Sized, parts: Floats, labels: Integers | None) -> Floats:
    """Points (3, n) after rigid motions of parts (p, 15), as `RigidMotions` holds them [m]."""
    if labels is None:
        return _moved(rows, parts[0])
    moved = rows.copy()
    for number, part in enumerate(parts):
        moved[:, labels == number] = _moved(rows[:, labels == number], part)
    return moved


def _moved(rows: Floats, part: Floats) -> Floats:
    """Points (3, n) after one motion (15,)."""
    turn, centre, end = part[:9].reshape(3, 3), part[9:12], part[12:]
    arms = rows - centre[:, None]
    turned = [each[0] * arms[0] + each[1] * arms[1] + each[2] * arms[2] for each in turn]
    return np.asarray(arms + np.stack(turned) + end[:, None])


@dataclass(frozen=True, eq=False)
class ReferenceMotion:
    """The share of the motion of a body's reference frame that its inertia leaves out."""

    steps: Floats
    """(s, p, 15) motions of its parts in each step, as `RigidMotions` holds them."""
    labels: Integers | None
    """(n,) as in `RigidMotions`."""

    def at(self, step: int) -> RigidMotions:
        """The motions in a step, given its number from 0."""
        return RigidMotions(self.steps[step], self.labels)


Struct(
    "reference_motion",
    ReferenceMotion,
    reads="steps labels",
    parts=(int, lambda motion: motion.steps.shape[1]),
)


@dataclass(frozen=True, eq=False)
class Way:
    """What leads one body through the steps from one sample to the next."""

    targets: TargetCurve
    """Of its animated mesh, with mirror images."""
    pull: TargetCurve | None
    """Of accelerations besides gravity [m/s²]."""
    fields: tuple[Sequence[Field], Sequence[Field]]
    """Force fields at both samples."""
    springs: tuple[Floats, Floats]
    """(3, g) targets of goal springs at both samples [m]."""
    motion: ReferenceMotion | None
    """That of its reference frame."""
    pressures: tuple[float, float]
    """Of its gas at its rest volume, at both samples [Pa]."""
    reflections: Sequence[Reflection]
    """In its mirrors."""
    mirrors: Floats
    """(2, m, 6) a point and the normal of each mirror, at both samples."""

    def planes(self, share: float) -> Floats:
        """(m, 6) its mirrors at a share of the way."""
        start, end = self.mirrors
        return np.asarray(start + (end - start) * share)


@dataclass(frozen=True, eq=False)
class StepInputs:
    """External inputs of one step, for all bodies."""

    dt: float
    """Length of the step [s], above 0."""
    gravity: Floats
    """(3,) acceleration [m/s²]."""
    targets: Sequence[Floats]
    """Per body (3, n): targets of pins at the end of the step [m]."""
    fields: Sequence[Sequence[Field]]
    """Per body, the force fields at the start of the step."""
    ground: Plane | None
    """The ground at the end of the step."""
    ground_shift: Floats
    """(3,) displacement of the ground during the step [m]."""
    collider_starts: Sequence[Floats] = ()
    """Per collider (v, 3): vertex positions at the start of the step [m]."""
    pressures: Sequence[float] = ()
    """Per body, the pressure of its gas at its rest volume [Pa]; empty if it is constant."""
    collider_ends: Sequence[Floats] = ()
    """Per collider (v, 3): vertex positions at the end of the step [m]."""
    reference_motions: Sequence[RigidMotions | None] = ()
    """Per body, the share of the motion of its reference frame that its inertia leaves out; empty
    if no body leaves any out."""
    pulls: Sequence[Floats | None] = ()
    """Per body (3, n), accelerations besides gravity in the step; empty if there are none
    [m/s²]."""
    vertex_positions: Sequence[Floats] = ()
    """(3, v) of each body at the start of the step, then of each collider at its end [m]."""
    spring_targets: Sequence[Floats] = ()
    """Per body (3, g): where goal springs draw vertices to at the end of the step [m]."""

    def reference_motion(self, number: int) -> RigidMotions | None:
        """Motion of the reference frame of a body, given its number."""
        return self.reference_motions[number] if self.reference_motions else None

    def pull(self, number: int) -> Floats | None:
        """Accelerations of a body besides gravity, given its number."""
        return self.pulls[number] if self.pulls else None
