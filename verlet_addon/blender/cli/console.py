"""What the command line says itself: a line is a line, and printing never fails."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from typing import TextIO

from .output_capture import discard


def tell(text: str) -> None:
    """Prints one line on stderr, if anybody listens."""
    with suppress(OSError):
        _print(f"verlet: {text}", sys.stderr)


def show(text: str) -> None:
    """Changes the line that a terminal shows last, if there still is one."""
    with suppress(OSError):
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def answer(text: str) -> None:
    """Prints the result, one line on stdout; where that fails, says so on stderr."""
    try:
        _print(text, sys.stdout)
    except OSError as error:
        # Python would try again when it ends, and end with an error.
        discard(1)
        tell(f"warning: the result could not be printed: {error.strerror}")


def perhaps(name: str, names: Iterable[str]) -> str:
    """Asks whether another name was meant, if one is like this."""
    by_letters = {each.lower(): each for each in names}
    meant = get_close_matches(name.lower(), by_letters, n=1)
    return f"; is it {by_letters[meant[0]]}?" if meant else ""


def _print(text: str, stream: TextIO | None) -> None:
    """Prints one line in which names cannot break the line or steer the terminal."""
    if stream is None:
        return
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    encoding = stream.encoding or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
