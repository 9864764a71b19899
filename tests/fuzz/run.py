"""Plays random scenes and says which of them break a promise to the user.

python tests/fuzz/run.py --seeds 0:200 [--jobs 2] [--kind live]

No traceback, no operator that works for over a minute, no change of the file but the bake, and two
bakes of one state have the same bytes. With `--kind live`, the same things are done with live
simulation and without it, after which the file is the same; with `--kind rigs`, scenes are those of
production files. A seed plays the same scene in every run; the whole message is printed if there is
only one.
"""

import argparse
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "fuzz"
SLOWEST = 5


class Worker:
    """A process that plays seeds, and is started anew when one of them ends it."""

    def __init__(self, kind: str, number: int) -> None:
        self._kind, self._log = kind, LOGS / f"{kind}_{number}.log"
        self._process: Any = None

    def play(self, seed: int) -> dict[str, Any]:
        """What came of a seed."""
        if self._process is None:
            self._process = self._start()
        print(seed, file=self._process.stdin, flush=True)
        if line := self._process.stdout.readline():
            result: dict[str, Any] = json.loads(line)
            return result
        return {"seed": seed, **self._obituary()}

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.communicate()

    def _start(self) -> Any:
        """Starts a process with Blender in it."""
        command = [sys.executable, "-m", "tests.fuzz.worker", self._kind, str(self._log)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)

    def _obituary(self) -> dict[str, Any]:
        """Why the process ended, as far as its log says."""
        status = self._process.wait()
        self._process = None
        log = self._log.read_text(encoding="utf-8", errors="replace")
        hangs = status == -signal.SIGVTALRM or re.search(r"Timeout \(\S+\)", log)
        what = "hangs" if hangs else f"crashes with status {status}"
        scene = self._log.with_suffix(".scene").read_text(encoding="utf-8")
        return {"wrong": f"{what}\n{log[-6000:]}", "scene": scene, "seconds": 0.0, "cpu": 0.0}


def play_all(kind: str, seeds: range, *, jobs: int) -> Iterator[dict[str, Any]]:
    """Plays seeds in so many processes; yields results as they come."""
    waiting: SimpleQueue[int] = SimpleQueue()
    results: SimpleQueue[Any] = SimpleQueue()
    for seed in seeds:
        waiting.put(seed)

    def work(number: int) -> None:
        worker = Worker(kind, number)
        try:
            while True:
                results.put(worker.play(waiting.get_nowait()))
        except Empty:
            worker.close()

    with ThreadPoolExecutor(jobs) as pool:
        working = [pool.submit(work, number) for number in range(jobs)]
        for _ in seeds:
            yield results.get()
        for each in working:
            each.result()


def cause(wrong: str) -> str:
    """What went wrong in one line, and the last line of the add-on that had part in it."""
    lines = [line.strip() for line in wrong.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Location:")]
    places = re.findall(r'File "\S*?((?:verlet_addon|tests)/\S+)", line (\d+)', wrong)
    hangs = lines[0].startswith("hangs")
    place = places[0 if hangs else -1] if places else None
    told = lines[0] if hangs or place is None else lines[-1]
    return f"{told[:600]} ({place[0]}:{place[1]})" if place else told[:600]


def main() -> int:
    """Prints a line for each seed that fails, and at the end how many did."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", default="0:200", help="one, or FIRST:END without the end itself")
    parser.add_argument("--jobs", type=int, default=1, help="how many at once")
    parser.add_argument(
        "--kind", default="bakes", choices=("bakes", "live", "rigs"), help="of play"
    )
    given = parser.parse_args()
    first, _, end = given.seeds.partition(":")
    seeds = range(int(first), int(end) if end else int(first) + 1)
    LOGS.mkdir(parents=True, exist_ok=True)
    done = []
    for result in play_all(given.kind, seeds, jobs=given.jobs):
        done.append(result)
        if result["wrong"]:
            said = result["wrong"] if len(seeds) == 1 else cause(result["wrong"])
            print(f"seed {result['seed']}: {said} | {result['scene']}", flush=True)
    failed = sum(bool(result["wrong"]) for result in done)
    done.sort(key=lambda result: result["seconds"])
    slow = ", ".join(f"{each['seed']} {each['seconds']:.0f} s" for each in done[:-SLOWEST:-1])
    print(f"Took longest: {slow}; {sum(each['cpu'] for each in done):.0f} s of work in all")
    print(f"{len(done) - failed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
