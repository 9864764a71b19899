"""Changed pins, settings and pin distances of all bodies, from one sample to the next."""

from collections.abc import Sequence
from dataclasses import replace

from ..mesh import MeshData
from ..mirrors import Reflection, complete_weights
from ..phases.step_data import Body
from ..scene import Sample
from ..settings import BodySettings
from ..substeps import targets_of
from .overstretched_pins import (
    PinPaths,
    can_be_lengthened,
    find_pin_paths,
    is_current,
    lengthen,
    pins_are_at_rest,
)
from .pin_change import change_pins
from .settings_change import change_settings


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
    each = zip(bodies, before, now, sample.every_field, strict=True)
    return [
        change_pins(body, former, mesh, gravity=after.gravity, fields=fields)
        for body, former, mesh, fields in each
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
