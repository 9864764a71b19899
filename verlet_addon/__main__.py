"""`python -m verlet_addon bake …`, for Blender as a Python module."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .blender.cli.results import Report
from .blender.cli.signals import WORDS, Ended, ignore_signals
from .core.errors import VerletError


def main() -> int:
    """Registers the add-on in the `bpy` module and runs the command line."""
    try:
        with _ended_at_once():
            from . import register, unregister
            from .blender.cli import blend_files, command

            register()
    except ModuleNotFoundError as error:
        if error.name != "bpy":
            raise
        return _report().fail(VerletError("this needs Blender as a Python module; pip install bpy"))
    try:
        return command.main(sys.argv[1:], program="python -m verlet_addon")
    finally:
        ignore_signals()
        # Blender as a Python module crashes at exit while add-on classes are registered.
        unregister()
        blend_files.close_blend()


def _report() -> Report:
    return Report(as_json="--json" in sys.argv)


@contextmanager
def _ended_at_once() -> Iterator[None]:
    """Ends the process at once on a signal, since Blender discards exceptions while it starts.

    A signal that the process ignores stays ignored, as Ctrl+C is in a shell's background job.
    """
    former = {number: signal.getsignal(number) for number in WORDS}
    former = {number: handler for number, handler in former.items() if handler != signal.SIG_IGN}
    for number in former:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _end(number: int, _frame: object) -> None:
    """Reports the signal and ends the process at once."""
    os._exit(_report().fail(Ended(number)))


if __name__ == "__main__":
    sys.exit(main())
