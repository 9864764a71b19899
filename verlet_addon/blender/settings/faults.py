"""The last exceptions that the add-on did not expect, as text, for a report of a fault."""

import traceback
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ...core.errors import VerletError

PACKAGE = Path(__file__).parents[2]
ELSEWHERE = "elsewhere"
"""Stands for calls in files that are not the add-on's, whose names and paths may be the user's."""
MOST_CALLS = 12
"""Number of calls that are kept: the innermost ones."""


class Fault(NamedTuple):
    """An exception as text; it keeps no data of the user alive."""

    kind: str
    """Its type, and those that it followed from, as `ValueError after KeyError`."""
    message: str
    """What it says, which may name anything."""
    calls: tuple[str, ...]
    """Module of the add-on, line and function of each call that led to it, the innermost last."""


_last: deque[Fault] = deque(maxlen=3)
"""The last ones, the newest first."""


@contextmanager
def faults_kept() -> Iterator[None]:
    """Keeps an exception that leaves the block, or the function, unless it is for the user."""
    try:
        yield
    except VerletError:
        raise
    except Exception as error:
        keep_fault(error)
        raise


def keep_fault(error: Exception) -> None:
    """Keeps an exception, in place of the last one if that is the same, caught further inside."""
    # As text, that of a KeyError would have quotes and signs in another form.
    message = str(error.args[0] if len(error.args) == 1 else error)
    fault = Fault(_kind(error), message, _calls(error))
    if _last and (_last[0].message, _last[0].calls[-1:]) == (fault.message, fault.calls[-1:]):
        _last.popleft()
    _last.appendleft(fault)


def last_faults() -> tuple[Fault, ...]:
    """The last exceptions, the newest first."""
    return tuple(_last)


def _kind(error: BaseException) -> str:
    """The type of an exception, and of what it followed from."""
    before = error.__cause__ or error.__context__
    return type(error).__name__ + (f" after {_kind(before)}" if before else "")


def _calls(error: Exception) -> tuple[str, ...]:
    """Where an exception went through, without paths: `core/step.py 120, in step`."""
    calls: list[str] = []
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if PACKAGE in path.parents:
            module = path.relative_to(PACKAGE).as_posix()
            calls.append(f"{module} {frame.lineno}, in {frame.name}")
        elif calls[-1:] != [ELSEWHERE]:
            calls.append(ELSEWHERE)
    return tuple(calls[-MOST_CALLS:])
