"""Processes of the command line's own program, several at a time, and what they print."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any

import bpy

from ...core.team.threads import thread_count
from .signals import check_signals, signals_deferred

_POLL = 0.05
"""Interval at which processes are looked at [s]."""
_GRACE = 30.0
"""Time that terminated processes have to remove their unfinished files [s]."""
_PREFIX = "verlet: "

Result = dict[str, Any]
"""The JSON object that a process has printed."""


def own_command() -> list[str]:
    """The program of this process with its own options, up to the command's arguments."""
    if not bpy.app.binary_path:
        return [sys.executable, "-m", __package__.partition(".blender.")[0]]
    given = sys.argv[1:]
    places = [given.index(each) for each in ("--command", "-c") if each in given]
    return [bpy.app.binary_path, *given[: min(places, default=0)], "--command", "verlet"]


def run_all(
    commands: Sequence[Sequence[str]], *, jobs: int, results: dict[int, Result]
) -> Generator[tuple[int, list[str]]]:
    """Runs commands, each in a process of its own.

    Closing the iterator terminates all processes that still run, and waits for them.

    Parameters
    ----------
    commands
        The words of each command line; each prints one JSON object on stdout.
    jobs
        Number of processes at the same time.
    results
        Gets the JSON object of each command that has ended, by its number, also of those that
        closing has terminated: they may have been done by then.

    Yields
    ------
    tuple of int and list of str
        The number of a command, and its new lines on stderr, without `verlet: `; after the last
        ones `results` has its number.
    """
    waiting, running = list(enumerate(commands)), dict[int, _Process]()
    environment = _environment(jobs)
    with TemporaryDirectory(prefix="verlet_", ignore_cleanup_errors=True) as folder:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    number, command = waiting.pop(0)
                    with signals_deferred():
                        place = Path(folder, str(number))
                        running[number] = _Process(command, place, environment)
                        check_signals()
                    yield number, ["starts"]
                for number, process in [*running.items()]:
                    ended = process.has_ended()
                    lines = process.news()
                    if ended:
                        results[number] = process.result()
                        del running[number]
                    if lines or ended:
                        yield number, lines
                sleep(_POLL)
        finally:
            _end(running.values())
            results.update((number, process.result()) for number, process in running.items())


def _environment(jobs: int) -> dict[str, str]:
    """The environment of processes that share the processors."""
    environment = {**os.environ}
    if not environment.get("VERLET_THREADS"):
        environment["VERLET_THREADS"] = str(max(1, thread_count() // jobs))
    if not bpy.app.binary_path:
        root = str(Path(__file__).parents[3])
        environment["PYTHONPATH"] = os.pathsep.join(
            filter(None, (root, os.environ.get("PYTHONPATH")))
        )
    return environment


class _Process:
    """A running command, which prints into two files, read while it writes them."""

    def __init__(self, command: Sequence[str], place: Path, environment: dict[str, str]) -> None:
        self._out, error = place.with_suffix(".out"), place.with_suffix(".err")
        with self._out.open("wb") as out, error.open("wb") as err:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment
            )
        self._errors = error.open(encoding="utf-8", errors="backslashreplace", newline="\n")
        self._tail, self._last = "", ""

    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def news(self) -> list[str]:
        """New lines on stderr that are the command's own."""
        *lines, self._tail = (self._tail + self._errors.read()).split("\n")
        for line in lines:
            self._last = line.strip() or self._last
        return [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]

    def result(self) -> Result:
        """The JSON object that the ended process has printed; an error where there is none."""
        self._errors.close()
        with suppress(ValueError, IndexError):
            result = json.loads(self._out.read_text("utf-8", "replace").splitlines()[-1])
            if isinstance(result, dict):
                return result
        sentence = _sentence(self._process.returncode, self._last)
        error = {"kind": "crash", "code": 1, "body": None, "sentence": sentence, "file": None}
        return {"error": error, "errors": [error], "warnings": []}

    def terminate(self) -> None:
        """Asks the process to end."""
        self._process.terminate()

    def wait(self) -> None:
        """Waits until the process has ended, and kills it if that takes too long."""
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()


def _sentence(code: int, last: str) -> str:
    """The sentence on a process that ended without a result.

    Parameters
    ----------
    last : its last line on stderr; empty if there is none.
    """
    # Shells, which start some Blenders, add 128 to the signal's number.
    number = -code if code < 0 else code - 128
    name = {each.value: each.name for each in signal.Signals}.get(number)
    if name == "SIGKILL":
        return (
            "The process was killed (SIGKILL) before it was done, as systems do where memory is "
            "short; free some, or bake fewer files at the same time"
        )
    ended = f"was ended by {name}" if name else f"ended with code {code}"
    told = f"; its last line: {last}" if last else ", and told nothing"
    return f"The process {ended} before it was done{told}"


def _end(processes: Iterable["_Process"]) -> None:
    """Terminates processes and waits for them."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait()
