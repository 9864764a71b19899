"""The arguments of the command line, and its help."""

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from .batch_arguments import add_batch_arguments, complete, complete_job
from .contact_sheet import add_sheet_arguments
from .farm_command import add_job_arguments
from .fit_command import add_fit_arguments
from .report_command import add_report_arguments

_EPILOG = """\
Blender runs a file's scripts and its drivers of Python code only if you trust it: give -y, or allow
them in Blender's preferences. Warnings on stderr name blocked scripts and missing files. A bake
that was interrupted has written nothing but its cache; run it again, or --resume. Exit code: 0 the
file is written, 1 a mistake in the scene, its settings or the command, 2 wrong usage, 3 a file that
cannot be read or written, 4 a full disk, 5 too little memory, 130 interrupted, 143 terminated. Of
several files: 0 all are written, 1 at least one is not, 2 wrong usage."""


def read_arguments(
    arguments: Sequence[str],
    *,
    program: str,
    version: Callable[[], None],
    misused: Callable[[str, str], None],
) -> Namespace:
    """Parses the command line's arguments.

    Parameters
    ----------
    arguments
        The arguments after the program's name.
    program
        The program's name in the help and in errors of usage.
    version
        Function that prints the version.
    misused
        Function that is called on wrong usage with the message and the name of the command, before
        the process ends.

    Raises
    ------
    SystemExit
        With code 2 after wrong usage, 0 after `--help` and `--version`.
    """

    class Parser(ArgumentParser):
        """Parser that also passes errors of usage to `misused`."""

        def error(self, message: str) -> NoReturn:
            misused(message, self.prog.rpartition(" ")[2])
            super().error(message)

    class Version(Action):
        """Prints the version and ends."""

        def __call__(self, parser: ArgumentParser, *_: Any) -> None:
            version()
            parser.exit()

    parser = Parser(prog=program, description="Cloth, rope, jelly and water from any mesh.")
    shown = "print the versions of add-on and Blender, and the kernels in use"
    parser.add_argument("--version", nargs=0, action=Version, help=shown)
    parser.add_argument("--json", action="store_true", help="print the version as JSON")
    commands = add_commands(parser)
    options = parser.parse_args(arguments)
    options.input = options.inputs[0] if options.inputs else None
    if options.command == "bake":
        _check_together(commands["bake"], options)
        complete(commands["bake"], options)
    elif options.command == "convert":
        _check_tolerance(commands["convert"], options)
        options.scene = options.scenes[0] if options.scenes else None
    elif options.command == "job":
        _check_together(commands["job"], options)
        complete_job(commands["job"], options)
    return options


