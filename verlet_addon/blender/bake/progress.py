"""Progress of a bake, as the interface and the command line show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...core.arrays import Floats
from ...core.scene import ContactSearch


@dataclass(frozen=True)
class Progress:
    """Progress and statistics of a bake after one more simulated frame."""

    frame: int
    """Scene frame just simulated."""
    done: int
    """Number of frames simulated so far."""
    total: int
    """Number of frames to simulate."""
    worst_stretch: float
    """Largest strain of any edge of any body so far."""
    most_stretched: str = ""
    """Name of the body with that edge."""
    worst_penetration: float | None = None
    """Largest violation of a contact gap so far [m]; None where nothing can collide."""
    colliders: int = 0
    """Number of colliders in the simulation."""
    remarks: tuple[str, ...] = ()
    """Diagnostics so far, one sentence each for the user."""
    positions: Sequence[Floats] = ()
    """Per body, (n, 3) current positions of its vertices [m]."""
    rest_lengths: Sequence[Floats] = ()
    """Per body, (m,) rest lengths of its edges at the first frame [m]; (0,) for water."""
    contact_searches: Mapping[tuple[str, str], ContactSearch] = field(default_factory=dict)
    """Searches for contacts so far, by the names of two objects."""
    threads: int = 1
    """Number of threads that share the work."""

    def describe(self, *, seconds: float) -> str:
        """Text of the progress and the time left, estimated from the time since the first frame.

        The frame is the scene's, as the timeline shows it. The first one itself
        does not count, since it includes reading and building the bodies.
        """
        so_far = f"frame {self.frame}, {self.done} of {self.total}"
        if self.frame == self.done:
            so_far = f"frame {self.done} of {self.total}"
        if self.done == 1:
            return so_far
        minutes, rest = divmod(round(seconds / (self.done - 1) * (self.total - self.done)), 60)
        return f"{so_far}, {minutes}:{rest:02} left"
