"""Readers of Blender's scene: meshes, colliders, force fields, attachments, frames as samples."""
