"""Every compiled kernel says what its NumPy reference says, on states that bodies really come into.

Differences are rounding: sequential elimination in place of cyclic reduction, sums in another
order. They stay under 1e-12 of the body's size, which is about a metre.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest

from tests.core.bodies import (
    GRAVITY,
    Body,
    advance,
    built_state,
    coil,
    disc,
    field,
    flat_sheet,
    gaping_tube,
    make_mesh,
    pinned,
    rope,
    scanned,
    sphere,
    star,
    thicket,
    tube,
    woven,
)
from tests.core.both_bodies import in_numpy
from verlet_addon.core.arrays import Floats
from verlet_addon.core.bending import kernels as c_bends
from verlet_addon.core.compiled import backend
from verlet_addon.core.contacts.manifold import plane as c_plane
from verlet_addon.core.contacts.manifold.plane import PlaneContact
from verlet_addon.core.field import KINDS, Field, Shape, Side
from verlet_addon.core.forces import (
    accelerations as c_accelerations,
    fields as c_fields,
    kernels as c_forces,
)
from verlet_addon.core.forces.fields import is_algebraic
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.model import SoftBodyModel
from verlet_addon.core.momentum import kernels as c_momentum
from verlet_addon.core.rods import kernels as c_rods
from verlet_addon.core.ropes import kernels as c_ropes
from verlet_addon.core.scene import Plane
from verlet_addon.core.settings import BodySettings
from verlet_addon.core.shell import kernels as c_shells
from verlet_addon.core.shell.kernels import factorize_shell
from verlet_addon.core.state import Batches, ParticleState, ShellBatches, ready_batches
from verlet_addon.core.stretch import (
    kernels as c_lengths,
    rigid_clusters as c_clusters,
    seams as c_seams,
    strain_limiting as c_limiting,
    tension_warm_start as c_start,
)
from verlet_addon.core.stretch.seams import with_seams
from verlet_addon.core.water import surface as c_water
from verlet_addon.core.water.surface import Water
from verlet_addon.core.weave import kernels as c_weave

pytestmark = pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")

DT = 1 / 240
CLOTH = BodySettings()
WOVEN = BodySettings(stretch_compliance=1e-3, weft_compliance=5e-3)
SOFT_CLOTH = BodySettings(stretch_compliance=1e-4, shear_compliance=1e-3, bend_compliance=1e-2)


def bumpy(kind: str, cells: int) -> MeshData:
    """A sheet in waves, so that its bends have rest angles."""
    mesh = flat_sheet(kind, cells)
    x, y, _ = mesh.positions.T
    mesh.positions[:, 2] = 0.1 * np.sin(7.0 * x) * np.cos(5.0 * y)
    return mesh


def ring(count: int) -> MeshData:
    """A closed rope."""
    angles = np.arange(count) * 2.0 * np.pi / count
    points = 0.3 * np.stack([np.cos(angles), np.sin(angles), np.zeros(count)], axis=1)
    return make_mesh(points, edges=[(k, (k + 1) % count) for k in range(count)])


BODIES: dict[str, Callable[[], Body]] = {
    "one edge": lambda: (pinned(rope([(0, 0, 0), (0.1, 0, 0)]), [0]), CLOTH),
    "rope": lambda: (pinned(rope([(0.05 * k, 0, 0) for k in range(21)]), [0]), CLOTH),
    "star": lambda: (pinned(star(5), [3]), CLOTH),
    "star held in the middle": lambda: (pinned(star(4), [0]), SOFT_CLOTH),
    "thicket": lambda: (pinned(thicket(60), [7]), CLOTH),
    "rope at its angle limit": lambda: (
        pinned(rope([(0.05 * k, 0, 0) for k in range(21)]), [0, 1]),
        BodySettings(body_type="ROPE", bend_compliance=10.0, angle_limit=0.1),
    ),
    "ring": lambda: (pinned(ring(12), [0]), CLOTH),
    "coil": lambda: (pinned(coil(3.0, 30), [0, 1, 2]), CLOTH),
    "coil of elastic": lambda: (
        pinned(coil(3.0, 30), [0, 1, 29]),
        BodySettings(stretch_compliance=1e-3, bend_compliance=1e3),
    ),
    "quads": lambda: (pinned(flat_sheet("quads", 12), [0, 12]), CLOTH),
    "soft quads": lambda: (pinned(flat_sheet("quads", 12), [0, 12]), SOFT_CLOTH),
    "firm quads": lambda: (
        pinned(flat_sheet("quads", 12), [0, 12]),
        BodySettings(bend_compliance=1.0),
    ),
    "stiff quads": lambda: (
        pinned(flat_sheet("quads", 20), [0, 20]),
        BodySettings(bend_compliance=1e-2),
    ),
    "rigid": lambda: (
        pinned(flat_sheet("strewn triangles", 12), [0]),
        BodySettings(bend_compliance=0.0),
    ),
    "triangles": lambda: (pinned(flat_sheet("triangles", 12), [0, 12]), CLOTH),
    "strewn": lambda: (pinned(flat_sheet("strewn triangles", 12), [0, 12]), CLOTH),
    "bumpy": lambda: (pinned(bumpy("strewn triangles", 12), [0, 12]), CLOTH),
    "crowded": lambda: (pinned(scanned(12, tiny=1e-2), [0, 12, 80]), CLOTH),
    "disc": lambda: (pinned(disc(8), [0]), CLOTH),
    "pole": lambda: (pinned(sphere(24, 8), [30]), CLOTH),
    "balloon": lambda: (sphere(12, 8), BodySettings(pressure=200.0)),
    "free": lambda: (tube(12, 6), CLOTH),
    "yielding": lambda: (
        pinned(flat_sheet("quads", 12), [0, 12]),
        BodySettings(bend_compliance=1.0, use_plasticity=True, yield_curvature=0.1),
    ),
    "woven quads": lambda: (pinned(woven(flat_sheet("quads", 12)), [0, 12]), WOVEN),
    "woven triangles": lambda: (
        pinned(woven(flat_sheet("strewn triangles", 12), degrees=30.0), [0, 12]),
        WOVEN,
    ),
    "shell": lambda: (pinned(tube(12, 6), [0, 1]), BodySettings(bend_compliance=0.1)),
    "shell of triangles": lambda: (sphere(12, 8), BodySettings(bend_compliance=0.1)),
    "sewn": lambda: (pinned(with_seams(gaping_tube(13, 6), every=True), [0]), CLOTH),
    "large": lambda: (pinned(flat_sheet("triangles", 60), [0, 60]), CLOTH),
}


@cache
def _recorded(name: str) -> tuple[SoftBodyModel, ParticleState]:
    """A body after a third of a second, as a step begins: moved on, but not yet put right."""
    mesh, settings = BODIES[name]()
    model, state = built_state((mesh, settings), dt=DT)
    advance([(model, state)], [mesh.positions], dt=DT, steps=80)
    free = model.inverse_masses > 0.0
    moved = state.positions - state.previous_positions
    state.positions += np.where(free, moved + GRAVITY[:, None] * DT**2, 0.0)
    return model, state


def _hold_lengths(kernels: Any, x: Floats, _: SoftBodyModel, batches: Batches) -> None:
    """A displacement that stretches links."""
    moved = np.sin(np.arange(x.size)).reshape(x.shape)
    kernels.remove_stretching(moved, x.copy(), batches.ropes.trees)
    x += moved


def _bend_rods(kernels: Any, x: Floats, model: SoftBodyModel, batches: Batches) -> Floats | None:
    """Rods with pins that have moved; their rotations are the answer."""
    if batches.rods is None:
        return None
    x += 1e-3 * np.sin(np.arange(x.size)).reshape(x.shape)
    kernels.project_rods(x, model.rest_positions, batches.rods)
    return batches.rods.rotations


Kernels = tuple[Any, Any]
LENGTHS, START = (in_numpy(c_lengths), c_lengths), (in_numpy(c_start), c_start)
BENDS, ROPES = (in_numpy(c_bends), c_bends), (in_numpy(c_ropes), c_ropes)
CLUSTERS = in_numpy(c_clusters), c_clusters
LIMITING = in_numpy(c_limiting), c_limiting
WEAVE = in_numpy(c_weave), c_weave
Call = Callable[[Any, Floats, SoftBodyModel, Batches], object]


def _levels(kernels: Any, x: Floats, model: SoftBodyModel, _: Batches) -> None:
    """Coarse levels, each solved and interpolated."""
    kernels.project_levels(x, model.lengths.levels)


def _keep_momentum(kernels: Any, x: Floats, model: SoftBodyModel, _: Batches) -> None:
    """What a strain along x and a shear did to momentum and spin is taken back."""
    strained = x * np.array([[1.1], [1.0], [1.0]]) + 0.1 * x[[1, 2, 0]]
    components, masses = model.free_components, model.inverse_masses
    x[:] = kernels.conserve_momentum(components, masses, x, strained, about=x + 0.01)


def _meet_ground(kernels: Any, x: Floats, _: SoftBodyModel, batches: Batches) -> Floats:
    """Pushed out of uneven, rising, slanting ground twice, and thrown up; the places before."""
    n, up = x.shape[1], np.array([0.0, 0.6, 0.8])
    heights = up @ x
    contact = PlaneContact(
        plane=Plane(up * np.median(heights), up),
        start=x - 0.03,
        climb=0.002,
        floors=np.stack([np.full(n, 0.01), 0.012 + 0.001 * np.sin(np.arange(n))]),
        friction=0.3,
        restitution=0.5,
        normal_corrections=np.zeros(n),
        friction_corrections=np.zeros((3, n)),
        predicted=x.copy(),
        accelerations=np.broadcast_to(GRAVITY[:, None], x.shape),
        dt=DT,
        start_gains=batches.start_gains,
    )
    former, movable = x - 0.01, (np.arange(n) % 5 > 0).astype(float)
    for turn in range(2):
        kernels.project_plane(x, contact, movable)
        x += 0.001 * np.cos(np.arange(3 * n) + turn).reshape(3, n)
    kernels.rebound_plane(x, former, contact)
    return np.concatenate(
        [former.ravel(), contact.normal_corrections, contact.friction_corrections.ravel()]
    )


def _deform_shell(kernels: Any, x: Floats, _: SoftBodyModel, batches: Batches) -> object:
    """Each kernel's answer at a strained shape, where rounding does not count, as if positions."""
    if not isinstance(batches, ShellBatches):
        return None
    shell, strained = batches.shell, 1.1 * x + 0.1 * x[[1, 2, 0]]
    pull, energy = kernels.linearize_shell(shell, strained)
    product = kernels.multiply_shell(shell, strained)
    turn = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    turned = np.tile(turn, (int(shell.components.max()) + 1, 1, 1))
    solved = kernels.precondition_shell(factorize_shell(shell, strained), turned, pull)
    x += sum(rows / np.abs(rows).max() for rows in (pull, product, solved))
    return energy


