"""docs/reference/animation.md lists every setting: keyed, painted, or why it cannot be."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.hair import hair
from tests.blender.scenes import body, pin, sheet

Addon = Callable[[str], ModuleType]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "animation.md"
GROUPS = {
    "object.verlet": ("blender.settings.properties", "VERLET_PG_body"),
    "object.verlet.attachments[n]": (
        "blender.settings.attachment_properties",
        "VERLET_PG_attachment",
    ),
    "scene.verlet": ("blender.settings.scene_properties_group", "VERLET_PG_scene"),
}
OF_HAIR = {"follow_groom"}
"""Settings that no cloth has."""
Row = dict[str, str]

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the docs are not beside these tests")


def tables() -> dict[str, dict[str, Row]]:
    """Per group, the rows of its table by the names of the settings."""
    found: dict[str, dict[str, Row]] = {}
    group = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"Of .*`([\w.\[\]]+)`.*:$", line):
            group = heading[1]
            found[group] = {}
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[1].startswith("`"):
            keys = ("label", "name", "keys", "painted", "reason")
            row = dict(zip(keys, cells, strict=True))
            assert row["name"].strip("`") not in found[group], line
            found[group][row["name"].strip("`")] = row
    return found


def declared(addon: Addon, group: str) -> dict[str, Any]:
    """The RNA properties of a group, but for hidden ones."""
    module, name = GROUPS[group]
    kind = getattr(addon(module), name)
    inherited = set(bpy.types.PropertyGroup.bl_rna.properties.keys())
    properties = {k: v for k, v in kind.bl_rna.properties.items() if k not in inherited}
    # Blender knows no HIDDEN of collections, and its own name of every group is none of ours.
    private = {"baked_keys", "fitted_keys"}
    return {k: v for k, v in properties.items() if not v.is_hidden and k not in private}


@pytest.mark.parametrize("group", GROUPS)
def test_the_page_lists_every_setting_under_its_label(addon: Addon, group: str) -> None:
    shown, listed = declared(addon, group), tables()[group]
    assert set(listed) == set(shown)
    assert {name: row["label"] for name, row in listed.items()} == {
        name: each.name for name, each in shown.items()
    }


@pytest.mark.parametrize("group", GROUPS)
def test_the_page_says_which_can_be_keyed_and_why_others_cannot(addon: Addon, group: str) -> None:
    for name, shown in declared(addon, group).items():
        row = tables()[group][name]
        keyed = shown.is_animatable and shown.type not in ("POINTER", "COLLECTION")
        assert row["keys"] == ("yes" if keyed else "no"), name
        assert keyed or row["reason"], name


def test_groups_of_the_page_are_those_that_are_painted(addon: Addon) -> None:
    painted = addon("blender.settings.rest_shape_properties").PAINTED.values()
    rows = tables()["object.verlet"].values()
    named = {row["painted"].strip("`") for row in rows} - {""}
    assert named == {*painted, "pin_group", "follow_attribute"}


def values_of(shown: Any, wanted: Any) -> tuple[Any, Any]:
    """Two values of a setting to key, the first one its default."""
    if shown.type == "BOOLEAN":
        return shown.default, not shown.default
    if shown.type == "INT":
        return shown.default, shown.default + 3
    return wanted, wanted * 0.5 + 0.2


def keyed_settings(addon: Addon) -> Iterator[tuple[str, str, Any]]:
    """Group, name and property of each setting that can be keyed."""
    for group in GROUPS:
        for name, shown in sorted(declared(addon, group).items()):
            if shown.is_animatable and shown.type not in ("POINTER", "COLLECTION"):
                yield group, name, shown


def test_a_bake_and_live_simulation_read_every_keyed_setting_at_every_frame(addon: Addon) -> None:
    """Both take the same samples; each setting is keyed alone, and the samples have to differ."""
    scene: Any = bpy.context.scene
    scene.verlet.ground_height = 0.5
    obj = body(sheet("Cloth", height=2.0), body_type="CLOTH")
    pin(obj, [0, 1])
    held = obj.verlet.attachments.add()
    held.target = sheet("Mast", height=3.0)
    held.vertex_group = obj.vertex_groups.new(name="Held").name
    obj.vertex_groups["Held"].add([3], 1.0, "REPLACE")
    follower = hair()
    sampling = addon("blender.scene.sampling")
    prepare = addon("blender.bake.bake").prepare_stage
    same = addon("blender.bake.cache_changes").is_equal
    unread = []
    for group, name, shown in keyed_settings(addon):
        of_body = follower if name in OF_HAIR else obj
        owner, prefix = (scene if group == "scene.verlet" else of_body), "verlet."
        holder = held if "attachments" in group else owner.verlet
        path = f"{prefix}attachments[0].{name}" if "attachments" in group else prefix + name
        before = getattr(holder, name)
        for frame, value in zip((1, 3), values_of(shown, before), strict=True):
            setattr(holder, name, value)
            owner.keyframe_insert(path, frame=frame)
        stage = prepare(scene, bpy.context.view_layer, [of_body])
        samples = list(sampling.read_samples(stage, 1, 3))
        if same(samples[0], samples[2], but=("frame",)):
            unread.append(path)
        owner.animation_data_clear()
        setattr(holder, name, before)
    assert not unread
