"""Cloth by itself: every kind of mesh and material, and everything that changes on the way."""

from dataclasses import replace
from typing import Any

import numpy as np

from tests.core.bodies import (
    WEIGHTLESS,
    disc,
    flat_sheet,
    floor,
    gaping_tube,
    make_mesh,
    moved,
    net,
    pinned,
    rotation,
    scanned,
    sheet,
    sphere,
    strewn,
    thrown,
    tube,
    wind,
    woven,
)
from tests.same.bakes import FRAME, Scene, Scenes, on_floor, scene
from verlet_addon.core.arrays import Floats
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import MeshData, Mirror, Paint
from verlet_addon.core.scene import Plane
from verlet_addon.core.settings import BodySettings, SceneSettings

CLOTH = BodySettings()
ELASTIC = BodySettings(stretch_compliance=1e-4, shear_compliance=1e-3, bend_compliance=1e-2)
UPRIGHT = rotation((1, 0, 0), np.pi / 2)
CORNERS = [0, 12]
"""Two pins of what is 12 cells wide."""


def hung(mesh: MeshData, **settings: Any) -> Scene:
    """A mesh that is held at two corners and set in motion."""
    pushed = thrown(pinned(mesh, CORNERS), (0.3, 0.2, -1.0))
    return scene((pushed, BodySettings(**settings)))


def material(name: str, mesh: MeshData) -> Scene:
    """The same of a material."""
    return scene((pinned(thrown(mesh, (0.0, 0.4, -1.0)), CORNERS), MATERIALS[name].settings))


def bumpy(kind: str) -> MeshData:
    """A sheet in waves, so that its bends have rest angles."""
    mesh = flat_sheet(kind, 12)
    x, y, _ = mesh.positions.T
    mesh.positions[:, 2] = 0.1 * np.sin(7.0 * x) * np.cos(5.0 * y)
    return mesh


def painted() -> Scene:
    """Every layer that cloth has, from 0 at one side to 1 at the other."""
    mesh = pinned(flat_sheet("strewn triangles", 12), CORNERS)
    share = np.clip(mesh.positions[:, 1], 0.0, 1.0)
    paint = Paint(
        stretch=share, shear=1.0 - share, bend=share, shrinking=share, thickness=share + 0.1
    )
    settings = replace(ELASTIC, shrinking=0.2, use_self_collision=True)
    return scene((replace(mesh, paint=paint), settings), ground=floor(-0.05))


def keyed(mesh: MeshData, *turns: dict[str, Any], **settings: Any) -> Scene:
    """Settings that change from sample to sample."""
    own = BodySettings(**settings)
    return hang_on(
        mesh, own, lambda number: {"settings": [replace(own, **turns[number % len(turns)])]}
    )


def hang_on(mesh: MeshData, own: BodySettings, changes: Any, **more: Any) -> Scene:
    """A held mesh whose samples change."""
    return scene((pinned(mesh, CORNERS), own), count=5, changes=changes, **more)


def let_go(mesh: MeshData, own: BodySettings = CLOTH) -> Scene:
    """Held, drawn, let go and taken hold of elsewhere."""
    weights = [np.zeros(len(mesh.positions)) for _ in range(6)]
    weights[0][CORNERS] = weights[1][CORNERS] = 1.0
    weights[2][0], weights[2][12] = 0.5, 1.0
    weights[4][-1], weights[5][-1] = 1.0, 1.0
    return hang_on(mesh, own, lambda number: {"pin_weights": [weights[number]]})


def drawn() -> Scene:
    """Soft pins that become firmer while they move."""
    mesh = sheet(12)

    def changes(number: int) -> dict[str, Any]:
        weights = np.zeros(len(mesh.positions))
        weights[CORNERS] = 0.2 + 0.1 * number
        return {"pin_weights": [weights], "targets": [mesh.positions + 0.02 * number]}

    return scene((mesh, CLOTH), changes=changes)


def pulled_apart(mesh: MeshData, own: BodySettings) -> Scene:
    """Pins at two sides that part farther than what is between is long, and come back."""
    x = mesh.positions[:, 0]
    held = pinned(mesh, np.flatnonzero((x < 1e-6) | (x > 1.0 - 1e-6)))

    def targets(time: float) -> list[Floats]:
        share = 0.3 if FRAME < time < 3.5 * FRAME else 0.0
        return [held.positions * np.array([1.0 + share, 1.0, 1.0])]

    return scene((held, own), count=5, targets=targets)


