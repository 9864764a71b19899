"""Parts of the sample scenes: meshes, pins, looks, light and a camera."""

from collections.abc import Callable, Mapping, Sequence
from math import radians
from typing import Any, cast

import bpy
import numpy as np
from numpy.typing import NDArray

from verlet_addon.blender.settings.bone_properties import armature_of

Points = NDArray[np.float64]
Color = tuple[float, float, float]


def empty_scene(*, frame_end: int) -> Any:
    """Starts a file with nothing in it but a scene of so many frames, at 24 a second."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frame_end
    scene.render.fps, scene.render.fps_base = 24, 1.0
    scene.render.engine = "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = 960, 540
    scene.cycles.samples = 64
    scene.view_settings.view_transform = "Standard"
    return scene


def grid(
    columns: int, rows: int, place: Callable[[Points, Points], Sequence[Points]]
) -> tuple[Points, NDArray[np.int64], Points]:
    """Vertices, faces and UV coordinates of a grid of quads; row after row, `place` maps (u, v)."""
    v, u = np.meshgrid(np.linspace(0, 1, rows + 1), np.linspace(0, 1, columns + 1), indexing="ij")
    uv = np.stack((u.ravel(), v.ravel()), axis=1)
    row, column = np.divmod(np.arange(columns * rows), columns)
    first = row * (columns + 1) + column
    faces = first[:, None] + np.array((0, 1, columns + 2, columns + 1))
    return np.stack(np.broadcast_arrays(*place(*uv.T)), axis=1), faces, uv


def add_mesh(
    name: str,
    vertices: Points,
    *,
    edges: NDArray[np.int64] | None = None,
    faces: NDArray[np.int64] | None = None,
    uv: Points | None = None,
    material: Any = None,
) -> Any:
    """Adds a smooth mesh object to the scene."""
    mesh: Any = bpy.data.meshes.new(name)
    mesh.from_pydata(
        vertices.tolist(),
        [] if edges is None else edges.tolist(),
        [] if faces is None else faces.tolist(),
    )
    if faces is not None:
        mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), bool))
    if uv is not None and faces is not None:
        layer = mesh.uv_layers.new(name="UVMap")
        layer.data.foreach_set("uv", uv[faces.ravel()].astype(np.float32).ravel())
    if material is not None:
        mesh.materials.append(material)
    return link(bpy.data.objects.new(name, mesh))


def link(obj: Any) -> Any:
    """Puts an object into the scene."""
    cast(Any, bpy.context.scene).collection.objects.link(obj)
    return obj


def rod(name: str, *, length: float, radius: float, material: Any) -> Any:
    """Adds an upright cylinder that stands on its origin."""
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.stack((np.cos(angle), np.sin(angle)), axis=1) * radius
    vertices = np.concatenate([np.column_stack((ring, np.full(24, z))) for z in (0.0, length)])
    start = np.arange(24)
    sides = np.stack((start, (start + 1) % 24, (start + 1) % 24 + 24, start + 24), axis=1)
    return add_mesh(name, vertices, faces=sides, material=material)


def make_body(obj: Any, body_type: str, *, pinned: NDArray[np.int64], **settings: float) -> None:
    """Makes an object a Verlet body, held at some of its vertices if any are given."""
    body = obj.verlet
    body.enabled, body.body_type = True, body_type
    if len(pinned):
        obj.vertex_groups.new(name="Pin").add(pinned.tolist(), 1.0, "REPLACE")
        body.pin_group = "Pin"
    for name, value in settings.items():
        setattr(body, name, value)


def animate(obj: Any, path: str, keys: Mapping[int, Sequence[float] | float]) -> None:
    """Sets keyframes of the location or rotation of an object or a bone, or of a number."""
    for frame, value in keys.items():
        setattr(obj, path, value)
        obj.keyframe_insert(path, frame=frame)


def light_and_ground(*, ground: Color = (0.50, 0.40, 0.28), sun: float = -28) -> None:
    """Adds a sun, turned so far, a sky that is pale at the horizon, and a ground at height 0."""
    lamp: Any = bpy.data.lights.new("Sun", "SUN")
    lamp.energy, lamp.angle, lamp.color = 4.0, radians(3), (1.0, 0.91, 0.78)
    link(bpy.data.objects.new("Sun", lamp)).rotation_euler = (radians(50), 0, radians(sun))
    world: Any = bpy.data.worlds.new("Sky")
    cast(Any, bpy.context.scene).world = world
    world.use_nodes = True
    nodes, links = world.node_tree.nodes, world.node_tree.links
    height = nodes.new("ShaderNodeSeparateXYZ")
    links.new(nodes.new("ShaderNodeTexCoord").outputs["Generated"], height.inputs[0])
    ramp = nodes.new("ShaderNodeValToRGB")
    ramp.color_ramp.elements[0].color = (0.74, 0.86, 0.94, 1)
    ramp.color_ramp.elements[1].position = 0.5
    ramp.color_ramp.elements[1].color = (0.10, 0.32, 0.80, 1)
    links.new(height.outputs["Z"], ramp.inputs[0])
    links.new(ramp.outputs[0], nodes["Background"].inputs["Color"])
    nodes["Background"].inputs["Strength"].default_value = 0.75
    _ground(plain("Ground", ground, roughness=0.9))


def _ground(material: Any, *, near: float = 4.0, far: float = 30.0) -> None:
    """Adds a wide floor that fades into the haze of the horizon."""
    side = 60.0
    corners = np.array([(-side, -side, 0), (side, -side, 0), (side, side, 0), (-side, side, 0)])
    add_mesh("Ground", corners, faces=np.array([(0, 1, 2, 3)]), material=material)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    away = nodes.new("ShaderNodeVectorMath")
    away.operation = "LENGTH"
    links.new(nodes.new("ShaderNodeTexCoord").outputs["Object"], away.inputs[0])
    haze = nodes.new("ShaderNodeMapRange")
    haze.interpolation_type = "SMOOTHSTEP"
    haze.inputs["From Min"].default_value, haze.inputs["From Max"].default_value = near, far
    links.new(away.outputs["Value"], haze.inputs["Value"])
    mix = nodes.new("ShaderNodeMixShader")
    links.new(haze.outputs["Result"], mix.inputs[0])
    links.new(nodes["Principled BSDF"].outputs[0], mix.inputs[1])
    links.new(nodes.new("ShaderNodeBsdfTransparent").outputs[0], mix.inputs[2])
    links.new(mix.outputs[0], nodes["Material Output"].inputs["Surface"])


def camera(place: Sequence[float], target: Sequence[float], *, lens: float = 50) -> None:
    """Adds the camera, looking at a point."""
    from mathutils import Vector

    data = bpy.data.cameras.new("Camera")
    cast(Any, data).lens = lens
    obj = link(bpy.data.objects.new("Camera", data))
    obj.location = place
    obj.rotation_euler = (Vector(target) - Vector(place)).to_track_quat("-Z", "Y").to_euler()
    cast(Any, bpy.context.scene).camera = obj


def present() -> None:
    """Lets the file open through its camera, with a body chosen and the sidebar there for it."""
    objects: Any = cast(Any, bpy.context.scene).objects
    found = next(obj for obj in objects if obj.verlet.enabled)
    body = armature_of(found) or found
    for obj in objects:
        obj.select_set(obj == body)
    cast(Any, bpy.context.view_layer).objects.active = body
    spaces = [area.spaces.active for screen in bpy.data.screens for area in screen.areas]
    for space in [space for space in spaces if isinstance(space, bpy.types.SpaceView3D)]:
        space.show_region_ui = True
        cast(Any, space.region_3d).view_perspective = "CAMERA"


def plain(name: str, color: Color, *, roughness: float = 0.6) -> Any:
    """A material of one colour."""
    material: Any = bpy.data.materials.new(name)
    material.use_nodes = True
    material.diffuse_color = (*color, 1)
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*color, 1)
    shader.inputs["Roughness"].default_value = roughness
    return material


class Pattern:
    """A cloth's material, coloured by a number worked out from its UV coordinates."""

    def __init__(self, name: str, *, translucency: float = 0.3) -> None:
        self.material = plain(name, (0.8, 0.8, 0.8), roughness=0.85)
        self._tree = self.material.node_tree
        nodes, links = self._tree.nodes, self._tree.links
        self._shader = nodes["Principled BSDF"]
        self._through = nodes.new("ShaderNodeBsdfTranslucent")
        mix = nodes.new("ShaderNodeMixShader")
        mix.inputs[0].default_value = translucency
        links.new(self._shader.outputs[0], mix.inputs[1])
        links.new(self._through.outputs[0], mix.inputs[2])
        links.new(mix.outputs[0], nodes["Material Output"].inputs["Surface"])
        separate = nodes.new("ShaderNodeSeparateXYZ")
        links.new(nodes.new("ShaderNodeTexCoord").outputs["UV"], separate.inputs[0])
        self.u, self.v = separate.outputs["X"], separate.outputs["Y"]

    def math(self, operation: str, first: Any, second: Any) -> Any:
        """One step of the calculation; each operand is a number or a former result."""
        node = self._tree.nodes.new("ShaderNodeMath")
        node.operation = operation
        for socket, value in zip(node.inputs, (first, second), strict=False):
            if isinstance(value, (int, float)):
                socket.default_value = value
            else:
                self._tree.links.new(value, socket)
        return node.outputs[0]

    def color(self, value: Any, bands: Mapping[float, Color]) -> Any:
        """Gives each range of values, named by its lower end from 0 on, its colour."""
        node = self._tree.nodes.new("ShaderNodeValToRGB")
        ramp = node.color_ramp
        ramp.interpolation = "CONSTANT"
        while len(ramp.elements) < len(bands):
            ramp.elements.new(0.5)
        for element, (start, color) in zip(ramp.elements, sorted(bands.items()), strict=True):
            element.position, element.color = start, (*color, 1)
        self.material.diffuse_color = (*bands[min(bands)], 1)
        self._tree.links.new(value, node.inputs[0])
        for shader in (self._shader, self._through):
            self._tree.links.new(node.outputs[0], shader.inputs[0])
        return self.material


