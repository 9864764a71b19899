"""Preconditioned conjugate gradients for a positive definite system, without its matrix."""

from collections.abc import Callable, Iterator

from ..arrays import Floats


def iterate_conjugate_gradients(
    solution: Floats,
    residual: Floats,
    multiply: Callable[[Floats], Floats],
    precondition: Callable[[Floats], Floats],
    rounds: int,
    inner_product: Callable[[Floats, Floats], float] = lambda a, b: float((a * b).sum()),
) -> Iterator[float]:
    """Improves a solution x of A x = b in place; yields r · P⁻¹ r of the residual r = b − A x.

    The first item is that of the initial x, each further one that after a round; the caller stops
    once it is small enough. The last is 0 or that after `rounds` rounds (M. Hestenes and E.
    Stiefel, *Methods of Conjugate Gradients for Solving Linear Systems*, 1952).

    Parameters
    ----------
    solution, residual : x and r, of any shape; both are changed.
    multiply, precondition : products of A and of P⁻¹ with such an array; the preconditioner P
        approximates A and is easily inverted.
    rounds : rounds at most.
    inner_product : of two such arrays, for callers to which the order of summation matters.
    """
    search = preconditioned = precondition(residual)
    size = inner_product(residual, preconditioned)
    yield size
    for _ in range(rounds):
        if size == 0.0:
            return
        image = multiply(search)
        step = size / inner_product(search, image)
        solution += step * search
        residual -= step * image
        preconditioned = precondition(residual)
        size, previous = inner_product(residual, preconditioned), size
        search = preconditioned + (size / previous) * search
        yield size


def iterate_until(squares: Iterator[float], small: float) -> None:
    """Runs rounds until the square of the residual is at most `small`."""
    next((square for square in squares if square <= small), None)
