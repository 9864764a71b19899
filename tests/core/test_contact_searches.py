"""Counts of the searches for contacts, by which a bake names what takes long."""

from dataclasses import replace

import numpy as np

from tests.core.bodies import frames, moved, samples, sheet
from tests.core.colliders import ball
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

SELF = BodySettings(body_type="CLOTH", use_self_collision=True)


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
        assert all(10 <= each.searches <= 60 for each in searches.values())


def test_what_cannot_collide_is_not_searched() -> None:
    """A cloth without colliders, and one far from its only one, without collisions with itself."""
    cloth, (far, points) = sheet(4), ball()
    for shapes in ((), (far,)):
        mesh = replace(cloth, colliders=range(len(shapes)))
        there = [points + 50.0] * len(shapes)
        given = [replace(each, colliders=there) for each in samples([mesh], frames(0.1, 24.0))]
        for frame in simulate([mesh], [BodySettings()], SceneSettings(), given, shapes):
            assert frame.contact_searches == {}
