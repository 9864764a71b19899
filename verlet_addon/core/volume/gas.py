"""Chambers, the volumes that the connected surfaces of a body enclose, and the gas in them.

Holes are closed by lids: triangles without mass or stiffness, which gas presses on as on faces. A
closed surface that is flat at rest, such as a cushion's cover, is a chamber without rest volume.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by, sum_rows
from ..errors import MeshError
from ..geometry.graph import find_components
from ..geometry.holes import hole_lids, orient_alike
from ..kernel import Sized, Struct, kernel

MAX_FLAT_SHARE = 1e-2
"""Closed surfaces with less than this share of the volume of such a ball count as flat: a cushion
one metre wide, if it is less than 3 mm thick."""


@dataclass(frozen=True, eq=False)
class Chambers:
    """The s chambers of a body with n particles, at rest."""

    triangles: Integers
    """(3, t) triangles of faces and lids, counter-clockwise seen from outside."""
    labels: Integers
    """(t,) chamber number of each triangle, from 0."""
    particles: Integers
    """(n,) chamber number of each particle; s where it belongs to none."""
    rest_volumes: Floats
    """(s,) volumes at rest, above 0; for flat chambers that of a ball of the same area [m³]."""
    flat: Booleans
    """(s,) bool, chambers that are flat at rest."""
    areas: Floats
    """(s,) areas of faces and lids at rest [m²]."""


def build_chambers(name: str, positions: Floats, triangles: Integers) -> Chambers:
    """The chambers of a body with faces (3, t) at rest positions (3, n).

    Raises
    ------
    MeshError
        If a surface encloses no volume; `name` is the body's.
    """
    n = positions.shape[1]
    faces = orient_alike(
        triangles, complaint=f"'{name}' has pressure, but", remedy="set the pressure to 0"
    )
    closed = np.concatenate([faces, hole_lids(faces, n)], axis=1)
    spans = np.stack([closed[:2], closed[1:]], axis=2).reshape(2, -1)
    components = find_components(n, spans.T)
    chamber_labels, labels = np.unique(components[closed[0]], return_inverse=True)
    labels = labels.reshape(-1)
    volumes, areas = _volumes(positions, closed, labels, len(chamber_labels))
    balls = np.sqrt(areas**3 / (36.0 * np.pi))
    encloses = np.abs(volumes) >= 1e-4 * balls  # with 0, a flat surface would be a chamber
    lidded = np.isin(chamber_labels, components[closed[0, faces.shape[1] :]])
    flat = (np.abs(volumes) < MAX_FLAT_SHARE * balls) & ~lidded
    if not len(chamber_labels) or (~encloses & (lidded | (areas == 0.0))).any():
        raise MeshError(
            f"'{name}' has pressure, but a part of it encloses no volume at rest; "
            "give that part a volume, or set the pressure to 0"
        )
    inward = (encloses & (volumes < 0.0))[labels]
    closed[:2, inward] = closed[1::-1, inward]
    particles = np.full(n, len(chamber_labels))
    particles[closed] = labels
    volumes_at_rest = np.where(flat, balls, np.abs(volumes))
    return Chambers(closed, labels, particles, volumes_at_rest, flat, areas)


def _volumes(
    positions: Floats, triangles: Integers, labels: Integers, count: int
) -> tuple[Floats, Floats]:
    """(s,) signed volumes [m³] and (s,) areas [m²] of chambers with triangles (3, t)."""
    a, b, c = (positions[:, row] - positions.mean(axis=1, keepdims=True) for row in triangles)
    across = np.cross(b - a, c - a, axis=0)
    volumes = sum_by(labels, (a * np.cross(b, c, axis=0)).sum(axis=0) / 6.0, count)
    return volumes, sum_by(labels, np.linalg.norm(across, axis=0) / 2.0, count)


Struct(
    "chambers",
    Chambers,
    reads="triangles labels particles rest_volumes flat",
    triangle_count=(int, lambda chambers: len(chambers.labels)),
    count=(int, lambda chambers: len(chambers.rest_volumes)),
)


@kernel(
    result=lambda positions, chambers: (
        np.empty(len(chambers.rest_volumes)),
        np.empty_like(positions),
    )
)
def volumes_and_gradients(positions: Sized, chambers: Chambers) -> tuple[Floats, Floats]:
    """(s,) volumes [m³] of chambers and (3, n) ∇V [m²]: 6 V = Σ a · (b × c) over triangles."""
    n, count = positions.shape[1], len(chambers.rest_volumes)
    corners = positions[:, chambers.triangles] - positions[:, None, :1]
    gradients = np.stack(
        [np.cross(corners[:, k - 2], corners[:, k - 1], axis=0) for k in range(3)], axis=1
    )
    gradients /= 6.0
    volumes = sum_by(chambers.labels, (corners[:, 0] * gradients[:, 0]).sum(axis=0), count)
    vertices = chambers.triangles.ravel()
    return volumes, sum_rows(vertices, gradients.reshape(3, -1), n)


MAX_GAS_TAUTNESS = 30.0
"""Largest h² T/(l m) that a pressure may cause, for tension T, length l and mass m of the average
link. With half, 800 Pa in a chamber of cloth need 1.1 times the substeps; twice as much gives the
same bakes. At 100 some balls of 360 to 2,700 vertices oscillated."""


@dataclass(eq=False)
class Gas:
    """The gas in a body's s chambers, with n particles."""

    chambers: Chambers
    predicted_volumes: Floats
    """(s,) volumes that inertia and gas alone led to in the last step [m³]."""
    pressures: Floats
    """(s,) gauge pressures in the last step [Pa]."""
    pressure_shares: Floats
    """(n,) share of the pressure that acts on each particle."""
    tautness: float
    """T/(l m p) of the average link of the chamber where it is largest: a ball of radius r under
    pressure p has the tension p r/2 per width, so T = p r l/2, with r = 3 V/A [m/kg]."""
    tension: Floats | None = None
    """(k,) multipliers of the walls' links at the last warm start, below 0 for tension [kg m]."""

    def former_tension(self, tension: Floats) -> Floats:
        """(k,) `tension`, made equal to the multipliers (k,) where it is not of these links."""
        if self.tension is None or len(self.tension) != len(tension):
            self.tension = tension.copy()
        return self.tension


