"""A body has the material that it was given, until its settings are others."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.hair import hair
from tests.blender.scenes import baked, ball, blender, body, line, select, sheet, verlet

Addon = Callable[[str], ModuleType]


@pytest.fixture
def label(addon: Addon) -> Callable[[Any], str]:
    """What the panel calls a body's material."""
    found = addon("blender.settings.materials").material_label
    return lambda obj: str(found(obj.verlet))


def test_every_material_of_the_core_can_be_given(addon: Addon, label: Any) -> None:
    """With its type, and with settings that the core takes."""
    cloth, locks = body(sheet()), hair()
    for name, material in addon("core.materials").MATERIALS.items():
        obj = locks if material.settings.body_type == "HAIR" else cloth
        select(obj)
        assert verlet.set_material(material=name) == {"FINISHED"}
        settings = addon("blender.settings.core_settings").body_settings(obj)
        assert settings.body_type == material.settings.body_type
        for setting in addon("core.materials").MATERIAL_SETTINGS:
            wanted = pytest.approx(getattr(material.settings, setting), rel=1e-6)
            assert getattr(settings, setting) == wanted, (name, setting)
        assert label(obj) == material.label


def test_only_the_selected_bodies_get_it() -> None:
    others, plain = body(sheet("Other")), sheet("Plain")
    first, second = body(sheet("First")), body(sheet("Second"))
    select(first, second, plain)
    verlet.set_material(material="DENIM")
    assert [obj.verlet.material for obj in (first, second)] == ["DENIM", "DENIM"]
    assert [obj.verlet.material for obj in (others, plain)] == ["NONE", "NONE"]
    assert not plain.verlet.enabled


def test_without_a_body_the_button_is_grey() -> None:
    sheet()
    assert not verlet.set_material.poll()


def test_the_panel_says_when_settings_are_no_longer_those(label: Any) -> None:
    """And says no more once they are back; what a material leaves alone changes nothing."""
    obj = body(sheet())
    assert label(obj) == "None"
    verlet.set_material(material="SILK")
    obj.verlet.thickness = 0.02
    assert label(obj) == "Silk"
    before = obj.verlet.bend_compliance
    obj.verlet.bend_compliance = 7.0
    assert label(obj) == "Silk (changed)"
    obj.verlet.bend_compliance = before
    assert label(obj) == "Silk"
    obj.verlet.use_density = False
    assert label(obj) == "Silk (changed)"


def test_a_type_brings_a_material_that_fits(label: Any) -> None:
    """Chosen in the panel; one that fits already is kept."""
    obj = body(sheet())
    obj.verlet_type = "ROPE"
    assert label(obj) == "Hemp"
    obj.verlet_type = "CLOTH"
    assert label(obj) == "Cotton"
    verlet.set_material(material="WOOL")
    obj.verlet_type = "CLOTH"
    assert label(obj) == "Wool"


def test_the_button_brings_a_material_and_a_script_does_not(label: Any) -> None:
    """What scripts set after `convert` must not be outweighed by a density."""
    cloth, rope = body(sheet()), body(line())
    assert label(cloth) == label(rope) == "None"
    assert cloth.verlet.mass == 0.5
    assert not cloth.verlet.use_density
    verlet.release()
    jelly = ball()
    select(cloth, rope, jelly)
    verlet.convert()
    assert (label(cloth), label(rope)) == ("Cotton", "Hemp")
    assert label(jelly).startswith("Gelatin")


def test_what_is_added_has_a_material_unless_that_is_unwanted(label: Any) -> None:
    """From a script as from the menu; new jelly is as stiff as its size needs."""
    for name, expected in (("cloth", "Cotton"), ("rope", "Hemp"), ("jelly", "Gelatin (stiffer)")):
        add: Any = getattr(verlet, f"add_{name}")
        add()
        assert label(bpy.context.object) == expected
        add(use_material=False)
        assert label(bpy.context.object) == "None"


