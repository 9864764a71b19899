"""Signals that end the command line: SIGINT from Ctrl+C, and SIGTERM, such as from a farm."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""Kinds of the errors with which signals end a job, as in its message."""

_received: list[int] = []
"""Signals received, kept because Blender discards exceptions within the file's scripts."""

_held = Event()
"""Whether signals are deferred."""


class Ended(BaseException):
    """A signal that ends the process; the message says what of its work stays."""

    def __init__(self, number: int, left: str = "nothing was written") -> None:
        self.kind = WORDS[signal.Signals(number)]
        self.number, self.code = number, 128 + number
        super().__init__(f"{self.kind}; {left}")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raises Ended on a signal that is not ignored; restores the handlers afterwards."""
    _received.clear()
    former = {number: signal.getsignal(number) for number in WORDS}
    for number, handler in former.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, _raise)
    try:
        yield
    finally:
        for number, handler in former.items():
            # None stands for Blender's own handler, which Python cannot restore.
            own = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, own if handler is None else handler)


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Defers signals until `check_signals`, where an exception would leave work half done."""
    _held.set()
    try:
        yield
    finally:
        _held.clear()


def check_signals() -> None:
    """Raises Ended if a signal was deferred, or if Blender discarded its exception."""
    if _received:
        raise Ended(_received[0])


def ignore_signals() -> None:
    """Ignores signals from now on, for the short rest of the job."""
    for number in WORDS:
        signal.signal(number, signal.SIG_IGN)


def _raise(number: int, _frame: object) -> None:
    """Signal handler: raises Ended, only once, so that a second signal stops no cleaning up."""
    _received.append(number)
    if len(_received) == 1 and not _held.is_set():
        raise Ended(number)
