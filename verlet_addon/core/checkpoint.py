"""Checkpoints: an object of the core, stored as NumPy arrays and a JSON tree.

Pickle is not used: a checkpoint can neither run code nor name a class outside the core. A later
version reads it where its classes have the same names, in whatever modules, and the same fields,
or further ones with defaults; RENAMED lists those that have other names since.
"""

import json
import pkgutil
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from .errors import CheckpointError
from .team.choice import ThreadChoice

FORMAT = 2
"""Version of the layout below; a file of another version is refused."""
_CORE = __name__.rpartition(".")[0]
_CONTAINERS: dict[str, Any] = {"list": list, "tuple": tuple, "set": set}
_FORMAT: Any = np.lib.format
_RESOURCES = (ThreadChoice,)
"""Classes whose objects are stored without data; reading a checkpoint creates new ones."""
RENAMED: dict[str, str] = {}
"""Present names of classes of the core, by those in checkpoints of former releases."""

Node = list[Any]
"""One object: its kind and constructor data; objects it refers to are node numbers."""


def write_checkpoint(path: Path, root: object) -> None:
    """Writes an object to a file, from which `read_checkpoint` recreates an equal object.

    Parameters
    ----------
    path : the file, replaced once the new one is complete.
    root : dataclasses of the core, lists, tuples, sets, dictionaries, slices, ranges, arrays,
        numbers and strings, nested to any depth. Objects with several references, and arrays with
        several views, are stored once.
    """
    encoder = _Encoder()
    root_node = encoder.encode(root)
    arrays = encoder.arrays
    tree = {"format": FORMAT, "root": root_node, "nodes": encoder.nodes, "arrays": len(arrays)}
    text = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    partial_file = path.with_name(path.name + ".part")
    try:
        with partial_file.open("wb") as file:
            # One by one: several times as fast as `np.savez`, which sums each up once more.
            written: list[NDArray[Any]] = [text, _checksum(text, arrays), *arrays]
            for array in written:
                np.save(file, array, allow_pickle=False)
        partial_file.replace(path)
    finally:
        partial_file.unlink(missing_ok=True)


def read_checkpoint(path: Path) -> Any:
    """Reads the object that `write_checkpoint` wrote.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or of another version.
    """
    try:
        with path.open("rb") as file:
            text, checksum = (np.load(file, allow_pickle=False) for _ in range(2))
            tree = json.loads(text.tobytes())
            if tree["format"] != FORMAT:
                raise ValueError(f"it has format {tree['format']}, and this version reads {FORMAT}")
            arrays = [np.load(file, allow_pickle=False) for _ in range(tree["arrays"])]
        if not np.array_equal(checksum, _checksum(text, arrays)):
            raise ValueError("its checksum does not match")
        return _Decoder(tree["nodes"], arrays).decode(tree["root"])
    except FileNotFoundError as error:
        raise CheckpointError(f"There is no checkpoint {path}; simulate from the start") from error
    except Exception as error:
        raise CheckpointError(
            f"The checkpoint {path} cannot be read: {error}; simulate from the start"
        ) from error


def _checksum(text: NDArray[np.uint8], arrays: list[NDArray[Any]]) -> NDArray[np.uint32]:
    """(1,) CRC-32 of the tree and all arrays."""
    found = crc32(text.data)
    for array in arrays:
        if array.size:
            found = crc32(np.ascontiguousarray(array).view(np.uint8).data, found)
    return np.array([found], np.uint32)


def _class_name(of: type) -> str:
    """The module and name of a class of the core, such as `state.ParticleState`."""
    name = f"{of.__module__}.{of.__qualname__}"
    if not name.startswith(_CORE + "."):
        raise TypeError(f"a checkpoint holds no {name}")
    return name.removeprefix(_CORE + ".")


@cache
def _classes() -> dict[str, dict[str, type]]:
    """The classes of the core by their own names, and by the modules that define them."""
    found: dict[str, dict[str, type]] = {}
    path = import_module(_CORE).__path__
    for module in pkgutil.walk_packages(path, f"{_CORE}."):
        for each in vars(import_module(module.name)).values():
            if isinstance(each, type) and each.__module__ == module.name:
                found.setdefault(each.__qualname__, {})[_class_name(each)] = each
    return found


def _class_named(name: str) -> type:
    """The class of the core with a name from `_class_name`, or the one that has moved since."""
    name = RENAMED.get(name, name)
    of_name = _classes().get(name.rpartition(".")[2], {})
    if name in of_name:
        return of_name[name]
    if len(of_name) != 1:
        raise ValueError(f"it is of another version of Verlet, as this one has no {name}")
    return next(iter(of_name.values()))


