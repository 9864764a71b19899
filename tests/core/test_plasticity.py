"""What is stretched or bent past its limit stays so, by its law; what is not springs back."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    WEIGHTLESS,
    advance,
    built_state,
    flat_sheet,
    frames,
    kinetic_energy,
    lengths,
    moved,
    pinned,
    rope,
    sheet,
    simulated,
    thrown,
    woven,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.changes.rebuilding import change_pins, change_settings
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.stretch.strain_limiting import limit_strain

FIRM = {"quads": 1e-3, "triangles": 1e-3, "woven": 1e-3, "rope": 1e-2}
"""Stretch compliances [m/N], of ropes [1/N]."""
YIELD = 0.02


def strip(kind: str) -> MeshData:
    """A strip along y of 0.1 m width, or a rope, 0.6 m long."""
    if kind == "rope":
        return rope([(0.0, k / 20, 0.0) for k in range(13)])
    flat = sheet(4, 24, size=0.1, triangles=kind == "triangles")
    return woven(flat) if kind == "woven" else flat


def settings(kind: str, **others: Any) -> BodySettings:
    """Springy cloth or rope, that comes to rest."""
    return BodySettings(
        body_type="ROPE" if kind == "rope" else "CLOTH",
        stretch_compliance=FIRM[kind],
        weft_compliance=FIRM[kind],
        shear_compliance=1e-4,  # or triangles would yield to pressure for long
        use_plasticity=bool(others),
        yield_strain=YIELD,
        damping=30.0,  # or they would snap back so fast that they crumple
        **others,
    )


def pulled_and_released(kind: str, body: BodySettings, stretch: float) -> float:
    """How much longer a strip is, as a share, after it was pulled to a strain and let go."""
    mesh = strip(kind)
    along = mesh.positions[:, 1]
    held = pinned(mesh, np.flatnonzero((along < 1e-9) | (along > along.max() - 1e-9)))
    model, state = built_state((held, body), gravity=WEIGHTLESS)
    for share in [*np.linspace(0.0, stretch, 240), *np.full(60, stretch)]:
        targets = mesh.positions * [1.0, 1.0 + share, 1.0]
        advance([(model, state)], [targets], dt=1 / 240, gravity=WEIGHTLESS)
    free = pinned(mesh, np.flatnonzero(along < 1e-9))
    model, state = change_pins((model, state), held, free, gravity=WEIGHTLESS)
    advance([(model, state)], [mesh.positions], dt=1 / 240, steps=360, gravity=WEIGHTLESS)
    straight = mesh.edges[np.abs(np.diff(mesh.positions[mesh.edges, 0], axis=1)[:, 0]) < 1e-9]
    ratio = lengths(state.positions.T, straight).sum() / lengths(mesh.positions, straight).sum()
    return float(ratio) - 1.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIRM)
def test_a_strip_that_is_pulled_and_released_returns(kind: str) -> None:
    """With plasticity off, or pulled less than its limit."""
    assert abs(pulled_and_released(kind, settings(kind), 0.1)) < 1e-3
    within = settings(kind, hardening=0.0)
    assert abs(pulled_and_released(kind, within, 0.9 * YIELD)) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "hardening"), [*((kind, 0.5) for kind in FIRM), ("quads", 0.0)])
def test_a_strip_keeps_what_goes_past_its_limit(kind: str, hardening: float) -> None:
    """Pulled to a strain ε it is longer by (1 − H) (ε − ε₀) in the end, at rest.

    Cells at its ends are pulled a little more on the way than those in the middle.
    """
    found = pulled_and_released(kind, settings(kind, hardening=hardening), 0.1)
    assert found == pytest.approx((1.0 - hardening) * (0.1 - YIELD), rel=0.05)


def rolled(flat: MeshData, cells: int, radius: float) -> Floats:
    """(n, 3) where the vertices of a square sheet of 20 cm are, bent to a polygon of its cells."""
    size = 0.2 / cells
    turns = (np.arange(cells) + 0.5) * 2.0 * np.arcsin(size / (2.0 * radius))
    along, up = (np.append(0.0, np.cumsum(size * way(turns))) for way in (np.cos, np.sin))
    column = np.rint(flat.positions[:, 0] / size).astype(int)
    return np.stack([along[column], flat.positions[:, 1], up[column]], axis=1)


def curvature(points: Floats) -> float:
    """Of the cylinder that points (n, 3) lie on, whose axis is that of y; 0 of a plane [1/m].

    From a (x² + z²) + b x + c z + d = 0: a plane has no middle that could be fitted instead.
    """
    x, z = points[:, 0], points[:, 2]
    a, b, c, d = np.linalg.svd(np.stack([x**2 + z**2, x, z, np.ones(len(x))], axis=1))[2][-1]
    return float(2.0 * abs(a) / np.sqrt(b**2 + c**2 - 4.0 * a * d))


def bent_and_released(kind: str, cells: int, body: BodySettings, bent: float) -> float:
    """The curvature of a sheet after it was bent to one, held there, and let go [1/m]."""
    flat = moved(flat_sheet(kind, cells), 0.2 * np.eye(3))
    held = pinned(flat, range(len(flat.positions)))
    model, state = built_state((held, body), gravity=WEIGHTLESS)
    for each in [*np.linspace(0.1, bent, 60), *np.full(60, bent)]:
        targets = rolled(flat, cells, 1.0 / each)
        advance([(model, state)], [targets], dt=1 / 240, gravity=WEIGHTLESS)
    model, state = change_pins((model, state), held, flat, gravity=WEIGHTLESS)
    advance([(model, state)], [targets], dt=1 / 240, steps=480, gravity=WEIGHTLESS)
    return curvature(state.positions.T)


def bendy(**others: Any) -> BodySettings:
    """A firm sheet that comes to rest soon."""
    return BodySettings(use_plasticity=True, bend_compliance=300.0, damping=8.0, **others)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "cells", "hardening"),
    [("quads", 6, 0.0), ("quads", 12, 0.5), ("triangles", 6, 0.5), ("triangles", 12, 0.0)],
)
def test_a_sheet_keeps_what_it_is_bent_past_its_limit(
    kind: str, cells: int, hardening: float
) -> None:
    """Bent to 15/m with a limit of 5/m, it springs back to (1 − H) (15 − 5)/m, on any mesh.

    Suddenly let go, its hinges shake each other, and some of them past their limit once more: by
    little more than a tenth of the 5/m that they spring back by.
    """
    body = bendy(yield_curvature=5.0, hardening=hardening)
    found = bent_and_released(kind, cells, body, 15.0)
    assert found == pytest.approx((1.0 - hardening) * (15.0 - 5.0), abs=0.6)


@pytest.mark.slow
def test_what_is_bent_less_springs_back() -> None:
    body = bendy(yield_curvature=20.0)
    assert bent_and_released("quads", 8, body, 15.0) < 0.1


@pytest.mark.parametrize("kind", ["quads", "strewn triangles"])
def test_what_has_not_yielded_bends_as_if_it_could_not(kind: str) -> None:
    """A clamped swatch of cotton, 4 cm long, droops alike; it is stiff for its size."""
    flat = moved(flat_sheet(kind, 8), 0.04 * np.eye(3))
    mesh = pinned(flat, np.flatnonzero(flat.positions[:, 1] < 0.007))
    cotton = replace(MATERIALS["COTTON"].settings, damping=8.0, yield_curvature=1e6)
    droops = []
    for plastic in (False, True):
        body = replace(cotton, use_plasticity=plastic)
        scene = SceneSettings(use_ground=False)
        end = simulated([(mesh, body)], frames(1.5, 24), scene)[0][-1]
        droops.append(-float(end[:, 2].min()) / 0.04)
    assert 0.2 < droops[0] < 0.5
    assert droops[1] == pytest.approx(droops[0], rel=0.02)


@pytest.mark.parametrize(("kind", "hardening"), [*((kind, 0.0) for kind in FIRM), ("quads", 0.7)])
def test_nothing_that_yields_gains_energy(kind: str, hardening: float) -> None:
    """In flight, stretched and bent to and fro, it only ever loses speed."""
    mesh = strip(kind)
    along = mesh.positions[:, 1:2] - 0.3
    mesh = thrown(mesh, np.concatenate([5.0 * along, 6.0 * along, 40.0 * along**2], axis=1))
    body = replace(
        settings(kind, hardening=hardening), damping=0.0, yield_curvature=2.0, bend_compliance=1e3
    )
    track = simulated(
        [(mesh, body)], frames(1.0, 240), SceneSettings(substeps=1), gravity=WEIGHTLESS
    )
    energy = kinetic_energy((mesh, body), track[0], 1 / 240)
    assert energy.max() < energy[0] * (1.0 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["quads", "triangles"])
def test_a_crumpled_sheet_stays_crumpled(kind: str) -> None:
    """Its sides pressed together and let go: it opens, or is about half as wide for good."""
    flat = moved(flat_sheet(kind, 12), 0.2 * np.eye(3))
    x = flat.positions[:, 0]
    wavy = flat.positions + 1e-3 * np.sin(40.0 * x)[:, None] * [0, 0, 1]
    mesh = replace(flat, positions=wavy, rest_positions=flat.positions)
    held = pinned(mesh, np.flatnonzero((x < 1e-9) | (x > 0.2 - 1e-9)))
    widths = []
    for plastic in (False, True):
        body = replace(bendy(yield_curvature=5.0), use_plasticity=plastic, mass=0.02, damping=3.0)
        model, state = built_state((held, body), gravity=WEIGHTLESS)
        for share in np.linspace(1.0, 0.3, 120):
            targets = (wavy - [0.1, 0, 0]) * [share, 1.0, 1.0] + [0.1, 0, 0]
            advance([(model, state)], [targets], dt=1 / 240, gravity=WEIGHTLESS)
        model, state = change_pins((model, state), held, mesh, gravity=WEIGHTLESS)
        advance([(model, state)], [wavy], dt=1 / 240, steps=480, gravity=WEIGHTLESS)
        widths.append(float(np.linalg.norm(state.positions[:, 12] - state.positions[:, 0])))
    assert widths[0] > 0.195
    assert widths[1] < 0.12


def test_what_has_yielded_stays_so_when_it_is_held_otherwise_or_shrinks() -> None:
    """Its model is built anew then; what it has gone through is not forgotten."""
    mesh = strip("quads")
    held = pinned(mesh, range(5))
    model, state = built_state((held, settings("quads", hardening=0.0)), gravity=WEIGHTLESS)
    assert state.plastic is not None
    state.plastic.strips[0].permanent[:] = 0.1
    for body in (
        change_pins((model, state), held, mesh, gravity=WEIGHTLESS),
        change_settings((model, state), mesh, replace(model.settings, shrinking=0.5)),
    ):
        advance([body], [mesh.positions], dt=1 / 240, gravity=WEIGHTLESS)
        assert state.batches is not None
        worn = state.batches.model.lengths.edges.rest_lengths
        assert worn == pytest.approx(1.1 * body[0].lengths.edges.rest_lengths, rel=0.05)


def test_edges_that_have_yielded_are_left_at_their_new_lengths() -> None:
    """What sweeps leave is shared by the lengths that edges have now, not by those they had."""
    mesh = strip("triangles")
    body = mesh, settings("triangles", hardening=0.0)
    model, state = built_state(body, gravity=WEIGHTLESS, dt=1 / 240)
    assert state.plastic is not None
    for stretch in (1.0, 1.1):
        state.plastic.strips[0].permanent[:] = stretch - 1.0
        advance([(model, state)], [mesh.positions], dt=1 / 240, gravity=WEIGHTLESS)
        assert state.batches is not None
        links = state.batches.lengths.links
        links.multipliers.fill(0.0)
        places = stretch * np.ascontiguousarray(mesh.positions.T)
        assert not limit_strain(places, links, max_strain=1e-6)
        np.testing.assert_array_equal(places, stretch * mesh.positions.T)
