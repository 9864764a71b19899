"""Garments draped on the morphs of a body, and kept as shape keys of the same names.

A morph is a shape key of the body. Its value rises from 0 to 1 over some frames, off the timeline,
and then the garments come to rest.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.drape import Settling, drape
from ...core.errors import MeshError, SettingsError
from ...core.mesh import MeshData
from ...core.scene import Collider, Sample
from ...core.settings import BodySettings, SceneSettings
from ..bake.bake import prepare_stage, read_settings
from ..bake.record import is_baked
from ..bake.statistics import BakeStatistics
from ..scene.cages import refuse_cages
from ..scene.colliders import object_key
from ..scene.curve_lines import refuse_curve
from ..scene.key_points import way_to_key
from ..scene.mesh_access import (
    add_key,
    blocks_named,
    keys_muted,
    made_keys,
    read_key,
    shape_keys_of,
)
from ..scene.modifiers import finish_hidden
from ..scene.ownership import check_data
from ..scene.sampling import SampleReader, Stage
from ..scene.starting_meshes import read_meshes
from ..scene.still_scene import StillStage
from ..settings.properties import body_properties
from ..settings.timing import seconds_per_frame
from .control import session_of, working
from .kept_shape import set_rest_key

DRAPED = "Draped"
"""Name of the key of a garment on the body without morphs."""
FRAMES = 24
"""Frames over which a morph grows."""
SECONDS = 20.0
"""Longest time that a garment is simulated for each shape [s]."""


@dataclass(frozen=True)
class Fitting:
    """Garments at one moment of a fit."""

    shape: str
    """The morph; empty for the body without any."""
    number: int
    total: int
    """Number of the shape, from 1 on, and how many there are."""
    settling: Settling
    stretch: float
    """Largest strain of any edge of a garment at rest so far."""
    most_stretched: str
    """The garment with that edge."""
    remarks: Sequence[str]
    """Diagnostics so far, one sentence each for the user."""

    def describe(self) -> str:
        """Text of the progress."""
        shape = self.shape or "without morphs"
        return f"shape {self.number} of {self.total} ({shape}), {self.settling.seconds:.1f} s"

    def result(self) -> str:
        """Text of the result, of the last moment."""
        stretched = f"no edge stretched by more than {self.stretch:.1%}"
        count = "1 morph" if self.total == 2 else f"{self.total - 1} morphs"
        return f"Fitted to {count}; {stretched}"


def fit(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    garments: Sequence[bpy.types.Object],
    body: bpy.types.Object | None,
    morphs: Sequence[str] = (),
    *,
    frames: int = FRAMES,
    seconds: float = SECONDS,
) -> Generator[Fitting, None, None]:
    """Drapes garments together on a body and on each of its morphs, and keeps shape keys of them.

    Each garment gets the key Draped with the value 1 and, for each morph, one of the same name with
    the value 0: its displacement from where it rests without morphs. Keys of a former fit are
    replaced. Nothing is written before all shapes are there; closing the generator cancels.

    Parameters
    ----------
    garments
        Bodies that are switched on.
    body
        A collider with shape keys.
    morphs
        Names of its keys; none are all but the first.
    frames
        Frames over which a morph grows.
    seconds
        Longest time that each shape is simulated [s].

    Returns
    -------
    Generator
        One Fitting per simulated frame.

    Raises
    ------
    VerletError
        As for a drape, or an object, key or morph is not suitable.
    """
    chosen = _checked_morphs(body, morphs)
    assert body is not None
    for obj in garments:
        _check_garment(obj, body, chosen)
    if not garments:
        raise MeshError(f"No garment is named; name a soft body to fit to {body.name}")
    if session_of(scene) is not None:
        raise MeshError(f"Live is on in {scene.name}, which would hide a fit; press End Live first")
    if frames < 1:
        raise SettingsError(f"The frames of a morph are {frames}; set them to 1 or more")
    if not seconds > 0.0:
        raise SettingsError(f"The longest time of a fit is {seconds:g} s; set it to more than 0")
    refuse_cages(garments, "a fit")
    stage = prepare_stage(scene, view_layer, garments)
    for obj, met in zip(garments, stage.met, strict=True):
        if object_key(body) not in [stage.collider_keys[number] for number in met]:
            raise MeshError(
                f"{obj.name} does not collide with {body.name}; press Make Collider on "
                f"{body.name}, and check the collection of {obj.name}"
            )
    return _fit(stage, body.name, chosen, frames, seconds)


def _checked_morphs(body: bpy.types.Object | None, names: Sequence[str]) -> list[str]:
    """Names of the morphs to fit to; raises MeshError where one does not act."""
    if body is None:
        raise MeshError(
            "No body to fit on is chosen; choose the object whose shape keys are the morphs"
        )
    key = shape_keys_of(body)
    if key is None or len(key.key_blocks) < 2:
        raise MeshError(f"{body.name} has no shape keys beside its Basis; add one for each morph")
    if not key.use_relative:
        raise MeshError(f"{body.name} has absolute shape keys; turn on Relative for them")
    if body.show_only_shape_key:
        raise MeshError(
            f"{body.name} shows one shape key alone; turn off Solo Active Shape Key under its list "
            "of shape keys"
        )
    baked = {item.name for item in body_properties(body).baked_keys}
    there = [each.name for each in key.key_blocks[1:] if each.name not in baked and not each.mute]
    for name in names:
        if name not in there:
            listed = ", ".join(there) or "none"
            raise MeshError(
                f"{body.name} has no shape key {name} that is on; choose among its own: {listed}"
            )
    return list(dict.fromkeys(names)) or there


def _check_garment(obj: bpy.types.Object, body: bpy.types.Object, morphs: Sequence[str]) -> None:
    """Raises MeshError where a fit cannot be kept on a garment."""
    if obj == body:
        raise MeshError(f"{obj.name} cannot be fitted to itself; name another garment or body")
    refuse_curve(obj, "a fit", "leave it out")
    check_data(obj)
    if not body_properties(obj).enabled:
        raise MeshError(
            f"{obj.name} is no soft body that is switched on; press Make Soft Body "
            "first, or switch it on by the checkbox of its panel"
        )
    if is_baked(obj):
        raise MeshError(f"{obj.name} has a bake, which would move a fit; clear its bake first")
    key, ours = shape_keys_of(obj), {item.name for item in body_properties(obj).fitted_keys}
    taken = [each.name for each in key.key_blocks if each.name not in ours] if key else []
    if clash := [name for name in morphs if name in taken]:
        raise MeshError(
            f"{obj.name} has a shape key {clash[0]} of its own; rename or remove that first"
        )


def _fit(
    stage: Stage, body: str, morphs: Sequence[str], frames: int, seconds: float
) -> Generator[Fitting, None, None]:
    """Drapes the garments, and keeps their shapes once all are there."""
    garments = stage.bodies
    with ExitStack() as restored:
        restored.enter_context(working())
        restored.callback(stage.view_layer.update)
        for obj in garments:
            former = [item.name for item in body_properties(obj).fitted_keys]
            restored.enter_context(keys_muted(obj, former))
        restored.enter_context(_at_zero(body, morphs))
        restored.enter_context(finish_hidden(garments))
        stage.view_layer.update()
        shapes = _Shapes(stage, body, frames, seconds)
        yield from shapes.simulate(morphs)
        keys = shapes.keys()
    for obj, points in zip(garments, keys, strict=True):
        _write(obj, morphs, points)
    stage.view_layer.update()


@contextmanager
def _at_zero(body: str, morphs: Sequence[str]) -> Iterator[None]:
    """Sets the morphs of a body to 0, and to their own values afterwards."""
    before = {block.name: block.value for block in _morphs(body, morphs)}
    for block in _morphs(body, morphs):
        block.value = 0.0
    try:
        yield
    finally:
        for block in _morphs(body, morphs):
            block.value = before[block.name]


def _morphs(body: str, names: Sequence[str]) -> list[bpy.types.ShapeKey]:
    """The shape keys of a body with these names."""
    return blocks_named(bpy.data.objects[body], names)


class _Shapes:
    """The garments at rest on a body, without morphs and with each of them."""

    def __init__(self, stage: Stage, body: str, frames: int, seconds: float) -> None:
        """Reads the scene as it is now, with all morphs at 0."""
        self._stage, self._body = StillStage(**vars(stage)), body
        self._frames, self._seconds = frames, seconds
        frame = stage.scene.frame_current
        self._meshes: list[MeshData] = read_meshes(self._stage, frame)
        self._settings: tuple[list[BodySettings], SceneSettings] = read_settings(self._stage)
        self._colliders: list[Collider] = self._stage.read_colliders()
        self._reader = SampleReader(self._stage, frame)
        self._rests: list[Sequence[Floats]] = []

    def simulate(self, morphs: Sequence[str]) -> Iterator[Fitting]:
        """Simulates all shapes, one after the other."""
        gauge, names = BakeStatistics(self._meshes, self._settings[0]), ["", *morphs]
        for number, name in enumerate(names, start=1):
            *way, still = self._way(name) if name else [self._sample()]
            for settling in drape(self._start(), *self._settings, still, self._colliders, way=way):
                is_last = settling.is_at_rest or self._is_over(settling)
                if is_last:
                    self._rests.append(settling.frame.positions)
                    gauge.measure(settling.frame)
                    gauge.remarks += self._unrest(name, settling)
                remarks, worst = list(dict.fromkeys(gauge.remarks)), gauge.extremes
                yield Fitting(
                    name, number, len(names), settling, worst.stretch, worst.stretched, remarks
                )
                if is_last:
                    break

    def _is_over(self, settling: Settling) -> bool:
        """Whether as much time is simulated as may be; Blender's own number is rounded."""
        return settling.seconds >= self._seconds * (1.0 - 1e-6)

    def _unrest(self, morph: str, settling: Settling) -> Iterator[str]:
        """Sentence on garments that are not at rest in the end."""
        if not settling.is_at_rest:
            where = f"{self._body}, with the morph {morph}," if morph else f"{self._body}"
            yield (
                f"{settling.fastest} is not at rest on {where} after {settling.seconds:.0f} s; "
                "raise Longest Time"
            )

    def _start(self) -> list[MeshData]:
        """The garments as they are at first, or as they rest without morphs."""
        if not self._rests:
            return self._meshes
        return [
            replace(mesh, positions=places, rest_positions=mesh.at_rest)
            for mesh, places in zip(self._meshes, self._rests[0], strict=True)
        ]

    def _sample(self) -> Sample:
        """The surroundings of the garments now."""
        sample = self._reader.read(self._stage.scene.frame_current, self._stage.depsgraph)
        return replace(sample, duration=seconds_per_frame(self._stage.scene))

    def _way(self, morph: str) -> list[Sample]:
        """Samples while a morph grows from 0 to 1; it is at 0 again afterwards."""
        stage, samples = self._stage, []
        (block,) = _morphs(self._body, [morph])
        for value in np.linspace(0.0, 1.0, self._frames + 1):
            block.value = value
            stage.view_layer.update()
            if abs(block.value - value) > 1e-6:
                raise MeshError(
                    f"The shape key {morph} of {self._body} cannot be set to {value:.2g}, since it "
                    "has a driver or another range; remove the driver, or set the range to 0 to 1"
                )
            samples.append(self._sample())
        block.value = 0.0
        stage.view_layer.update()
        return samples

    def keys(self) -> list[list[Floats]]:
        """Per garment, (n, 3) points of its key Draped, then of one for each morph."""
        stage, each = self._stage, []
        for number, obj in enumerate(stage.bodies):
            way = way_to_key(obj, stage.depsgraph)
            draped, *others = (way(rest[number]).astype(np.float64) for rest in self._rests)
            each.append([draped, *(other - draped for other in others)])
        return each


def _write(obj: bpy.types.Object, morphs: Sequence[str], points: Sequence[Floats]) -> None:
    """Writes the keys of a garment in place of those of a former fit."""
    body = body_properties(obj)
    for name in [item.name for item in body.fitted_keys]:
        for block in blocks_named(obj, [name]):
            obj.shape_key_remove(block)
    body.fitted_keys.clear()
    key = made_keys(obj)
    basis = read_key(key.reference_key)
    draped, *moves = points
    blocks = [add_key(obj, DRAPED, draped, 1.0)]
    blocks += [
        add_key(obj, name, basis + move, 0.0) for name, move in zip(morphs, moves, strict=True)
    ]
    for name in [block.name for block in blocks]:
        body.fitted_keys.add().name = name
    set_rest_key(obj, key)
