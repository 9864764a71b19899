"""One step of the simulation, readable from top to bottom."""

from collections.abc import Sequence

from .meeting.between_bodies import meet_each_other, part_from_each_other, push_again, settle
from .meeting.world import Meeting
from .phases.inflation import fill_with_gas
from .phases.plain_group import NOBODY, Group
from .phases.plastic_flow import wear
from .phases.setting_out import set_out
from .phases.step_data import Body, Mover, Surroundings
from .phases.within_bodies import finish, is_relaxed, project_contacts, relax
from .rigid.motion import put_again
from .settings import SceneSettings


def step(
    bodies: Sequence[Body],
    settings: SceneSettings,
    given: Surroundings,
    meeting: Meeting | None = None,
    group: Group = NOBODY,
) -> None:
    """Moves all bodies on together by one time step, a group of plain ones by single calls."""
    movers = _set_out_all(bodies, settings, given, group)
    others = [mover for number, mover in enumerate(movers) if number not in group.movers]
    encounter = None
    push_again(movers, meeting)
    group.relax()
    for sweep in range(settings.iterations):
        for mover in others:
            if sweep == 0 or not is_relaxed(mover, settings.tolerance):
                relax(mover, sweep)
        for mover in others:
            project_contacts(mover)
        if meeting is not None:
            encounter = encounter or meet_each_other(movers, meeting, given)
            settle(movers, encounter, given.dt)
    for mover in others:
        finish(mover)
    group.finish()
    if encounter is not None:
        part_from_each_other(movers, encounter)
    for mover in others:
        put_again(mover.state.rigid, mover.state.positions)
        wear(mover, given.dt)
    for mover in movers:
        mover.state.previous_dt = given.dt
        mover.state.steps += 1


def _set_out_all(
    bodies: Sequence[Body], settings: SceneSettings, given: Surroundings, group: Group
) -> list[Mover]:
    """Lets all bodies go where inertia and forces lead them."""
    pressures = given.pressures or [model.settings.pressure for model, _ in bodies]
    places = [state.positions for _, state in bodies] + [rows.T for rows in given.collider_ends]
    others = [number for number in range(len(bodies)) if number not in group.movers]
    for number in others:
        fill_with_gas(*bodies[number], pressures[number])
    movers = dict(group.movers)
    for number in others:
        acting = given.targets[number], given.fields[number], pressures[number]
        movers[number] = set_out(bodies[number], settings, given, *acting, places)
    group.set_out()
    return [movers[number] for number in range(len(bodies))]
