"""The layers stay apart, and pieces stay small enough to read."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "verlet_addon"
ARCHITECTURE = PACKAGE.parent / "docs" / "how_it_works" / "architecture.md"
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
CORE = [module for module in MODULES if module.parts[0] == "core"]
TOP = [module for module in CORE if len(module.parts) == 2]
BUILT_UP = [module for module in CORE if module.name != "__init__.py"]
BLENDER = [module for module in MODULES if module.parts[0] == "blender"]

LAYERS = [
    "errors remark arrays c_source results",
    "compiled field",
    "generated",
    "kernel team",
    "settings checkpoint",
    "scene",
    "mesh momentum coloring drag linear vertex_animation",
    "integrators geometry materials skinning inputs",
    "rigid contacts/broad_phase",
    "contacts/narrow_phase",
    "stretch contacts/manifold",
    "contacts/sides",
    "bending ropes strands volume water solid weave",
    "flesh",
    "rods",
    "shell",
    "forces",
    "model",
    "plasticity target_curves",
    "state",
    "sanity bodies",
    "contacts/solve reference_frames",
    "build step mirrors",
    "held_vertices",
    "fast_paths substeps",
    "self_test changes",
    "simulation",
    "simulate drape edit_springs loop_seam",
    "loops bindings",
]
"""The core from the ground up: a folder or module imports from lower lines alone."""
HEIGHTS = {name: height for height, names in enumerate(LAYERS) for name in names.split()}

ROOMS = ["translation", "settings", "scene", "bake", "export", "live", "ui", "cli"]
"""Blender's side in the order in which data flows: a folder imports from those before it alone."""

LONGEST_MODULE = 350
LONGEST_FUNCTION = 40


@cache
def parse(module: Path) -> ast.Module:
    """The syntax tree of a module of the package."""
    return ast.parse((PACKAGE / module).read_text(encoding="utf-8"))


def absolute_imports(module: Path) -> set[str]:
    """The packages that a module imports by name, as `numpy`, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(parse(module)):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.split(".")[0])
    return names - sys.stdlib_module_names


def relative_imports(module: Path) -> Iterator[Path]:
    """The places in the package that a module imports from, as `core/mesh`."""
    for node in ast.walk(parse(module)):
        if isinstance(node, ast.ImportFrom) and node.level:
            folders = (PACKAGE / module).parents
            base = folders[node.level - 1].relative_to(PACKAGE)
            place = base.joinpath(*(node.module or "").split("."))
            yield from (place / alias.name for alias in node.names)


def core_imports(module: Path) -> set[Path]:
    """The modules of the core that a module of the core imports, at its top or within."""
    modules = {place.with_suffix(".py") for place in relative_imports(module)}
    modules |= {place.parent.with_suffix(".py") for place in relative_imports(module)}
    return modules & set(CORE)


def height(module: Path) -> int:
    """The layer of a module of the core, counted from the ground."""
    depth = 3 if module.parts[1] == "contacts" else 2
    return HEIGHTS[Path(*module.parts[1:depth]).with_suffix("").as_posix()]


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The length of a function in lines, without its docstring."""
    first = function.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    documentation = (first.end_lineno or 0) - first.lineno + 1 if is_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - documentation


def found(modules: Iterable[Path], what: Callable[[Path], object]) -> dict[str, object]:
    """What is found in some of the modules, by their names."""
    return {str(module): its for module in modules if (its := what(module))}


def test_core_needs_numpy_alone() -> None:
    """The core runs in any Python that has NumPy."""
    assert not found(CORE, lambda module: absolute_imports(module) - {"numpy"})


def test_core_does_not_know_blender() -> None:
    """Data flows from Blender into the core and back; the core asks for nothing."""

    def outside(module: Path) -> set[str]:
        return {place.parts[0] for place in relative_imports(module)} - {"core"}

    assert not found(CORE, outside)


