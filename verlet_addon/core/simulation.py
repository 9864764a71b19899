"""A simulation that stands at one sample, and can go on to the next, be stored, or be left."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .arrays import Floats
from .build import build
from .changes.overstretched_pins import PinPaths
from .changes.rebuilding import (
    change_all_pins,
    change_all_settings,
    lengthen_all,
    with_current_pin_weights,
)
from .collision.collision_world import CollisionWorld, build_collision_world
from .collision.depenetration_step import depenetrate
from .collision.diagnostics import frame_diagnostics, start_diagnostics
from .collision.pair_properties import combine_pair_properties
from .fast_paths.fused_plain_step import find_plain, step_plain_bodies
from .fast_paths.fused_solid_step import step_solid
from .fast_paths.sleeping import is_sleeping
from .mesh import MeshData, check_mesh
from .mirrors import Reflection, complete_all, interpolate_mirrors, keep_symmetric
from .phases.plain_group import make_group
from .phases.step_data import Body
from .phases.water_bodies import start_water
from .sanity import check_fields, check_pressures, check_sample, check_sane, check_still
from .scene import Collider, Frame, Sample
from .self_test import check_environment
from .settings import BodySettings, SceneSettings
from .step import step
from .stretch.seams import with_seams
from .substeps import cut_into_steps


@dataclass(eq=False)
class Simulation:
    """Bodies at one sample of a scene, and all that decides how they move on from there."""

    meshes: Sequence[MeshData]
    """As they were given."""
    body_settings: Sequence[BodySettings]
    scene_settings: SceneSettings
    colliders: Sequence[Collider]
    sample: Sample
    """The last one."""
    moved: Sample
    """The last one to which time passed."""
    wholes: list[MeshData]
    """With their mirror images and seams."""
    reflections: list[list[Reflection]]
    """Per body, of its mirrors."""
    bodies: list[Body] = field(default_factory=list)
    """Empty until time passes for the first time."""
    world: CollisionWorld | None = None
    """What bodies may touch; None where that is nothing."""
    pin_paths: dict[int, PinPaths] = field(default_factory=dict)
    """By number of the body, the shortest paths between its pins, once they were too long."""
    checked_targets: dict[int, Floats | None] = field(default_factory=dict)
    """By number of the body, what `frame_diagnostics` notes."""

    def frame(self, remarks: Sequence[str] = ()) -> Frame:
        """The result at the sample."""
        return Frame(self.sample.frame, self._vertices(), self._deepest(), remarks)

    def advance(self, sample: Sample) -> Frame:
        """Moves all bodies on to the next sample.

        Raises
        ------
        SettingsError, DivergenceError
            As `simulate` has them; nothing can be gone on with after that.
        """
        check_sample(sample)
        check_pressures(self.wholes, sample)
        remarks: list[str] = []
        if sample.duration > 0.0:
            remarks += self._build(sample)
            self._step_to(sample)
            remarks += frame_diagnostics(
                self.meshes, self.bodies, self.world, self.colliders, self.checked_targets, sample
            )
            self.moved = sample
        else:
            check_still(self.meshes, self.moved, sample)
        self.sample = sample
        return self.frame(remarks)

    def _build(self, sample: Sample) -> list[str]:
        """Models for the way to a sample: all at the start, later where something changes."""
        before, given, remarks = self.wholes, self.body_settings, list[str]()
        self.wholes = with_current_pin_weights(before, self.reflections, self.sample)
        if self.bodies:
            self.bodies = change_all_pins(self.bodies, before, self.wholes, self.sample, sample)
        else:
            dt = sample.duration / self.scene_settings.substeps
            given = self.sample.settings or given
            self.bodies = [
                build(mesh, settings, gravity=sample.gravity, dt=dt, fields=fields)
                for mesh, settings, fields in zip(
                    self.wholes, given, self.sample.every_field, strict=True
                )
            ]
            self._build_world()
            remarks = start_diagnostics(
                self.bodies, self.world, self.colliders, self.sample, sample.gravity
            )
        if self.world is not None and any(
            own != model.settings
            for own, (model, _) in zip(sample.settings, self.bodies, strict=False)
        ):
            self.world.pair_properties = combine_pair_properties(sample.settings, self.colliders)
        self.bodies = change_all_settings(self.bodies, self.wholes, sample.settings)
        self.bodies = lengthen_all(
            self.bodies, self.wholes, self.reflections, self.pin_paths, self.sample, sample
        )
        return remarks

    def _build_world(self) -> None:
        """Tells bodies what they may meet, or dip into."""
        models, states = zip(*self.bodies, strict=True)
        start_water(models, states, self.wholes, self.colliders)
        self.world = build_collision_world(
            models, self.wholes, self.colliders, self.sample.colliders
        )

    def _step_to(self, after: Sample) -> None:
        """Steps all bodies together to a sample, and keeps mirrored ones symmetric."""
        bodies, before, settings = self.bodies, self.sample, self.scene_settings
        if is_sleeping(bodies, before, after):
            return
        for (model, state), fields in zip(bodies, after.every_field, strict=True):
            check_fields(model, state, fields, after.frame, after.duration / settings.substeps)
        plain = find_plain(bodies, settings, before, after)
        if not self._take_fused_steps(plain, after):
            self._take_steps(plain, after)
        for model, state in bodies:
            check_sane(model, state, after.frame)

    def _take_fused_steps(self, plain: Sequence[int], after: Sample) -> bool:
        """Moves bodies to a sample by one call, if they come near nothing; whether it did."""
        bodies, settings, before = self.bodies, self.scene_settings, self.sample
        if len(plain) == len(bodies):
            return step_plain_bodies(bodies, settings, before, after, self.world)
        alone = len(bodies) == 1 and self.world is None
        return alone and step_solid(bodies[0], settings, before, after)

    def _take_steps(self, plain: Sequence[int], after: Sample) -> None:
        """Takes the steps to a sample one after the other."""
        bodies, before, settings = self.bodies, self.sample, self.scene_settings
        if self.world is not None:
            places = [state.positions for _, state in bodies]
            self.world.update_degenerate_colliders(places, before.colliders, after.colliders)
        group = make_group(bodies, plain, settings, after)
        group.start_steps(settings, after)
        steps = cut_into_steps(bodies, self.reflections, before, after, settings.substeps)
        for number, given in enumerate(steps):
            if self.world is not None:
                depenetrate(bodies, self.world, given)
            step(bodies, settings, given, self.world, group)
            shares = (number / settings.substeps, (number + 1) / settings.substeps)
            self._keep_symmetric(after, shares)

    def _keep_symmetric(self, after: Sample, shares: tuple[float, float]) -> None:
        """Makes bodies symmetric again at the end of a step between such shares of the way."""
        planes = zip(self.sample.every_mirror, after.every_mirror, strict=True)
        for (_, state), images, ends in zip(self.bodies, self.reflections, planes, strict=True):
            if images:
                keep_symmetric(
                    state, images, *(interpolate_mirrors(*ends, share) for share in shares)
                )

    def _vertices(self) -> list[Floats]:
        """Per body (n, 3) where its vertices are [m]; at the start as long as time stands still."""
        return [
            np.ascontiguousarray(state.positions[:, : len(mesh.positions)].T)
            for mesh, (_, state) in zip(self.meshes, self.bodies, strict=False)
        ] or [mesh.positions for mesh in self.meshes]

    def _deepest(self) -> list[float]:
        """Per body, how much nearer than its distance it came to anything since the last frame."""
        if self.world is None:
            return []
        deepest: list[float] = self.world.statistics.deepest[: len(self.meshes)].tolist()
        self.world.statistics.deepest.fill(0.0)
        return deepest


def start_simulation(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    scene_settings: SceneSettings,
    start: Sample,
    colliders: Sequence[Collider] = (),
) -> Simulation:
    """A simulation that stands at its first sample; arguments and errors as `simulate` has them."""
    check_environment()
    for mesh, settings in zip(meshes, body_settings, strict=True):
        check_mesh(_with_seams(mesh, settings))
    check_sample(start)
    wholes, reflections = complete_all(meshes)
    return Simulation(
        meshes=meshes,
        body_settings=body_settings,
        scene_settings=scene_settings,
        colliders=colliders,
        sample=start,
        moved=start,
        wholes=list(map(_with_seams, wholes, body_settings)),
        reflections=reflections,
    )


def _with_seams(mesh: MeshData, settings: BodySettings) -> MeshData:
    """The mesh with seams, where it is split or the settings have it sewn; only cloth is."""
    return with_seams(mesh, every=settings.use_sewing) if settings.body_type == "CLOTH" else mesh
