"""The result of the command line: lines for people, JSON for programs, and exit codes."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.errors import FileError, VerletError
from ...core.remark import Remark, graded
from .console import log, print_result

CODES = {"usage": 2, "file": 3, "disk": 4, "memory": 5, "interrupted": 130, "terminated": 143}
"""Exit codes by kind of error; 1 for all other kinds, which are mistakes in the input."""


class StrictError(VerletError):
    """Warnings of a job with --strict."""

    kind = "warning"


class UsageError(VerletError):
    """Wrong usage of the command line."""

    kind = "usage"


class Report:
    """Warnings, errors and the result of one job.

    Parameters
    ----------
    as_json
        Whether the result is printed as JSON.
    strict
        Whether a warning is an error.
    all_errors
        Whether errors are collected; otherwise the first one ends the job.
    """

    def __init__(
        self, *, as_json: bool = False, strict: bool = False, all_errors: bool = False
    ) -> None:
        self._as_json, self._strict, self._all_errors = as_json, strict, all_errors
        self.warnings: list[str] = []
        self.errors: list[VerletError] = []

    def warn(self, warnings: Sequence[str]) -> Sequence[str]:
        """Prints warnings of the file, or raises them as one error if strict; returns them.

        Hints are no error.
        """
        with self.attempt():
            self._print(warnings)
            self.warnings += warnings
        return warnings

    def remark(self, remarks: Sequence[str]) -> None:
        """Prints remarks on the motion, or raises the warnings among them as one if strict."""
        with self.attempt():
            self._print(remarks)

    def _print(self, sentences: Sequence[str]) -> None:
        """Prints warnings and notes; raises the warnings as one error if strict."""
        grave = [each for each in sentences if graded(each).grade != "INFO"]
        if grave and self._strict:
            raise StrictError(". ".join(grave))
        for each in sentences:
            log(f"{'warning' if each in grave else 'note'}: {each}")

    def note(self, sentence: str) -> None:
        """Prints what does not concern the file, and is no error if strict."""
        self.warn([Remark(sentence, grade="INFO")])

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Collects a VerletError raised within the context, if all errors are collected."""
        try:
            yield
        except VerletError as error:
            if not self._all_errors:
                raise
            if str(error) not in map(str, self.errors):
                self.errors.append(error)

    def succeed(self, sentence: str, result: dict[str, Any]) -> int:
        """Prints the result; returns the exit code."""
        whole = {**result, "warnings": self.warnings, "error": None}
        print_result(json.dumps(whole) if self._as_json else sentence)
        return 0

    def misuse(self, message: str, command: str) -> None:
        """Prints wrong usage of a command as JSON, if JSON is wanted; argparse prints it too."""
        if self._as_json:
            none = {"tasks": [], "done": 0, "failed": 0} if command == "bake" else {}
            self._answer([UsageError(message)], values=none)

    def fail(
        self,
        error: BaseException,
        *,
        file: object = None,
        bodies: Iterable[str] = (),
        values: Mapping[str, Any] | None = None,
    ) -> int:
        """Prints an error and all collected ones; returns the exit code of the first.

        Parameters
        ----------
        error
            The error that ended the job.
        file
            The input file.
        bodies
            Names of the file's bodies, one of which the error may name.
        values
            Further values for JSON.
        """
        errors: list[BaseException] = [*self.errors, error]
        errors = [each for place, each in enumerate(errors) if each not in errors[:place]]
        for each in errors:
            log(str(each))
        if self._as_json:
            self._answer(errors, file=file, bodies=[*bodies], values=values or {})
        return code_of(errors[0])

    def _answer(
        self,
        errors: Sequence[BaseException],
        *,
        file: object = None,
        bodies: Sequence[str] = (),
        values: Mapping[str, Any] | None = None,
    ) -> None:
        """Prints errors as JSON."""
        found = [describe(each, file=file, bodies=bodies) for each in errors]
        whole = {"error": found[0], "errors": found, "warnings": self.warnings}
        print_result(json.dumps({**whole, **(values or {})}))


def in_words(result: Mapping[str, Any]) -> str:
    """The result of a command, or of a dry run, which has no duration, as a sentence."""
    if "sentence" in result:
        return f"{result['sentence']}: {result['output']}"
    if "converted" in result:
        names = ", ".join(result["converted"])
        return f"Converted {names} to {result['mode']}: {result['output']}"
    start, end = result["frames"]
    what = f"{', '.join(result['bodies'])}, frames {start} to {end}"
    if "seconds" not in result:
        return f"Would bake {what}"
    return f"Baked {what}, in {result['seconds']:.1f} s: {result['output']}"


def code_of(error: BaseException) -> int:
    """The exit code of an error."""
    return CODES.get(getattr(error, "kind", ""), 1)


def describe(error: BaseException, *, file: object, bodies: Iterable[str] = ()) -> dict[str, Any]:
    """An error's values for JSON; the kind of unexpected exceptions is "bug"."""
    path = error.path if isinstance(error, FileError) else file
    return {
        "kind": getattr(error, "kind", "bug"),
        "code": code_of(error),
        # Without the suggestion of another name.
        "body": _named(str(error).partition("; did you mean ")[0], bodies),
        "sentence": str(error),
        "file": str(path) if path is not None else None,
    }


def _named(sentence: str, bodies: Iterable[str]) -> str | None:
    """The body that a sentence names first; the longest name where several match there."""
    places = {name: re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sentence) for name in bodies}
    found = [(match.start(), -len(name), name) for name, match in places.items() if match]
    return min(found)[2] if found else None
