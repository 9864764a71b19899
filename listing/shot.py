"""A sample as it is shown: from where, in which light."""

from collections.abc import Sequence
from dataclasses import dataclass

Color = tuple[float, float, float]
WARM, COOL, WHITE = (1.0, 0.82, 0.62), (0.50, 0.72, 1.0), (1.0, 0.97, 0.92)


@dataclass(frozen=True)
class Shot:
    """A sample as it is shown."""

    sample: str
    frame: int
    """Frame of a picture, or the first one of a film."""
    eye: Sequence[float]
    """Place of the camera [m]."""
    target: Sequence[float]
    """What it looks at [m]."""
    lens: float
    """Focal length, of a film 36 mm wide [mm]."""
    size: float
    """Size of what is shown, by which lights are placed [m]."""
    backdrop: Color
    """Colour of floor and wall."""
    rim: Color = COOL
    """Colour of the light from behind."""
    glow: Color = WARM
    """Colour of the light on the wall."""
    key: float = 1.0
    """Brightness of the light in front, as a share of the usual one."""
    key_side: float = -1.0
    """Side of that light: -1 is on the left, 1 on the right."""
    last: int = 0
    """Last frame of a film."""
