"""USD export of baked bodies: meshes as they are seen, with their modifiers, frame by frame."""

import bpy

op = bpy.context.active_operator

op.export_animation = True
op.export_shapekeys = False
op.export_armatures = False
