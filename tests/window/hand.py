"""A hand on Blender's mouse and keyboard, and an eye on what the window shows."""

import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import bpy
import numpy as np

blender: Any = bpy

# What a test does: it yields to let Blender take in the events so far and draw.
Steps = Iterator[None]

PICTURES = Path("build/window")


class Hand:
    """Events in the first window, as `blender --enable-event-simulate` lets a script send them."""

    frames = 8
    """Last frame of what pages of the manual bake, at most."""

    def __init__(self) -> None:
        self.place = (0, 0)

    @property
    def window(self) -> Any:
        """The window; looked up anew, for a new file brings a new one."""
        return bpy.context.window_manager.windows[0]

    @property
    def area(self) -> Any:
        """The 3D viewport."""
        return next(area for area in self.window.screen.areas if area.type == "VIEW_3D")

    def region(self, kind: str) -> Any:
        """A region of the 3D viewport."""
        return next(region for region in self.area.regions if region.type == kind)

    def override(self, kind: str = "WINDOW") -> Any:
        """The context in which the mouse is over a region of the 3D viewport."""
        return bpy.context.temp_override(
            window=self.window, area=self.area, region=self.region(kind)
        )

    def send(self, kind: str, value: str = "PRESS", **more: Any) -> None:
        """Sends an event from where the mouse is; Blender takes in all of them at the next step."""
        x, y = self.place
        self.window.event_simulate(type=kind, value=value, x=x, y=y, **more)

    def drag(self, kind: str, *, right: int) -> None:
        """Sends a drag to the right with a mouse button."""
        self.send(kind)
        for _ in range(2):
            self.place = (self.place[0] + right // 2, self.place[1])
            self.send("MOUSEMOVE", "NOTHING")
        self.send(kind, "RELEASE")

    def event(self, kind: str, value: str = "PRESS", **more: Any) -> Steps:
        """One event where the mouse is."""
        self.send(kind, value, **more)
        yield

    def move(self, x: int, y: int) -> Steps:
        """Moves the mouse; Blender notices a button under it only when it moves twice."""
        for place in ((x - 1, y), (x, y)):
            self.place = place
            yield from self.event("MOUSEMOVE", "NOTHING")

    def press(self, kind: str, **modifiers: bool) -> Steps:
        """Presses and releases a key or a mouse button."""
        yield from self.event(kind, "PRESS", **modifiers)
        yield from self.event(kind, "RELEASE", **modifiers)

    def type(self, text: str) -> Steps:
        """Types lower-case letters, digits, points and spaces."""
        marks = {" ": "SPACE", ".": "PERIOD", "-": "MINUS"}
        digits = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
        for letter in text:
            kind = marks.get(letter, letter.upper())
            kind = digits[int(letter)] if letter.isdigit() else kind
            yield from self.event(kind, "PRESS", unicode=letter)
            yield from self.event(kind, "RELEASE")

    def over_view(self) -> Steps:
        """Moves the mouse to the middle of the 3D view, or of what the sidebar leaves of it."""
        region, bar = self.region("WINDOW"), self.region("UI")
        width = region.width if bar.width < 2 else min(bar.x - region.x, region.width)
        yield from self.move(region.x + width // 2, region.y + region.height // 2)

    def search(self, text: str) -> Steps:
        """Finds a command by F3, as far as the list of what was found."""
        yield from self.over_view()
        yield from self.press("F3")
        yield from wait(0.5)
        yield from self.type(text)
        yield from wait(0.5)

    def sidebar(self) -> Steps:
        """Opens the sidebar at our tab."""
        yield from self.over_view()
        self.area.spaces.active.show_region_ui = True
        yield from wait(0.3)
        self.region("UI").active_panel_category = "Verlet"
        yield from wait(0.3)

    def buttons(
        self, across: float = 2 / 3, *, until: str = ""
    ) -> Generator[None, None, dict[str, tuple[int, int]]]:
        """Looks where the buttons of the sidebar are, so far across it: `{what: (x, y)}`.

        From the top on, as far as the one that is looked for, if any.

        What a button is, Blender tells of the one under the mouse: the command that it runs, or
        the data path of the value that it shows.
        """
        region, found = self.region("UI"), {}
        x = region.x + round(region.width * across)
        preferences: Any = bpy.context.preferences
        apart = round(9 * preferences.system.ui_scale)
        for y in range(region.y + region.height - 5, region.y, -apart):
            yield from self.move(x, y)
            if (what := self.under_mouse()) and what not in found:
                found[what] = (x, y)
                if what == until:
                    break
        return found

    def find(self, button: str, across: float = 2 / 3) -> Generator[None, None, tuple[int, int]]:
        """Where a button of the sidebar is, scrolled to where a small window shows it."""
        for direction in ("", "WHEELDOWNMOUSE", "WHEELUPMOUSE"):
            for _ in range(40 if direction else 0):
                yield from self.event(direction)
            if direction:
                yield from wait(1.0)
            if button in (buttons := (yield from self.buttons(across, until=button))):
                return buttons[button]
        raise AssertionError(f"there is no button {button}, but {', '.join(buttons)}")

    def under_mouse(self) -> str:
        """The command or data path of the button under the mouse, or nothing."""
        manager, ops = bpy.context.window_manager, blender.ops.ui
        manager.clipboard = ""
        with self.override("UI"):
            if ops.copy_python_command_button.poll():
                ops.copy_python_command_button()
            elif ops.copy_data_path_button.poll():
                ops.copy_data_path_button(full_path=True)
        return str(manager.clipboard)

    def click(self, place: tuple[int, int]) -> Steps:
        """Clicks there with the left button."""
        yield from self.move(*place)
        yield from self.press("LEFTMOUSE")

    def redrawn(self) -> Steps:
        """Lets Blender draw the sidebar anew, until its panels have slid to their places."""
        for region in self.area.regions:
            region.tag_redraw()
        yield from wait(1.0)

    def take(self, name: str, *panels: str, mark: str = "") -> Steps:
        """Takes a picture of panels, where pictures are taken, and marks the row of a setting."""
        del name, panels, mark
        yield

    def film(self, name: str) -> Steps:
        """Films the frames of the scene, where pictures are taken."""
        del name
        yield

    def film_loop(self, name: str) -> Steps:
        """Films a loop that is the range of the scene, where pictures are taken."""
        del name
        yield

    def view_pixels(self) -> Any:
        """(height, width, 3) what the screen shows of the 3D view, left of the sidebar."""
        window, region, bar = self.window, self.region("WINDOW"), self.region("UI")
        width, height = bar.x - region.x, region.height
        screen = ["import", "-silent", "-window", "root", "-depth", "8"]
        whole = subprocess.run([*screen, "-format", "%h", "info:"], check=True, capture_output=True)
        top = int(whole.stdout) - (window.y + region.y + height)
        crop = ["-crop", f"{width}x{height}+{window.x + region.x}+{top}", "rgb:-"]
        shot = subprocess.run([*screen, *crop], check=True, capture_output=True)
        return np.frombuffer(shot.stdout, np.uint8).reshape(height, width, 3)

    def picture(self, name: str) -> Path:
        """Keeps what the screen shows, and tells where."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        subprocess.run(["import", "-silent", "-window", "root", path], check=True)
        return path


def wait(seconds: float) -> Steps:
    """Lets Blender go on for a while."""
    end = monotonic() + seconds
    while monotonic() < end:
        yield


def wait_until(condition: Callable[[], bool], *, seconds: float = 60.0) -> Steps:
    """Lets Blender go on until something is so."""
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end, f"not within {seconds:g} s"
        yield


def play(steps: Steps, *, after: float = 2.0) -> None:
    """Takes steps one by one, so that Blender draws between, and ends Blender with the last.

    Its exit code is 1 after an error.

    Parameters
    ----------
    after : time until the first [s].
    """

    def take() -> float:
        try:
            next(steps)
        except StopIteration:
            os._exit(0)
        except Exception:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        return 0.02

    bpy.app.timers.register(take, first_interval=after, persistent=True)
