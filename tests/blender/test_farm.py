"""Jobs for render farms: Open Job Description, run by its own program, and Flamenco under Node."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.command_line import ROOT, keys_in, names, run
from tests.blender.test_batch import outputs

Printed = Callable[[], Any]

NODE = shutil.which("node")
SHIPPED = ROOT / "verlet_addon" / "blender" / "cli" / "flamenco_job.js"
"""The job type as the add-on has it."""
PAGE = ROOT / "docs" / "how_to" / "farm.md"
"""The manual on farms."""
needs_openjd = pytest.mark.skipif(find_spec("openjd") is None, reason="openjd-cli is not installed")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")


@pytest.fixture
def shots(blend: Path) -> Path:
    """A folder with two good shots and a broken one between them."""
    folder = blend.parent / "shots"
    for number in ("010", "020", "030"):
        (folder / number).mkdir(parents=True)
        content = b"BLENDER, but nothing else" if number == "020" else blend.read_bytes()
        (folder / number / "anim.blend").write_bytes(content)
    return folder


def openjd(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """Runs the program of Open Job Description."""
    return subprocess.run(
        [sys.executable, "-m", "openjd", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


# --- Open Job Description -----------------------------------------------------------------------


@pytest.mark.slow
@needs_openjd
def test_a_template_is_valid_and_a_broken_file_is_one_failed_task(
    cli: ModuleType, shots: Path, tmp_path: Path, printed: Printed
) -> None:
    """Each task is run apart, as farms do."""
    bundle, out = tmp_path / "bundle", tmp_path / "deep" / "out"
    options = ["--format", "openjd", "--output", str(bundle), "--output-dir", str(out)]
    chosen = ["--frames", "1", "3", "--object", "Rope", "--wedge", "gravity=1,-0.5"]
    pattern = str(shots / "*" / "anim.blend")
    assert cli.main(["job", pattern, *options, *chosen, "--json"]) == 0
    assert json.loads(printed().out)["tasks"] == 6
    checked = openjd("check", bundle / "template.json")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    values = json.loads((bundle / "parameter_values.json").read_text("utf-8"))["parameterValues"]
    given = [f"{each['name']}={each['value']}" for each in values]
    given += [f"Program={bpy.app.binary_path or sys.executable}", "LastFrame=2"]
    ended = {}
    for number in ("010", "020", "030"):
        task = [f"Input={number}/anim.blend", f"Name={number}_anim", "Wedge1=-0.5"]
        done = openjd(
            "run",
            bundle / "template.json",
            "--step=Bake",
            *(word for each in given for word in ("-p", each)),
            *(word for each in task for word in ("-tp", each)),
        )
        ended[number] = done.returncode
        assert ('"kind": "file", "code": 3' in done.stdout) == (number == "020"), done.stdout
    assert ended == {"010": 0, "020": 1, "030": 0}
    assert outputs(out) == ["010_anim_gravity=-0.5.blend", "030_anim_gravity=-0.5.blend"]
    found = keys_in(out / "030_anim_gravity=-0.5.blend")
    assert found == {"Cloth": [], "Rope": names(range(1, 3)), "Table": []}
    assert bpy.data.objects["Rope"].verlet.gravity == -0.5  # type: ignore[attr-defined]


@needs_openjd
@pytest.mark.slow
@pytest.mark.skipif(not PAGE.exists(), reason="the manual is not beside these tests")
def test_the_script_of_the_page_runs_again_what_failed(
    cli: ModuleType, shots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tasks first, also after one that fails; then that one alone."""
    options = ["--format", "openjd", "--output", "bundle", "--output-dir", str(tmp_path / "out")]
    monkeypatch.chdir(tmp_path)
    assert cli.main(["job", str(shots / "*" / "anim.blend"), *options, "--frames", "1", "2"]) == 0
    template = Path("bundle", "template.json")
    program = json.dumps(bpy.app.binary_path or sys.executable)
    text = re.sub(r'"default": "(blender|python)"', f'"default": {program}', template.read_text())
    template.write_text(text, "utf-8")
    (script,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    script = script.replace('["openjd",', f'[{sys.executable!r}, "-m", "openjd",')

    def ran(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", script, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    first = ran("bundle")
    assert (first.returncode, first.stderr) == (1, "")
    told = [line.split(" ", 3)[1:] for line in first.stdout.splitlines()]
    assert [each[:2] for each in told] == [["010_anim", "0"], ["020_anim", "3"], ["030_anim", "0"]]
    assert "020" in told[1][2]
    shutil.copy(shots / "010" / "anim.blend", shots / "020" / "anim.blend")
    again = ran("bundle", "failed.json")
    assert again.stdout == "020/anim.blend 020_anim 0 done\n"
    assert json.loads(Path("failed.json").read_text("utf-8")) == []


@needs_openjd
@pytest.mark.slow
def test_a_template_for_scenes_and_thousands_of_files_is_valid(
    cli: ModuleType, blend: Path, tmp_path: Path
) -> None:
    """A parameter of tasks has 1,024 values at most."""
    files = []
    for number in range(1100):
        files.append(str(tmp_path / f"{number}.blend"))
        os.link(blend, files[-1])
    options = ["--format", "openjd", "--output", str(tmp_path / "job"), "--output-dir", "out"]
    given = ["--scene", "Scene", "--set", "substeps=5", "--strict", "-y", "--step", "2"]
    assert cli.main(["job", *files, *options, *given]) == 0
    template = tmp_path / "job" / "template.json"
    assert openjd("check", template).returncode == 0
    steps = json.loads(template.read_text("utf-8"))["steps"]
    assert [step["name"] for step in steps] == ["Bake1", "Bake2"]
    words = steps[0]["script"]["actions"]["onRun"]["args"]
    assert {"--scene={{Task.Param.Scene}}", "--set=substeps=5", "--strict", "--step=2"} <= {*words}


def test_names_that_a_format_cannot_hold_are_told(
    cli: ModuleType, blend: Path, tmp_path: Path, printed: Printed
) -> None:
    for name, form, wedge in (
        ("a{{b}}", "openjd", "gravity=1"),
        ("a;b", "flamenco", "gravity=1"),
        ("plain", "openjd", "material=a/b"),
    ):
        path = tmp_path / f"{name}.blend"
        os.link(blend, path)
        options = ["--format", form, "--output", str(tmp_path / "job"), "--output-dir", "out"]
        assert cli.main(["job", str(path), *options, "--wedge", wedge]) == 2
        (told,) = printed().err.splitlines()
        assert name in told or "a/b" in told
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--set", "Flag.frictoin=1"], "names no setting of Flag that is a number, a switch or a"),
        (["--wedge", "substep=5,10"], "did you mean substeps?"),
        (["--set", "frictoin=1"], "did you mean friction?"),
        (
            ["--wedge", "Flag.friction=0.1,lots"],
            "--set Flag.friction=lots is invalid; give a number",
        ),
        (["--set", "material=silkk"], "is invalid; give one of NONE, SILK"),
    ],
)
def test_settings_that_no_file_can_have_are_told_before_the_farm_has_the_job(
    cli: ModuleType, blend: Path, tmp_path: Path, printed: Printed, given: list[str], told: str
) -> None:
    options = ["--format", "openjd", "--output", str(tmp_path / "job"), "--output-dir", "out"]
    assert cli.main(["job", str(blend), *options, *given]) == 1
    (line,) = printed().err.splitlines()
    assert told in line
    assert not (tmp_path / "job").exists()


