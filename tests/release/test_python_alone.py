"""The zip for extensions.blender.org, which is Python alone, passes what is quick of the suite."""

from pathlib import Path

from tests.release.conftest import DIST, MODULES, PROGRAMS, ROOT, run_in

PROGRAM = [*PROGRAMS, *MODULES][0]
"""The newest real Blender that is there, or Blender as a Python module."""
INSTALL = """
import sys
import bpy

bpy.ops.extensions.package_install_files(
    filepath=sys.argv[-1], repo="user_default", enable_on_install=True
)
bpy.ops.wm.save_userpref()
addon = sys.modules["bl_ext.user_default.verlet_soft_body.verlet_addon"]
self_test = sys.modules[f"{addon.__name__}.core.self_test"]
print(f"kernels: {self_test.fallback_reason()}.")
"""


def test_the_quick_suite_passes_on_the_zip_that_is_python_alone(tmp_path: Path) -> None:
    """In three minutes: forms of bakes, buttons, files, a law of each part of the simulation."""
    script, user = tmp_path / "install.py", tmp_path / "user"
    script.write_text(INSTALL, "utf-8")
    (path,) = (DIST / "extensions.blender.org").iterdir()
    installed = run_in(PROGRAM, user, script, path)
    said = installed.stdout + installed.stderr
    assert "kernels: this build of the add-on is Python alone." in said, said

    quick = "@" + str(Path(__file__).with_name("quick.txt").relative_to(ROOT))
    done = run_in(PROGRAM, user, ROOT / "tests" / "run_in_blender.py", quick, "-m", "not slow")
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    assert " passed" in done.stdout
