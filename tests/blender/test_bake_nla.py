"""A bake plays as simulated beside the user's NLA tracks, or says why it would not."""

from typing import Any

import bpy
import pytest

from tests.blender.scenes import body, file_content, line, shown, verlet

# A shape key's float32 at coordinates of some metres.
FLOAT32 = 2e-5


@pytest.fixture
def animation() -> Any:
    """Animation data of a body's shape keys: an NLA track, and an action above it."""
    scene: Any = bpy.context.scene
    scene.verlet.use_ground = False
    obj = body(line(height=3.0), damping=0.0)
    obj.shape_key_add(name="Basis")
    below, above = obj.shape_key_add(name="Below"), obj.shape_key_add(name="Above")
    below.value = above.value = 0.0
    below.keyframe_insert("value", frame=1)
    animation = obj.data.shape_keys.animation_data
    animation.nla_tracks.new().strips.new("Strip", 1, animation.action)
    animation.action = None
    above.keyframe_insert("value", frame=1)
    return animation


def fallen() -> float:
    """How high the body is after a second."""
    return float(shown(bpy.data.objects["Line"], 25)[:, 2].mean())


@pytest.mark.parametrize("blend", ["REPLACE", "COMBINE", "ADD", "SUBTRACT", "MULTIPLY"])
@pytest.mark.parametrize("influence", [1.0, 0.5])
@pytest.mark.parametrize("use_nla", [True, False])
def test_an_action_above_nla_tracks_plays_the_bake_or_is_refused(
    animation: Any, blend: str, influence: float, use_nla: bool
) -> None:
    animation.action_blend_type, animation.action_influence = blend, influence
    animation.use_nla = use_nla
    bpy.context.scene.frame_set(1)
    before = file_content()
    if use_nla and (influence < 1 or blend not in ("REPLACE", "COMBINE")):
        wrong = "Influence of 0.5" if influence < 1 else blend.title()
        with pytest.raises(RuntimeError, match=f"shape keys of Line .*{wrong}.*; set that to"):
            verlet.bake(frame_start=1, frame_end=25)
        assert file_content() == before
    else:
        verlet.bake(frame_start=1, frame_end=25)
        assert fallen() == pytest.approx(3.0 - 9.81 / 2, abs=FLOAT32)


def test_a_track_that_plays_alone_is_named(animation: Any) -> None:
    animation.nla_tracks[0].name = "Wind"
    animation.nla_tracks[0].is_solo = True
    with pytest.raises(RuntimeError, match=r"track Wind of the shape keys of Line.*; turn off the"):
        verlet.bake(frame_start=1, frame_end=25)
