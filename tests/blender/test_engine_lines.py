"""The lines of docs/how_to/engines.md move each vertex to where the bake has it.

They are taken from the page as they stand. Lines in HLSL are compiled by glslang and turned into
GLSL by SPIRV-Cross; all of them run in a browser, on the texture and the mesh of an export.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
import pytest

from tests.blender.browser import ROOT, found_by, in_browser
from tests.blender.scenes import body, pin, select, sheet, shown, verlet
from tests.blender.test_vertex_textures import y_up
from tests.blender.vat_files import read_glb, read_image, vertex_of

COUNT = 12
"""Frames of the bake."""
FRAMES = [0, 1, 7, COUNT - 1, COUNT, 3 * COUNT + 5]
"""Frames since the start that are compared; the motion repeats."""
NEAR = 1e-5
"""What a vertex may be off: the texture holds float32 [m]."""
COMPILERS = ("glslangValidator", "spirv-cross")
RUN = (Path(__file__).with_name("run_vertex_shader.js")).read_text(encoding="utf-8")

pytestmark = in_browser


class Exported(NamedTuple):
    """A baked cloth, and its vertex animation texture."""

    folder: Path
    wanted: Any
    """(frames, m, 3) where the vertices of the exported mesh are, with Y upwards [m]."""
    positions: Any
    """(m, 3) the vertices of the exported mesh [m]."""
    places: Any
    """(m, 2) its second UV layer, from the upper left corner."""
    colors: Any
    """(h, w, 3) the texture, the top row first."""
    remap: Any


@pytest.fixture
def exported(tmp_path: Path) -> Exported:
    """A cloth that swings from a corner, so that it moves along all axes."""
    cloth = body(sheet("Cape", height=3.0))
    pin(cloth, [0])
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, COUNT
    verlet.bake()
    select(cloth)
    path = tmp_path / "Cape.exr"
    assert verlet.export_vat(filepath=str(path), format="EXR32") == {"FINISHED"}
    model, colors = read_glb(tmp_path / "Cape.glb"), read_image(path)
    vertices = vertex_of(model, colors, COUNT, len(cloth.data.vertices))
    moved = [y_up(shown(cloth, 1 + frame % COUNT))[vertices] for frame in FRAMES]
    # The lines work in the space of the mesh, which is moved as a whole.
    wanted = (np.array(moved) - model.matrix[:3, 3]) @ model.matrix[:3, :3]
    info = json.loads((tmp_path / "Cape-remap_info.json").read_text(encoding="utf-8"))
    return Exported(tmp_path, wanted, model.positions, model.places, colors, info["os-remap"])


def lines_of(engine: str) -> str:
    """The lines of an engine on the page."""
    text = (ROOT / "docs" / "how_to" / "engines.md").read_text(encoding="utf-8")
    (section,) = re.findall(
        rf"^\*\*{re.escape(engine)}\*\*.*?^```\w+\n(.*?)^```", text, re.M | re.S
    )
    return str(section)


def glsl_of(hlsl: str, folder: Path) -> str:
    """A vertex shader in HLSL as GLSL for browsers."""
    missing = [name for name in COMPILERS if shutil.which(name) is None]
    if missing:
        pytest.skip(f"no {' and no '.join(missing)} is installed (apt: glslang-tools, spirv-cross)")
    source, binary = folder / "shader.hlsl", folder / "shader.spv"
    source.write_text(hlsl, encoding="utf-8")
    options = ["-D", "-V", "-S", "vert", "-e", "main", "--hlsl-dx9-compatible"]
    maps = ["--auto-map-bindings", "--auto-map-locations"]
    output_of(COMPILERS[0], *options, *maps, source, "-o", binary)
    form = ["--es", "--version", "300", "--glsl-emit-ubo-as-plain-uniforms"]
    return output_of(COMPILERS[1], binary, *form)


def output_of(*command: str | Path) -> str:
    """What a program prints; its complaint where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run(exported: Exported, source: str, **given: Any) -> Any:
    """(frames, m, 3) where a vertex shader puts the vertices.

    Parameters
    ----------
    source : with an output `moved`, and a uniform of which `clock` is the name [s].
    given : its inputs, its other uniforms and the rows of its texture, by their names.
    """
    height, width, _ = exported.colors.shape
    rows = given.pop("colors", exported.colors)
    texture = {"width": width, "height": height, "colors": np.ravel(rows).tolist()}
    values = {name: np.ravel(each).tolist() for name, each in given.pop("uniforms").items()}
    inputs = {name: np.asarray(each).tolist() for name, each in given.pop("inputs").items()}
    clock, times = given.pop("clock"), [(frame + 0.5) / 24 for frame in FRAMES]
    every = {"source": source, "inputs": inputs, "uniforms": values, "texture": texture}
    script = RUN.replace("GIVEN", json.dumps({**every, "clock": clock, "times": times}))
    return np.array(found_by(script, exported.folder)).reshape(len(FRAMES), -1, 3)


