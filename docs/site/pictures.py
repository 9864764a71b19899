"""Pictures of settings: what pictures.toml says of each, and which results it compares."""

import tomllib
from dataclasses import dataclass, field
from importlib import import_module
from math import isclose
from pathlib import Path
from typing import Any

from docs.site.values import scale_of, unit_of, value_of

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "images" / "settings"
PREFIXES = {
    "object.verlet": "body",
    "object.verlet.attachments[n]": "attachment",
    "scene.verlet": "scene",
    "pose_bone": "bone",
    "object": "object",
}
"""The first word of the names of pictures, by whatever has the setting."""
TABLE: dict[str, Any] = tomllib.loads((DOCS / "site" / "pictures.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class Result:
    """One of the results that a picture compares."""

    caption: str
    scene: str
    """Module and function in docs/figures/scenes."""
    options: dict[str, Any] = field(default_factory=dict)
    """Arguments of that function."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Values as fields show them, by the paths of settings."""
    object: str = "Body"
    """Name of the object that has these settings."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Results side by side at a frame, or as curves up to it."""

    name: str
    shows: str
    """A sentence on what is to be seen."""
    frame: int
    results: list[Result]
    measure: str = ""
    """Function of docs/figures/measures.py whose curves a plot shows; none for a picture."""

    @property
    def path(self) -> Path:
        """Where the picture is."""
        return FOLDER / f"{self.name}.{'svg' if self.measure else 'webp'}"

    def markdown(self) -> str:
        """The picture with the sentence beneath, on a page of the reference."""
        values = ", ".join(result.caption.replace("\n", " ") for result in self.results)
        return f"![{values}](../images/settings/{self.path.name})\\\n*{self.shows}*"


def of_setting(owner: str, known: Any, told: dict[str, str]) -> Picture | None:
    """The picture of a setting, if the table has one."""
    row = TABLE.get(owner, {}).get(known.identifier)
    if row is None:
        return None
    path = f"{owner}.{known.identifier}".replace("[n]", "[0]")
    unit = unit_of(known, told).split(";")[0]
    captions = row.get("captions") or [_caption(known, value, unit) for value in row["values"]]
    scenes = row.get("scenes") or [row["scene"]] * len(captions)
    results = [
        Result(
            caption=caption,
            scene=scene,
            options=row.get("options", {}),
            settings={**row.get("with", {}), path: value},
            object=row.get("object", "Body"),
        )
        for caption, value, scene in zip(captions, row["values"], scenes, strict=True)
    ]
    return Picture(
        name=f"setting_{PREFIXES[owner]}_{known.identifier}",
        shows=row.get("shows") or sentence(row["scene"]),
        frame=row["frame"],
        results=results,
        measure=row.get("measure", ""),
    )


def symptoms() -> list[Picture]:
    """Pictures of docs/how_to/went_wrong.md, which has their sentences."""
    return [
        Picture(
            name=f"wrong_{row['name']}",
            shows="",
            frame=row["frame"],
            results=[Result(**result) for result in row["results"]],
            measure=row.get("measure", ""),
        )
        for row in TABLE["symptom"]
    ]


def sentence(scene: str) -> str:
    """What a scene is, by the docstring of its function."""
    module, function = scene.split(".")
    found = getattr(import_module(f"docs.figures.scenes.{module}"), function)
    return str(found.__doc__).split("\n\n")[0]


def _caption(known: Any, value: Any, unit: str) -> str:
    """A value, and whether it is the default."""
    text = value_of(known, value, unit)
    return f"{text}\ndefault" if _is_default(known, value) else text


def _is_default(known: Any, value: Any) -> bool:
    """Whether a property has this value by default."""
    if known.type in ("FLOAT", "INT"):
        return isclose(known.default * scale_of(known), value, rel_tol=1e-5, abs_tol=1e-9)
    return known.type in ("BOOLEAN", "ENUM") and value == known.default
