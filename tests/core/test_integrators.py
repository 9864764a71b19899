"""What the integration schemes promise, for study and for the solver."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from verlet_addon.core.arrays import Floats
from verlet_addon.core.errors import SettingsError
from verlet_addon.core.integrators import SCHEMES, start_displacement, step_gains, trajectory

GRAVITY = np.array([0.0, 0.0, -9.81])
START = np.array([1.0, -2.0, 3.0])
THROW = np.array([4.0, 0.5, 12.0])
DURATION = 3.0

exact_for_constant_acceleration = pytest.mark.parametrize(
    "scheme", ["improved_euler", "velocity_verlet", "leapfrog", "tcv_exact"]
)
uneven_steps = st.lists(st.floats(1e-3, 0.5), min_size=1, max_size=40)
rates = st.floats(0.01, 50.0) | st.just(0.0)


def fall(_x: Floats, _v: Floats, _t: float) -> Floats:
    """Free fall."""
    return GRAVITY


def spring(x: Floats, _v: Floats, _t: float) -> Floats:
    """A unit mass on a spring of 4 N/m."""
    return -4.0 * x


def swing(t: float) -> float:
    """Where the spring takes a mass from 1 m and 0.5 m/s."""
    return float(np.cos(2.0 * t) + 0.25 * np.sin(2.0 * t))


def thrown(steps: Floats) -> Floats:
    """The true positions of a projectile after each step."""
    t = np.concatenate([[0.0], np.cumsum(steps)])[:, None]
    return np.asarray(START + THROW * t + GRAVITY * t * t / 2)


def constant_steps(count: int) -> Floats:
    """Equal steps."""
    return np.full(count, DURATION / count)


def random_steps(count: int, *, seed: int = 0) -> Floats:
    """Steps within 50 % of their mean."""
    steps = np.random.default_rng(seed).uniform(0.5, 1.5, count)
    return np.asarray(steps * (DURATION / steps.sum()))


def ramped_steps(count: int) -> Floats:
    """Steps that grow fiftyfold."""
    steps = np.geomspace(1.0, 50.0, count)
    return np.asarray(steps * (DURATION / steps.sum()))


def measured_order(scheme: str, *makers: Callable[[int], Floats], start: str = "taylor") -> float:
    """The power of the step with which the last position of a spring errs, over all makers."""
    counts = np.array([50, 100, 200, 400])
    ends = [
        [trajectory(scheme, spring, 1.0, 0.5, make(n), start=start)[-1] for make in makers]
        for n in counts
    ]
    errors = np.sqrt(np.mean((np.array(ends) - swing(DURATION)) ** 2, axis=1))
    return float(-np.polyfit(np.log(counts), np.log(errors), 1)[0])


# By hand: a = 2, x0 = 1, v0 = 3, steps ½ and 1


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("euler", [1.0, 3.0, 9.0]),
        ("improved_euler", [1.0, 2.75, 7.75]),
        ("velocity_verlet", [1.0, 2.75, 7.75]),
        ("leapfrog", [1.0, 2.75, 7.75]),
        ("tcv_exact", [1.0, 2.75, 7.75]),
        ("tcv", [1.0, 2.75, 8.25]),
        ("verlet", [1.0, 2.75, 6.5]),
    ],
)
def test_two_steps_by_hand(scheme: str, expected: list[float]) -> None:
    """Two uneven steps give what each formula gives with pencil and paper."""
    positions = trajectory(scheme, lambda _x, _v, _t: 2.0, 1.0, 3.0, [0.5, 1.0])
    assert positions.tolist() == expected  # binary fractions throughout, so no tolerance


def test_time_and_position_seen() -> None:
    """The acceleration is asked at the position and time where the step begins."""
    seen: list[tuple[float, float]] = []

    def record(x: Floats, _v: Floats, t: float) -> float:
        seen.append((float(x), t))
        return 0.0

    trajectory("euler", record, 1.0, 2.0, [0.25, 0.5, 0.25])
    assert seen == [(1.0, 0.0), (1.5, 0.25), (2.5, 0.75)]


# Laws


@exact_for_constant_acceleration
@given(steps=uneven_steps)
def test_constant_acceleration_is_exact(scheme: str, steps: list[float]) -> None:
    """A projectile is where it should be after any steps whatever."""
    positions = trajectory(scheme, fall, START, THROW, steps)
    # Rounding only: up to 40 steps, each adding a few ulps of positions up to 2 km
    np.testing.assert_allclose(positions, thrown(np.array(steps)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("steps", [random_steps(300), ramped_steps(300)], ids=["random", "ramp"])
def test_projectile_under_uneven_steps(
    steps: Floats,
) -> None:
    """TCV_EXACT hits to a nanometre what TCV misses visibly and plain Verlet by metres."""
    miss = {
        scheme: np.abs(trajectory(scheme, fall, START, THROW, steps) - thrown(steps)).max()
        for scheme in ("tcv_exact", "tcv", "verlet")
    }
    assert miss["tcv_exact"] < 1e-9
    assert 1e-3 < miss["tcv"] < 1.0  # visible, and of first order in the step
    assert miss["verlet"] > 1.0  # does not even converge


@given(steps=uneven_steps)
def test_by_how_much_tcv_misses(
    steps: list[float],
) -> None:
    """TCV misses a projectile by ½ a h (h − h₀), summed over the steps."""
    h = np.array(steps)
    miss = trajectory("tcv", fall, START, THROW, h)[-1] - thrown(h)[-1]
    # Summing v − v_true = ½ a (h − h₀) over the steps; rounding as above
    np.testing.assert_allclose(miss, GRAVITY / 2 * (h * (h - h[0])).sum(), rtol=0, atol=1e-9)


@given(steps=st.lists(st.floats(1e-2, 0.2), min_size=1, max_size=40))
def test_tcv_is_euler_well_started(steps: list[float]) -> None:
    """TCV is Euler begun with v₀ − ½ a₀ h₀, whatever the steps."""
    euler = trajectory("euler", spring, 1.0, 0.5 + 4.0 * steps[0] / 2, steps)
    # Rounding only: h/h₋ up to 20 amplifies an ulp of 1 m, 40 times
    np.testing.assert_allclose(
        trajectory("tcv", spring, 1.0, 0.5, steps), euler, rtol=0, atol=1e-11
    )


@given(step=st.floats(1e-3, 0.2), count=st.integers(1, 60))
def test_naive_verlet_is_euler(step: float, count: int) -> None:
    """With a constant step, Verlet from the naive start is Euler."""
    naive = trajectory("verlet", spring, 1.0, 0.5, [step] * count, start="naive")
    euler = trajectory("euler", spring, 1.0, 0.5, [step] * count)
    np.testing.assert_allclose(naive, euler, rtol=0, atol=1e-11)  # rounding of 60 steps


@given(step=st.floats(1e-3, 0.5), count=st.integers(1, 60))
def test_constant_step_needs_no_correction(step: float, count: int) -> None:
    """With a constant step all Verlet schemes are the same."""
    plain = trajectory("verlet", spring, 1.0, 0.5, [step] * count)
    for scheme in ("tcv", "tcv_exact", "leapfrog", "velocity_verlet"):
        corrected = trajectory(scheme, spring, 1.0, 0.5, [step] * count)
        # Rounding only, of positions near 1 m over 60 steps
        np.testing.assert_allclose(corrected, plain, rtol=0, atol=1e-11)


@given(steps=st.lists(st.floats(1e-2, 0.2), min_size=1, max_size=40))
def test_three_names_of_one_scheme(steps: list[float]) -> None:
    """Leapfrog and velocity Verlet give the path of TCV_EXACT, whatever the steps."""
    exact = trajectory("tcv_exact", spring, 1.0, 0.5, steps)
    for scheme in ("leapfrog", "velocity_verlet"):
        # Rounding only: h/h₋ up to 20 amplifies an ulp of 1 m, 40 times
        other = trajectory(scheme, spring, 1.0, 0.5, steps)
        np.testing.assert_allclose(other, exact, rtol=0, atol=1e-11)


@pytest.mark.parametrize("scheme", ["verlet", "tcv", "tcv_exact", "leapfrog"])
def test_time_can_run_backwards(scheme: str) -> None:
    """A path at a constant step, played backwards, returns to its start."""
    step, count = 0.01, 500
    there = trajectory(scheme, spring, 1.0, 0.5, [step] * count)
    # Backwards, the imagined position before the first is the one the path came from
    a = -4.0 * there[-2]
    velocity = (there[-3] - there[-1]) / (2 * step)
    back = trajectory(scheme, spring, there[-2], velocity, [step] * (count - 1))
    assert a == spring(there[-2], velocity, 0.0)
    np.testing.assert_allclose(back, there[-2::-1], rtol=0, atol=1e-10)  # rounding of 500 steps


def test_energy_does_not_drift() -> None:
    """A spring keeps its energy over a hundred periods."""
    step = 0.05
    x = trajectory("tcv_exact", spring, 1.0, 0.0, [step] * 6283)
    v = (x[2:] - x[:-2]) / (2 * step)
    energy = v * v / 2 + 2.0 * x[1:-1] ** 2
    # The scheme's own energy is kept; this one wavers by (ω h)²/4 = 0.25 % and must not drift
    assert np.ptp(energy) < 0.01 * energy[0]


@pytest.mark.parametrize(
    ("scheme", "constant", "random", "ramp"),
    [
        ("euler", 1, 1, 1),
        ("improved_euler", 1, 1, 1),
        ("verlet", 2, 0, 0),
        ("tcv", 2, 1.25, 1),  # random: a first-order part, and a larger one of order 1½ by chance
        ("tcv_exact", 2, 2, 2),
        ("velocity_verlet", 2, 2, 2),
        ("leapfrog", 2, 2, 2),
    ],
)
def test_measured_orders(scheme: str, constant: float, random: float, ramp: float) -> None:
    """The error shrinks with the step as the documentation says, for even and uneven steps."""
    assert measured_order(scheme, constant_steps) == pytest.approx(constant, abs=0.1)
    # Ten draws of 50 to 400 steps: chance still shows in the second digit
    draws = [partial(random_steps, seed=seed) for seed in range(10)]
    assert measured_order(scheme, *draws) == pytest.approx(random, abs=0.3)
    assert measured_order(scheme, ramped_steps) == pytest.approx(ramp, abs=0.15)


@pytest.mark.parametrize("scheme", ["verlet", "tcv", "tcv_exact"])
def test_naive_start_misses(scheme: str) -> None:
    """The naive start throws too fast by ½ a h, and costs an order."""
    steps = constant_steps(60)
    right = trajectory(scheme, fall, START, THROW, steps)
    naive = trajectory(scheme, fall, START, THROW, steps, start="naive")
    t = np.arange(61)[:, None] * steps[0]
    # The law itself; 1e-10 for rounding
    np.testing.assert_allclose(naive - right, GRAVITY / 2 * steps[0] * t, rtol=0, atol=1e-10)
    assert measured_order(scheme, constant_steps, start="naive") == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("scheme", ["euler", "improved_euler", "velocity_verlet", "leapfrog"])
def test_start_concerns_two_position_schemes(scheme: str) -> None:
    """Schemes that carry a velocity need no position before the first."""
    right, naive = (
        trajectory(scheme, fall, START, THROW, [0.1, 0.2], start=start)
        for start in ("taylor", "naive")
    )
    np.testing.assert_array_equal(right, naive)


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_drag_felt_through_velocity(scheme: str) -> None:
    """An acceleration that depends on the velocity converges to the true path."""
    drag, terminal = 2.0, -9.81 / 2.0
    true = terminal * DURATION + (12.0 - terminal) * (1 - np.exp(-drag * DURATION)) / drag

    def error(count: int) -> float:
        steps = constant_steps(count)
        end = trajectory(scheme, lambda _x, v, _t: -9.81 - drag * v, 0.0, 12.0, steps)[-1]
        return float(abs(end - true))

    order = 1 if "euler" in scheme else 2
    assert np.log2(error(100) / error(200)) == pytest.approx(order, abs=0.1)


# Shapes


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
@pytest.mark.parametrize("shape", [(), (3,), (5, 3), (2, 5, 3)])
def test_shapes(scheme: str, shape: tuple[int, ...]) -> None:
    """Positions have the shape of the start, one row for each step and the start itself."""
    x0 = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    positions = trajectory(scheme, spring, x0, 0, (0.1, 0.2))
    assert positions.shape == (3, *shape)
    assert positions.dtype == np.float64
    np.testing.assert_array_equal(positions[0], x0)


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_particles_are_independent(scheme: str) -> None:
    """Many particles at once move as each would alone."""
    together = trajectory(scheme, spring, [1.0, 2.0], [0.5, 0.0], [0.1, 0.3, 0.2])
    alone = trajectory(scheme, spring, 2.0, 0.0, [0.1, 0.3, 0.2])
    np.testing.assert_array_equal(together[:, 1], alone)


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_no_steps(scheme: str) -> None:
    """Without steps there is only the start."""
    np.testing.assert_array_equal(trajectory(scheme, fall, START, THROW, []), START[None])


# The solver's step


def true_gains(dt: float, previous_dt: float, rate: float) -> tuple[Decimal, Decimal]:
    """(h/h₋)·R and h(1 − R)/c, R = e^(−c h₋)·(1 − e^(−c h))/h·h₋/(1 − e^(−c h₋)), in 80 digits."""
    with localcontext() as context:
        context.prec = 80
        h, before, c = Decimal(dt), Decimal(previous_dt), Decimal(rate)
        if c == 0:
            return h / before, h * (h + before) / 2
        decay = (-c * before).exp() * (1 - (-c * h).exp()) / h * before / (1 - (-c * before).exp())
        return h / before * decay, h * (1 - decay) / c


@given(
    dt=st.floats(1e-5, 0.1),
    ratio=st.floats(1 / 50, 50.0),
    exponent=st.floats(-12.0, np.log10(50.0)),
)
def test_gains_agree_with_eighty_digits(dt: float, ratio: float, exponent: float) -> None:
    """The exact gains lose no digits, from the faintest drag to the strongest."""
    previous_dt, rate = dt * ratio, 10.0**exponent / dt
    assume(rate * previous_dt < 300.0)
    velocity_gain, acceleration_gain = step_gains("TCV_EXACT", dt, previous_dt, rate)
    true_velocity_gain, true_acceleration_gain = true_gains(dt, previous_dt, rate)
    # A few ulps, and an ulp of the exponent where e^(−c s) is tiny
    tolerance = 4e-15 + 4e-16 * rate * (dt + previous_dt)
    assert float(velocity_gain) == pytest.approx(float(true_velocity_gain), rel=tolerance)
    assert float(acceleration_gain) == pytest.approx(float(true_acceleration_gain), rel=4e-15)


@given(dt=st.floats(1e-5, 0.1), ratio=st.floats(0.02, 50.0), rate=st.floats(0.0, 1e-9))
def test_drag_fades_into_no_drag(dt: float, ratio: float, rate: float) -> None:
    """Faint drag and none give the same gains: the formula has no seam at 0."""
    gains = step_gains("TCV_EXACT", dt, dt * ratio, rate)
    # The first power of c × time, at most 1e-9 × 5 s
    np.testing.assert_allclose(gains, step_gains("TCV_EXACT", dt, dt * ratio, 0.0), rtol=1e-8)


def drifted(
    integrator: str, steps: list[float], rate: float, *, previous_dt: float = 0.02
) -> Floats:
    """Where the solver's step takes a throw under gravity and drag, step after step."""
    x, before = START, previous_dt
    displacement = start_displacement(THROW, GRAVITY, previous_dt, rate)
    path = [x]
    for h in steps:
        velocity_gain, acceleration_gain = step_gains(integrator, h, before, rate)
        displacement = displacement * velocity_gain + GRAVITY * acceleration_gain
        x, before = x + displacement, h
        path.append(x)
    return np.array(path)


