"""Draw the figures of docs/how_it_works/integrators.md and measure its tables: `make figures`."""

import re
from math import ceil, floor, log10
from pathlib import Path

import numpy as np

from docs.figures.integrator_tables import TABLES
from docs.figures.problems import (
    DURATION,
    POLYNOMIAL,
    PROJECTILE,
    SINE,
    Problem,
    constant_steps,
    random_steps,
    times,
)
from docs.figures.svg import Curve, Panel, draw
from verlet_addon.core.arrays import Floats
from verlet_addon.core.integrators import trajectory

DOCS = Path(__file__).resolve().parents[1]
TRUTH = "#c3c9d1"
LOOKS = {
    "euler": ("Euler", "#e69f00", "<rect x='-3' y='-3' width='6' height='6' fill='#e69f00'/>"),
    "verlet": ("Verlet", "#d1495b", "<circle r='5' fill='none' stroke='#d1495b'/>"),
    "tcv": ("TCV", "#0072b2", "<path d='M0-4 4 0 0 4-4 0Z' fill='none' stroke='#0072b2'/>"),
    "tcv_exact": ("TCV exact", "#1b7f4d", "<circle r='2' fill='#1b7f4d'/>"),
}
ROUNDING = 1e-12


def main() -> None:
    """Write every figure, and every table between its marks in the page."""
    for problem in (PROJECTILE, POLYNOMIAL, SINE):
        for kind, steps in (("constant", constant_steps(30)), ("random", random_steps(30))):
            write_figure(problem, steps, kind=kind)
    write_figure(PROJECTILE, constant_steps(30), kind="constant", start="naive")
    page = DOCS / "how_it_works" / "integrators.md"
    text = page.read_text(encoding="utf-8")
    for name, measure in TABLES.items():
        text = with_table(text, name, measure())
    page.write_text(text, encoding="utf-8")


def write_figure(problem: Problem, steps: Floats, *, kind: str, start: str = "taylor") -> None:
    """Draws the paths of all schemes beside their distances from the truth."""
    naive = start == "naive"
    title = f"{problem.name.capitalize()}, {kind} steps" + (", naive start" if naive else "")
    panels = [path_panel(problem, steps, start), error_panel(problem, steps, start)]
    name = f"integrators_{problem.name}_{'naive_start' if naive else kind}.svg"
    (DOCS / "images" / name).write_text(draw(title, panels), encoding="utf-8")


def path_panel(problem: Problem, steps: Floats, start: str) -> Panel:
    """Returns the paths: in the plane for a projectile, over time for motion along a line."""
    is_plane = len(problem.x0) > 1
    t, fine = times(steps), np.linspace(0.0, DURATION, 301)
    curves = [Curve(label="truth", points=along(problem.path(fine), fine), colour=TRUTH, width=7)]
    for scheme, (label, colour, marker) in LOOKS.items():
        path = trajectory(scheme, problem.acceleration, problem.x0, problem.v0, steps, start=start)
        curves.append(Curve(label=label, points=along(path, t), colour=colour, marker=marker))
    points = np.array([point for curve in curves for point in curve.points])
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    room = 0.06 * (top - bottom)
    return Panel(
        title="path",
        x_label="distance [m]" if is_plane else "time [s]",
        y_label="height [m]" if is_plane else "position [m]",
        x_range=(float(left), float(right)),
        y_range=(float(bottom - room), float(top + room)),
        curves=curves,
    )


def error_panel(problem: Problem, steps: Floats, start: str) -> Panel:
    """Returns the distances from the truth over time."""
    errors = {scheme: problem.errors(scheme, steps, start=start)[1:] for scheme in LOOKS}
    t = times(steps)[1:]
    worst, best = max(map(np.max, errors.values())), min(map(np.min, errors.values()))
    is_exact = best < ROUNDING
    return Panel(
        title="distance from the truth" + (", down to rounding" if is_exact else ""),
        x_label="time [s]",
        y_label="error [m]",
        x_range=(0.0, DURATION),
        y_range=(1e-16 if is_exact else 10.0 ** floor(log10(best)), 10.0 ** ceil(log10(worst))),
        curves=[
            Curve(
                label=label,
                points=list(zip(t.tolist(), errors[scheme].tolist(), strict=True)),
                colour=colour,
                marker=marker,
            )
            for scheme, (label, colour, marker) in LOOKS.items()
        ],
        is_log=True,
    )


def along(path: Floats, t: Floats) -> list[tuple[float, float]]:
    """Returns points in the plane, or positions on a line over time."""
    columns = path if path.shape[1] > 1 else np.column_stack([t, path])
    return [(float(x), float(y)) for x, y in columns]


def with_table(text: str, name: str, table: str) -> str:
    """Returns the page with a table put between its two marks."""
    marks = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not marks.search(text):
        raise LookupError(f"no marks for the table {name!r} in the page")
    return marks.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text)


if __name__ == "__main__":
    main()
