"""A plugin of pytest: the run fails if it has left out a function of the compiled kernels.

python -m pytest -p kernels.reached tests/core/test_compiled_kernels.py …
"""

from collections.abc import Callable
from typing import Any

import pytest

from verlet_addon.core import compiled

_declare = compiled.declare
_unreached: set[str] = set()


def declare(name: str, arguments: str, result: str = "") -> Callable[..., Any]:
    """A function of the library whose calls are noticed."""
    function = _declare(name, arguments, result)
    _unreached.add(name)

    def call(*values: Any) -> Any:
        _unreached.discard(name)
        return function(*values)

    return call


def pytest_configure() -> None:
    """Replaces the declaration of C functions, before the kernels are imported."""
    compiled.declare = declare


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Says which functions no test has called."""
    if _unreached:
        print(f"\nNo test has called {', '.join(sorted(_unreached))}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
