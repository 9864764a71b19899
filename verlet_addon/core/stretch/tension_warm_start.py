"""Warm start of crossing strips with the tension of the step before, solved implicitly."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, longest_run, norms, run_ends, sum_by
from ..kernel import Struct, kernel
from ..linear.conjugate_gradients import iterate_conjugate_gradients, iterate_until
from ..linear.tridiagonal import Factors, factorize, solve
from ..team.parts import PARTICLE_PART, part_count
from .strip_paths import Strips

SEARCH_DIRECTIONS = 2
"""Number of search directions for a displacement. It is fixed: a stopping criterion on the residual
would depend on rounding, and results would differ in bits. With 1 a skirt is stretched twice as
much and a dress takes a third longer; 3 brings no gain."""


@dataclass(frozen=True, eq=False)
class StripSystem:
    """Strips as one path of k entries, a gap after each."""

    multipliers: Floats
    """(k − 1,) multipliers read and written; the batches hold views of them."""
    path: Integers
    """(k,)"""
    labels: Integers
    """(k,) strip number of each entry."""
    warm_started: Booleans
    """(k − 1,) bool, links that keep their tension and have an end that can move."""
    both_free: Booleans
    """(k − 1,) whether both ends of a link can move."""
    max_inverse_masses: Floats
    """(k − 1,) the larger inverse mass of each link's ends [1/kg]."""
    masses: Floats
    """(n,) [kg]; 1 for pinned particles."""
    pinned: Integers
    """(p,) particles that cannot move."""
    displacement: Floats
    """(3, n) displacement by the tension in the step before, the first search direction; changed by
    the kernel [m]."""
    gas_forces: Floats
    """(3, n) h² times the forces of gas, which tension balances [kg m]."""
    starts: Integers
    """(colours + 1,) start of each colour in the path; strips of one colour share no particle."""

    @cached_property
    def keeps_tension(self) -> bool:
        """Whether any link keeps its tension."""
        return bool(self.warm_started.any())

    @cached_property
    def reduction_rounds(self) -> int:
        """Rounds of cyclic reduction needed to decouple all entries."""
        return longest_run(run_ends(self.labels)).bit_length()

    @cached_property
    def vectors(self) -> Floats:
        """(3, k − 1) workspace of NumPy: vectors along the path [m].

        Kept between steps, because allocating arrays this large in every step is slow.
        """
        return np.empty((3, max(len(self.path) - 1, 0)))


def make_strip_system(
    parts: Sequence[Strips], multipliers: Floats, inverse_masses: Floats, warm_started: Booleans
) -> StripSystem:
    """Combines strips for inverse masses (n,), with (n,) bool `warm_started` particles."""
    path = np.concatenate([strips.path for strips in parts])
    linked = np.concatenate([strips.linked for strips in parts])[:-1]
    tails, heads = path[:-1], path[1:]
    max_inverse_masses = np.maximum(inverse_masses[tails], inverse_masses[heads])
    free = inverse_masses > 0.0
    before = np.cumsum([0, *(len(strips.path) for strips in parts)])
    starts = [strips.starts[:-1] + start for strips, start in zip(parts, before[:-1], strict=True)]
    return StripSystem(
        starts=np.concatenate([*starts, before[-1:]]).astype(np.int64),
        multipliers=multipliers[:-1],
        path=path,
        labels=np.cumsum(np.append(False, ~linked))[: len(path)],
        warm_started=linked
        & (max_inverse_masses > 0.0)
        & warm_started[tails]
        & warm_started[heads],
        both_free=free[tails] & free[heads],
        max_inverse_masses=max_inverse_masses,
        masses=1.0 / np.where(free, inverse_masses, 1.0),
        pinned=np.flatnonzero(~free),
        displacement=np.zeros((3, len(inverse_masses))),
        gas_forces=np.zeros((3, len(inverse_masses))),
    )


TAUT_KEPT_SHARE = 0.85
"""Least share of its tension that a taut link starts from, because it carries the load below it.
With 0.95 dresses take a fifth less, but undamped triangles on two corners gain energy in tiny
steps."""
MAX_LINK_TAUTNESS = 1e6
"""Rounding: upper limit on the stiffness h² T/(l m) of a link, for beside strongly compressed links
masses would be lost to it. Real meshes stretch alike from 1e4 to 1e8."""
STIFF_LINK_SHARE = 0.05
"""Links less taut than this share of `min_tautness` act by their force alone, without stiffness: if
all had stiffness, hung sheets and skirts would take a twelfth longer."""


def _is_free(system: StripSystem) -> Booleans:
    """(n,) bool, particles that can move."""
    free = np.ones(len(system.masses), dtype=np.bool_)
    free[system.pinned] = False
    return free