def test_the_core_is_built_from_the_ground_up() -> None:
    """Each module stands on lower layers, and on others of its own folder."""

    def above(module: Path) -> set[Path]:
        return {
            other
            for other in core_imports(module)
            if height(other) >= height(module) and (other.parent != module.parent or other in TOP)
        }

    assert not found(BUILT_UP, above)


def test_the_architecture_tells_what_each_module_is_for() -> None:
    """But for kernels, of which it tells once that they stand beside each other."""
    told = set(re.findall(r"\w+", ARCHITECTURE.read_text(encoding="utf-8")))
    names = {module.stem for module in MODULES if module.name != "__init__.py"}
    kernels = {name for name in names if re.match("compiled_|numpy_|.*kernels", name)}
    assert names - kernels <= told


def test_the_folders_of_the_blender_side_import_in_their_order() -> None:
    """Readers of the scene and writers of the bake know no operators, and these no command line."""

    def later(module: Path) -> set[str]:
        own = ROOMS.index(module.parts[1])
        used = {place.parts[1] for place in relative_imports(module) if place.parts[0] == "blender"}
        return {room for room in used & set(ROOMS) if ROOMS.index(room) > own}

    in_rooms = [module for module in BLENDER if module.parts[1] in ROOMS]
    assert {module.parts[1] for module in in_rooms} == set(ROOMS)
    assert not found(in_rooms, later)


def test_no_two_modules_need_each_other() -> None:
    """Modules can be read one after the other, each after those that it imports."""
    unread = {module: core_imports(module) for module in BUILT_UP}
    while readable := [module for module, needed in unread.items() if not needed & set(unread)]:
        for module in readable:
            del unread[module]
    assert not unread


def test_only_the_blender_folder_imports_bpy() -> None:
    """Everything else can be imported where there is no Blender."""
    blender = {"bpy", "mathutils", "bmesh", "bpy_extras"}
    elsewhere = [module for module in MODULES if module not in BLENDER]
    assert not found(elsewhere, lambda module: absolute_imports(module) & blender)


def test_imports_within_the_package_are_relative() -> None:
    """An installed extension has another name than the folder it is developed in."""
    assert not found(MODULES, lambda module: absolute_imports(module) & {"verlet_addon"})


def test_relative_imports_stay_within_the_package() -> None:
    """Above the package there is only what Blender puts there."""

    def beyond(module: Path) -> list[int]:
        nodes = (node for node in ast.walk(parse(module)) if isinstance(node, ast.ImportFrom))
        return [node.level for node in nodes if node.level > len(module.parts)]

    assert not found(MODULES, beyond)


def test_modules_are_short() -> None:
    """A longer module is asking to be split; one is written by a program."""

    def too_long(module: Path) -> int:
        lines = len((PACKAGE / module).read_text(encoding="utf-8").splitlines())
        return lines if lines > LONGEST_MODULE else 0

    assert not found([each for each in MODULES if each.name != "generated.py"], too_long)


def test_functions_are_short() -> None:
    """A longer function is asking to be split."""

    def too_long(module: Path) -> dict[str, int]:
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        return {
            node.name: code_lines(node)
            for node in ast.walk(parse(module))
            if isinstance(node, functions) and code_lines(node) > LONGEST_FUNCTION
        }

    assert not found(MODULES, too_long)


def test_the_core_loads_without_blender() -> None:
    """What the syntax trees promise holds: importing the core brings in no module of Blender."""
    script = (
        "import importlib, pkgutil, sys, verlet_addon.core as core\n"
        "for module in pkgutil.walk_packages(core.__path__, 'verlet_addon.core.'):\n"
        "    importlib.import_module(module.name)\n"
        "assert not {'bpy', 'mathutils', 'verlet_addon.blender'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=PACKAGE.parent, check=True)


def test_each_constant_has_a_docstring_of_its_own() -> None:
    """None was given that of a constant in another module."""
    found: dict[str, Path] = {}
    for module in MODULES:
        body = parse(module).body
        for before, node in pairwise(body):
            match node:
                case ast.Expr(ast.Constant(str(text))) if isinstance(before, ast.Assign):
                    assert found.setdefault(text, module) == module, f"{module}: {text}"