def show_edges(obj: Any, *, radius: float, material: Any) -> None:
    """Draws edges without faces as round ropes, by a modifier that the bake leaves out."""
    tree: Any = bpy.data.node_groups.new("Ropes", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Mesh", in_out=direction, socket_type="NodeSocketGeometry")
    nodes, links = tree.nodes, tree.links

    def add(kind: str, **inputs: Any) -> Any:
        node = nodes.new(kind)
        for name, value in inputs.items():
            socket = node.inputs[name.replace("_", " ")]
            if isinstance(value, bpy.types.NodeSocket):
                links.new(value, socket)
            else:
                socket.default_value = value
        return node

    mesh = add("NodeGroupInput").outputs["Mesh"]
    faces = add("GeometryNodeInputMeshEdgeNeighbors").outputs["Face Count"]
    loose = add("FunctionNodeCompare")
    loose.data_type, loose.operation = "INT", "EQUAL"
    links.new(faces, next(item for item in loose.inputs if item.enabled))
    curves = add("GeometryNodeMeshToCurve", Mesh=mesh, Selection=loose.outputs[0])
    ring = add("GeometryNodeCurvePrimitiveCircle", Resolution=10, Radius=radius)
    tubes = add(
        "GeometryNodeCurveToMesh", Curve=curves.outputs[0], Profile_Curve=ring.outputs["Curve"]
    )
    looks = add("GeometryNodeSetMaterial", Geometry=tubes.outputs[0], Material=material)
    everything = add("GeometryNodeJoinGeometry")
    links.new(mesh, everything.inputs[0])
    links.new(looks.outputs[0], everything.inputs[0])
    links.new(everything.outputs[0], add("NodeGroupOutput").inputs[0])
    obj.modifiers.new("Ropes", "NODES").node_group = tree
