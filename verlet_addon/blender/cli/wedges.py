"""Wedges: bakes with each of several values of a setting, and with all combinations of several."""

from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

Values = tuple[tuple[str, str], ...]
"""Names of settings, with a value each: one variant."""


@dataclass(frozen=True)
class Wedge:
    """A setting and the values that it takes."""

    setting: str
    """Name as for --set: SETTING or BODY.SETTING."""
    values: tuple[str, ...]
    """Values as text."""


def read_wedge(text: str) -> Wedge:
    """Reads `SETTING=VALUE,VALUE…`; raises ArgumentTypeError if it is something else."""
    setting, _, values = text.partition("=")
    found = tuple(each.strip() for each in values.split(","))
    if not setting or not all(found):
        raise ArgumentTypeError(f"{text} has to be SETTING=VALUE or SETTING=VALUE,VALUE")
    return Wedge(setting, found)


def variants(wedges: Sequence[Wedge]) -> Iterator[Values]:
    """All combinations of the wedges' values, the last wedge's first; one, empty, without any."""
    names = [wedge.setting for wedge in wedges]
    for values in product(*(wedge.values for wedge in wedges)):
        yield tuple(zip(names, values, strict=True))


def variant_name(values: Values) -> str:
    """A variant as part of a file's name."""
    return "_".join(f"{setting}={value}" for setting, value in values)


def label(values: Values) -> str:
    """A variant as it stands beneath its picture, a line a setting."""
    return "\n".join(f"{setting} = {value}" for setting, value in values)
