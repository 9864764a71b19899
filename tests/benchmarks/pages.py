"""Tables in the pages of docs/, between the marks that stand there."""

from collections.abc import Mapping, Sequence
from pathlib import Path

Row = Mapping[str, str | int | float]


def fill_table(page: Path, name: str, where: str, rows: Sequence[Row]) -> None:
    """Puts rows into a page, between the marks of that name, below a line that says where."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for row in rows:
        values = [row.get(name, "") for name in names]
        cells = [f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in values]
        lines.append("| " + " | ".join(cells) + " |")
    head, mark, tail = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, end, tail = tail.partition("<!-- end -->")
    table = "\n".join([where, "", *lines, ""])
    page.write_text(f"{head}{mark}{table}{end}{tail}", encoding="utf-8")