Struct(
    "gas",
    Gas,
    reads="chambers pressure_shares",
    shares="predicted_volumes pressures",
    scratch={
        "volumes reductions mobilities lifts": lambda gas: len(gas.pressures) + 1,
    },
)


@kernel()
def drop_tension_jumps(tension: Sized, former: Floats) -> None:
    """Limits the tension (k,) of the last step to the `former` one, and stores it there.

    Tension is × h², and negative where links pull. Tension that has just appeared, or alternates,
    would shake the walls, which start from all of it.
    """
    before = former.copy()
    former[...] = tension
    np.maximum(tension, before, out=tension)


def fill_chambers(
    chambers: Chambers, positions: Floats, pressure_shares: Floats, inverse_masses: Floats
) -> Gas:
    """Gas in chambers with walls at positions (3, n); `pressure_shares` (n,) see `Gas`."""
    volumes, _ = volumes_and_gradients(positions, chambers)
    walls, count = chambers.particles, len(volumes)
    inverse_mass_sums = sum_by(walls, inverse_masses, count + 1)[:count]
    free = sum_by(walls, (inverse_masses > 0.0).astype(np.float64), count + 1)[:count]
    tautness = (
        1.5 * chambers.rest_volumes / chambers.areas * inverse_mass_sums / np.maximum(free, 1.0)
    )
    return Gas(chambers, volumes, np.zeros_like(volumes), pressure_shares, float(tautness.max()))


@kernel(result=lambda positions, *_, **__: np.empty(positions.shape))
def gas_pressure_forces(
    positions: Sized,
    gas: Gas,
    inverse_masses: Floats,
    *,
    start: Floats,
    pressure: float,
    h_squared: float,
) -> Floats:
    """(3, n) h² p ∇V on the walls, with p V = `pressure` V₀ at the end of the step [kg m].

    Inertia leads to the volume V, and gas alone from there to V + w p h², w = Σ |∇V|²/m. Cloth and
    contacts then reduce the volume by E, which is estimated by the reduction in the step before. So
    p solves (V − E + w h² p) p = `pressure` V₀, which has exactly one positive root, and is exact
    at equilibrium. An explicit pressure would be unstable. Flat chambers have no rest volume; in
    them p is `pressure`.

    Parameters
    ----------
    positions : (3, n) positions after inertia [m].
    inverse_masses : (n,) [1/kg].
    start : (3, n) positions at the start of the step [m].
    pressure : gauge pressure at the rest volume [Pa].
    h_squared : factor that turns accelerations into displacements [s²].
    """
    chambers, count = gas.chambers, len(gas.predicted_volumes)
    reduction = gas.predicted_volumes - volumes_and_gradients(start, chambers)[0]
    volumes, gradients = volumes_and_gradients(positions, chambers)
    mobilities = (gradients * gradients).sum(axis=0) * inverse_masses * gas.pressure_shares
    mobility = h_squared * sum_by(chambers.particles, mobilities, count + 1)[:count]
    amount = pressure * chambers.rest_volumes
    pressures = _positive_root(mobility, volumes - reduction, amount)
    pressures[chambers.flat] = pressure
    gas.pressures[...] = pressures
    gas.predicted_volumes[...] = volumes + mobility * pressures
    return np.asarray(
        gradients * gas.pressure_shares * np.append(h_squared * pressures, 0.0)[chambers.particles]
    )


def step_refinement(gas: Gas, pressure: float, h_squared: float) -> float:
    """Factor by which steps must be shorter for this pressure [Pa]; up to 1, they need not be."""
    return float(np.sqrt(h_squared * pressure * gas.tautness / MAX_GAS_TAUTNESS))


def _positive_root(a: Floats, b: Floats, c: Floats) -> Floats:
    """The positive root of a x² + b x = c, for a, c ≥ 0, without cancellation."""
    root = np.sqrt(b * b + 4.0 * a * c)
    rising = b > 0.0
    over = np.where(rising, 2.0 * c, root - b)
    under = np.where(rising, root + b, 2.0 * a)
    return np.asarray(over / np.where(under > 0.0, under, np.inf))
