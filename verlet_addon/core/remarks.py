"""What the user should know of how bodies met, in one sentence each."""

from collections.abc import Sequence

import numpy as np

from .arrays import Booleans
from .meeting import Meeting
from .mesh import Collider, Plane
from .stride import Body

LASTING = 0.9
"""What is too near in this share of a frame's steps has no room."""


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
        f"{body} starts inside {other}: {count} {'vertex' if count == 1 else 'vertices'}, eased out"
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
    """(N,) which particles are vertices of bodies, and not pinned."""
    parts = [model.touching > 0.0 for model, _ in bodies]
    for part, (model, _) in zip(parts, bodies, strict=True):
        part[model.vertex_count :] = False
    rest = len(meeting.surfaces.owners) - sum(map(len, parts))
    return np.concatenate([*parts, np.zeros(rest, dtype=bool)])


def where_no_room_was(
    bodies: Sequence[Body], meeting: Meeting | None, colliders: Sequence[Collider], frame: int
) -> list[str]:
    """One sentence, once, for each body that found no room among others all through a frame."""
    if meeting is None:
        return []
    names = [model.name for model, _ in bodies] + [collider.name for collider in colliders]
    found = []
    lasting = meeting.crowded >= LASTING * max(meeting.steps, 1)
    np.fill_diagonal(
        lasting, False
    )  # folds press on each other for a moment, and part by themselves
    for body in np.flatnonzero(lasting[: meeting.bodies].any(axis=1) & ~meeting.told).tolist():
        others = np.flatnonzero(meeting.crowded[body]).tolist()
        among = " and ".join("itself" if other == body else names[other] for other in others)
        where = "among" if len(others) > 1 else "beside"
        found.append(
            f"{names[body]} had no room {where} {among} at frame {frame}, and was pressed closer "
            "than its distance; leave it more room, or lower its Thickness"
        )
        meeting.told[body] = True
    meeting.crowded.fill(0)
    meeting.steps = 0
    return found
