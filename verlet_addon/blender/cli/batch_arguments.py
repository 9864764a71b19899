"""The arguments of the command line on several files, and their check with all others."""

from argparse import Action, ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from .name_patterns import is_pattern
from .wedges import read_wedge

_OF_THE_BATCH = {
    "inputs", "output", "output_dir", "jobs", "scenes", "wedges", "sheet_frames", "json",
    "log_seconds", "help", "parents",
}  # fmt: skip
"""Arguments, by their `dest`, that a batch uses itself; its tasks get all others as they are."""


def add_batch_arguments(command: ArgumentParser) -> None:
    """Adds the arguments on several files: folder, number of processes, progress."""
    command.add_argument(
        "--output-dir",
        metavar="FOLDER",
        type=Path,
        help="bake several files into this folder, each in a process of its own",
    )
    command.add_argument(
        "--jobs",
        metavar="N",
        type=int,
        help="number of files that are baked at the same time, with --output-dir or --check "
        "(default: 1)",
    )
    add_wedge_argument(command)
    command.add_argument(
        "--sheet-frame",
        metavar="N",
        dest="sheet_frames",
        type=int,
        action="append",
        help="frame on the contact sheet of --wedge; may be given again (default: the last)",
    )
    command.add_argument(
        "--log-seconds",
        metavar="SECONDS",
        type=float,
        help="interval of progress lines where stderr is no terminal (default: 10)",
    )


def add_wedge_argument(command: ArgumentParser) -> None:
    """Adds the argument on values of a setting."""
    command.add_argument(
        "--wedge",
        metavar="[BODY.]SETTING=VALUE,VALUE",
        dest="wedges",
        type=read_wedge,
        action="append",
        default=[],
        help="bake once with each value of a setting, into files named by them; given again, all "
        "combinations; `bake` renders a contact sheet of them",
    )


def complete(command: ArgumentParser, options: Namespace) -> None:
    """Checks arguments with each other; adds `batch`, `scene` and `passed_on`.

    Raises
    ------
    SystemExit
        With code 2 if they contradict each other.
    """
    missing_pattern = is_pattern(str(options.input)) and not options.input.exists()
    several = len(options.inputs) > 1 or len(options.scenes) > 1 or bool(options.wedges)
    asked = options.output_dir is not None or options.jobs is not None
    options.batch = asked or several or (missing_pattern and options.output is None)
    options.scene = options.scenes[0] if options.scenes else None
    if options.jobs is not None and options.jobs < 1:
        command.error("argument --jobs: give 1 or more")
    if options.output is None and options.output_dir is None and not options.check:
        wanted = "--output-dir" if options.batch else "--output"
        command.error(f"the following arguments are required: {wanted}")
    if options.output is not None and options.batch:
        command.error("argument --output: of one file alone; give --output-dir for several")
    if options.sheet_frames and not options.wedges:
        command.error("argument --sheet-frame: needs --wedge")
    options.passed_on = passed_on(command, options, but=_OF_THE_BATCH)


def complete_job(command: ArgumentParser, options: Namespace) -> None:
    """Adds `passed_on` to the arguments of the command `job`."""
    options.passed_on = passed_on(command, options, but=_OF_THE_BATCH | {"format", "frames"})


def passed_on(command: ArgumentParser, options: Namespace, *, but: set[str]) -> list[str]:
    """All given arguments as words of a command line, but for those with these `dest`."""
    # The parser has no public list of its arguments.
    arguments = [each for each in command._actions if each.dest not in but]
    return [word for each in arguments for word in _spelled(each, options)]


def _spelled(action: Action, options: Namespace) -> list[str]:
    """One argument as words of a command line; none if it is not given."""
    value: Any = getattr(options, action.dest)
    if value == action.default or value is None:
        return []
    option = action.option_strings[-1]
    if action.nargs == 0:
        return [option]
    if not isinstance(value, list):
        return [f"{option}={value}"]
    if action.nargs is None:
        return [f"{option}={each}" for each in value]
    return [option, *map(str, value)]
