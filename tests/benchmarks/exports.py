"""Exports every sample, and small scenes of each kind, and writes how far files are off.

`make exports` fills the table of docs/export.md.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

import verlet_addon
from tests.blender.round_trips import FORMATS, round_trip
from tests.blender.scenes import verlet
from tests.blender.test_export import SCENES, baked_bodies
from verlet_addon.blender.quiet import quiet

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "docs" / "export.md"
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
    return [obj.name for obj in scene.objects if obj.verlet.enabled]


def bake_small(prepare: Callable[[Any], None]) -> list[str]:
    """Bakes one of the scenes of the tests in an empty file."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return baked_bodies(prepare)


def measure(label: str, make: Callable[[], list[str]]) -> str:
    """One line of the table; a sign for what is not there at all."""
    cells = [label]
    with tempfile.TemporaryDirectory() as folder, quiet():
        bodies = make()
        blend = str(Path(folder, "baked.blend"))
        bpy.ops.wm.save_as_mainfile(filepath=blend)
        for name, preset in COLUMNS:
            bpy.ops.wm.open_mainfile(filepath=blend)
            form = FORMATS[name]
            settings = form.preset if preset else {}
            distances = round_trip(form, bodies, Path(folder), **settings)
            worst = max(distances.values())
            cells.append("missing" if worst == float("inf") else f"{worst:.1g}")
    return f"| {' | '.join(cells)} |"


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
    heads = [f"{name}, {'preset' if preset else 'default'}" for name, preset in COLUMNS]
    lines = [
        f"Blender {bpy.app.version_string}; how far any vertex is off at any frame, in metres.",
        "",
        f"| scene | {' | '.join(heads)} |",
        f"|---|{'---|' * len(heads)}",
        *(measure(label, make) for label, make in scenes),
    ]
    head, mark, rest = REPORT.read_text(encoding="utf-8").partition("<!-- table -->\n")
    _, end, tail = rest.partition("<!-- end -->")
    REPORT.write_text(f"{head}{mark}{chr(10).join(lines)}\n{end}{tail}", encoding="utf-8")
    verlet_addon.unregister()


if __name__ == "__main__":
    main()
