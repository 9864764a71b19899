"""Kernels: functions with two bodies, in NumPy and in C, and the structs by which C reads objects.

`kernel` decorates the function in NumPy. The C function beside it has the same name, and the same
arguments in the same order, each passed as its annotation says: see `_argument`. `Struct` lists the
members of the C struct of a class. kernels/header.py writes all structs, the prototypes of all
kernels and the constants that C shares with Python to generated.h.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, update_wrapper
from types import MappingProxyType
from typing import (
    Annotated,
    Any,
    Generic,
    ParamSpec,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)
from weakref import ref

import numpy as np

from . import compiled
from .arrays import Booleans, Floats, Integers
from .compiled import Packed, backend, members, shared_arrays

P = ParamSpec("P")
R = TypeVar("R")
Object = TypeVar("Object")

Sized = Annotated[Floats, "sized"]
"""An array whose number of columns, the last of its shape, follows it among the arguments in C."""
SizedIntegers = Annotated[Integers, "sized"]
"""The same of integers."""
ELEMENTS: dict[object, str] = {Floats: "real", Integers: "integer", Booleans: "uint8_t"}
"""Types of arrays, and of their elements in C."""
SCALARS: dict[object, tuple[str, str]] = {
    bool: ("i", "integer"),
    int: ("i", "integer"),
    float: ("d", "real"),
}
"""Types of numbers, their letters for `declare`, and their types in C."""


class Struct(Generic[Object]):
    """The C struct of a class of objects.

    Its members are attributes that C `reads`; attributes that C `shares`, arrays that either side
    changes and that are never copied therefore; `derived` ones: the type of each, and the function
    that makes it from the object; and `scratch` memory: names of arrays of floats, 0 at first, and
    the function that tells their shape. An array is passed by its address, an object by that of
    its struct, a list of objects by that of the addresses of their structs, followed by a member
    named …_count; None is NULL.
    """

    def __init__(
        self,
        name: str,
        of: type[Object],
        /,
        *,
        reads: str = "",
        shares: str = "",
        scratch: Mapping[str, Callable[[Object], int | tuple[int, ...]]] = MappingProxyType({}),
        **derived: tuple[Any, Callable[[Object], Any]],
    ) -> None:
        self.name, self.of = name, of
        self.reads, self.shares, self.derived = reads, shares, derived
        for names, shape in scratch.items():
            derived |= dict.fromkeys(names.split(), (Floats, partial(_zeros, shape)))
        self._structs: dict[int, tuple[ref[Object], Packed]] = {}
        self._addresses: dict[int, int] = {}  # WeakKeyDictionary costs as much as a kernel call
        STRUCTS[name] = self
        _OF_TYPES.setdefault(of, self)

    def address(self, of: Object) -> int:
        """The address of an object's struct."""
        try:
            return self._addresses[id(of)]
        except KeyError:
            return self.pack(of).address

    def pack(self, of: Object) -> Packed:
        """An object's struct, made once and kept as long as the object."""
        key = id(of)
        if key not in self._structs:
            forget = ref(of, lambda _: (self._addresses.pop(key), self._structs.pop(key)))
            values = [*members(of, self.reads), *shared_arrays(of, self.shares)]
            values += [make(of) for _, make in self.derived.values()]
            packed = compiled.pack(*(member for value in values for member in _members(value)))
            self._structs[key], self._addresses[key] = (forget, packed), packed.address
        return self._structs[key][1]


def _zeros(shape: Callable[[Object], int | tuple[int, ...]], of: Object) -> Floats:
    """Scratch memory for an object."""
    return np.zeros(shape(of))


STRUCTS: dict[str, Struct[Any]] = {}
_OF_TYPES: dict[object, Struct[Any]] = {}


def struct_of(kind: object) -> Struct[Any] | None:
    """The struct of a class, None if it has none; a struct stands for itself."""
    return kind if isinstance(kind, Struct) else _OF_TYPES.get(kind)


def packed(of: object) -> Packed:
    """The struct of an object, by its class."""
    return _OF_TYPES[type(of)].pack(of)


def _members(value: Any) -> Iterator[compiled.Member]:
    """The members of a struct for one value."""
    if isinstance(value, list | tuple):
        yield compiled.pack(*map(packed, value))
        yield len(value)
    else:
        struct = _OF_TYPES.get(type(value))
        yield struct.pack(value) if struct else value


