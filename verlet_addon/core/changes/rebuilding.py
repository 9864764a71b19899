"""Changed pins, settings and pin distances of all bodies, from one sample to the next."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Floats
from ..bodies.step_data import Body
from ..bodies.symmetry import Reflection
from ..build import build_model, goal_compliances, start_displacements
from ..field import KINDS, Field
from ..flesh.flesh_body import with_elasticity
from ..geometry.rest_shape import FIRM_PIN
from ..mesh import MeshData
from ..mirrors import complete_weights
from ..model import FleshModel, SoftBodyModel
from ..scene import Sample
from ..settings import BodySettings, weight_name
from ..state import invalidate_batches
from ..substeps import targets_of
from .overstretched_pins import (
    PinPaths,
    can_be_lengthened,
    find_pin_paths,
    is_current,
    lengthen,
    pins_are_at_rest,
)

STEP_SETTINGS = (
    *("pressure", "friction", "restitution", "gravity", "maximum_distance", "inertia_share"),
    *("wind", *map(weight_name, KINDS)),
    *("keep_volume", "loaded_shape", "muscle_length"),
)
"""Settings that each step reads; all others are built into the model."""


def with_current_pin_weights(
    meshes: Sequence[MeshData], reflections: Sequence[Sequence[Reflection]], sample: Sample
) -> list[MeshData]:
    """The meshes, with mirror images, with the pin weights of a sample."""
    if not sample.pin_weights:
        return list(meshes)
    weights = map(complete_weights, sample.pin_weights, reflections)
    return [replace(mesh, pin_weights=each) for mesh, each in zip(meshes, weights, strict=True)]


def change_all_pins(
    bodies: Sequence[Body],
    before: Sequence[MeshData],
    now: Sequence[MeshData],
    sample: Sample,
    after: Sample,
) -> list[Body]:
    """The bodies with the pin weights of the meshes `now`, in place of those `before`.

    Parameters
    ----------
    sample, after : the samples at both ends of the frame.
    """
    each = zip(bodies, before, now, sample.every_field, after.every_pull, strict=True)
    return [
        change_pins(body, former, mesh, gravity=after.gravity, fields=fields, pull=pull)
        for body, former, mesh, fields, pull in each
    ]


def change_all_settings(
    bodies: Sequence[Body], meshes: Sequence[MeshData], settings: Sequence[BodySettings]
) -> list[Body]:
    """The bodies with new settings, one per body; none = unchanged."""
    if not settings:
        return list(bodies)
    return [change_settings(*each) for each in zip(bodies, meshes, settings, strict=True)]


def wake_all(bodies: Sequence[Body]) -> None:
    """Has solids at rest take their next step, for something has changed that they rest on."""
    for _, state in bodies:
        state.wake()


def lengthen_all(
    bodies: Sequence[Body],
    meshes: Sequence[MeshData],
    reflections: Sequence[Sequence[Reflection]],
    pin_paths: dict[int, PinPaths],
    before: Sample,
    after: Sample,
) -> list[Body]:
    """The bodies with the rest lengths that their pins need between two samples.

    Parameters
    ----------
    bodies, meshes, reflections : one of each per body.
    pin_paths : cache of shortest paths between pins, by number of the body; changed in place.
    before, after : the samples.
    """
    longer = list(bodies)
    targets = (targets_of(sample, reflections) for sample in (before, after))
    for number, (mesh, *places) in enumerate(zip(meshes, *targets, strict=True)):
        model = bodies[number][0]
        if not can_be_lengthened(model):
            continue
        if number not in pin_paths and pins_are_at_rest(mesh, model.settings, *places):
            continue  # the usual case, which needs no paths
        if not is_current(pin_paths.get(number), mesh, model.settings):
            pin_paths[number] = find_pin_paths(mesh, model.settings)
        longer[number] = lengthen(bodies[number], pin_paths[number], mesh, *places)
    return longer


def change_pins(
    body: Body,
    former: MeshData,
    mesh: MeshData,
    *,
    gravity: Floats,
    fields: Sequence[Field] = (),
    pull: Floats | None = None,
) -> Body:
    """The body with the pin weights of `mesh` in place of those of `former`; motion continues.

    The model is rebuilt only if particles are pinned or released; other weights change compliances.

    Parameters
    ----------
    body : model and state; previous positions of released particles change.
    former, mesh : the body's mesh with the former and with the new pin weights.
    gravity : (3,) acceleration [m/s²].
    fields : force fields that act on the body now.
    pull : (n, 3) accelerations besides gravity; None without any [m/s²].
    """
    model, state = body
    before, now = former.pin_weights, mesh.pin_weights
    if before is now or np.array_equal(before, now):
        return body
    if np.array_equal(before >= FIRM_PIN, now >= FIRM_PIN) and np.array_equal(before > 0, now > 0):
        return _with_goal_weights(model, now), state
    model = build_model(mesh, model.settings)
    displacements = start_displacements(
        model,
        state.positions,
        state.velocities(),
        gravity=gravity,
        fields=fields,
        dt=state.previous_dt,
        pull=pull,
    )
    freed = np.flatnonzero((before >= FIRM_PIN) & (now < FIRM_PIN))
    state.previous_positions[:, freed] = (state.positions - displacements)[:, freed]
    state.batches = None
    return model, state


def _with_goal_weights(model: SoftBodyModel, weights: Floats) -> SoftBodyModel:
    """The model with soft pins of other weights (n,)."""
    masses = 1.0 / model.inverse_masses[model.goals]
    return replace(model, goal_compliances=goal_compliances(weights[model.goals], masses))


def change_settings(body: Body, mesh: MeshData, settings: BodySettings) -> Body:
    """The body with other settings; motion continues. `mesh` has the current pin weights."""
    model, state = body
    if settings == model.settings:
        return body
    updated = replace(model, settings=settings)
    state.wake()
    if _equal_except(settings, STEP_SETTINGS, model.settings):
        return updated, state
    invalidate_batches(state)
    of_batches = ("damping",) if settings.body_type == "SOFT" else ("damping", "inner_damping")
    if _equal_except(settings, (*STEP_SETTINGS, *of_batches), model.settings):
        return updated, state
    if isinstance(updated, FleshModel) and _equal_except(
        settings, (*STEP_SETTINGS, *of_batches, "flesh_damping", "stiffness"), model.settings
    ):
        return replace(updated, solid=with_elasticity(updated.solid, settings)), state
    return build_model(mesh, settings), state


def _equal_except(settings: BodySettings, names: tuple[str, ...], others: BodySettings) -> bool:
    """Whether two settings are equal except for the named fields."""
    return replace(settings, **{name: getattr(others, name) for name in names}) == others
