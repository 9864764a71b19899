"""Plays seeds one after the other: numbers come in on standard input, results go out as JSON.

Arguments are the kind of play, `bakes`, `live` or `rigs`, and the path of the log, to which
everything goes that Blender prints. Where an operator takes too long, the process says in the log
where it is, and ends.
"""

import json
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import bpy

import verlet_addon
from tests.fuzz import live, play, rigs
from tests.fuzz.promises import BrokenError, restart_clock, stop_clock

PLAYS = {"bakes": play.play, "live": live.play, "rigs": rigs.play}


def main(kind: str, path: str) -> None:
    """Plays seeds until there are no more."""
    results = os.fdopen(os.dup(1), "w")
    log = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    verlet_addon.register()
    for line in sys.stdin:
        os.ftruncate(log, 0)
        os.lseek(log, 0, os.SEEK_SET)
        restart_clock()
        result = _result(PLAYS[kind], int(line), Path(path))
        stop_clock()
        print(json.dumps(result), file=results, flush=True)
    verlet_addon.unregister()


def _result(
    play_seed: Callable[[int, Callable[[str], None]], None], seed: int, log: Path
) -> dict[str, Any]:
    """Plays a seed: what it did, what went wrong, and how long it took."""
    scene = log.with_suffix(".scene")
    began, worked = monotonic(), process_time()
    steps: list[str] = []

    def tell(what: str) -> None:
        steps.append(what)
        scene.write_text(" | ".join(steps), encoding="utf-8")

    wrong = ""
    try:
        play_seed(seed, tell)
    except BrokenError as error:
        wrong = str(error)
    except Exception:
        wrong = traceback.format_exc()
    wrong = wrong or _printed(log)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return {
        "seed": seed,
        "wrong": wrong,
        "scene": " | ".join(steps),
        "seconds": monotonic() - began,
        "cpu": process_time() - worked,
    }


def _printed(log: Path) -> str:
    """The first traceback of the add-on that Blender has printed, as it does for handlers."""
    sys.stderr.flush()
    text = log.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"Traceback \(most recent.*?verlet_addon.*?^\w[^\n]*", text, re.S | re.M)
    return found[0] if found else ""


main(*sys.argv[1:3])
