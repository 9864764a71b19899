"""Draw the figure of docs/reference/collisions.md: what a step does about contacts."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from docs.figures.svg import FONT, INK, PALE, text
from tests.core.bodies import frames, results, sheet
from tests.core.colliders import ball
from verlet_addon.core.settings import BodySettings, SceneSettings

TITLE = "What a step does about contacts"
SUBTITLE = "2,601 vertices on a ball, numbers of one step"
PICTURE = Path(__file__).resolve().parents[1] / "images" / "contacts.svg"
WIDTH, HEIGHT, LEFT, TOP, ROW = 900.0, 620.0, 30.0, 92.0, 64.0
FILL, LINE, MIDDLE = "#eef4fa", "#0072b2", "text-anchor='middle'"


def main() -> None:
    """Drops a sheet on a ball, and writes the picture with its counts in a step."""
    counts = counts_a_step()
    PICTURE.write_text(draw(counts), encoding="utf-8")
    print({name: round(count, 1) for name, count in counts.items()})


def counts_a_step() -> dict[str, float]:
    """Work in a step, on average over the half second in which the sheet lies on the ball."""
    mesh = sheet(50)
    mesh = replace(mesh, positions=mesh.positions + np.array([-0.5, -0.5, 0.32]))
    cloth = BodySettings(body_type="CLOTH", use_self_collision=True)
    played = list(
        results([(mesh, cloth)], frames(1.0, 24.0), SceneSettings(), colliders=[ball(friction=0.5)])
    )
    total: dict[str, float] = {}
    for frame in played[13:]:
        for name, count in vars(frame.work).items():
            total[name] = total.get(name, 0.0) + count
    return {name: count / total["steps"] for name, count in total.items()}


STAGES = [
    ("broad_phase", "boxes of leaves, fitted to the paths of a step", "leaf_tests"),
    ("narrow_phase", "distances of a vertex and a triangle, or of two edges", "pair_tests"),
    ("manifold", "rows, with the multipliers of the step before", "contact_rows"),
    ("solve", "islands: rows with friction and lengths, alternately", "contact_passes"),
    ("solve", "a second detection along the corrected paths", "contact_searches"),
    ("solve", "the tunnelling guard, where a pair still passes", "guarded_steps"),
    ("solve", "velocities: bounces, without what depenetration adds", ""),
]
"""Folder, purpose and count of each stage."""
UNITS = {
    "leaf_tests": "pairs of leaves",
    "pair_tests": "pairs of features",
    "contact_rows": "rows",
    "contact_passes": "passes over the rows",
    "contact_searches": "searches in all",
    "guarded_steps": "of the steps",
}


def draw(counts: dict[str, float]) -> str:
    """The picture as SVG."""
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH:g} {HEIGHT:g}' "
        f"width='{WIDTH:g}' height='{HEIGHT:g}' role='img' {FONT} font-size='14' fill='{INK}'>",
        f"<title>{TITLE}</title>",
        f"<rect width='{WIDTH:g}' height='{HEIGHT:g}' rx='8' fill='#ffffff'/>",
        text(TITLE, WIDTH / 2, 34, f"font-size='18' font-weight='bold' {MIDDLE}"),
        text(SUBTITLE, WIDTH / 2, 58, f"fill='{PALE}' {MIDDLE}"),
    ]
    for number, stage in enumerate(STAGES):
        lines += row(number, *stage, counts)
    return "\n".join([*lines, "</svg>", ""])


def row(
    number: int, folder: str, purpose: str, counted: str, counts: dict[str, float]
) -> Iterator[str]:
    """The box of a stage, and the arrow to the next."""
    y = TOP + number * (ROW + 10.0)
    yield f"<rect x='{LEFT:g}' y='{y:g}' width='640' height='{ROW:g}' rx='6' fill='{FILL}'/>"
    yield text(folder, LEFT + 16, y + 38, "font-weight='bold'")
    yield text(purpose, LEFT + 150, y + 38, "")
    if number:
        x = LEFT + 70
        yield f"<path d='M{x:g} {y - 10:g}v8m-5 -5 5 5 5-5' fill='none' stroke='{LINE}'/>"
    if counted:
        count = counts[counted]
        shown = f"{count:,.0f}" if count >= 20 else f"{count:.1f}"
        yield text(shown, LEFT + 740, y + 30, f"font-size='18' fill='{LINE}' {MIDDLE}")
        yield text(UNITS[counted], LEFT + 740, y + 50, f"font-size='12' fill='{PALE}' {MIDDLE}")


if __name__ == "__main__":
    main()
