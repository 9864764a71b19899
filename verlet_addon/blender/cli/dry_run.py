"""Dry run of a bake: collects all errors and warnings that the bake would start with."""

from collections.abc import Sequence
from itertools import islice

import bpy

from ..bake.drivers import DriverWatch
from ..bake.progress import Progress
from .job import Job
from .output_capture import stdout_on_stderr
from .results import Report


def dry_run(job: Job, report: Report) -> list[str]:
    """Simulates the start of a bake, writes nothing, and returns its remarks.

    Bodies are built together with the first simulated frame. If that fails, each body is tried
    alone, since a bake ends with its first error.

    Raises
    ------
    VerletError
        The first error, with which a bake would end; the report holds all of them.
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
        report.remark(remarks)
    if report.errors:
        raise report.errors[0]
    return [*remarks]


def _begin(job: Job, objects: Sequence[bpy.types.Object]) -> Progress:
    """Bakes up to the second simulated frame, and ends without writing."""
    running = job.without_writing(objects)
    try:
        for now in islice(running, 2):
            if now.done == now.total:
                break
    finally:
        running.close()
    return now
