"""Wall time of bakes with one thread and with more, each in a process of its own.

    make bench-threads                             all scenes, with 1, 2, 4 … threads and by choice
    python tests/benchmarks/threads.py --repeats 5 "free cloth, 10,201"

The times are the least of some runs, in turns, since other programs slow some of them down. Only
the simulation counts, not the building of models. A table is printed for
docs/how_it_works/benchmarks.md.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from tests.core.bodies import (
    block,
    flat_sheet,
    floor,
    make_mesh,
    moved,
    pinned,
    results,
    rotation,
    sheet,
    sphere,
)
from tests.core.colliders import collider
from verlet_addon.core.scene import Frame
from verlet_addon.core.settings import BodySettings

FRAME = 1 / 24
Played = Iterator[Frame]


def free_cloth(cells: int) -> Played:
    """A square metre that hangs from two corners."""
    mesh = pinned(sheet(cells), [0, cells])
    return results([(mesh, BodySettings())], np.full(24, FRAME))


def ropes(count: int, points: int) -> Played:
    """Many ropes in one object, each pinned at one end."""
    along = np.stack([np.linspace(0.0, 1.0, points), np.zeros(points), np.zeros(points)], axis=1)
    places = np.arange(count)[:, None, None] * np.array([0.0, 0.02, 0.0]) + along
    first = points * np.arange(count)[:, None]
    edges = np.stack([first + range(points - 1), first + range(1, points)], axis=-1)
    mesh = make_mesh(places.reshape(-1, 3), edges=edges.reshape(-1, 2).tolist())
    return results([(pinned(mesh, first[:, 0]), BodySettings())], np.full(24, FRAME))


def cloth_on_ball(cells: int) -> Played:
    """A square metre of triangles that falls over a ball, with self-collision."""
    cloth, ball = flat_sheet("strewn triangles", cells), sphere(48, 24, radius=0.25)
    above = moved(cloth, np.eye(3), (0.0, 0.0, 0.3))
    settings = BodySettings(use_self_collision=True, thickness=0.004)
    surface = collider(ball.face_vertices.reshape(-1, 3), outer=0.002, friction=0.3)
    return results([(above, settings)], np.full(24, FRAME), colliders=[(surface, ball.positions)])


def jelly(cells: int) -> Played:
    """A ball of jelly that bounces."""
    ball = moved(sphere(24, 16), np.eye(3), (0.0, 0.0, 1.0))
    settings = BodySettings(body_type="SOFT", resolution=cells)
    return results([(ball, settings)], np.full(16, FRAME), ground=floor())


def jellies(count: int) -> Played:
    """A pile of cubes of jelly on a floor."""
    cube = block((0.3, 0.3, 0.3), (6, 6, 6))
    turned = [
        moved(cube, rotation([1, 2, 3], 0.3 * k), (0.0, 0.0, 0.3 + 0.5 * k)) for k in range(count)
    ]
    bodies = [(mesh, BodySettings(body_type="SOFT")) for mesh in turned]
    return results(bodies, np.full(12, FRAME), ground=floor())


SCENES: dict[str, Callable[[], Played]] = {
    "free cloth, 2,601": lambda: free_cloth(50),
    "free cloth, 10,201": lambda: free_cloth(100),
    "free cloth, 90,601": lambda: islice(free_cloth(300), 8),
    "1,000 ropes of 20": lambda: ropes(1000, 20),
    "cloth on a ball, 6,561": lambda: islice(cloth_on_ball(80), 16),
    "a jelly, 24 cells across": lambda: jelly(24),
    "jellies, 3": lambda: jellies(3),
}


def play(name: str) -> float:
    """Simulates a scene; returns the wall time after the first frame with steps [s]."""
    frames = SCENES[name]()
    for _ in islice(frames, 2):
        pass
    start = time.perf_counter()
    for _ in frames:
        pass
    return time.perf_counter() - start


def measure(name: str, threads: str) -> float:
    """The same, in another process with so many threads; those that it chooses if ''."""
    command = [sys.executable, "-m", "tests.benchmarks.threads", "--play", name]
    environment = os.environ | {"VERLET_THREADS": threads, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    """Reads the arguments, and prints a line for each scene."""
    parser = argparse.ArgumentParser(description="Wall time with several threads.")
    parser.add_argument("scenes", nargs="*", default=list(SCENES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--play", action="store_true")
    given = parser.parse_args()
    if given.play:
        print(play(given.scenes[0]))
        return
    most = os.cpu_count() or 1
    choices = [*(str(2**k) for k in range(most.bit_length()) if 2**k <= most), ""]
    print("| scene | 1 thread, s | " + " | ".join(f"{n or 'chosen'}" for n in choices[1:]) + " |")
    print("|---|---|" + "---|" * (len(choices) - 1))
    for name in given.scenes:
        least = dict.fromkeys(choices, np.inf)
        for _ in range(given.repeats):
            for threads in choices:
                least[threads] = min(least[threads], measure(name, threads))
        shares = [f"{least[threads] / least['1']:.2f}" for threads in choices[1:]]
        print(f"| {name} | {least['1']:.2f} | " + " | ".join(shares) + " |", flush=True)


if __name__ == "__main__":
    main()
