"""The last digit is the same wherever a bake runs, for where cloth folds it decides."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from math import acos, cos, exp, expm1, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import floor, frames, moved, sheet, simulated, sphere, strewn
from verlet_addon.core.arrays import by_value
from verlet_addon.core.compiled import backend
from verlet_addon.core.mesh import Paint
from verlet_addon.core.settings import BodySettings

TURN = [[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]]


def digest() -> str:
    """Of a third of a second of landing: cloth, stiff cloth, jelly, a shell and rigid pieces.

    The jelly lands in a cloth that it starts in.
    """
    cloth = moved(strewn(sheet(12, triangles=True), 0.02), TURN, (0.0, 0.0, 0.62))
    ball = moved(sphere(12, 8), TURN, (0.0, 0.0, 0.6))
    stiff, shell, pieces = (
        moved(mesh, np.eye(3), (place, 0.0, 0.0))
        for place, mesh in ((3.0, cloth), (6.0, ball), (9.0, cloth))
    )
    x = pieces.positions[:, 0] - 9.0
    bodies = [
        (cloth, BodySettings()),
        (ball, BodySettings(body_type="SOFT")),
        (stiff, BodySettings(bend_compliance=1e-2)),
        (shell, BodySettings(bend_compliance=0.1)),
        (replace(pieces, paint=Paint(rigid=(np.abs(x) > 0.05).astype(float))), BodySettings()),
    ]
    tracks = simulated(bodies, frames(0.35, 24), ground=floor())
    return hashlib.sha256(b"".join(track.tobytes() for track in tracks)).hexdigest()


def test_bits_do_not_depend_on_vector_instructions() -> None:
    """An old processor, and another version of NumPy, which uses others, bake the same bits.

    So does another BLAS, but for NumPy's kernels, which multiply matrices by it.
    """
    show_config: Any = np.show_config  # the stubs do not know what it returns
    extensions = show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if not extensions:
        pytest.skip("NumPy uses no vector instructions here that could be switched off")
    root = str(Path(__file__).parents[2])
    elsewhere = subprocess.run(
        [sys.executable, "-c", "from tests.core.test_rounding import digest; print(digest())"],
        env={
            **os.environ,
            "PYTHONPATH": root,
            "NPY_DISABLE_CPU_FEATURES": " ".join(extensions),
            **({} if backend().library is None else {"OPENBLAS_CORETYPE": "Nehalem"}),
        },
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert elsewhere.stdout.strip() == digest()


@pytest.mark.parametrize("function", [exp, expm1, log, cos, acos])
def test_elementary_functions_are_pythons_own(function: Callable[[float], float]) -> None:
    """Equal values or not, of any shape: each comes out as `math` has it."""
    values = np.random.default_rng(1).uniform(0.1, 0.9, (50, 2)).round(2)
    expected = [[function(a), function(b)] for a, b in values.tolist()]
    np.testing.assert_array_equal(by_value(function, values), expected)
    assert by_value(function, np.array(0.5)) == function(0.5)
