"""Kernels: functions with two bodies, in NumPy and in C, and the structs by which C reads objects.

`kernel` decorates the function in NumPy. The C function beside it has the same name, and the same
arguments in the same order, each passed as its annotation says: see `_argument`. `Struct` lists the
members of the C struct of a class. kernels/header.py writes all structs, the prototypes of all
kernels and the constants that C shares with Python to generated.h, and the functions that pass
arguments to C to generated.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, update_wrapper
from operator import attrgetter
from types import MappingProxyType
from typing import (
    Annotated,
    Any,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from . import compiled, generated
from .arrays import Booleans, Floats, Integers
from .compiled import Packed
from .errors import KernelError

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
Object = TypeVar("Object")

Sized = Annotated[Floats, "sized"]
"""An array whose number of columns, the last of its shape, follows it among the arguments in C."""
SizedIntegers = Annotated[Integers, "sized"]
"""An array of integers whose number of columns follows it among the arguments in C."""
ELEMENTS: dict[object, str] = {
    Floats: "real",
    Integers: "integer",
    Booleans: "uint8_t",
    NDArray[np.int32]: "int32_t",
}
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

    @cached_property
    def types(self) -> dict[str, Any]:
        """The types of all members in their order."""
        known = get_type_hints(self.of)
        names = f"{self.reads} {self.shares}".split()
        own = {name: known[name] if name in known else self._returned(name) for name in names}
        return own | {name: kind for name, (kind, _) in self.derived.items()}

    def _returned(self, name: str) -> Any:
        """The type of a property, cached or not."""
        found = getattr(self.of, name)
        return get_type_hints(found.func if isinstance(found, cached_property) else found.fget)[
            "return"
        ]

    @cached_property
    def _members(self) -> list[tuple[Callable[[Object], Any], Callable[[Any, list[Any]], None]]]:
        """Functions that find and that pass on the value of each member."""
        shared = self.shares.split()
        return [
            (
                self.derived[name][1] if name in self.derived else attrgetter(name),
                _pass_shared if name in shared else _passing(kind),
            )
            for name, kind in self.types.items()
        ]

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
            values: list[Any] = []
            for find, pass_on in self._members:
                pass_on(find(of), values)
            # Threads may do so at once: all take the first one, as C may read it already.
            made = self._structs.setdefault(key, (forget, compiled.pack(*values)))
            self._addresses[key] = made[1].address
        return self._structs[key][1]


def _zeros(shape: Callable[[Object], int | tuple[int, ...]], of: Object) -> Floats:
    """Scratch memory for an object."""
    return np.zeros(shape(of))


STRUCTS: dict[str, Struct[Any]] = {}
_OF_TYPES: dict[object, Struct[Any]] = {}


def struct_of(kind: object) -> Struct[Any] | None:
    """The struct of a class, None if it has none; one that stands for itself, or is annotated."""
    annotated = [each for each in getattr(kind, "__metadata__", ()) if isinstance(each, Struct)]
    found, *_ = [*annotated, kind]
    return found if isinstance(found, Struct) else _OF_TYPES.get(found)


def packed(of: object) -> Packed:
    """The struct of an object, by its class."""
    return _OF_TYPES[type(of)].pack(of)


def _passing(kind: Any) -> Callable[[Any, list[Any]], None]:
    """The function that appends a value of this type to the members of a struct."""
    if kind is float:
        return lambda value, values: values.append(float(value))
    if kind in ELEMENTS or kind in SCALARS or isinstance(kind, str):
        return lambda value, values: values.append(value)
    if get_origin(kind) in (list, Sequence):
        return _pass_list
    return lambda value, values: values.append(_pass_object(value))


def _pass_shared(array: Any, values: list[Any]) -> None:
    """Appends an array, which C or Python changes; a copy would not do."""
    if not array.flags.c_contiguous:
        raise ValueError("compiled kernels need arrays that are contiguous")
    values.append(array)


def _pass_list(objects: Sequence[Any], values: list[Any]) -> None:
    """Appends the addresses of objects and their number."""
    values += compiled.pack(*map(_pass_object, objects)), len(objects)


def _pass_object(value: Any) -> Any:
    """The struct of an object; arrays, structs and None are members themselves."""
    struct = _OF_TYPES.get(type(value))
    return struct.pack(value) if struct else value


@dataclass(frozen=True)
class Argument:
    """The passage of an argument to C."""

    letters: str
    """The arguments in C, as for `declare`."""
    kinds: tuple[str, ...]
    """Types of the arguments in C."""
    values: tuple[str, ...]
    """Values of the arguments in Python, where @ is the name of the argument."""
    find: Callable[[Any], int] | None = None
    """The address of a struct, which `values` call find_@."""


def _argument(hint: Any, *, pure: bool) -> Argument:
    """The passage of an argument with this annotation.

    Numbers are passed as they are, arrays as addresses, objects as addresses of their structs; a
    sequence of objects as the addresses of all structs, and their number; None as NULL. Kernels
    that are `pure` change no argument: what is not contiguous is copied.
    """
    if type(None) in get_args(hint):
        given = _argument(get_args(hint)[0], pure=pure)
        return replace(given, values=(f"{given.values[0]} if @ is not None else None",))
    if hint in SCALARS:
        letter, kind = SCALARS[hint]
        return Argument(letter, (kind,), ("@",))
    if get_origin(hint) is Sequence:
        struct = struct_of(get_args(hint)[0])
        assert struct, f"{hint} has no struct"
        kinds = f"const {struct.name} *const *", "integer"
        return Argument("pi", kinds, ("row_of([*map(find_@, @)])", "len(@)"), struct.address)
    struct = struct_of(hint)
    if struct:
        return Argument("p", (f"const {struct.name} *",), ("find_@(@)",), struct.address)
    array, *sized = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    kind = f"{'const ' if pure else ''}{ELEMENTS[array]} *"
    ready = "ascontiguousarray(@)" if pure else "@"
    if sized:
        return Argument("pi", (kind, "integer"), (ready, "@.shape[-1]"))
    return Argument("p", (kind,), (ready,))


class Kernel(Protocol[P, R_co]):
    """A function with two bodies, which calls that in C where there is a library."""

    __name__: str
    reference: Callable[..., Any]
    """The body in NumPy."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Calls one of the bodies."""


