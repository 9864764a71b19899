"""One step of the simulation, readable from top to bottom."""

from collections.abc import Sequence

from .meeting.between_bodies import meet_each_other, part_from_each_other, push_again, settle
from .meeting.world import Meeting
from .phases.inflation import fill_with_gas
from .phases.plastic_flow import wear
from .phases.setting_out import set_out
from .phases.step_data import Body, Surroundings
from .phases.within_bodies import finish, is_relaxed, project_contacts, relax
from .rigid.motion import put_again
from .settings import SceneSettings


def step(
    bodies: Sequence[Body],
    settings: SceneSettings,
    given: Surroundings,
    meeting: Meeting | None = None,
) -> None:
    """Moves all bodies on together by one time step."""
    pressures = given.pressures or [model.settings.pressure for model, _ in bodies]
    places = [state.positions for _, state in bodies] + [rows.T for rows in given.collider_ends]
    for (model, state), pressure in zip(bodies, pressures, strict=True):
        fill_with_gas(model, state, pressure)
    movers = [
        set_out(body, settings, given, targets, fields, pressure, places)
        for body, targets, fields, pressure in zip(
            bodies, given.targets, given.fields, pressures, strict=True
        )
    ]
    encounter = None
    push_again(movers, meeting)
    for sweep in range(settings.iterations):
        for mover in movers:
            if sweep == 0 or not is_relaxed(mover, settings.tolerance):
                relax(mover, sweep)
        for mover in movers:
            project_contacts(mover)
        if meeting is not None:
            encounter = encounter or meet_each_other(movers, meeting, given)
            settle(movers, encounter, given.dt)
    for mover in movers:
        finish(mover)
    if encounter is not None:
        part_from_each_other(movers, encounter)
    for mover in movers:
        put_again(mover.state.rigid, mover.state.positions)
        wear(mover, given.dt)
        mover.state.previous_dt = given.dt
        mover.state.steps += 1
