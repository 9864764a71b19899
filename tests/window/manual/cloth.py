"""Pages of docs/how_to on cloth: flag, blanket, curtain and torn banner."""

from typing import Any

import numpy as np

from tests.blender.scenes import shown, verlet
from tests.window.drape import APPLY, DRAPE
from tests.window.hand import Hand, Steps, wait_until
from tests.window.manual import steps


def rim(obj: Any, axis: int, place: float) -> list[int]:
    """The vertices of a mesh at the place of its extent along an axis: 0 the first, 1 the last."""
    along = np.array([vertex.co[axis] for vertex in obj.data.vertices])
    wanted = along.min() + place * np.ptp(along)
    found: list[int] = np.flatnonzero(np.isclose(along, wanted, atol=1e-4)).tolist()
    return found


def test_page_flag(hand: Hand) -> Steps:
    """Of the sample, whose wind rises; the flag is a plain mesh in the beginning."""
    yield from steps.sample(hand, "flag_in_wind", "Flag")
    (flag,) = steps.named("Flag")
    yield from steps.make_body(hand, flag)
    yield from steps.choose_material(hand, flag, "SILK", "S")
    yield from hand.take("flag_made_tab", "Soft Body")
    yield from steps.in_edit_mode(hand, flag, rim(flag, 0, 0.0))
    yield from steps.pin_selected(hand, flag)
    yield from hand.take("flag_pinned_tab", "Soft Body", mark=steps.PIN)
    yield from steps.in_object_mode(hand, flag)
    yield from steps.bake(hand, flag)
    yield from hand.film("flag")
    assert np.ptp(shown(flag, hand.frames)[rim(flag, 0, 0.0), 2]) > 1.0  # it hangs on its pole


def test_page_blanket(hand: Hand) -> Steps:
    """Over the table of a sample, and the things on it."""
    yield from steps.sample(hand, "covered_table", "Tablecloth")
    (cloth,) = steps.named("Tablecloth")
    yield from steps.make_body(hand, cloth)
    top = shown(cloth, 1)[:, 2].max()
    yield from hand.click((yield from hand.find(DRAPE)))
    yield from wait_until(verlet.apply_shape.poll, seconds=300)
    yield from hand.redrawn()
    yield from hand.take("blanket_draped_tab", "Bake", mark=APPLY.format("MESH"))
    assert shown(cloth, 1)[:, 2].min() < top - 0.1
    yield from hand.click((yield from hand.find(APPLY.format("MESH"))))
    yield from wait_until(lambda: not steps.named("Tablecloth")[0].verlet.enabled)
    yield from steps.sample(hand, "covered_table")
    yield from steps.bake(hand, *steps.named("Tablecloth"))
    yield from hand.film("blanket")


def test_page_curtain(hand: Hand) -> Steps:
    """Of the sample: its rings are those of the sample too, every sixth vertex above."""
    yield from steps.sample(hand, "curtain", "Curtain")
    (curtain,) = steps.named("Curtain")
    yield from steps.make_body(hand, curtain)
    yield from steps.choose_material(hand, curtain, "COTTON", "C")
    yield from steps.open_panel(hand, "Collisions")
    yield from steps.turn_on(hand, curtain, "use_self_collision")
    mark = steps.path(curtain, "verlet.use_self_collision")
    yield from hand.take("curtain_self_tab", "Collisions", mark=mark)
    yield from steps.open_panel(hand, "Collisions")
    yield from steps.in_edit_mode(hand, curtain, rim(curtain, 2, 1.0)[::6])
    yield from steps.pin_selected(hand, curtain)
    yield from hand.take("curtain_pinned_tab", "Soft Body", mark=steps.PIN)
    yield from steps.in_object_mode(hand, curtain)
    yield from steps.bake(hand, curtain)
    yield from hand.film("curtain")
