"""A driver that fails is told of by whoever bakes, and makes no two bakes of a scene differ."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import baked, blender, body, pin, sheet, verlet

Addon = Callable[[str], ModuleType]


@pytest.fixture
def cloth() -> Any:
    """A cloth that hangs on two corners, for eight frames."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 8
    obj = body(sheet("Cloth"), use_self_collision=True)
    pin(obj, [0, 4])
    return obj


@pytest.fixture
def told(addon: Addon) -> Callable[[], list[str]]:
    """What the panel says of drivers after the last bake."""
    remarks = addon("blender.bake.record").baked_remarks
    return lambda: [line for line in remarks(bpy.context.scene) if line.startswith("Drivers ")]


def drive(obj: Any, expression: str, path: str = "location") -> Any:
    """Drives the third of an object's numbers."""
    driver = obj.driver_add(path, 2).driver
    driver.expression = expression
    return driver


def motion() -> Any:
    """Bakes, and gives what the cloth's keys hold."""
    verlet.bake()
    return np.array(list(baked(bpy.data.objects["Cloth"]).values()))


@pytest.mark.parametrize(
    "expression",
    ["3 + 1 / (frame - 5)", "sqrt(5 - frame)", "3 + 1 / (frame - 5) + len([])", "3 + 1 / frame"],
)
def test_a_driver_that_fails_in_mid_bake_is_told_of_and_bakes_are_alike(
    cloth: Any, told: Any, expression: str
) -> None:
    """Of Python and of Blender's own arithmetic; the last fails where a bake asks for the speed."""
    drive(cloth, expression)
    first = motion()
    (sentence,) = told()
    assert sentence.startswith("Drivers do not work (Cloth location), ")
    again = motion()
    assert told() == [sentence]
    assert np.array_equal(again, first)


def test_the_operator_warns_of_a_driver_once(cloth: Any, capfd: pytest.CaptureFixture[str]) -> None:
    drive(cloth, "3 + 1 / (frame - 5)")
    for frame in (1, 5):  # where it works, and where it fails before the bake begins
        bpy.context.scene.frame_set(frame)
        capfd.readouterr()
        verlet.bake()
        text = "".join(capfd.readouterr())
        assert text.count("Drivers do not work (Cloth location)") == 1


def test_a_driver_is_told_of_before_the_error_that_it_leads_to(
    cloth: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    drive(cloth, "1 / (frame - 1)", "scale")
    bpy.context.scene.frame_set(1)
    capfd.readouterr()
    with pytest.raises(RuntimeError, match="Cloth has scale"):
        verlet.bake()
    assert "Drivers do not work (Cloth scale)" in "".join(capfd.readouterr())


def test_a_driver_that_has_been_mended_moves_what_it_did(cloth: Any, told: Any) -> None:
    """Blender goes on taking it for broken, where another datablock was mended."""
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    driver = drive(cloth, "height")
    variable = driver.variables.new()
    variable.name = "height"
    variable.targets[0].id, variable.targets[0].data_path = other, '["height"]'
    bpy.context.scene.frame_set(1)
    assert not driver.is_valid
    blender.data.objects["Other"]["height"] = 3.0
    other.update_tag()
    verlet.bake()
    assert told() == []
    assert cloth.matrix_world.translation.z == 3.0


def test_a_driver_in_a_library_is_named_with_it(cloth: Any, told: Any, tmp_path: Path) -> None:
    post = sheet("Post")
    drive(post, "3 + 1 / (frame - 5)")
    library = str(tmp_path / "library.blend")
    bpy.data.libraries.write(library, {post})
    bpy.data.objects.remove(post)
    with blender.data.libraries.load(library, link=True) as (_, linked):
        linked.objects = ["Post"]
    cloth.parent = bpy.data.objects["Post"]
    bpy.context.scene.collection.objects.link(cloth.parent)
    first = motion()
    (sentence,) = told()
    assert "(Post [library.blend] location)" in sentence
    assert np.array_equal(motion(), first)
    assert told() == [sentence]


def test_drivers_that_no_bake_depends_on_are_not_told_of(cloth: Any, told: Any) -> None:
    """One that works, one that is muted, and one of another scene."""
    drive(cloth, "3 + frame / 8")
    still = sheet("Still")
    drive(still, "1 / (frame - 5)")
    still.animation_data.drivers[0].mute = True
    away = sheet("Away")
    drive(away, "1 / (frame - 5)")
    bpy.context.scene.collection.objects.unlink(away)
    bpy.data.scenes.new("Elsewhere").collection.objects.link(away)
    verlet.bake()
    assert told() == []