def test_jelly_too_high_for_its_material_is_made_stiffer(label: Any) -> None:
    """Blender's own cube would melt into a puddle; a dessert keeps what its material says."""
    for size, expected in ((2.0, "Gelatin (stiffer)"), (0.1, "Gelatin")):
        bpy.ops.mesh.primitive_cube_add(size=size, location=(0.0, 0.0, size))
        obj: Any = bpy.context.object
        verlet.convert(body_type="SOFT")
        assert label(obj) == expected
        verlet.bake(frame_start=1, frame_end=48)
        height = float(np.ptp(list(baked(obj).values())[-1][:, 2]))
        assert height > 0.85 * size
        bpy.data.objects.remove(obj)


def test_new_jelly_keeps_its_shape_with_its_material() -> None:
    """It weighs a ton, and bulges by as little as without."""
    verlet.add_jelly(size=1.0, resolution=4)
    obj: Any = bpy.context.object
    obj.verlet.resolution = 4
    verlet.bake(frame_start=1, frame_end=48)
    assert np.ptp(list(baked(obj).values())[-1], axis=0) == pytest.approx([1.0] * 3, abs=0.06)


def test_a_released_body_has_no_material() -> None:
    obj = body(sheet())
    verlet.set_material(material="PAPER")
    verlet.release()
    assert obj.verlet.material == "NONE"
    assert not obj.verlet.is_property_set("bend_compliance")


def test_linked_bodies_keep_theirs(tmp_path: Path) -> None:
    """Then none is changed."""
    body(sheet("Away"))
    path = str(tmp_path / "away.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.link(filename="Away", directory=f"{path}/Object/")
    here = body(sheet("Here"))
    select(here)
    bpy.data.objects["Away"].select_set(True)
    with pytest.raises(RuntimeError, match="Away is linked from another file"):
        verlet.set_material(material="SILK")
    assert here.verlet.material == "NONE"


def test_a_file_keeps_its_material_without_the_add_on(tmp_path: Path, label: Any) -> None:
    """Saved with it, opened and saved by a Blender without, and opened with it again."""
    body(sheet("Curtain"))
    verlet.set_material(material="DENIM")
    path = str(tmp_path / "curtain.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    lines = [
        "import bpy, os",
        f"bpy.ops.wm.open_mainfile(filepath={path!r})",
        "assert not hasattr(bpy.types.Object, 'verlet')",
        f"bpy.ops.wm.save_as_mainfile(filepath={path!r})",
        "os._exit(0)",
    ]
    code = "\n".join(lines)
    if bpy.app.binary_path:
        start = [bpy.app.binary_path, "--background", "--factory-startup", "--python-expr", code]
    else:
        start = [sys.executable, "-c", code]
    subprocess.run(start, check=True, capture_output=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    curtain: Any = bpy.data.objects["Curtain"]
    assert curtain.verlet.use_density
    assert label(curtain) == "Denim"


@pytest.mark.skipif(
    bpy.app.version < (4, 5) and sys.version_info >= (3, 13),
    reason="Blender's presets up to 4.4 do not work in Python 3.13, which no Blender of theirs has",
)
def test_own_materials_are_kept_as_presets(
    label: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Blender's own presets are: a file that sets what a material sets."""
    obj = body(sheet())
    verlet.set_material(material="WOOL")
    obj.verlet.bend_compliance = 1234.0
    monkeypatch.setattr(bpy.utils, "user_resource", lambda *_, **__: str(tmp_path))
    assert blender.ops.verlet.add_material_preset(name="Felt") == {"FINISHED"}
    (preset,) = tmp_path.glob("**/*.py")
    verlet.set_material(material="HEMP")
    exec(preset.read_text(encoding="utf-8"), {})
    assert obj.verlet.body_type == "CLOTH"
    assert obj.verlet.bend_compliance == 1234.0
    assert label(obj) == "Wool (changed)"


def test_materials_of_hair_are_for_hair_alone() -> None:
    """A mesh cannot be hair, and hair nothing else."""
    sheet_body, locks = body(sheet()), hair()
    with pytest.raises(RuntimeError, match="Hair is hair, and Hemp is not meant"):
        verlet.set_material(material="HEMP")
    assert locks.verlet.material == "STRAIGHT"
    select(sheet_body)
    with pytest.raises(RuntimeError, match="Sheet is no hair, and Curly is hair"):
        verlet.set_material(material="CURLY")
