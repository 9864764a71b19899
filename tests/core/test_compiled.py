"""Whether there are compiled kernels for a machine or not, bakes go well and say which serve."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from verlet_addon.core.c_source import CORE
from verlet_addon.core.compiled import backend

LIBRARY = Path(getattr(backend().library, "_name", "")).name
SLOWLY = (
    "\nWithout compiled kernels (…) bakes take about ten times as long, and differ, at first "
    "only in the last digits; install the extension again from its zip, and restart Blender"
)
"""What is said besides, where nobody asked for it."""
BAKE = """
import numpy as np
from verlet_addon.core.self_test import _sheet, fallback_warnings, fallback_reason
from verlet_addon.core.errors import KernelError
from verlet_addon.core.scene import Sample
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate
mesh = _sheet(4)
samples = [Sample(k, 0.1 * k, np.array([0, 0, -9.81]), [mesh.positions], None) for k in (0, 1)]
try:
    *_, last = simulate([mesh], [BodySettings()], SceneSettings(), samples)
    assert np.isfinite(last.positions[0]).all()
    print(fallback_reason() or "compiled")
    for remark in fallback_warnings():
        print(remark.replace(fallback_reason(), "…"))
except KernelError as error:
    print("error:", error)
"""

pytestmark = pytest.mark.skipif(backend().library is None, reason="there is no library to copy")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the core and its library, to change at will."""
    shutil.copytree(CORE, tmp_path / "verlet_addon" / "core", ignore=lambda *_: ["__pycache__"])
    (tmp_path / "verlet_addon" / "__init__.py").touch()
    folder = tmp_path / "build" / "kernels" / "verlet_kernels"
    folder.mkdir(parents=True)
    shutil.copy(backend().library._name, folder / LIBRARY)
    return tmp_path


def say(checkout: Path, kernels: str = "") -> str:
    """Bakes in a process of its own; says which kernels served, or what went wrong."""
    environment = os.environ | {"PYTHONPATH": str(checkout), "VERLET_KERNELS": kernels}
    command = [sys.executable, "-c", BAKE]
    done = subprocess.run(
        command, env=environment, cwd=checkout, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_compiled_kernels_serve_where_there_are_any(checkout: Path) -> None:
    """Nothing has to be asked for."""
    assert say(checkout) == "compiled"
    assert say(checkout, "compiled") == "compiled"


def test_numpy_serves_where_it_is_asked_for(checkout: Path) -> None:
    """For tests, and to find out whether a fault is the library's."""
    assert say(checkout, "numpy") == "VERLET_KERNELS is set to 'numpy'"


def test_a_choice_there_is_not_is_refused(checkout: Path) -> None:
    """A slip of the pen must not choose silently."""
    assert say(checkout, "C") == (
        "error: VERLET_KERNELS is 'C'; set it to 'numpy' or 'compiled', or leave it out"
    )


def test_numpy_serves_where_there_is_no_library(checkout: Path) -> None:
    """A machine that nothing was compiled for bakes all the same."""
    shutil.rmtree(checkout / "build")
    reason = f"there are no compiled kernels for {sys.platform} here"
    assert say(checkout) == reason + SLOWLY
    assert say(checkout, "compiled") == f"error: VERLET_KERNELS is 'compiled', but {reason}"


def test_the_build_that_is_python_alone_tells_of_the_quick_one(checkout: Path) -> None:
    """It is as it should be, so that this is a hint, whatever kernels lie about."""
    core = checkout / "verlet_addon" / "core"
    for path in (*core.rglob("*.[ch]"), core / "source_digest.txt"):
        path.unlink(missing_ok=True)
    reason, hint = say(checkout).splitlines()
    assert reason == "this build of the add-on is Python alone"
    assert hint.endswith("; that with compiled kernels is quick")


def test_numpy_serves_where_the_library_is_of_another_version(checkout: Path) -> None:
    """Blender keeps a wheel as long as its version stays the same, whatever it holds."""
    (checkout / "verlet_addon" / "core" / "more.c").write_text("/* Something else. */\n")
    remedy = "restart Blender, or remove the add-on and install it again"
    assert say(checkout).endswith(f"belong to another version; {remedy}{SLOWLY}")


def test_numpy_serves_where_the_library_cannot_be_loaded(checkout: Path) -> None:
    """A file cut short, or made for another machine, does no harm."""
    (checkout / "build" / "kernels" / "verlet_kernels" / LIBRARY).write_bytes(b"no library")
    assert LIBRARY in say(checkout)


def test_numpy_serves_where_the_library_says_something_else(checkout: Path) -> None:
    """What does not agree with the reference on this machine is not used."""
    reference = checkout / "verlet_addon" / "core" / "bending" / "kernels.py"
    text = reference.read_text("utf-8")
    assert "MIN_SIDED_BEND = 1e-2" in text
    reference.write_text(text.replace("MIN_SIDED_BEND = 1e-2", "MIN_SIDED_BEND = 1.0"), "utf-8")
    said = say(checkout)
    assert said.startswith("on this machine the compiled kernels differ from NumPy by ")
    assert said.endswith(f" m{SLOWLY}")
