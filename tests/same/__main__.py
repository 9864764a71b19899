"""Bakes that are to stay the same, to the last bit: `make same`, and `make same-record`.

Every scene is baked with the compiled kernels and with NumPy's, in two processes, and the hashes
of its frames are compared with those in recorded.json. A hash depends on the processor where BLAS
does, so record and compare on one machine: first what was, then what has become of it.
"""

import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.same.families import bake_by_name, names

RECORD = Path(__file__).with_name("recorded.json")
KERNELS = ("compiled", "numpy")
PROCESSES = 2
Hashes = dict[str, dict[str, list[str]]]
"""Of the frames of each scene, by kernels."""


def bake_all(chosen: list[str]) -> Hashes:
    """Bakes scenes with both kernels."""
    found: Hashes = {name: {} for name in chosen}
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ.setdefault("VERLET_THREADS", "2")
    for kernels in KERNELS:
        os.environ["VERLET_KERNELS"] = kernels  # which new processes read once
        with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as pool:
            for name, (hashes, seconds) in zip(chosen, pool.map(bake_by_name, chosen), strict=True):
                found[name][kernels] = hashes
                if "-v" in sys.argv:
                    print(f"{seconds:6.2f} s  {kernels:8}  {name}", flush=True)
    return found


def differences(before: Hashes, after: Hashes) -> Iterator[str]:
    """Says of each scene that differs which frame is the first that does."""
    for name in sorted(before.keys() | after.keys()):
        for kernels in KERNELS:
            was, now = (each.get(name, {}).get(kernels, []) for each in (before, after))
            if was != now:
                pairs = enumerate(zip(was, now, strict=False))
                first = next((k for k, (a, b) in pairs if a != b), min(len(was), len(now)))
                error = next((f", {each}" for each in now if " " in each), "")
                yield f"{name}, {kernels} kernels: frame {first} of {len(was)} is another{error}"


def main(arguments: list[str]) -> int:
    """Records, or compares; -v says how long each scene takes, other words choose scenes."""
    words = [word for word in arguments if not word.startswith("-")]
    chosen = [name for name in names() if not words or any(word in name for word in words)]
    found = bake_all(chosen)
    recorded: Hashes = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    before = {name: recorded.get(name, {}) for name in found} if words else recorded
    told = list(differences(before, found))
    print("\n".join(told) or f"{len(found)} scenes bake to the same bits")
    if "--record" in arguments:
        write(recorded | found if words else found)
        return 0
    return bool(told)


def write(found: Hashes) -> None:
    """Writes a line for each scene."""
    lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
