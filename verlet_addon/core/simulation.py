"""A simulation as an object: it advances from sample to sample, and can be stored in between."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .arrays import Floats, magnitudes
from .bodies.inflation import prepare_gas
from .bodies.plain_bodies import make_group
from .bodies.step_data import Body, Way
from .bodies.symmetry import Reflection, keep_symmetric
from .bodies.water_bodies import find_submerged
from .build import build
from .changes.overstretched_pins import PinPaths
from .changes.rebuilding import (
    change_all_pins,
    change_all_settings,
    lengthen_all,
    wake_all,
    with_current_pin_weights,
)
from .contacts.manifold.row_setup import combine_pair_properties
from .contacts.solve.collision_world import CollisionWorld, build_collision_world
from .contacts.solve.contact_solver import depenetrate
from .contacts.solve.contact_statistics import take_work
from .contacts.solve.diagnostics import frame_diagnostics, start_diagnostics
from .contacts.solve.flesh_folds import exempt_folds
from .fast_paths import find_plain, is_sleeping, step_plain_bodies
from .held_vertices import acting_springs, hold_bodies, spring_paths
from .mesh import MeshData, check_mesh
from .mirrors import complete_all
from .model import FleshModel
from .reference_frames import keep_velocities
from .sanity import check_fields, check_pressures, check_sample, check_sane, check_still
from .scene import Collider, ContactSearch, Frame, Sample, SolverWork
from .self_test import check_environment
from .settings import BodySettings, SceneSettings
from .step import step
from .stretch.seams import with_seams
from .substeps import cut_into_steps, find_ways, target_curve, targets_of
from .target_curves import (
    TargetCurve,
    TargetMotion,
    follows_targets,
    next_motion,
    start_motion,
)
from .team.choice import ThreadChoice


@dataclass(eq=False)
class Simulation:
    """The complete state of a simulation at one sample of a scene."""

    meshes: Sequence[MeshData]
    """The meshes of the caller."""
    body_settings: Sequence[BodySettings]
    scene_settings: SceneSettings
    colliders: Sequence[Collider]
    sample: Sample
    """The current sample."""
    moved: Sample
    """The latest sample with a duration above 0, or the start."""
    wholes: list[MeshData]
    """The meshes with mirror images and seams, and with the current pin weights."""
    reflections: list[list[Reflection]]
    """Per body, the reflections in its mirrors."""
    bodies: list[Body] = field(default_factory=list)
    """Models and states; empty before the first sample with a duration above 0."""
    world: CollisionWorld | None = None
    """Surfaces that can touch, and their contacts; None if nothing can touch."""
    pin_paths: dict[int, PinPaths] = field(default_factory=dict)
    """Shortest paths between the pins of bodies, by number of the body, where they were
    computed."""
    checked_targets: dict[int, Floats | None] = field(default_factory=dict)
    """Pin targets that `frame_diagnostics` has checked, by number of the body."""
    target_motions: dict[int, TargetMotion] = field(default_factory=dict)
    """The motions of animated meshes that ropes follow, by number of the body."""
    threads: ThreadChoice = field(default_factory=ThreadChoice)
    """The number of threads that share loops of kernels."""
    steps: int = 0
    """Number of steps since the last frame."""

    def frame(self, remarks: Sequence[str] = ()) -> Frame:
        """The result at the current sample, with sentences for the user."""
        positions = self._vertices()
        return Frame(
            self.sample.frame,
            positions,
            self._deepest(),
            remarks,
            self._searches(),
            self._work(),
            self._swings(positions),
            self.threads.chosen,
        )

    def advance(self, sample: Sample) -> Frame:
        """Simulates all bodies up to the next sample.

        Raises
        ------
        SettingsError, DivergenceError
            As for `simulate`. The simulation cannot be continued after an error.
        """
        check_sample(sample)
        check_pressures(self.wholes, sample)
        remarks: list[str] = []
        if sample.scene_settings not in (None, self.scene_settings):
            self.scene_settings = sample.scene_settings
            wake_all(self.bodies)
        if sample.duration > 0.0:
            remarks += self._build(sample)
            remarks += exempt_folds(self.world, self.bodies, self.wholes, self.sample, sample)
            with self.threads.working(self.scene_settings.substeps):
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
        """Builds all models before the first step, and later those whose inputs change.

        Returns sentences for the user.
        """
        before, given, remarks = self.wholes, self.body_settings, list[str]()
        self.wholes = with_current_pin_weights(before, self.reflections, self.sample)
        if self.bodies:
            self.bodies = change_all_pins(self.bodies, before, self.wholes, self.sample, sample)
        else:
            dt = sample.duration / self.scene_settings.substeps
            given = self.sample.settings or given
            self.bodies = [
                build(mesh, settings, gravity=sample.gravity, dt=dt, fields=fields, pull=pull)
                for mesh, settings, fields, pull in zip(
                    self.wholes, given, self.sample.every_field, sample.every_pull, strict=True
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
        former = self.bodies
        self.bodies = change_all_settings(former, self.wholes, sample.settings)
        start, end = (targets_of(each, self.reflections) for each in (self.sample, sample))
        keep_velocities(former, self.bodies, start, end, sample.duration)
        self.bodies = lengthen_all(
            self.bodies, self.wholes, self.reflections, self.pin_paths, self.sample, sample
        )
        return remarks

    def _build_world(self) -> None:
        """Builds the collision world, and finds what can be submerged in water."""
        models, states = zip(*self.bodies, strict=True)
        find_submerged(models, states, self.wholes, self.colliders)
        self.world = build_collision_world(
            models, self.wholes, self.colliders, self.sample.colliders
        )

    def _step_to(self, after: Sample) -> None:
        """Steps all bodies to a sample, by a fast path where one applies."""
        before, settings = self.sample, self.scene_settings
        springs = acting_springs(self.bodies, self.reflections, after)
        bodies = hold_bodies(self.bodies, springs, settings, after.duration)
        if is_sleeping(bodies, before, after):
            return
        self.steps = settings.substeps
        for (model, state), fields in zip(bodies, after.every_field, strict=True):
            check_fields(model, state, fields, after.frame, after.duration / settings.substeps)
        paths = spring_paths(bodies, acting_springs(bodies, self.reflections, before), springs)
        curves = self._target_curves(after)
        ways = find_ways(bodies, self.reflections, before, after, settings.substeps, paths, curves)
        for body, way in zip(bodies, ways, strict=True):
            dt = after.duration / settings.substeps
            prepare_gas(body, way.pressures, settings.integrator, dt)
        plain = find_plain(bodies, settings, before, after)
        self.threads.begin()
        fused = len(plain) == len(bodies) and step_plain_bodies(
            bodies, settings, before, after, ways, self.world
        )
        if fused:
            self.threads.end(settings.substeps)
        if not fused:
            self._take_steps(bodies, plain, ways, after)
        for model, state in bodies:
            check_sane(model, state, after.frame)

    def _take_steps(
        self,
        bodies: Sequence[Body],
        plain: Sequence[int],
        ways: Sequence[Way],
        after: Sample,
    ) -> None:
        """Takes the steps to a sample one by one."""
        before, settings = self.sample, self.scene_settings
        if self.world is not None:
            places = [state.positions for _, state in bodies]
            self.world.update_degenerate_colliders(places, before.colliders, after.colliders)
        group = make_group(bodies, plain, settings, ways, before, after)
        group.start_steps()
        steps = cut_into_steps(ways, before, after, settings.substeps)
        for number, given in enumerate(steps):
            if self.world is not None:
                depenetrate(bodies, self.world, given)
            self.threads.begin()
            step(bodies, settings, given, self.world, group)
            self.threads.end(1)
            shares = number / settings.substeps, (number + 1) / settings.substeps
            for index, ((_, state), way) in enumerate(zip(bodies, ways, strict=True)):
                if way.reflections and index not in group.members:
                    both = state.previous_positions, state.positions
                    for rows, share in zip(both, shares, strict=True):
                        keep_symmetric(rows, way.reflections, way.planes(share))

    def _target_curves(self, after: Sample) -> dict[int, TargetCurve]:
        """The ways of animated meshes that ropes follow, by number of the body."""
        followed = [
            number for number, (model, _) in enumerate(self.bodies) if follows_targets(model)
        ]
        if not followed:
            return {}
        start, end = (targets_of(each, self.reflections) for each in (self.sample, after))
        curves, motions = dict[int, TargetCurve](), dict[int, TargetMotion]()
        for number in followed:
            ends = start[number], end[number]
            former = self.target_motions.get(number) or start_motion(
                ends[0], self.wholes[number].velocities
            )
            motions[number] = next_motion(former, ends[1], after.duration)
            ways = former, motions[number]
            curves[number] = target_curve(self.bodies[number], *ends, ways, after.duration)
        self.target_motions = motions
        return curves

    def _vertices(self) -> list[Floats]:
        """Per body (n, 3) vertex positions [m]; mesh positions before the first step."""
        return [
            np.ascontiguousarray(state.positions[:, : len(mesh.positions)].T)
            for mesh, (_, state) in zip(self.meshes, self.bodies, strict=False)
        ] or [mesh.positions for mesh in self.meshes]

    def _swings(self, positions: Sequence[Floats]) -> list[float]:
        """Per body, the largest distance of flesh from its pose, 0 for others [m]."""
        return [
            float(magnitudes((places - pose).T).max()) if isinstance(model, FleshModel) else 0.0
            for (model, _), places, pose in zip(
                self.bodies, positions, self.sample.targets, strict=False
            )
        ]

    def _deepest(self) -> list[float]:
        """Per body, the largest violation of a contact's gap since the last frame [m]."""
        if self.world is None:
            return []
        deepest: list[float] = self.world.statistics.deepest[: len(self.meshes)].tolist()
        self.world.statistics.deepest.fill(0.0)
        return deepest

    def _searches(self) -> dict[tuple[str, str], ContactSearch]:
        """Searches for contacts since the last frame, by the names of two objects."""
        if self.world is None:
            return {}
        names = [mesh.name for mesh in self.meshes]
        names += [collider.name for collider in self.colliders]
        return {
            (names[first], names[second]): ContactSearch(*counts)
            for (first, second), counts in self.world.surfaces.take_searches().items()
        }

    def _work(self) -> SolverWork:
        """Work of the solvers since the last frame."""
        work = SolverWork(steps=self.steps)
        self.steps = 0
        for _, state in self.bodies:
            work += state.take_work()
        if self.world is None:
            return work
        return work + take_work(self.world.statistics.work, self.world.surfaces.work)


def start_simulation(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    scene_settings: SceneSettings,
    start: Sample,
    colliders: Sequence[Collider] = (),
    spared: int = 0,
) -> Simulation:
    """A simulation at its first sample, whose threads leave so many processors to others.

    Other parameters and errors are as for `simulate`.
    """
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
        threads=ThreadChoice(spared),
    )


def _with_seams(mesh: MeshData, settings: BodySettings) -> MeshData:
    """The mesh of a cloth with the seams that its settings turn on; other meshes unchanged."""
    return with_seams(mesh, every=settings.use_sewing) if settings.body_type == "CLOTH" else mesh
