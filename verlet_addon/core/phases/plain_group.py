"""Plain bodies on their way from one sample to the next, moved by one call for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, pack
from ..contact.plane import PlaneContact
from ..model import SoftBodyModel
from ..ropes.constraints import draw_out
from ..scene import Sample
from ..settings import SceneSettings
from ..state import Batches, ParticleState, batches_for
from .plain_bodies import plain
from .step_data import Body, Mover
from .within_bodies import LYING

_move_plain = declare("move_plain", "pipp")
_set_out_plain = declare("set_out_plain", "pipi")
_relax_plain = declare("relax_plain", "pipip")
_finish_plain = declare("finish_plain", "pip")


@dataclass(eq=False)
class Way:
    """One body's way from one sample to the next."""

    model: SoftBodyModel
    state: ParticleState
    batches: Batches
    positions: Floats
    """(3, n) copies of the state's, led on [m]; they are its own once it takes them."""
    previous_positions: Floats
    """(3, n) a step before [m]."""
    struct: Packed
    """The moving of plain.c."""

    def take(self) -> None:
        """Lets the state have the places."""
        self.state.positions, self.state.previous_positions = (
            self.positions,
            self.previous_positions,
        )


@dataclass(eq=False)
class Group:
    """Some bodies of a scene, and what is around them."""

    ways: dict[int, Way]
    """By the numbers of the bodies."""
    row: Packed
    """What is told of them."""
    around: Packed
    """The surroundings of plain.c."""
    movers: dict[int, Mover]
    """Those that have set out, in all steps."""
    number: int = 0
    """Of the step, from 1 on."""

    def move(self) -> Floats:
        """Leads the places on through all steps.

        Returns the lowest and highest corners (count, 2, 3) of boxes round them at their ends [m].
        """
        boxes = np.empty((len(self.ways), 2, 3))
        _move_plain(*self._all, boxes)
        return boxes

    def begin(self, settings: SceneSettings, after: Sample) -> None:
        """Takes the places over, which are then led on step by step."""
        for number, way in self.ways.items():
            way.take()
            self.movers[number] = _mover(way, settings, after)

    def set_out(self) -> None:
        """Lets all go where inertia, gravity and their pins lead them in the next step."""
        for mover in self.movers.values():
            mover.caught = False
        if self.ways:
            self.number += 1
            _set_out_plain(*self._all, self.number)

    def relax(self) -> None:
        """Sweeps once over all that acts within them, and pushes them out of the ground."""
        if self.ways:
            lie = np.array([way.state.touched >= LYING for way in self.ways.values()])
            _relax_plain(*self._all, self.number, lie)

    def finish(self) -> None:
        """Sets the speeds that they have by themselves."""
        if self.ways:
            _finish_plain(*self._all)

    @property
    def _all(self) -> tuple[int, int, int]:
        """What every phase is told."""
        return self.row.address, len(self.ways), self.around.address


def make_group(
    bodies: Sequence[Body], numbers: Sequence[int], settings: SceneSettings, after: Sample
) -> Group:
    """Those of the bodies with such numbers, on their way to a sample."""
    ways = {number: _way(bodies[number], after.targets[number], settings) for number in numbers}
    ground = after.ground
    plane = (None, 0.0) if ground is None else (ground.normal, ground.level)
    around = pack(settings.substeps, after.gravity.astype(float), *plane)
    row = pack(*(way.struct for way in ways.values()))
    return Group(ways, row, around, {})


def _way(body: Body, targets: Floats, settings: SceneSettings) -> Way:
    """The way of one body."""
    model, state = body
    batches = batches_for(model, state, settings.integrator, state.previous_dt)
    positions, previous = state.positions.copy(), state.previous_positions.copy()
    draw_out(positions, batches.ropes)
    struct = pack(
        plain(batches).struct,
        positions,
        previous,
        positions[:, model.pinned],
        targets.T[:, model.pinned],
        model.settings.gravity,
        *_ground_laws(model, settings),
        state.steps,
    )
    return Way(model, state, batches, positions, previous, struct)


def _ground_laws(model: SoftBodyModel, settings: SceneSettings) -> tuple[float, float]:
    """Friction and bounce of a body on the ground."""
    body = model.settings
    return (
        min(body.friction, settings.ground_friction),
        max(body.restitution, settings.ground_restitution),
    )


def _mover(way: Way, settings: SceneSettings, after: Sample) -> Mover:
    """A body in all steps: what each of them changes, compiled kernels write."""
    its, model, ground = plain(way.batches), way.model, after.ground
    mover = Mover(
        model=model,
        state=way.state,
        batches=way.batches,
        contacts=[],
        targets=way.positions,
        pressure=0.0,
        accelerations=its.accelerations,
        start=its.start,
        arrival=its.arrival,
    )
    if ground is not None:
        n = len(model.inverse_masses)
        friction, restitution = _ground_laws(model, settings)
        mover.contacts.append(
            PlaneContact(
                plane=ground,
                start=its.start,
                climb=0.0,
                floors=np.broadcast_to(model.thicknesses, (2, n)),
                friction=friction,
                restitution=restitution,
                pushed=its.pushed,
                rubbed=its.rubbed,
                arrival=its.arrival,
                accelerations=its.accelerations,
                dt=way.batches.steps[0],
                start_gains=way.batches.start_gains,
            )
        )
    return mover


NOBODY = Group({}, pack(), pack(), {})
"""Where each body is told what to do."""
