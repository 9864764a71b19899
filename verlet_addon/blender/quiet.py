"""Keeps what Blender itself prints off stdout and stderr."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout


@contextmanager
def quiet() -> Iterator[None]:
    """Discards what Blender prints, be it through Python's streams or past them."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, ExitStack() as stack:
        for number in (1, 2):
            stack.enter_context(_redirected(number, nowhere.fileno()))
        with redirect_stdout(nowhere), redirect_stderr(nowhere):
            yield


@contextmanager
def _redirected(number: int, target: int) -> Iterator[None]:
    """Sends one of the process's streams elsewhere."""
    _flush()
    kept = os.dup(number)
    os.dup2(target, number)
    try:
        yield
    finally:
        _flush()
        os.dup2(kept, number)
        os.close(kept)


def _flush() -> None:
    """Writes out what Python and Blender's C code have printed so far."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