def dragged(duration: float, rate: float) -> Floats:
    """The true end of a throw under gravity and drag."""
    if rate == 0.0:
        return np.asarray(START + THROW * duration + GRAVITY * duration**2 / 2)
    terminal = GRAVITY / rate
    drift = (THROW - terminal) * -np.expm1(-rate * duration) / rate
    return np.asarray(START + terminal * duration + drift)


@given(steps=uneven_steps, previous_dt=st.floats(1e-3, 0.5), rate=rates)
def test_drag_is_exact(steps: list[float], previous_dt: float, rate: float) -> None:
    """TCV_EXACT follows gravity and drag without error, whatever the steps and the imagined one."""
    end = drifted("TCV_EXACT", steps, rate, previous_dt=previous_dt)[-1]
    # Rounding of positions up to 2 km; a slow rate loses a further two digits in the truth
    np.testing.assert_allclose(end, dragged(sum(steps), rate), rtol=0, atol=1e-8)


@pytest.mark.parametrize("integrator", ["VERLET", "TCV", "TCV_EXACT"])
@settings(max_examples=30)
@given(rate=rates, count=st.integers(1, 200))
def test_drag_does_not_depend_on_steps(integrator: str, rate: float, count: int) -> None:
    """A throw through air ends in the same place in however many equal steps."""
    step = DURATION / count
    end = drifted(integrator, [step] * count, rate, previous_dt=step)[-1]
    # Rounding of positions near 50 m; a slow rate loses further digits in the truth
    np.testing.assert_allclose(end, dragged(DURATION, rate), rtol=0, atol=1e-8)


