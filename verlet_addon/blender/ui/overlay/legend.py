"""The legend of strain at the bottom of a viewport."""

import blf
import bpy
import gpu
import numpy as np

from ...translation.interface import translated
from ..drawing import builtin_shader, simple_batch, vertex_buffer
from .strain import COLORS

_WIDTH, _HEIGHT, _BOTTOM = 240.0, 12.0, 40.0
"""Size of the color bar, and distance from the bottom, at an interface scale of 1 [pixels]."""
_FONT_SIZE = 11.0


def draw_legend(
    context: bpy.types.Context,
    scale: float,
    extremes: tuple[float, float] | None,
    *,
    pixel: float,
) -> None:
    """Draws the color bar with the strains at its ends.

    Parameters
    ----------
    extremes
        Smallest and largest strain that is shown, if they are known.
    pixel
        The interface scale.
    """
    left, right = _free_width(context)
    width = min(_WIDTH * pixel, right - left - 20 * pixel)
    if width < 60 * pixel:
        return
    x, y, height = (left + right - width) / 2, _BOTTOM * pixel, _HEIGHT * pixel
    _draw_bar(x, y, width, height)
    blf.size(0, _FONT_SIZE * pixel)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    blf.shadow_offset(0, 0, 0)
    blf.color(0, 1.0, 1.0, 1.0, 1.0)
    for share, text in ((0.0, percent(-scale)), (0.5, "0"), (1.0, percent(scale))):
        _write(text, x + share * width, y - 16 * pixel)
    _write(translated(title(extremes)), x + width / 2, y + height + 7 * pixel)
    blf.disable(0, blf.SHADOW)


def title(extremes: tuple[float, float] | None) -> str:
    """The text over the color bar."""
    if extremes is None:
        return "Strain"
    return f"Strain {percent(extremes[0])} to {percent(extremes[1])}"


def percent(strain: float) -> str:
    """A strain in percent with its sign; 0 has none."""
    text = f"{100 * strain:+.2g}".replace("-", "−") if abs(strain) < 0.1 else f"{100 * strain:+.0f}"
    return "0 %" if abs(strain) < 5e-5 else f"{text.replace('-', '−')} %"


def _free_width(context: bpy.types.Context) -> tuple[float, float]:
    """Left and right end of the part of a viewport that its toolbar and sidebar leave free."""
    region, area = context.region, context.area
    if region is None or area is None:
        return 0.0, 0.0
    ends = {"LEFT": 0.0, "RIGHT": float(region.width)}
    for other in area.regions:
        if other.type in ("TOOLS", "UI") and other.width > 1 and other.alignment in ends:
            inwards = other.width if other.alignment == "LEFT" else -other.width
            ends[other.alignment] += inwards
    return ends["LEFT"], ends["RIGHT"]


def _draw_bar(x: float, y: float, width: float, height: float) -> None:
    """Draws the colors from left to right."""
    across = np.linspace(x, x + width, len(COLORS), dtype=np.float32)
    places = np.zeros((len(COLORS), 2, 2), np.float32)
    places[:, :, 0] = across[:, None]
    places[:, :, 1] = (y, y + height)
    colors = np.ones((len(COLORS), 2, 4), np.float32)
    colors[:, :, :3] = COLORS[:, None]
    shader = builtin_shader("SMOOTH_COLOR")
    vertices = vertex_buffer(
        pos=np.pad(places.reshape(-1, 2), ((0, 0), (0, 1))),
        color=colors.reshape(-1, 4),
    )
    gpu.state.blend_set("NONE")
    simple_batch("TRI_STRIP", vertices).draw(shader)


def _write(text: str, center: float, y: float) -> None:
    """Writes a text around a horizontal place."""
    blf.position(0, center - blf.dimensions(0, text)[0] / 2, y, 0)
    blf.draw(0, text)
