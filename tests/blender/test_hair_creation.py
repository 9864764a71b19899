"""Hair made of hair particles and of meshes of guides, rooted in the skin that it grows on."""

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.hair import points_of, shown
from tests.blender.scenes import file_content, mesh_object, select, verlet


def head() -> Any:
    """A sphere with a UV map, moved and turned."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, radius=0.1, location=(1, 0, 1))
    obj = bpy.context.object
    obj.name, obj.rotation_euler = "Head", (0.3, 0.2, 0.5)
    bpy.context.view_layer.update()
    return obj


def bristles(obj: Any, count: int = 20) -> Any:
    """Hair particles on an object."""
    select(obj)
    bpy.ops.object.particle_system_add()
    settings = obj.particle_systems[0].settings
    settings.type, settings.count, settings.hair_length = "HAIR", count, 0.2
    bpy.context.view_layer.update()


def test_hair_particles_become_hair_that_is_rooted_in_their_mesh() -> None:
    """Each hair is a strand, which follows the skin as it deforms."""
    skin = head()
    bristles(skin)
    assert verlet.hair_from_guides() == {"FINISHED"}
    obj = bpy.context.object
    assert (obj.type, len(obj.data.curves), obj.verlet.body_type) == ("CURVES", 20, "HAIR")
    assert (obj.parent, obj.data.surface) == (skin, skin)
    roots = shown(obj).reshape(20, -1, 3)[:, 0] - np.array(skin.matrix_world.translation)
    assert np.linalg.norm(roots, axis=1) == pytest.approx(0.1, abs=5e-3)
    assert not any(each.show_viewport for each in skin.modifiers)
    grown = shown(obj)
    skin.shape_key_add(name="Basis")
    big = skin.shape_key_add(name="Big")
    for point in big.data:
        point.co *= 1.2
    big.value = 1.0
    assert np.abs(shown(obj) - grown).max() > 0.01


@pytest.mark.parametrize("turned", [False, True])
def test_a_mesh_of_guides_becomes_hair_from_the_skin_on(turned: bool) -> None:
    """Whichever end of each chain comes first in the mesh."""
    skin = head()
    ways = [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8)]
    chains = [[tuple(np.array(way) * (0.1 + 0.05 * n)) for n in range(5)] for way in ways]
    chains = [chain[::-1] if turned else chain for chain in chains]
    vertices = [place for chain in chains for place in chain]
    edges = [(n, n + 1) for n in range(9) if n != 4]
    guides = mesh_object("Guides", vertices, edges, [])
    guides.parent = skin
    select(guides)
    bpy.context.view_layer.update()
    wanted = np.array(vertices).reshape(2, 5, 3)[:, :: -1 if turned else 1]
    verlet.hair_from_guides()
    obj = bpy.context.object
    assert (obj.name, obj.data.surface) == ("Guides Hair", skin)
    assert points_of(obj).reshape(2, 5, 3)[:, 1:] == pytest.approx(wanted[:, 1:], abs=0.01)
    assert guides.hide_get()


def test_branches_and_faces_are_no_guides() -> None:
    """The sentence names the mesh, and nothing is changed."""
    mesh_object("Fork", [(0, 0, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)], [(0, 1), (1, 2), (1, 3)], [])
    before = file_content()
    with pytest.raises(RuntimeError, match="Fork is no mesh of guides"):
        verlet.hair_from_guides()
    assert file_content() == before
    mesh_object("Ring", [(0, 0, 0), (0, 0, 1), (1, 0, 1)], [(0, 1), (1, 2), (2, 0)], [])
    with pytest.raises(RuntimeError, match="Ring has edges in a ring"):
        verlet.hair_from_guides()
