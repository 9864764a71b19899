"""What pages of the site load: nothing from elsewhere, and pictures whose sizes they say."""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path


class Assets(HTMLParser):
    """The addresses that a page loads by itself; links that a reader follows are none."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.unsized: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects what an element loads."""
        names = ("src", "srcset", "poster", *(("href",) if tag == "link" else ()))
        self.found += [value for name, value in attrs if name in names and value]
        if tag == "img" and not {"width", "height"} <= {name for name, _ in attrs}:
            self.unsized.append(dict(attrs).get("src") or "a picture")


def from_elsewhere(site: Path) -> Iterator[str]:
    """Each address of another host that a page or a style sheet of the site loads."""
    for file in sorted(site.rglob("*")):
        if file.suffix == ".html":
            addresses = Assets(file.read_text(encoding="utf-8")).found
        elif file.suffix == ".css":
            addresses = re.findall(r"url\(['\"]?([^'\")]*)", file.read_text(encoding="utf-8"))
        else:
            continue
        for address in addresses:
            if re.match(r"(\w+:)?//", address):
                yield f"{file.relative_to(site)} loads {address}"


def without_size(site: Path) -> Iterator[str]:
    """Each picture of the site for which a page keeps no room until it is loaded."""
    for page in sorted(site.rglob("*.html")):
        for picture in Assets(page.read_text(encoding="utf-8")).unsized:
            yield f"{page.relative_to(site)} does not say how large {picture} is"


if __name__ == "__main__":
    built = Path(sys.argv[1])
    sys.exit("\n".join([*from_elsewhere(built), *without_size(built)]) or 0)
