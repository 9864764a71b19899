"""The animated scene, read frame by frame as the core's `Sample`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from ...core.field import Field
from ...core.scene import Collider, Plane, Sample
from ...core.settings import BodySettings, SceneSettings
from ..settings.core_settings import animated_settings, body_settings, scene_settings
from ..settings.properties import scene_properties
from ..settings.timing import playhead, seconds_per_frame
from .attachments import Anchor, acting_attachments, carry, take_hold
from .cages import Shapes, bind, simulated_object
from .colliders import Surface, is_away, read_collider, read_surface
from .force_fields import acting_fields, enabled_fields, read_field
from .ground import evaluated_scene, read_ground, time_scale
from .mesh_io import read_positions
from .mirrors import Joint, read_planes
from .modifiers import finish_hidden
from .pin_weights import PinWeights, current_pin_weights, may_key_pins, read_pin_weights
from .pose_gravity import pose_pulls, root_frames
from .visibility import is_hidden_now, shown_throughout

FEW = 4
"""Number of objects up to which looking up each name is faster than one pass over all objects."""


HiddenBakes = Callable[[Sequence[bpy.types.Object]], AbstractContextManager[None]]
"""Hides the former bakes of objects, as `bake.former_bake` does."""


@dataclass(frozen=True)
class Stage:
    """A scene, its bodies and colliders by name, since pointers are invalid after undo.

    Of datablocks with the same name, `bpy.data` finds the file's own before linked ones.
    """

    scene_name: str
    view_layer_name: str
    body_names: tuple[str, ...]
    joints: tuple[tuple[Joint, ...], ...]
    """Per body, the mirror modifiers and axes at which it is joined to its image."""
    collider_keys: tuple[tuple[str, str | None], ...] = ()
    """Names of the colliders, with the paths of their libraries if linked."""
    met: tuple[tuple[int, ...], ...] = ()
    """Per body, the indices of the colliders that it collides with."""

    @property
    def scene(self) -> bpy.types.Scene:
        """The scene."""
        return bpy.data.scenes[self.scene_name]

    @property
    def bodies(self) -> list[bpy.types.Object]:
        """The bodies."""
        return _found_all(self.body_names)

    @property
    def simulated(self) -> list[bpy.types.Object]:
        """Per body, the object whose mesh is simulated: its cage, or itself."""
        return [simulated_object(obj) for obj in self.bodies]

    @property
    def colliders(self) -> list[bpy.types.Object]:
        """The colliders."""
        return [_found(*key) for key in self.collider_keys]

    @property
    def followed(self) -> list[bpy.types.Object]:
        """The objects that are read at all frames, also where keys hide them."""
        targets = [item.target for obj in self.bodies for _, item in acting_attachments(obj)]
        ground = scene_properties(self.scene).ground_object
        return list(
            dict.fromkeys((*self.bodies, *self.simulated, *targets, *filter(None, [ground])))
        )

    @property
    def view_layer(self) -> bpy.types.ViewLayer:
        """The view layer."""
        return self.scene.view_layers[self.view_layer_name]

    @property
    def depsgraph(self) -> bpy.types.Depsgraph:
        """The scene evaluated at the current frame."""
        return cast(bpy.types.Depsgraph, self.view_layer.depsgraph)

    def at(self, frame: int) -> bpy.types.Depsgraph:
        """Sets the scene to a frame; returns the scene evaluated there."""
        self.scene.frame_set(frame)
        return self.depsgraph

    def positions(self, depsgraph: bpy.types.Depsgraph) -> list[Floats]:
        """Per body, (n, 3) positions of the animated mesh that is simulated for it [m]."""
        return [read_positions(obj, depsgraph) for obj in self.simulated]

    def bind(self, surfaces: Sequence[Floats]) -> Shapes:
        """Binds bodies to their cages (v, 3) as the first frame, the current one, has them [m]."""
        depsgraph = self.depsgraph
        return Shapes(
            tuple(
                bind(obj, read_positions(obj, depsgraph), surface, depsgraph)
                for obj, surface in zip(self.bodies, surfaces, strict=True)
            )
        )

    def take_hold(self, depsgraph: bpy.types.Depsgraph) -> list[list[Anchor]]:
        """Per body, its attachments, bound at the current positions."""
        places = self.positions(depsgraph)
        return [take_hold(*each, depsgraph) for each in zip(self.bodies, places, strict=True)]

    def pin_weights(self) -> list[PinWeights]:
        """Per body, its painted pin weights; reading them takes as long as a few steps."""
        return [read_pin_weights(obj) for obj in self.bodies]

    def held(
        self,
        anchors: Sequence[list[Anchor]],
        pin_weights: Sequence[PinWeights],
        depsgraph: bpy.types.Depsgraph,
    ) -> tuple[list[Floats], list[Floats]]:
        """Per body, pin targets (n, 3) [m], then per body, pin weights (n,)."""
        pinned = [
            current_pin_weights(obj, weights, depsgraph)
            for obj, weights in zip(self.bodies, pin_weights, strict=True)
        ]
        held = [
            carry(obj, its, places, weights, depsgraph) if its else (places, weights)
            for obj, its, places, weights in zip(
                self.bodies, anchors, self.positions(depsgraph), pinned, strict=True
            )
        ]
        return [targets for targets, _ in held], [weights for _, weights in held]

    def mirrors(self, depsgraph: bpy.types.Depsgraph) -> list[list[Plane]]:
        """Per body, the planes at which it is mirrored."""
        return [
            read_planes(obj, joints, depsgraph)
            for obj, joints in zip(self.simulated, self.joints, strict=True)
        ]

    def fields(self, depsgraph: bpy.types.Depsgraph) -> list[list[Field]]:
        """Per body, the force fields that act on it."""
        fields = enabled_fields(self.view_layer)
        enabled = [field for field in fields if not is_hidden_now(field, depsgraph)]
        if not enabled:
            return [[] for _ in self.body_names]
        return [
            [read_field(field, depsgraph) for field in acting_fields(obj, enabled)]
            for obj in self.bodies
        ]

    def settings(
        self, depsgraph: bpy.types.Depsgraph, before: Sequence[BodySettings]
    ) -> list[BodySettings]:
        """Per body, the settings at the current frame, given those `before`."""
        return [
            animated_settings(obj, depsgraph, former)
            for obj, former in zip(self.bodies, before, strict=True)
        ]

    def read_colliders(self) -> list[Collider]:
        """The colliders, with all that is constant over frames."""
        with shown_throughout(self.colliders):
            self.depsgraph.update()
            found = [read_collider(obj, self.depsgraph) for obj in self.colliders]
        self.depsgraph.update()
        return found

    def first_surfaces(self) -> list[Surface | None]:
        """Per collider that is away at the current frame, the first one, its geometry there."""
        away = [obj for obj in self.colliders if is_away(obj, self.depsgraph)]
        with shown_throughout(away):
            self.depsgraph.update()
            found = {obj: read_surface(obj, self.depsgraph) for obj in away}
        self.depsgraph.update()
        return list(map(found.get, self.colliders))

    def surfaces(
        self, depsgraph: bpy.types.Depsgraph, before: Sequence[Surface | None]
    ) -> list[Surface]:
        """Per collider, its geometry at the current frame."""
        return [
            read_surface(obj, depsgraph, former)
            for obj, former in zip(self.colliders, before, strict=True)
        ]

    @contextmanager
    def left_as_found(self, bakes_hidden: HiddenBakes) -> Iterator[None]:
        """Shows the meshes as a bake reads them, and restores modifiers, keys and frame afterwards.

        Parameters
        ----------
        bakes_hidden
            The context that hides earlier bakes.
        """
        frame, subframe = playhead(self.scene)
        # Tagged, since values that a script has just set would be evaluated only later.
        shown = dict.fromkeys((*self.bodies, *self.simulated))
        for each in (self.scene, *shown):
            each.update_tag()
        try:
            with bakes_hidden(self.bodies), finish_hidden(shown), shown_throughout(self.followed):
                yield
        finally:
            self.scene.frame_set(frame, subframe=subframe)


def _found(name: str, *library: str | None) -> bpy.types.Object:
    """Finds an object by name and, if it is given, library; raises MeshError if it is gone."""
    objects: Any = bpy.data.objects
    found: bpy.types.Object | None = objects.get((name, *library) if library else name)
    if found is None:
        raise MeshError(
            f"{name} was removed or renamed during the bake, by a script that acts on frame "
            "changes; turn that script off, or bake without it"
        )
    return found


def _found_all(names: Sequence[str]) -> list[bpy.types.Object]:
    """Finds objects by name, many in one pass, since Blender searches all objects for each name."""
    if len(names) <= FEW:
        return [_found(name) for name in names]
    own = {obj.name: obj for obj in reversed(bpy.data.objects[:])}  # linked ones come last
    return [own.get(name) or _found(name) for name in names]


class SampleReader:
    """Reader of samples; the caller sets the scene to each frame in turn."""

    def __init__(self, stage: Stage, start: int) -> None:
        """Binds attachments at the first frame, and reads the time scale of the one before it."""
        self._stage = stage
        self._anchors, self._pins = stage.take_hold(stage.at(start)), stage.pin_weights()
        self.gives_weights = any(map(may_key_pins, stage.bodies))
        self._surfaces: Sequence[Surface | None] = stage.first_surfaces()
        self._settings = [body_settings(obj) for obj in stage.bodies]
        self._scene_settings = scene_settings(evaluated_scene(stage.depsgraph))
        self._before = time_scale(stage.at(start - 1))
        self._seconds = seconds_per_frame(stage.scene)
        self._roots = root_frames(stage.bodies, stage.at(start))

    def read(self, frame: int, depsgraph: bpy.types.Depsgraph) -> Sample:
        """The current evaluated scene, as the sample of a frame."""
        stage, scene, now = self._stage, self._stage.scene, time_scale(depsgraph)
        targets, weights = stage.held(self._anchors, self._pins, depsgraph)
        self._surfaces = surfaces = stage.surfaces(depsgraph, self._surfaces)
        self._settings = settings = stage.settings(depsgraph, self._settings)
        self._scene_settings = _same(self._scene_settings, evaluated_scene(depsgraph))
        before, self._before = self._before, now
        gravity = np.array(scene.gravity if scene.use_gravity else (0, 0, 0), dtype=np.float64)
        roots = root_frames(stage.bodies, depsgraph)
        return Sample(
            frame=frame,
            duration=self._seconds * (before + now) / 2,
            gravity=gravity,
            pulls=pose_pulls(self._roots, roots, settings, gravity),
            targets=targets,
            ground=read_ground(scene, depsgraph),
            mirrors=stage.mirrors(depsgraph),
            fields=stage.fields(depsgraph),
            pin_weights=weights if self.gives_weights or any(self._anchors) else (),
            settings=settings,
            scene_settings=self._scene_settings,
            pressures=[each.pressure for each in settings],
            colliders=[surface.points for surface in surfaces],
        )


def read_samples(stage: Stage, start: int, end: int) -> Iterator[Sample]:
    """Yields one sample per frame; the scene is at that frame when it is yielded.

    During the settle frames, which come before the first one, the scene is at the first.
    """
    reader = SampleReader(stage, start)
    settling = scene_properties(stage.scene).settle_frames
    for frame in range(start - settling, end + 1):
        yield reader.read(frame, stage.at(max(frame, start)))


def _same(before: SceneSettings, scene: bpy.types.Scene) -> SceneSettings:
    """The settings of a scene; the object of before if they are equal, which is stored once."""
    now = scene_settings(scene)
    return before if now == before else now
