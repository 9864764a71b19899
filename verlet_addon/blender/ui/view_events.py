"""Detection of events that only move the view, which pass through while an operator runs."""

import bpy

_ALWAYS = {
    "MIDDLEMOUSE",
    "NDOF_MOTION",
    "TRACKPADPAN",
    "TRACKPADZOOM",
    "MOUSEROTATE",
    "MOUSESMARTZOOM",
}
_WHEEL = {"WHEELUPMOUSE", "WHEELDOWNMOUSE"}
# With Ctrl or Alt, numpad keys change the camera.
_PLAIN = {f"NUMPAD_{name}" for name in (*range(10), "PERIOD", "PLUS", "MINUS")}


def moves_view(window: bpy.types.Window, event: bpy.types.Event) -> bool:
    """Whether an event rotates, moves or zooms a 3D view and cannot change the file."""
    if not is_over_view(window, event):
        return False
    if event.type in _PLAIN:
        return not (event.ctrl or event.alt or event.shift or event.oskey)
    # With Alt, the wheel changes the frame.
    return event.type in _ALWAYS or (event.type in _WHEEL and not event.alt)


def is_over_view(window: bpy.types.Window, event: bpy.types.Event) -> bool:
    """Whether the mouse is over a 3D view, and not over a sidebar or header in front of it."""
    under = {
        region.type
        for area in window.screen.areas
        if area.type == "VIEW_3D"
        for region in area.regions
        if 0 <= event.mouse_x - region.x < region.width
        and 0 <= event.mouse_y - region.y < region.height
    }
    return under == {"WINDOW"}
