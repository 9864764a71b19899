"""A loop, exported as the docs say, plays in three.js without a pause and without a seam."""

import ast
import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tests.blender.browser import ROOT, found_by, in_browser, pictures_of
from tests.blender.scenes import body, pin, sheet, shown, verlet
from tests.blender.test_vertex_textures import y_up
from tests.blender.vat_files import read_image

LENGTH = 24
NEAR = 1e-5
"""What a vertex may be off: files hold float32 [m]."""
PLAY = """
const THREE = await import("three");
const { GLTFLoader } = await import("three/addons/loaders/GLTFLoader.js");
const { scene, animations } = await new GLTFLoader().loadAsync("loop.glb");
const mixer = new THREE.AnimationMixer(scene);
animations.forEach((clip) => mixer.clipAction(clip).play());
const mesh = scene.getObjectByProperty("isMesh", true);
const at = new THREE.Vector3();
const positions = TIMES.map((time) => {
  mixer.setTime(time);
  scene.updateMatrixWorld(true);
  const count = mesh.geometry.attributes.position.count;
  return Array.from({ length: count }, (_, vertex) =>
    mesh.getVertexPosition(vertex, at).applyMatrix4(mesh.matrixWorld).toArray()).flat();
});
return { positions, clips: animations.map((clip) => clip.duration) };
"""

pytestmark = in_browser


def as_the_docs_say() -> dict[str, Any]:
    """The settings of the glTF exporter in docs/how_to/export.md."""
    text = (ROOT / "docs" / "how_to" / "export.md").read_text(encoding="utf-8")
    (given,) = re.findall(r"`bpy\.ops\.export_scene\.gltf\(filepath=…, (.*?)\)`", text)
    call: Any = ast.parse(f"dict({given})", mode="eval").body
    return {each.arg: ast.literal_eval(each.value) for each in call.keywords}


def page() -> str:
    """The web page in docs/how_to/loop.md."""
    text = (ROOT / "docs" / "how_to" / "loop.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^```html\n(.*?)^```", text, re.M | re.S)
    return str(found)


def bake_loop(name: str) -> Any:
    """Bakes a loop of a cloth that swings from two corners."""
    scene: Any = bpy.context.scene
    cloth = body(sheet(name, height=3.0))
    pin(cloth, [0, 4])
    for polygon in cloth.data.polygons:
        polygon.use_smooth = True
    scene.frame_start, scene.frame_end = 1, 60
    verlet.bake(loop=LENGTH)
    return cloth


def test_a_loop_plays_from_the_first_moment_on_and_without_a_seam(tmp_path: Path) -> None:
    scene: Any = bpy.context.scene
    cloth = bake_loop("Cloth")
    start = cloth.verlet.baked_start
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "loop.glb"), **as_the_docs_say())
    frames = [0, 1, 12, LENGTH - 1, LENGTH, LENGTH + 1, 2 * LENGTH + 7]
    times = [frame / scene.render.fps for frame in frames]
    found = found_by(PLAY.replace("TIMES", str(times)), tmp_path)
    assert found["clips"] == [LENGTH / scene.render.fps]
    wanted = [y_up(shown(cloth, start + frame)) for frame in frames]
    drawn = [np.array(each).reshape(-1, 3) for each in found["positions"]]
    # Players split and sort vertices: each is the one that is nearest at the first moment.
    apart = np.linalg.norm(drawn[0][:, None] - wanted[0][None], axis=2)
    vertices = apart.argmin(axis=1)
    assert {*vertices} == {*range(len(wanted[0]))}
    for frame, here, there in zip(frames, drawn, wanted, strict=True):
        assert np.linalg.norm(here - there[vertices], axis=1).max() < NEAR, frame


def test_the_page_of_the_docs_shows_the_loop_without_an_end(tmp_path: Path) -> None:
    bake_loop("Flag")
    assert verlet.scene_range_to_loop() == {"FINISHED"}
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "Flag.glb"), **as_the_docs_say())
    turn = LENGTH / bpy.context.scene.render.fps
    colors = []
    for number, data in enumerate(pictures_of(page(), [0.0, turn / 2, turn, 7.5 * turn], tmp_path)):
        path = tmp_path / f"{number}.png"
        path.write_bytes(data)
        colors.append(read_image(path))
    start, half, again, later = colors
    is_red = (start[..., 0] > 0.3) & (start[..., 2] < 0.5 * start[..., 0])
    assert is_red.mean() > 0.02
    assert np.abs(again - start).max() < 0.1
    assert np.abs(later - half).max() < 0.1
    assert (np.abs(half - start).max(axis=2) > 0.1).mean() > 0.01
