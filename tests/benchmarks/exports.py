"""Exports every sample, and small scenes of each kind, and writes how far files are off.

`make exports` fills the table of docs/how_to/export.md.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

import verlet_addon
from tests.benchmarks.pages import Row, fill_table
from tests.blender.round_trips import FORMATS, round_trip
from tests.blender.scenes import verlet
from tests.blender.test_export import SCENES, baked_bodies
from verlet_addon.blender.cli.output_capture import quiet

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "docs" / "how_to" / "export.md"
FRAMES = 48
COLUMNS = [
    ("glTF", False),
    ("glTF", True),
    ("FBX", False),
    ("FBX", True),
    ("USD", False),
    ("USD", True),
    ("Alembic", False),
]


def bake_sample(path: Path) -> list[str]:
    """Opens a sample and bakes its first frames; returns the names of its bodies."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene: Any = bpy.context.scene
    scene.frame_end = min(scene.frame_end, FRAMES)
    # Blender 5.0 cannot read back lamps that it has written as FBX.
    for obj in [obj for obj in scene.objects if obj.type in ("LIGHT", "CAMERA")]:
        bpy.data.objects.remove(obj)
    verlet.bake()
    bodies = [obj for obj in scene.objects if obj.verlet.enabled]
    for body in bodies:
        body.data.name = body.name  # what the USD importer calls it by, where the object moves too
    return [obj.name for obj in bodies]


def bake_small(prepare: Callable[[Any], None]) -> list[str]:
    """Bakes one of the scenes of the tests in an empty file."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return baked_bodies(prepare)


def measure(label: str, make: Callable[[], list[str]]) -> Row:
    """One line of the table; a word for what is not there at all."""
    row = {"scene": label}
    with tempfile.TemporaryDirectory() as folder, quiet():
        bodies = make()
        blend = str(Path(folder, "baked.blend"))
        bpy.ops.wm.save_as_mainfile(filepath=blend)
        for name, preset in COLUMNS:
            bpy.ops.wm.open_mainfile(filepath=blend)
            form = FORMATS[name]
            settings = form.preset if preset else {}
            worst = max(round_trip(form, bodies, Path(folder), **settings).values())
            column = f"{name}, {'preset' if preset else 'default'}"
            row[column] = "missing" if worst == float("inf") else f"{worst:.1g}"
    return row


def main() -> None:
    """Measures everything and writes the table."""
    verlet_addon.register()
    scenes = [
        (f"{path.stem}.blend", lambda path=path: bake_sample(path))
        for path in sorted((ROOT / "sample_blends").glob("*.blend"))
    ] + [
        (str(prepare.__doc__).rstrip("."), lambda prepare=prepare: bake_small(prepare))
        for prepare in SCENES
    ]
    where = f"Blender {bpy.app.version_string}; how far any vertex is off at any frame, in metres."
    fill_table(REPORT, "table", where, [measure(label, make) for label, make in scenes])
    verlet_addon.unregister()


if __name__ == "__main__":
    main()
