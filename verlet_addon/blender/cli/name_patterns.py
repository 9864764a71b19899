"""Names on the command line that may be patterns, with `*`, `?` or `[…]`."""

from fnmatch import fnmatchcase


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern of names."""
    return any(each in text for each in "*?[")


def matches(name: str, wanted: str) -> bool:
    """Whether a name is the wanted one, or matches it as a pattern."""
    return name == wanted or fnmatchcase(name, wanted)
