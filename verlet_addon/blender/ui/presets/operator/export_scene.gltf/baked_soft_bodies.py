"""glTF export of baked bodies: what the scene plays as one clip, and ropes without faces too."""

import bpy

op = bpy.context.active_operator

op.export_animation_mode = "ACTIVE_ACTIONS"
op.export_frame_range = True
op.use_mesh_edges = True
