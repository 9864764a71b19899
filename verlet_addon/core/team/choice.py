"""The number of threads, chosen by the clock: results are the same with any.

How many threads are fastest depends on the scene, on which processors share a cache, and on what
else runs on the machine. So each number is tried for some steps now and then.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from ..compiled import backend
from .threads import Team, thread_count, wished_threads, working_team

TRIES = 3
"""Steps that each number of threads is tried for, of which the fastest counts: others are slowed
down by chance."""
STEPS_BETWEEN = 256
"""Steps from one trial to the next; where one call takes all steps of a frame, frames."""
CHANGE = 1.5
"""Factor on the time of a step from which the scene counts as another one, if TRIES steps in a row
take so long at the end of a frame: a jelly that fell freely, which one thread does best, lands."""
LEAST_GAIN = 0.03
"""Share of the time that more threads have to save: fewer leave processors to other programs."""


@dataclass(eq=False)
class ThreadChoice:
    """The numbers of threads of a simulation's steps."""

    spared: int = 0
    """Processors that are left to others; 1 while an interface shows each frame."""
    chosen: int = 1
    """Number of threads that was the fastest in the last trial; 1 before."""
    steps: int = 0
    """Steps since the last trial began."""
    fastest: dict[int, float] = field(default_factory=dict)
    """Least time of a step in this trial, by number of threads [s]."""
    slow: int = 0
    """Steps in a row that took longer than the trial lets expect."""
    team: Team | None = None
    """The threads that are ready, during a frame."""
    began: float = 0.0
    """When the present steps began [s]."""

    @cached_property
    def candidates(self) -> list[int]:
        """The numbers of threads to choose from: powers of two, or the one that is wished."""
        most = thread_count() if backend().library else 1
        if wished_threads():
            return [most]
        most = max(1, most - self.spared)
        return [*(2**power for power in range(most.bit_length()) if 2**power < most), most]

    @property
    def trial_steps(self) -> int:
        """Number of steps of a trial."""
        return TRIES * len(self.candidates)

    def threads_at(self, step: int) -> int:
        """The number of threads of a step since the trial began."""
        step %= self.trial_steps + STEPS_BETWEEN
        in_trial = step < self.trial_steps
        return self.candidates[step % len(self.candidates)] if in_trial else self.chosen

    @contextmanager
    def working(self, steps: int) -> Iterator[None]:
        """Has as many threads ready as a frame of so many steps needs."""
        if self.slow >= TRIES:
            self._forget()
        most = max(self.threads_at(self.steps + step) for step in range(steps))
        with working_team(most) as team:
            self.team = team
            try:
                yield
            finally:
                self.team = None

    def begin(self) -> None:
        """Begins steps with the number of threads that is due."""
        if self.team is not None:
            self.team.resize(self.threads_at(self.steps))
        self.began = time.perf_counter()

    def end(self, steps: int) -> None:
        """Ends so many steps, taken at once; notes their time."""
        self._record(self.threads_at(self.steps), (time.perf_counter() - self.began) / steps)

    def _record(self, threads: int, seconds: float) -> None:
        """Notes the time of a step, and chooses after the last one of a trial."""
        if self.steps < self.trial_steps:
            self.fastest[threads] = min(seconds, self.fastest.get(threads, seconds))
        self.steps += 1
        if self.steps == self.trial_steps:
            allowed = (1.0 + LEAST_GAIN) * min(self.fastest.values())
            self.chosen = min(each for each, time in self.fastest.items() if time <= allowed)
        if self.steps > self.trial_steps:
            self.slow = self.slow + 1 if seconds > CHANGE * self.fastest[self.chosen] else 0
        if self.steps == self.trial_steps + STEPS_BETWEEN:
            self._forget()

    def _forget(self) -> None:
        """Begins another trial."""
        self.steps = self.slow = 0
        self.fastest.clear()
