"""Blender's own force fields act on bodies as they act on its own particles."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import (
    baked,
    blender,
    body,
    line,
    mesh_object,
    pin,
    put_away,
    select,
    sheet,
    verlet,
)

Addon = Callable[[str], ModuleType]

STEP = 1e-3
"""Of the particles [s]: so short that they stay where they are."""
TYPES = ("WIND", "FORCE", "VORTEX", "HARMONIC", "CHARGE", "TURBULENCE", "DRAG")
SHAPES = dict.fromkeys(TYPES, ("POINT", "LINE", "PLANE")) | {"VORTEX": ("POINT", "PLANE")}
MOVING = (1.5, -0.9, 2.4)


def grid() -> Any:
    """(n, 3) points around the origin, none on an axis."""
    places = np.array((-1.3, -0.4, 0.35, 1.6))
    return np.stack(np.meshgrid(places, places, places), axis=-1).reshape(-1, 3)


def add_field(kind: str, **settings: Any) -> Any:
    """A force field beside the origin, turned every way."""
    blender.ops.object.effector_add(type=kind, location=(0.1, -0.2, 0.3), rotation=(0.3, 0.5, 0.2))
    obj = bpy.context.object
    for name, value in settings.items():
        setattr(obj.field, name, value)
    return obj


def emitter(points: Any, velocity: Sequence[float] = (0.0, 0.0, 0.0)) -> Any:
    """Blender's own particles of 1 kg and charge 1 at points, each at one vertex."""
    obj = mesh_object("Emitter", points.tolist(), [], [])
    obj.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = obj.particle_systems[0].settings
    settings.count = len(points)
    settings.emit_from = "VERT"
    settings.use_emit_random = False
    settings.frame_start = settings.frame_end = 1
    settings.lifetime = 1000
    settings.normal_factor = settings.drag_factor = settings.damping = 0.0
    settings.brownian_factor = settings.effector_weights.gravity = 0.0
    settings.mass = 1.0
    settings.integrator = "EULER"
    settings.timestep = STEP
    settings.object_align_factor = velocity
    return obj


def particle_velocities(obj: Any, frame: int) -> Any:
    """(n, 3) [m/s]."""
    bpy.context.scene.frame_set(frame)
    particles = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0]
    return np.array([particle.velocity for particle in particles.particles])


def blender_accelerations(points: Any, velocity: Sequence[float]) -> Any:
    """(n, 3) of Blender's own particles [m/s²]."""
    obj = emitter(points, velocity)
    obj.particle_systems[0].settings.force_field_1.type = "CHARGE"
    obj.particle_systems[0].settings.force_field_1.strength = 1.0
    first, second = (particle_velocities(obj, frame) for frame in (1, 2))
    assert np.allclose(first, velocity)
    obj.modifiers.clear()
    return (second - first) / STEP


def our_accelerations(addon: Addon, field: Any, points: Any, velocity: Sequence[float]) -> Any:
    """(n, 3) of the law that the core follows [m/s²]."""
    read = addon("blender.scene.force_fields").read_field(
        field, bpy.context.evaluated_depsgraph_get()
    )
    velocities = np.broadcast_to(np.array(velocity)[:, None], points.T.shape)
    push, rate = addon("core.forces.fields").field_law(read, points.T, velocities)
    return (push - rate * velocities).T