def yielding(mesh: MeshData, **settings: Any) -> Scene:
    """Pins that stretch and bend a mesh past its limits, and come back."""
    y = mesh.positions[:, 1]
    held = pinned(mesh, np.flatnonzero((y < 1e-6) | (y > y.max() - 1e-6)))

    def targets(time: float) -> list[Floats]:
        stretched = held.positions * [1.0, 1.0 + 3.0 * min(time, 0.1), 1.0]
        lift = 4.0 * min(time, 0.1) * (held.positions[:, 1] > 0.5)
        return [stretched + np.outer(lift, [0.0, 0.0, 1.0])]

    own = BodySettings(
        stretch_compliance=1e-3, use_plasticity=True, yield_curvature=0.5, **settings
    )
    return scene((held, own), count=6, targets=targets)


def panels(*, apart: float, cells: int = 6) -> MeshData:
    """Two squares beside each other, edge by edge, with loose edges between them."""
    left = sheet(cells, size=0.3)
    right = moved(left, np.eye(3), (0.3 + apart, 0, 0))
    count = len(left.positions)
    faces = np.concatenate([left.face_vertices, right.face_vertices + count]).reshape(-1, 4)
    rows = np.arange(cells + 1) * (cells + 1)
    seams = np.stack([rows + cells, rows + count], axis=1)
    points = np.concatenate([left.positions, right.positions])
    return moved(make_mesh(points, faces=faces.tolist(), edges=seams), UPRIGHT, (0, 0, 0.5))


def torn() -> Scene:
    """Two squares split from each other, one held and one thrown away from it."""
    mesh = panels(apart=0.0)
    right = np.arange(len(mesh.positions)) >= 49
    speeds = np.where(right[:, None], [6.0, 0.0, -2.0], 0.0)
    body = pinned(thrown(mesh, speeds), np.arange(7) * 7)
    return scene((body, BodySettings(use_tearing=True, tear_strength=20.0)))


def mirror(normal: tuple[float, float, float], speed: float = 0.0) -> Mirror:
    """A plane through the origin that moves up [m/s]."""
    up = np.array([0.0, 0.0, speed])
    return Mirror(Plane(np.zeros(3), np.array(normal)), up, np.zeros(3), 1e-3)


def mirrored(mesh: MeshData, own: BodySettings = CLOTH, **more: Any) -> Scene:
    """A quarter of a body between two planes that turn."""
    whole = replace(mesh, mirrors=[mirror((1.0, 0.0, 0.0)), mirror((0.0, 1.0, 0.0))])

    def changes(number: int) -> dict[str, Any]:
        turn = rotation((0, 0, 1), 0.02 * number)
        normals = turn.T[:2] if mesh.pin_weights.any() else np.eye(3)[:2]
        return {"mirrors": [[Plane(np.zeros(3), normal) for normal in normals]]}

    return scene((whole, own), changes=changes, **more)


def schemed(**settings: Any) -> Scene:
    """An elastic sheet in frames of different lengths, one of which takes no time."""
    mesh = pinned(thrown(sheet(8), (0.0, 0.0, -2.0)), [0, 8])
    durations = [FRAME, 0.5 * FRAME, 0.0, 2.0 * FRAME]
    shifts = [0.0, 0.01, 0.02, 0.0201, 0.05]

    def changes(number: int) -> dict[str, Any]:
        return {"targets": [mesh.positions + shifts[number]]}

    own = SceneSettings(**settings)
    return scene((mesh, ELASTIC), settings=own, durations=durations, changes=changes)


FOLD = moved(sheet(12), rotation((0, 1, 0), 0.4), (0.0, 0.0, 0.2))
TUMBLING = np.cross((1.0, 2.0, -1.0), sheet(12).positions)

