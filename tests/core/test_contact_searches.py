"""Counts of the work on contacts: a bake names by them what takes long, and it stays in bounds."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import block, floor, frames, moved, results, samples, sheet, work
from tests.core.colliders import ball
from tests.core.test_coupled_solids import GAP, JELLY, stack
from verlet_addon.core.scene import SolverWork
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

SELF = BodySettings(body_type="CLOTH", use_self_collision=True)
ROOM = 1.5
"""Factor by which work may grow before a test fails: one more search in a step, or half as many
more passes, is more than that; the last digits of motion, which differ between versions of the
solver, change counts by less than a tenth."""


def draped() -> SolverWork:
    """A sheet that falls over a ball and hangs in folds which touch."""
    cloth = moved(sheet(16), np.eye(3), (-0.5, -0.5, 0.22))
    around = [ball(radius=0.2, friction=1.0)]
    return work(results([(cloth, SELF)], frames(0.5, 24), ground=floor(-0.6), colliders=around))


def stacked() -> SolverWork:
    """One cube of jelly that lies on another, on the ground."""
    scene = SceneSettings(substeps=6)
    return work(results(stack(2, 0.05, 0.0), frames(0.25, 24), scene, ground=floor()))


@pytest.mark.parametrize(
    ("scene", "searches", "leaves", "tests", "passes"),
    [(draped, 1.43, 1075, 16.3, 10.3), (stacked, 1.0, 46, 2.7, 2.1)],
)
def test_work_on_contacts_stays_in_bounds(
    scene: Callable[[], SolverWork], searches: float, leaves: float, tests: float, passes: float
) -> None:
    """Searches, pairs of leaves and passes a step, and tests of pairs of features a contact.

    These are the numbers of today, so lower them where a change needs less.
    """
    done = scene()
    assert done.contact_searches < ROOM * searches * done.steps
    assert done.leaf_tests < ROOM * leaves * done.steps
    assert done.pair_tests < ROOM * tests * done.contact_rows
    assert done.contact_passes < ROOM * passes * done.steps
    least = 0.5 * min(searches, passes) * done.steps
    assert min(done.contact_searches, done.contact_passes) > least, "what is counted has changed"


def test_the_finer_of_two_balls_takes_more_tests() -> None:
    """Of a cloth over both; the third is far away and is not searched. Each frame counts anew."""
    cloth = moved(sheet(16, size=1.6), np.eye(3), (-0.8, -0.8, 0.31))
    shapes = [ball(fine=fine) for fine in (10, 60, 10)]
    colliders = [
        replace(shape, name=name)
        for (shape, _), name in zip(shapes, ("Coarse", "Fine", "Far"), strict=True)
    ]
    moves = [(-0.4, 0.0, 0.0), (0.4, 0.0, 0.0), (0.0, 0.0, 9.0)]
    places = [points + move for (_, points), move in zip(shapes, moves, strict=True)]
    mesh = replace(cloth, name="Cloth", colliders=range(3))
    given = samples([mesh], frames(0.25, 24.0), colliders=lambda _: places)
    found = list(simulate([mesh], [SELF], SceneSettings(), given, colliders))
    assert found[0].contact_searches == {}
    for frame in found[1:]:
        searches = frame.contact_searches
        assert set(searches) == {("Cloth", "Cloth"), ("Cloth", "Coarse"), ("Cloth", "Fine")}
        assert searches["Cloth", "Fine"].tests > 2 * searches["Cloth", "Coarse"].tests > 0
        assert all(1 <= each.searches <= 60 for each in searches.values())
    assert all(each.searches >= 10 for each in found[-1].contact_searches.values())


def test_what_cannot_collide_is_not_searched() -> None:
    """A cloth without colliders, and one far from its only one, without collisions with itself."""
    cloth, (far, points) = sheet(4), ball()
    for shapes in ((), (far,)):
        mesh = replace(cloth, colliders=range(len(shapes)))
        there = [points + 50.0] * len(shapes)
        given = [replace(each, colliders=there) for each in samples([mesh], frames(0.1, 24.0))]
        for frame in simulate([mesh], [BodySettings()], SceneSettings(), given, shapes):
            assert frame.contact_searches == {}


@pytest.mark.parametrize(("apart", "searched"), [(0.1, False), (0.0, True)])
def test_jellies_are_searched_only_where_they_are_near(apart: float, searched: bool) -> None:
    """Two that bounce on the ground side by side: boxes around them are apart, or not."""
    near = moved(block((0.2,) * 3, (2,) * 3), np.eye(3), (0.0, 0.0, 0.05))
    both = [near, moved(near, np.eye(3), (0.2 + GAP + apart, 0.0, 0.0))]
    done = work(results([(mesh, JELLY) for mesh in both], frames(0.2, 24), ground=floor()))
    assert done.solid_solutions > 0
    assert (done.contact_searches > 0) == searched
