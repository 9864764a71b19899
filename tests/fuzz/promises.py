"""What every scene must keep to, however strange: a user's mistake is told and costs nothing."""

import faulthandler
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import baked, blender, coordinates, file_content, verlet
from verlet_addon.blender.bake.bake import frame_range
from verlet_addon.blender.bake.record import baked_remarks, changed_since_bake, is_baked
from verlet_addon.blender.bake.shape_keys import baked_names
from verlet_addon.core.compiled import backend

Keys = dict[str, dict[str, Any]]


LONGEST = 60.0
"""No operator may work longer [s]; it may wait ten times as long, for other processes work too."""


def restart_clock() -> None:
    """Ends the process, saying where it is, unless it is called again in time."""
    faulthandler.register(signal.SIGVTALRM, chain=True)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    faulthandler.dump_traceback_later(10.0 * LONGEST, exit=True)


def stop_clock() -> None:
    """Lets the process go on for as long as it likes."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    faulthandler.cancel_dump_traceback_later()


class BrokenError(Exception):
    """A promise that was not kept."""


def require(kept: bool, otherwise: str) -> None:
    """Raises BrokenError if it is not kept."""
    if not kept:
        raise BrokenError(otherwise)


def attempt(operator: Callable[..., Any], **options: Any) -> str:
    """Calls an operator; returns why it refused, or nothing.

    It may refuse by its poll, or by an error in one sentence, with a remedy after what is wrong.
    """
    restart_clock()
    try:
        operator(**options)
    except RuntimeError as error:
        said = str(error).strip()
        require("Traceback" not in said, said)
        if ".poll()" not in said:
            sentence = said.removeprefix("Error: ")
            require(not re.search(r"\n|\. [A-Z]", sentence), f"no single sentence: {sentence!r}")
            require(re.search(r"[;,:] ", sentence) is not None, f"no remedy: {sentence!r}")
        return said
    finally:
        restart_clock()
    return ""


def bake(draw: Any, *, frames: tuple[int, int] | None = None, **options: Any) -> None:
    """Bakes the scene's frames or others, and then again in another way."""
    scene: Any = bpy.context.scene
    start, end = frames or frame_range(scene)
    if frames:
        options |= {"frame_start": start, "frame_end": end}
    fresh = not any(len(obj.verlet.baked_keys) for obj in blender.data.objects)
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    before, users, stale = content(), _keys_of_users(), _changed()
    if refused := attempt(verlet.bake, **options):
        require_content(before, refused)
        return
    first = baked_keys()
    _check_bake(first, users)
    told = (_changed() - stale) & _chosen(options)
    require(not told, f"baked now, yet said to have changed: {told}")
    way = draw.one_of((_anew, _anew, _elsewhere, _with_threads, _cleared, _saved))
    with way():
        said = attempt(verlet.bake, **options)
    require(not said, f"the second bake alone refused: {said!r}")
    _compare(first, baked_keys(), partly=way is _cleared)
    if draw.chance(0.2):
        _bake_less(
            first, users, **options | {"frame_start": start, "frame_end": min(start + 1, end)}
        )
    if fresh and way is not _saved and draw.chance(0.6):
        clear_all()
        require_content(before, "Clear Bake")


def _bake_less(first: Keys, users: Keys, **options: Any) -> None:
    """Bakes the first frames alone, and then by NumPy's kernels, whose last digits are others."""
    said = attempt(verlet.bake, **options)
    require(not said, f"the shorter bake alone refused: {said!r}")
    _compare(first, baked_keys(), partly=True)
    with _without_compiled_kernels():
        attempt(verlet.bake, **options)
        _check_bake(baked_keys(), users)


def content() -> str:
    """All that the file holds; nothing where a driver has failed, whose value is left to chance."""
    holders = [*blender.data.objects, *blender.data.shape_keys, *blender.data.scenes]
    drivers = [d for each in holders if each.animation_data for d in each.animation_data.drivers]
    return repr(file_content()) if all(each.driver.is_valid for each in drivers) else ""


def require_content(before: str, after: str, *, now: str | None = None) -> None:
    """Raises BrokenError unless the file holds, or held, what it did before; says where not."""
    now = content() if now is None else now
    place = next((n for n, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), 0)
    part = slice(max(place - 60, 0), place + 60)
    same = now == before or "" in (now, before)
    require(same, f"other content after {after}: {before[part]!r} became {now[part]!r}")


