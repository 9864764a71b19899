"""The only folder that imports bpy: reads Blender's data, calls `core`, writes the result back."""
