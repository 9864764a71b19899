"""Output of the command line: single lines without control characters; printing never fails."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from typing import TextIO

from .output_capture import discard


def log(text: str) -> None:
    """Prints one line on stderr; errors of the stream are ignored."""
    with suppress(OSError):
        _print(f"verlet: {text}", sys.stderr)


def show_status(text: str) -> None:
    """Overwrites the last line of the terminal on stderr; errors of the stream are ignored."""
    with suppress(OSError):
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def print_result(text: str) -> None:
    """Prints the result, one line on stdout; a failure becomes a warning on stderr."""
    try:
        _print(text, sys.stdout)
    except OSError as error:
        # Python would flush the stream again at exit, and end with an error.
        discard(1)
        log(f"warning: the result could not be printed: {error.strerror}")


def suggestion(name: str, names: Iterable[str]) -> str:
    """Question that proposes the most similar of other names; empty if none is similar."""
    by_letters = {each.lower(): each for each in names}
    meant = get_close_matches(name.lower(), by_letters, n=1)
    return f"; did you mean {by_letters[meant[0]]}?" if meant else ""


def _print(text: str, stream: TextIO | None) -> None:
    """Prints one line, with control characters in names escaped."""
    if stream is None:
        return
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    encoding = stream.encoding or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
