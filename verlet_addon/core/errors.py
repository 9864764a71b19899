"""What can go wrong, said so that the user knows what to do."""

from pathlib import Path


class VerletError(Exception):
    """A mistake the user can mend; the message names the object, the value and the remedy."""

    kind = "input"
    """The name of such errors, for programs that read them."""


class SettingsError(VerletError):
    """A setting is outside the range in which it means anything."""

    kind = "setting"


class MeshError(VerletError):
    """A mesh or object cannot be simulated or baked as it is."""

    kind = "mesh"


class DivergenceError(VerletError):
    """The simulation left the range of sane positions or speeds."""

    kind = "divergence"


class KernelError(VerletError):
    """Compiled kernels are asked for that there are not, or threads that cannot be."""

    kind = "kernels"


class OutOfMemoryError(VerletError):
    """There is less memory than this needs."""

    kind = "memory"


class FileError(VerletError):
    """A file cannot be read or written."""

    kind = "file"

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message)
        self.path = path


class DiskFullError(FileError):
    """There is no room for a file."""

    kind = "disk"


class CheckpointError(VerletError):
    """A stored simulation cannot be gone on with."""

    kind = "checkpoint"
