"""How exactly the system of a solid is solved."""

from ..arrays import Floats
from .solid_body import Solid

SOLID_RESIDUAL = 1.5e-3
"""Relative residual at which conjugate gradients end. In steps longer than the wave time it
is smaller by their ratio, as stress then outweighs the forces on the whole body. With 2e-3 a bar
that has sagged farther before comes to rest half a per cent lower than one that has not."""
QUADRATIC_RESIDUAL_SHARE = 2.0 / 3.0
"""Factor of the relative residual for solids with quadratic cells, which otherwise vibrate when
they slide, and lose up to a fifteenth of their speed."""
MIN_RELATIVE_CHANGE = 2e-3
"""Conjugate gradients also end once the residual is below this share of the nodes' motion relative
to the body's mean motion; the next step solves for the rest. Uneven meshes take a third fewer
rounds. The mean motion does not count: it would end vibrations of bodies that fall."""


def relative_change(solid: Solid) -> float:
    """MIN_RELATIVE_CHANGE, or 0 for several components, as their motions are independent."""
    parts = solid.free_components
    return MIN_RELATIVE_CHANGE if (parts == parts[0]).all() else 0.0


def residual_share(solid: Solid, dt: float) -> float:
    """Relative residual at which conjugate gradients end, for steps of length dt [s]."""
    share = QUADRATIC_RESIDUAL_SHARE if len(solid.lattice.quadratic.nodes) else 1.0
    return share * SOLID_RESIDUAL / max(1.0, dt / solid.wave_time)


def motion_square(solid: Solid, moves: Floats) -> float:
    """Σ m |v|² for moves v (3, m) of nodes [kg m²]."""
    return float((solid.masses * moves * moves).sum())


def relative_motion_square(solid: Solid, moves: Floats) -> float:
    """Σ m |v − v̄|² for moves v (3, m) of nodes and their mean v̄ [kg m²]."""
    mean = (solid.masses * moves).sum(axis=1, keepdims=True) / solid.masses.sum()
    return motion_square(solid, moves - mean)
