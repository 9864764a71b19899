"""Signals that end the command line: Ctrl+C, and a farm's SIGTERM."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""What each signal that ends a job does to it."""

_received: list[int] = []
"""The signal that came, for Blender swallows exceptions in scripts and drivers of the file."""

_held = Event()
"""Whether a signal waits."""


class Ended(BaseException):
    """A signal has come that ends the process."""

    def __init__(self, number: int) -> None:
        self.kind = WORDS[signal.Signals(number)]
        self.code = 128 + number
        super().__init__(f"{self.kind}; nothing was written")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raises Ended when a signal comes that is not ignored; afterwards signals are as before."""
    _received.clear()
    former = {number: signal.getsignal(number) for number in WORDS}
    for number, handler in former.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, _raise)
    try:
        yield
    finally:
        for number, handler in former.items():
            # Blender's own handler, which Python cannot put back, lets a command run to its end.
            own = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, own if handler is None else handler)


@contextmanager
def held_back() -> Iterator[None]:
    """Lets signals wait for `check_signals`, where an exception would leave something half done."""
    _held.set()
    try:
        yield
    finally:
        _held.clear()


def check_signals() -> None:
    """Raises Ended if a signal came that waits, or what it raised was swallowed."""
    if _received:
        raise Ended(_received[0])


def ignore_signals() -> None:
    """Lets the rest, which takes a moment, run to its end."""
    for number in WORDS:
        signal.signal(number, signal.SIG_IGN)


def _raise(number: int, _frame: object) -> None:
    """Raises Ended where Python code runs next; only once, so that clearing up goes on."""
    _received.append(number)
    if len(_received) == 1 and not _held.is_set():
        raise Ended(number)