SCENES: Scenes = {
    "quads": lambda: hung(sheet(12)),
    "large quads": lambda: scene((pinned(sheet(40), [0, 40]), CLOTH), count=3),
    "large triangles": lambda: scene(
        (pinned(flat_sheet("triangles", 30), [0, 30]), CLOTH), count=3
    ),
    "strewn triangles": lambda: hung(flat_sheet("strewn triangles", 12)),
    "without tethers": lambda: hung(sheet(12), use_tethers=False),
    "soft pins": lambda: scene((pinned(sheet(12), [0, 12, 80], weight=0.4), CLOTH)),
    "elastic": lambda: hung(sheet(12), **vars_of(ELASTIC)),
    "bends along strips": lambda: hung(sheet(12), bend_compliance=1.0),
    "bends all at once": lambda: hung(sheet(20), bend_compliance=1e-2),
    "bends along face loops": lambda: hung(
        sheet(12), bend_compliance=30.0, damping=0.0, inner_damping=0.0
    ),
    "rigid bends": lambda: hung(flat_sheet("strewn triangles", 12), bend_compliance=0.0),
    "bends with angles": lambda: hung(bumpy("strewn triangles")),
    "stiff bends with angles": lambda: hung(
        bumpy("quads"), bend_compliance=0.05, use_plasticity=True, yield_curvature=50.0
    ),
    "fine scan": lambda: hung(scanned(12, tiny=1e-2)),
    "finest scan": lambda: hung(scanned(10, tiny=1e-4)),
    "disc": lambda: scene((pinned(disc(8), [0]), CLOTH)),
    "sphere": lambda: scene((pinned(sphere(24, 8), [30]), CLOTH)),
    "tube, tumbling": lambda: scene(
        (thrown(tube(12, 6), np.cross((1, 3, 2), tube(12, 6).positions)), CLOTH), gravity=WEIGHTLESS
    ),
    "sheet, tumbling": lambda: scene((thrown(sheet(12), TUMBLING), ELASTIC), gravity=WEIGHTLESS),
    "woven quads": lambda: material("DENIM", woven(sheet(12))),
    "woven elastic quads": lambda: hung(
        woven(sheet(12), degrees=30.0), stretch_compliance=1e-3, weft_compliance=5e-3
    ),
    "woven triangles": lambda: hung(
        woven(flat_sheet("strewn triangles", 12), degrees=30.0), weft_compliance=5e-3
    ),
    "woven, flying": lambda: scene(
        (thrown(woven(sheet(10)), TUMBLING[:1]), CLOTH), gravity=WEIGHTLESS
    ),
    "silk": lambda: material("SILK", flat_sheet("triangles", 12)),
    "paper": lambda: material("PAPER", sheet(12)),
    "leather": lambda: material("LEATHER", sheet(12)),
    "rubber": lambda: material("RUBBER_SHEET", sheet(12)),
    "painted": painted,
    "keyed": lambda: keyed(
        sheet(12),
        {"stretch_compliance": 1e-3},
        {"stretch_compliance": 1e-2, "bend_compliance": 10.0},
        {"shrinking": 0.2, "damping": 4.0},
    ),
    "keyed woven": lambda: keyed(
        woven(sheet(12)), {"weft_compliance": 1e-3}, {"shear_compliance": 1e-3, "gravity": -0.5}
    ),
    "let go": lambda: let_go(sheet(12)),
    "let go, plastic": lambda: let_go(
        sheet(12), replace(ELASTIC, use_plasticity=True, yield_strain=0.001)
    ),
    "drawn": drawn,
    "pulled apart": lambda: pulled_apart(sheet(8), CLOTH),
    "net, pulled apart": lambda: pulled_apart(net(8), BodySettings(body_type="ROPE")),
    "plastic": lambda: yielding(sheet(4, 12), hardening=0.3),
    "plastic, bent": lambda: yielding(sheet(6, 12), bend_compliance=1.0, hardening=0.5),
    "plastic, stiff": lambda: yielding(flat_sheet("triangles", 8), bend_compliance=1e-2),
    "plastic, woven": lambda: yielding(woven(sheet(6, 12)), weft_compliance=1e-3),
    "sewn": lambda: scene((pinned(panels(apart=0.2), [0]), BodySettings(use_sewing=True))),
    "sewn by force": lambda: scene(
        (panels(apart=0.02), BodySettings(use_sewing=True, sewing_force=0.1)), gravity=WEIGHTLESS
    ),
    "sewn tube": lambda: scene((gaping_tube(13, 6), BodySettings(use_sewing=True)), count=6),
    "not sewn": lambda: scene((pinned(panels(apart=0.05), [0]), CLOTH)),
    "split": lambda: scene((pinned(panels(apart=0.0), [0, 1, 7]), CLOTH)),
    "torn": torn,
    "mirrored": lambda: mirrored(pinned(sheet(6), [48])),
    "mirrored, woven": lambda: mirrored(woven(strewn(sheet(6), 0.02))),
    "verlet": lambda: schemed(substeps=2, integrator="VERLET"),
    "tcv": lambda: schemed(substeps=2, integrator="TCV"),
    "iterations": lambda: schemed(substeps=2, iterations=4, tolerance=1e-3),
    "folded": lambda: on_floor((FOLD, BodySettings(use_self_collision=True)), fields=[wind(6.0)]),
}


def vars_of(settings: BodySettings) -> dict[str, Any]:
    """The compliances of settings, as arguments."""
    return {name: value for name, value in vars(settings).items() if name.endswith("compliance")}