def off(found: Any, wanted: Any) -> float:
    """How far the farthest vertex is off [m]."""
    return float(np.linalg.norm(found - wanted, axis=2).max())


def test_the_cloth_moves_along_all_axes(exported: Exported) -> None:
    """Or else lines with wrong axes might pass."""
    assert np.ptp(exported.wanted - exported.positions, axis=(0, 1)).min() > 100 * NEAR


GODOT = """#version 300 es
precision highp float;
precision highp sampler2D;
in vec3 at_rest;
in vec2 uv;
out vec3 moved;
uniform float TIME;
vec3 VERTEX;
vec2 UV2;
LINES
void main() { VERTEX = at_rest; UV2 = uv; vertex(); moved = VERTEX; gl_Position = vec4(0); }
"""
"""What Godot puts around a shader; its own words for the type and the filter are no GLSL."""


def test_godot_s_lines(exported: Exported) -> None:
    lines = lines_of("Godot").replace("shader_type spatial;", "").replace(": filter_nearest", "")
    low, high, frames = (exported.remap[name] for name in ("Min", "Max", "Frames"))
    found = run(
        exported,
        GODOT.replace("LINES", lines),
        inputs={"at_rest": exported.positions, "uv": exported.places},
        uniforms={"low": low, "high": high, "frames": frames},
        clock="TIME",
    )
    assert off(found, exported.wanted) < NEAR


UNITY = """
float4 _Time;
LINES
void main(float3 at_rest : POSITION, float2 uv : TEXCOORD1,
          out float4 place : SV_Position, out float3 moved_out : TEXCOORD0)
{
    moved_out = moved(at_rest, uv);
    place = float4(moved_out, 1.0);
}
"""
"""What Unity puts around a function."""


def test_unity_s_lines(exported: Exported) -> None:
    """Its readers of glTF reverse x and count v from below, as it counts rows of textures."""
    height, width, _ = exported.colors.shape
    low, high, frames = (exported.remap[name] for name in ("Min", "Max", "Frames"))
    reversed_x = np.array((-1, 1, 1))
    found = run(
        exported,
        glsl_of(UNITY.replace("LINES", lines_of("Unity")), exported.folder),
        colors=exported.colors[::-1],
        inputs={
            "at_rest": exported.positions * reversed_x,
            "uv": np.array((0, 1)) + exported.places * (1, -1),
        },
        uniforms={
            "_Offsets_TexelSize": (1 / width, 1 / height, width, height),
            "_Low": (*low, 0),
            "_High": (*high, 0),
            "_Frames": frames,
        },
        clock="_Time",
    )
    assert off(found, exported.wanted * reversed_x) < NEAR


UNREAL = """
Texture2D Offsets;
SamplerState OffsetsSampler;
float3 Low, High;
float Time, Frames, Height;
float4 Texture2DSampleLevel(Texture2D image, SamplerState how, float2 place, float level)
{
    return image.SampleLevel(how, place, level);
}
float3 custom(float2 TexCoord)
{
LINES
}
void main(float3 at_rest : POSITION, float2 uv : TEXCOORD1,
          out float4 place : SV_Position, out float3 moved_out : TEXCOORD0)
{
    moved_out = at_rest + custom(uv);
    place = float4(moved_out, 1.0);
}
"""
"""What Unreal puts around a Custom node."""


def test_unreal_s_lines(exported: Exported) -> None:
    """It has Z upwards, left-handed, in centimetres: its reader of glTF swaps y and z."""
    low, high, frames = (exported.remap[name] for name in ("Min", "Max", "Frames"))
    found = run(
        exported,
        glsl_of(UNREAL.replace("LINES", lines_of("Unreal")), exported.folder),
        inputs={"at_rest": 100 * exported.positions[:, [0, 2, 1]], "uv": exported.places},
        uniforms={
            "Low": low,
            "High": high,
            "Frames": frames,
            "Height": exported.colors.shape[0],
        },
        clock="Time",
    )
    assert off(found, 100 * exported.wanted[:, :, [0, 2, 1]]) < 100 * NEAR


