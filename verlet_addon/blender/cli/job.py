"""One job of the command line: the scene, bodies and frames that its arguments choose."""

from argparse import Namespace
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import bpy

from ...core.errors import VerletError
from ..bake.bake import bake, baked_frames, bodies, frame_range, taking_part
from ..bake.cautions import cautions
from ..bake.memory import large_need, needed
from ..bake.progress import Progress
from ..scene.file_context import file_context
from ..settings.properties import is_body, scene_properties
from .console import suggestion
from .name_patterns import matches
from .output_capture import stdout_on_stderr
from .results import Report
from .setting_overrides import override


@dataclass(frozen=True)
class Job:
    """A bake as chosen by the arguments."""

    scene: bpy.types.Scene
    view_layer: bpy.types.ViewLayer
    chosen: Sequence[bpy.types.Object]
    """The named bodies, or all."""
    objects: Sequence[bpy.types.Object]
    """The bodies to bake: the named ones, or all that are shown and local."""
    start: int
    end: int
    step: int

    def bake(
        self, objects: Sequence[bpy.types.Object] | None = None
    ) -> Generator[Progress, bool | None, None]:
        """Starts the bake of these bodies; None for all of the job."""
        return bake(
            self.scene,
            self.view_layer,
            self.objects if objects is None else objects,
            frame_start=self.start,
            frame_end=self.end,
            step=self.step,
        )

    def cautions(self) -> list[str]:
        """Warnings before the bake."""
        return cautions(self.scene, self.view_layer, self.chosen)

    def large_need(self) -> list[str]:
        """One sentence on the memory of the bake, if it is large."""
        return large_need(self.objects, self._keys())

    def describe(self) -> dict[str, object]:
        """Values of the job for the JSON result."""
        return {
            "bodies": [obj.name for obj in self.objects],
            "frames": [self.start, self.end],
            "step": self.step,
            "memory": needed(self.objects, self._keys()),
        }

    def _keys(self) -> int:
        return len(baked_frames(self.start, self.end, self.step))


def find_job(options: Namespace, report: Report) -> Job:
    """Finds the bodies and frames that the arguments choose, after applying `--set`."""
    here = file_context(bpy.context)
    with stdout_on_stderr():
        for assignments in _groups(options):
            with report.attempt():
                override(here.scene, assignments, options.names)
    chosen = _chosen(here.scene, options.names, report)
    start, end = options.frames or frame_range(here.scene)
    return Job(
        here.scene,
        here.view_layer,
        chosen,
        chosen if options.names else taking_part(chosen, here.view_layer),
        start,
        end,
        scene_properties(here.scene).key_step if options.step is None else options.step,
    )


def _groups(options: Namespace) -> list[list[str]]:
    """Groups of assignments to apply together: all, or with --check each alone for its error."""
    if options.check:
        return [[each] for each in options.assignments]
    return [options.assignments] if options.assignments else []


def show_scene(name: str) -> None:
    """Makes a scene the active one of the window.

    Raises
    ------
    VerletError
        There is no such scene.
    """
    scene = bpy.data.scenes.get(name)
    if scene is None:
        there = ", ".join(each.name for each in bpy.data.scenes)
        raise VerletError(f"There is no scene {name} in the file; choose one of {there}")
    if scene != (here := file_context(bpy.context)).scene:
        here.window_manager.windows[0].scene = scene


def _chosen(
    scene: bpy.types.Scene, names: list[str] | None, report: Report
) -> list[bpy.types.Object]:
    """Finds the bodies with these names, or all, in the scene's order."""
    everything = bodies(scene)
    if names is None:
        return everything
    for name in names:
        with report.attempt():
            _check_name(name, scene, everything)
    return [obj for obj in everything if any(matches(obj.name, name) for name in names)]


def _check_name(name: str, scene: bpy.types.Scene, everything: Sequence[bpy.types.Object]) -> None:
    """Raises VerletError if no enabled body has this name or matches this pattern."""
    if any(matches(obj.name, name) for obj in everything):
        return
    if name not in scene.objects:
        meant = suggestion(name, (obj.name for obj in everything))
        raise VerletError(f"There is no object {name} in the scene {scene.name}{meant}")
    if is_body(scene.objects[name]):
        raise VerletError(f"{name} is switched off; switch it on in Blender first")
    raise VerletError(f"{name} is not a soft body; make it one in Blender first")
