"""Round marks and lines in the viewports: filled where a vertex is held firmly, else rings."""

from functools import cache
from typing import Any, cast

import bpy
import gpu
from mathutils import Matrix

from ....core.arrays import Singles
from ..drawing import builtin_shader, nearer, simple_batch, vertex_buffer
from .marks import Marks

SIZE = 10.0
"""Diameter of a mark in pixels at an interface scale of 1."""
_HIDDEN = 0.25
"""Opacity of points behind other surfaces."""

_VERTEX = """
void main()
{
  firmness = weight;
  gl_Position = matrix * vec4(pos, 1.0);
  gl_PointSize = size;
}
"""

# A dark rim makes marks stand out from bright and from dark surfaces. Firmness is the filled share
# of the area, of which `hole` is left open, so that Edit Mode's own dot can be seen.
_FRAGMENT = """
void main()
{
  float radius = length(gl_PointCoord - vec2(0.5)) * size;
  float outer = 0.5 * size - 0.5;
  float inner = max(hole * size, (outer - 1.75) * sqrt(1.0 - firmness) - 0.5);
  float inside = clamp(outer - radius + 0.5, 0.0, 1.0);
  float outside = clamp(radius - inner + 0.5, 0.0, 1.0);
  float rim = clamp(radius - (outer - 1.25) + 0.5, 0.0, 1.0);
  vec3 shade = mix(color.rgb, vec3(0.05), rim);
  fragment = vec4(shade, color.a * inside * outside);
  if (fragment.a <= 0.0) {
    discard;
  }
}
"""


@cache
def _point_shader() -> gpu.types.GPUShader:
    """The shader of marks."""
    stages: Any = gpu.types.GPUStageInterfaceInfo  # the stubs know no name
    between = stages("verlet_marks")
    between.smooth("FLOAT", "firmness")
    info = gpu.types.GPUShaderCreateInfo()
    info.push_constant("MAT4", "matrix")
    info.push_constant("VEC4", "color")
    info.push_constant("FLOAT", "size")
    info.push_constant("FLOAT", "hole")
    info.vertex_in(0, "VEC3", "pos")
    info.vertex_in(1, "FLOAT", "weight")
    info.vertex_out(between)
    info.fragment_out(0, "VEC4", "fragment")
    info.vertex_source(_VERTEX)
    info.fragment_source(_FRAGMENT)
    return gpu.shader.create_from_info(info)


class MarksDrawing:
    """Marks of one kind, ready to be drawn."""

    def __init__(self, marks: Marks) -> None:
        self._points = self._lines = None
        if len(marks.points):
            vertices = vertex_buffer(pos=marks.points, weight=marks.weights)
            self._points = simple_batch("POINTS", vertices)
        if len(marks.lines):
            self._lines = line_batch(marks.lines)

    def draw(self, color: tuple[float, float, float], *, pixel: float, hole: float) -> None:
        """Draws points and lines, weaker where other surfaces hide them.

        Parameters
        ----------
        pixel
            The interface scale.
        hole
            Share of each point's diameter that stays open.
        """
        gpu.state.depth_mask_set(False)  # or marks would hide each other
        for test, opacity in (("LESS_EQUAL", 1.0), ("GREATER", _HIDDEN)):
            gpu.state.depth_test_set(test)
            if self._lines is not None:
                draw_lines(self._lines, (*color, 0.7 * opacity), width=pixel)
            if self._points is not None:
                shader = _point_shader()
                shader.bind()
                shader.uniform_float("matrix", cast(Any, _point_matrix()))
                shader.uniform_float("color", (*color, opacity))
                shader.uniform_float("size", SIZE * pixel * (1.3 if hole else 1.0))
                shader.uniform_float("hole", hole)
                gpu.state.program_point_size_set(True)
                self._points.draw(shader)
                gpu.state.program_point_size_set(False)
        gpu.state.depth_test_set("NONE")


def _point_matrix() -> Matrix:
    """The matrix from the world to the screen, with everything drawn nearer to the eye."""
    projection = gpu.matrix.get_projection_matrix()
    return projection @ nearer(projection)


def line_batch(ends: Singles) -> gpu.types.GPUBatch:
    """Lines between ends (2 l, 3)."""
    return simple_batch("LINES", vertex_buffer(pos=ends))


def draw_lines(
    batch: gpu.types.GPUBatch, color: tuple[float, float, float, float], *, width: float
) -> None:
    """Draws lines as wide as given in pixels."""
    shader, region = builtin_shader("POLYLINE_UNIFORM_COLOR"), bpy.context.region
    if region is None:
        return
    matrices: Any = gpu.matrix  # the stubs say that `push_pop` returns nothing
    with matrices.push_pop():
        matrices.load_matrix(nearer(matrices.get_projection_matrix()))
        shader.bind()
        shader.uniform_float("viewportSize", (region.width, region.height))
        shader.uniform_float("lineWidth", width)
        shader.uniform_float("color", color)
        batch.draw(shader)
