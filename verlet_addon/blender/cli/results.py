"""The result of the command line: what is told, what a program reads, and exit codes."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.errors import FileError, VerletError
from .console import answer, tell

CODES = {"usage": 2, "file": 3, "disk": 4, "memory": 5, "interrupted": 130, "terminated": 143}
"""Exit codes by kinds of errors; of all others, which are mistakes in the input, 1."""


class StrictError(VerletError):
    """There is a warning, and none is wanted."""

    kind = "warning"


class UsageError(VerletError):
    """The arguments are none of this command."""

    kind = "usage"


class Report:
    """What is told of one job.

    Parameters
    ----------
    as_json
        Whether the result is told as JSON.
    strict
        Whether a warning is an error.
    all_errors
        Whether errors are collected, instead of the first one ending the job.
    """

    def __init__(
        self, *, as_json: bool = False, strict: bool = False, all_errors: bool = False
    ) -> None:
        self._as_json, self._strict, self._all_errors = as_json, strict, all_errors
        self.warnings: list[str] = []
        self.errors: list[VerletError] = []

    def warn(self, warnings: Sequence[str]) -> Sequence[str]:
        """Tells what is wrong with the file, or takes it for an error; gives it back."""
        with self.attempt():
            if warnings and self._strict:
                raise StrictError(". ".join(warnings))
            for warning in warnings:
                self.note(warning)
        return warnings

    def note(self, warning: str) -> None:
        """Tells a warning that is no fault of the file."""
        self.warnings.append(warning)
        tell(f"warning: {warning}")

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Keeps an error for the end where all are wanted."""
        try:
            yield
        except VerletError as error:
            if not self._all_errors:
                raise
            if str(error) not in map(str, self.errors):
                self.errors.append(error)

    def succeed(self, sentence: str, result: dict[str, Any]) -> int:
        """Prints the result, and gives the exit code."""
        whole = {**result, "warnings": self.warnings, "error": None}
        answer(json.dumps(whole) if self._as_json else sentence)
        return 0

    def misuse(self, message: str) -> None:
        """Prints wrong usage for programs; people are told of it with the usage itself."""
        if self._as_json:
            self._answer([UsageError(message)])

    def fail(self, error: BaseException, *, file: object = None, bodies: Iterable[str] = ()) -> int:
        """Prints an error, and all that were collected; gives the exit code of the first."""
        errors: list[BaseException] = [*self.errors, error]
        errors = [each for place, each in enumerate(errors) if each not in errors[:place]]
        for each in errors:
            tell(str(each))
        if self._as_json:
            self._answer(errors, file=file, bodies=[*bodies])
        return code_of(errors[0])

    def _answer(
        self, errors: Sequence[BaseException], *, file: object = None, bodies: Sequence[str] = ()
    ) -> None:
        """Prints errors for programs."""
        found = [describe(each, file=file, bodies=bodies) for each in errors]
        answer(json.dumps({"error": found[0], "errors": found, "warnings": self.warnings}))


def code_of(error: BaseException) -> int:
    """The exit code of an error."""
    return CODES.get(getattr(error, "kind", ""), 1)


def describe(error: BaseException, *, file: object, bodies: Iterable[str] = ()) -> dict[str, Any]:
    """An error for programs to read; a bug's kind is "bug"."""
    path = error.path if isinstance(error, FileError) else file
    return {
        "kind": getattr(error, "kind", "bug"),
        "code": code_of(error),
        # Not a name that was perhaps meant.
        "body": _named(str(error).partition("; is it ")[0], bodies),
        "sentence": str(error),
        "file": str(path) if path is not None else None,
    }


def _named(sentence: str, bodies: Iterable[str]) -> str | None:
    """The body that a sentence names first; of names that begin alike, the longest."""
    places = {name: re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sentence) for name in bodies}
    found = [(match.start(), -len(name), name) for name, match in places.items() if match]
    return min(found)[2] if found else None