def clear_all() -> None:
    """Clears what the bake has made; what is hidden or switched off may stay."""
    said = attempt(verlet.clear_bake)
    require(not said, f"Clear Bake refused: {said!r}")


def baked_keys() -> Keys:
    """Per baked object the coordinates of its keys, by name."""
    return {obj.name: baked(obj) for obj in bpy.data.objects if is_baked(obj)}


def _keys_of_users() -> Keys:
    """Per object the coordinates of keys that are no bake's, under whatever name."""
    return {
        obj.name: {
            block.name: coordinates(block.points)
            for block in obj.data.shape_keys.key_blocks[int(obj.verlet.made_basis) :]
            if block.name not in baked_names(obj)
        }
        for obj in _meshes()
        if obj.data.shape_keys is not None
    }


def _chosen(options: Mapping[str, Any]) -> set[str]:
    """Names of the objects that a bake with these options is about.

    Others change where it makes a collider of theirs a body with a bake.
    """
    return {
        obj.name for obj in blender.data.objects if not options.get("selected") or obj.select_get()
    }


def _changed() -> set[str]:
    """Bodies that are said to have changed since they were baked; some were not baked again."""
    scene: Any = bpy.context.scene
    return set(changed_since_bake(scene, scene.view_layers[0]))


def _meshes() -> list[Any]:
    """All mesh objects."""
    return [obj for obj in blender.data.objects if obj.type == "MESH"]


def _check_bake(keys: Keys, users: Keys) -> None:
    """What was baked is finite, and what was there is still there."""
    for name, blocks in keys.items():
        require(bool(blocks), f"{name} is baked without keys")
        for block, places in blocks.items():
            require(bool(np.isfinite(places).all()), f"{block} of {name} is not finite")
    now = _keys_of_users()
    for name, blocks in users.items():
        for block, places in blocks.items():
            kept = block in now[name] and np.array_equal(places, now[name][block], equal_nan=True)
            require(kept, f"the key {block} of {name} is not what it was")


def _compare(first: Keys, second: Keys, *, partly: bool = False) -> None:
    """Two bakes of one state have the same bytes, unless it was told that drivers fail.

    In part, if there are other bodies or frames too: a frame does not depend on what comes after.
    """
    told = _remarks()
    require(partly or first.keys() == second.keys(), f"baked {[*first]}, then {[*second]}")
    for name in () if "Drivers do not work" in told else first.keys() & second.keys():
        blocks, others = first[name], second[name]
        require(partly or blocks.keys() == others.keys(), f"other keys of {name}")
        for block in sorted(blocks.keys() & others.keys()):
            off = float(np.abs(blocks[block] - others[block]).max(initial=0.0))
            require(off == 0.0, f"{block} of {name} is off by {off:.3g} after {told}")


def _remarks() -> str:
    """What was said of the last bake."""
    scene: Any = bpy.context.scene
    return repr(baked_remarks(scene))


@contextmanager
def _anew() -> Iterator[None]:
    """On top of the first bake."""
    yield


@contextmanager
def _cleared() -> Iterator[None]:
    """After the first bake is cleared."""
    clear_all()
    yield


@contextmanager
def _elsewhere() -> Iterator[None]:
    """From another frame, to which the scene goes back."""
    scene: Any = bpy.context.scene
    frame = scene.frame_current
    scene.frame_set(frame + 3)
    yield
    scene.frame_set(frame)


@contextmanager
def _with_threads() -> Iterator[None]:
    """By eight threads."""
    os.environ["VERLET_THREADS"] = "8"
    try:
        yield
    finally:
        del os.environ["VERLET_THREADS"]


@contextmanager
def _saved() -> Iterator[None]:
    """After the file is saved and opened again."""
    save_and_open()
    yield


def save_and_open() -> None:
    """Saves the file and opens it again."""
    path = os.path.join(bpy.app.tempdir, "fuzz.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)


@contextmanager
def _without_compiled_kernels() -> Iterator[None]:
    """By NumPy's kernels, which take a hundred times as long; so with a single step a frame."""
    scene: Any = bpy.context.scene
    serving, substeps, by_second = (
        backend(),
        scene.verlet.substeps,
        scene.verlet.use_steps_per_second,
    )
    library, serving.library, scene.verlet.substeps = serving.library, None, 1
    try:
        yield
    finally:
        serving.library, scene.verlet.substeps = library, substeps
        # Whatever was set last counts, so this comes last.
        scene.verlet.use_steps_per_second = by_second
