"""Output of the command line: single lines without control characters; printing never fails."""

import shutil
import sys
from collections.abc import Iterable, Sequence
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


class StatusLines:
    """Lines at the end of the terminal on stderr, which replace each other; elsewhere none."""

    def __init__(self) -> None:
        self.visible = sys.stderr is not None and sys.stderr.isatty()
        self._shown = 0

    def show(self, lines: Sequence[str]) -> None:
        """Replaces the lines; errors of the stream are ignored."""
        if not self.visible or not (self._shown or lines):
            return
        width = shutil.get_terminal_size().columns - 1
        clear = f"\x1b[{self._shown}A\r\x1b[J" if self._shown else ""
        self._shown = len(lines)
        with suppress(OSError):
            text = "".join(f"{_printable(line)[:width]}\n" for line in lines)
            print(clear + text, end="", file=sys.stderr, flush=True)


def print_result(text: str) -> None:
    """Prints the result, one line on stdout; a failure becomes a note on stderr."""
    try:
        _print(text, sys.stdout)
    except OSError as error:
        # Python would flush the stream again at exit, and end with an error.
        discard(1)
        log(f"note: the result could not be printed: {error.strerror}")


def suggestion(name: str, names: Iterable[str]) -> str:
    """Question that proposes the most similar of other names; empty if none is similar."""
    by_letters = {each.lower(): each for each in names}
    meant = get_close_matches(name.lower(), by_letters, n=1)
    return f"; did you mean {by_letters[meant[0]]}?" if meant else ""


def _print(text: str, stream: TextIO | None) -> None:
    """Prints one line, with control characters in names escaped."""
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    line = _printable(text).encode(encoding, "backslashreplace").decode(encoding)
    print(line, file=stream, flush=True)


def _printable(text: str) -> str:
    """A text with its control characters escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
