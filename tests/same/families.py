"""All scenes by name, and the bake of one, which other processes call."""

from collections.abc import Callable
from importlib import import_module
from time import process_time
from typing import Any

from tests.same.bakes import Scene, bake

FAMILIES = (
    "blend_files",
    "touching",
    "solids",
    "pieces",
    "ropes",
    "hair",
    "flesh",
    "cloths",
    "trajectories",
)
"""Modules of scenes, from those that take long."""


def names() -> list[str]:
    """Lists all scenes, those of files first, which take longest."""
    return [f"{family}: {name}" for family in FAMILIES for name in scenes_of(family)]


def scenes_of(family: str) -> dict[str, Callable[[], Any]]:
    """The scenes of one module, as `bakes.Scene` or the hashes themselves."""
    return dict(import_module(f"tests.same.{family}").SCENES)


def bake_by_name(name: str) -> tuple[list[str], float]:
    """Bakes a scene: the hashes of its frames, or what was raised after them, and CPU time [s]."""
    family, _, own = name.partition(": ")
    start, found = process_time(), list[str]()
    try:
        given = scenes_of(family)[own]()
        found.extend(bake(given) if isinstance(given, Scene) else given)
    except Exception as error:  # of one scene, which is told; the others go on
        found.append(f"{type(error).__name__}: {error}")
    return found, process_time() - start
