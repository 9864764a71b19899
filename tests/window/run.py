"""Runs the tests of this folder in a window of real Blender, with mouse and keyboard.

blender --factory-startup --enable-event-simulate --python-exit-code 1 \
    --python tests/window/run.py -- [names of tests, also as test_page_*]

All but those of pages of the manual without a name: they need the panels as a new window has them,
and other tests leave some open. The installed extension is what is tested. Pictures are left in
build/window.
"""

import atexit
import fnmatch
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import bpy

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = "bl_ext.user_default.verlet_soft_body"
SECONDS_BETWEEN_EVENTS = 0.02


class Run:
    """All tests, one after the other, each in the file that Blender opens with."""

    def __init__(self, tests: list[Any]) -> None:
        self._waiting = tests
        self._steps: Any = None
        self._name = ""
        self.failed: list[str] = []

    def __call__(self) -> float | None:
        """Goes on with the test under way, or the next; Blender's timer calls this."""
        try:
            if self._steps is None:
                return self._begin()
            next(self._steps)
        except StopIteration:
            self._end("passed")
        except Exception:
            traceback.print_exc()
            self._hand.picture(f"failed_{self._name}")
            self.failed.append(self._name)
            self._end("FAILED")
        return SECONDS_BETWEEN_EVENTS

    def _begin(self) -> float | None:
        if not self._waiting:
            print(f"{len(self.failed)} failed", *self.failed, flush=True)
            sys.stderr.flush()
            # Leaving by an operator would end with 0 whatever happened.
            os._exit(bool(self.failed))
        test = self._waiting.pop(0)
        self._name = test.__name__
        bpy.ops.wm.read_homefile(use_factory_startup=True, load_ui=True)
        self._hand = Hand()
        self._steps = test(self._hand)
        return 1.0

    def _end(self, result: str) -> None:
        self._steps = None
        print(f"{result:6}  {self._name}", flush=True)


sys.path.insert(0, str(ROOT))
from tests.window import (  # noqa: E402
    bones,
    cache,
    curves,
    drape,
    edited_frame,
    first_minutes,
    fit,
    forms,
    grab,
    hair,
    live,
    overlay,
    samples,
    soft_bones,
    touching,
)
from tests.window.hand import Hand  # noqa: E402
from tests.window.manual import bakes, cloth, f1, garments, rigs, ropes, solids, start  # noqa: E402

# Where Blender quits before the last test, this runs, and its exit code is no longer 0.
atexit.register(os._exit, 1)
bpy.context.preferences.view.show_splash = False
# Or else the view draws itself several times after each change, to smooth its edges.
bpy.context.preferences.system.viewport_aa = "OFF"
bpy.ops.preferences.addon_enable(module=EXTENSION)
wanted = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
found: dict[str, Any] = {}
for module in (
    *(first_minutes, curves, touching, live, grab, hair, overlay),
    *(drape, cache, edited_frame, forms, bones, soft_bones, fit, samples),
    *(f1, start, cloth, garments, solids, ropes, rigs, bakes),
):
    found |= vars(module)
everything = {name: test for name, test in found.items() if name.startswith("test_")}
assert all(fnmatch.filter(everything, pattern) for pattern in wanted), wanted
names = [name for pattern in wanted for name in fnmatch.filter(everything, pattern)]
names = names or [name for name in everything if not name.startswith("test_page_")]
run = Run([everything[name] for name in names])
bpy.app.timers.register(run, first_interval=2.0, persistent=True)
