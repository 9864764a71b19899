"""What pages of the site load from elsewhere, which is to be nothing: fonts, scripts, pictures."""

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
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects what an element loads."""
        names = ("src", "srcset", "poster", *(("href",) if tag == "link" else ()))
        self.found += [value for name, value in attrs if name in names and value]


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


if __name__ == "__main__":
    sys.exit("\n".join(from_elsewhere(Path(sys.argv[1]))) or 0)
