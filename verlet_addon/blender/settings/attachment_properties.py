"""Property group of one attachment of a body."""

import bpy
from bpy.props import FloatProperty, PointerProperty, StringProperty

from .overridable import overridable

# `target` has no poll function: with one, Blender 4.2 as a Python module crashes at exit. An
# attachment to the body itself is ignored, and a caution says so.


@overridable
class VERLET_PG_attachment(bpy.types.PropertyGroup):
    """One attachment: a vertex group whose vertices follow another object."""

    target: PointerProperty(
        name="Object",
        description="Object that the vertices follow from the first frame on: the nearest place on "
        "a mesh, even if it deforms, otherwise the object as a whole",
        type=bpy.types.Object,
    )
    bone: StringProperty(
        name="Bone",
        description="Bone of the armature that the vertices follow; without one, its object",
        options=set(),
    )
    vertex_group: StringProperty(
        name="Vertex Group",
        description="Vertices that are attached: with weight 1 they follow exactly, with less they "
        "are drawn there",
        options=set(),
    )
    weight: FloatProperty(
        name="Weight",
        description="Factor on the weights of the vertex group; 0 detaches the vertices; can be "
        "animated",
        default=1.0,
        min=0.0,
        max=1.0,
        step=10,
        subtype="FACTOR",
        options={"ANIMATABLE"},
    )
