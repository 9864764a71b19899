"""The command line: `blender --command verlet …` and `python -m verlet_addon …`."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import bpy

from ...core.errors import VerletError
from ...core.self_test import fallback_reason, kernels
from ...core.team.threads import thread_count
from ..bake.cache_checks import shown_caches
from ..bake.cache_folder import delete_replaced
from ..bake.drivers import DriverWatch
from ..bake.memory import memory_errors_named
from ..bake.progress import Progress
from ..bake.record import remember_remarks
from ..scene.file_context import file_context
from ..scene.file_warnings import file_warnings
from ..settings.properties import is_body
from ..settings.versions import addon_version
from .arguments import read_arguments
from .bake_conversion_command import convert_file
from .batch import run_batch
from .blend_files import (
    check_no_library,
    destination,
    make_folder,
    open_blend,
    remove_leftovers,
    save_copy,
)
from .console import log, show_status
from .contact_sheet import run_sheet
from .dry_run import dry_run
from .farm_command import run_job
from .fit_command import fit_file
from .job import Job, find_job, show_scene
from .output_capture import open_closed_streams, outlive_readers, stdout_on_stderr
from .report_command import run_report
from .results import Report, UsageError, in_words
from .signals import Ended, check_signals, ended_by_signals, ignore_signals, signals_deferred

LOG_SECONDS = 10.0
"""Interval of progress lines where stderr is no terminal [s]."""
_CHANGES = {"convert": convert_file, "fit": fit_file}
"""Functions of the commands that change a file without a bake."""


def main(arguments: Sequence[str], *, program: str = "blender --command verlet") -> int:
    """Runs the command line.

    Parameters
    ----------
    arguments
        The arguments after the program's name.
    program
        The program's name in the help and in errors of usage.

    Returns
    -------
    int
        The exit code, as listed in the help. Where it is not 0, stderr has a line for each error
        and nothing is written.

    Raises
    ------
    SystemExit
        With code 2 after wrong usage, 0 after `--help` and `--version`.
    """
    open_closed_streams()
    outlive_readers()
    usage = Report(as_json="--json" in arguments)
    options = read_arguments(
        arguments,
        program=program,
        version=lambda: _print_version(usage),
        misused=usage.misuse,
    )
    report = Report(as_json=options.json, strict=options.strict, all_errors=options.check)
    try:
        with ended_by_signals(), memory_errors_named(str(options.input)):
            if options.command == "sheet":
                return run_sheet(options, report)
            if options.command == "job":
                return run_job(options, report)
            if options.command == "report":
                return run_report(options, report)
            if options.batch:
                return run_batch(options, report)
            result = _run(options, report)
            ignore_signals()
            return report.succeed(in_words(result), result)
    except (VerletError, Ended) as error:
        return report.fail(error, file=options.input, bodies=_bodies())
    except Exception as error:
        report.fail(error, file=options.input)
        raise


def _run(options: Namespace, report: Report) -> dict[str, Any]:
    """Opens the file, bakes, saves a copy and returns values for JSON; or a dry run's."""
    with report.attempt():
        thread_count()
    with report.attempt():
        fallback_reason()
    output = _prepare(options, report)
    report.warn(open_blend(options.input, run_scripts=options.run_scripts) + file_warnings())
    if output is not None:
        with report.attempt():
            check_no_library(output)
    shown = file_context(bpy.context).scene.name
    show_scene(options.scene or shown)
    if options.command in _CHANGES:
        return _change(options, output, report, shown)
    job = find_job(options, output, report)
    for sentence in job.large_need():
        log(sentence)
    if options.check:
        remarks = dry_run(job, report)
        return {**job.describe(), "output": _path(output), "remarks": remarks}
    seconds, last = _bake(
        job, report, LOG_SECONDS if options.log_seconds is None else options.log_seconds
    )
    show_scene(shown)
    assert output is not None
    save_copy(output)
    if job.cache is not None:
        delete_replaced(output)
    return {
        "output": str(output),
        **job.describe(),
        "seconds": round(seconds, 3),
        "kernels": kernels(),
        **({"caches": [str(path) for _, path in shown_caches()]} if job.cache is not None else {}),
        **_quality(last),
        "bakes": job.achieved(),
    }


