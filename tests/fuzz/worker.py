"""Plays seeds one after the other: numbers come in on standard input, results go out as JSON.

Everything that Blender prints goes to the log whose path is the argument. Where an operator takes
too long, the process says in the log where it is, and ends.
"""

import faulthandler
import json
import os
import sys
import traceback
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import bpy

import verlet_addon
from tests.fuzz.play import play
from tests.fuzz.promises import BrokenError, restart_clock


def main(path: str) -> None:
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
        result = _result(int(line), Path(path).with_suffix(".scene"))
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(result), file=results, flush=True)
    verlet_addon.unregister()


def _result(seed: int, scene: Path) -> dict[str, Any]:
    """Plays a seed: what it did, what went wrong, and how long it took."""
    began, worked = monotonic(), process_time()
    steps: list[str] = []

    def tell(what: str) -> None:
        steps.append(what)
        scene.write_text(" | ".join(steps), encoding="utf-8")

    wrong = ""
    try:
        play(seed, tell)
    except BrokenError as error:
        wrong = str(error)
    except Exception:
        wrong = traceback.format_exc()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return {
        "seed": seed,
        "wrong": wrong,
        "scene": " | ".join(steps),
        "seconds": monotonic() - began,
        "cpu": process_time() - worked,
    }


main(sys.argv[1])
