"""Conjugate gradients: a positive definite system that is known by what it makes of a vector."""

from collections.abc import Callable

from ..arrays import Floats


def descend(
    found: Floats,
    residual: Floats,
    multiply: Callable[[Floats], Floats],
    precondition: Callable[[Floats], Floats],
    rounds: int,
    *,
    of_first: float = 0.0,
    least: float = 0.0,
    enough: float = 0.0,
    fewest: int = 0,
    nothing: float = 0.0,
) -> float:
    """Goes on from a first x to the solution of A x = b; returns the first residual's square.

    Squares of residuals r = b − A x are r · P⁻¹ r. It ends when they are no more than `of_first`,
    this share of the first, or than `least`, and does not begin where the first is no more than
    `enough`; but not before so many rounds as `fewest`, unless they are no more than `nothing` (M.
    Hestenes and E. Stiefel, *Methods of Conjugate Gradients for Solving Linear Systems*, 1952).

    Parameters
    ----------
    found, residual : x and r, of any shape; both are written to.
    multiply, precondition : A and P⁻¹ times such an array, where P is like A, and easily inverted.
    """
    search = ahead = precondition(residual)
    size = first = float((residual * ahead).sum())
    small = max(of_first * first, least) if first > enough else first
    for number in range(rounds):
        if size <= (nothing if number < fewest else small):
            break
        image = multiply(search)
        step = size / float((search * image).sum())
        found += step * search
        residual -= step * image
        ahead = precondition(residual)
        size, former = float((residual * ahead).sum()), size
        search = ahead + (size / former) * search
    return first
