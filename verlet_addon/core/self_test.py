"""Self-test of the compiled kernels: on small bodies, their results must equal those of NumPy.

The test suite checks the library; this checks it on the user's machine.
"""

from functools import cache

import numpy as np

from .arrays import Floats
from .bodies.step_data import StepInputs
from .build import build
from .compiled import NUMPY_REQUESTED, PYTHON_ALONE, backend
from .inputs import mesh_from_faces
from .mesh import MeshData
from .remark import Remark
from .results import RESULTS
from .settings import BodySettings, SceneSettings
from .step import step
from .team.threads import thread_count

SIDE = 4
"""Size: vertices along each side of the sheets."""
DT = 1 / 240
"""[s]"""
STEPS = 3
"""Number of steps of each comparison."""
TOLERANCE = 1e-12
"""Largest difference of positions, on bodies half a metre wide [m]."""


@cache
def fallback_reason() -> str:
    """The reason for using the NumPy kernels; empty if compiled kernels are used.

    The first call tests the compiled kernels.

    Raises
    ------
    KernelError
        If the environment demands compiled kernels that are missing or fail the test.
    """
    found = backend()
    if found.library is not None:
        ours = _results()
        library, found.library = found.library, None
        try:
            reference = _results()
        finally:
            found.library = library
        apart = float(np.abs(ours - reference).max())
        if not apart <= TOLERANCE:
            found.fall_back(
                f"on this machine the compiled kernels differ from NumPy by {apart:.1g} m"
            )
    return found.reason if found.library is None else ""


def check_environment() -> None:
    """Selects the kernels, and checks VERLET_KERNELS and VERLET_THREADS.

    Raises
    ------
    KernelError
        If either of them cannot be satisfied.
    """
    fallback_reason()
    thread_count()


def fallback_warnings(quick_build: str = "that with compiled kernels") -> list[Remark]:
    """A warning for the user, if the NumPy kernels are used without being asked for.

    Where none belong to the add-on it is no more than a hint, which names the quick build.
    """
    reason = fallback_reason()
    if reason in ("", NUMPY_REQUESTED):
        return []
    alone = reason == PYTHON_ALONE
    remedy = "install the extension again from its zip, and restart Blender"
    return [
        Remark(
            f"Without compiled kernels ({reason}) bakes take about ten times as long, and differ, "
            f"at first only in the last digits; {f'{quick_build} is quick' if alone else remedy}",
            grade="INFO" if alone else "SERIOUS",
        )
    ]


def kernels() -> str:
    """The kernels in use, NumPy or compiled, with the number of their results."""
    return f"{'NumPy' if fallback_reason() else 'compiled'}, results {RESULTS}"


def _results() -> Floats:
    """(3, k) positions of the test bodies after STEPS steps with the current kernels [m]."""
    gravity, settings = np.array([0.0, 0.0, -9.81]), BodySettings()
    meshes = [_sheet(3), _sheet(4)]
    bodies = [build(mesh, settings, gravity=gravity, dt=DT) for mesh in meshes]
    inputs = StepInputs(
        dt=DT,
        gravity=gravity,
        targets=[mesh.positions.T for mesh in meshes],
        fields=[()] * len(meshes),
        ground=None,
        ground_shift=np.zeros(3),
    )
    for _ in range(STEPS):
        step(bodies, SceneSettings(), inputs)
    return np.concatenate([state.positions for _, state in bodies], axis=1)


def _sheet(corners: int) -> MeshData:
    """A bumpy sheet of triangles or quads, with a rope at one corner that forks."""
    rows, columns = np.mgrid[:SIDE, :SIDE].reshape(2, -1)
    sheet = np.stack([columns, rows, 0.3 * np.sin(rows * columns)], axis=1)
    tail = [[SIDE, 0.0, 0.0], [SIDE + 1.0, 0.0, 0.5], [SIDE + 1.0, 1.0, 0.0]]
    positions = np.concatenate([sheet, tail]) / (2.0 * SIDE)
    first = np.flatnonzero((rows < SIDE - 1) & (columns < SIDE - 1))
    cells = first[:, None] + [0, 1, SIDE + 1, SIDE]
    faces = cells if corners == 4 else np.concatenate([cells[:, :3], cells[:, [0, 2, 3]]])
    start = SIDE * SIDE
    ropes = [[SIDE - 1, start], [start, start + 1], [start, start + 2]]
    return mesh_from_faces(positions, faces.tolist(), edges=ropes, pinned=[start - 1])
