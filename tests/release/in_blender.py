"""Runs within a Blender that installs and updates the extension: one step of tests/release.

python in_blender.py STEP FOLDER ADDRESS     in the folder are files of earlier steps
"""

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np

OPERATORS: Any = bpy.ops

ID = "verlet_soft_body"
MODULE = f"bl_ext.verlet_website.{ID}"
OWN = ("verlet_soft_body", "verlet_kernels")
"""How names of files begin that belong to the add-on."""
FRAMES, LONGER = 8, 16
SHOTS = {"keys": "RELATIVE", "cache": "CACHE", "live": None}
"""Files that the first release writes, and the form of their bakes."""


def find_addon(name: str) -> Any:
    """A module of the installed add-on."""
    return sys.modules[f"{MODULE}.verlet_addon.{name}"]


def places() -> str:
    """A hash of the vertices of the body as they are shown."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    shown = bpy.data.objects["Cloth"].evaluated_get(depsgraph).to_mesh()
    found = np.empty((len(shown.vertices), 3), np.float32)
    shown.vertices.foreach_get("co", found.ravel())
    return hashlib.sha256(found.tobytes()).hexdigest()


def played(frames: int = FRAMES) -> list[str]:
    """Hashes of the shown vertices at each frame."""
    hashes = []
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        hashes.append(places())
    return hashes


def states() -> dict[str, object]:
    """The version that is in use, and its kernels."""
    self_test = find_addon("core.self_test")
    backend = find_addon("core.compiled").backend()
    return {
        "version": find_addon("blender.settings.versions").addon_version(),
        "reason": self_test.fallback_reason(),
        "library": Path(backend.library._name).name if backend.library else "",
    }


def enable_again(address: str) -> int:
    """Enables the installed add-on where Blender has not: as a module it reads no preferences."""
    place = synchronize(address)
    if MODULE not in preferences().addons:
        bpy.ops.preferences.addon_enable(module=MODULE)
    return place


def preferences() -> Any:
    """The preferences of this Blender."""
    return bpy.context.preferences


def synchronize(address: str) -> int:
    """Adds the repository, where it is not there yet, and reads its index; returns its place."""
    preferences().system.use_online_access = True
    repositories = preferences().extensions.repos
    for each in [*repositories]:
        if each.remote_url.startswith("https:"):
            repositories.remove(each)  # the tests ask no other machine
    if "verlet_website" not in [each.module for each in repositories]:
        new = repositories.new(name="Verlet", module="verlet_website", remote_url=address)
        new.enabled = True
    place = [each.module for each in repositories].index("verlet_website")
    bpy.ops.extensions.repo_sync(repo_index=place)
    return place


def new_file() -> None:
    """An empty file with a cloth."""
    bpy.ops.wm.read_homefile(use_empty=True)
    OPERATORS.verlet.add_cloth()
    bpy.context.scene.frame_end = FRAMES


def install(folder: Path, address: str) -> dict[str, object]:
    """Installs from the repository, and writes a file for each of SHOTS."""
    place = synchronize(address)
    bpy.ops.extensions.package_install(repo_index=place, pkg_id=ID, enable_on_install=True)
    for name, form in SHOTS.items():
        new_file()
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))
        if form is not None:
            OPERATORS.verlet.bake(mode=form, frame_start=1, frame_end=FRAMES)
            bpy.ops.wm.save_mainfile()
    bpy.ops.wm.save_userpref()
    return {**states(), **{name: open_and_play(folder, name) for name in ("keys", "cache")}}


def open_and_play(folder: Path, name: str) -> list[str]:
    """Hashes of the frames of a file as it plays."""
    bpy.ops.wm.open_mainfile(filepath=str(folder / f"{name}.blend"))
    return played()


def update(folder: Path, address: str) -> dict[str, object]:
    """Updates in a Blender that runs a live simulation, and goes on with everything."""
    enable_again(address)
    before = states()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "live.blend"))
    OPERATORS.verlet.live()
    live = played()
    bpy.ops.extensions.package_upgrade_all()
    after = states()
    cloth: Any = bpy.data.objects["Cloth"]
    kept = bool(cloth.verlet.enabled)
    OPERATORS.verlet.live()
    again = played()
    OPERATORS.verlet.live()
    return {
        **{f"{key}_before": value for key, value in before.items()},
        **{f"{key}_after": value for key, value in after.items()},
        "live": live,
        "live_again": again,
        "kept": kept,
        **go_on(folder),
    }


def go_on(folder: Path) -> dict[str, object]:
    """Plays files of the former release, bakes anew, and resumes a cache."""
    keys = open_and_play(folder, "keys")
    OPERATORS.verlet.bake(mode="RELATIVE", frame_start=1, frame_end=FRAMES)
    anew = played()
    open_and_play(folder, "cache")
    OPERATORS.verlet.bake(mode="CACHE", frame_start=1, frame_end=LONGER, resume=True)
    resumed = played(LONGER)
    OPERATORS.verlet.bake(mode="CACHE", frame_start=1, frame_end=LONGER)
    return {"keys": keys, "anew": anew, "resumed": resumed, "whole": played(LONGER)}


def again(folder: Path, address: str) -> dict[str, object]:
    """The same in a Blender that starts with the update, which then is removed."""
    place = enable_again(address)
    state = states()
    bpy.ops.extensions.package_uninstall(repo_index=place, pkg_id=ID)
    everything = Path(bpy.utils.resource_path("USER")).rglob("*")
    left = [str(path) for path in everything if path.name.startswith(OWN)]
    return {**state, "without": open_and_play(folder, "keys"), "left": left}


def main() -> None:
    """Runs the step, and prints its result on a line of its own."""
    step, folder, address = sys.argv[-3:]
    steps: dict[str, Callable[[Path, str], dict[str, object]]] = {
        "install": install,
        "update": update,
        "again": again,
    }
    print("\nresult:", json.dumps(steps[step](Path(folder), address)), flush=True)


if __name__ == "__main__":
    main()