@pytest.mark.parametrize("integrator", ["VERLET", "TCV", "TCV_EXACT"])
@given(rate=rates, dt=st.floats(1e-3, 0.1))
def test_free_motion_decays_by_the_rate(integrator: str, rate: float, dt: float) -> None:
    """A velocity decays as e^(−c t), and never turns back."""
    velocity_gain, _ = step_gains(integrator, dt, dt, rate)
    assert float(velocity_gain) == pytest.approx(np.exp(-rate * dt), rel=1e-14)


@pytest.mark.parametrize("integrator", ["VERLET", "TCV", "TCV_EXACT"])
def test_each_particle_has_its_own_drag(integrator: str) -> None:
    """Gains for many dampings are the gains for each."""
    damping = np.array([0.0, 1e-9, 0.3, 40.0])
    together = step_gains(integrator, 0.02, 0.05, damping)
    alone = [step_gains(integrator, 0.02, 0.05, rate) for rate in damping]
    np.testing.assert_array_equal(together, np.transpose(alone))


@pytest.mark.parametrize("rate", [1e3, 1e6, 1e200])
def test_drag_past_all_measure(rate: float) -> None:
    """Absurd drag stops the motion, and nothing overflows."""
    path = drifted("TCV_EXACT", [0.04] * 10, rate, previous_dt=0.04)
    assert np.isfinite(path).all()
    # The whole drift of v/c and g t/c, and a hundredth of the step for the start's cap
    assert np.abs(path - START).max() < (12.0 + 9.81 * 0.4) / rate + 12.0 * 0.04 / 100


