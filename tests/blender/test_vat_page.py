"""The web page of docs/vat draws each vertex where the bake has it, in a real browser."""

import base64
import shutil
from pathlib import Path

import bpy
import numpy as np

from tests.blender.browser import PAGE, ROOT, found_by, in_browser
from tests.blender.scenes import select, shown, verlet
from tests.blender.test_vertex_textures import y_up
from tests.blender.vat_files import read_glb, read_image, vertex_of

NEAR = 1e-4
"""What a drawn vertex may be off [m]."""
MEASURE = """
const { load } = await import("./player.js");
const player = await load("Flag");
const positions = FRAMES.map((frame) => player.positionsAt(frame));
player.draw(FRAMES[5], 800, 500);
return { positions, picture: player.canvas.toDataURL() };
"""

pytestmark = in_browser


def test_the_page_draws_the_flag_where_the_bake_has_it(tmp_path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(ROOT / "sample_blends" / "flag_in_wind.blend"))
    obj = bpy.data.objects["Flag"]
    verlet.bake()
    select(obj)
    folder = tmp_path / "page"
    shutil.copytree(PAGE, folder, ignore=shutil.ignore_patterns("node_modules"))
    verlet.export_vat(filepath=str(folder / "Flag.png"))
    scene = bpy.context.scene
    count = scene.frame_end - scene.frame_start + 1
    frames = np.linspace(0, count - 1, 10).astype(int).tolist()
    found = found_by(MEASURE.replace("FRAMES", str(frames)), folder)
    model, colors = read_glb(folder / "Flag.glb"), read_image(folder / "Flag.png")
    vertices = vertex_of(model, colors, count, len(obj.data.vertices))
    for frame, drawn in zip(frames, found["positions"], strict=True):
        wanted = y_up(shown(obj, scene.frame_start + frame))[vertices]
        off = np.linalg.norm(np.array(drawn).reshape(-1, 3) - wanted, axis=1)
        assert off.max() < NEAR, frame
    picture = tmp_path / "picture.png"
    picture.write_bytes(base64.b64decode(found["picture"].partition(",")[2]))
    assert (np.ptp(read_image(picture), axis=2) > 0.2).mean() > 0.02
