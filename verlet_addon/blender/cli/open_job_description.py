"""Open Job Description templates, jobtemplate-2023-09, which AWS Deadline Cloud takes as well."""

from collections.abc import Sequence
from typing import Any

from .farm_shots import FarmJob, Shot
from .results import UsageError

_LONGEST_RANGE = 1024
"""Largest number of values of a parameter of tasks."""
_GRACE = 30
"""Time that a bake which is cancelled has to remove unfinished files [s]."""


def template(job: FarmJob) -> dict[str, Any]:
    """The job's template: a task for each shot and each combination of the wedges' values.

    Raises
    ------
    UsageError
        A name or an option has `{{`, which begins an expression in templates.
    """
    for text in _texts(job):
        if "{{" in text:
            raise UsageError(f"{text} has {{{{, which templates take for an expression; rename it")
    parts = [
        job.shots[start : start + _LONGEST_RANGE]
        for start in range(0, len(job.shots), _LONGEST_RANGE)
    ]
    return {
        "specificationVersion": "jobtemplate-2023-09",
        "name": "Verlet bake",
        "parameterDefinitions": _parameters(job),
        "steps": [
            _step(job, part, "Bake" if len(parts) == 1 else f"Bake{number}")
            for number, part in enumerate(parts, 1)
        ],
    }


def parameter_values(job: FarmJob) -> dict[str, Any]:
    """The folders of this machine, as a job bundle of AWS Deadline Cloud names them."""
    values = {"InputFolder": str(job.folder), "OutputFolder": str(job.output_folder)}
    return {"parameterValues": [{"name": name, "value": values[name]} for name in values]}


def _texts(job: FarmJob) -> list[str]:
    """All texts that the template takes over."""
    shots = [text or "" for shot in job.shots for text in (shot.input, shot.name, shot.scene)]
    wedges = [text for wedge in job.wedges for text in (wedge.setting, *wedge.values)]
    return [*shots, *wedges, *job.options]


def _parameters(job: FarmJob) -> list[dict[str, Any]]:
    """Parameters of the whole job, which can be changed when it is submitted."""
    folder = {"type": "PATH", "objectType": "DIRECTORY"}
    found: list[dict[str, Any]] = [
        {
            "name": "Program",
            "type": "STRING",
            "default": job.program[0],
            "description": "Blender with the add-on, as workers start it",
        },
        {**folder, "name": "InputFolder", "dataFlow": "IN", "description": "Folder of all files"},
        {**folder, "name": "OutputFolder", "dataFlow": "OUT", "description": "Folder for outputs"},
    ]
    if job.frames is not None:
        for name, frame in zip(("FirstFrame", "LastFrame"), job.frames, strict=True):
            found.append({"name": name, "type": "INT", "default": frame})
    return found


def _step(job: FarmJob, shots: Sequence[Shot], name: str) -> dict[str, Any]:
    """The step that bakes some shots."""
    per_shot = {"Input": [shot.input for shot in shots], "Name": [shot.name for shot in shots]}
    if any(shot.scene is not None for shot in shots):
        per_shot["Scene"] = [shot.scene or "" for shot in shots]
    wedges = {f"Wedge{number}": wedge for number, wedge in enumerate(job.wedges, 1)}
    ranges = {**per_shot, **{key: [*wedge.values] for key, wedge in wedges.items()}}
    variant = "".join(f"_{wedge.setting}={{{{Task.Param.{key}}}}}" for key, wedge in wedges.items())
    arguments = [
        *job.program[1:],
        "bake",
        "{{Param.InputFolder}}/{{Task.Param.Input}}",
        "--output",
        f"{{{{Param.OutputFolder}}}}/{{{{Task.Param.Name}}}}{variant}.blend",
        "--parents",
    ]
    if "Scene" in per_shot:
        arguments.append("--scene={{Task.Param.Scene}}")
    if job.frames is not None:
        arguments += ["--frames", "{{Param.FirstFrame}}", "{{Param.LastFrame}}"]
    # Wedges come last, since a material that is set brings values of its own.
    values = [f"--set={wedge.setting}={{{{Task.Param.{key}}}}}" for key, wedge in wedges.items()]
    run = {
        "command": "{{Param.Program}}",
        "args": [*arguments, *job.options, *values, "--json"],
        "cancelation": {"mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": _GRACE},
    }
    return {
        "name": name,
        "parameterSpace": {
            "taskParameterDefinitions": [
                {"name": key, "type": "STRING", "range": values} for key, values in ranges.items()
            ],
            "combination": " * ".join([f"({', '.join(per_shot)})", *wedges]),
        },
        "script": {"actions": {"onRun": run}},
    }
