"""What can go wrong, said so that the user knows what to do."""


class VerletError(Exception):
    """A mistake the user can mend; the message names the object, the value and the remedy."""


class SettingsError(VerletError):
    """A setting is outside the range in which it means anything."""


class MeshError(VerletError):
    """A mesh or object cannot be simulated or baked as it is."""


class DivergenceError(VerletError):
    """The simulation left the range of sane positions or speeds."""


class KernelError(VerletError):
    """Compiled kernels are asked for that there are not."""


class CheckpointError(VerletError):
    """A stored simulation cannot be gone on with."""
