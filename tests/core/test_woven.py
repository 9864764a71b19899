"""Cloth whose threads a map shows stretches along them, across and aslant as its settings say."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.core.bodies import (
    GRAVITY,
    HALF,
    WEIGHTLESS,
    flat_sheet,
    frames,
    kinetic_energy,
    lengths,
    masses,
    momenta,
    moved,
    pinned,
    rotation,
    sheet,
    simulated,
    sphere,
    strains,
    strewn,
    thrown,
    woven,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.errors import MeshError
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import MeshData, Mirror, Paint
from verlet_addon.core.mirrors import complete
from verlet_addon.core.scene import Collider, Plane
from verlet_addon.core.settings import BodySettings, SceneSettings

WARP, WEFT, SHEAR = 2e-4, 6e-4, 4e-4
STILL = BodySettings(
    stretch_compliance=WARP, weft_compliance=WEFT, shear_compliance=SHEAR, damping=5.0
)
WIDTH, LENGTH, CELLS = 0.1, 0.6, 5


def strip(kind: str, degrees: float) -> MeshData:
    """A strip held by its upper end, whose warp runs along it, or so turned in the mesh."""
    flat = sheet(CELLS, CELLS * 6, size=WIDTH, triangles=kind != "quads")
    if kind == "strewn triangles":
        wide = replace(flat, positions=flat.positions / [WIDTH, LENGTH, 1.0])
        shifted = strewn(wide, 0.05).positions - wide.positions
        flat = replace(flat, positions=flat.positions + shifted * [WIDTH, WIDTH, 0.0])
    upright = moved(woven(flat, degrees=degrees), [[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    return pinned(upright, range(CELLS + 1))


def strain(mesh: MeshData, hung: Floats) -> tuple[float, float]:
    """How much longer the middle part of a strip is, as a share, and how far down its middle is."""
    depth = -mesh.positions[:, 2]
    part = (depth > 0.35 * LENGTH) & (depth < 0.75 * LENGTH)
    # Where particles are, as a function of width and depth: its slope by the depth is the stretch.
    across, down = mesh.positions[part, 0], depth[part]
    terms = np.stack([np.ones(len(down)), across, down, down**2], axis=1)
    found = np.linalg.lstsq(terms, hung[part], rcond=None)[0]
    middle = 0.55 * LENGTH
    return float(np.linalg.norm(found[2] + 2.0 * middle * found[3])) - 1.0, middle


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["quads", "strewn triangles"])
@pytest.mark.parametrize(("degrees", "within"), [(0, 0.02), (30, 0.05), (45, 0.05), (90, 0.02)])
def test_a_strip_stretches_by_the_way_its_threads_run(
    kind: str, degrees: float, within: float
) -> None:
    """Cut at an angle θ to the warp: c₁ cos⁴θ + c₂ sin⁴θ + c₁₂ cos²θ sin²θ, c₁₂ = 1/G.

    The off-axis modulus of an orthotropic sheet (S. G. Lekhnitskii, *Anisotropic Plates*, 1968).
    """
    mesh = strip(kind, degrees)
    hung = simulated([(mesh, STILL)], frames(2.0, 24), SceneSettings(use_ground=False))[0][-1]
    found, middle = strain(mesh, hung)
    along, across = np.cos(np.radians(degrees)) ** 2, np.sin(np.radians(degrees)) ** 2
    compliance = WARP * along**2 + WEFT * across**2 + 2.0 * SHEAR * along * across
    tension = STILL.mass * -GRAVITY[2] * (LENGTH - middle) / LENGTH / WIDTH
    assert found == pytest.approx(compliance * tension, rel=within)


@pytest.mark.parametrize("layer", ["stretch", "shear"])
def test_paint_scales_what_a_weave_gives(layer: str) -> None:
    """Painted ½ all over, it is the same as with half the setting."""
    mesh = strip("quads", 30.0)
    half = replace(mesh, paint=Paint(**{layer: np.full(len(mesh.positions), 0.5)}))
    names = {"stretch": ("stretch_compliance", "weft_compliance")}.get(layer, ("shear_compliance",))
    halved = replace(STILL, **{name: getattr(STILL, name) / 2 for name in names})
    ends = [simulated([body], frames(0.5, 24))[0][-1] for body in ((half, STILL), (mesh, halved))]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


@pytest.mark.parametrize("stretch", [0.0, 1e-3])
def test_woven_cloth_that_flies_keeps_its_momentum_and_gains_no_energy(stretch: float) -> None:
    mesh = woven(flat_sheet("quads", 10))
    turn = np.cross([3.0, 1.0, 2.0], mesh.positions - 0.5)
    mesh = thrown(mesh, turn * (1.0 + mesh.positions[:, :1]))
    body = mesh, BodySettings(stretch_compliance=stretch, weft_compliance=4 * stretch, damping=0.0)
    track = simulated([body], frames(0.5, 240), SceneSettings(substeps=1), gravity=WEIGHTLESS)[0]
    linear, angular = momenta(body, track, 1 / 240)
    assert linear == pytest.approx(np.broadcast_to(linear[0], linear.shape), abs=1e-9)
    assert angular == pytest.approx(np.broadcast_to(angular[0], angular.shape), abs=1e-9)
    energy = kinetic_energy(body, track, 1 / 240)
    assert (energy < energy[0] * (1 + 1e-6)).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["quads", "triangles"])
def test_threads_that_do_not_stretch_hold(kind: str) -> None:
    """A sheet by two corners: longer by what sweeps leave as it falls into them, and not crumpled.

    Sweeps end at 1.2 %, or when four were in vain; without edges, corners stretched by half.
    """
    mesh = pinned(woven(flat_sheet(kind, 16)), [0, 16])
    track = simulated([(mesh, BodySettings())], frames(1.0, 24))[0]
    aslant = np.abs(np.diff(mesh.positions[mesh.edges], axis=1)[:, 0, :2]).min(axis=1) > 1e-6
    threads = mesh.edges[~aslant]
    ratio = lengths(track, threads) / lengths(mesh.positions, threads)
    assert np.percentile(ratio, 99, axis=1).max() < 1.015
    assert ratio.max() < 1.04
    assert ratio.min() > 0.75


@pytest.mark.slow
def test_a_woven_sheet_that_falls_into_its_corners_gains_no_energy() -> None:
    """Where edges remembered their tension too, it was thrown up by thrice what it had fallen."""
    mesh = pinned(woven(flat_sheet("quads", 50)), [0, 50])
    settings = replace(MATERIALS["COTTON"].settings, damping=0.0)
    scene = SceneSettings(use_ground=False, substeps=5)
    track = simulated([(mesh, settings)], frames(0.4, 48), scene)[0]
    weights = masses((mesh, settings))
    moving = 0.5 * (weights * (np.diff(track, axis=0) * 48) ** 2).sum(axis=(1, 2))
    height = (weights[:, 0] * (track[1:] + track[:-1])[:, :, 2] / 2).sum(axis=1)
    assert (moving - GRAVITY[2] * height < 0.01).all()


@pytest.mark.slow
def test_woven_cloth_lies_on_a_ball() -> None:
    ball = sphere(24, 12, radius=0.3)
    sides = ball.face_starts
    fan = [
        (ball.face_vertices[a], ball.face_vertices[a + k], ball.face_vertices[a + k + 1])
        for a, b in pairwise(sides)
        for k in range(1, b - a - 1)
    ]
    collider = Collider(
        name="Ball",
        triangles=np.array(fan),
        outer=0.0,
        friction=1.0,
        restitution=0.0,
        single_sided=False,
    )
    mesh = woven(moved(flat_sheet("quads", 10), np.eye(3), (-0.5, -0.5, 0.32)))
    settings = replace(STILL, stretch_compliance=0.0, damping=2.0)
    around = [(collider, ball.positions)]
    (end,) = simulated([(mesh, settings)], frames(3.0, 24), HALF, colliders=around)
    far = np.linalg.norm(end[-1], axis=1)
    assert far.min() > 0.29  # the ball's flat faces lie within its radius
    # Its corners swing by a centimetre a frame after half that time, and come to rest.
    assert np.abs(np.diff(end[-12:], axis=0)).max() < 0.003


@pytest.mark.slow
def test_cut_on_the_bias_cloth_lengthens_until_its_threads_lock() -> None:
    """Along the middle between threads that do not stretch: by √(1 + sin γ), γ = 8° of shear."""
    mesh = strip("triangles", 45.0)
    limp = replace(STILL, stretch_compliance=0.0, weft_compliance=0.0, shear_compliance=0.1)
    hung = simulated([(mesh, limp)], frames(1.5, 24))[0][-1]
    longest = np.sqrt(1.0 + np.sin(np.radians(8.0)))
    assert 1.0 + strain(mesh, hung)[0] == pytest.approx(longest, abs=0.005)


def test_a_mirror_shows_threads_too() -> None:
    """The image's warp is the image of the warp."""
    plane = Plane(point=np.zeros(3), normal=np.array([1.0, 0.0, 0.0]))
    mirror = Mirror(
        plane=plane, point_velocity=WEIGHTLESS, normal_velocity=WEIGHTLESS, merge_distance=1e-3
    )
    half = replace(woven(sheet(2), degrees=30.0), mirrors=[mirror])
    whole, _ = complete(half)
    assert whole.threads is not None
    assert half.threads is not None
    own = len(half.face_vertices)
    places = whole.positions[whole.face_vertices]
    for corner, place in zip(range(own, 2 * own), places[own:], strict=True):
        source = np.flatnonzero(np.abs(places[:own] - place * [-1, 1, 1]).sum(axis=1) < 1e-9)
        assert (whole.threads[corner] == half.threads[source]).all(axis=1).any()


