"""glTF export of baked bodies: what the scene plays as one clip, from 0 s on, and bare ropes.

What renders do not show, such as the joints of soft bones, is left out.
"""

import bpy

op = bpy.context.active_operator

op.export_animation_mode = "ACTIVE_ACTIONS"
op.export_frame_range = True
op.export_anim_slide_to_zero = True
op.use_mesh_edges = True
op.use_renderable = True