def _blow(kernels: Any, x: Floats, model: SoftBodyModel, _: Batches) -> None:
    """Eddies everywhere, far away among it, and the air that they set in motion on faces."""
    far = 10.0 ** (np.arange(x.shape[1]) % 20.0)
    x += 0.01 * kernels.turbulence(x * far, 0.7)
    rows = np.concatenate([kernels.turbulence(x, 0.0), np.ones((1, x.shape[1]))])
    x += kernels.plate_forces(model.exposed_surface, x.copy(), rows)[:3]


def _feel(kernels: Any, x: Floats, _: SoftBodyModel, __: Batches) -> None:
    """Fields of each kind, shape and side, with each falloff whose law C has."""
    for number, each in enumerate(every_field()):
        given = x.copy(), np.cos(9.0 * x)
        effect = kernels.field_effects([each], np.array([np.cos(number)]), *given)
        x += 1e-6 * (effect[:3] + effect[3] + effect[4:7] + effect[7])


def _blow_by_fields(kernels: Any, x: Floats, model: SoftBodyModel, _: Batches) -> None:
    """All of these fields at once, with speeds of 1 m/s, then one that is too fast to follow."""
    given, gravity = (model.exposed_surface, model.inverse_masses), np.array([0.0, 1.0, -9.0])
    fields, speeds = every_field(), np.cos(9.0 * x)
    shares = np.cos(np.arange(len(fields)))
    x += 1e-6 * kernels.blown_accelerations(*given, x.copy(), speeds, fields, shares, gravity, 0.01)
    x += 1e-9 * kernels.blown_accelerations(
        *given, x.copy(), speeds, fields[:3], 1e9 * shares[:3], gravity, 0.01
    )


