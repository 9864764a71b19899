"""FBX export of baked bodies: the scene as it plays, frame by frame, from bare meshes."""

import bpy

op = bpy.context.active_operator

op.use_mesh_modifiers = False
op.bake_anim_use_nla_strips = False
op.bake_anim_use_all_actions = False
op.bake_anim_simplify_factor = 0.0
