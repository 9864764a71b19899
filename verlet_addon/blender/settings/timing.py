"""Conversion of a scene's frames to seconds and to frames of its animation."""

import bpy


def seconds_per_frame(scene: bpy.types.Scene) -> float:
    """Time in the animation from one frame of the scene to the next [s]."""
    return animation_frame(scene, 1) * scene.render.fps_base / scene.render.fps


def animation_frame(scene: bpy.types.Scene, frame: int) -> float:
    """The frame on F-curves that a frame of the scene shows, after Blender's Time Stretching."""
    return frame * (scene.render.frame_map_old / scene.render.frame_map_new)


def playhead(scene: bpy.types.Scene) -> tuple[int, float]:
    """Current frame and subframe, as arguments for `Scene.frame_set`.

    Blender returns −2.5 as frame −2 and subframe −0.5, but accepts no negative subframe.
    """
    frame, subframe = scene.frame_current, scene.frame_subframe
    return (frame, subframe) if subframe >= 0 else (frame - 1, 1 + subframe)