THREE = """
const THREE = await import("three");
const { EXRLoader } = await import("three/addons/loaders/EXRLoader.js");
const { GLTFLoader } = await import("three/addons/loaders/GLTFLoader.js");
const { scene } = await new GLTFLoader().loadAsync("Cape.glb");
const mesh = scene.getObjectByProperty("isMesh", true);
mesh.material = new THREE.ShaderMaterial({
  depthTest: false,
  blending: THREE.NoBlending,
  vertexShader: `
    attribute float number;
    varying vec3 at;
    void main() {
      #include <begin_vertex>
      at = transformed;
      gl_Position = vec4((number + 0.5) / COUNT.0 * 2.0 - 1.0, 0.0, 0.0, 1.0);
      gl_PointSize = 1.0;
    }`,
  fragmentShader: "varying vec3 at; void main() { gl_FragColor = vec4(at, 1.0); }",
});
LINES
const numbers = Float32Array.from({ length: COUNT }, (_, number) => number);
mesh.geometry.setAttribute("number", new THREE.BufferAttribute(numbers, 1));
const points = new THREE.Points(mesh.geometry, mesh.material);
points.frustumCulled = false;
const inside = new THREE.Scene().add(points);
const renderer = new THREE.WebGLRenderer();
const target = new THREE.WebGLRenderTarget(COUNT, 1, { type: THREE.FloatType });
renderer.setRenderTarget(target);
return TIMES.map((time) => {
  values.time.value = time;
  renderer.render(inside, new THREE.PerspectiveCamera());
  const colors = new Float32Array(4 * COUNT);
  renderer.readRenderTargetPixels(target, 0, 0, COUNT, 1, colors);
  return Array.from(colors).filter((_, place) => place % 4 < 3);
});
"""
"""Draws the place of each vertex as the color of a pixel of its own."""


def test_the_lines_of_three_js(exported: Exported) -> None:
    times = [(frame + 0.5) / 24 for frame in FRAMES]
    script = THREE.replace("LINES", lines_of("three.js")).replace("TIMES", str(times))
    count = len(exported.positions)
    found = found_by(script.replace("COUNT", str(count)), exported.folder)
    assert off(np.array(found).reshape(len(FRAMES), count, 3), exported.wanted) < NEAR


PACKAGES = ("babylonjs@9.35.0", "babylonjs-loaders@9.28.0", "fflate@0.8.2")
BABYLON = """
for (const name of ["babylonjs/babylon.js", "babylonjs-loaders/babylon.glTF2FileLoader.js"]) {
  await new Promise((done) => {
    const script = document.createElement("script");
    script.src = `node_modules/${name}`;
    script.onload = done;
    document.head.append(script);
  });
}
const engine = new BABYLON.Engine(document.createElement("canvas"));
const scene = new BABYLON.Scene(engine);
scene.activeCamera = new BABYLON.FreeCamera("Camera", BABYLON.Vector3.Zero(), scene);
const { meshes } = await BABYLON.SceneLoader.ImportMeshAsync("", "./", "Cape.glb", scene);
const mesh = meshes.find((each) => each.getTotalVertices());
mesh.material ??= new BABYLON.PBRMaterial("Cloth", scene);
LINES
class Measured extends BABYLON.MaterialPluginBase {
  constructor(material) {
    super(material, "Measured", 300);
    this._enable(true);
  }
  getClassName() { return "Measured"; }
  getAttributes(attributes) { attributes.push("number"); }
  getCustomCode(stage) {
    return stage === "vertex" ? {
      CUSTOM_VERTEX_DEFINITIONS: "attribute float number; varying vec3 at;",
      CUSTOM_VERTEX_MAIN_END: `
        at = positionUpdated;
        gl_Position = vec4((number + 0.5) / COUNT.0 * 2.0 - 1.0, 0.0, 0.0, 1.0);
        gl_PointSize = 1.0;`,
    } : {
      CUSTOM_FRAGMENT_DEFINITIONS: "varying vec3 at;",
      CUSTOM_FRAGMENT_MAIN_END: "gl_FragColor = vec4(at, 1.0);",
    };
  }
}
new Measured(mesh.material);
mesh.material.pointsCloud = true;
mesh.setVerticesData("number", Float32Array.from({ length: COUNT }, (_, at) => at), false, 1);
const size = { width: COUNT, height: 1 };
const options = { type: BABYLON.Constants.TEXTURETYPE_FLOAT, generateMipMaps: false };
const target = new BABYLON.RenderTargetTexture("Target", size, scene, options);
target.renderList = [mesh];
await scene.whenReadyAsync();
const found = [];
for (const time of TIMES) {
  moved.time = time;
  target.render();
  const colors = await target.readPixels();
  found.push(Array.from(colors).filter((_, place) => place % 4 < 3));
}
return found;
"""


def test_the_lines_of_babylon_js(exported: Exported) -> None:
    times = [(frame + 0.5) / 24 for frame in FRAMES]
    script = BABYLON.replace("LINES", lines_of("Babylon.js")).replace("TIMES", str(times))
    count = len(exported.positions)
    found = found_by(script.replace("COUNT", str(count)), exported.folder, PACKAGES)
    assert off(np.array(found).reshape(len(FRAMES), count, 3), exported.wanted) < NEAR