def test_a_map_turned_with_the_mesh_changes_nothing() -> None:
    """Threads are the cloth's own: turned in space, the same sheet moves alike."""
    flat = woven(flat_sheet("strewn triangles", 6), degrees=20.0)
    mesh = replace(flat, positions=flat.positions * 1.1, rest_positions=flat.positions)
    matrix = rotation((1.0, 2.0, 3.0), 1.0)
    turned = moved(mesh, matrix)
    turned = replace(turned, rest_positions=flat.positions @ matrix.T)
    tracks = [
        simulated([(m, STILL)], frames(0.3, 24), gravity=WEIGHTLESS)[0] for m in (mesh, turned)
    ]
    assert tracks[1] == pytest.approx(tracks[0] @ matrix.T, abs=1e-6)


def test_a_map_without_area_is_refused() -> None:
    lost = replace(sheet(3), threads=np.zeros((36, 2)))
    with pytest.raises(MeshError, match=r"'Body' has \d+ triangles without area in its thread map"):
        simulated([(lost, STILL)], frames(0.1, 24))


def test_stiff_woven_cloth_does_not_sink_into_itself() -> None:
    """Threads give way to being pushed as if they buckled, which those of a firm sheet do not."""
    upright = moved(woven(flat_sheet("quads", 8)), rotation((1, 0, 0), np.pi / 2))
    mesh = pinned(upright, np.flatnonzero(upright.positions[:, 2] < 0.2))
    firm = BodySettings(bend_compliance=1.0, stretch_compliance=1e-3, weft_compliance=1e-3)
    (track,) = simulated([(mesh, firm)], frames(1.0, 24))
    assert strains(mesh, track).min() > -0.02