@given(velocity=st.floats(-100, 100), acceleration=st.floats(-100, 100), dt=st.floats(1e-3, 1.0))
def test_start_without_drag(velocity: float, acceleration: float, dt: float) -> None:
    """Without drag, the imagined step is the path run backwards."""
    displacement = start_displacement(velocity, acceleration, dt, 0.0)
    assert float(displacement) == pytest.approx(
        velocity * dt - acceleration * dt * dt / 2, rel=1e-13, abs=1e-13
    )


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("rk4", fall, START, THROW, [0.1]), r"scheme is 'rk4'; choose one of euler, improved"),
        (("tcv", fall, START, THROW, [0.1, 0.0]), r"time step 1 is 0 s; make it finite and above"),
        (("tcv", fall, START, THROW, [-0.1, 0.1]), r"time step 0 is -0\.1 s"),
        (("tcv", fall, START, THROW, [0.1, np.nan]), r"time step 1 is nan s"),
        (("tcv", fall, START, THROW, [0.1, np.inf]), r"time step 1 is inf s"),
        (("tcv", fall, START, THROW, 0.1), r"time_steps have shape \(\); give one row of steps"),
        (("tcv", fall, START, [1.0, 2.0], [0.1]), r"v0 has shape \(2,\); give .* \(3,\) of x0"),
        (("tcv", fall, 0.0, 0.0, [0.1]), r"the acceleration has shape \(3,\); give a number or"),
    ],
)
def test_mistakes(
    arguments: tuple[str, Callable[..., Floats], Floats, Floats, list[float]], sentence: str
) -> None:
    """A mistake is named, with its value and the remedy."""
    with pytest.raises(SettingsError, match=sentence):
        trajectory(*arguments)


def test_unknown_start() -> None:
    """An unknown start is named beside the known ones."""
    with pytest.raises(SettingsError, match="start is 'guess'; choose one of taylor, naive"):
        trajectory("tcv", fall, START, THROW, [0.1], start="guess")


@pytest.mark.parametrize(("dt", "previous_dt"), [(0.0, 0.1), (0.1, 0.0), (np.nan, 0.1), (0.1, -1)])
def test_step_of_no_length(dt: float, previous_dt: float) -> None:
    """The solver is told when it asks for a step of no length."""
    with pytest.raises(SettingsError, match="both must be finite and above 0"):
        step_gains("TCV", dt, previous_dt, 0.0)


def test_unknown_integrator() -> None:
    """An unknown integrator is named beside the known ones."""
    with pytest.raises(SettingsError, match="integrator is 'RK4'; choose one of VERLET, TCV, TCV_"):
        step_gains("RK4", 0.1, 0.1, 0.0)
