"""Diagnostics of collisions for the user, one sentence each."""

from collections.abc import Sequence

import numpy as np

from ...arrays import Booleans, Floats, Integers
from ...bodies.step_data import Body
from ...geometry.graph import edge_lengths
from ...mesh import SHORTEST_EDGE, MeshData
from ...model import ShellModel, SolidModel, WaterModel
from ...remark import Remark
from ...scene import Collider, Plane, Sample
from ...settings import BodySettings
from ...shell.kernels import is_stiff
from ..sides.sides import still_penetrating
from .collision_world import CollisionWorld
from .contact_statistics import CONTACTS_PER_VERTEX, ContactStatistics, reset_frame_counts
from .solid_diagnostics import boneless, closed_holes, too_soft

DEPENETRATION_DEADLINE = 1.0
"""Time after which a body that has not depenetrated is reported [s]. With half, a sheet that comes
out of a box is reported on its way; with twice, the same bodies are, later."""
NAMED = 3
"""Largest number of bodies that one sentence names; the others are counted."""
LASTING_SHARE = 0.9
"""Pairs crowded, or with excess contacts, in this share of a frame's steps are reported."""


def start_diagnostics(
    bodies: Sequence[Body],
    world: CollisionWorld | None,
    colliders: Sequence[Collider],
    start: Sample,
    gravity: Floats,
) -> list[str]:
    """Sentences on holes, initial penetrations, solids too soft for gravity (3,), and thickness."""
    sentences = closed_holes(bodies)
    sentences += _initial_penetrations(bodies, world, colliders, start.ground)
    sentences += _undamped_shells(bodies) + _ropes_without_rods(bodies)
    sentences += too_soft(bodies, gravity) + boneless(bodies)
    return sentences + _too_thick(bodies)


def _undamped_shells(bodies: Sequence[Body]) -> list[str]:
    """One sentence for each shell with an inner damping of its own, which does not act on it."""
    return [
        Remark(
            f"{model.name} is stiff and curved at rest, so Inner Damping does not act on it: its "
            "vibrations die down by the length of steps; raise Substeps to let them last",
            grade="INFO",
        )
        for model, state in bodies
        if isinstance(model, ShellModel)
        and model.settings.inner_damping != BodySettings.inner_damping
        and is_stiff(model.shell, model.mobilities, state.previous_dt**2)
    ]


def _ropes_without_rods(bodies: Sequence[Body]) -> list[str]:
    """One sentence for each body whose settings need rods where its ropes can be none."""
    return [
        Remark(
            f"Dynamic Mesh and Angle Limit do not act on all of {model.name}: open its rings, turn "
            "Plasticity off, and unpaint rigid parts",
            grade="WARNING",
        )
        for model, _ in bodies
        if model.settings.has_rods
        and (len(model.ropes.rings.path) or model.settings.use_plasticity or model.pieces)
    ]


def _initial_penetrations(
    bodies: Sequence[Body],
    world: CollisionWorld | None,
    colliders: Sequence[Collider],
    ground: Plane | None,
) -> list[str]:
    """One sentence for each body that starts inside of another owner or the ground."""
    names = [model.name for model, _ in bodies] + [collider.name for collider in colliders]
    cases = [] if ground is None else [_below_ground(body, ground) for body in bodies]
    if world is not None:
        sides, owners = world.sides, world.sides.owners()
        free = _can_move(bodies, world)[sides.penetrations.vertices]
        owners = owners[:, free & ~sides.held_by_pins | (owners[1] < len(bodies))]
        pairs, counts = np.unique(np.sort(owners, axis=0), axis=1, return_counts=True)
        cases += [
            (names[body], names[other], count, "move them apart at the first frame")
            for body, other, count in zip(*pairs.tolist(), counts.tolist(), strict=True)
        ]
    return [
        f"{body} starts inside {other} with {count} {'vertex' if count == 1 else 'vertices'} and "
        f"is pushed out slowly; {remedy}"
        for body, other, count, remedy in cases
        if count
    ]


