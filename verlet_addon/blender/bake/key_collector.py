"""Results of a bake as shape keys, collected frame by frame and written at the end."""

from collections.abc import Sequence

import numpy as np

from ...core.scene import Frame
from ...core.self_test import kernels
from ..scene.cache_modifiers import remove_live_modifiers
from ..scene.key_points import WayToKey, way_to_key
from ..scene.mesh_access import point_count
from ..scene.mesh_io import world_matrix
from ..scene.modifiers import has_carriers
from ..scene.sampling import Stage
from .bone_keys import key_bones
from .curve_deviations import CurveDeviations
from .forms import RELATIVE, KeyForm, plan, write_plan
from .memory import check_room_to_write
from .motion import Motion
from .record import BakeInputs, remember_bake


class KeyCollector:
    """Coordinates of the shape keys of all bodies, for the frames that get a key."""

    def __init__(
        self,
        stage: Stage,
        frames: list[int],
        *,
        alike: bool,
        loop: int = 0,
    ) -> None:
        self._stage, self._frames, self._loop = stage, frames, loop
        self._places = {frame: place for place, frame in enumerate(frames)}
        counts = [*map(point_count, stage.bodies)]
        self._keys = [np.empty((len(frames), count, 3), np.float32) for count in counts]
        self._linear = [np.empty((len(frames), 3, 3)) for _ in counts]
        lasting = alike and not any(map(has_carriers, stage.bodies))
        self._ways = self._read_ways() if lasting else None
        self._gaps = CurveDeviations()

    def _read_ways(self) -> list[WayToKey]:
        """Per body, the conversion from world positions to key coordinates at the current frame."""
        return [way_to_key(obj, self._stage.depsgraph) for obj in self._stage.bodies]

    def collect(self, result: Frame) -> None:
        """Stores a result at the scene's current frame, if that frame gets a key."""
        place = self._places.get(result.frame)
        if place is None:
            return
        ways = self._ways or self._read_ways()
        for coordinates, way, positions in zip(self._keys, ways, result.positions, strict=True):
            coordinates[place] = way(positions)
        for linear, obj in zip(self._linear, self._stage.bodies, strict=True):
            linear[place] = world_matrix(obj, self._stage.depsgraph)[0]
        self._gaps.measure(self._stage.bodies, result.positions)

    def remarks(self) -> list[str]:
        """One sentence for each curve that only comes near its rope."""
        return self._gaps.remarks()

    def end_at(self, frame: int) -> None:
        """Drops the keys after a frame."""
        self._frames = [each for each in self._frames if each <= frame]

    def write(self, inputs: Sequence[BakeInputs], form: KeyForm) -> list[str]:
        """Writes all keys of all bodies, and the record of their inputs; returns remarks."""
        check_room_to_write(self._stage.bodies, self._frames)
        served, count, remarks = kernels(), len(self._frames), []
        remove_live_modifiers(self._stage.bodies)  # or they would hide the bake
        for obj, read in zip(self._stage.bodies, inputs, strict=True):
            # `pop` frees each body's array before Blender copies the next one.
            points, linear = self._keys.pop(0)[:count], self._linear.pop(0)[:count]
            motion = Motion(self._frames, points, linear, self._loop)
            chosen = plan(obj, motion, form)
            if chosen.refusal:
                remarks.append(chosen.refusal)
                chosen = plan(obj, motion, RELATIVE)
            write_plan(obj, chosen)
            remember_bake(obj, [self._frames[0], motion.last], read, served)
        key_bones(self._stage.scene, self._stage.view_layer, self._stage.bodies)
        return remarks
