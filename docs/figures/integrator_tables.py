"""What docs/how_it_works/integrators.md says in numbers, measured."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from math import exp

import numpy as np

from docs.figures.problems import (
    AIR_DRAG,
    DRAG,
    DURATION,
    GRAVITY,
    POLYNOMIAL,
    PROJECTILE,
    SINE,
    SPRING,
    THROW,
    Problem,
    constant_steps,
    ramped_steps,
    random_steps,
    times,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.integrators import SCHEMES, start_displacement, step_gains, trajectory

DRAWS = 8
RUNS = 500
HALVINGS = (50, 100, 200, 400, 800)
INTEGRATORS = ("VERLET", "TCV", "TCV_EXACT")

Maker = Callable[[int], Floats]
Advance = Callable[[Floats, float, float], Floats]
KINDS: dict[str, list[Maker]] = {
    "constant": [constant_steps],
    "random": [partial(random_steps, seed=seed) for seed in range(DRAWS)],
    "ramp": [ramped_steps],
}


def projectile_table() -> str:
    """Returns by how much each scheme misses a projectile at worst."""
    rows = [
        [f"`{scheme}`", *(length(worst_miss(scheme, makers)) for makers in KINDS.values())]
        for scheme in SCHEMES
    ]
    return table(["scheme", "constant steps", "±50 % random steps", "fiftyfold ramp"], rows)


def worst_miss(scheme: str, makers: Iterable[Maker]) -> float:
    """Returns the largest distance from a projectile's path, over 300 steps of each kind."""
    return max(float(PROJECTILE.errors(scheme, make(300)).max()) for make in makers)


def order_table() -> str:
    """Returns the measured orders of the last position, for three motions and kinds of steps."""
    problems = (POLYNOMIAL, SPRING, AIR_DRAG)
    cases = list(product(problems, KINDS.values()))
    rows = [
        [f"`{scheme}`", *(f"{end_order(scheme, *case):.2f}" for case in cases)]
        for scheme in SCHEMES
    ]
    return table(
        ["scheme", *(f"{problem.name}, {kind}" for problem, kind in product(problems, KINDS))], rows
    )


def end_order(scheme: str, problem: Problem, makers: Sequence[Maker]) -> float:
    """Returns the power of the step with which the last position errs."""
    errors = [
        root_mean_square([problem.errors(scheme, make(count))[-1] for make in makers])
        for count in HALVINGS
    ]
    return slope([DURATION / count for count in HALVINGS], errors)


def one_step_table() -> str:
    """Returns the orders of a single step from two true positions."""
    ratios = (1.0, 0.5, 2.0)
    rows = [
        [f"`{integrator.lower()}`", *(f"{one_step_order(integrator, r):.2f}" for r in ratios)]
        for integrator in INTEGRATORS
    ]
    return table(["scheme", "h = h₋", "h = ½ h₋", "h = 2 h₋"], rows)


def one_step_order(integrator: str, ratio: float) -> float:
    """Returns the power of the step with which a sine's next position errs, for h = ratio·h₋."""
    t, steps = 0.3, [0.04 / 2**halving for halving in range(5)]
    errors = []
    for h in steps:
        before, now, after = (SINE.true(at) for at in (t - h / ratio, t, t + h))
        velocity_gain, acceleration_gain = step_gains(integrator, h, h / ratio, 0.0)
        a = SINE.acceleration(now, now, t)
        errors.append(abs(now + (now - before) * velocity_gain + a * acceleration_gain - after)[0])
    return slope(steps, errors)


def contest_table() -> str:
    """Returns how often plain Verlet ends further from the truth than TCV, and by how much."""
    schemes = ("verlet", "tcv", "tcv_exact")
    rows = []
    for problem in (PROJECTILE, POLYNOMIAL, SINE, SPRING):
        draws = [random_steps(30, seed) for seed in range(RUNS)]
        ends = np.array([[problem.errors(s, draw)[-1] for s in schemes] for draw in draws])
        further = 100 * np.mean(ends[:, 0] > ends[:, 1])
        rows.append([problem.name, f"{further:.1f} %", *map(length, np.median(ends, axis=0))])
    header = ["motion", "`verlet` ends further off", *(f"`{s}`, median" for s in schemes)]
    return table(header, rows)


