"""Bakes that are to stay the same, to the last bit: `make same`, and `make same-record`.

Every scene is baked with the compiled kernels and with NumPy's, in two processes, and the hashes
of its frames are compared with those in recorded.json. A hash depends on the processor where BLAS
does, so record and compare on one machine: first what was, then what has become of it.

Caches carry RESULTS, so that no bake goes on with one whose bits would be others now: a record of
other bits than before raises it.
"""

import argparse
import json
import multiprocessing
import os
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.same.families import bake_by_name, names
from verlet_addon.core import results

RECORD = Path(__file__).with_name("recorded.json")
KERNELS = ("compiled", "numpy")
PROCESSES = 2
NUMBER = "RESULTS"
"""Name of the number of the results, in the record and in core/results.py."""
Hashes = dict[str, dict[str, list[str]]]
"""Of the frames of each scene, by kernels."""


def bake_all(chosen: list[str], kernels: Sequence[str], *, verbose: bool) -> Hashes:
    """Bakes scenes with each of the kernels."""
    found: Hashes = {name: {} for name in chosen}
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ.setdefault("VERLET_THREADS", "2")
    for each in kernels:
        os.environ["VERLET_KERNELS"] = each  # which new processes read once
        with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as pool:
            for name, (hashes, seconds) in zip(chosen, pool.map(bake_by_name, chosen), strict=True):
                found[name][each] = hashes
                if verbose:
                    print(f"{seconds:6.2f} s  {each:8}  {name}", flush=True)
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


def main() -> int:
    """Records, or compares; returns 1 where a frame differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.same", description=__doc__)
    parser.add_argument("words", nargs="*", help="of names of scenes; all scenes without")
    parser.add_argument("--kernels", choices=KERNELS, help="only these; both without")
    parser.add_argument("--record", action="store_true", help="store in place of comparing")
    parser.add_argument("-v", "--verbose", action="store_true", help="time of each scene")
    given = parser.parse_args()
    kernels = (given.kernels,) if given.kernels else KERNELS
    chosen = [n for n in names() if not given.words or any(word in n for word in given.words)]
    found = bake_all(chosen, kernels, verbose=given.verbose)
    number, recorded = read()
    before = {
        name: {each: recorded.get(name, {}).get(each, []) for each in kernels}
        for name in (found if given.words else recorded)
    }
    told = list(differences(before, found))
    print("\n".join(told) or f"{len(found)} scenes bake to the same bits")
    if given.record:
        raised = results.RESULTS + (number == results.RESULTS and has_moved(before, found))
        kept = recorded if given.words else {}
        write(raised, recorded | {name: kept.get(name, {}) | found[name] for name in found})
        return 0
    if number != results.RESULTS:
        print(f"{NUMBER} is {results.RESULTS}, and {number} in the record: run make same-record")
    return bool(told) or number != results.RESULTS


def has_moved(before: Hashes, after: Hashes) -> bool:
    """Whether a scene that was recorded before has other bits."""
    return any(
        hashes and hashes != after[name].get(kernels, hashes)
        for name in before.keys() & after.keys()
        for kernels, hashes in before[name].items()
    )


def read() -> tuple[int, Hashes]:
    """The number of the results that are recorded, and the hashes of their frames."""
    content = json.loads(RECORD.read_text("utf-8"))
    return content.pop(NUMBER), content


def write(number: int, found: Hashes) -> None:
    """Writes the number of the results, here and in the core, and a line for each scene."""
    module = Path(results.__file__)
    text = re.sub(
        rf"^{NUMBER} = \d+$", f"{NUMBER} = {number}", module.read_text("utf-8"), flags=re.M
    )
    module.write_text(text, "utf-8")
    lines = [f"{json.dumps(NUMBER)}: {number}"]
    lines += [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
