"""The command line: `blender --command verlet …` and `python -m verlet_addon …`."""

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import bpy

from ..core.errors import VerletError
from .bake import Progress, bake, bodies, frame_range
from .file_context import file_context
from .quiet import quiet

# How a .blend begins: plain, compressed by Blender 3.0 and later, compressed by older ones.
_SIGNATURES = (b"BLENDER", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")


def main(arguments: Sequence[str], *, program: str = "blender --command verlet") -> int:
    """Runs the command line.

    Parameters
    ----------
    arguments
        What stands after the program's name.
    program
        The program's name in the help and in errors of usage.

    Returns
    -------
    int
        0 on success, 1 after a mistake in the input, told in one line on stderr.

    Raises
    ------
    SystemExit
        With code 2 after wrong usage, 0 after `--help`.
    """
    options = _parser(program).parse_args(arguments)
    try:
        _bake(options)
    except VerletError as error:
        print(f"verlet: {error}", file=sys.stderr)
        return 1
    return 0


def _parser(program: str) -> ArgumentParser:
    """Describes the arguments."""
    parser = ArgumentParser(prog=program, description="Cloth, rope and jelly from any mesh.")
    commands = parser.add_subparsers(required=True, metavar="bake")
    command = commands.add_parser(
        "bake",
        help="simulate a file's bodies and save a copy with shape keys",
        description="Simulates a .blend file's bodies and saves a copy with shape keys.",
    )
    command.add_argument("input", metavar="IN.blend", type=Path, help="file to read")
    command.add_argument(
        "--output", metavar="OUT.blend", type=Path, required=True, help="file to write"
    )
    command.add_argument(
        "--object",
        metavar="NAME",
        dest="names",
        action="append",
        help="bake this body; may be given again (default: all bodies of the scene)",
    )
    command.add_argument(
        "--frames",
        nargs=2,
        metavar=("A", "B"),
        type=int,
        help="first and last frame (default: the scene's)",
    )
    command.add_argument(
        "--step", metavar="N", type=int, default=1, help="a shape key every N frames (default: 1)"
    )
    command.add_argument(
        "--mode", choices=["relative"], default="relative", help="kind of shape keys"
    )
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser


def _bake(options: Namespace) -> None:
    """Opens the file, bakes, saves the copy and prints what was done."""
    output = _writable(options.output)
    _open(options.input)
    here = file_context(bpy.context)
    objects = _chosen(here.scene, options.names)
    names = [obj.name for obj in objects]
    start, end = options.frames or frame_range(here.scene)
    started = monotonic()
    worst_stretch = _follow(
        bake(
            here.scene,
            here.view_layer,
            objects,
            frame_start=start,
            frame_end=end,
            step=options.step,
        )
    )
    seconds = monotonic() - started
    _save(output)
    if options.json:
        result = {
            "output": str(output),
            "bodies": names,
            "frames": [start, end],
            "step": options.step,
            "seconds": round(seconds, 3),
            "worst_stretch": worst_stretch,
        }
        print(json.dumps(result), flush=True)
    else:
        print(f"Baked {', '.join(names)}, frames {start} to {end}, in {seconds:.1f} s: {output}")


def _follow(progress: Generator[Progress, None, None]) -> float:
    """Bakes to the end, with a line that tells how far on a terminal; gives the worst stretch."""
    started = monotonic()
    worst_stretch = 0.0
    terminal = sys.stderr.isatty()
    for now in progress:
        worst_stretch = now.worst_stretch
        if terminal:
            line = now.describe(seconds=monotonic() - started)
            print(f"\r\x1b[KVerlet: {line}", end="", file=sys.stderr, flush=True)
    if terminal:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return worst_stretch


def _open(path: Path) -> None:
    """Opens a .blend file."""
    try:
        with path.open("rb") as file:
            known = file.read(7).startswith(_SIGNATURES)
    except OSError as error:
        raise VerletError(f"Cannot read {path}: {error.strerror}") from error
    if not known:
        raise VerletError(f"{path} is not a .blend file")
    with quiet(), _blender_errors():
        bpy.ops.wm.open_mainfile(filepath=str(path.absolute()))


def _writable(path: Path) -> Path:
    """Makes sure, before any work is done, that a file can be written; gives its full path."""
    path = path.absolute()
    if path.is_dir():
        raise VerletError(f"Cannot write {path}: it is a folder; name a file")
    if not path.parent.is_dir():
        raise VerletError(f"Cannot write {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise VerletError(f"Cannot write {path}: permission denied")
    return path


def _save(path: Path) -> None:
    """Saves a copy; Blender writes it beside the old one and puts it in place when complete."""
    with quiet(), _blender_errors():
        bpy.ops.wm.save_as_mainfile(
            filepath=str(path), copy=True, check_existing=False, relative_remap=True
        )


def _chosen(scene: bpy.types.Scene, names: list[str] | None) -> list[bpy.types.Object]:
    """Finds the bodies of the given names, or all, in the scene's order."""
    everything = bodies(scene)
    if names is None:
        return everything
    for name in names:
        if name not in scene.objects:
            raise VerletError(f"There is no object {name} in the scene {scene.name}")
        if scene.objects[name] not in everything:
            raise VerletError(f"{name} is not a soft body; make it one in Blender first")
    return [obj for obj in everything if obj.name in names]


@contextmanager
def _blender_errors() -> Iterator[None]:
    """Turns what an operator reports into one sentence of ours."""
    try:
        yield
    except RuntimeError as error:
        raise VerletError(" ".join(str(error).removeprefix("Error: ").split())) from error
