"""A report of faults tells what helps to mend one, and no name, word or path of the user."""

import json
import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.scenes import body, line, pin, sheet, verlet
from verlet_addon.core.remark import Remark

Addon = Callable[[str], ModuleType]
TELLING = ("Zarathustra", "Nachtflug", "Żółw", "Mirabelle", "Quokka", "🦊fox")
"""Words that the add-on does not use, of which all names here are made."""


def no_word_of_the_user(text: str) -> bool:
    """Whether none of the telling words is in a text."""
    return not [word for word in TELLING if word.casefold() in text.casefold()]


@pytest.fixture
def telling_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A baked file with telling names wherever a user gives them."""
    home = tmp_path / "Users" / "Quokka Mirabelle"
    monkeypatch.setattr(Path, "home", lambda: home)
    path = home / "Film Nachtflug" / "Żółw of Mirabelle.blend"
    path.parent.mkdir(parents=True)
    cloth: Any = body(sheet("Zarathustra's Cape 🦊fox"), mass=0.7)
    pin(cloth, [0])
    cloth.vertex_groups[0].name = cloth.verlet.pin_group = "Left Nachtflug"
    cloth.data.materials.append(bpy.data.materials.new("Mirabelle Silk"))
    rope = body(line("Quokka_rope_v07", height=2.0))
    table = sheet("Mirabelle/Table")
    table.modifiers.new("Quokka Collision", "COLLISION")
    hand = bpy.data.objects.new("Hand of Żółw", None)
    bpy.context.scene.collection.objects.link(hand)
    rope.vertex_groups.new(name="Nachtflug").add([0], 1.0, "REPLACE")
    item = rope.verlet.attachments.add()
    item.target, item.vertex_group = hand, "Nachtflug"
    bpy.context.scene.name, bpy.context.scene.frame_end = "Zarathustra 010", 4
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    verlet.bake()
    bpy.ops.wm.save_mainfile()
    return path


def messages_of(path: Path) -> list[str]:
    """Messages as a failed bake gives them, of things that are in the file, and that are not."""
    return [
        f"{path} cannot be written: Permission denied",
        f"cannot write {path.parent}, which is Quokka's; 3.5 m/s, at frame 7",
        r"C:\Users\Quokka Mirabelle\Nachtflug\Żółw.blend cannot be read: No space left on device",
        "shots/Nachtflug/anim.blend and //textures/Quokka.png are missing",
        "/mnt/shots of the cape/frames of a/cloth.blend is missing",
        "Zarathustra's Cape 🦊fox is stretched by 80% at frame 3; lower its Mass",
        "Old Quokka moved too fast: 5 m/s; give it more Steps per Second",
        "Driver of Mirabelle: name 'quokka_speed' is not defined 🦊fox",
    ]


def test_no_name_or_path_of_the_user_is_in_a_report(telling_file: Path, addon: Addon) -> None:
    """Of scene, objects, groups, modifiers, file, folders, user, nor of what is there no longer."""
    record, report = addon("blender.bake.record"), addon("blender.bake.fault_report")
    scene = bpy.context.scene
    told = [Remark(text, grade="SERIOUS") for text in messages_of(telling_file)]
    record.remember_remarks(scene, told)
    text = report.fault_report(scene, told)
    assert no_word_of_the_user(text), text
    assert not re.search(r"Users|blend\b.*blend|[\\/]\w+[\\/]", text)


def test_a_report_tells_what_helps(telling_file: Path, addon: Addon) -> None:
    """Versions, kernels, sizes, settings, which message is of which body, and what it says."""
    report, versions = addon("blender.bake.fault_report"), addon("blender.settings.versions")
    text = report.fault_report(bpy.context.scene, messages_of(telling_file))
    lines, kernels = text.splitlines(), addon("core.self_test").kernels().split()[0]
    assert lines[0] == versions.versions()
    assert f"Verlet {versions.addon_version()}, Blender {bpy.app.version_string} (" in lines[0]
    assert re.match(r"Bakes run .*; threads: \d+$", lines[1])
    for part in (
        "Scene 1: frames 1 to 4 at 24 a second, 10 steps a frame, 4 objects",
        "Cloth 1: CLOTH, 25 points, 16 faces, scale 1 1 1; modifiers none; baked frames 1 to 4, "
        f"RELATIVE, kernels {kernels}",
        "mass=0.7 pin_group=Vertex Group ",
        "Rope 1: ROPE, ",
        "  attached to Object ",
        "Collider Object ",
        "- warning: (path) cannot be written: Permission denied",
        "3.5 m/s, at frame 7",
        ": No space left on device",
        "- warning: (path) and (path) are missing",
        "- warning: (path) is missing",
        "- warning: Cloth 1 is stretched by 80% at frame 3; lower its Mass",
        "- warning: Old … moved too fast: 5 m/s; give it more Steps per Second",
    ):
        assert part in text, f"{part!r} is not in\n{text}"


@pytest.mark.usefixtures("telling_file")
def test_the_button_copies_the_messages_of_a_failed_bake(
    addon: Addon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bake that fails says why, and the next press copies that for a report."""
    rope: Any = bpy.data.objects["Quokka_rope_v07"]
    rope.verlet.attachments[0].vertex_group = "Mirabelle"
    with pytest.raises(RuntimeError, match="Quokka_rope_v07 has no vertex group Mirabelle"):
        verlet.bake()
    copied: list[str] = []
    operator = addon("blender.ui.report_operator")
    monkeypatch.setattr(operator, "copy", lambda _manager, text: copied.append(text))
    assert verlet.copy_report() == {"FINISHED"}
    assert "Last messages:\n- serious: Rope 1 has no vertex group … to attach to " in copied[0]
    assert no_word_of_the_user(copied[0])


