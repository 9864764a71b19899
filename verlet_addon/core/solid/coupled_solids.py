"""One step of solids in contact with each other, solved as one system."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, concatenated, sum_by
from ..geometry.graph import find_components, label_free
from ..momentum.kernels import conserve_momentum
from .active_set_solver import clamp_points, solve_contacts, tangential_part
from .collider_contacts import ColliderContacts
from .coupled_system import SolidContacts, couple_systems, separate_solids, slices, stack_solids
from .kernels import interpolate
from .linear_system import SolidSystem
from .solid_body import SleepState, SolidFriction
from .solid_step import (
    SolidStep,
    all_inputs,
    equal_arrays,
    find_stress_forces,
    is_at_rest,
    keep_at_rest,
    solver_tolerance,
    store_anchors,
    system_with,
)
from .velocity_update import node_loads, resist_rolling, rotation_vector


@dataclass(frozen=True, eq=False)
class CoupledSolids:
    """Solids in contact, and their contacts with colliders and with each other."""

    steps: Sequence[SolidStep]
    colliders: Sequence[ColliderContacts]
    solid_contacts: SolidContacts


def step_coupled_solids(group: CoupledSolids) -> list[Floats]:
    """Solves a step of coupled solids, like `solid_step.solve_steps`; (3, p) points of each."""
    steps = group.steps
    inputs = [
        rows for each in zip(steps, group.colliders, strict=True) for rows in all_inputs(*each)
    ]
    inputs += vars(group.solid_contacts).values()
    for step in steps:
        step.state.anchors[:] = step.start.anchors
    sleeping = [step.state.sleep_state for step in steps if step.state.sleep_state is not None]
    if len(sleeping) == len(steps) and all(equal_arrays(inputs, each.inputs) for each in sleeping):
        for step in steps:
            keep_at_rest(step)
            step.state.collider_anchors = step.start.collider_anchors
            step.state.solid_friction = step.start.solid_friction
        return [each.points.copy() for each in sleeping]
    points = _solve(group)
    resting = all(map(is_at_rest, steps))
    resting_inputs = [rows.copy() for rows in inputs] if resting else []
    for step, places in zip(steps, points, strict=True):
        step.state.sleep_state = SleepState(resting_inputs, places.copy()) if resting else None
        if resting:
            keep_at_rest(step)
    return points


def _solve(group: CoupledSolids) -> list[Floats]:
    """(3, p) points of each solid after one solution of the coupled system; updates states."""
    steps = group.steps
    systems = list(map(system_with, steps, group.colliders))
    system = _coupled_system(group, systems)
    moves = stack_solids(step.state.moves for step in steps)
    forces = stack_solids(map(find_stress_forces, steps))
    solve_contacts(system, forces, moves, solver_tolerance(steps))
    nodes = _update_velocities(group, systems, system, moves)
    contact_points = clamp_points(system, nodes - system.predicted_nodes)
    own = slices(len(each.contacts.levels) for each in systems)
    points = []
    for step, colliders, own_slice, each in zip(steps, group.colliders, own, systems, strict=True):
        step.state.solutions += 1
        each.contacts.anchors[:] = system.contacts.anchors[:, own_slice]
        points.append(store_anchors(step, each.contacts, colliders, contact_points[:, own_slice]))
    between_solids = slice(own[-1].stop, None)
    _set_solid_friction(
        group, contact_points[:, between_solids] - system.contacts.anchors[:, between_solids]
    )
    separate_solids(group.solid_contacts, points)
    return points


def _coupled_system(group: CoupledSolids, systems: Sequence[SolidSystem]) -> SolidSystem:
    """The system of all solids, with the contacts between them."""
    steps, solid_contacts = group.steps, group.solid_contacts
    stiffnesses = [
        step.system.contacts.stiffnesses * step.solid.surface.area_factors for step in steps
    ]
    # Interpolated from nodes, without projections out of contacts, which are no sliding.
    anchors = solid_contacts.offsets([*map(_start_points, steps)]) - _previous_deflections(group)
    return couple_systems(systems, solid_contacts, stiffnesses, anchors)


def _start_points(step: SolidStep) -> Floats:
    """(3, p) points of the nodes at the start of the step [m]."""
    found = interpolate(step.solid.embedding, step.start.nodes)
    return found if step.pose is None else found + step.pose.points


def _node_motion(step: SolidStep, nodes: Floats) -> tuple[Floats, Floats]:
    """(3, m) places of nodes at the start of the step [m], and (3, m) their way to `nodes` [m]."""
    start, moved = step.start.nodes, nodes - step.start.nodes
    return (start, moved) if step.pose is None else (start + step.pose.nodes, moved + step.pose.way)


def _set_solid_friction(group: CoupledSolids, offsets: Floats) -> None:
    """Stores the tangential parts of offsets (3, k) from the anchors as friction deflections."""
    solid_contacts = group.solid_contacts
    deflections = tangential_part(solid_contacts.normals, offsets)
    has_friction = np.flatnonzero(~np.isnan(deflections[0]) & (solid_contacts.keys >= 0))
    for step in group.steps:
        step.state.solid_friction = SolidFriction(
            solid_contacts.keys[has_friction], deflections[:, has_friction]
        )


def _previous_deflections(group: CoupledSolids) -> Floats:
    """(3, k) friction deflections of the step before, 0 for new contacts [m]."""
    friction, solid_contacts = (
        [step.start.solid_friction for step in group.steps],
        group.solid_contacts,
    )
    previous = np.zeros_like(solid_contacts.normals)
    deflections = stack_solids(each.deflections for each in friction)
    keys, first = np.unique(stack_solids(each.keys for each in friction), return_index=True)
    if len(keys):
        place = np.searchsorted(keys, solid_contacts.keys).clip(max=len(keys) - 1)
        same = keys[place] == solid_contacts.keys
        previous[:, same] = deflections[:, first[place[same]]]
    return previous


def _update_velocities(
    group: CoupledSolids, systems: Sequence[SolidSystem], system: SolidSystem, moves: Floats
) -> Floats:
    """(3, m) nodes of all solids after moves (3, m); updates states.

    Solids with contact forces only between each other conserve their total momentum. Rolling
    resistance applies to the motion of each relative to the solids it rolls on.
    """
    start_nodes = stack_solids(step.start.nodes for step in group.steps)
    momentum_labels, inverse_masses = (
        _momentum_labels(system, len(group.solid_contacts.levels)),
        1.0 / system.masses,
    )
    arrived = system.predicted_nodes + moves
    nodes = conserve_momentum(
        momentum_labels, inverse_masses, system.predicted_nodes, arrived, about=start_nodes
    )
    own = slices(len(each.masses) for each in systems)
    ends = [nodes[:, own_slice] for own_slice in own]
    motions = list(map(_RigidMotion.of, group.steps, ends))
    points = slices(len(each.contacts.levels) for each in systems)
    slowed = []
    for number, places in enumerate(points):
        for name in ("friction_stiffnesses", "normal_forces"):
            getattr(systems[number].contacts, name)[:] = getattr(system.contacts, name)[places]
        slowed.append(
            _with_rolling_resistance(group, system, systems[number], number, ends, motions)
        )
    before = start_nodes + (nodes - stack_solids(slowed))
    before = conserve_momentum(momentum_labels, inverse_masses, start_nodes, before, about=nodes)
    for step, own_slice in zip(group.steps, own, strict=True):
        state = step.state
        state.nodes, state.previous_nodes = nodes[:, own_slice].copy(), before[:, own_slice].copy()
        state.moves = state.nodes - step.system.predicted_nodes
    return nodes


def _momentum_labels(system: SolidSystem, solid_contacts: int) -> Integers:
    """(m,) label of each isolated group of components, whose momentum is conserved; −1 = none.

    Parameters
    ----------
    solid_contacts : number of contacts between solids, which are the last of the system.
    """
    contacts, embedding, labels = system.contacts, system.embedding, system.components
    # Soft pins change the momentum of their components.
    drawn = labels[embedding.nodes[system.pin_springs.points, 0]]
    labels = np.where(np.isin(labels, drawn), -1, labels)
    loaded = np.flatnonzero(contacts.normal_forces > 0.0)
    carried = embedding.weights[loaded] != 0.0
    labels_at_contacts = np.where(
        carried, labels[embedding.nodes[loaded]], labels.max(initial=-1) + 1
    )
    first, labels_at_contacts = (
        labels_at_contacts.min(axis=1),
        np.where(carried, labels_at_contacts, -1),
    )
    last = labels_at_contacts.max(axis=1)
    # A pinned component changes the momentum of others as the ground does.
    stopped = (loaded < len(contacts.normal_forces) - solid_contacts) | (first < 0)
    count = int(system.components.max(initial=-1)) + 1
    merged = find_components(count, np.stack([first[~stopped], last[~stopped]], axis=1))
    held = np.concatenate([last[stopped & (last >= 0)], drawn[drawn >= 0]])
    return np.append(label_free(merged, held), -1)[labels]


@dataclass(frozen=True, eq=False)
class _RigidMotion:
    """Rigid part of a solid's motion in a step."""

    centre: Floats
    """(3, 1) centre of mass at the start of the step [m]."""
    shift: Floats
    """(3, 1) translation [m]."""
    rotation: Floats
    """(3, 1) rotation vector [rad]."""

    @classmethod
    def of(cls, step: SolidStep, nodes: Floats) -> "_RigidMotion":
        """The rigid part of the motion from the start of the step to nodes (3, m)."""
        masses, (start_nodes, moved) = step.solid.masses, _node_motion(step, nodes)
        centre, shift = (
            (masses * rows).sum(axis=1, keepdims=True) / masses.sum()
            for rows in (start_nodes, moved)
        )
        return cls(centre, shift, rotation_vector(masses, start_nodes, moved)[:, None])

    def displacement_at(self, positions: Floats) -> Floats:
        """(3, k) displacement by the rigid motion at positions (3, k) [m]."""
        return np.asarray(self.shift + np.cross(self.rotation, positions - self.centre, axis=0))


