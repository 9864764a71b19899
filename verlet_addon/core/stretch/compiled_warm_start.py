"""Former tension in C: what `numpy_warm_start` does, by the functions of warm_start.c."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, instead_of, members, once, pack, shared
from . import numpy_warm_start as reference
from .warm_start import DIRECTIONS, StripNet

_project_former_tension = declare("project_former_tension", "ppddi")


def pack_net(net: StripNet) -> Packed:
    """The strip_net of warm_start.c."""
    entries, n = len(net.path), len(net.masses)
    ends = np.append(np.flatnonzero(np.diff(net.labels)) + 1, entries)
    return pack(
        n,
        entries,
        len(ends),
        ends,
        *members(net, "path bearing loose lightness masses"),
        len(net.pinned),
        *members(net, "pinned"),
        *shared(net, "displacement push multipliers"),
        np.empty(entries),
        np.empty(entries),
        np.empty(entries),
        np.empty((int(np.diff(ends, prepend=0).max()), 3)),
        np.empty(entries, dtype=np.int64),
        np.empty(len(ends), dtype=np.bool_),
        np.empty(n),
        np.empty(n),
        *(np.empty((n, 3)) for _ in range(5)),
    )


_net_struct = once(pack_net)


@instead_of(reference.project_former_tension)
def project_former_tension(
    positions: Floats, net: StripNet, *, kept: float, taut: float, rounds: int = DIRECTIONS
) -> None:
    if len(net.path):
        _project_former_tension(positions, _net_struct(net), kept, taut, rounds)
