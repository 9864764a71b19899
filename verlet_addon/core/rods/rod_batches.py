"""Rods prepared for steps of one length, as their kernels take them."""

from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..bending.bend_damping import retardation_time
from ..kernel import Struct
from ..settings import BodySettings
from .first_mode import TWIST_SHARE
from .rod_trees import Rods, find_levels

SHEAR_SHARE = 1e3
"""Shear stiffness of a segment over the bending stiffness of its joints: so stiff that a segment
turns away from its rotation by a thousandth of the bend at its ends. A tenth and ten times as much
move elastica and helix by less than 0.1 mm."""
RIGID_SHARE = 1e2
"""Largest bending stiffness × h² of a joint, as a share of the moment of inertia of its rod: rigid
ropes bend by a hundredth of a step's angular acceleration."""
AXIAL_SHARE = 0.01
"""Largest stiffness of a segment against stretching, over that of its link, which it adds to. Where
it is far less than the shear stiffness, soft rods lie elsewhere at few substeps, by a millimetre
per 200 at 5, because lengths are projected after bends."""
LINK_SHARE = 1e2
"""Largest shear stiffness of a segment over that of its link, for stiff rods of soft links, which
no material has; with far more, rounding moves particles."""
LIMIT_SHARE = 1e3
"""Stiffness of angle limits and, with them, against shear, over the moment of inertia of the rod: a
limit gives way by a thousandth of a step's angular acceleration."""
LIMITED_TWIST = 1e-3
"""Least twisting stiffness with angle limits, over the moment of inertia of the rod: the moments of
limits are so large that rounding would twist limp rods."""
NO_LIMIT = 2.0
"""Chord of half a turn, the largest one."""
NODE_REALS = 188
"""Size: numbers of memory in C for a node of each of two trees."""
SPIN_SHARE = 1e-9
"""Rounding: stiffness of a segment without a joint against turning about its own line, over its
shear stiffness. Without it, nothing holds the twist of a rod with one pin or none."""


@dataclass(frozen=True, eq=False)
class RodBatch:
    """Rods prepared for steps of one length h; moments and stiffnesses are × h²."""

    particles: Integers
    parents: Integers
    references: Integers
    clamped: Booleans
    inverse_masses: Floats
    """(m,) of the nodes; 0 = pinned [1/kg]."""
    lengths: Floats
    """(m,) [m]"""
    bends: Floats
    """(m,) bending stiffness of the joint at the start of each segment; 0 without joint [kg m²]."""
    twists: Floats
    """(m,) twisting stiffness of the same joint [kg m²]."""
    shears: Floats
    """(m,) stiffness of segments against turning away from their rotation [kg m²]."""
    axials: Floats
    """(m,) stiffness against stretching: the same, or little beside that of soft links [kg m²]."""
    limits: Floats
    """(m,) largest chord |u − v| = 2 sin(φ/2) between the directions u, v of a segment, by the
    rotations of its parent and of its own; 2 = none."""
    limit_stiffnesses: Floats
    """(m,) stiffness against larger ones [kg m²]."""
    retardations: Floats
    """(m,) τ/h for a damping of bends and twists with the time constant τ, at least ½."""
    rotations: Floats
    """(m, 4) rotations of segments from their rest pose, as unit quaternions w, x, y, z: the state
    of the rods, which steps change."""

    @cached_property
    def levels(self) -> list[Integers]:
        """Nodes by their distance from the root, in segments."""
        return find_levels(self.parents)

    @cached_property
    def starts(self) -> Integers:
        """(t,) the first node of each tree, its root."""
        return np.flatnonzero(self.parents < 0)

    @cached_property
    def ends(self) -> Integers:
        """(t,) one more than the last node of each tree."""
        return np.append(self.starts[1:], len(self.parents))

    @cached_property
    def twins(self) -> Booleans:
        """(t,) bool, trees of the same shape as the next one, both without angle limits."""
        nodes = np.arange(len(self.parents))
        up = np.where(self.parents < 0, -1, nodes - self.parents)
        held = self.inverse_masses > 0.0, self.clamped, self.bends > 0.0, self.limits < NO_LIMIT
        shape = np.stack([up, *held], axis=1)
        found = np.zeros(len(self.ends), dtype=np.bool_)
        for tree, (start, middle, end) in enumerate(
            zip(self.starts[:-1], self.ends[:-1], self.ends[1:], strict=True)
        ):
            own, other = shape[start:middle], shape[middle:end]
            found[tree] = np.array_equal(own, other) and not own[:, -1].any()
        return found

    @cached_property
    def labels(self) -> Integers:
        """(m,) number of the tree of each node."""
        return np.cumsum(self.parents < 0) - 1


