"""Samples of the site: beside the link to each, one to the same file baked, if `make demo` was run.

Baked files are too large for the source, so that the pages there link only those that are ready.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BAKED = Path(__file__).parents[2] / "build" / "demo"
LINK = re.compile(r"\[ready\]\(\.\./\.\./sample_blends/(\w+)\.blend\)")
"""The link of a page to a sample that is ready to bake."""


def setup(app: "Sphinx") -> dict[str, bool]:
    """Registers this extension of Sphinx."""
    app.connect("source-read", link_baked)
    return {"parallel_read_safe": True}


def link_baked(_app: "Sphinx", _name: str, source: list[str]) -> None:
    """Adds the links of a page to baked files."""
    source[0] = with_baked(source[0], BAKED)


def with_baked(text: str, folder: Path) -> str:
    """A page with a link after that to each sample which is in a folder, baked."""

    def both(found: re.Match[str]) -> str:
        # One with caches beside it is packed together with them.
        files = [folder / f"{found[1]}{ending}" for ending in (".zip", ".blend")]
        baked = next((file for file in files if file.exists()), None)
        place = f"../../{BAKED.parent.name}/{BAKED.name}"
        return f"{found[0]}, [baked]({place}/{baked.name})" if baked else found[0]

    return LINK.sub(both, text)
