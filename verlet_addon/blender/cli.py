"""The command line: `blender --command verlet …` and `python -m verlet_addon …`."""

import json
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import monotonic

import bpy

from ..core.errors import VerletError
from .bake import Progress, bake, bodies, frame_range, taking_part
from .bake_record import remember_remarks
from .blend_files import check_no_library, destination, open_blend, save_copy
from .cautions import cautions
from .console import answer, perhaps, tell
from .drivers import DriverWatch
from .file_context import file_context
from .file_warnings import file_warnings
from .overrides import override
from .properties import is_body, scene_properties
from .quiet import open_closed_streams, outlive_readers, stdout_on_stderr

LOG_SECONDS = 10.0
"""How often a log that nobody watches is told how far a bake is [s]."""
_EPILOG = """\
Blender runs a file's scripts and its drivers of Python code only if you trust it: give -y, or allow
them in Blender's preferences. What was kept from running, or is missing, is warned of on stderr.
A bake that was cut off has written nothing, and begins anew at its first frame. Exit code: 0 the
file is written, 1 a mistake in the input, 2 wrong usage, 130 interrupted."""


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
        0 on success, 1 after a mistake in the input, 130 after Ctrl+C; both told in one line on
        stderr, with nothing written.

    Raises
    ------
    SystemExit
        With code 2 after wrong usage, 0 after `--help`.
    """
    open_closed_streams()
    outlive_readers()
    options = _parser(program).parse_args(arguments)
    if signal.getsignal(signal.SIGINT) is None:
        # Blender's own handler lets a command run to its end, and Python cannot put it back; but
        # the command is the last thing that this process does.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = _bake(options)
    except VerletError as error:
        tell(str(error))
        return 1
    except KeyboardInterrupt:
        tell("interrupted; nothing was written")
        return 130
    answer(result)
    return 0


def _parser(program: str) -> ArgumentParser:
    """Describes the arguments."""
    parser = ArgumentParser(prog=program, description="Cloth, rope, jelly and water from any mesh.")
    commands = parser.add_subparsers(required=True, metavar="bake")
    command = commands.add_parser(
        "bake",
        help="simulate a file's bodies and save a copy with shape keys",
        description="Simulates a .blend file's bodies and saves a copy with shape keys.",
        epilog=_EPILOG,
    )
    command.add_argument("input", metavar="IN.blend", type=Path, help="file to read")
    command.add_argument(
        "--output",
        metavar="OUT.blend",
        type=Path,
        required=True,
        help="file to write; replaces an older one once it is complete",
    )
    _add_choices(command)
    _add_manners(command)
    return parser


def _add_choices(command: ArgumentParser) -> None:
    """Describes what says what is baked."""
    command.add_argument(
        "--object",
        metavar="NAME",
        dest="names",
        action="append",
        help="bake this body; may be given again (default: all bodies of the scene)",
    )
    command.add_argument(
        "--scene", metavar="NAME", help="bake this scene (default: the one that the file shows)"
    )
    command.add_argument(
        "--set",
        metavar="[BODY.]SETTING=VALUE",
        dest="assignments",
        action="append",
        default=[],
        help="bake with another value of a setting of the scene, or of a body, and keep it in the "
        "output; may be given again",
    )
    command.add_argument(
        "--frames",
        nargs=2,
        metavar=("A", "B"),
        type=int,
        help="first and last frame (default: the scene's)",
    )
    command.add_argument(
        "--step", metavar="N", type=int, help="a shape key every N frames (default: the scene's)"
    )
    command.add_argument(
        "--mode", choices=["relative"], default="relative", help="kind of shape keys"
    )


def _add_manners(command: ArgumentParser) -> None:
    """Describes what says how the command goes about it."""
    command.add_argument(
        "-y",
        "--enable-autoexec",
        action="store_true",
        dest="run_scripts",
        help="let the file's scripts and Python drivers run",
    )
    command.add_argument(
        "--strict", action="store_true", help="end with code 1 where there would be a warning"
    )
    command.add_argument("--json", action="store_true", help="print the result as JSON")


def _bake(options: Namespace) -> str:
    """Opens the file, bakes, saves the copy and says what was done."""
    output = destination(options.output)
    warnings = open_blend(options.input, run_scripts=options.run_scripts) + file_warnings()
    _warn(warnings, strict=options.strict)
    check_no_library(output)
    shown = file_context(bpy.context).scene.name
    _show(options.scene or shown)
    told = _bake_scene(options, output, warnings)
    _show(shown)
    save_copy(output)
    return told


def _bake_scene(options: Namespace, output: Path, warnings: list[str]) -> str:
    """Bakes the scene that the file shows, and says what was done."""
    here = file_context(bpy.context)
    if options.assignments:
        with stdout_on_stderr():
            override(here.scene, options.assignments)
    chosen = _chosen(here.scene, options.names)
    objects = chosen if options.names else taking_part(chosen, here.view_layer)
    names = [obj.name for obj in objects]
    start, end = options.frames or frame_range(here.scene)
    step = scene_properties(here.scene).key_step if options.step is None else options.step
    started = monotonic()
    with stdout_on_stderr():
        # Of those that Blender blocked, the file's warnings tell.
        drivers = DriverWatch(here.view_layer, but_blocked=True)
        broken = _warn(drivers.news(here.view_layer), strict=options.strict)
        running = bake(
            here.scene,
            here.view_layer,
            objects,
            frame_start=start,
            frame_end=end,
            step=step,
        )
        before = _warn(cautions(here.scene, here.view_layer, chosen), strict=options.strict)
        last = _follow(running)
    seconds = monotonic() - started
    later = _warn(drivers.news(here.view_layer), strict=options.strict)
    said = [*broken, *before, *later]
    remember_remarks(here.scene, [*said, *last.remarks])
    if not options.json:
        return f"Baked {', '.join(names)}, frames {start} to {end}, in {seconds:.1f} s: {output}"
    result = {
        "output": str(output),
        "bodies": names,
        "frames": [start, end],
        "step": step,
        "seconds": round(seconds, 3),
        "warnings": [*warnings, *said],
    }
    return json.dumps(result | _quality(last))


def _show(name: str) -> None:
    """Lets the file show a scene."""
    scene = bpy.data.scenes.get(name)
    if scene is None:
        there = ", ".join(each.name for each in bpy.data.scenes)
        raise VerletError(f"There is no scene {name} in the file; there is {there}")
    if scene != (here := file_context(bpy.context)).scene:
        here.window_manager.windows[0].scene = scene


def _quality(last: Progress) -> dict[str, object]:
    """What the result says of how well it went."""
    return {
        "worst_stretch": last.worst_stretch,
        "most_stretched": last.most_stretched,
        "worst_penetration": last.worst_penetration,
        "colliders": last.colliders,
        "remarks": list(last.remarks),
    }


def _warn(warnings: Sequence[str], *, strict: bool) -> Sequence[str]:
    """Tells what is wrong with the file, or takes it for an error; gives back what it told."""
    if warnings and strict:
        raise VerletError(". ".join(warnings))
    for warning in warnings:
        tell(f"warning: {warning}")
    return warnings


def _follow(progress: Iterable[Progress]) -> Progress:
    """Bakes to the end, telling on stderr how far it is; gives what was reached.

    On a terminal that is one line that changes; in a log, a line each `LOG_SECONDS`.
    """
    logged, first = monotonic(), None
    terminal = sys.stderr is not None and sys.stderr.isatty()
    try:
        for now in progress:
            moment = monotonic()
            first = first or moment
            line = now.describe(seconds=moment - first)
            if terminal:
                print(f"\r\x1b[KVerlet: {line}", end="", file=sys.stderr, flush=True)
            elif moment - logged >= LOG_SECONDS:
                tell(line)
                logged = moment
    finally:
        if terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    _warn(now.remarks, strict=False)
    return now


def _chosen(scene: bpy.types.Scene, names: list[str] | None) -> list[bpy.types.Object]:
    """Finds the bodies of the given names, or all, in the scene's order."""
    everything = bodies(scene)
    if names is None:
        return everything
    for name in names:
        if name not in scene.objects:
            meant = perhaps(name, (obj.name for obj in everything))
            raise VerletError(f"There is no object {name} in the scene {scene.name}{meant}")
        if scene.objects[name] not in everything:
            remedy = "switch it on" if is_body(scene.objects[name]) else "make it one"
            raise VerletError(f"{name} is no soft body that is on; {remedy} in Blender first")
    return [obj for obj in everything if obj.name in names]
