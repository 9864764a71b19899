"""One step of the simulation, readable from top to bottom."""

from collections.abc import Sequence

from .between import meet_each_other, part_from_each_other, settle
from .inflation import fill_with_gas
from .meeting import Meeting
from .plastic_flow import wear
from .rigid.motion import put_again
from .setting_out import set_out
from .settings import SceneSettings
from .stride import Body, Surroundings
from .within import finish, is_relaxed, project_contacts, relax


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
    strides = [
        set_out(body, settings, given, targets, fields, pressure, places)
        for body, targets, fields, pressure in zip(
            bodies, given.targets, given.fields, pressures, strict=True
        )
    ]
    encounter = None
    for sweep in range(settings.iterations):
        for stride in strides:
            if sweep == 0 or not is_relaxed(stride, settings.tolerance):
                relax(stride, sweep, given.dt)
        for stride in strides:
            project_contacts(stride)
        if meeting is not None:
            encounter = encounter or meet_each_other(strides, meeting, given)
            settle(strides, encounter, given.dt)
    for stride in strides:
        finish(stride)
    if encounter is not None:
        part_from_each_other(strides, encounter)
    for stride in strides:
        put_again(stride.state.rigid, stride.state.positions)
        wear(stride.model, stride.state, stride.batches, given.dt)
        stride.state.previous_dt = given.dt
        stride.state.steps += 1