def add_commands(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """Adds the commands to the parser; returns those by name whose options depend on each other."""
    commands = parser.add_subparsers(
        required=True, dest="command", metavar="{bake,convert,fit,sheet,job,report}"
    )
    bake = commands.add_parser(
        "bake",
        help="simulate a file's bodies and save a copy with their motion",
        description="Simulates a .blend file's bodies and saves a copy with their motion.",
        epilog=_EPILOG,
    )
    for add_arguments in (
        _add_files,
        _add_choices,
        _add_forms,
        _add_options,
        add_batch_arguments,
    ):
        add_arguments(bake)
    _add_fit(commands)
    sheet = commands.add_parser(
        "sheet",
        help="render a frame of each of several files into one picture",
        description="Renders a frame of each of several files into one picture.",
    )
    add_sheet_arguments(sheet)
    _add_report(commands)
    convert = _add_convert(commands)
    job = commands.add_parser(
        "job",
        help="write the bakes of many files as a job for a render farm",
        description="Writes the bakes of many files as a job for a render farm, each a task.",
    )
    for add_arguments in (add_job_arguments, _add_choices, _add_forms, _add_options):
        add_arguments(job)
    return {"bake": bake, "convert": convert, "job": job}


def _check_together(command: ArgumentParser, options: Namespace) -> None:
    """Ends with an error of usage where an option lacks another one that it needs."""
    if options.resume and (options.mode != "cache" or options.check):
        command.error("--resume needs --mode cache and an output")
    if options.from_frame and not options.resume:
        command.error("--from-frame needs --resume")
    _check_tolerance(command, options)
    if options.loop and options.resume:
        command.error("--loop cannot be resumed; give one of --loop and --resume")


def _check_tolerance(command: ArgumentParser, options: Namespace) -> None:
    """Ends with an error of usage where a tolerance is given without components."""
    if options.tolerance is not None and options.mode != "compact":
        command.error("--tolerance needs --mode compact")


def _add_files(command: ArgumentParser) -> None:
    """Adds the arguments for the files that are read and written."""
    command.add_argument(
        "inputs",
        metavar="IN.blend",
        nargs="+",
        type=Path,
        help="file to read; with --output-dir several, and patterns such as 'shots/*.blend'",
    )
    _add_output(command)
    command.add_argument(
        "--check",
        action="store_true",
        help="print all errors and warnings that a bake would start with, and write nothing",
    )


def _add_output(command: ArgumentParser, *, required: bool = False) -> None:
    """Adds the arguments for the file that is written."""
    command.add_argument(
        "--output",
        metavar="OUT.blend",
        type=Path,
        required=required,
        help="file to write; replaces an older one once it is complete",
    )
    command.add_argument(
        "--parents", action="store_true", help="make the folder of --output where it is missing"
    )


def _add_written(command: ArgumentParser) -> None:
    """Adds the arguments for the file that a command on a single file always writes."""
    _add_output(command, required=True)
    command.set_defaults(check=False, batch=False)


def _add_bodies(command: ArgumentParser) -> None:
    """Adds the arguments that choose scene and bodies."""
    command.add_argument(
        "--object",
        metavar="NAME",
        dest="names",
        action="append",
        help="take this body, or all that match a pattern; may be given again (default: all bodies "
        "of the scene)",
    )
    command.add_argument(
        "--scene",
        metavar="NAME",
        dest="scenes",
        action="append",
        default=[],
        help="take this scene (default: the file's active one); with --output-dir a pattern or "
        "several, each into a file of its own",
    )


def _add_step(command: ArgumentParser, own: str) -> None:
    """Adds the argument on frames between shape keys."""
    command.add_argument(
        "--step", metavar="N", type=int, help=f"a shape key every N frames (default: {own})"
    )


def _add_choices(command: ArgumentParser) -> None:
    """Adds the arguments that choose what is baked: bodies, scene, settings, frames."""
    _add_bodies(command)
    command.add_argument(
        "--set",
        metavar="[BODY.]SETTING=VALUE",
        dest="assignments",
        action="append",
        default=[],
        help="bake with another value of a setting of the scene, of all bodies or of those that "
        "match BODY, and keep it in the output; an error where none matches; may be given again",
    )
    command.add_argument(
        "--frames",
        nargs=2,
        metavar=("A", "B"),
        type=int,
        help="first and last frame (default: the scene's)",
    )
    _add_step(command, "the scene's")


def _add_forms(command: ArgumentParser) -> None:
    """Adds the arguments on the form in which the motion is kept."""
    command.add_argument(
        "--mode",
        choices=["relative", "cache", "absolute", "compact"],
        default="relative",
        help="relative: a shape key for each frame; cache: files beside OUT.blend; absolute: keys "
        "that one curve plays, quick with a thousand of them; compact: principal components",
    )
    _add_tolerance(command)
    command.add_argument(
        "--bones",
        type=str.lower,
        choices=["constraints", "action", "nla"],
        help="how soft bones show the bake: by constraints, as keys in a new action, or in a track "
        "of the NLA (default: the setting Bones To of each)",
    )
    command.add_argument(
        "--loop",
        metavar="N",
        type=int,
        default=0,
        help="have N frames repeat, simulated so that the end leads into the start",
    )
    command.add_argument(
        "--resume",
        action="store_true",
        help="go on where the cache beside OUT.blend ends, also after a job that was killed; where "
        "there is none, bake from the first frame",
    )
    command.add_argument(
        "--from-frame",
        metavar="N",
        type=int,
        default=0,
        help="with --resume, simulate again from this frame on (default: the first that the cache "
        "lacks)",
    )


def _add_tolerance(command: ArgumentParser) -> None:
    """Adds the argument on principal components."""
    command.add_argument(
        "--tolerance",
        metavar="METRES",
        type=float,
        help="with --mode compact, how far any vertex may be off at any frame (default: the "
        "scene's)",
    )


def _add_fit(commands: Any) -> None:
    """Adds the command `fit`."""
    fit = commands.add_parser(
        "fit",
        help="drape garments on each shape key of a body and save a copy with a key of each",
        description="Drapes garments on a body and on each of its shape keys, the morphs, and "
        "saves a copy in which the garments have a shape key of the same name for each.",
    )
    for add_arguments in (add_fit_arguments, _add_written, _add_options):
        add_arguments(fit)


def _add_report(commands: Any) -> None:
    """Adds the command `report`."""
    report = commands.add_parser(
        "report",
        help="print what helps to mend a fault, without names and paths of yours",
        description="Prints versions, kernels, and the settings and remarks of the last bake of a "
        "file, to be pasted where you report a fault. Names and paths of yours are left out.",
    )
    add_report_arguments(report)


def _add_convert(commands: Any) -> ArgumentParser:
    """Adds the command `convert`; returns it."""
    convert: ArgumentParser = commands.add_parser(
        "convert",
        help="give the bakes of a file another form, without a simulation",
        description="Gives the bakes of a .blend file another form, and saves a copy.",
    )
    convert.add_argument("inputs", metavar="IN.blend", nargs=1, type=Path, help="file to read")
    _add_written(convert)
    _add_bodies(convert)
    _add_step(convert, "that of the bake")
    convert.add_argument(
        "--mode",
        choices=["relative", "cache", "absolute", "compact"],
        required=True,
        help="form of the bakes, as for `bake`",
    )
    _add_tolerance(convert)
    _add_options(convert)
    return convert


def _add_options(command: ArgumentParser) -> None:
    """Adds the arguments on scripts, warnings and the form of the result."""
    command.add_argument(
        "-y",
        "--enable-autoexec",
        action="store_true",
        dest="run_scripts",
        help="let the file's scripts and Python drivers run",
    )
    command.add_argument(
        "--strict", action="store_true", help="treat a warning as an error, with exit code 1"
    )
    command.add_argument("--json", action="store_true", help="print the result as JSON")
