"""Bodies that start inside of something are carried out of it, before each step."""

from collections.abc import Sequence

import numpy as np

from .arrays import Booleans
from .contact.clearing import go_on, lifts
from .meeting import Meeting
from .mesh import Collider, Plane
from .solid.motion import carry, point_components
from .step import Body, Surroundings


def what_starts_inside(
    bodies: Sequence[Body],
    meeting: Meeting | None,
    colliders: Sequence[Collider],
    ground: Plane | None,
) -> list[str]:
    """One sentence for each body and what it starts in, as far as it can come out.

    The ground, if there is one, is where everything starts.
    """
    names = [model.name for model, _ in bodies] + [collider.name for collider in colliders]
    told = [] if ground is None else [_under_ground(body, ground) for body in bodies]
    if meeting is not None:
        exits, owners = meeting.clearing.exits, meeting.clearing.owners()
        owners = owners[:, _can_move(bodies, meeting)[exits.vertices] | (owners[1] < len(bodies))]
        pairs, counts = np.unique(np.sort(owners, axis=0), axis=1, return_counts=True)
        told += [
            (names[body], names[other], count)
            for body, other, count in zip(*pairs.tolist(), counts.tolist(), strict=True)
        ]
    return [
        f"{body} starts inside {other}: {count} vertices, eased out"
        for body, other, count in told
        if count
    ]


def _under_ground(body: Body, ground: Plane) -> tuple[str, str, int]:
    """A body's name, the ground's, and how many vertices that can move start below it."""
    model, state = body
    shown = state.positions[:, : model.vertex_count].T
    free = (model.inverse_masses[: model.vertex_count] > 0.0) & (model.water is None)
    below = free & ((shown - ground.point) @ ground.normal < 0.0)
    return model.name, "the ground", int(below.sum())


def _can_move(bodies: Sequence[Body], meeting: Meeting) -> Booleans:
    """(N,) which particles are neither pinned nor of colliders."""
    parts = [model.inverse_masses[: model.vertex_count] > 0.0 for model, _ in bodies]
    rest = len(meeting.surfaces.owners) - sum(map(len, parts))
    return np.concatenate([*parts, np.zeros(rest, dtype=bool)])


def ease_out(bodies: Sequence[Body], meeting: Meeting, given: Surroundings) -> None:
    """Lets go of what is out, and carries jelly on, which keeps its shape on the way."""
    clearing, surfaces = meeting.clearing, meeting.surfaces
    if not surfaces.leaving.any():
        return
    places = meeting.gathered([state.positions for _, state in bodies], given.collider_starts)
    go_on(clearing, places, given.dt)
    pieces, counts = np.full(places.shape[1], -1), [0]
    for number, (model, _) in enumerate(bodies):
        first, last = surfaces.starts[number : number + 2].tolist()
        own = np.full(1, -1) if model.solid is None else point_components(model.solid)
        pieces[first:last] = np.where(own < 0, -1, own + counts[-1])[: last - first]
        counts.append(counts[-1] + int(own.max(initial=-1)) + 1)
    shifts = lifts(clearing, places, pieces, -given.gravity, given.dt)
    for number, (model, state) in enumerate(bodies):
        if model.solid is not None and state.solid is not None:
            own = shifts[:, [*range(*counts[number : number + 2]), -1]]
            moved = carry(model.solid, state.solid, own)
            state.positions = state.positions + moved
            state.previous_positions = state.previous_positions + moved
