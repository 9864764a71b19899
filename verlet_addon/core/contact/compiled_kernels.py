"""Rows of contacts in C: what `numpy_kernels` does, by the functions of kernels.c."""

from ..arrays import Floats
from ..compiled import Packed, address, declare, once, pack
from .response import ContactRows

_project_rows = declare("project_rows", "pip")
_rebound_rows = declare("rebound_rows", "ppip")


@once
def _rows_struct(rows: ContactRows) -> Packed:
    """The contact_rows of response.c."""
    return pack(
        len(rows.targets),
        rows.particles,
        rows.weights,
        rows.pulls,
        rows.mobilities,
        rows.normals,
        rows.targets,
        rows.climbs,
        rows.anchors,
        rows.friction,
        rows.strung,
        rows.pushed,
        rows.rubbed,
    )


def project_rows(positions: Floats, rows: ContactRows) -> None:
    """See `numpy_kernels`."""
    _project_rows(address(positions), positions.shape[1], _rows_struct(rows))


def rebound_rows(previous_positions: Floats, positions: Floats, rows: ContactRows) -> None:
    """See `numpy_kernels`."""
    _rebound_rows(
        address(previous_positions), address(positions), positions.shape[1], _rows_struct(rows)
    )
