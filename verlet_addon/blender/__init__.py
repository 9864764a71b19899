"""Blender's side, the only folder that imports bpy: reads the scene, calls `core`, writes keys."""