def _below_ground(body: Body, ground: Plane) -> tuple[str, str, int, str]:
    """Names of a body and the ground, number of its free vertices below it, and the remedy."""
    model, state = body
    shown = state.positions[:, : model.vertex_count].T
    free = (model.inverse_masses[: model.vertex_count] > 0.0) & (not isinstance(model, WaterModel))
    below = free & ((shown - ground.point) @ ground.normal < 0.0)
    remedy = "lower the ground, or switch it off in its panel"
    return model.name, "the ground", int(below.sum()), remedy


def _can_move(bodies: Sequence[Body], world: CollisionWorld) -> Booleans:
    """(N,) bool, particles that are unpinned vertices of bodies."""
    parts = [model.contact_inverse_masses > 0.0 for model, _ in bodies]
    for part, (model, _) in zip(parts, bodies, strict=True):
        part[model.vertex_count :] = False
    rest = len(world.surfaces.owners) - sum(map(len, parts))
    return np.concatenate([*parts, np.zeros(rest, dtype=bool)])


def _too_thick(bodies: Sequence[Body]) -> list[str]:
    """One sentence for each body whose thickness is too large for its size."""
    sentences = []
    for model, state in bodies:
        thickness, size = model.settings.thickness, float(np.ptp(state.positions, axis=1).max())
        if not isinstance(model, WaterModel) and thickness > size / 2:
            sentences.append(
                f"{model.name} is {1000 * size:.3g} mm large and its Thickness is "
                f"{1000 * thickness:.3g} mm; lower that"
            )
    return sentences


def _lasting_penetrations(
    bodies: Sequence[Body], world: CollisionWorld, names: Sequence[str], sample: Sample
) -> list[str]:
    """One sentence for each initial penetration that is left after the deadline, once."""
    sides = world.sides
    sides.age += sample.duration
    if not sides.initial_pairs or sides.age < DEPENETRATION_DEADLINE:
        return []
    places = world.gather_positions([state.positions for _, state in bodies], sample.colliders)
    stuck = still_penetrating(sides, places, _can_move(bodies, world))
    sides.initial_pairs = []
    return [
        Remark(
            f"{names[body]} still penetrates {names[solid]} at frame {sample.frame}, and cannot be "
            "pushed out; move one of them at the first frame",
            grade="SERIOUS",
        )
        for body, solid in stuck
    ]


def frame_diagnostics(
    meshes: Sequence[MeshData],
    bodies: Sequence[Body],
    world: CollisionWorld | None,
    colliders: Sequence[Collider],
    checked_targets: dict[int, Floats | None],
    sample: Sample,
) -> list[str]:
    """Sentences on a frame, each once: crowding, lasting penetrations, contacts, stretched pins.

    `checked_targets` holds, by the number of a body, the pin targets that were checked last; None
    once its overstretched pins were reported.
    """
    frame, sentences = sample.frame, _overstretched_pins(meshes, bodies, checked_targets, sample)
    if world is not None:
        names = [model.name for model, _ in bodies] + [collider.name for collider in colliders]
        sentences += _lack_of_room(world.statistics, names, len(bodies), frame)
        sentences += _crowding(world.statistics, names, len(bodies), frame)
        sentences += _lasting_penetrations(bodies, world, names, sample)
        sentences += _excess_contacts(world.statistics, names, len(bodies), frame)
        reset_frame_counts(world.statistics)
    return sentences


def _lack_of_room(
    statistics: ContactStatistics, names: Sequence[str], bodies: int, frame: int
) -> list[str]:
    """One sentence on all bodies that lie in one another, each named once."""
    found = np.flatnonzero(
        (statistics.without_room & ~statistics.crowding_reported)[:bodies]
    ).tolist()
    statistics.crowding_reported[found] = True
    if not found:
        return []
    return [
        f"{_listed([names[body] for body in found])} had no room at frame {frame}, since parts of "
        "them penetrate each other; move them apart, or lower their Thickness"
    ]


def _listed(names: Sequence[str]) -> str:
    """The first NAMED names, and the number of the others."""
    shown = names if len(names) <= NAMED else [*names[:NAMED], f"{len(names) - NAMED} more"]
    return f"{', '.join(shown[:-1])}{' and ' if shown[1:] else ''}{shown[-1]}"