def every_field() -> list[Field]:
    """A field of each kind, shape and side, with each falloff whose law C has."""
    fields = [
        field(kind, 3.0, shape=shape, side=side, falloff=falloff, **FELT)
        for kind, shape, side in product(KINDS, get_args(Shape), get_args(Side))
        for falloff in ("SPHERE", "TUBE")
    ]
    assert all(map(is_algebraic, fields, fields))
    return fields


FELT: dict[str, Any] = {
    "axis": np.array([0.6, 0.0, 0.8]),
    "flow": 0.4,
    "wind_factor": 0.3,
    "damping": 0.7,
    "size": 0.2,
    "power": 2.0,
    "nearest": 0.1,
    "farthest": 1.5,
    "radial_power": 1.0,
    "radial_nearest": 0.1,
    "radial_farthest": 1.0,
    "inverse_square": True,
    "in_world": True,
}


def _level(kernels: Any, x: Floats, _: SoftBodyModel, __: Batches) -> None:
    """As if particles were neighbours on water, each of the next two."""
    n = x.shape[1]
    pairs = np.stack(
        [np.tile(np.arange(n), 2), np.append(np.arange(1, n + 1), np.arange(2, n + 2)) % n]
    )
    water = Water(x, x, x, pairs, np.cos(np.arange(2.0 * n)), np.ones(n), 1.0)
    x[2] += kernels.wave_laplacian(water, x[0] + 0.1)


