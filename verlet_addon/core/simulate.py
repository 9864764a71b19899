"""Bodies and samples in, frames out."""

from collections.abc import Iterable, Iterator, Sequence

from .mesh import MeshData
from .scene import Collider, Frame, Sample
from .settings import BodySettings, SceneSettings
from .simulation import start_simulation


def simulate(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    scene_settings: SceneSettings,
    samples: Iterable[Sample],
    colliders: Sequence[Collider] = (),
) -> Iterator[Frame]:
    """Yields one Frame per Sample, the first being the start as it is; stop iterating to cancel.

    Parameters
    ----------
    meshes, body_settings : one of each per body.
    scene_settings : substeps, iterations, integrator, and how rough and bouncy the ground is.
    samples : the scene frame by frame; the first tells where everything starts.
    colliders : the surfaces that bodies meet; samples tell where they are.

    Raises
    ------
    MeshError
        If a mesh cannot be simulated as it is.
    SettingsError
        If gravity or a field is not finite, or pins move while time stands still.
    DivergenceError
        If positions or speeds leave any sane range.
    KernelError
        If VERLET_KERNELS asks for kernels that there are not, or VERLET_THREADS for no threads.
    """
    incoming = iter(samples)
    simulation = start_simulation(meshes, body_settings, scene_settings, next(incoming), colliders)
    yield simulation.frame()
    for sample in incoming:
        yield simulation.advance(sample)