def assert_alike(addon: Addon, field: Any, velocity: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
    """Within 2 % of each acceleration, at least of a hundredth of the largest, at every point.

    Blender keeps velocities as float32, which is 0.1 mm/s² here.
    """
    points = grid()
    wanted = blender_accelerations(points, velocity)
    ours = our_accelerations(addon, field, points, velocity)
    sizes = np.linalg.norm(wanted, axis=1)
    errors = np.linalg.norm(ours - wanted, axis=1)
    assert (errors <= 0.02 * np.maximum(sizes, 0.01 * sizes.max()) + 2e-4).all()


CASES = [(kind, shape) for kind in TYPES for shape in SHAPES[kind]]


@pytest.mark.parametrize(("kind", "shape"), CASES)
def test_every_field_accelerates_as_it_does_blender_s_particles(
    addon: Addon, kind: str, shape: str
) -> None:
    """At rest and in motion; eddies and rest length are half a metre."""
    for velocity, flow in (((0.0, 0.0, 0.0), 0.0), (MOVING, 0.0), (MOVING, 0.7)):
        for obj in bpy.context.scene.objects:
            bpy.data.objects.remove(obj)
        field = add_field(
            kind, shape=shape, strength=1.7, flow=flow, size=0.5, harmonic_damping=0.6
        )
        assert_alike(addon, field, velocity)


@pytest.mark.parametrize("falloff", ["SPHERE", "TUBE", "CONE"])
@pytest.mark.parametrize("side", ["BOTH", "POSITIVE", "NEGATIVE"])
def test_falloffs_and_limits_are_blender_s(addon: Addon, falloff: str, side: str) -> None:
    """Some points lie nearer than the nearest and others beyond the farthest distance."""
    limits = {
        "use_min_distance": True,
        "distance_min": 0.8,
        "use_max_distance": True,
        "distance_max": 1.8,
        "use_radial_min": True,
        "radial_min": 0.6 if falloff == "TUBE" else 30.0,
        "use_radial_max": True,
        "radial_max": 1.5 if falloff == "TUBE" else 180.0,
    }
    field = add_field(
        "FORCE",
        strength=3.0,
        falloff_type=falloff,
        z_direction=side,
        falloff_power=1.5,
        radial_falloff=0.7,
        **limits,
    )
    assert_alike(addon, field)
    reached = np.linalg.norm(our_accelerations(addon, field, grid(), (0.0, 0.0, 0.0)), axis=1)
    assert 0 < np.count_nonzero(reached) < len(reached)


def test_gravity_falloff_is_blender_s(addon: Addon) -> None:
    assert_alike(addon, add_field("FORCE", strength=2.0, use_gravity_falloff=True))


@pytest.mark.parametrize(("size", "in_world"), [(0.0, False), (0.3, True), (2.0, False)])
def test_eddies_are_where_blender_has_them(addon: Addon, size: float, in_world: bool) -> None:
    field = add_field("TURBULENCE", strength=2.0, size=size, use_global_coords=in_world)
    assert_alike(addon, field)


def test_a_field_without_size_does_no_harm(addon: Addon) -> None:
    """Its axis points nowhere, and Blender's does too."""
    field = add_field("WIND", strength=2.0)
    field.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert not our_accelerations(addon, field, grid(), (0.0, 0.0, 0.0)).any()


def test_gusts_are_those_of_blender_s_first_particle(addon: Addon) -> None:
    """In every frame, by seed; its further ones each have a gust of their own."""
    field = add_field("WIND", strength=2.0, noise=1.5, seed=11, flow=0.0)
    obj = emitter(np.zeros((1, 3)))
    speeds = [np.linalg.norm(particle_velocities(obj, frame)) for frame in range(1, 8)]
    wanted = np.diff(speeds) / STEP
    ours = []
    for frame in range(2, 8):
        bpy.context.scene.frame_set(frame)
        ours.append(np.linalg.norm(our_accelerations(addon, field, np.ones((1, 3)), (0, 0, 0))))
    np.testing.assert_allclose(ours, wanted, rtol=1e-3)
    assert np.std(ours) > 0.1


# --- what a bake makes of them ------------------------------------------------------------------


@pytest.fixture
def weightless() -> Any:
    """A scene of ten frames at 24 a second without gravity or ground."""
    scene = bpy.context.scene
    scene.use_gravity = False
    blender.context.scene.verlet.use_ground = False
    scene.frame_start, scene.frame_end = 1, 11
    return scene


def drift(obj: Any) -> Any:
    """(3,) how far the mean of a body has moved in a bake [m]."""
    verlet.bake()
    first, *_, last = baked(obj).values()
    return (last - first).mean(axis=0)


def loose(name: str = "Line") -> Any:
    """A body that nothing holds or slows down."""
    return body(line(name), damping=0.0)


def push(strength: float = 2.0, **settings: Any) -> Any:
    """A field that accelerates everything alike along z."""
    field = add_field("WIND", strength=strength, flow=0.0, wind_factor=0.0, **settings)
    field.rotation_euler = (0.0, 0.0, 0.0)
    return field


HALF_T_SQUARED = (10 / 24) ** 2 / 2


@pytest.mark.usefixtures("weightless")
def test_a_bake_feels_the_fields_of_the_scene() -> None:
    obj = loose()
    push(2.0)
    push(1.0)
    np.testing.assert_allclose(drift(obj), (0.0, 0.0, 3.0 * HALF_T_SQUARED), atol=1e-5)


@pytest.mark.usefixtures("weightless")
def test_each_body_feels_its_share() -> None:
    none, half = loose("None"), loose("Half")
    half.location.x = 3.0  # in the same place they would push each other away
    none.verlet.wind, half.verlet.wind = 0.0, 0.5
    push(2.0)
    select(none, half)
    verlet.bake()
    still, moving = (list(baked(obj).values()) for obj in (none, half))
    assert not (still[-1] - still[0]).any()
    drifted = (moving[-1] - moving[0]).mean(axis=0)
    np.testing.assert_allclose(drifted[2], HALF_T_SQUARED, atol=1e-5)


@pytest.mark.usefixtures("weightless")
def test_only_the_fields_of_its_collection_act_on_a_body() -> None:
    """Those of collections within it too."""
    obj = loose()
    push(5.0)
    chosen, inner = (bpy.data.collections.new(name) for name in ("Chosen", "Inner"))
    obj.verlet.effector_collection = chosen
    assert not drift(obj).any()
    chosen.children.link(inner)
    inner.objects.link(push(2.0))
    np.testing.assert_allclose(drift(obj)[2], 2.0 * HALF_T_SQUARED, atol=1e-5)


def eye_shut(field: Any) -> None:
    field.hide_set(True)


def disabled(field: Any) -> None:
    field.hide_viewport = True


def without_location(field: Any) -> None:
    field.field.apply_to_location = False


def excluded(field: Any) -> None:
    put_away(field, exclude=True)


def collection_eye_shut(field: Any) -> None:
    put_away(field)
    bpy.context.view_layer.layer_collection.children["Away"].hide_viewport = True


def collection_disabled(field: Any) -> None:
    put_away(field).hide_viewport = True


@pytest.mark.parametrize(
    "hide",
    [eye_shut, disabled, without_location, excluded, collection_eye_shut, collection_disabled],
)
def test_hidden_fields_act_where_blender_s_act(weightless: Any, hide: Any) -> None:
    """On the particles of the same file."""
    obj = loose()
    field = push(2.0)
    hide(field)
    moved = bool(np.abs(drift(obj)).max() > 1e-3)
    verlet.clear_bake()
    particles = emitter(np.zeros((1, 3)))
    bpy.context.view_layer.update()
    weightless.frame_set(1)
    assert moved == bool(np.abs(particle_velocities(particles, 2)).max() > 1e-4)


@pytest.mark.usefixtures("weightless")
def test_a_body_does_not_feel_its_own_field() -> None:
    obj, other = loose(), loose("Other")
    select(obj)
    bpy.ops.object.forcefield_toggle()
    obj.field.strength, other.location.y = 3.0, 1.0
    select(obj, other)
    verlet.bake()
    own, others = (list(baked(each).values()) for each in (obj, other))
    assert not (own[-1] - own[0]).any()
    assert (others[-1] - others[0])[:, 1].min() > 0.1


@pytest.mark.usefixtures("weightless")
def test_fields_are_animated() -> None:
    """Strength growing from frame to frame, evenly: a t³ / 6."""
    obj = loose()
    field = push(0.0)
    field.keyframe_insert("field.strength", frame=1)
    field.field.strength = 10.0
    field.keyframe_insert("field.strength", frame=11)
    for curve in curves_of(field):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    np.testing.assert_allclose(drift(obj)[2], 24.0 * (10 / 24) ** 3 / 6, rtol=0.01)


def curves_of(obj: Any) -> Any:
    """The curves of an object's action, in every version of Blender."""
    action = obj.animation_data.action
    if hasattr(action, "fcurves"):
        return action.fcurves
    return action.layers[0].strips[0].channelbags[0].fcurves


@pytest.mark.usefixtures("weightless")
def test_a_bake_with_gusts_and_eddies_is_the_same_again() -> None:
    """Bit for bit; with another seed it is another."""
    obj = body(sheet())
    pin(obj, [0, 1, 2, 3, 4])
    wind = add_field("WIND", strength=6.0, noise=4.0, seed=3)
    add_field("TURBULENCE", strength=5.0, size=0.4)
    drift(obj)
    first = list(baked(obj).values())
    drift(obj)
    assert np.array_equal(list(baked(obj).values()), first)
    wind.field.seed = 400
    drift(obj)
    assert not np.array_equal(list(baked(obj).values()), first)


# --- the interface ------------------------------------------------------------------------------


def test_what_acts_is_counted_as_a_bake_feels_it(addon: Addon) -> None:
    """Panels show this number; what has no effect on soft bodies is not in it."""
    obj = loose()
    module, layer = addon("blender.scene.force_fields"), bpy.context.view_layer

    def count() -> Any:
        return module.acting_fields(obj, module.enabled_fields(layer))

    assert not count()
    fields = [push(), add_field("FORCE"), add_field("MAGNET")]
    assert [field.name for field in count()] == [field.name for field in fields[:2]]
    fields[1].hide_viewport = True
    assert [field.name for field in count()] == [fields[0].name]


@pytest.mark.usefixtures("weightless")
@pytest.mark.parametrize("kind", ["MAGNET", "LENNARDJ", "TEXTURE", "GUIDE", "BOID", "FLUID_FLOW"])
def test_fields_that_have_no_effect_are_said(addon: Addon, kind: str) -> None:
    obj = loose()
    field = push()
    field.field.type = kind
    cautions = addon("blender.bake.cautions").cautions
    arguments = (bpy.context.scene, bpy.context.view_layer, [obj])
    (sentence,) = cautions(*arguments)
    assert field.name in sentence
    assert "soft bodies, since its type is" in sentence
    assert not drift(obj).any()
    obj.verlet.wind = 0.0
    assert not cautions(*arguments)


@pytest.mark.parametrize("shape", ["SURFACE", "POINTS"])
def test_shapes_that_have_no_effect_are_said(addon: Addon, shape: str) -> None:
    obj, source = loose(), sheet("Source")
    bpy.ops.object.forcefield_toggle()
    source.field.shape = shape
    (sentence,) = addon("blender.bake.cautions").cautions(
        bpy.context.scene, bpy.context.view_layer, [obj]
    )
    assert "Source does not act on soft bodies, since its shape is" in sentence


def test_fields_of_particles_are_said(addon: Addon) -> None:
    obj, particles = loose(), emitter(grid())
    cautions = addon("blender.bake.cautions").cautions
    arguments = (bpy.context.scene, bpy.context.view_layer, [obj])
    assert not cautions(*arguments)
    particles.particle_systems[0].settings.force_field_1.type = "FORCE"
    (sentence,) = cautions(*arguments)
    assert particles.name in sentence
    assert "use an object" in sentence


def test_absorption_is_said_not_to_be_followed(addon: Addon) -> None:
    obj = loose()
    field = push(use_absorption=True)
    (sentence,) = addon("blender.bake.cautions").cautions(
        bpy.context.scene, bpy.context.view_layer, [obj]
    )
    assert field.name in sentence
    assert "Absorption" in sentence


def test_a_panel_shows_share_collection_and_number(addon: Addon) -> None:
    """Every row that it draws is there, and nothing is drawn without a body."""
    panel = addon("blender.ui.panels").VERLET_PT_forces
    assert panel.bl_parent_id == "VERLET_PT_body"
    assert panel in addon("blender.registration").CLASSES
    sheet()
    assert not panel.poll(bpy.context)
    loose()
    assert panel.poll(bpy.context)