def _overstretched_pins(
    meshes: Sequence[MeshData],
    bodies: Sequence[Body],
    checked_targets: dict[int, Floats | None],
    sample: Sample,
) -> list[str]:
    """One sentence for each body with an overstretched edge between two pins."""
    sentences: list[str] = []
    given = zip(meshes, bodies, sample.targets, strict=True)
    for number, (mesh, (model, state), targets) in enumerate(given):
        before = checked_targets.get(number, targets[:0])
        if isinstance(model, SolidModel):
            continue  # which gives between its pins
        if before is None or (before is targets and not sample.pin_weights):
            continue
        checked_targets[number] = targets
        held = np.zeros(state.positions.shape[1], dtype=bool)
        held[model.pinned] = True
        first, second = (held.take(ends) for ends in mesh.edges.T)
        edges = mesh.edges[np.flatnonzero(first & second)]
        rest, now = (edge_lengths(x, edges) for x in (mesh.at_rest, state.positions.T))
        # The skin of a character that vertices are pinned to stretches by less than half.
        parted = np.flatnonzero((now > 1.5 * rest) & (rest > SHORTEST_EDGE))
        if len(parted):
            checked_targets[number] = None
            sentences.append(
                _held_apart(mesh, edges[parted], (now / rest)[parted] - 1.0, frame=sample.frame)
            )
    return sentences


def _held_apart(mesh: MeshData, edges: Integers, strains: Floats, *, frame: int) -> Remark:
    """Sentence on edges (e, 2) whose ends are held, at these strains (e,), by what moves apart."""
    holders = [name for name, held in mesh.holders.items() if np.isin(edges, held).any()]
    every = np.concatenate([mesh.holders[name] for name in holders] or [edges[:0, 0]])
    ways = [f"attached to {_listed(holders)}"] if holders else []
    ways += ["pinned"] if not np.isin(edges, every).all() else []
    verb = "attach" if holders else "pin"
    return Remark(
        f"{mesh.name} is {' and '.join(ways)} at vertices that move apart: at frame {frame} the "
        f"edges between them are stretched by up to {strains.max():.0%}; {verb} only one end of "
        "each edge",
        grade="SERIOUS",
        body=mesh.name,
        vertices=np.unique(edges).tolist(),
    )


def _crowding(
    statistics: ContactStatistics, names: Sequence[str], bodies: int, frame: int
) -> list[str]:
    """One sentence on all bodies that were crowded through a frame, each named once."""
    lasting = statistics.crowded_steps >= LASTING_SHARE * max(statistics.steps, 1)
    # Self-contacts of folds are crowded for a moment, and part by themselves.
    np.fill_diagonal(lasting, False)
    found = np.flatnonzero((lasting.any(axis=1) & ~statistics.crowding_reported)[:bodies]).tolist()
    statistics.crowding_reported[found] = True
    if len(found) > 1:
        return [
            f"{_listed([names[body] for body in found])} had no room at frame {frame}, and were "
            "pressed closer than their Thickness; leave them more room, or lower their Thickness"
        ]
    for body in found:
        others = np.flatnonzero(statistics.crowded_steps[body]).tolist()
        among = " and ".join("itself" if other == body else names[other] for other in others)
        return [
            f"{names[body]} had no room beside {among} at frame {frame}, and was pressed closer "
            "than its Thickness; leave it more room, or lower its Thickness"
        ]
    return []


def _excess_contacts(
    statistics: ContactStatistics, names: Sequence[str], bodies: int, frame: int
) -> list[str]:
    """One sentence for each pair whose excess contacts slow the bake."""
    sentences = []
    lasting = statistics.excess_steps >= LASTING_SHARE * max(statistics.steps, 1)
    lasting &= ~statistics.excess_reported
    for body, other in np.argwhere(np.triu(lasting)[:bodies]).tolist():
        others = "itself" if other == body else names[other]
        remedy = "lower its Thickness"
        if other >= bodies:
            remedy += f", or give {others} fewer faces"
        elif other != body:
            remedy = f"lower the Thickness of {names[body]} and {others}"
        sentences.append(
            f"{names[body]} slows the bake from frame {frame} on by its contacts with {others}, "
            f"more than {CONTACTS_PER_VERTEX} per touching vertex; {remedy}"
        )
        statistics.excess_reported[body, other] = True
    return sentences
