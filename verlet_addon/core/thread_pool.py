"""A thread pool for compiled kernels: ctypes releases Python's global lock during a call.

Results must not depend on the number of threads, nor on the assignment of work to them.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TypeVar

from .compiled import backend
from .errors import OutOfMemoryError
from .team.threads import thread_count

R = TypeVar("R")


class ThreadPool:
    """The threads of one bake, which idle between calls."""

    @cached_property
    def _size(self) -> int:
        """The number of threads, one with NumPy's kernels."""
        return thread_count() if backend().library else 1

    @cached_property
    def _others(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._size - 1, thread_name_prefix="verlet")

    def run_all(self, task: Callable[[], R], *, max_threads: int) -> list[R]:
        """Runs a task in this thread and others, `max_threads` at most; returns all results.

        The task takes pieces of work until none are left. Threads that have not started it when
        this one finishes are cancelled.

        Raises
        ------
        OutOfMemoryError
            If a thread cannot be started.
        """
        try:
            others = [self._others.submit(task) for _ in range(min(self._size, max_threads) - 1)]
        except RuntimeError as error:
            raise OutOfMemoryError(
                f"{self._size} threads could not be started; set VERLET_THREADS=1, or raise the "
                "system's limit of threads"
            ) from error
        try:
            own = task()
        finally:
            begun = [other for other in others if not other.cancel()]
            results = [other.result() for other in begun]
        return [own, *results]
