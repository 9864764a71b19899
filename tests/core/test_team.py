"""Threads that share the loops of kernels: the same bits with any number of them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    flat_sheet,
    floor,
    frames,
    moved,
    pinned,
    rope,
    sheet,
    simulated,
    sphere,
)
from tests.core.colliders import collider
from verlet_addon.core.arrays import Floats
from verlet_addon.core.compiled import backend
from verlet_addon.core.errors import DivergenceError, OutOfMemoryError
from verlet_addon.core.settings import BodySettings
from verlet_addon.core.team import choice, threads
from verlet_addon.core.team.choice import STEPS_BETWEEN, TRIES, ThreadChoice

pytestmark = pytest.mark.skipif(backend().library is None, reason="NumPy's kernels have one thread")


def hanging_cloth() -> Floats:
    """A sheet with strips, bend paths and twists in several parts."""
    mesh = pinned(flat_sheet("quads", 40), [0, 40])
    (track,) = simulated([(mesh, BodySettings())], frames(0.1, 24), HALF)
    return track


def stiff_triangles() -> Floats:
    """Leather, whose bends are one system, dissected into parts."""
    mesh = pinned(flat_sheet("strewn triangles", 40), [0, 40])
    settings = BodySettings(bend_compliance=0.01)
    (track,) = simulated([(mesh, settings)], frames(0.1, 24), HALF)
    return track


def many_ropes() -> Floats:
    """Ropes in one object, two parts of paths, on a floor beneath."""
    line = rope(np.stack([np.linspace(0, 1, 1500), np.zeros(1500), np.zeros(1500)], axis=1))
    (track,) = simulated([(pinned(line, [0]), BodySettings())], frames(0.1, 24), HALF)
    return track


def cloth_on_ball() -> Floats:
    """Contacts, with searches in parts."""
    cloth, ball = flat_sheet("strewn triangles", 40), sphere(24, 12, radius=0.3)
    above = replace(cloth, positions=cloth.positions + np.array([0.0, 0.0, 0.305]))
    surface = collider(ball.face_vertices.reshape(-1, 3), outer=0.002, friction=0.3)
    settings = BodySettings(use_self_collision=True, thickness=0.004)
    (track,) = simulated(
        [(above, settings)], frames(0.1, 24), HALF, colliders=[(surface, ball.positions)]
    )
    return track


def bouncing_jellies() -> Floats:
    """Two that touch nobody, and two that touch each other, each of several slabs of cells."""
    ball = sphere(16, 12, radius=0.5)
    places = [(0.0, 0.0, 0.499), (3.0, 0.0, 0.499), (6.0, 0.0, 0.6), (6.1, 0.1, 1.55)]
    soft = BodySettings(body_type="SOFT", resolution=10)
    tracks = simulated(
        [(moved(ball, np.eye(3), place), soft) for place in places],
        frames(0.25, 24),
        HALF,
        ground=floor(0.0),
    )
    return np.concatenate(tracks, axis=1)


SCENES = [hanging_cloth, stiff_triangles, many_ropes, cloth_on_ball, bouncing_jellies]


@pytest.fixture(autouse=True)
def forgotten_teams(monkeypatch: pytest.MonkeyPatch) -> None:
    """No team of another test."""
    monkeypatch.setattr(threads, "_teams", {})


def played(scene: Callable[[], Floats], count: str, monkeypatch: pytest.MonkeyPatch) -> Floats:
    """A scene with so many threads."""
    monkeypatch.setenv("VERLET_THREADS", count)
    return scene()


@pytest.mark.parametrize("scene", SCENES)
def test_threads_change_no_bit(
    scene: Callable[[], Floats], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two, three, eight and a number that is chosen by the clock, as with one."""
    alone = played(scene, "1", monkeypatch)
    for count in ("2", "3", "8", ""):
        np.testing.assert_array_equal(played(scene, count, monkeypatch), alone)


def test_threads_share_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """The team has shared loops of a sheet of 1,681 vertices; with one thread there is no team."""
    played(hanging_cloth, "1", monkeypatch)
    assert not threads._teams
    played(hanging_cloth, "2", monkeypatch)
    (team,) = threads._teams.values()
    assert threads._dismiss_team(team._address) > 0  # few where helpers are late


