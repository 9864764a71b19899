"""The page of docs/how_to on ropes: a bridge and a winch; and the banner that tears."""

from tests.window.hand import Hand, Steps
from tests.window.manual import steps
from tests.window.manual.cloth import rim


def test_page_ropes(hand: Hand) -> Steps:
    """The bridge of the sample, whose deck and ropes are one mesh."""
    yield from steps.sample(hand, "rope_bridge", "Bridge")
    (bridge,) = steps.named("Bridge")
    ends = [*rim(bridge, 0, 0.0), *rim(bridge, 0, 1.0)]
    yield from steps.make_body(hand, bridge)
    yield from steps.in_edit_mode(hand, bridge, ends)
    yield from steps.pin_selected(hand, bridge)
    yield from steps.in_object_mode(hand, bridge)
    yield from steps.open_panel(hand, "Physical Properties")
    mark = steps.path(bridge, "verlet_bend")
    yield from steps.enter(hand, mark, "0.005")
    yield from hand.take("ropes_bend_tab", "Physical Properties", mark=mark)
    yield from steps.open_panel(hand, "Physical Properties")
    yield from steps.finish(hand, "ropes", bridge)


def test_page_winch(hand: Hand) -> Steps:
    """The rope of the sample, which begins on its drum."""
    yield from steps.sample(hand, "winch", "Rope", "Drum")
    rope, drum = steps.named("Rope", "Drum")
    yield from steps.make_collider(hand, drum)
    yield from steps.make_body(hand, rope)
    yield from steps.attach(hand, drum, rope)
    yield from hand.take("winch_attached_tab", "Attachments")
    yield from steps.open_panel(hand, "Attachments")
    yield from steps.finish(hand, "winch", rope)


def test_page_torn_banner(hand: Hand) -> Steps:
    """Of the sample, which is split along its line already."""
    yield from steps.sample(hand, "torn_banner")
    (banner,) = steps.named("Banner")
    banner.verlet.use_tearing = False
    yield from steps.choose(hand, banner)
    yield from steps.take_up(hand, banner, "Shape", "use_tearing")
    mark = steps.path(banner, "verlet.use_tearing")
    yield from hand.take("torn_banner_tearing_tab", "Shape", mark=mark)
    yield from steps.open_panel(hand, "Shape")
    yield from steps.bake(hand, banner)
    yield from hand.film("torn_banner")
