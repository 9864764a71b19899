"""The bake of a loop: simulates twice, the second time into the first one, and has it repeat."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...core.errors import DivergenceError, MeshError
from ...core.loop_seam import Guide, Positions, Seam, check_length, fade, find_seam
from ...core.mesh import MeshData
from ...core.scene import Frame
from ..scene.cages import refuse_cages
from ..scene.curve_lines import refuse_curve
from ..scene.file_errors import errors_named
from ..scene.file_warnings import some
from ..scene.key_points import local_positions
from ..scene.mesh_io import world_matrix
from ..scene.modifiers import check_order
from ..scene.sampling import Stage
from .bake import Start, baked_frames, follow, prepare_stage, start_anew
from .cache import remove_cache
from .cache_bake import new_cache, show_caches
from .cache_writer import PointWriter
from .cautions import why_nothing
from .edit_names import refuse_edits
from .former_bake import former_bakes_hidden
from .forms import KeyForm, check_form
from .key_collector import KeyCollector
from .memory import check_room, name_memory_errors
from .progress import Progress
from .record import BakeInputs, bake_inputs

CLOSED = 1e-5
"""Distance of vertices from where they are at the first frame, as a share of their body's size, up
to which a loop is closed."""


def bake_loop(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
    *,
    frame_start: int,
    frame_end: int,
    length: int,
    form: KeyForm | Path,
    step: int = 1,
) -> Generator[Progress, bool | None, None]:
    """Simulates bodies together, and has a number of frames repeat before and after.

    Nothing is written before the last frame is simulated. Sending True ends the first simulation
    early; the loop is then one of the frames simulated so far.

    Parameters
    ----------
    scene, view_layer, objects, frame_start, frame_end, step
        As for `bake`; the loop is a part of the range.
    length
        Number of frames after which the motion repeats.
    form
        That of shape keys, or for a cache the .blend file beside which it is written.

    Returns
    -------
    Generator
        One Progress per simulated frame, and a last one with a remark if the loop is faded.

    Raises
    ------
    MeshError, SettingsError, DivergenceError, OutOfMemoryError, FileError, DiskFullError
        The message names the object or file, the problem and the remedy.
    """
    if not objects:
        raise MeshError(why_nothing(scene, view_layer))
    refuse_edits(objects)
    refuse_cages(objects, "a loop")
    for obj in objects:
        refuse_curve(obj, "a loop", "bake it without")
    frames = baked_frames(frame_start, frame_end, step)
    check_length(length, range(frame_start, frame_end + 1))
    for obj in objects if isinstance(form, Path) else ():
        check_order(obj, "a cache", "bake shape keys")
    stage = prepare_stage(scene, view_layer, objects)
    if isinstance(form, KeyForm):
        check_form(objects, form)
    check_room(objects, range(frame_start, frame_end + 1))
    return name_memory_errors(_bake(stage, frames, length, form, step), objects, frames)


Write = Callable[[], list[str]]
"""Writes a loop to its objects, and returns sentences for the user."""


class _Track:
    """Positions of all bodies at each frame from a first one on, in the spaces of their objects."""

    def __init__(self, stage: Stage, first: int) -> None:
        self._stage, self.first = stage, first
        self.positions: list[Positions] = []

    def collect(self, result: Frame) -> None:
        """Stores a result at the scene's current frame, unless it comes before the first one."""
        if result.frame < self.first:
            return
        bodies, depsgraph = self._stage.bodies, self._stage.depsgraph
        self.positions.append(
            [
                local_positions(obj, depsgraph, places).astype(np.float32)
                for obj, places in zip(bodies, result.positions, strict=True)
            ]
        )

    def remarks(self) -> list[str]:
        """No sentence: nothing is shown of the frames."""
        return []

    def end_at(self, frame: int) -> None:
        """Does nothing: the frames end with the last one collected."""


def _bake(
    stage: Stage, frames: list[int], length: int, form: KeyForm | Path, step: int
) -> Generator[Progress, bool | None, None]:
    """Simulates twice, yielding progress, and writes the loop."""
    inputs, first = bake_inputs(stage.bodies, stage.scene, stage.view_layer), frames[0]
    with stage.left_as_found(former_bakes_hidden):
        track = _Track(stage, first)
        start = start_anew(stage, frames)
        half = start.total
        last = yield from _numbered(follow(stage, first, start, track), 0, 2 * half)
        seam = find_seam(track.positions, first, length)
        closed, unstable = _Track(stage, seam.start), ""
        try:
            guide = Guide(track.positions, first, seam, partial(_world_places, stage))
            again = start_anew(stage, [first, seam.end], guide.lead)
            running = follow(stage, first, again, closed)
            last = yield from _numbered(running, half, half + again.total, goes_on=True)
        except DivergenceError as error:
            unstable = str(error)
        loop, remarks = _closed(track, closed, seam, start.simulation.meshes, unstable)
        if isinstance(form, Path):
            write = _keep_cache(stage, seam, loop, inputs, form)
        else:
            keys = _keep_keys(stage, seam, loop, start, step)
            write = partial(keys.write, inputs, form)
    if remarks := [*remarks, *write()]:
        yield replace(last, remarks=(*last.remarks, *remarks))


