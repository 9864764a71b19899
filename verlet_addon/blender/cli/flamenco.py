"""The job type for Flamenco, a script in JavaScript, with a batch filled in."""

import json
import re
from pathlib import Path

from ..settings.versions import quick_build
from .farm_shots import FarmJob
from .results import UsageError

_SCRIPT = Path(__file__).with_name("flamenco_job.js")
_DEFAULTS = re.compile(r"^const DEFAULTS = .*$", re.MULTILINE)


def job_type(job: FarmJob) -> str:
    """The script, whose settings have the batch as their defaults.

    Raises
    ------
    UsageError
        A name holds a character that separates names in the settings, or the script, which is
        JavaScript, is no part of this build of the add-on.
    """
    if not _SCRIPT.exists():
        raise UsageError(
            f"This build of the add-on is Python alone, and Flamenco's job types are JavaScript; "
            f"{quick_build()} writes them"
        )
    scenes = dict.fromkeys(shot.scene for shot in job.shots if shot.scene is not None)
    files = dict.fromkeys((job.folder / shot.input).as_posix() for shot in job.shots)
    for text in [*scenes, *files]:
        if ";" in text:
            raise UsageError(f"{text} has ;, which separates names in Flamenco; rename it")
    for option in job.options:
        if '"' in option:
            raise UsageError(f'{option} has ", which Flamenco cannot pass on; leave it out')
    defaults = {
        "files": "; ".join(files),
        "output_folder": job.output_folder.as_posix(),
        "scenes": "; ".join(scenes),
        "frames": "" if job.frames is None else "{} {}".format(*job.frames),
        "wedges": "; ".join(f"{each.setting}={','.join(each.values)}" for each in job.wedges),
        "options": " ".join(f'"{each}"' if " " in each else each for each in job.options),
    }
    line = f"const DEFAULTS = {json.dumps(defaults)};"
    return _DEFAULTS.sub(lambda _: line, _SCRIPT.read_text("utf-8"), count=1)
