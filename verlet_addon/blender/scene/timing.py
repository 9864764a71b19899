"""A scene's frames in seconds, in frames of its animation, and as Blender is told them."""

import bpy


def seconds_per_frame(scene: bpy.types.Scene) -> float:
    """Time that passes in the animation from one frame of the scene to the next [s]."""
    return animation_frame(scene, 1) * scene.render.fps_base / scene.render.fps


def animation_frame(scene: bpy.types.Scene, frame: int) -> float:
    """The place on its curves that a frame of the scene shows; Time Stretching makes it another."""
    return frame * (scene.render.frame_map_old / scene.render.frame_map_new)


def playhead(scene: bpy.types.Scene) -> tuple[int, float]:
    """Frame and subframe now, as `Scene.frame_set` takes them.

    Before frame 0 Blender gives −2.5 as −2 and −0.5, but takes no negative subframe.
    """
    frame, subframe = scene.frame_current, scene.frame_subframe
    return (frame, subframe) if subframe >= 0 else (frame - 1, 1 + subframe)
