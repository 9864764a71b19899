"""Preview of a bake in the viewports, since shape keys are written only at its end."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...core.arrays import Floats, Integers, Singles
from ..live.control import working
from ..scene.curve_lines import line_count, read_line_edges
from ..scene.file_context import file_context
from ..scene.hair_curves import is_hair, read_strand_edges
from ..scene.mesh_access import mesh_of, point_count
from .drawing import SurfaceDrawing, brightness, vertex_normals
from .overlay.body_strain import Surface, colored, read_surface
from .overlay.strain import edge_set, edge_strains, inverse_lengths

_COLOR = np.array((0.95, 0.55, 0.15))


class LiveView:
    """Draws the simulated bodies over the scene until it is closed, and their meshes as boxes."""

    def __init__(self, scene: bpy.types.Scene, objects: Sequence[bpy.types.Object]) -> None:
        self._scene = scene.name
        # The meshes stay where the bodies were at the first frame; hidden, they would not be read.
        self._display_types = {obj.name_full: obj.display_type for obj in objects}
        with working():
            for obj in objects:
                obj.display_type = "BOUNDS"
        self._surfaces = list(map(_surface, objects))
        self._drawings = [SurfaceDrawing(each.triangles, each.loose) for each in self._surfaces]
        self._handler = bpy.types.SpaceView3D.draw_handler_add(
            self._draw, (), "WINDOW", "POST_VIEW"
        )

    def show(
        self,
        positions: Sequence[Floats],
        rest_lengths: Sequence[Floats] = (),
        *,
        scale: float = 0.0,
    ) -> None:
        """Sets the world positions (n, 3) of each body for the next redraw.

        Parameters
        ----------
        rest_lengths, scale
            Rest lengths (m,) of each body's edges, and the strain at both ends of the color scale.
            Bodies without them are orange.
        """
        for number, (drawing, surface) in enumerate(
            zip(self._drawings, self._surfaces, strict=True)
        ):
            places = positions[number]
            if rest_lengths and len(rest_lengths[number]):
                near = (places - places.mean(axis=0)).astype(np.float32)
                inverse = inverse_lengths(rest_lengths[number])
                strains = edge_strains(near, surface.edges, inverse)
                normals = vertex_normals(places, surface.triangles)
                colors = colored(surface, strains, normals, scale)
            else:
                colors = shaded(places, surface.triangles)
            drawing.fill(places.astype(np.float32), colors)

    def close(self) -> None:
        """Removes the draw handler, and shows the meshes again."""
        with working():
            for obj in bpy.data.objects:
                if (display_type := self._display_types.pop(obj.name_full, None)) is not None:
                    obj.display_type = display_type
        bpy.types.SpaceView3D.draw_handler_remove(self._handler, "WINDOW")

    def _draw(self) -> None:
        """Draw handler, which Blender calls for each viewport."""
        if file_context(bpy.context).scene.name == self._scene:
            for drawing in self._drawings:
                drawing.draw()


def _surface(obj: bpy.types.Object) -> Surface:
    """Faces and edges of a body; of a curve or hair, its lines."""
    if obj.type == "MESH":
        return read_surface(mesh_of(obj))
    edges = read_strand_edges(obj) if is_hair(obj) else read_line_edges(obj)
    count = point_count(obj) if is_hair(obj) else line_count(obj)
    return Surface(np.zeros((0, 3), np.int64), edges, edge_set(edges, count))


def shaded(positions: Floats, triangles: Integers) -> Singles:
    """(n, 4) vertex colours, brightest where the normal is parallel to the light's direction."""
    colors = np.ones((len(positions), 4), np.float32)
    colors[:, :3] = _COLOR * brightness(vertex_normals(positions, triangles))[:, None]
    return colors
