"""Pages of docs/how_to on what is filled or rigid: jelly, balloon, pond and ragdoll."""

from tests.window.hand import Hand, Steps
from tests.window.manual import steps


def test_page_jelly(hand: Hand) -> Steps:
    """Of the sample: a closed mesh becomes jelly by itself."""
    yield from steps.sample(hand, "jellies", "Bear", "Cube")
    bear, cube = steps.named("Bear", "Cube")
    yield from steps.make_body(hand, cube, bear)
    assert bear.verlet.body_type == "SOFT"
    yield from hand.take("jelly_made_tab", "Soft Body")
    yield from steps.take_up(hand, bear, "Physical Properties", "stiffness", "4000")
    mark = steps.path(bear, "verlet.stiffness")
    yield from hand.take("jelly_stiffness_tab", "Physical Properties", mark=mark)
    yield from steps.open_panel(hand, "Physical Properties")
    yield from steps.finish(hand, "jelly", bear, cube)


def test_page_balloon(hand: Hand) -> Steps:
    """Of the beach ball, whose throw and leak have their keys."""
    yield from steps.sample(hand, "beach_ball")
    (ball,) = steps.named("Beach Ball")
    yield from steps.choose_type(hand, ball, "SOFT", "J")
    yield from steps.choose_type(hand, ball, "CLOTH", "C")
    yield from hand.take("balloon_type_tab", "Soft Body")
    yield from steps.open_panel(hand, "Physical Properties")
    mark = steps.path(ball, "verlet.pressure")
    yield from hand.find(mark)
    yield from hand.take("balloon_pressure_tab", "Physical Properties", mark=mark)
    yield from steps.open_panel(hand, "Physical Properties")
    yield from steps.open_panel(hand, "Collisions")
    yield from steps.enter(hand, steps.path(ball, "verlet.restitution"), "0.5")
    mark = steps.path(ball, "verlet.restitution")
    yield from hand.take("balloon_bounce_tab", "Collisions", mark=mark)
    yield from steps.open_panel(hand, "Collisions")
    yield from steps.bake(hand, ball)
    yield from hand.film("balloon")


def test_page_pond(hand: Hand) -> Steps:
    """Of the sample, whose stone has its keys."""
    yield from steps.sample(hand, "pond", "Pond", "Stone")
    pond, stone = steps.named("Pond", "Stone")
    yield from steps.make_collider(hand, stone)
    yield from steps.make_body(hand, pond)
    yield from steps.choose_type(hand, pond, "WATER", "W")
    yield from hand.take("pond_made_tab", "Soft Body")
    yield from steps.take_up(hand, pond, "Physical Properties", "wave_speed", "1.2")
    mark = steps.path(pond, "verlet.wave_speed")
    yield from hand.take("pond_waves_tab", "Physical Properties", mark=mark)
    yield from steps.open_panel(hand, "Physical Properties")
    yield from steps.finish(hand, "pond", pond)


def test_page_ragdoll(hand: Hand) -> Steps:
    """Of the sample, whose limbs are a vertex group already."""
    yield from steps.sample(hand, "ragdoll", "Ragdoll", "Stairs")
    doll, stairs = steps.named("Ragdoll", "Stairs")
    yield from steps.make_collider(hand, stairs)
    yield from steps.make_body(hand, doll)
    if doll.verlet.body_type != "CLOTH":
        yield from steps.choose_type(hand, doll, "CLOTH", "C")
    yield from steps.open_panel(hand, "Shape")
    doll.verlet.rigid_group = "Limbs"
    mark = steps.path(doll, "verlet.rigid_group")
    yield from hand.take("ragdoll_rigid_tab", "Shape", mark=mark)
    yield from steps.open_panel(hand, "Shape")
    yield from steps.finish(hand, "ragdoll", doll)