@dataclass(frozen=True)
class Argument:
    """The passage of an argument to C."""

    letters: str
    """The arguments in C, as for `declare`."""
    kinds: tuple[str, ...]
    """Their types in C."""
    pass_on: Callable[[Any, list[Any]], object]
    """Appends them to a list; the result is true if there is nothing to do."""


def _argument(hint: Any, *, pure: bool) -> Argument:
    """The passage of an argument with this annotation.

    Numbers are passed as they are, arrays as addresses, objects as addresses of their structs; a
    sequence of objects as the addresses of all structs, and their number. Kernels that are `pure`
    change no argument: what is not contiguous is copied.
    """
    if hint in SCALARS:
        letter, kind = SCALARS[hint]
        return Argument(letter, (kind,), lambda value, values: values.append(value))
    struct = struct_of(hint)
    if struct:
        kind, find = f"const {struct.name} *", struct.address
        return Argument("p", (kind,), lambda value, values: values.append(find(value)))
    if get_origin(hint) in (Sequence, list):
        struct = struct_of(get_args(hint)[0])
        assert struct
        find = struct.address
        kinds = f"const {struct.name} *const *", "integer"
        return Argument("pi", kinds, lambda value, values: _pass_all(find, value, values))
    array, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    kind = f"{'const ' if pure else ''}{ELEMENTS[array]} *"
    ready = np.ascontiguousarray if pure else lambda value: value
    if not more:
        return Argument("p", (kind,), lambda value, values: values.append(ready(value)))
    return Argument(
        "pi",
        (kind, "integer"),
        lambda value, values: values.extend((ready(value), value.shape[-1])),
    )


def _pass_all(find: Callable[[Any], int], objects: Sequence[Any], values: list[Any]) -> bool:
    """Appends the addresses of the structs of objects, and their number; True if there are none."""
    values += compiled.row_of([*map(find, objects)]), len(objects)
    return not objects


class Kernel(Generic[P, R]):
    """A function with two bodies: C where there is a library, NumPy elsewhere."""

    def __init__(
        self,
        reference: Callable[P, R],
        result: Callable[..., Any] | None,
        work: Callable[..., Any] | None,
    ) -> None:
        update_wrapper(self, reference)
        self.reference, self._result, self._work = reference, result, work
        hints = get_type_hints(reference, include_extras=True)
        returned = hints.pop("return")
        returns = get_args(returned) if get_origin(returned) is tuple else (returned,)
        letter, self.returned = SCALARS.get(returns[-1], ("", "void"))
        self._is_test = returns[-1] is bool
        arguments = [_argument(hint, pure=result is not None) for hint in hints.values()]
        arguments += [_argument(hint, pure=False) for hint in returns if hint in ELEMENTS]
        arguments += [_argument(Floats, pure=False)] * (work is not None)
        self.kinds = [kind for each in arguments for kind in each.kinds]
        """Types of the arguments in C; that of what it returns is `returned`."""
        self._names, self._pass_on = [*hints], [each.pass_on for each in arguments[: len(hints)]]
        self._defaults = reference.__kwdefaults__ or {}
        letters = "".join(each.letters for each in arguments)
        self._call = compiled.declare(self.__name__, letters, letter)
        KERNELS[self.__name__] = self

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Calls the body in C if there is one, and something to do for it."""
        if backend().library is None:
            return self.reference(*args, **kwargs)
        given: Sequence[Any] = args
        if len(args) < len(self._names):
            named = self._defaults | kwargs
            given = [*args, *(named[name] for name in self._names[len(args) :])]
        values: list[Any] = []
        for value, pass_on in zip(given, self._pass_on, strict=True):
            if pass_on(value, values):
                return self.reference(*args, **kwargs)
        answer = result = self._result(*given) if self._result else None
        if result is not None:
            values += result if isinstance(result, tuple) else (result,)
        if self._work:
            values.append(self._work(*given))
        number = self._call(*values)
        if number is not None:
            number = bool(number) if self._is_test else number
            answer = number if result is None else (result, number)
        return cast(R, answer)


KERNELS: dict[str, Kernel[..., Any]] = {}


def kernel(
    *, result: Callable[..., Any] | None = None, work: Callable[..., Any] | None = None
) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Decorates the body in NumPy of a function that has another one in C.

    Parameters
    ----------
    result : makes the array that the function returns, or all of them, for the same arguments; C
        fills them. Without it the function changes arrays in place, or returns a number alone.
    work : makes scratch memory for C likewise, one array of floats.
    """
    return lambda reference: Kernel(reference, result, work)
