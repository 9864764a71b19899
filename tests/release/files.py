"""Writes files as a release leaves them, which later ones are to open, play and go on with.

    build/bpy-4.2.23/bin/python -m tests.release.files

They go to tests/releases/VERSION.zip, written by the earliest Blender, which all others can read.
"""

import json
import shutil
import tomllib
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy

from tests.blender.scenes import body, line, pin, sheet, shown, verlet

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "releases"
FRAMES = 8
"""Frames that are baked."""
FORMS = {"keys": "RELATIVE", "cache": "CACHE"}
"""Names of the files, and forms of their bakes."""
BODIES = ("Sheet", "Line", "Jelly")


def fill() -> None:
    """A cloth and a rope that hang, and a jelly that falls beside them onto the ground."""
    cloth = body(sheet(height=1.0), mass=0.2)
    pin(cloth, [0, 4])
    pin(body(line(height=3.0), body_type="ROPE"), [0])
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=(3.0, 0.0, 0.3))
    jelly: Any = bpy.context.object
    jelly.name = "Jelly"
    body(jelly, body_type="SOFT", resolution=3)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.verlet.use_ground = True


def motion() -> dict[str, list[list[list[float]]]]:
    """Where the vertices of each body are shown at each frame, in micrometres."""
    frames = range(1, FRAMES + 1)
    return {
        name: [(shown(bpy.data.objects[name], frame) * 1e6).round().tolist() for frame in frames]
        for name in BODIES
    }


def main() -> None:
    """Writes the files of this version."""
    package = import_module("verlet_addon")
    package.register()
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))
    with TemporaryDirectory() as name:
        write(Path(name))
        shutil.make_archive(str(FOLDER / manifest["version"]), "zip", name)
    package.unregister()


def write(folder: Path) -> None:
    """Writes the files into a folder, and how they play."""
    played = {}
    for name, form in FORMS.items():
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        fill()
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"), compress=True)
        assert verlet.bake(mode=form, frame_start=1, frame_end=FRAMES) == {"FINISHED"}
        bpy.ops.wm.save_mainfile(compress=True)
        played[name] = motion()
    (folder / "motion.json").write_text(json.dumps(played), "utf-8")
    for backup in folder.glob("*.blend1"):
        backup.unlink()


if __name__ == "__main__":
    main()