def _scratch_size(system: StripSystem) -> int:
    """Numbers of scratch memory for a strip."""
    return 3 * longest_run(run_ends(system.labels))


Struct(
    "strip_system",
    StripSystem,
    reads="keeps_tension path warm_started both_free max_inverse_masses masses pinned starts",
    shares="displacement gas_forces multipliers",
    particles=(int, lambda system: len(system.masses)),
    entries=(int, lambda system: len(system.path)),
    paths=(int, lambda system: len(run_ends(system.labels)) if len(system.path) else 0),
    ends=(Integers, lambda system: run_ends(system.labels)),
    pins=(int, lambda system: len(system.pinned)),
    colors=(int, lambda system: len(system.starts) - 1),
    free=(Booleans, _is_free),
    reals=(int, _scratch_size),
    stiff=(Integers, lambda system: np.zeros(len(system.path), dtype=np.int64)),
    is_taut=(Booleans, lambda system: np.zeros(len(system.path), dtype=np.bool_)),
    scratch={
        "force_densities factor inverse": lambda system: len(system.path),
        "right": _scratch_size,
        "sums": lambda system: (part_count(len(system.masses), PARTICLE_PART), 6),
        "diagonal shares": lambda system: len(system.masses),
        "residual direction preconditioned image solution": lambda system: (len(system.masses), 3),
    },
)


@kernel()
def warm_start_tension(
    positions: Floats,
    strip_system: StripSystem,
    *,
    kept_share: float,
    min_tautness: float,
    rounds: int = SEARCH_DIRECTIONS,
) -> None:
    """Starts a step from the share `kept_share` of the previous tension, in the new directions.

    (m/h² + T/l between neighbours) δ = T/l (neighbours − x), T the tension, gives the displacement
    δ. It is implicit because a light strip under a heavy load turns further in a step than Newton's
    method can follow. Sweeps then only find the change of tension. Crossing strips couple the
    system; it is solved by conjugate gradients, preconditioned by direct solves of the tautest
    strips.

    Parameters
    ----------
    positions : (3, n), moved in place.
    strip_system : the strips; their multipliers are read, and set to the tension that acts now.
    kept_share : share of the previous tension that slack links start from; taut ones start from at
        least TAUT_KEPT_SHARE of it, and links at `min_tautness` from the mean of both.
    min_tautness : strips with a link of more than this h² T/(l m) are solved directly.
    rounds : search directions: the previous displacement, then directions of conjugate gradients.
    """
    if not len(strip_system.path):
        return
    if not strip_system.keeps_tension and not strip_system.gas_forces.any():
        strip_system.multipliers.fill(0.0)
        strip_system.displacement.fill(0.0)
        return
    lengths = _measure_links(positions, strip_system)
    force_densities = _previous_force_densities(strip_system, lengths, kept_share, min_tautness)
    if force_densities.any() or strip_system.gas_forces.any():
        system = _assemble_system(strip_system, force_densities, min_tautness)
        positions += _conjugate_gradients(
            strip_system, system, _force(strip_system, force_densities), rounds
        )
        lengths = _measure_links(positions, strip_system)
    else:
        strip_system.displacement.fill(0.0)
    np.multiply(force_densities, -lengths, out=strip_system.multipliers)


def _measure_links(positions: Floats, strip_system: StripSystem) -> Floats:
    """(k − 1,) distances along the path; stores the vectors in the strip system."""
    for row, along in zip(positions, strip_system.vectors, strict=True):
        points = row.take(strip_system.path, mode="clip")
        np.subtract(points[1:], points[:-1], out=along)
    return norms(strip_system.vectors)


def _previous_force_densities(
    strip_system: StripSystem, lengths: Floats, kept_share: float, min_tautness: float
) -> Floats:
    """(k − 1,) T/l · h² of every link, 0 in gaps."""
    force_densities = np.maximum(-strip_system.multipliers, 0.0)
    force_densities *= strip_system.warm_started
    force_densities /= lengths
    tautness = force_densities * strip_system.max_inverse_masses
    force_densities *= kept_share + (max(TAUT_KEPT_SHARE, kept_share) - kept_share) * tautness / (
        tautness + min_tautness + NONZERO
    )
    return np.minimum(
        force_densities,
        MAX_LINK_TAUTNESS / (strip_system.max_inverse_masses + NONZERO),
        out=force_densities,
    )


def _force(strip_system: StripSystem, force_densities: Floats) -> Floats:
    """(3, n) Σ pull · (neighbour − x): the force · h² on each particle; 0 on pinned ones."""
    total = strip_system.gas_forces.copy()
    for axis, along in enumerate(strip_system.vectors):
        force = force_densities * along
        total[axis] += sum_by(strip_system.path[:-1], force, len(strip_system.masses))
        total[axis] -= sum_by(strip_system.path[1:], force, len(strip_system.masses))
    total[:, strip_system.pinned] = 0.0
    return total