class _Encoder:
    """Converts each object to a node, once, and collects the arrays that own their memory."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.arrays: list[NDArray[Any]] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[object] = []  # keeps ids unique

    def encode(self, value: Any) -> Any:
        """The value itself if JSON has its type, else [number of its node]."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return {"float": value.hex()}
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self.nodes)
            self._kept.append(value)
            self.nodes.append([])
            self.nodes[number] = self._node(value)
        return [number]

    def _node(self, value: Any) -> Node:
        """The node of one object."""
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return ["scalar", self.encode(np.array(value))]
        if isinstance(value, _RESOURCES):
            return ["new", _class_name(type(value))]
        if is_dataclass(value):
            names = [each.name for each in fields(value)]
            values = [self.encode(getattr(value, name)) for name in names]
            return ["class", _class_name(type(value)), names, values]
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return ["named", _class_name(type(value)), [self.encode(each) for each in value]]
        if type(value) is dict:
            return ["dict", [[self.encode(key), self.encode(its)] for key, its in value.items()]]
        if type(value) in (slice, range):
            ends = map(self.encode, (value.start, value.stop, value.step))
            return [type(value).__name__, *ends]
        if type(value) in _CONTAINERS.values():
            return [type(value).__name__, [self.encode(each) for each in value]]
        raise TypeError(f"a checkpoint holds no {type(value).__name__}")

    def _array(self, array: NDArray[Any]) -> Node:
        """The node of an array: its own memory, or a view of the array that owns it."""
        owner: Any = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner is array:
            # Files store C order alone, but NumPy's sums depend on the order in memory.
            axes = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
            self.arrays.append(array.transpose(axes))
            return ["array", len(self.arrays) - 1, axes]
        start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        dtype = _FORMAT.dtype_to_descr(array.dtype)
        return ["view", self.encode(owner), start, dtype, list(array.shape), list(array.strides)]


class _Decoder:
    """Recreates objects from nodes and arrays."""

    def __init__(self, nodes: list[Node], arrays: list[NDArray[Any]]) -> None:
        self._nodes, self._arrays = nodes, arrays
        self._made: dict[int, Any] = {}

    def decode(self, value: Any) -> Any:
        """The object that was encoded to `value` by `_Encoder.encode`."""
        if isinstance(value, dict):
            return float.fromhex(value["float"])
        if not isinstance(value, list):
            return value
        (number,) = value
        if number not in self._made:
            self._make(number, *self._nodes[number])
        return self._made[number]

    def _make(self, number: int, kind: str, *given: Any) -> None:
        """Creates the object of one node: of a class before its fields, which may refer to it."""
        if kind == "class":
            name, names, values = given
            of: Any = _class_named(name)
            made: Any = object.__new__(of)
            self._made[number] = made
            for own, make in _further_fields(name, fields(of), names).items():
                object.__setattr__(made, own, make())
            for own, value in zip(names, values, strict=True):
                object.__setattr__(made, own, self.decode(value))
        else:
            self._made[number] = self._plain(kind, *given)

    def _plain(self, kind: str, *given: Any) -> Any:
        """The object of a node that does not refer to itself."""
        match kind:
            case "array":
                return self._arrays[given[0]].transpose(np.argsort(given[1]))
            case "view":
                return self._view(self.decode(given[0]), *given[1:])
            case "named":
                of: Any = _class_named(given[0])
                return of(*map(self.decode, given[1]))
            case "scalar":
                return self.decode(given[0])[()]
            case "new":
                return _class_named(given[0])()
            case "dict":
                return {self.decode(key): self.decode(value) for key, value in given[0]}
            case "slice" | "range":
                return (slice if kind == "slice" else range)(*map(self.decode, given))
            case _:
                return _CONTAINERS[kind](map(self.decode, given[0]))

    @staticmethod
    def _view(
        owner: NDArray[Any], start: int, dtype: Any, shape: list[int], strides: list[int]
    ) -> NDArray[Any]:
        """A view of an array from byte `start` on."""
        axes = sorted(range(owner.ndim), key=lambda axis: -owner.strides[axis])
        memory = owner.transpose(axes).reshape(-1)
        found = _FORMAT.descr_to_dtype(dtype)
        return np.ndarray(tuple(shape), found, memory, start, tuple(strides))


def _further_fields(
    name: str, present: tuple[Field[Any], ...], stored: list[str]
) -> dict[str, Callable[[], Any]]:
    """Functions that make the values of fields that a stored object did not have yet."""
    gone = {*stored} - {each.name for each in present}
    further = [each for each in present if each.name not in stored]
    if gone or any(each.default is each.default_factory is MISSING for each in further):
        raise ValueError(f"it is of another version of Verlet, whose {name} has other fields")
    return {each.name: partial(_default, each) for each in further}


def _default(of: Field[Any]) -> Any:
    """The default of a field."""
    return of.default if of.default_factory is MISSING else of.default_factory()