def drag_table() -> str:
    """Returns how far a throw through air ends from the truth, for several ways to brake."""
    counts = (30, 90, 270, 810)
    lost = 1.0 - exp(-DRAG * DURATION / 90)
    ways: dict[str, Advance] = {
        "fixed share f a step": lambda d, h, _before: d * (1 - lost) + GRAVITY * h * h,
        "resistance R a step": lambda d, h, _before: (d + GRAVITY * h * h) * (1 - lost),
        **{f"`{name.lower()}`, damping": partial(solver_step, name) for name in INTEGRATORS},
    }
    cuts = [*map(constant_steps, counts), random_steps(90)]
    rows = [[way, *(length(drag_miss(step, cut)) for cut in cuts)] for way, step in ways.items()]
    return table(["way", *(f"{n} steps" for n in counts), "90 random steps"], rows)


def solver_step(integrator: str, displacement: Floats, h: float, before: float) -> Floats:
    """Returns the next displacement as the solver makes it."""
    velocity_gain, acceleration_gain = step_gains(integrator, h, before, DRAG)
    return displacement * velocity_gain + GRAVITY * acceleration_gain


def drag_miss(advance: Advance, steps: Floats) -> float:
    """Returns how far a throw through air ends from the truth."""
    before = float(steps[0])
    displacement = start_displacement(THROW, GRAVITY, before, DRAG)
    x = AIR_DRAG.x0
    for h in steps.tolist():
        displacement = advance(displacement, h, before)
        x, before = x + displacement, h
    return float(np.linalg.norm(x - AIR_DRAG.true(DURATION)))


def velocity_table() -> str:
    """Returns the orders of three ways to tell the velocity from positions."""
    rows = [
        [way, *(f"{velocity_order(way, KINDS[kind]):.2f}" for kind in ("constant", "random"))]
        for way in ("(x − x₋)/h₋", "(x − x₋)/h₋ + ½ a₋ h₋", "(x₊ − x₋)/(h + h₋)")
    ]
    return table(["velocity", "constant steps", "±50 % random steps"], rows)


def velocity_order(way: str, makers: Sequence[Maker]) -> float:
    """Returns the power of the step with which a spring's velocity errs along its path."""
    errors = [
        root_mean_square([velocity_error(way, make(count)) for make in makers])
        for count in HALVINGS
    ]
    return slope([DURATION / count for count in HALVINGS], errors)


def velocity_error(way: str, steps: Floats) -> float:
    """Returns the error [m/s] of a spring's velocity, as a root mean square over the path."""
    x = trajectory("tcv_exact", SPRING.acceleration, SPRING.x0, SPRING.v0, steps)[:, 0]
    before, here, after = x[:-2], x[1:-1], x[2:]
    h_before, h = steps[:-1], steps[1:]
    t = times(steps)[1:-1]
    estimates = {
        "(x − x₋)/h₋": (here - before) / h_before,
        "(x − x₋)/h₋ + ½ a₋ h₋": (here - before) / h_before - 2 * before * h_before,
        "(x₊ − x₋)/(h + h₋)": (after - before) / (h + h_before),
    }
    return root_mean_square(estimates[way] - (np.cos(2 * t) / 2 - 2 * np.sin(2 * t)))


def root_mean_square(values: Sequence[float] | Floats) -> float:
    """Returns the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def slope(steps: Sequence[float], errors: Sequence[float]) -> float:
    """Returns the power of the step by least squares through the logarithms."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def length(metres: float) -> str:
    """Returns a length in a unit that suits it, and 'rounding' below a nanometre."""
    if metres < 1e-9:
        return "rounding"
    units = ((1.0, "m"), (1e-2, "cm"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"))
    size, unit = next((size, unit) for size, unit in units if metres >= size)
    return f"{metres / size:.3g} {unit}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown, numbers to the right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])


TABLES: dict[str, Callable[[], str]] = {
    "projectile": projectile_table,
    "orders": order_table,
    "one step": one_step_table,
    "contest": contest_table,
    "velocity": velocity_table,
    "drag": drag_table,
}
