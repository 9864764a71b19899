"""Threads that call a compiled kernel side by side: ctypes leaves Python's lock alone meanwhile.

What they find must not depend on how many they are, nor on who does what.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TypeVar

from .errors import KernelError, OutOfMemoryError

R = TypeVar("R")
MAX_THREADS = 8
"""More threads hardly gain anything: the rest of a step is done by one."""


def thread_count() -> int:
    """Returns the number of threads: that of the usable processors, up to MAX_THREADS.

    VERLET_THREADS in the environment has its say.

    Raises
    ------
    KernelError
        If that is no whole number above 0.
    """
    wish = os.environ.get("VERLET_THREADS", "")
    if wish:
        if not (wish.isdecimal() and int(wish)):
            raise KernelError(f"VERLET_THREADS is '{wish}'; set it to 1 or more, or leave it out")
        return int(wish)
    usable = getattr(os, "sched_getaffinity", None)  # Linux has it, and farms and containers use it
    return min(MAX_THREADS, len(usable(0)) if usable else os.cpu_count() or 1)


class ThreadPool:
    """The threads of one bake; they wait between calls, and end with it."""

    @cached_property
    def _size(self) -> int:
        return thread_count()

    @cached_property
    def _others(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._size - 1, thread_name_prefix="verlet")

    def run_all(self, task: Callable[[], R], *, max_threads: int) -> list[R]:
        """Lets this thread and others, in all at most so many, do a task; what each of them says.

        Those that are too late, when this one is done, do not begin.

        Raises
        ------
        OutOfMemoryError
            If a thread cannot be started.
        """
        try:
            others = [self._others.submit(task) for _ in range(min(self._size, max_threads) - 1)]
        except RuntimeError as error:
            raise OutOfMemoryError(
                f"There is no room for {self._size} threads; set VERLET_THREADS=1, or allow more"
            ) from error
        try:
            own = task()
        finally:
            begun = [other for other in others if not other.cancel()]
            results = [other.result() for other in begun]
        return [own, *results]
