"""The samples of the manual: a menu of files to bake, each opened as a new file without a name."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import EnumProperty

from ..scene.file_context import file_context
from .operators import cancelled_by_errors
from .panel_base import layout_of

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

FOLDER = Path(__file__).parents[3] / "sample_blends"
"""The folder of the samples, beside the package in the extension as in the source."""
MARK = "verlet_sample"
"""Custom property of the scene of a sample, until it is opened."""
SAMPLES = {
    "Cloth": {
        "flag_in_wind": ("Flag in Wind", "A flag that hangs until the wind rises, and blows"),
        "flag": ("Waved Flag", "A flag on a pole that is waved from side to side"),
        "curtain": ("Curtain", "A curtain that is drawn aside, and gathers in folds"),
        "covered_table": ("Tablecloth", "A cloth that falls over a table with things on it"),
        "torn_banner": ("Torn Banner", "A banner that a storm tears where it was split before"),
        "fabrics": ("Five Fabrics", "Silk, wool, cotton, leather and denim on round tables"),
        "pile": ("Pile of Cloths", "Three cloths that fall onto a block, and on each other"),
    },
    "Garments": {
        "cape": ("Cape", "A cape on a figure that walks"),
        "dress": ("Sewn Dress", "Two panels that are sewn together round a figure"),
        "dancer": ("Dressed Dancer", "Somebody who turns round, in shirt, skirt and cape"),
        "sitter": ("Dressed Sitter", "Somebody who sits down, in shirt, skirt and cape"),
    },
    "Ropes": {
        "rope_bridge": ("Rope Bridge", "A bridge with hand ropes, pennants and two loose ropes"),
        "winch": ("Winch", "A rope that is wound up by a capsule that turns"),
        "rope": ("Swung Rope", "A rope between two posts, of which a crank swings one end"),
    },
    "Jelly, Balloon, Water": {
        "jellies": ("Jelly", "A bear and a cube of jelly, which drop and wobble"),
        "beach_ball": ("Beach Ball", "A ball that is thrown, bounces, and loses its air"),
        "ragdoll": ("Ragdoll", "A doll of rigid parts that tumbles down a staircase"),
        "pond": ("Pond", "Water that a stone falls into, and across which a ball glides"),
    },
    "Bones and Flesh": {
        "fox": ("Fox", "Soft bones: a fox whose tail and ears follow through"),
        "girl": ("Girl", "Soft bones: a girl with a ponytail and a skirt of bones"),
        "jumper": ("Heavy Person", "Flesh on somebody who jumps, in a shirt"),
        "seal": ("Seal", "Flesh on a seal that hops along"),
    },
    "Hair": {
        "long_hair": ("Long Hair", "Long hair on a head that turns"),
        "curls": ("Curls", "Curls on a head that hops"),
        "ponytail": ("Ponytail", "Hair that a band holds, on a head that nods and turns"),
        "fur": ("Fur", "Fur on an animal that runs"),
    },
}
"""Label and description of each file, by groups."""


def _items() -> list[tuple[str, str, str]]:
    """The samples as items of an enum; each group is a column with its heading in a menu."""
    items = []
    for group, files in SAMPLES.items():
        items.append(("", group, ""))
        items += [(name.upper(), *texts) for name, texts in files.items()]
    return items


class VERLET_OT_open_sample(bpy.types.Operator):
    """Open a sample of the manual, ready to bake, as a new file"""

    bl_idname = "verlet.open_sample"
    bl_label = "Open Sample"
    bl_options = {"INTERNAL"}

    name: EnumProperty(
        name="Sample",
        description="What to open",
        items=_items(),
        default="FLAG_IN_WIND",  # Blender would take a heading
    )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """What the sample under the mouse shows."""
        chosen = properties.bl_rna.properties["name"].enum_items[properties.name]
        return str(chosen.description)

    def invoke(
        self, _context: bpy.types.Context, _event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        return self._open("INVOKE_DEFAULT")

    @cancelled_by_errors
    def execute(self, _context: bpy.types.Context) -> "set[OperatorReturnItems]":
        return self._open("EXEC_DEFAULT")

    def _open(self, how: str) -> "set[OperatorReturnItems]":
        """Opens it as File ▸ New opens a template; invoked, that asks before changes are lost."""
        files: Any = bpy.ops.wm
        path = FOLDER / f"{self.name.lower()}.blend"
        files.read_homefile(how, filepath=str(path), load_ui=False)
        return {"FINISHED"}


class VERLET_MT_samples(bpy.types.Menu):
    """Open a scene of the manual, ready to bake, as a new file"""

    bl_label = "Samples"

    def draw(self, _context: bpy.types.Context) -> None:
        layout_of(self).operator_enum("verlet.open_sample", "name")


def draw_new_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the samples to File ▸ New."""
    layout_of(self).separator()
    layout_of(self).menu("VERLET_MT_samples", text="Verlet Samples", icon="MOD_SOFT")


def _after_load(_path: Any = None, _other: Any = None) -> None:
    """Shows a sample that was opened through its camera."""
    if any(each.pop(MARK, None) for each in bpy.data.scenes):
        for window in file_context(bpy.context).window_manager.windows:
            for area in window.screen.areas:
                if isinstance(space := area.spaces.active, bpy.types.SpaceView3D):
                    cast(Any, space.region_3d).view_perspective = "CAMERA"


HANDLERS: dict[str, Any] = {"load_post": _after_load}
