"""`python -m verlet_addon bake …`, for Blender as a Python module."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def main() -> int:
    """Registers the add-on in the `bpy` module and runs the command line."""
    try:
        with _ended_by_ctrl_c():
            from .blender import blend_files, cli
    except ModuleNotFoundError as error:
        if error.name != "bpy":
            raise
        print("verlet: this needs Blender as a Python module; pip install bpy", file=sys.stderr)
        return 1
    from . import register, unregister

    register()
    try:
        return cli.main(sys.argv[1:], program="python -m verlet_addon")
    finally:
        # Blender as a module does not end cleanly while classes of ours are registered.
        unregister()
        blend_files.close_blend()


@contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """Ends the process on Ctrl+C, for Blender swallows KeyboardInterrupt while it starts."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        # Ctrl+C is not meant for this process, which a shell started in the background.
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    """Ends the process without further ado."""
    os.write(2, b"verlet: interrupted; nothing was written\n")
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
