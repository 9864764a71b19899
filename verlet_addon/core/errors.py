"""Exceptions, whose messages name the object, the value and the remedy."""

from pathlib import Path


class VerletError(Exception):
    """An error the user can correct; the message names the object, the value and the remedy."""

    kind = "input"
    """Machine-readable name of the error class."""


class SettingsError(VerletError):
    """A setting is outside its valid range."""

    kind = "setting"


class MeshError(VerletError):
    """A mesh or object cannot be simulated or baked."""

    kind = "mesh"


class DivergenceError(VerletError):
    """Positions or speeds became too large or not finite."""

    kind = "divergence"


class KernelError(VerletError):
    """The environment asks for missing compiled kernels or an invalid number of threads."""

    kind = "kernels"


class OutOfMemoryError(VerletError):
    """There is not enough memory."""

    kind = "memory"


class FileError(VerletError):
    """A file cannot be read or written."""

    kind = "file"

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message)
        self.path = path


class DiskFullError(FileError):
    """The disk is full."""

    kind = "disk"


class CheckpointError(VerletError):
    """A stored simulation cannot be resumed."""

    kind = "checkpoint"
