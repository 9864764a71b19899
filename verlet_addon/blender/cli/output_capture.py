"""Redirection of Blender's own output, so that stdout holds the command's result alone."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from tempfile import TemporaryFile


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Captures all output of the process, from Python and from C code.

    Yields
    ------
    list of str
        Empty within the context; afterwards the captured lines.
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
    """Redirects the output of Blender and the file's scripts from stdout to stderr."""
    with _redirected(1, 2), redirect_stdout(sys.stderr):
        yield


def open_closed_streams() -> None:
    """Opens stdout and stderr on the null device where the caller closed them.

    Otherwise a file that is opened later would get their descriptor, and the output.
    """
    for number in (1, 2):
        try:
            os.fstat(number)
        except OSError:
            discard(number)


def outlive_readers() -> None:
    """Ignores SIGPIPE, with which Blender would end when the reader of its output has closed it."""
    if hasattr(signal, "SIGPIPE") and signal.getsignal(signal.SIGPIPE) != signal.SIG_IGN:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def discard(number: int) -> None:
    """Redirects a file descriptor to the null device from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)


@contextmanager
def _redirected(number: int, target: int) -> Iterator[None]:
    """Redirects a file descriptor to another one within the context."""
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
    """Flushes the output streams of Python and of C."""
    for stream in (sys.stdout, sys.stderr):
        # A stream is None where the caller closed it.
        if stream is not None:
            stream.flush()
    ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
