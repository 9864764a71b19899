"""Line plots as SVG text, from Python alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isclose, log10

PANEL_WIDTH, PANEL_HEIGHT = 360.0, 270.0
LEFT, RIGHT, TOP, BOTTOM = 68.0, 22.0, 92.0, 56.0
INK, PALE, GRID = "#24292f", "#57606a", "#e4e7eb"
FONT = "font-family='Helvetica, Arial, sans-serif'"


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line through points, with a marker at each."""

    label: str
    points: Sequence[tuple[float, float]]
    colour: str
    marker: str = ""
    """An SVG shape around 0, 0; none for a line alone."""
    width: float = 1.5


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Two axes and what is drawn between them."""

    title: str
    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    curves: Sequence[Curve]
    is_log: bool = False
    """Whether the vertical axis counts powers of ten."""


def draw(title: str, panels: Sequence[Panel]) -> str:
    """Returns a figure of panels side by side, under a title and the first panel's legend."""
    width = len(panels) * (LEFT + PANEL_WIDTH + RIGHT)
    height = TOP + PANEL_HEIGHT + BOTTOM
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' "
        f"width='{width:g}' height='{height:g}' role='img' {FONT} font-size='12' fill='{INK}'>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width:g}' height='{height:g}' rx='8' fill='#ffffff'/>",
        text(title, width / 2, 26, "font-size='16' font-weight='bold' text-anchor='middle'"),
        *_legend(panels[0].curves, width),
    ]
    for index, panel in enumerate(panels):
        lines += _panel(panel, LEFT + index * (LEFT + PANEL_WIDTH + RIGHT), f"panel{index}")
    return "\n".join([*lines, "</svg>", ""])


def _panel(panel: Panel, left: float, name: str) -> Iterator[str]:
    """The frame, grid, labels and curves of one panel."""
    frame = f"width='{PANEL_WIDTH:g}' height='{PANEL_HEIGHT:g}'"
    yield f"<g transform='translate({left:g} {TOP:g})'>"
    yield f"<clipPath id='{name}'><rect x='-6' y='-6' width='372' height='282'/></clipPath>"
    yield from _grid(panel)
    yield f"<rect {frame} fill='none' stroke='{PALE}'/>"
    yield text(panel.title, PANEL_WIDTH / 2, -10, f"text-anchor='middle' fill='{PALE}'")
    yield text(panel.x_label, PANEL_WIDTH / 2, PANEL_HEIGHT + 40, "text-anchor='middle'")
    turned = f"translate(-50 {PANEL_HEIGHT / 2:g}) rotate(-90)"
    yield text(panel.y_label, 0, 0, f"text-anchor='middle' transform='{turned}'")
    yield f"<g clip-path='url(#{name})'>"
    for curve in panel.curves:
        yield from _curve(curve, [_place(panel, x, y) for x, y in curve.points])
    yield "</g></g>"


def _grid(panel: Panel) -> Iterator[str]:
    """Lines and numbers at round values of both axes."""
    for value in round_values(*panel.x_range):
        x, _ = _place(panel, value, panel.y_range[0])
        yield f"<line x1='{x:.1f}' x2='{x:.1f}' y2='{PANEL_HEIGHT:g}' stroke='{GRID}'/>"
        yield text(f"{value:g}", x, PANEL_HEIGHT + 18, "text-anchor='middle'")
    for value, label in _powers(*panel.y_range) if panel.is_log else _numbers(*panel.y_range):
        _, y = _place(panel, panel.x_range[0], value)
        yield f"<line y1='{y:.1f}' y2='{y:.1f}' x2='{PANEL_WIDTH:g}' stroke='{GRID}'/>"
        yield text(label, -8, y + 4, "text-anchor='end'")


def _curve(curve: Curve, places: Sequence[tuple[float, float]]) -> Iterator[str]:
    """A line through places on the page, with the curve's marker at each."""
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    style = f"stroke='{curve.colour}' stroke-width='{curve.width:g}' stroke-linejoin='round'"
    yield f"<polyline points='{points}' fill='none' {style}/>"
    if curve.marker:
        for x, y in places:
            yield f"<g transform='translate({x:.1f} {y:.1f})'>{curve.marker}</g>"


def _legend(curves: Sequence[Curve], width: float) -> Iterator[str]:
    """The curves' names in one row, each after a piece of its line."""
    widths = [52.0 + 6.6 * len(curve.label) for curve in curves]
    left = (width - sum(widths)) / 2
    for curve, room in zip(curves, widths, strict=True):
        yield from _curve(curve, [(left, 52.0), (left + 24.0, 52.0)])
        yield text(curve.label, left + 34.0, 56.0, "")
        left += room


def _place(panel: Panel, x: float, y: float) -> tuple[float, float]:
    """A point of the panel in its picture; what a logarithm cannot show lies at its bottom."""
    low, high = panel.y_range
    if panel.is_log:
        low, high, y = log10(low), log10(high), log10(max(y, low))
    start, end = panel.x_range
    return (x - start) / (end - start) * PANEL_WIDTH, (high - y) / (high - low) * PANEL_HEIGHT


def round_values(low: float, high: float) -> list[float]:
    """Returns four to ten round numbers within a range."""
    span = high - low
    unit = 10.0 ** floor(log10(span))
    step = next(unit * share for share in (0.1, 0.2, 0.5, 1.0, 2.0) if span <= 8 * unit * share)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [0.0 if isclose(n, 0.0) else round(n * step, 9) for n in range(first, last + 1)]


def _numbers(low: float, high: float) -> list[tuple[float, str]]:
    """Round values with their labels."""
    return [(value, f"{value:g}".replace("-", "−")) for value in round_values(low, high)]


def _powers(low: float, high: float) -> list[tuple[float, str]]:
    """Powers of ten within a range, with their labels; of many only every third."""
    exponents = range(round(log10(low)), round(log10(high)) + 1)
    stride = 3 if len(exponents) > 8 else 1
    digits = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return [(10.0**n, "10" + str(n).translate(digits)) for n in exponents if n % stride == 0]


def text(content: str, x: float, y: float, style: str) -> str:
    """A piece of text."""
    return f"<text x='{x:.1f}' y='{y:.1f}' {style}>{escape(content)}</text>"
