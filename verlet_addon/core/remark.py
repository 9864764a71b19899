"""Sentences for the user on how a bake went, with their grades."""

from collections.abc import Iterable
from typing import Literal, get_args

Grade = Literal["INFO", "WARNING", "SERIOUS"]
"""`SERIOUS`: the result is not what was asked for; `WARNING`: it may not be; `INFO`: it is."""
GRADES: tuple[Grade, ...] = get_args(Grade)
"""From the least to the worst."""


class Remark(str):
    """A sentence for the user, with its grade and the vertices of a body that it is about.

    Parameters
    ----------
    text
        What happened, and what to do.
    grade
        How much it matters.
    body
        Name of the object that has these vertices.
    vertices
        Indices of vertices that a button may select.
    """

    __slots__ = ("body", "grade", "vertices")
    grade: Grade
    body: str
    vertices: tuple[int, ...]

    def __new__(
        cls, text: str, *, grade: Grade, body: str = "", vertices: Iterable[int] = ()
    ) -> "Remark":
        """The sentence, which is text as any other."""
        remark = super().__new__(cls, text)
        remark.grade, remark.body, remark.vertices = grade, body, tuple(vertices)
        return remark


def graded(text: str) -> Remark:
    """A sentence with its grade; one without is a warning."""
    return text if isinstance(text, Remark) else Remark(text, grade="WARNING")


def worst_first(remarks: Iterable[str]) -> list[Remark]:
    """Remarks sorted by their grade, each sentence once."""
    once = map(graded, dict.fromkeys(remarks))
    return sorted(once, key=lambda remark: -GRADES.index(remark.grade))
