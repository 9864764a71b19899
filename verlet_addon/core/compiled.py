"""Compiled kernels: C functions called through ctypes, where a library exists for the machine.

The NumPy kernels are the reference and the fallback; they are slower and give the same results.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .c_source import CORE, has_digest, library_name, source_digest
from .errors import KernelError

BUILD_FOLDER = CORE.parents[1] / "build" / "kernels" / "verlet_kernels"
"""Folder of the library that `make` builds in a checkout."""
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
"""Ending of the names of libraries on this system."""
CHOICES = ("", "numpy", "compiled")

addressof = ctypes.addressof
byte_of: Any = ctypes.c_char.from_buffer

NOTHING = ctypes.c_char()
"""What the address of an empty array is, which C does not read."""

NUMPY_REQUESTED = "VERLET_KERNELS is set to 'numpy'"
"""Reason for the NumPy kernels if the environment asks for them."""
PYTHON_ALONE = "this build of the add-on is Python alone"
"""Reason for the NumPy kernels where none belong to the add-on."""


@dataclass(eq=False)
class KernelBackend:
    """The kernels in use: compiled or NumPy."""

    library: Any
    """The compiled library; None if the NumPy kernels are used."""
    reason: str
    """The reason for using the NumPy kernels."""

    def fall_back(self, reason: str) -> None:
        """Uses the NumPy kernels from now on.

        Raises
        ------
        KernelError
            If VERLET_KERNELS asks for the compiled ones.
        """
        if os.environ.get("VERLET_KERNELS") == "compiled":
            raise KernelError(f"VERLET_KERNELS is 'compiled', but {reason}")
        self.library, self.reason = None, reason


@cache
def backend() -> KernelBackend:
    """Loads the library once; VERLET_KERNELS=numpy|compiled in the environment overrides.

    Raises
    ------
    KernelError
        If VERLET_KERNELS has another value, or asks for a library that does not exist.
    """
    choice = os.environ.get("VERLET_KERNELS", "")
    if choice not in CHOICES:
        raise KernelError(
            f"VERLET_KERNELS is '{choice}'; set it to 'numpy' or 'compiled', or leave it out"
        )
    found = KernelBackend(None, NUMPY_REQUESTED)
    if choice != "numpy":
        try:
            found.library = _load()
        except OSError as error:
            found.fall_back(str(error))
    return found


def _load() -> Any:
    """The library, if it was built from the C source beside this module."""
    if not has_digest():
        raise OSError(PYTHON_ALONE)
    spec = find_spec("verlet_kernels")
    installed: Any = spec.submodule_search_locations if spec else None
    folders = [Path(folder) for folder in (*(installed or []), BUILD_FOLDER)]
    name = library_name(SUFFIX)
    paths = [path for folder in folders if (path := folder / name).exists()]
    if not paths:
        others = [other for folder in folders for other in folder.glob(f"kernels-*{SUFFIX}")]
        if others:
            raise OSError(
                f"the compiled kernels in {others[0].parent} belong to another version; "
                "restart Blender, or remove the add-on and install it again"
            )
        raise OSError(f"there are no compiled kernels for {sys.platform} here")
    library = ctypes.CDLL(str(paths[0]))
    library.kernels_source.restype = ctypes.c_char_p
    if library.kernels_source() != source_digest().encode():
        raise OSError(f"the compiled kernels in {paths[0]} are not of the source they are named by")
    return library


def declare(name: str, arguments: str, result: str = "") -> Callable[..., Any]:
    """A callable for a C function, which is looked up in the library at its first call.

    One letter declares each argument and the result: p for contiguous arrays and addresses of
    structs; i for 64-bit integers; d for doubles.
    """
    pointer = ctypes.c_void_p
    kinds = {"p": pointer, "i": ctypes.c_int64, "d": ctypes.c_double}

    @cache
    def find() -> Any:
        function = getattr(backend().library, name)
        function.argtypes = [kinds[letter] for letter in arguments]
        function.restype = kinds[result] if result else None
        return function

    def call(*given: Any) -> Any:
        return find()(*[address(each) if type(each) is np.ndarray else each for each in given])

    return call


@dataclass(eq=False, slots=True)
class Packed:
    """A C struct, with references that keep the arrays it points to alive."""

    address: int
    memory: Any
    arrays: list[Any]


Member = NDArray[Any] | Packed | int | float | None


def pack(*values: Member) -> Packed:
    """A C struct of integers, doubles and addresses of arrays or other structs, 8 bytes each.

    Non-contiguous arrays are copied.
    """
    kept: list[Any] = []
    numbers: list[int | float] = []
    for value in values:
        if type(value) is np.ndarray:
            array = value if value.flags.c_contiguous else np.ascontiguousarray(value)
            kept.append(array)
            numbers.append(address(array))
        elif type(value) is Packed:
            kept.append(value)
            numbers.append(value.address)
        else:
            kept.append(value)  # kernels/replay.py finds members by their places
            numbers.append(0 if value is None else value)  # type: ignore[arg-type]
    kinds = ["d" if isinstance(number, float) else "q" for number in numbers]
    memory = bytearray(struct.pack(f"={''.join(kinds)}", *numbers) or 1)
    return Packed(addressof(byte_of(memory)), memory, kept)


def address(array: NDArray[Any]) -> int:
    """The address of a contiguous array.

    Raises
    ------
    ValueError
        If the array is not contiguous.
    """
    if not array.size:
        return addressof(NOTHING)
    try:
        return addressof(byte_of(array))  # a third of the time of the fallback
    except (TypeError, ValueError):  # read-only or not contiguous
        if not array.flags.c_contiguous:
            raise ValueError("compiled kernels need arrays that are contiguous") from None
        return int(array.__array_interface__["data"][0])


def row_of(structs: Sequence[int]) -> bytes:
    """The addresses of structs as an array in C."""
    return struct.pack(f"={len(structs)}q", *structs)
