"""One drape: bodies simulated off the timeline until they rest, and shown meanwhile."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, cast

import bpy

from ...core.arrays import Floats
from ...core.drape import Settling, drape
from ...core.errors import MeshError
from ..bake.bake import prepare_stage, read_settings
from ..bake.former_bake import former_bakes_hidden
from ..scene.cache_modifiers import (
    DRAPE_MODIFIER,
    bake_modifier,
    drape_modifier,
    remove_drape_modifiers,
    update_tracks,
)
from ..scene.cages import refuse_cages
from ..scene.carrier_inverse import invert_carriers
from ..scene.curve_lines import refuse_curve
from ..scene.hair_curves import refuse_hair
from ..scene.key_points import local_positions
from ..scene.mesh_access import mesh_of, read_vertices
from ..scene.modifiers import (
    alone,
    caches_hidden,
    finish_hidden,
    has_carriers,
    live_hidden,
)
from ..scene.pc2 import append_sample, create_pc2
from ..scene.still_scene import read_start, read_still, stand_still
from ..scene.visibility import seen
from .control import end_live, working
from .drape_files import new_file, remove_unused_files


class Drape:
    """Bodies on their way to rest, from where they are shown at the current frame.

    They are shown by a Mesh Cache modifier before all others, so that these act on a drape as they
    will on the mesh that it is applied to. `accept` leaves that modifier, `cancel` removes it.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        view_layer: bpy.types.ViewLayer,
        objects: Sequence[bpy.types.Object],
        *,
        slide: bool,
    ) -> None:
        """Reads the bodies and all that surrounds them, and shows them where they are.

        Parameters
        ----------
        slide : whether cloth and ropes slide into place, as `core.drape` has them.

        Raises
        ------
        VerletError
            As for a bake, or a body cannot show a drape; nothing is changed then.
        """
        self._files: list[_ShownFile] = []
        self._shown_otherwise = ExitStack()
        self._shown_otherwise.enter_context(working())
        try:
            self._read(scene, view_layer, objects, slide=slide)
        except BaseException:
            self.cancel()
            raise

    def _read(
        self,
        scene: bpy.types.Scene,
        view_layer: bpy.types.ViewLayer,
        objects: Sequence[bpy.types.Object],
        *,
        slide: bool,
    ) -> None:
        """Reads bodies and surroundings, and shows the bodies."""
        objects = seen(objects, view_layer)
        refuse_cages(objects, "Drape")
        for obj in objects:
            _check_bake(obj)
        with caches_hidden(objects):
            stage = prepare_stage(scene, view_layer, objects)
        for obj in objects:
            _check_parent(obj)
        self.stage = stage = stand_still(
            stage, [read_start(obj, stage.depsgraph) for obj in objects]
        )
        with former_bakes_hidden(objects), finish_hidden(objects):
            view_layer.update()
            meshes, sample = read_still(stage)
            settings, scene_settings = read_settings(stage)
            colliders = stage.read_colliders()
        view_layer.update()
        self.settlings: Iterator[Settling] = drape(
            meshes, settings, scene_settings, sample, colliders, slide=slide
        )
        self._shown_otherwise.enter_context(live_hidden(objects))
        self._files = [_ShownFile(obj) for obj in objects]
        self.show(stage.starts)

    def show(self, positions: Sequence[Floats]) -> None:
        """Shows the bodies at world positions (n, 3) [m]."""
        stage = self.stage
        for obj, file, places in zip(stage.bodies, self._files, positions, strict=True):
            file.show(obj, stage.depsgraph, places)
        stage.view_layer.update()

    def accept(self) -> None:
        """Leaves the bodies as they are shown; former drapes of them and live simulation end."""
        self._shown_otherwise.close()
        end_live(self.stage.scene)
        remove_unused_files()

    def cancel(self) -> None:
        """Shows the bodies as they were shown before."""
        for obj, file in zip(self.stage.bodies if self._files else (), self._files, strict=True):
            file.take_back(obj)
        self._shown_otherwise.close()
        remove_unused_files()


def _check_bake(obj: bpy.types.Object) -> None:
    """Raises MeshError for curves, hair, and bodies that play a cache, which hides a drape."""
    refuse_curve(obj, "a drape", "bake it")
    refuse_hair(obj, "a drape", "bake it")
    if bake_modifier(obj) is not None:
        raise MeshError(
            f"{obj.name} plays the cache of its bake, which would hide a drape; clear its bake "
            "first, or bake shape keys instead"
        )


class _ShownFile:
    """The file of one body, shown by a new modifier or by that of its former drape."""

    def __init__(self, obj: bpy.types.Object) -> None:
        """Has the body show the file."""
        self._path = new_file(obj)
        self._write(read_vertices(mesh_of(obj)))
        former = drape_modifier(obj)
        self._former = former.filepath if former is not None else ""
        (former or _add_modifier(obj)).filepath = str(self._path)

    def show(
        self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, positions: Floats
    ) -> None:
        """Shows the body at world positions (n, 3) [m].

        Raises
        ------
        MeshError
            The object's matrix or its modifiers cannot be undone.
        """
        wanted = local_positions(obj, depsgraph, positions)
        if has_carriers(obj):
            with alone(obj, carriers=True):
                depsgraph.update()
                wanted = invert_carriers(obj, depsgraph, wanted, self._points, self._write)
        self._write(wanted)
        mesh_of(obj).update_tag()

    def _write(self, points: Floats) -> None:
        """Writes points (n, 3) in the object's space, before all modifiers."""
        self._points = points
        create_pc2(self._path, vertex_count=len(points), frame_start=0)
        append_sample(self._path, points, 0)

    def take_back(self, obj: bpy.types.Object) -> None:
        """Has the body show a former drape, or none."""
        modifier = drape_modifier(obj)
        if self._former and modifier is not None:
            modifier.filepath = self._former
        else:
            remove_drape_modifiers([obj])


def _add_modifier(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier:
    """A Mesh Cache modifier before all others; the active modifier stays active."""
    active: Any = obj.modifiers.active
    modifier: Any = obj.modifiers.new(DRAPE_MODIFIER, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.show_in_editmode = False
    modifier.show_expanded = False
    name = modifier.name
    obj.modifiers.move(obj.modifiers.find(name), 0)
    if active is not None:
        obj.modifiers.active = active
    update_tracks(obj)
    return cast(bpy.types.MeshCacheModifier, obj.modifiers[name])


def _check_parent(obj: bpy.types.Object) -> None:
    """Raises MeshError where a parent deforms an object, which no modifier can precede."""
    if (parent := obj.parent) is not None and obj.parent_type in ("ARMATURE", "LATTICE"):
        kind = obj.parent_type.title()
        raise MeshError(
            f"The parent {parent.name} deforms {obj.name}, over which a drape cannot be shown; set "
            f"its parent type to Object, and add the modifier {kind} instead"
        )
