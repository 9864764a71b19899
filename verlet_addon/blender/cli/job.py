"""One job of the command line: the scene, bodies and frames that its arguments choose."""

from argparse import Namespace
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bpy

from ...core.errors import VerletError
from ..bake.bake import bake, baked_frames, bodies, frame_range, taking_part
from ..bake.cache_bake import bake_cache, check_cache_step
from ..bake.cache_folder import caches_of, find_cache
from ..bake.cautions import cautions
from ..bake.forms import RELATIVE, KeyForm
from ..bake.loop_bake import bake_loop
from ..bake.memory import large_need, needed
from ..bake.progress import Progress
from ..bake.record import form_of
from ..scene.file_context import file_context
from ..settings.bone_properties import armature_of
from ..settings.properties import body_properties, is_body, scene_properties
from .console import suggestion
from .name_patterns import matches
from .output_capture import stdout_on_stderr
from .results import Report
from .setting_overrides import override


@dataclass(frozen=True)
class CacheOptions:
    """Options of a bake to a cache."""

    blend: Path
    """The .blend file beside which the cache is."""
    resume: bool
    from_frame: int


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
    cache: CacheOptions | None = None
    """Options of the cache; None for a bake to shape keys."""
    form: KeyForm = RELATIVE
    """Form of shape keys."""
    loop: int = 0
    """Number of frames that repeat; 0 for none."""

    @property
    def keeps_frames(self) -> bool:
        """Whether frames stay, to go on from, if the bake is ended before its last one."""
        return self.cache is not None and not self.loop

    def bake(
        self, objects: Sequence[bpy.types.Object] | None = None
    ) -> Generator[Progress, bool | None, None]:
        """Starts the bake of these bodies; None for all of the job."""
        chosen = self.objects if objects is None else objects
        if self.cache is not None:
            check_cache_step(self.step)
        if self.loop:
            return bake_loop(
                self.scene,
                self.view_layer,
                chosen,
                frame_start=self.start,
                frame_end=self.end,
                length=self.loop,
                form=self.form if self.cache is None else self.cache.blend,
                step=self.step,
            )
        if self.cache is not None:
            return bake_cache(
                self.scene,
                self.view_layer,
                chosen,
                frame_start=self.start,
                frame_end=self.end,
                blend=self.cache.blend,
                resume=self.cache.resume,
                from_frame=self.cache.from_frame,
            )
        return bake(
            self.scene,
            self.view_layer,
            chosen,
            frame_start=self.start,
            frame_end=self.end,
            step=self.step,
            form=self.form,
        )

    def without_writing(
        self, objects: Sequence[bpy.types.Object]
    ) -> Generator[Progress, bool | None, None]:
        """Starts a bake of these bodies that writes nothing unless it comes to its end.

        That of a cache would write at once, so it is only checked, and one to keys is started.
        """
        if self.cache is not None or self.loop:
            self.bake(objects).close()
        return replace(self, cache=None, loop=0).bake(objects)

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
            "mode": self.form.mode.lower() if self.cache is None else "cache",
            "loop": self.loop,
            "memory": needed(self.objects, self._keys()),
        }

    def achieved(self) -> list[dict[str, object]]:
        """Form, shape keys and distances [m] of each bake for the JSON result, once it is made."""
        return list(map(achieved, self.objects))

    def _keys(self) -> int:
        """Number of shape keys of each body."""
        if self.cache is not None:
            return 0
        return len(baked_frames(self.start, self.end, self.step))


def achieved(obj: bpy.types.Object) -> dict[str, object]:
    """Form, shape keys and distances [m] of a bake for the JSON result."""
    body = body_properties(obj)
    return {
        "body": obj.name,
        "mode": form_of(obj).lower(),
        "keys": len(body.baked_keys),
        "frames": [body.baked_start, body.baked_end],
        "loop": body.baked_loop,
        "worst": body.baked_worst,
        "rms": body.baked_rms,
    }


def find_job(options: Namespace, output: Path | None, report: Report) -> Job:
    """Finds the bodies and frames that the arguments choose, after applying `--set`.

    Parameters
    ----------
    output : full path of the file to write; None with `--check` alone.
    """
    here = file_context(bpy.context)
    with stdout_on_stderr():
        for assignments in _groups(options):
            with report.attempt():
                override(here.scene, assignments, options.names)
    chosen = _chosen(here.scene, options.names, report)
    if options.bones is not None:
        for obj in filter(armature_of, chosen):
            body_properties(obj).bones_to = options.bones.upper()
    start, end = options.frames or frame_range(here.scene)
    job = Job(
        here.scene,
        here.view_layer,
        chosen,
        chosen if options.names else taking_part(chosen, here.view_layer),
        start,
        end,
        _step(here.scene, options),
        _cache_options(options, output),
        key_form(here.scene, options),
        options.loop,
    )
    return _from_the_start(job, report) if _lacks_its_cache(job) else job


def _lacks_its_cache(job: Job) -> bool:
    """Whether a job is to go on with its cache where that ends, and there is none."""
    if job.cache is None or not job.cache.resume or job.cache.from_frame:
        return False
    return find_cache(job.scene.name, [obj.name for obj in job.objects], job.cache.blend) is None


def _from_the_start(job: Job, report: Report) -> Job:
    """The job without --resume, so that the first try of a task and later ones are one command."""
    assert job.cache is not None
    names = ", ".join(obj.name for obj in job.objects)
    report.note(
        f"There is no cache of {names} alone in {caches_of(job.cache.blend)} yet; the bake begins "
        f"at frame {job.start}"
    )
    return replace(job, cache=replace(job.cache, resume=False))


def _step(scene: bpy.types.Scene, options: Namespace) -> int:
    """Frames from one key to the next; the scene's own are for shape keys alone."""
    if options.step is not None:
        return int(options.step)
    return 1 if options.mode == "cache" else scene_properties(scene).key_step


def key_form(scene: bpy.types.Scene, options: Namespace) -> KeyForm:
    """The form of shape keys; that of a key per frame for a cache."""
    if options.mode == "cache":
        return RELATIVE
    own = scene_properties(scene).component_tolerance
    tolerance = own if options.tolerance is None else options.tolerance
    return KeyForm(options.mode.upper(), tolerance)


def _cache_options(options: Namespace, output: Path | None) -> CacheOptions | None:
    """Options of the cache; None for a bake to shape keys."""
    if options.mode != "cache":
        return None
    return CacheOptions(output or options.input.absolute(), options.resume, options.from_frame)


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


def missing(
    name: str, scene: bpy.types.Scene, meant: Sequence[bpy.types.Object] | None = None
) -> VerletError:
    """The error of a name that no object has; it suggests one of those that may be meant."""
    names = (obj.name for obj in (scene.objects if meant is None else meant))
    return VerletError(
        f"There is no object {name} in the scene {scene.name}{suggestion(name, names)}"
    )


def _check_name(name: str, scene: bpy.types.Scene, everything: Sequence[bpy.types.Object]) -> None:
    """Raises VerletError if no enabled body has this name or matches this pattern."""
    if any(matches(obj.name, name) for obj in everything):
        return
    if name not in scene.objects:
        raise missing(name, scene, everything)
    if is_body(scene.objects[name]):
        raise VerletError(f"{name} is switched off; switch it on in Blender first")
    raise VerletError(f"{name} is not a soft body; make it one in Blender first")
