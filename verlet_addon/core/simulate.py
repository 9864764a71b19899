"""The entry point of the core: simulates bodies through the samples of a scene."""

from collections.abc import Iterable, Iterator, Sequence

from .mesh import MeshData
from .scene import Collider, Frame, Sample
from .settings import BodySettings, SceneSettings
from .simulation import Simulation, start_simulation


def simulate(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    scene_settings: SceneSettings,
    samples: Iterable[Sample],
    colliders: Sequence[Collider] = (),
) -> Iterator[Frame]:
    """Yields one Frame per Sample; the first is the start, unchanged. Stop iterating to cancel.

    Parameters
    ----------
    meshes, body_settings : one of each per body.
    scene_settings : substeps, iterations, integrator, and friction and restitution of the ground.
    samples : the scene frame by frame, at least one; the first is the start.
    colliders : the surfaces that bodies collide with; samples have their vertex positions.

    Raises
    ------
    MeshError
        If a mesh cannot be simulated as it is.
    SettingsError
        If gravity, a field or a pressure is out of range, or pins move in a frame of duration 0.
    DivergenceError
        If positions are not finite, or speeds exceed `sanity.MAX_SPEED`.
    KernelError
        If VERLET_KERNELS asks for kernels that are missing, or VERLET_THREADS is no positive
        integer.
    """
    incoming = iter(samples)
    simulation = start_simulation(meshes, body_settings, scene_settings, next(incoming), colliders)
    yield from advance_all(simulation, incoming)


def advance_all(simulation: Simulation, samples: Iterable[Sample]) -> Iterator[Frame]:
    """Yields the results of a simulation: at the sample where it is, and at each further one."""
    yield simulation.frame()
    for sample in samples:
        yield simulation.advance(sample)
