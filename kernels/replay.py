"""Records calls of compiled kernels here, to replay them on the libraries for other systems.

    python kernels/replay.py              records, and replays on this machine's own library
    python kernels/replay.py windows      and on the one for Windows, under Wine

The calls are those of some steps of the bodies in tests/core/test_compiled_kernels.py: no solids,
and nothing that bodies do to each other. A recording holds, for each call: the name, the letters of
its arguments and result, the arguments, the result, and every array and struct that it can reach,
before and after; then which bytes are addresses.
"""

import os
import platform
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kernels.compiler import COMPILER, PLATFORMS, compile_for  # noqa: E402
from verlet_addon.core import compiled  # noqa: E402

FOLDER = ROOT / "build" / "replay"
PYTHON = str(ROOT / "build" / "compiler" / "bin" / "python")
"""The Python with the compiler, where `make` puts it."""
Target = tuple[str, str, list[str]]
"""A system, a processor, and what runs its programs."""
WINE, WINE_SERVER = "/usr/lib/wine/wine64", "/usr/lib/wine/wineserver"
RUNNERS: dict[str, Target] = {"windows": ("Windows", "AMD64", [WINE])}
STEPS = 8
Known = dict[int, compiled.Packed | np.ndarray[Any, Any]]


class Recorder:
    """Writes every call of a compiled kernel to a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._known: Known = {}
        self.kinds: set[str] = set()
        self._pack, self._declare = compiled.pack, compiled.declare

    def listen(self) -> None:
        """Replaces functions of ctypes, before the kernels are imported."""
        for name in ("pack", "declare", "row_of"):
            setattr(compiled, name, getattr(self, name))

    def pack(self, *members: compiled.Member) -> compiled.Packed:
        """Remembers the struct by its address."""
        packed = self._pack(*members)
        self._known[packed.address] = packed
        return packed

    def _place(self, array: np.ndarray[Any, Any]) -> int:
        """Remembers the array by its address."""
        found = compiled.address(array)
        self._known[found] = array
        return found

    def row_of(self, structs: Iterable[int]) -> int:
        """The address of a packed array of structs, which are known for what they are."""
        return self.pack(*(self._known[place] for place in structs)).address

    def declare(self, name: str, kinds: str, result: str = "") -> Callable[..., Any]:
        """A function of the library that is recorded when it is called."""
        function = self._declare(name, kinds, result)

        def call(*given: Any) -> Any:
            values = [self._place(each) if isinstance(each, np.ndarray) else each for each in given]
            pairs = [*zip(kinds, values, strict=True)]
            given_places = [value for letter, value in pairs if letter == "p" and value is not None]
            reached = (place for given in given_places for place in self._reach(given))
            buffers = list(dict.fromkeys(reached))
            before = [self._bytes(place) for place in buffers]
            found = function(*values)
            after = [self._bytes(place) for place in buffers]
            number = {place: index for index, place in enumerate(buffers)}

            def told(place: int | None) -> int:
                """The number of a buffer, and how far into it an address is; −1 for NULL."""
                if place is None:
                    return -1
                begin, offset = self._begin(place)
                return number[begin] << 40 | offset

            self.kinds.add(f"{kinds}-{result}")
            values = [told(value) if letter == "p" else value for letter, value in pairs]
            self._write(name, f"{kinds}-{result}", values, found, before, after)
            for place in buffers:
                links = list(self._links(place))
                self._integers(len(links), *(x for at, to in links for x in (at, told(to))))
            return found

        return call

    def _begin(self, place: int) -> tuple[int, int]:
        """The address where the array begins that an array is a view of, and the bytes from there.

        Views of one array have to share its memory on the other system too.
        """
        found = self._known[place]
        if not isinstance(found, np.ndarray):
            return place, 0
        while isinstance(found.base, np.ndarray) and found.base.flags.c_contiguous:
            found = found.base
        return self._place(found), place - compiled.address(found)

    def _reach(self, place: int) -> Iterator[int]:
        """The addresses of a buffer and of all that it leads to."""
        yield self._begin(place)[0]
        for _, to in self._links(place):
            yield from self._reach(to)

    def _links(self, place: int) -> Iterator[tuple[int, int]]:
        """Places of addresses in a buffer, and the addresses."""
        packed = self._known[place]
        if isinstance(packed, compiled.Packed):
            for index, member in enumerate(packed.arrays):
                if isinstance(member, compiled.Packed):
                    to = member.address
                elif isinstance(member, np.ndarray):
                    to = compiled.address(member)
                else:
                    continue
                self._known[to] = member
                yield 8 * index, to

    def _bytes(self, place: int) -> bytes:
        """Present content of a buffer."""
        found = self._known[place]
        if isinstance(found, compiled.Packed):
            return bytes(found.memory)
        return found.tobytes()

    def _integers(self, *values: int) -> None:
        self._file.write(struct.pack(f"<{len(values)}q", *values))

    def _write(
        self,
        name: str,
        letters: str,
        given: list[int | float],
        found: float | None,
        before: list[bytes],
        after: list[bytes],
    ) -> None:
        for word in (name, letters):
            self._integers(len(word))
            self._file.write(word.encode())
        self._integers(len(given), len(before))
        for value in given:
            self._file.write(struct.pack("<d" if isinstance(value, float) else "<q", value))
        self._file.write(struct.pack("<d", found or 0.0))
        for was, became in zip(before, after, strict=True):
            self._integers(len(was))
            self._file.write(was + became)


MEMBERS = {"p": "address", "i": "integer", "d": "real"}
"""The member of a value in replay.c for each letter."""


def calls_by_letters(kinds: Iterable[str]) -> str:
    """Source in C that calls a function by the letters of its arguments and its result."""
    lines = []
    for kind in sorted(kinds):
        letters, result = kind.split("-")
        values = ", ".join(f"v[{k}].{MEMBERS[letter]}" for k, letter in enumerate(letters))
        call = f"(({result or 'void'} (*)({', '.join(letters)}))f)({values})"
        lines += [
            f'if (IS("{kind}")) {{',
            f"{'*result = (d)' if result else ''}{call};",
            "return 1; }",
        ]
    return "\n".join(lines)


def record(path: Path) -> None:
    """Records some steps of every body of the tests but the largest."""
    with path.open("wb") as file:
        recorder = Recorder(file)
        recorder.listen()
        from tests.core.bodies import GRAVITY, built_state
        from tests.core.test_compiled_kernels import BODIES
        from tests.core.test_detection import crumpled
        from tests.core.test_fast_paths import ROPES, stepped, way
        from verlet_addon.core.bodies.step_data import StepInputs
        from verlet_addon.core.contacts.broad_phase.skins import skin_limits
        from verlet_addon.core.contacts.manifold.persistent_contacts import (
            find_contacts,
            refresh_contacts,
        )
        from verlet_addon.core.contacts.solve.tunnelling_guard import prevent_tunnelling
        from verlet_addon.core.settings import SceneSettings
        from verlet_addon.core.step import step

        for name in sorted(BODIES.keys() - {"large"}):
            mesh, settings = BODIES[name]()
            body = built_state((mesh, settings), dt=1 / 120)
            given = StepInputs(1 / 120, GRAVITY, [mesh.positions.T], [()], None, np.zeros(3))
            for _ in range(STEPS):
                step([body], SceneSettings(), given)
        for case in sorted(ROPES.keys() - {"star", "thicket"}):  # a recording has each array once
            stepped(*way(case, ground=None, moving=False))
        surfaces, start, end = crumpled(np.random.default_rng(0))
        find_contacts(surfaces, start, end, skin=0.01)
        free = np.ones(end.shape[1])
        prevent_tunnelling(surfaces, start, end, free)
        limits = skin_limits(surfaces, np.full(len(surfaces.bvhs), 0.01))
        known = refresh_contacts(None, surfaces, start, end, limits.largest, limits)
        prevent_tunnelling(surfaces, start, end, free, known=known)
    path.with_name("kinds.h").write_text(calls_by_letters(recorder.kinds), "utf-8")


def replay(system: str, processor: str, runner: list[str]) -> int:
    """Replays the recording on the library of one kind of machine."""
    machine = PLATFORMS[system, processor]
    library = compile_for(machine, FOLDER, python=PYTHON)
    program = FOLDER / ("replay.exe" if system == "Windows" else "replay")
    command = [PYTHON, *COMPILER, "-target", machine.target, "-O1", f"-I{FOLDER}"]
    subprocess.run([*command, "-o", program, ROOT / "kernels" / "replay.c"], check=True)
    command = [*runner, str(program), str(library), str(FOLDER / "calls")]
    quiet = os.environ | {"WINEDEBUG": "-all"}
    if runner == [WINE]:
        # On a busy machine a program may start before the files of a new prefix are there.
        subprocess.run([WINE, "wineboot", "--init"], env=quiet, check=False)
        subprocess.run([WINE_SERVER, "--wait"], env=quiet, check=False)
    return subprocess.run(command, env=quiet, check=False).returncode


def main(names: list[str]) -> int:
    """Records, and replays here and on the systems named."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    record(FOLDER / "calls")
    here: Target = (platform.system(), platform.machine(), [])
    return max(replay(*target) for target in [here, *(RUNNERS[name] for name in names)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