@dataclass(frozen=True, eq=False)
class _System:
    """Masses joined by the stiff links; taut strips are factorized as preconditioner."""

    masses: Floats
    """(n,)"""
    pinned: Integers
    """(p,)"""
    tails: Integers
    """(s,) first particle of each stiff link."""
    heads: Integers
    """(s,) second particle of each stiff link."""
    force_densities: Floats
    """(s,)"""
    inverse: Floats
    """(n,) 1 / diagonal."""
    path: Integers
    """(t,) particles along the taut strips."""
    factors: Factors
    shares: Floats
    """(t,) 1 / number of times each particle occurs in the path."""

    def multiply(self, direction: Floats) -> Floats:
        """(3, n) m u + Σ pull · (u − u of the neighbour) for displacements u."""
        total = direction * self.masses
        for axis, row in enumerate(direction):
            across = row.take(self.tails, mode="clip")
            across -= row.take(self.heads, mode="clip")
            across *= self.force_densities
            total[axis] += sum_by(self.tails, across, len(row))
            total[axis] -= sum_by(self.heads, across, len(row))
        total[:, self.pinned] = 0.0
        return total

    def precondition(self, residual: Floats) -> Floats:
        """(3, n) displacements that balance the residual, each strip or particle alone."""
        displacement = residual * self.inverse
        if len(self.path):
            alone = solve(self.factors, residual.take(self.path, axis=1, mode="clip"))
            alone *= self.shares
            displacement[:, self.path] = 0.0
            for axis, row in enumerate(alone):
                displacement[axis] += sum_by(self.path, row, displacement.shape[1])
        return displacement


def _assemble_system(
    strip_system: StripSystem, force_densities: Floats, min_tautness: float
) -> _System:
    """Selects the stiff links, and factorizes the taut strips."""
    tautness = force_densities * strip_system.max_inverse_masses
    stiff = np.flatnonzero(tautness > STIFF_LINK_SHARE * min_tautness)
    tails, heads, n = (
        strip_system.path[stiff],
        strip_system.path[stiff + 1],
        len(strip_system.masses),
    )
    diagonal = strip_system.masses + sum_by(tails, force_densities[stiff], n)
    diagonal += sum_by(heads, force_densities[stiff], n)
    chosen = np.zeros(int(strip_system.labels[-1]) + 1, dtype=bool)
    chosen[strip_system.labels[:-1][tautness > min_tautness]] = True
    entries = np.flatnonzero(chosen[strip_system.labels])
    path, links = strip_system.path[entries], entries[:-1]
    beside = np.where(
        strip_system.both_free[links] & (tautness[links] > STIFF_LINK_SHARE * min_tautness),
        -force_densities[links],
        0.0,
    )
    return _System(
        masses=strip_system.masses,
        pinned=strip_system.pinned,
        tails=tails,
        heads=heads,
        force_densities=force_densities[stiff],
        inverse=1.0 / diagonal,
        path=path,
        factors=factorize(diagonal[path], beside, strip_system.reduction_rounds),
        shares=1.0 / np.bincount(path, minlength=n)[path],
    )


def _conjugate_gradients(
    strip_system: StripSystem, system: _System, residual: Floats, rounds: int
) -> Floats:
    """(3, n) the displacement that balances the residual force, starting from the previous one.

    The remaining residual is balanced by the preconditioner alone. A body at rest, whose
    displacement is the same in every step, therefore has no error, however few rounds there are.
    """
    solution = np.zeros_like(residual)
    if rounds:
        direction = strip_system.displacement
        image = system.multiply(direction)
        curvature = _inner_product(direction, image)
        step = _inner_product(direction, residual) / curvature if curvature > 0.0 else 0.0
        solution += step * direction
        residual -= step * image
    improved = iterate_conjugate_gradients(
        solution, residual, system.multiply, system.precondition, rounds - 1, _inner_product
    )
    iterate_until(improved, 0.0)
    solution += system.precondition(residual)
    strip_system.displacement[...] = solution
    return solution


def _inner_product(first: Floats, second: Floats) -> float:
    """The inner product; in BLAS the order of summation depends on the number of threads."""
    return float(np.einsum("xn,xn->", first, second))


def carry_tension(former: StripSystem, now: StripSystem, ratio: float) -> None:
    """Copies tension between systems whose h² have a ratio: multipliers are forces × h²."""
    if np.array_equal(former.path, now.path):
        # Edges of woven cloth are strips only while threads do not stretch.
        np.multiply(former.displacement, ratio, out=now.displacement)
        np.multiply(former.multipliers, ratio, out=now.multipliers)
