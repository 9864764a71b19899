"""Conjugate gradients: a positive definite system that is known by what it makes of a vector."""

from collections.abc import Callable, Iterator

import numpy as np

from ..arrays import Floats


def iterate_conjugate_gradients(
    solution: Floats,
    residual: Floats,
    multiply: Callable[[Floats], Floats],
    precondition: Callable[[Floats], Floats],
    rounds: int,
    add_up: Callable[[Floats], float] = np.sum,
) -> Iterator[float]:
    """Goes on from a first x to the solution of A x = b, one round for each square asked for.

    Squares of residuals r = b − A x are r · P⁻¹ r. The first is that of the first x; whoever asks
    knows which is small enough. There are none after one that is 0, nor after so many rounds (M.
    Hestenes and E. Stiefel, *Methods of Conjugate Gradients for Solving Linear Systems*, 1952).

    Parameters
    ----------
    solution, residual : x and r, of any shape; both are written to.
    multiply, precondition : A and P⁻¹ times such an array, where P is like A, and easily inverted.
    add_up : the sum of such an array, in an order of one's own.
    """
    search = preconditioned = precondition(residual)
    size = float(add_up(residual * preconditioned))
    yield size
    for _ in range(rounds):
        if size == 0.0:
            return
        image = multiply(search)
        step = size / float(add_up(search * image))
        solution += step * search
        residual -= step * image
        preconditioned = precondition(residual)
        size, previous = float(add_up(residual * preconditioned)), size
        search = preconditioned + (size / previous) * search
        yield size


def iterate_until(squares: Iterator[float], small: float) -> None:
    """Asks for squares until one is no more than this."""
    for square in squares:
        if square <= small:
            break
