"""The command `job`, which writes a batch as a job for a render farm."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path

from ..scene.file_errors import errors_named
from .batch_arguments import add_wedge_argument
from .farm_shots import FarmJob, command_lines, find_farm_job
from .flamenco import job_type
from .open_job_description import parameter_values, template
from .results import Report
from .setting_overrides import check


def add_job_arguments(command: ArgumentParser) -> None:
    """Adds the arguments of the command `job`, without those that its bakes get as they are."""
    add = command.add_argument
    add(
        "inputs",
        metavar="IN.blend",
        nargs="+",
        type=Path,
        help="files to bake, and patterns such as 'shots/*.blend'",
    )
    add("--output-dir", metavar="FOLDER", type=Path, required=True, help="folder for the outputs")
    add(
        "--format",
        choices=["openjd", "flamenco", "commands"],
        required=True,
        help="the farm's format; commands is a line of shell for each bake",
    )
    add(
        "--output",
        metavar="PATH",
        type=Path,
        required=True,
        help="openjd: folder of a job bundle, with template.json; flamenco and commands: file",
    )
    add_wedge_argument(command)
    command.set_defaults(check=False)


def run_job(options: Namespace, report: Report) -> int:
    """Writes the job; returns the exit code.

    Raises
    ------
    DiskFullError, FileError
        The disk is full, or the job cannot be written.
    UsageError
        The arguments name no file, or names that the format does not allow.
    SettingsError
        `--set` or `--wedge` names no setting, or a value that it cannot have.
    """
    job = find_farm_job(options)
    wedges = [f"{each.setting}={value}" for each in job.wedges for value in each.values]
    for assignment in (*options.assignments, *wedges):
        check(assignment)
    match options.format:
        case "openjd":
            texts = _bundle(job)
        case "flamenco":
            texts = {"": job_type(job)}
        case _:
            texts = {"": command_lines(job)}
    for name, text in texts.items():
        path = options.output / name
        with errors_named("write", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    tasks = len(job.tasks)
    values = {"output": str(options.output), "format": options.format, "tasks": tasks}
    return report.succeed(f"Wrote a job of {tasks} tasks: {options.output}", values)


def _bundle(job: FarmJob) -> dict[str, str]:
    """The files of a job bundle."""
    values = {"template.json": template(job), "parameter_values.json": parameter_values(job)}
    return {name: json.dumps(value, indent=2, ensure_ascii=False) for name, value in values.items()}