CALLS: dict[str, tuple[Kernels, Call]] = {
    "ground": ((in_numpy(c_plane), c_plane), _meet_ground),
    "momentum": ((in_numpy(c_momentum), c_momentum), _keep_momentum),
    "wind": ((in_numpy(c_forces), c_forces), _blow),
    "fields": ((in_numpy(c_fields), c_fields), _feel),
    "accelerations by fields": ((in_numpy(c_accelerations), c_accelerations), _blow_by_fields),
    "water": ((in_numpy(c_water), c_water), _level),
    "edges": (LENGTHS, lambda k, x, _, b: k.project_strips(x, b.lengths.edges)),
    "shear": (LENGTHS, lambda k, x, _, b: k.project_strips(x, b.lengths.shear)),
    "faces": (LENGTHS, lambda k, x, _, b: k.update_diagonal_rests(x, b.lengths.diagonals)),
    "ropes": (LENGTHS, lambda k, x, _, b: k.project_strips(x, b.ropes.rings)),
    "trees": (ROPES, lambda k, x, _, b: k.project_trees(x, b.ropes.trees)),
    "pulls from the start": (
        ROPES,
        lambda k, x, _, b: k.add_start_spring_forces(x, 1.01 * x, b.ropes.strips),
    ),
    "speed of ropes": (
        ROPES,
        lambda k, x, _, b: k.undo_implicit_damping(x, x + 0.01 * x[::-1], x.copy(), b.ropes.strips),
    ),
    "held lengths": (ROPES, _hold_lengths),
    "strain": (LENGTHS, lambda k, x, _, b: k.strain_range(x, [*b.lengths.edges, *b.ropes.strips])),
    "levels": (LENGTHS, _levels),
    "tethers": (LENGTHS, lambda k, x, m, _: k.project_tethers(x, m.lengths.tethers)),
    "sharing": (LIMITING, lambda k, x, _, b: k.limit_strain(x, b.lengths.links, max_strain=0.01)),
    "clusters": (CLUSTERS, lambda k, x, m, _: k.project_clusters(x, m.lengths.clusters)),
    "surface's former tension": (
        START,
        lambda k, x, _, b: k.warm_start_tension(
            x, b.lengths.strip_system, kept_share=0.95, min_tautness=2.0
        ),
    ),
    "ropes' former tension": (
        START,
        lambda k, x, _, b: k.warm_start_tension(
            x, b.ropes.strip_system, kept_share=1.0, min_tautness=0.0
        ),
    ),
    "rods": ((in_numpy(c_rods), c_rods), _bend_rods),
    "rope bends": (BENDS, lambda k, x, _, b: k.project_rope_bends(x, b.bends.ropes)),
    "stiff bends": (BENDS, lambda k, x, _, b: k.project_stiff_bends(x, b.bends.stiff)),
    "bend paths": (BENDS, lambda k, x, _, b: k.project_bend_paths(x, b.bends.paths)),
    "seams": ((in_numpy(c_seams), c_seams), lambda k, x, _, b: k.project_seams(x, b.seams)),
    "weave": (WEAVE, lambda k, x, _, b: k.project_weave(x, b.weave)),
    "shells": ((in_numpy(c_shells), c_shells), _deform_shell),
    "bends alone": (BENDS, lambda k, x, _, b: k.project_surface_bends(x, b.bends.soft)),
}