def test_a_job_that_cannot_be_written_is_told(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    options = ["--format", "openjd", "--output", str(blend), "--output-dir", "out"]
    assert cli.main(["job", str(blend), *options]) == 3
    assert "Cannot write" in printed().err or "Cannot make" in printed().err


# --- any other farm -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_list_of_commands_has_a_line_for_each_bake(
    cli: ModuleType, shots: Path, tmp_path: Path
) -> None:
    listed, out = tmp_path / "shots.txt", tmp_path / "the out"
    options = ["--format", "commands", "--output", str(listed), "--output-dir", str(out)]
    chosen = ["--scene", "Sc*", "--frames", "1", "2", "--wedge", "gravity=1,2"]
    pattern = str(shots / "*" / "anim.blend")
    assert cli.main(["job", pattern, *options, *chosen, "--set", "substeps=5"]) == 0
    lines = [shlex.split(line) for line in listed.read_text("utf-8").splitlines()]
    codes = [run(*words[3:]).returncode for words in lines[1::2]]
    assert codes == [0, 3, 0]
    assert len(lines) == 6
    assert outputs(out) == ["010_anim_Scene_gravity=2.blend", "030_anim_Scene_gravity=2.blend"]
    assert keys_in(out / "030_anim_Scene_gravity=2.blend")["Rope"] == names(range(1, 3))
    assert bpy.context.scene.verlet.substeps == 5


# --- Flamenco -----------------------------------------------------------------------------------