def _scratch_size(rods: RodBatch) -> int:
    """Numbers of memory that two trees at a time need in C."""
    return NODE_REALS * int(np.diff(rods.ends, prepend=0).max())


Struct(
    "rod_batch",
    RodBatch,
    reads="particles parents references clamped inverse_masses lengths"
    " bends twists shears axials limits limit_stiffnesses retardations ends twins",
    shares="rotations",
    count=(int, lambda rods: len(rods.parents)),
    trees=(int, lambda rods: len(rods.ends)),
    reals=(int, _scratch_size),
    scratch={"work": _scratch_size},
)


def rod_batch(
    rods: Rods | None,
    settings: BodySettings,
    inverse_masses: Floats,
    h_squared: float,
    dt: float,
    rotations: Floats | None,
) -> RodBatch | None:
    """The rods for steps of `dt` [s] and inverse masses (n,); rotations (m, 4) are shared."""
    if rods is None or rotations is None:
        return None
    own = inverse_masses[rods.particles]
    twist = settings.twist_ratio if rods.first_mode is None else TWIST_SHARE
    inertias = _inertias(rods, own)
    bends = np.minimum(rods.stiffnesses * h_squared, RIGID_SHARE * inertias)
    shears = bends.copy()
    jointed = np.flatnonzero(bends)
    np.maximum.at(shears, rods.parents[jointed], bends[jointed])
    limited = (bends > 0.0) & (rods.angle_limits < pi)
    shears = np.maximum(SHEAR_SHARE * shears, LIMIT_SHARE * inertias * limited.any())
    links = h_squared * rods.link_stiffnesses * rods.lengths**2
    shears = np.minimum(shears, LINK_SHARE * links)
    return RodBatch(
        particles=rods.particles,
        parents=rods.parents,
        references=rods.references,
        # Springs of infinite stiffness hold particles as pins do.
        clamped=(rods.parents >= 0) & (own == 0.0) & (own[rods.parents] == 0.0),
        inverse_masses=own,
        lengths=rods.lengths,
        bends=bends,
        twists=np.maximum(twist * bends, LIMITED_TWIST * inertias * limited.any()),
        shears=shears,
        axials=np.minimum(shears, AXIAL_SHARE * links),
        limits=np.where(limited, 2.0 * np.sin(rods.angle_limits / 2.0), NO_LIMIT),
        limit_stiffnesses=LIMIT_SHARE * (inertias + bends),
        retardations=np.maximum(_time_constants(rods, settings) / dt, 0.5),
        rotations=rotations,
    )


def _time_constants(rods: Rods, settings: BodySettings) -> Floats:
    """(m,) time constants of the damping of joints [s]."""
    if rods.first_mode is not None:
        return rods.first_mode.time_constants(settings.damping)
    return np.full(len(rods.parents), retardation_time(settings.inner_damping))


def _inertias(rods: Rods, inverse_masses: Floats) -> Floats:
    """(m,) mass times squared length of each node's tree, of what is free of it [kg m²]."""
    masses = np.divide(
        1.0, inverse_masses, out=np.zeros(len(inverse_masses)), where=inverse_masses > 0
    )
    lengths = np.where(rods.parents < 0, 0.0, rods.lengths)
    total, extent = (np.bincount(rods.labels, each) for each in (masses, lengths))
    return np.asarray((total * extent**2)[rods.labels])
