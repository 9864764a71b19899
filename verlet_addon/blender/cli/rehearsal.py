"""All that a bake would tell at its start, without a bake."""

from collections.abc import Sequence
from itertools import islice

import bpy

from ..bake.bake import Progress
from ..bake.drivers import DriverWatch
from .job import Job
from .output_capture import stdout_on_stderr
from .results import Report


def rehearse(job: Job, report: Report) -> list[str]:
    """Begins a bake, and puts everything back; gives the remarks that it made.

    Bodies are built with the first frame that is simulated, so that one is. Where that fails, each
    body is tried alone, for a bake ends with the first error.

    Raises
    ------
    VerletError
        The first of the errors, which a bake would end with; the report has them all.
    """
    remarks: Sequence[str] = ()
    with stdout_on_stderr():
        drivers = DriverWatch(job.view_layer, but_blocked=True)
        before = len(report.errors)
        with report.attempt():
            remarks = _begin(job, job.objects).remarks
        if len(report.errors) > before and len(job.objects) > 1:
            for obj in job.objects:
                with report.attempt():
                    _begin(job, [obj])
        report.warn(drivers.news(job.view_layer))
        with report.attempt():
            report.warn(job.cautions())
    if report.errors:
        raise report.errors[0]
    return [*remarks]


def _begin(job: Job, objects: Sequence[bpy.types.Object]) -> Progress:
    """Bakes as far as the first frame in which anything moves, and ends without writing."""
    running = job.bake(objects)
    try:
        for now in islice(running, 2):
            if now.done == now.total:
                break
    finally:
        running.close()
    return now