def _world_places(stage: Stage, number: int, places: NDArray[np.float32]) -> Floats:
    """(n, 3) world positions at the scene's current frame of places in a body's space [m]."""
    linear, offset = world_matrix(stage.bodies[number], stage.depsgraph)
    return np.asarray(places.astype(np.float64) @ linear.T + offset)


def _numbered(
    running: Generator[Progress, bool | None, Progress],
    done: int,
    total: int,
    *,
    goes_on: bool = False,
) -> Generator[Progress, bool | None, Progress]:
    """A running simulation, with its frames counted as a part of a longer bake.

    With `goes_on`, it cannot be ended early.
    """
    enough: bool | None = None
    try:
        while True:
            now = running.send(enough)
            enough = yield replace(now, done=done + now.done, total=total)
            enough = None if goes_on else enough
    except StopIteration as end:
        return cast(Progress, end.value)


def _closed(
    track: _Track, closed: _Track, seam: Seam, meshes: Sequence[MeshData], unstable: str
) -> tuple[Sequence[Positions], list[str]]:
    """Positions of all bodies at each frame of a loop, and a sentence if some are faded.

    Parameters
    ----------
    track, closed : the first simulation, and the one that was drawn into it.
    unstable : error of the second one; empty if it came to its end.
    """
    at = seam.start - track.first
    plain = track.positions[at : at + seam.length + 1]
    loop, open_ones = [list(each) for each in (plain if unstable else closed.positions)], []
    for number, mesh in enumerate(meshes):
        begin, end = plain[0][number], loop[-1][number]
        size = float(np.linalg.norm(np.ptp(begin, axis=0)))
        if np.abs(end - begin).max(initial=0.0) <= CLOSED * size:
            continue
        open_ones.append(mesh.name)
        for back in range(seam.blended):
            there = track.positions[at - back][number]
            share = seam.share(seam.end - back)
            mixed = fade(plain[seam.length - back][number], there, mesh.edges, share)
            loop[seam.length - back][number] = mixed
    return loop[:-1], [_faded(open_ones, seam, unstable)] if open_ones else []


def _faded(names: Sequence[str], seam: Seam, unstable: str) -> str:
    """Sentence on bodies whose loop is faded."""
    reason = (
        f"simulating into its start failed: {unstable.rstrip('.')}"
        if unstable
        else f"its pins or attachments are elsewhere at frame {seam.end} than at {seam.start}; "
        f"animate them so that they repeat every {seam.length} frames"
    )
    return (
        f"The loop of {some(names)} is faded over its last {seam.blended} frames, with edges kept, "
        f"since {reason}"
    )


def _keep_keys(
    stage: Stage,
    seam: Seam,
    loop: Sequence[Positions],
    start: Start,
    step: int,
) -> KeyCollector:
    """Converts the positions of a loop to shape keys, to be written once the scene is as it was."""
    frames = list(range(seam.start, seam.end, step))
    keys = KeyCollector(stage, frames, alike=start.alike, loop=seam.length)
    for frame, positions in enumerate(loop, start=seam.start):
        if not start.alike:
            stage.at(frame)
        places = [_world_places(stage, *each) for each in enumerate(positions)]
        keys.collect(Frame(frame, places))
    return keys


def _keep_cache(
    stage: Stage,
    seam: Seam,
    loop: Sequence[Positions],
    inputs: Sequence[BakeInputs],
    blend: Path,
) -> Write:
    """Writes the positions of a loop, and the first ones again, to a cache, to be shown later."""
    cache = new_cache(stage, seam.start, blend, inputs)
    try:
        writer = PointWriter(cache)
        with errors_named("write", cache.folder):
            for positions in (*loop, loop[0]):
                writer.append(positions)
            writer.close()
    except BaseException:
        remove_cache(cache.folder)
        raise

    def show() -> list[str]:
        show_caches(stage, cache, blend, loop=seam.length)
        return []

    return show
