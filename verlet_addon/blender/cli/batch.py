"""Several bakes, each in a process of its own: progress, and a report with a row for each."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

from ...core.errors import VerletError
from .blend_files import close_blend, make_folder, remove_leftovers
from .console import StatusLines, log, print_result
from .processes import Result, own_command, run_all
from .results import Report, describe, in_words
from .signals import Ended
from .tasks import Task, find_tasks
from .wedge_sheets import render_sheets

_TERMINAL_SECONDS = 1.0
"""Interval of progress on a terminal [s]."""


def run_batch(options: Namespace, report: Report) -> int:
    """Runs all tasks, prints their progress and the report, and returns the exit code."""
    close_blend()
    started, results = monotonic(), dict[int, Result]()
    tasks: list[Task] = []
    sheets: dict[Path, Result] = {}

    def values(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        return _values(rows, [*sheets.values()], monotonic() - started)

    try:
        tasks += find_tasks(options)
        _prepare_folder(options, report)
        _run(tasks, options, results)
        if options.wedges and not options.check:
            _render_sheets(tasks, results, options, sheets)
    except Ended as error:
        _prepare_folder(options, report)
        ended = Ended(error.number, _left(tasks, results, sheets, options))
        rows = _rows(tasks, results, {"error": describe(ended, file=None)})
        return report.fail(ended, values=values(rows))
    except VerletError as error:
        rows = _rows(tasks, results, {"error": describe(error, file=None)})
        return report.fail(error, file=options.input, values=values(rows))
    rows = _rows(tasks, results, {})
    failed = [task.name for task, row in zip(tasks, rows, strict=True) if row["error"]]
    told = f"; failed: {', '.join(failed)}" if failed else ""
    what = "Checked" if options.check else "Baked"
    seconds = monotonic() - started
    whole = f"{what} {_succeeded(results)} of {len(tasks)} in {seconds:.1f} s{told}"
    report.succeed(whole, values(rows))
    return 1 if failed or any(sheet["error"] for sheet in sheets.values()) else 0


def _left(
    tasks: Sequence[Task],
    results: Mapping[int, Result],
    sheets: Mapping[Path, Result],
    options: Namespace,
) -> str:
    """What a batch leaves that a signal has ended, for its message."""
    if not results:
        return "nothing was written"
    rendered = [path.name for path, sheet in sheets.items() if not sheet["error"]]
    also = "".join(f", {name}" for name in rendered)
    if options.mode == "cache":
        rest = "the frames in the caches of the others stay, and --resume goes on with them"
    else:
        rest = "nothing else was written"
    return f"{_succeeded(results)} of {len(tasks)} are done{also}, and {rest}"


def _prepare_folder(options: Namespace, report: Report) -> None:
    """Makes the folder of the outputs, and deletes temporary files of killed jobs there."""
    folder = options.output_dir
    if folder is None:
        return
    make_folder(folder)
    for line in remove_leftovers(folder):
        report.note(line)


def _run(tasks: Sequence[Task], options: Namespace, results: dict[int, Result]) -> None:
    """Runs all tasks, and adds the results of those that have ended, by their numbers."""
    status = StatusLines()
    interval = options.log_seconds
    if interval is None and status.visible:
        interval = _TERMINAL_SECONDS
    options_of_all = [*options.passed_on, "--json"]
    if interval is not None:
        options_of_all.append(f"--log-seconds={interval}")
    commands = [[*own_command(), *task.arguments(options_of_all)] for task in tasks]
    running: dict[int, list[str]] = {}
    try:
        with closing(run_all(commands, jobs=options.jobs or 1, results=results)) as events:
            for number, lines in events:
                name = tasks[number].name
                running.setdefault(number, []).extend(lines)
                if not status.visible:
                    for line in lines:
                        log(f"{name}: {line}")
                if number in results:
                    told = running.pop(number)
                    status.show([])
                    _print_end(name, results[number], told, options, printed=not status.visible)
                status.show([f"{tasks[each].name}: {told[-1]}" for each, told in running.items()])
    finally:
        status.show([])
        for number in {*running} & {*results}:
            name, told = tasks[number].name, running[number]
            _print_end(name, results[number], told, options, printed=not status.visible)


def _render_sheets(
    tasks: Sequence[Task],
    results: Mapping[int, Result],
    options: Namespace,
    sheets: dict[Path, Result],
) -> None:
    """Renders the contact sheets, and adds their results."""
    render_sheets(tasks, results, options, sheets)
    for path, sheet in sheets.items():
        if sheet["error"]:
            log(f"{path.stem}: {sheet['error']['sentence']}")
        else:
            (log if options.json else print_result)(f"{path.stem}: Rendered {path}")


def _print_end(
    name: str, result: Result, lines: Sequence[str], options: Namespace, *, printed: bool
) -> None:
    """Prints the warnings, notes and errors of a task whose lines may have been printed."""
    told = [line for line in lines if line.startswith(("warning: ", "note: "))]
    told += [error["sentence"] for error in result.get("errors", ())]
    for line in told:
        if not (printed and line in lines):
            log(f"{name}: {line}")
    if result["error"] is None:
        (log if options.json else print_result)(f"{name}: {in_words(result)}")


def _rows(
    tasks: Sequence[Task], results: Mapping[int, Result], missing: Result
) -> list[dict[str, Any]]:
    """The report's rows, one a task; `missing` stands for tasks without a result."""
    rows = []
    for number, task in enumerate(tasks):
        row = {**task.describe(), **results.get(number, missing)}
        rows.append({**row, "code": row["error"]["code"] if row["error"] else 0})
    return rows


def _values(
    rows: Sequence[dict[str, Any]], sheets: Sequence[Result], seconds: float
) -> dict[str, Any]:
    """The values of the report for JSON."""
    failed = sum(row["error"] is not None for row in rows)
    counts = {"done": len(rows) - failed, "failed": failed}
    return {"tasks": rows, **counts, "sheets": [*sheets], "seconds": round(seconds, 3)}


def _succeeded(results: Mapping[int, Result]) -> int:
    """Number of tasks that ended without an error."""
    return sum(result["error"] is None for result in results.values())
