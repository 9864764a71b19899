"""Pages for users name buttons, fields and panels by the labels that the interface has."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.test_docs import INDEX, README, ROOT

PAGES = [
    README,
    *(page for part in ("start", "how_to") for page in (INDEX.parent / part).glob("*")),
]
OF_BLENDER = {
    *("Add", "Add Remote Repository", "Add-ons", "Apply", "Assign to New Group", "Automatic"),
    *("Bridge Edge Loops", "Clean Up", "Clear", "Collision", "Ctrl A", "Delete", "Dimensions"),
    *(
        "Edge",
        "Edit",
        "Enter",
        "Esc",
        "Export",
        "F1",
        "F3",
        "File",
        "Force Field",
        "Get Extensions",
    ),
    *(
        "Import",
        "Install from Disk…",
        "Item",
        "Loose Edges",
        "Merge by Distance",
        "Mesh",
        "Modifiers",
    ),
    *("New", "Noise", "Normals", "Object", "Only Faces", "Physics", "Pose Mode", "Preferences"),
    *("Properties", "Recalculate Outside", "Repositories", "Reset", "Scale", "Shift", "Shift P"),
    *("Size", "Space", "Strength", "Subdivide", "Turbulence", "Vertex", "Vertex Groups", "Wave"),
    *("Weight Paint", "Wind", "Tab", "N", "End", "Start", "+", "glTF 2.0", "Viewport Overlays"),
    *("Extrapolation", "Linear", "Baked Soft Bodies", "flat shading", "Skeletal Mesh"),
    "Collider",
}
"""Labels of Blender's own interface and of other add-ons, keys, and presets."""
STRESSED = {
    *("A bridge", "A chain", "A pole that moves", "A rope", "A stone", "A throw", "A winch"),
    *("Bake to a Cache", "Bounce", "By a drag", "Calmer", "Card", "Cells of jelly and flesh"),
    *(
        "Colors",
        "Contacts",
        "Curved stiff meshes",
        "Curves",
        "Direction",
        "Eddies",
        "FBX",
        "Faces",
        "Figure",
    ),
    *(
        "Flat",
        "Folds that pass through each other",
        "Frames of the scene",
        "Garments",
        "Babylon.js",
        "Godot",
        "Godot, three.js, Babylon.js",
        "Gusts",
    ),
    *(
        "Irregular meshes",
        "Kernels",
        "Long shots",
        "Net",
        "One clip",
        "OpenCue",
        "Ropes without faces",
    ),
    *(
        "Scripts",
        "Seams",
        "Shores",
        "Slow",
        "Slurm",
        "Soft bones",
        "Steps",
        "Surroundings",
        "The leak",
    ),
    *("The first frame", "Unity", "Unreal", "Verlet Bake", "Vertices", "What holds them"),
    *("Without an end", "bones", "character with a rig", "checkbox", "hides the bake", "instance"),
    *("jumps", "jumps at the start", "normals", "open", "pinned", "range of the bake", "scale"),
    *("cache", "collider", "drape", "live simulation", "material"),
    *(
        "start inside",
        "strip",
        "three.js",
        "vertex animation texture",
        "Flesh",
        "Hair",
        "Export",
        "Bodies",
    ),
}
"""Words that are stressed, and are no labels."""
SOFTNESS = {"Softness: Bend", "Softness: Shear", "Softness: Stretch"}
"""A heading of the panel, with a field below it."""


@cache
def labels() -> re.Pattern[str]:
    """A pattern of all texts of the add-on, with anything where one is filled in."""
    found: set[str] = set()
    for path in (ROOT / "verlet_addon" / "blender").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Constant(str(text)) if text[:1].isupper() and len(text) < 60:
                    found.add(re.escape(text))
                case ast.JoinedStr([ast.Constant(str(text)), *_]) if text[:1].isupper():
                    found.add(re.escape(text.strip()) + ".*")
    return re.compile("|".join(sorted(found, key=len, reverse=True)))


def unknown(text: str) -> set[str]:
    """The bold words of a page that are neither labels nor only stressed."""
    bold = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(re.findall(r"\*\*.+?\*\*", text)))
    paths = re.findall(r"\*\*(.+?)\*\*", bold)
    names = {name.strip(" .:?,") for path in paths for name in path.split(" ▸ ")}
    rest = names - OF_BLENDER - STRESSED - SOFTNESS
    return {name for name in rest if not labels().fullmatch(name)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.stem))
def test_labels_in_pages_are_those_of_the_interface(page: Path) -> None:
    """Where a label has changed, mend the page; where a word is only stressed, add it above."""
    assert unknown(page.read_text(encoding="utf-8")) == set()


def test_a_label_that_the_interface_does_not_have_is_found() -> None:
    text = "Press **Make Soft Body**, **Make Hard Body** and **Add ▸ Mesh ▸ Vermicelli**."
    assert unknown(text) == {"Make Hard Body", "Vermicelli"}
