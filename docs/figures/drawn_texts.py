"""The texts that panels draw, kept while Blender draws them."""

from importlib import import_module
from typing import Any

import bpy


class Drawn:
    """A layout that draws nothing, but keeps its texts and what its buttons set or run."""

    def __init__(self) -> None:
        object.__setattr__(self, "rows", [])

    def __setattr__(self, name: str, value: object) -> None:
        """Takes on what a layout is told of its looks."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **options: self._add(name, args, options)

    def _add(self, kind: str, args: tuple[Any, ...], options: dict[str, Any]) -> "Drawn":
        text = options.get("text")
        if kind in ("prop", "prop_search"):
            known = args[0].bl_rna.properties[args[1]].name
            self.rows.append((args[1], known if text is None else text))
        elif kind == "operator":
            group, _, name = args[0].partition(".")
            known = getattr(getattr(bpy.ops, group), name).get_rna_type().name
            self.rows.append((args[0], known if text is None else text))
        elif kind == "template_list":
            self.rows += [("", "")] * 4
        elif kind == "label" or (kind == "menu" and text is None):  # others stand beside a label
            self.rows.append(("", text or ""))
        return self

    @property
    def texts(self) -> list[str]:
        """All texts, from above."""
        return [text for _, text in self.rows if text]

    @property
    def lines_above(self) -> int:
        """Number of lines before the first button."""
        return next(number for number, row in enumerate(self.rows) if row[0])

    @property
    def lines_below(self) -> int:
        """Number of lines after the last button."""
        return next(number for number, row in enumerate(self.rows[::-1]) if row[0])

    def has(self, what: str) -> bool:
        """Whether a button that Blender tells of by a path or a command is one of these."""
        names = {row[0] for row in self.rows}
        command = what.removeprefix("bpy.ops.").partition("(")[0]
        return command in names or what.rpartition(".")[2] in names


def record_panels(base: str, found: dict[str, Drawn]) -> None:
    """Lets all panels of the sidebar tab keep what they draw, by their titles."""
    kind: Any = import_module(base).SidebarPanel
    draw = kind.draw

    def draw_and_keep(panel: Any, context: Any) -> None:
        draw(panel, context)
        found[panel.bl_label] = kept = Drawn()
        kept.rows.append(("", panel.bl_label))
        panel.fill(kept, context)

    kind.draw = draw_and_keep
