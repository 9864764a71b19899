"""Measures of the work that a function does, the same on every machine and under every load."""

import sys
from collections.abc import Callable
from typing import Any


def count_calls(function: Callable[[], Any]) -> int:
    """Number of calls, of Python and of C, that a function makes."""
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return calls


def growth(work: Callable[[int], Callable[[], Any]], small: int) -> float:
    """Factor by which the calls grow from a small number of things to four times as many.

    Four where each thing has its own work, sixteen where each pair of them has.
    """
    return count_calls(work(4 * small)) / count_calls(work(small))