def _contact_rotation(
    step: SolidStep, nodes: Floats, touched: ColliderContacts, normal_forces: Floats
) -> Floats:
    """(3,) rotation vector of cells in contact, to nodes (3, m), by normal forces (k,)."""
    carried, (start_nodes, moved) = step.solid.embedding, _node_motion(step, nodes)
    shares = touched.shares * normal_forces
    points = sum_by(touched.points.ravel(), shares.ravel(), len(carried.nodes))
    pressed = node_loads(carried, points, start_nodes.shape[1])
    return rotation_vector(pressed, start_nodes, moved)


def _with_rolling_resistance(
    group: CoupledSolids,
    system: SolidSystem,
    own: SolidSystem,
    number: int,
    ends: Sequence[Floats],
    motions: Sequence[_RigidMotion],
) -> Floats:
    """(3, m) nodes of one solid, slowed by rolling resistance on ground, colliders and solids."""
    solid_contacts, slowed_nodes = group.solid_contacts, ends[number].copy()
    own_start = group.steps[number].start.nodes
    start_nodes, support_turn = own_start, np.zeros(3)
    forces = system.contacts.normal_forces
    forces = forces[len(forces) - len(solid_contacts.levels) :]
    sides = (solid_contacts.solids == number).sum(axis=0)
    chosen = np.flatnonzero((forces > 0.0) & (sides % 4 > 0))
    if len(chosen):
        total_force = own.contacts.normal_forces.sum() + forces[chosen].sum()
        others = np.where(solid_contacts.solids == number, -1, solid_contacts.solids)[
            :, chosen
        ].max(axis=0)
        for other in np.unique(others):
            touching = chosen[others == other]
            normal_forces, motion = forces[touching], motions[other]
            share = normal_forces.sum() / total_force
            start_nodes = start_nodes + share * motion.displacement_at(own_start)
            touched = solid_contacts.as_collider_contacts(int(other), touching)
            turned = _contact_rotation(group.steps[other], ends[other], touched, normal_forces)
            support_turn += share * (turned - motion.rotation[:, 0])
        own = _with_other_solids(group, system, own, number, chosen)
    resist_rolling(own, start_nodes, slowed_nodes, support_turn)
    return slowed_nodes


def _with_other_solids(
    group: CoupledSolids, system: SolidSystem, own: SolidSystem, number: int, chosen: Integers
) -> SolidSystem:
    """The system of one solid, with chosen contacts with other solids as collider contacts."""
    solid_contacts = group.solid_contacts
    own_contacts = solid_contacts.as_collider_contacts(number, chosen)
    colliders = concatenated(group.colliders[number], own_contacts, axis=-1)
    with_others = system_with(group.steps[number], colliders)
    rows_between = len(system.contacts.normal_forces) - len(solid_contacts.levels) + chosen
    for name in ("friction_stiffnesses", "normal_forces", "stiffnesses"):
        rows = getattr(own.contacts, name), getattr(system.contacts, name)[rows_between]
        getattr(with_others.contacts, name)[:] = np.concatenate(rows)
    return with_others
