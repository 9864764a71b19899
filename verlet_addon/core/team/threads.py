"""Threads that share the loops of compiled kernels, while a frame is simulated.

The thread that simulates leads: it calls kernels as ever. The others are in C all the while, where
Python's global lock is free. Between frames they wait, and cost nothing.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..compiled import declare
from ..errors import KernelError, OutOfMemoryError

MAX_THREADS = 8
"""Largest default number of threads; more hardly gain anything, as half of a step is serial."""
SCRATCH = 1 << 17
"""Numbers of scratch memory for each thread, 1 MiB: enough for strips of 14,000 vertices. Loops
that need more have one thread."""
ALIGNMENT = 128
"""Bytes that processors pass to each other at once."""

_team_bytes = declare("team_bytes", "", "i")
_set_up_team = declare("set_up_team", "ppiiii")
_lead_team = declare("lead_team", "pi")
_dismiss_team = declare("dismiss_team", "p", "i")
_help_team = declare("help_team", "pi")


@dataclass
class ThreadPreference:
    """The user's preference, for simulations from now on."""

    number: int = 0
    """Number of threads; 0 for one that is chosen by the clock."""


PREFERENCE = ThreadPreference()


def wished_threads() -> int:
    """The number of threads in VERLET_THREADS, else in the preferences; 0 if neither has one.

    Raises
    ------
    KernelError
        If VERLET_THREADS in the environment is not a positive integer.
    """
    wish = os.environ.get("VERLET_THREADS", "")
    if not wish:
        return PREFERENCE.number
    if not (wish.isdecimal() and int(wish)):
        raise KernelError(f"VERLET_THREADS is '{wish}'; set it to 1 or more, or leave it out")
    return int(wish)


def thread_count() -> int:
    """The number of threads at most: the one wished, or that of processors up to MAX_THREADS."""
    usable = getattr(os, "sched_getaffinity", None)  # only on Linux, where containers limit it
    processors = len(usable(0)) if usable else os.cpu_count() or 1
    return wished_threads() or min(MAX_THREADS, processors)


_at_work = [1]


def threads_at_work() -> int:
    """The number of threads that share loops now."""
    return _at_work[0]


class Team:
    """The threads of this process that share loops of compiled kernels."""

    def __init__(self, size: int) -> None:
        """Starts the threads that help, one less than `size`.

        Raises
        ------
        OutOfMemoryError
            If a thread cannot be started.
        """
        self.size = size
        self._is_leading = threading.Lock()
        self._memory, self._address = _aligned(_team_bytes())
        self._scratch, scratch = _aligned(8 * SCRATCH * size)
        _set_up_team(self._address, scratch, SCRATCH, *_system_functions())
        self._has_work = [threading.Event() for _ in range(size - 1)]
        try:
            for number in range(1, size):
                threading.Thread(target=self._help, args=(number,), daemon=True).start()
        except RuntimeError as error:
            raise OutOfMemoryError(
                f"{size} threads could not be started; set VERLET_THREADS=1, or raise the "
                "system's limit of threads"
            ) from error

    def _help(self, number: int) -> None:
        """Helps with every frame, until Python ends."""
        while self._has_work[number - 1].wait():
            _help_team(self._address, number)

    @contextmanager
    def working(self, size: int) -> Iterator["Team | None"]:
        """Has `size` threads ready; yields None if another simulation has them now."""
        if not self._is_leading.acquire(blocking=False):
            yield None
            return
        self.resize(size)
        for event in self._has_work[: size - 1]:
            event.set()
        try:
            yield self
        finally:
            for event in self._has_work[: size - 1]:
                event.clear()
            _dismiss_team(self._address)
            _at_work[0] = 1
            self._is_leading.release()

    def resize(self, size: int) -> None:
        """Has so many of the threads that are ready share loops from now on."""
        _at_work[0] = size
        _lead_team(self._address, size)


def _aligned(size: int) -> tuple[Any, int]:
    """Memory, zero at first, and the address in it where a cache line begins."""
    memory = ctypes.create_string_buffer(size + ALIGNMENT)
    return memory, -(-ctypes.addressof(memory) // ALIGNMENT) * ALIGNMENT


def _system_functions() -> tuple[int, int, int]:
    """Addresses of functions that let other threads run, and that sleep; and its least argument."""
    if sys.platform == "win32":
        system, names, least = ctypes.windll.kernel32, ("SwitchToThread", "Sleep"), 1  # [ms]
    else:
        system, names, least = ctypes.CDLL(None), ("sched_yield", "usleep"), 50  # [µs]
    yields, sleeps = (ctypes.cast(getattr(system, name), ctypes.c_void_p).value for name in names)
    return yields or 0, sleeps or 0, least


_teams: dict[tuple[int, int], Team] = {}


def _team() -> Team:
    """The team of this process; a copy of a process by fork has none of its threads."""
    key = os.getpid(), thread_count()
    if key not in _teams:
        _teams[key] = Team(key[1])
    return _teams[key]


@contextmanager
def working_team(size: int) -> Iterator[Team | None]:
    """Has `size` threads ready, at most `thread_count()`; yields None if there is only one."""
    if size < 2:
        yield None
        return
    with _team().working(size) as team:
        yield team
