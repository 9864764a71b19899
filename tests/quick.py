"""The checks that find most mistakes in under two minutes: `make quick`.

Style first, then types, the tiny scenes of `tests.same` on compiled kernels, and tests side by
side: those that failed last, those that import a changed module by the fewest imports, the laws of
laws.txt, and others that import it. Tests that are not reached in time are skipped and counted.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.imports import PACKAGE, ROOT, distances, users

LAWS = "@tests/laws.txt"
"""The argument of pytest that stands for the tests in this file."""
SECONDS = 105.0
"""Time after which no further test begins [s]."""


def main() -> int:
    """Runs all checks; returns 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--since", default="HEAD", help="commit to which changes are compared")
    start = time.monotonic()
    changed = changed_files(parser.parse_args().since)
    print(f"{len(changed)} changed files", flush=True)
    if any(run("ruff", *words) for words in (["check"], ["format", "--check"])):
        return 1
    beside = [begin("mypy.dmypy", "run", "--timeout", "3600", "--")]
    if any(PACKAGE / "core" in file.parents for file in changed):
        beside.append(begin("tests.same", "--kernels", "compiled"))
    os.environ["VERLET_QUICK_END"] = str(time.time() + SECONDS - (time.monotonic() - start))
    failed = run("pytest", "-n2", "--maxschedchunk=1", "-rs", "-q", *tests_to_play(changed))
    for each in beside:
        said, _ = each.communicate()
        print(said, end="", flush=True)
        failed |= each.returncode
    print(f"{time.monotonic() - start:.0f} s")
    return int(failed != 0)


def changed_files(since: str) -> list[Path]:
    """Files that differ from a commit, or, where none does, those that the last commit changed."""

    def listed(*command: str) -> list[Path]:
        done = subprocess.run(
            ["git", *command], cwd=ROOT, check=True, capture_output=True, text=True
        )
        return [ROOT / line for line in done.stdout.splitlines()]

    found = listed("diff", "--name-only", since)
    found += listed("ls-files", "--others", "--exclude-standard")
    return found or listed("diff", "--name-only", f"{since}~1")


def tests_to_play(changed: list[Path]) -> list[str]:
    """Arguments of pytest: test files and single tests, in the order in which they are played."""
    sources = [*ROOT.glob("verlet_addon/**/*.py"), *ROOT.glob("tests/**/*.py")]
    reached = distances(changed, users(sources))
    files = sorted(file for file in reached if file.name.startswith("test_"))
    files.sort(key=lambda file: reached[file])
    near = [file for file in files if reached[file] == reached[files[0]]]
    ordered = [*failed_last(), *map(named, near), LAWS, *map(named, files)]
    return list(dict.fromkeys(ordered))


def named(file: Path) -> str:
    """The path of a test file from the root."""
    return file.relative_to(ROOT).as_posix()


def failed_last() -> Iterator[str]:
    """Names of tests that failed when they were run last."""
    stored = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
    names = json.loads(stored.read_text("utf-8")) if stored.exists() else {}
    return (name for name in names if (ROOT / name.partition("::")[0]).exists())


def run(module: str, *arguments: str) -> int:
    """Runs a module of Python; returns its exit status."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, check=False
    ).returncode


def begin(module: str, *arguments: str) -> subprocess.Popen[str]:
    """Starts a module of Python whose output is read when it has ended."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


if __name__ == "__main__":
    sys.exit(main())