MAGNIFIED = {("stiff bends", "rigid"): 1e-6, ("rods", "rope at its angle limit"): 1e-6}
"""Rigid bends are kept solvable by 1e-10 of their mobility, which magnifies rounding, of 1e-16, up
to 1e10 times: two ways of solving for them differ by more than the others. Springs at angle limits
are 1e6 times as stiff as those against twisting."""


def _arrays(batches: Batches) -> list[Floats]:
    """Everything but positions that kernels write to."""
    nets = batches.lengths.strip_system, batches.ropes.strip_system
    tension = [array for net in nets for array in (net.displacement, net.multipliers)]
    multipliers = (batch.multipliers for batch, _ in batches.restarted())
    return [*tension, batches.lengths.diagonals.rest_lengths, *multipliers]


def _outcome(call: Call, kernels: Any, body: str) -> tuple[Floats, list[Floats], Any]:
    """Positions, what else was written, and the answer of a call on a recorded state."""
    model, state = deepcopy(_recorded(body))
    batches = ready_batches(model, state, "TCV", DT)
    answer = call(kernels, state.positions, model, batches)
    return state.positions, _arrays(batches), answer


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", CALLS)
def test_compiled_kernels_agree_with_the_reference(name: str, body: str) -> None:
    """Positions, multipliers and answers differ by no more than rounding."""
    (reference, ours), call = CALLS[name]
    expected, written, answer = _outcome(call, reference, body)
    positions, ours_written, ours_answer = _outcome(call, ours, body)
    rounding = MAGNIFIED.get((name, body), 1e-12)
    assert np.abs(positions - expected).max() < rounding
    for mine, theirs in zip(ours_written, written, strict=True):
        scale = np.abs(theirs).max(initial=1e-6)
        np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=rounding * scale)
    if answer is not None:
        np.testing.assert_allclose(ours_answer, answer, rtol=1e-10, atol=rounding)


@pytest.mark.parametrize("name", CALLS)
def test_the_recorded_states_give_kernels_something_to_do(name: str) -> None:
    """Each kernel moves, or measures, at least one of the bodies."""
    (reference, _), call = CALLS[name]
    moved = []
    for body in BODIES:
        positions, written, answer = _outcome(call, reference, body)
        if name == "faces":
            drawn = ready_batches(
                *deepcopy(_recorded(body)), "TCV", DT
            ).lengths.diagonals.rest_lengths
            moved.append(not np.array_equal(drawn, written[4]))
        moved.append(np.abs(positions - _recorded(body)[1].positions).max() > 1e-9)
        moved.append(name == "strain" and bool(np.any(answer)))
    assert any(moved)
