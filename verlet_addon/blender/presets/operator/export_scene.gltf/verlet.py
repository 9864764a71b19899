"""glTF export of baked bodies: everything that moves in one clip, and ropes without faces too."""

import bpy

op = bpy.context.active_operator

op.export_animation_mode = "ACTIVE_ACTIONS"
op.use_mesh_edges = True
