"""The contact sheets of a batch with wedges: one for each scene of each file."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path

from .contact_sheet import EMPTY, ENGINES
from .processes import Result, own_command, run_all
from .tasks import Task
from .wedges import label


def render_sheets(
    tasks: Sequence[Task],
    results: Mapping[int, Result],
    options: Namespace,
    rendered: dict[Path, Result],
) -> None:
    """Renders a sheet of all variants of each scene, in processes of their own.

    Workbench needs a GPU, or a library in its place; where it does not render, Cycles does.

    Parameters
    ----------
    rendered
        Gets the `output` and the `error` of each sheet, with all else that its process has printed,
        by its path, also after a signal.
    """
    baked = {id(task): not results[number]["error"] for number, task in enumerate(tasks)}
    sheets: dict[Path, list[str]] = {}
    for _, group in groupby(tasks, key=lambda task: task.group):
        variants = [*group]
        if any(baked[id(task)] for task in variants):
            path = options.output_dir / f"{variants[0].group}_sheet.png"
            sheets[path] = _arguments(variants, baked, path, options)
    for engine in ENGINES:
        left = [path for path in sheets if rendered.get(path, {"error": True})["error"]]
        commands = [[*own_command(), *sheets[path], f"--engine={engine}"] for path in left]
        ended: dict[int, Result] = {}
        try:
            with closing(run_all(commands, jobs=options.jobs or 1, results=ended)) as events:
                for _ in events:
                    pass
        finally:
            for number, result in ended.items():
                rendered[left[number]] = {"output": str(left[number]), **result}


def _arguments(
    variants: Sequence[Task], baked: Mapping[int, bool], path: Path, options: Namespace
) -> list[str]:
    """The arguments that render the sheet of a scene's variants, a row for the last wedge."""
    frames = options.sheet_frames or (options.frames[1:] if options.frames else [])
    columns = len(options.wedges[-1].values) * max(1, len(frames))
    files = [str(task.output if baked[id(task)] else EMPTY) for task in variants]
    scene = variants[0].scene
    return [
        "sheet",
        *files,
        f"--output={path}",
        f"--columns={columns}",
        *([] if scene is None else [f"--scene={scene}"]),
        *(f"--label={label(task.settings)}" for task in variants),
        *(f"--frame={frame}" for frame in frames),
        *(["--enable-autoexec"] if options.run_scripts else []),
        "--json",
    ]