PROTOTYPES: dict[str, str] = {}
"""The declarations in C, by the names of the functions."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """What the function in generated.py that calls a kernel depends on."""

    reference: Callable[..., Any]
    """The body in NumPy."""
    arguments: Mapping[str, Argument]
    """The passage of each argument by its name."""
    returns: Sequence[object]
    """Types of the results."""
    result: bool
    """Whether C fills arrays that are made for it."""
    work: bool
    """Whether C is given scratch memory."""


CALLS: dict[str, Call] = {}
"""The calls of kernels, by their names."""


def compiled_function(name: str, *hints: Any) -> Callable[..., None]:
    """The function in C with arguments of these types, which has no body in NumPy.

    It is given what C is: an array, the address of a struct, a number, or the row of the addresses
    of structs and their number.
    """
    return _declare(name, [_argument(hint, pure=False) for hint in hints])


def _declare(
    name: str, arguments: Sequence[Argument], letter: str = "", kind: str = "void"
) -> Callable[..., Any]:
    """A callable for a C function, given the letter and the type of its result."""
    PROTOTYPES[name] = f"{kind} {name}({', '.join(k for each in arguments for k in each.kinds)});"
    return compiled.declare(name, "".join(each.letters for each in arguments), letter)


def kernel(
    *, result: Callable[..., Any] | None = None, work: Callable[..., Floats] | None = None
) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Decorates the body in NumPy of a function that has another one in C.

    The body in NumPy is called where there is no library, and where a sequence of objects is empty.

    Parameters
    ----------
    result : makes the array that the function returns, or all of them, for the same arguments; C
        fills them. Without it the function changes arrays in place, or returns a number alone.
    work : makes scratch memory for C likewise.
    """

    def join(reference: Callable[P, R]) -> Kernel[P, R]:
        name, hints = reference.__name__, get_type_hints(reference, include_extras=True)
        returned = hints.pop("return")
        returns = get_args(returned) if get_origin(returned) is tuple else (returned,)
        arguments = {each: _argument(hint, pure=bool(result)) for each, hint in hints.items()}
        passed = [_argument(hint, pure=False) for hint in returns if hint in ELEMENTS]
        passed = [*arguments.values(), *passed, *[_argument(Floats, pure=False)] * bool(work)]
        given = {f"find_{each}": argument.find for each, argument in arguments.items()} | {
            "reference": reference,
            "result_for": result,
            "work_for": work,
            "call": _declare(name, passed, *SCALARS.get(returns[-1], ())),
        }
        CALLS[name] = Call(
            reference=reference,
            arguments=arguments,
            returns=returns,
            result=bool(result),
            work=bool(work),
        )
        make: Any = getattr(generated, name, _missing)
        joined: Any = update_wrapper(make(given), reference)
        joined.__kwdefaults__, joined.reference = reference.__kwdefaults__, reference
        return cast(Kernel[P, R], joined)

    return join


def _missing(given: Mapping[str, Any]) -> Callable[..., Any]:
    """A function in place of one that generated.py does not have yet."""

    def call(*_: object, **_named: object) -> None:
        name = given["reference"].__name__
        raise KernelError(f"generated.py does not have {name}; run `make kernels`")

    return call
