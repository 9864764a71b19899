"""Bodies that start inside of something are carried out of it, before each step."""

from collections.abc import Sequence

import numpy as np

from ..overlap.clearing import go_on, lifts
from ..phases.step_data import Body, Surroundings
from ..solid.motion import carry, point_components
from .pinching import go_with_skin
from .world import Meeting


def ease_out(bodies: Sequence[Body], meeting: Meeting, given: Surroundings) -> None:
    """Lets go of what is out, and carries jelly on, which keeps its shape on the way."""
    clearing, surfaces = meeting.clearing, meeting.surfaces
    go_with_skin(bodies, meeting, given)
    if not surfaces.any_leaving:
        return
    places = meeting.gathered([state.positions for _, state in bodies], given.collider_starts)
    held = np.ones(places.shape[1], dtype=bool)
    pieces, counts = np.full(places.shape[1], -1), [0]
    for number, (model, _) in enumerate(bodies):
        its = meeting.own[number]
        held[its] = model.touching == 0.0
        own = np.full(1, -1) if model.solid is None else point_components(model.solid)
        pieces[its] = np.where(own < 0, -1, own + counts[-1])[: its.stop - its.start]
        counts.append(counts[-1] + int(own.max(initial=-1)) + 1)
    go_on(clearing, places, held, given.dt)
    shifts = lifts(clearing, places, pieces, given.dt)
    for number, (model, state) in enumerate(bodies):
        if model.solid is not None and state.solid is not None:
            own = shifts[:, [*range(*counts[number : number + 2]), -1]]
            moved = carry(model.solid, state.solid, own)
            state.positions = state.positions + moved
            state.previous_positions = state.previous_positions + moved