def _change(options: Namespace, output: Path | None, report: Report, shown: str) -> dict[str, Any]:
    """Changes the open file, saves a copy that shows a scene; returns values for JSON."""
    assert output is not None
    result = _CHANGES[options.command](options, output, report)
    show_scene(shown)
    save_copy(output)
    delete_replaced(output)
    return result


def _prepare(options: Namespace, report: Report) -> Path | None:
    """Checks that the output can be written, and deletes temporary files of killed jobs there."""
    if options.output is None:
        return None
    with report.attempt():
        if options.parents:
            make_folder(options.output.parent)
        output = destination(options.output)
        if options.output.suffix.lower() != ".blend":
            raise UsageError(f"{options.output} is no .blend file; name it with .blend")
        for sentence in remove_leftovers(output.parent):
            report.note(sentence)
        return output
    return None


def _path(path: Path | None) -> str | None:
    """A path as text; None stays None."""
    return None if path is None else str(path)


def _bake(job: Job, report: Report, log_seconds: float) -> tuple[float, Progress]:
    """Bakes; returns the duration [s] and the last progress."""
    started = monotonic()
    with stdout_on_stderr():
        # Drivers that Blender blocks are in the file's warnings already.
        drivers = DriverWatch(job.view_layer, but_blocked=True)
        broken = report.warn(drivers.news(job.view_layer))
        with closing(job.bake()) as running, _cache_named(job):
            before = report.warn(job.cautions())
            last = _follow(running, log_seconds, whole_frames=job.keeps_frames)
    seconds = monotonic() - started
    later = report.warn(drivers.news(job.view_layer))
    report.remark(last.remarks)
    remember_remarks(job.scene, [*broken, *before, *later, *last.remarks])
    return seconds, last


@contextmanager
def _cache_named(job: Job) -> Iterator[None]:
    """Has the message of a signal say that the cache stays, where its frames do."""
    try:
        yield
    except Ended as ended:
        if not job.keeps_frames:
            raise
        left = "the frames in the cache stay, and --resume goes on with them"
        raise Ended(ended.number, left) from None


def _quality(last: Progress) -> dict[str, object]:
    """Statistics of a bake for the JSON result."""
    return {
        "worst_stretch": last.worst_stretch,
        "most_stretched": last.most_stretched,
        "worst_penetration": last.worst_penetration,
        "colliders": last.colliders,
        "threads": last.threads,
        "contact_searches": [
            {"objects": names, "searches": each.searches, "tests": each.tests}
            for names, each in sorted(
                last.contact_searches.items(), key=lambda item: -item[1].tests
            )
        ],
        "remarks": list(last.remarks),
    }


def _follow(progress: Iterable[Progress], log_seconds: float, *, whole_frames: bool) -> Progress:
    """Bakes to the end and prints the progress on stderr; returns the last progress.

    On a terminal the progress is one line that is overwritten, otherwise one line each
    `log_seconds`. With `whole_frames`, a signal waits until the frame at hand is simulated: only
    between frames can the simulation be stored.
    """
    logged, first = monotonic(), None
    terminal = sys.stderr is not None and sys.stderr.isatty()
    waiting = ExitStack()
    try:
        for now in progress:
            check_signals()
            if whole_frames and first is None:
                waiting.enter_context(signals_deferred())
            moment = monotonic()
            first = first or moment
            line = now.describe(seconds=moment - first)
            if terminal:
                show_status(f"Verlet: {line}")
            elif moment - logged >= log_seconds:
                log(line)
                logged = moment
        check_signals()
    finally:
        waiting.close()
        if terminal:
            show_status("")
    return now


def _print_version(report: Report) -> None:
    """Prints the versions of add-on and Blender, and the kernels in use with the reason."""
    try:
        reason, served = fallback_reason(), kernels()
    except VerletError as error:
        reason, served = str(error), "none"
    version = addon_version()
    because = f" ({reason})" if reason else ""
    report.succeed(
        f"Verlet {version}, Blender {bpy.app.version_string}, kernels: {served}{because}",
        {
            "version": version,
            "blender": bpy.app.version_string,
            "kernels": served,
            "reason": reason or None,
        },
    )


def _bodies() -> list[str]:
    """Names of all bodies of the file."""
    return [obj.name for obj in bpy.data.objects if is_body(obj)]
