"""Keeps what Blender itself prints off stdout, where the command's result stands alone."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from tempfile import TemporaryFile


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Holds back what Blender prints, be it through Python's streams or past them.

    Yields
    ------
    list of str
        Empty at first; afterwards the lines that were held back.
    """
    lines: list[str] = []
    with TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as kept:
        with ExitStack() as stack:
            for number in (1, 2):
                stack.enter_context(_redirected(number, kept.fileno()))
            stack.enter_context(redirect_stdout(kept))
            stack.enter_context(redirect_stderr(kept))
            yield lines
        kept.seek(0)
        lines += kept.read().splitlines()


@contextmanager
def stdout_on_stderr() -> Iterator[None]:
    """Sends what Blender and the file's scripts print on stdout to stderr instead."""
    with _redirected(1, 2), redirect_stdout(sys.stderr):
        yield


def open_closed_streams() -> None:
    """Opens stdout and stderr where the caller closed them.

    A file opened later would else take their number, and get what is printed.
    """
    for number in (1, 2):
        try:
            os.fstat(number)
        except OSError:
            discard(number)


def outlive_readers() -> None:
    """Lets printing fail where nobody reads any more; in Blender it would end the process."""
    if hasattr(signal, "SIGPIPE") and signal.getsignal(signal.SIGPIPE) != signal.SIG_IGN:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def discard(number: int) -> None:
    """Sends one of the process's streams nowhere from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)


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
    for stream in (sys.stdout, sys.stderr):
        # Python has none where the caller closed it.
        if stream is not None:
            stream.flush()
    ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
