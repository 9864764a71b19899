"""Bodies and samples in, frames out."""

from collections.abc import Iterable, Iterator, Sequence

from .mesh import Frame, MeshData, Sample
from .settings import BodySettings, SceneSettings


def simulate(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    scene_settings: SceneSettings,
    samples: Iterable[Sample],
) -> Iterator[Frame]:
    """Yields one Frame per Sample, the first being the start as it is; stop iterating to cancel."""
    raise NotImplementedError
    yield