def test_helpers_that_never_come_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for threads that hold nothing: these have ended before they began."""
    alone = played(hanging_cloth, "1", monkeypatch)
    monkeypatch.setattr(Thread, "start", lambda _: None)
    np.testing.assert_array_equal(played(hanging_cloth, "3", monkeypatch), alone)


def test_simulations_side_by_side_are_as_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two in one process: one of them has the team, and the other one thread."""
    alone = [played(scene, "1", monkeypatch) for scene in SCENES]
    monkeypatch.setenv("VERLET_THREADS", "3")
    with ThreadPoolExecutor(2) as pool:
        for found, expected in zip(pool.map(lambda scene: scene(), SCENES), alone, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_copied_process_has_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork takes no threads along."""
    alone = played(hanging_cloth, "2", monkeypatch)
    child = os.fork()
    if not child:
        os._exit(not np.array_equal(hanging_cloth(), alone))
    assert os.waitpid(child, 0)[1] == 0


def test_after_an_error_the_team_serves_the_next_simulation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A simulation that ends within a frame lets go of the threads."""
    alone = played(hanging_cloth, "2", monkeypatch)
    torn = pinned(sheet(2), [0])

    def jump(time: float) -> list[Floats]:
        return [torn.positions + np.array([1e4 if time > 0.05 else 0.0, 0.0, 0.0])]

    with pytest.raises(DivergenceError):
        simulated([(torn, BodySettings())], frames(0.1, 24), targets=jump)
    (team,) = threads._teams.values()
    assert not team._is_leading.locked()
    np.testing.assert_array_equal(played(hanging_cloth, "2", monkeypatch), alone)


def test_python_ends_while_threads_work() -> None:
    """With a simulation in another thread, which is a daemon, Python's end waits for nothing."""
    script = (
        "import threading, time\n"
        "from tests.core.bodies import *\n"
        "def play():\n"
        "    simulated([(pinned(sheet(60), [0, 60]), BodySettings())], frames(60.0, 24))\n"
        "threading.Thread(target=play, daemon=True).start()\n"
        "time.sleep(1.0)\n"
    )
    environment = os.environ | {"VERLET_THREADS": "3"}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=60)


def test_no_room_for_threads_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear sentence, where Python would say that it cannot start them."""

    def start(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", start)
    with pytest.raises(
        OutOfMemoryError, match="3 threads could not be started; set VERLET_THREADS=1"
    ):
        played(hanging_cloth, "3", monkeypatch)


def trial(monkeypatch: pytest.MonkeyPatch, seconds: Sequence[float]) -> ThreadChoice:
    """The choice after a trial of 1, 2, 4 … threads, whose steps take so long each [s]."""
    monkeypatch.delenv("VERLET_THREADS", raising=False)
    monkeypatch.setattr(choice, "thread_count", lambda: 2 ** (len(seconds) - 1))
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    found = ThreadChoice()
    for _ in range(TRIES * len(seconds)):
        threads_now = found.threads_at(found.steps)
        found.begin()
        clock[0] += seconds[found.candidates.index(threads_now)]
        found.end(1)
    return found


@pytest.mark.parametrize(
    ("seconds", "fastest"),
    [
        ([1.0, 0.6, 0.4, 0.5], 4),
        ([1.0, 0.98], 1),
        ([1.0, 0.9], 2),
        ([1.0, 1.7, 1.8], 1),
        ([1.0], 1),
    ],
)
def test_the_fastest_number_is_chosen(
    seconds: list[float], fastest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those within three per cent of the fastest, the fewest threads."""
    found = trial(monkeypatch, seconds)
    assert found.chosen == found.threads_at(found.steps) == fastest


def test_the_choice_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other programs come and go: all numbers are tried again after some hundred steps."""
    found = trial(monkeypatch, [1.0, 0.5])
    for _ in range(STEPS_BETWEEN):
        assert found.threads_at(found.steps) == 2
        found.begin()
        found.end(1)
    assert [found.threads_at(step) for step in range(2)] == [1, 2]
    assert not found.fastest


def test_the_choice_is_made_again_where_steps_become_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the next frame, if the last three steps took twice as long; not after a single one."""
    found = trial(monkeypatch, [1.0, 1.2])
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    for seconds, trials in (([2.0, 1.0, 2.0, 2.0, 1.0], 0), ([2.0, 2.0, 2.0], 1)):
        with found.working(len(seconds)):
            for each in seconds:
                found.begin()
                now[0] += each
                found.end(1)
        with found.working(1):
            assert found.steps * trials == 0
            assert bool(found.fastest) != bool(trials)


@pytest.mark.parametrize(
    ("processors", "tried"), [(1, [1]), (2, [1]), (4, [1, 2, 3]), (8, [1, 2, 4, 7])]
)
def test_live_leaves_the_interface_a_processor(
    monkeypatch: pytest.MonkeyPatch, processors: int, tried: list[int]
) -> None:
    """Unless the user has set a number of threads."""
    monkeypatch.delenv("VERLET_THREADS", raising=False)
    monkeypatch.setattr(choice, "thread_count", lambda: processors)
    assert ThreadChoice(spared=1).candidates == tried
    monkeypatch.setenv("VERLET_THREADS", str(processors))
    assert ThreadChoice(spared=1).candidates == [processors]


def test_a_wish_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's goes before that of the preferences."""
    monkeypatch.delenv("VERLET_THREADS", raising=False)
    monkeypatch.setattr(threads.PREFERENCE, "number", 5)
    assert ThreadChoice().candidates == [5]
    monkeypatch.setenv("VERLET_THREADS", "3")
    assert ThreadChoice().candidates == [3]
