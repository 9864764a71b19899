"""The Grab operator: bodies simulated in real time under the mouse, or by a script's numbers."""

from time import monotonic
from typing import TYPE_CHECKING, cast

import bpy
import numpy as np
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    StringProperty,
)

from ...core.errors import MeshError, VerletError
from ..live.control import end_live
from ..live.grab import Grab, begin_grab
from ..live.kept_shape import Shape, keep_grab
from ..live.playback import is_playing
from ..scene.file_context import file_context
from ..settings.faults import faults_kept
from ..translation.interface import translated
from .bake_progress import bake_in_progress
from .grab_view import GrabView
from .messages import report_poses
from .operators import cancelled_by_errors, has_bodies, undoable_mode
from .view_events import moves_view

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

TICK = 1 / 60
"""Interval of the timer that advances the simulation [s]."""
WIDER = {"WHEELUPMOUSE": 1 / 1.15, "WHEELDOWNMOUSE": 1.15, "PAGE_UP": 1.15, "PAGE_DOWN": 1 / 1.15}
"""Factors on the radius, as in proportional editing."""

_kept: dict[int, list[Shape]] = {}
"""The last shapes that Enter kept, for Adjust Last Operation."""


class VERLET_OT_grab(bpy.types.Operator):
    """Drag bodies while they are simulated in real time; Enter keeps the shape, Esc restores it"""

    bl_idname = "verlet.grab"
    bl_label = "Grab"
    bl_options = {"REGISTER", "UNDO"}

    keep: EnumProperty(
        name="Keep As",
        description="Form in which the shape of meshes is kept; soft bones keep it as their pose",
        items=(
            ("START", "Starting Shape", "Simulations start from it, with the lengths of the mesh"),
            ("SHAPE_KEY", "Shape Key", "A shape key of the mesh as it is shown"),
        ),
        default="START",
    )
    radius: FloatProperty(
        name="Radius",
        description="Vertices so near along the mesh are dragged too, less the farther they are",
        subtype="DISTANCE",
        default=0.1,
        min=0.0,
        soft_max=2.0,
    )
    seconds: FloatProperty(
        name="Seconds",
        description="How long a script simulates",
        subtype="TIME_ABSOLUTE",
        default=1.0,
        min=0.0,
        options={"HIDDEN", "SKIP_SAVE"},
    )
    body: StringProperty(
        name="Body",
        description="The body of which a script drags a vertex",
        options={"HIDDEN", "SKIP_SAVE"},
    )
    vertex: IntProperty(
        name="Vertex",
        description="The vertex that a script drags; none below 0",
        default=-1,
        options={"HIDDEN", "SKIP_SAVE"},
    )
    target: FloatVectorProperty(
        name="Target",
        description="Where a script drags it to in half of the seconds, in the world",
        subtype="XYZ",
        options={"HIDDEN", "SKIP_SAVE"},
    )
    pin: BoolProperty(
        name="Pin",
        description="Whether the dragged vertex is added to the pin group of its body",
        options={"HIDDEN", "SKIP_SAVE"},
    )
    kept: IntProperty(options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        here = file_context(context)
        if bake_in_progress() is not None:
            return False
        if not has_bodies(cls, context):
            return False
        if is_playing(here.scene):
            cls.poll_message_set("The timeline plays; stop it first")
            return False
        return undoable_mode(cls, context)

    def draw(self, context: bpy.types.Context) -> None:
        cast(bpy.types.UILayout, self.layout).prop(self, "keep")

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        """Keeps the shape of the last grab anew, or simulates what a script asks for."""
        here = file_context(context)
        if self.kept in _kept:
            self._write(context, _kept[self.kept])
            return {"FINISHED"}
        grab = begin_grab(here.scene, here.view_layer)
        try:
            shapes = _shapes(grab, self._drag(grab))
        finally:
            grab.end()
        self._write(context, shapes)
        return {"FINISHED"}

    def _drag(self, grab: Grab) -> dict[str, list[int]]:
        """Drags the vertex that a script names; vertices to be pinned by the names of bodies."""
        names = [obj.name for obj in grab.stage.bodies]
        steps = round(self.seconds / grab.step)
        if self.vertex < 0:
            for _ in range(steps):
                grab.advance(1)
            return {}
        if self.body not in names:
            raise MeshError(f"There is no body {self.body} that takes part; name one that does")
        number = names.index(self.body)
        count = len(grab.positions[number])
        if self.vertex >= count:
            raise MeshError(f"{self.body} has {count} vertices and no vertex {self.vertex}")
        grab.hold(number, self.vertex, self.radius)
        drag = grab.drags[number]
        begin = drag.target
        for step in range(steps):
            share = min(2 * (step + 1) / steps, 1.0)
            drag.target = begin + (list(self.target) - begin) * share
            grab.advance(1)
        return {self.body: [self.vertex]} if self.pin else {}

    def _write(self, context: bpy.types.Context, shapes: list[Shape]) -> None:
        """Ends a live simulation, which began from other shapes, and keeps those of all bodies."""
        here = file_context(context)
        end_live(here.scene)
        starting = self.keep == "START"
        report_poses(self, keep_grab(here.scene, here.view_layer, shapes, starting=starting))

    def invoke(
        self, context: bpy.types.Context, event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        if bpy.app.background or context.area is None or context.area.type != "VIEW_3D":
            return self.execute(context)
        answer = self._run(context)
        if "RUNNING_MODAL" in answer and (event.type, event.value) == ("LEFTMOUSE", "PRESS"):
            self._press(event)  # by the tool
        return answer

    @cancelled_by_errors
    def _run(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        """Starts the simulation."""
        here = file_context(context)
        self._grab = begin_grab(here.scene, here.view_layer)
        self._held = -1
        self._to_pin: dict[str, list[int]] = {}
        self._view = GrabView(context)
        self._timer = here.window_manager.event_timer_add(TICK, window=context.window)
        self._clock = monotonic()
        if not self.properties.is_property_set("radius"):
            self.radius = 0.1 * max(float(np.ptp(p, axis=0).max()) for p in self._grab.positions)
        here.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(
        self, context: bpy.types.Context, event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        try:
            with faults_kept():
                return self._handle(context, event)
        except VerletError as error:
            self.cancel(context)
            self.report({"ERROR"}, translated(str(error)))
            return {"CANCELLED"}
        except Exception:
            self.cancel(context)
            raise

    def _handle(
        self, context: bpy.types.Context, event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        """Answers one event."""
        pressed = event.value == "PRESS"
        if event.type == "TIMER":
            self._tick()
        elif event.type in ("ESC", "RIGHTMOUSE") and pressed:
            self.cancel(context)
            return {"CANCELLED"}
        elif event.type in ("RET", "NUMPAD_ENTER") and pressed:
            return self._finish(context)
        elif event.type == "LEFTMOUSE":
            if pressed:
                self._press(event)
            else:
                self._release()
        elif event.type == "MOUSEMOVE":
            self._move(event)
        elif event.type in WIDER and pressed and not event.ctrl:
            self._widen(WIDER[event.type])
        elif event.type == "P" and pressed:
            self._pin(event)
        elif moves_view(cast(bpy.types.Window, context.window), event):
            return {"PASS_THROUGH"}
        self._show(event)
        return {"RUNNING_MODAL"}

    def _tick(self) -> None:
        """Simulates the time that has passed."""
        now = monotonic()
        if self._grab.tick(now - self._clock):
            self._grab.show()
        self._clock = now

    def _press(self, event: bpy.types.Event) -> None:
        """Takes hold of what is under the mouse."""
        found = self._view.pick(event, self._grab)
        if found is not None:
            self._held, vertex = found
            self._grab.hold(self._held, vertex, self.radius)

    def _release(self) -> None:
        """Lets go."""
        if self._held >= 0:
            self._grab.drags[self._held].let_go()
            self._held = -1

    def _move(self, event: bpy.types.Event) -> None:
        """Draws the held vertex to where the mouse is, in the plane of the view through it."""
        if self._held >= 0:
            drag = self._grab.drags[self._held]
            drag.target = self._view.location(event, drag.target)

    def _widen(self, factor: float) -> None:
        """Changes the radius, also of what is held."""
        self.radius *= factor
        if self._held >= 0:
            self._grab.drags[self._held].reach(self.radius, self._grab.positions[self._held])

    def _pin(self, event: bpy.types.Event) -> None:
        """Pins the held vertex, or what is under the mouse, or lets it go; Shift keeps it."""
        found = (
            (self._held, self._grab.drags[self._held].vertex)
            if self._held >= 0
            else self._view.pick(event, self._grab)
        )
        if found is None:
            return
        number, vertex = found
        names = self._to_pin.setdefault(self._grab.stage.bodies[number].name, [])
        if self._grab.drags[number].toggle_pin(vertex, self._grab.positions[number]):
            if event.shift:
                names.append(vertex)
        elif vertex in names:
            names.remove(vertex)

    def _show(self, event: bpy.types.Event) -> None:
        """Has the view draw the radius and the pins."""
        self._view.update(event, self._grab, self._held, self.radius)

    def _finish(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        """Ends the grab and keeps its shape."""
        shapes = _shapes(self._grab, self._to_pin)
        self.cancel(context)
        _kept.clear()
        self.kept = id(self._grab) % 2**31
        _kept[self.kept] = shapes
        self._write(context, shapes)
        return {"FINISHED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Ends the grab; bodies are as before."""
        self._grab.end()
        self._view.close(context)
        file_context(context).window_manager.event_timer_remove(self._timer)


def _shapes(grab: Grab, pins: dict[str, list[int]]) -> list[Shape]:
    """The shapes in which bodies are shown; `pins` are vertices to be pinned, by body."""
    every = zip(grab.stage.bodies, grab.positions, grab.poses(), strict=True)
    return [Shape(obj.name, places, pose, pins.get(obj.name, [])) for obj, places, pose in every]
