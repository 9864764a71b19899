"""Contacts, and single sweeps over lengths, in turn: by one call, where bodies are simple."""

from collections.abc import Iterable, Mapping, Sequence

from ..arrays import Floats
from ..compiled import Packed, address, declare, pack, service, shared
from ..contact.compiled_kernels import rows_struct
from ..phases.plain_bodies import strip_order
from ..phases.step_data import Mover
from ..phases.within_bodies import CONTACT_ROUNDS, keep_lengths, project_contacts
from ..rigid.motion import hand_on_contacts
from ..ropes.trees import TreeBatches
from .encounter import NOTICEABLE, Encounter, touch

_settle = declare("settle", "pppi", "i")


def settle_in_turn(
    encounter: Encounter,
    bodies: Sequence[Floats],
    trees: Sequence[TreeBatches],
    *,
    most: int,
    movers: Mapping[int, Mover] | None = None,
) -> int:
    """Pushes bodies (3, n) apart up to so many times, until nothing moves noticeably; how often.

    Between, movers are swept over once, and their rigid pieces take part.
    Telling small bodies what to do takes as long as doing it, so compiled kernels do all of it by
    one call, to the same bit.
    """
    movers = movers or {}
    if _is_simple(encounter, movers.values()):
        its = [
            _member(bodies[body], own, movers.get(body)) for body, own in encounter.touched.items()
        ]
        noticed = NOTICEABLE * encounter.meeting.reaches[list(encounter.touched)].max()
        world = encounter.positions
        together = pack(world.shape[1], len(its), pack(*its), float(noticed))
        return int(_settle(world, rows_struct(encounter.rows), together.address, most))
    for number in range(most):
        if not touch(encounter, bodies, trees):
            return number
        for mover in movers.values():
            hand_on_contacts(mover.state.rigid, mover.state.positions)
            if number + 1 < most:
                keep_lengths(mover, once=True, backwards=number % 2 == 1)
                project_contacts(mover)
    return most


def settle_pieces(
    encounter: Encounter,
    bodies: Sequence[Floats],
    trees: Sequence[TreeBatches],
    movers: Mapping[int, Mover],
) -> None:
    """Pushes bodies (3, n) apart, of which some have rigid pieces, and leaves lengths alone."""
    for number in range(CONTACT_ROUNDS):
        for mover in movers.values() if number else ():
            project_contacts(mover)
        if not touch(encounter, bodies, trees):
            return
        for mover in movers.values():
            hand_on_contacts(mover.state.rigid, mover.state.positions)


def _is_simple(encounter: Encounter, movers: Iterable[Mover]) -> bool:
    """Whether compiled kernels serve, and lengths are kept by strips and tethers alone."""
    if service().library is None or encounter.rows.strung.any():
        return False
    return not any(
        mover.batches.shell is not None
        or mover.state.rigid is not None
        or mover.batches.weave
        or mover.batches.seams
        or mover.batches.ropes.strips
        or len(mover.model.lengths.clusters.particles)
        for mover in movers
    )


def _member(positions: Floats, own: slice, mover: Mover | None) -> Packed:
    """The member of settling.c."""
    address(positions)  # has to be contiguous, for it is written to
    its = positions, positions.shape[1], own.start, own.stop - own.start
    if mover is None:
        return pack(*its, None, 0, None, None, None, None)
    tethers = mover.model.lengths.tethers
    count = len(tethers.particles)
    ties = count, tethers.particles, tethers.pins, tethers.lengths
    return pack(*its, strip_order(mover.batches), *ties, _ground(mover))


def _ground(mover: Mover) -> Packed | None:
    """The ground of settling.c, if there is any."""
    if not mover.contacts:
        return None
    (contact,) = mover.contacts
    return pack(
        mover.model.inverse_masses,
        contact.plane.normal,
        contact.plane.level,
        contact.start,
        contact.floors[1],
        contact.friction,
        *shared(contact, "pushed rubbed"),
    )
