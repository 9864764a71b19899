"""The rest-shape settings of `Object.verlet`, and the vertex groups that scale settings."""

from bpy.props import BoolProperty, FloatProperty, StringProperty

from ...core.settings import BodySettings

_BODY = BodySettings()

PAINTED = {
    "stretch": "stretch_group",
    "shear": "shear_group",
    "bend": "bend_group",
    "shrinking": "shrinking_group",
    "maximum_distance": "maximum_distance_group",
    "thickness": "thickness_group",
    "pressure": "pressure_group",
    "stiffness": "stiffness_group",
    "rigid": "rigid_group",
    "flesh": "flesh_group",
    "muscle": "muscle_group",
    "object_collisions": "vertex_group_object_collisions",
    "self_collisions": "vertex_group_self_collisions",
}
"""The vertex-group property for each layer of the core's `Paint`."""
NAMES = ("pin_group", "pin_weight", *PAINTED.values(), "rest_key", "thread_map", "muscle_map")
"""Properties that no setting of the core has: vertex groups, shape key, UV map, factor on pins."""


class ShapeProperties:
    """Rest-shape and vertex-group properties of `VERLET_PG_body`."""

    stretch_group: StringProperty(
        name="Stretch Group",
        description="Vertex group whose weights scale how far edges give; 0 does not stretch",
        options=set(),
    )
    shear_group: StringProperty(
        name="Shear Group",
        description="Vertex group whose weights scale how easily faces skew; 0 keeps them square",
        options=set(),
    )
    bend_group: StringProperty(
        name="Bending Group",
        description="Vertex group whose weights scale how easily it folds; 0 keeps its shape",
        options=set(),
    )
    shrinking_group: StringProperty(
        name="Shrinking Group",
        description="Vertex group whose weights scale the shrinking; 0 keeps its size",
        options=set(),
    )
    thickness_group: StringProperty(
        name="Thickness Group",
        description="Vertex group whose weights scale the distance kept from what it touches",
        options=set(),
    )
    pressure_group: StringProperty(
        name="Pressure Group",
        description="Vertex group whose weights scale the pressure of the gas",
        options=set(),
    )
    stiffness_group: StringProperty(
        name="Stiffness Group",
        description="Vertex group whose weights scale the stiffness of jelly beneath; "
        "0 is a thousandth of it",
        options=set(),
    )
    rigid_group: StringProperty(
        name="Rigid Group",
        description="Vertex group of rigid parts, such as buttons or planks: each connected piece "
        "of it, with weights of a half or more, moves as one",
        options=set(),
    )
    rest_key: StringProperty(
        name="Rest Shape Key",
        description="Shape key that shows the object while nothing is stretched or bent",
        options=set(),
    )
    thread_map: StringProperty(
        name="Thread Map",
        description="UV map that shows which way threads run: the warp upwards in it, the weft "
        "across; without one, cloth is alike every way",
        options=set(),
    )
    weft_compliance: FloatProperty(
        name="Weft Softness",
        description="How far cloth gives when pulled across the thread map, in metres per newton; "
        "Stretch is along it",
        default=_BODY.weft_compliance,
        soft_min=0.0,
        soft_max=1.0,
        step=0.1,
        precision=5,
        options={"ANIMATABLE"},
    )
    use_sewing: BoolProperty(
        name="Sewing",
        description="Edges without faces pull their ends together",
        default=_BODY.use_sewing,
        options=set(),
    )
    sewing_force: FloatProperty(
        name="Sewing Force",
        description="Greatest force of each of these edges, in newtons. 0 is automatic: twice "
        "the weight of the cloth, divided among the edges, and ten times that once they are closed",
        default=_BODY.sewing_force,
        soft_min=0.0,
        soft_max=10.0,
        step=1,
        precision=3,
        options={"ANIMATABLE"},
    )
    sewing_weight: FloatProperty(
        name="Sewing Weight",
        description="Factor on the sewing force; 0 lets go of what was sewn; can be animated",
        default=_BODY.sewing_weight,
        min=0.0,
        max=1.0,
        step=10,
        subtype="FACTOR",
        options={"ANIMATABLE"},
    )
    use_tearing: BoolProperty(
        name="Tearing",
        description="Tears along the edges that Split for Tearing has split",
        default=_BODY.use_tearing,
        options=set(),
    )
    tear_strength: FloatProperty(
        name="Strength",
        description="Pull at which it tears, in newtons per metre of width",
        default=_BODY.tear_strength,
        soft_min=0.0,
        soft_max=10000.0,
        step=100,
        precision=2,
        options={"ANIMATABLE"},
    )
    use_plasticity: BoolProperty(
        name="Plasticity",
        description="Deformation beyond a limit stays, as in crumpled paper and dented metal",
        default=_BODY.use_plasticity,
        options=set(),
    )
    yield_strain: FloatProperty(
        name="Yield Stretch",
        description="Largest strain from which it springs back, as a share of the length; needs a "
        "Stretch Softness above 0",
        default=_BODY.yield_strain,
        soft_min=0.0,
        soft_max=1.0,
        step=1,
        precision=3,
        options=set(),
    )
    yield_curvature: FloatProperty(
        name="Yield Bend",
        description="Sharpest bend from which it springs back: 1 over the radius in metres",
        default=_BODY.yield_curvature,
        soft_min=0.0,
        soft_max=1000.0,
        step=100,
        precision=2,
        options=set(),
    )
    hardening: FloatProperty(
        name="Hardening",
        description="Share of the deformation beyond the limits that does not stay, but raises "
        "the limits",
        default=_BODY.hardening,
        soft_min=0.0,
        soft_max=1.0,
        step=1,
        precision=3,
        options=set(),
    )
    shrinking: FloatProperty(
        name="Shrinking",
        description="Share by which its rest lengths become shorter; below 0 they become longer",
        default=_BODY.shrinking,
        soft_min=-1.0,
        soft_max=0.9,
        step=1,
        precision=3,
        options={"ANIMATABLE"},
    )