COMPILE = """
const tasks = [], lines = [];
globalThis.print = (...words) => lines.push(words.join(" "));
globalThis.author = {
    Task: (name, type) => ({
        name, type, commands: [], addCommand(each) { this.commands.push(each); },
    }),
    Command: (name, parameters) => ({name, parameters}),
};
const script = require("fs").readFileSync(process.argv[1], "utf-8");
const {JOB_TYPE, compileJob} = new Function(script + "; return {JOB_TYPE, compileJob};")();
const settings = JSON.parse(process.argv[2]);
for (const each of JOB_TYPE.settings) {
    if (!(each.key in settings) && each.default !== undefined) settings[each.key] = each.default;
}
let error = null;
try {
    compileJob({settings, addTask: (task) => tasks.push(task)});
} catch (caught) {
    error = caught.message;
}
console.log(JSON.stringify({tasks, lines, error, keys: JOB_TYPE.settings.map((each) => each.key)}));
"""
"""The part of Flamenco Manager that compiles a job, as its documentation describes it."""


def compiled(script: Path, **settings: str) -> Any:
    """The tasks that a script makes of settings."""
    assert NODE is not None
    given = json.dumps({"blendfile": "/shots/open.blend", **settings})
    command = [NODE, "-e", COMPILE, str(script), given]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@needs_node
@pytest.mark.slow
def test_flamenco_s_job_type_makes_a_task_of_each_file_and_each_runs(
    cli: ModuleType, shots: Path, tmp_path: Path
) -> None:
    script, out = tmp_path / "scripts" / "verlet_bake.js", tmp_path / "deep" / "out"
    options = ["--format", "flamenco", "--output", str(script), "--output-dir", str(out)]
    chosen = ["--frames", "-1", "1", "--set", "Rope.pin_group=no such", "--wedge", "gravity=1,2"]
    pattern = str(shots / "*" / "anim.blend")
    assert cli.main(["job", pattern, *options, *chosen, "--wedge", "substeps=5"]) == 0
    found = compiled(script)
    assert (found["error"], found["lines"]) == (None, ["Verlet: 6 tasks"])
    tasks = {task["name"]: task for task in found["tasks"]}
    assert [*tasks] == [
        f"{number}_anim_gravity={gravity}_substeps=5"
        for number in ("010", "020", "030")
        for gravity in (1, 2)
    ]
    codes = []
    for number in ("010", "020"):
        task = tasks[f"{number}_anim_gravity=2_substeps=5"]
        ((command,), kind) = task["commands"], task["type"]
        assert (kind, command["name"], command["parameters"]["exe"]) == (
            "blender", "exec", "{blender}",
        )  # fmt: skip
        first, second, *words = command["parameters"]["args"]
        assert (first, second) == ("--command", "verlet")
        codes.append(run(*words).returncode)
    assert codes == [1, 3]  # the first for the vertex group that it has not
    words[words.index("--set=Rope.pin_group=no such")] = "--set=Rope.mass=2"
    good = [word.replace("020", "030") for word in words]
    assert run(*good).returncode == 0
    assert keys_in(out / "030_anim_gravity=2_substeps=5.blend")["Rope"] == names(range(-1, 2))
    assert bpy.context.scene.verlet.substeps == 5


@needs_node
def test_flamenco_s_settings_can_be_typed() -> None:
    """As the script is shipped, it bakes the open file."""
    found = compiled(
        SHIPPED, output_folder="C:\\out\\", wedges=" a = 1 , 2;b=x/y", scenes="S 1;S 2"
    )
    assert [task["name"] for task in found["tasks"]] == [
        f"open_S {scene}_a={value}_b=x_y" for scene in (1, 2) for value in (1, 2)
    ]
    words = found["tasks"][0]["commands"][0]["parameters"]["args"]
    assert words[2:6] == [
        "bake",
        "/shots/open.blend",
        "--output",
        "C:\\out/open_S 1_a=1_b=x_y.blend",
    ]
    assert "--scene=S 1" in words
    files = "D:\\shots\\010\\a.blend; D:\\shots\\020\\a.BLEND"
    found = compiled(SHIPPED, output_folder="/out", files=files, options='--strict "--set=a b=1"')
    assert [task["name"] for task in found["tasks"]] == ["010_a", "020_a"]
    assert found["tasks"][0]["commands"][0]["parameters"]["args"][-3:] == [
        "--strict", "--set=a b=1", "--json",
    ]  # fmt: skip


@needs_node
@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"frames": "1-250"}, "The frames 1-250 have to be"),
        ({"wedges": "gravity"}, "The wedge gravity has to be"),
        ({"files": "/a/x.blend; /a/x.blend"}, "Two tasks would write x.blend"),
    ],
    ids=["frames", "wedges", "files"],
)
def test_flamenco_tells_of_settings_that_are_wrong(settings: dict[str, str], what: str) -> None:
    assert compiled(SHIPPED, output_folder="/out", **settings)["error"].startswith(what)
