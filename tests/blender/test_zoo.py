"""Small scenes of the zoo of contacts: nothing passes through, and cloth keeps its lengths.

Each is a scene of `make zoo` with fewer vertices and for a second: bodies, colliders and
circumstances are those of its seed.
"""

from dataclasses import replace

import pytest

from tests.benchmarks.zoo_measures import measure, read_positions, read_shape
from tests.benchmarks.zoo_scenes import build, drawn, make_verlet
from tests.blender.scenes import blender, verlet

VERTICES, SECONDS = 450, 1.0
"""Of the largest body, at most; and how long a scene takes [s]."""
HELD = [12, 19, 23, 24, 26, 41, 42, 49, 51, 104]
"""Seeds of scenes that keep what is promised."""
WANTED = {
    14: "cloth pinned over a head that spins comes 0.6 mm nearer than its 5 mm, not 0.5",
    20: "edges of a ring over a cube are 0.75 % longer, but for 1 %, at 5 steps a frame",
    30: "edges of a ring in wind of 60 m/s are 0.69 % longer, but for 1 %",
    31: "wind of 60 m/s stretches a sheet 1 mm thick to four times its length, at 5 steps a frame",
    36: "a skirt is 3.7 mm nearer to a figure that sits down than its 25 mm",
    40: "of two pinned sheets one is pressed 5 mm into the 10 mm above the floor",
    92: "a sheet 20 mm thick among moving plates lacks 8.9 mm, and is 0.65 % longer",
    149: "a dress in the lap of a figure that sits down is twice as long, and crosses its thighs",
}
"""Seeds of scenes that do not yet, and what they come to."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed",
    [
        *HELD,
        *(
            pytest.param(seed, marks=pytest.mark.xfail(raises=AssertionError, reason=reason))
            for seed, reason in WANTED.items()
        ),
    ],
)
def test_contacts_hold_in_a_scene_of_the_zoo(seed: int) -> None:
    """No crossing, depth under a tenth of the thickness, stretch under 3 %, 0.6 % but for 1 %."""
    drawn_bodies = drawn(seed).bodies
    bodies = tuple((kind, min(count, VERTICES), material) for kind, count, material in drawn_bodies)
    scene = replace(drawn(seed), bodies=bodies, seconds=SECONDS)
    built = build(scene)
    make_verlet(scene, built)
    verlet.bake()
    frames = []
    for frame in range(1, scene.frames + 1):
        blender.context.scene.frame_set(frame)
        frames.append(read_positions(built))
    found = measure(scene, read_shape(scene, built), frames)
    assert found.crosses_at_start == 0
    assert found.crossings == 0
    assert found.depth < 0.1 * scene.thickness
    assert found.stretch < 0.03
    assert found.nearly_all < 0.006
