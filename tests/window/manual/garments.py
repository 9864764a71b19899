"""Pages of docs/how_to on garments: cape, dressed figure and sewn dress."""

from typing import Any

import numpy as np

from tests.blender.scenes import shown
from tests.window.hand import Hand, Steps
from tests.window.manual import steps


def test_page_cape(hand: Hand) -> Steps:
    """Of the sample, whose collar is a vertex group already."""
    yield from steps.sample(hand, "cape", "Cape", "Figure")
    cape, figure = steps.named("Cape", "Figure")
    yield from steps.make_collider(hand, figure)
    yield from hand.take("cape_collider_tab", "Soft Body")
    yield from steps.make_body(hand, cape)
    yield from steps.attach(hand, figure, cape)
    yield from hand.take("cape_attached_tab", "Attachments")
    yield from steps.open_panel(hand, "Attachments")
    yield from steps.finish(hand, "cape", cape)


def test_page_dressed_figure(hand: Hand) -> Steps:
    """Of the dancer: the shirt by clicks, and skirt and cape as in the sample."""
    yield from steps.sample(hand, "dancer", "Shirt", "Skirt", "Cape", "Dancer")
    dancer, shirt, skirt, cape, rig = steps.named("Dancer", "Shirt", "Skirt", "Cape", "Rig")
    yield from steps.make_collider(hand, dancer)
    thickness = steps.path(dancer, "collision.thickness_outer")
    yield from steps.enter(hand, thickness, "0.003")
    yield from hand.take("dressed_figure_collider_tab", "Soft Body", mark=thickness)
    yield from steps.make_body(hand, skirt, cape, shirt)
    yield from steps.take_up(hand, shirt, "Collisions", "use_self_collision")
    yield from steps.enter(hand, steps.path(shirt, "verlet.thickness"), "0.004")
    yield from hand.take("dressed_figure_self_tab", "Collisions")
    yield from steps.open_panel(hand, "Collisions")
    yield from steps.attach(hand, rig, shirt)
    shirt.verlet.attachments[0].bone = "Chest"
    yield from hand.take("dressed_figure_attached_tab", "Attachments")
    yield from steps.open_panel(hand, "Attachments")
    for obj, bone in ((skirt, "Hips"), (cape, "Chest")):
        held: Any = obj.verlet.attachments.add()
        held.target, held.bone, held.vertex_group = rig, bone, obj.vertex_groups[0].name
        steps.as_in_sample(obj)
    yield from steps.bake(hand, shirt, skirt, cape)
    yield from hand.film("dressed_figure")


def test_page_sewn_dress(hand: Hand) -> Steps:
    """Of the sample, whose seams are edges already; the gravity has its keys."""
    yield from steps.sample(hand, "dress", "Dress", "Figure")
    dress, figure = steps.named("Dress", "Figure")
    yield from steps.make_collider(hand, figure)
    yield from steps.make_body(hand, dress)
    yield from steps.take_up(hand, dress, "Shape", "use_sewing")
    mark = steps.path(dress, "verlet.use_sewing")
    yield from hand.take("sewn_dress_sewing_tab", "Shape", mark=mark)
    yield from steps.open_panel(hand, "Shape")
    yield from steps.finish(hand, "sewn_dress", dress)
    ends = shown(dress, 1), shown(dress, hand.frames)
    assert np.abs(ends[1] - ends[0]).max() > 1e-3  # the threads pull