@pytest.fixture
def faulty(
    telling_file: Path,  # noqa: ARG001
    addon: Addon,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[Exception], None]:
    """Has the operator Bake fail with an exception, from within a call elsewhere."""
    monkeypatch.setattr(addon("blender.settings.faults"), "_last", deque(maxlen=3))
    raising: list[Exception] = []

    def mirabelle(*_: object) -> None:
        raise raising.pop()

    def fail(error: Exception) -> None:
        raising.append(error)
        monkeypatch.setattr(addon("blender.ui.bake_operator"), "cautions", mirabelle)
        with pytest.raises(RuntimeError):
            verlet.bake()

    return fail


def test_a_report_tells_of_exceptions_by_modules_of_the_add_on(
    faulty: Callable[[Exception], None], telling_file: Path, addon: Addon
) -> None:
    """What happened and where in our code, without names of the user in what it says."""
    report = addon("blender.bake.fault_report")
    faulty(TypeError("unsupported operand type(s) for +: 'NoneType' and 'float'"))
    faulty(KeyError(f'key "Zarathustra\'s Cape 🦊fox" of Quokka not found in {telling_file}'))
    text = report.fault_report(bpy.context.scene)
    assert no_word_of_the_user(text), text
    assert "test_report" not in text
    assert not re.search(r"Users|py\", line", text)
    told = text.partition("Last exceptions:\n")[2]
    first, second = re.findall(r"^- .*(?:\n  .*)+", told, re.MULTILINE)
    assert first.startswith('- KeyError: key "Cloth 1" of … not found in (path)\n')
    assert second.startswith(
        "- TypeError: unsupported operand type(s) for +: 'NoneType' and 'float'"
    )
    for each in (first, second):
        assert re.search(
            r"^  blender/ui/bake_operator\.py \d+, in _begin\n  elsewhere$", each, re.M
        )


def test_a_fault_that_comes_again_is_told_once(
    faulty: Callable[[Exception], None], addon: Addon
) -> None:
    """As one of a handler does at each frame; mistakes of the user are none."""
    for _ in range(5):
        faulty(ZeroDivisionError("division by zero"))
    faulty(addon("core.errors").MeshError("Cape has no faces"))
    (fault,) = addon("blender.settings.faults").last_faults()
    assert (fault.kind, fault.message) == ("ZeroDivisionError", "division by zero")


def test_all_operators_and_handlers_keep_their_faults(
    addon: Addon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each operator of ours goes through the same decorator, each handler through `listed`."""
    faults, handlers = addon("blender.settings.faults"), addon("blender.scene.handlers")
    package = faults.__name__.removesuffix("blender.settings.faults")
    operators = [
        each
        for each in addon("blender.registration").CLASSES
        if issubclass(each, bpy.types.Operator)
    ]
    own = [each for each in operators if each.execute.__module__.startswith(package)]
    assert len(own) > 40
    assert [each for each in own if not hasattr(each.execute, "__wrapped__")] == []
    for name in dir(bpy.app.handlers):
        present = getattr(bpy.app.handlers, name)
        for each in present if isinstance(present, list) else ():
            if getattr(each, "__module__", "").startswith(package):
                assert hasattr(each, "__wrapped__"), (name, each)
    monkeypatch.setattr(faults, "_last", deque(maxlen=3))

    def broken(*_: object) -> None:
        raise IndexError("list index out of range")

    handlers.add_handlers({"frame_change_post": broken})
    try:
        bpy.context.scene.frame_set(2)
    finally:
        handlers.remove_handlers({"frame_change_post": broken})
    (fault,) = faults.last_faults()
    assert fault.message == "list index out of range"


def test_the_command_line_prints_a_report_of_a_file(
    telling_file: Path, cli: ModuleType, printed: Callable[[], Any]
) -> None:
    """As text and as JSON, of a file and of Blender alone; a file that is missing is told."""
    assert cli.main(["report", str(telling_file)]) == 0
    said = printed()
    assert "Cloth 1: CLOTH, 25 points" in said.out
    assert no_word_of_the_user(said.out + said.err)
    assert cli.main(["report", str(telling_file), "--json"]) == 0
    assert json.loads(printed().out)["report"] == said.out.strip()
    assert cli.main(["report"]) == 0
    assert printed().out.startswith("Verlet ")
    assert cli.main(["report", "missing.blend"]) == 3
