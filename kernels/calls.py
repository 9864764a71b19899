"""The text of generated.py: for each kernel the function that passes its arguments to C.

Loops over arguments, or closures round each, would take longer than many a kernel.
"""

from collections.abc import Iterator

from verlet_addon.core.c_source import CORE
from verlet_addon.core.kernel import CALLS, ELEMENTS, SCALARS, Call

MODULE = CORE / "generated.py"
BEGIN = '''\
# mypy: ignore-errors
"""Written by kernels/header.py: the functions that pass the arguments of kernels to C.

Each is made for one kernel, from its body in NumPy and from the functions that find addresses.
"""

from numpy import ascontiguousarray

from .compiled import backend, row_of
'''


def calls() -> str:
    """The text of generated.py."""
    return "\n\n".join([BEGIN, *("\n".join(lines(CALLS[name])) + "\n" for name in sorted(CALLS))])


def lines(call: Call) -> Iterator[str]:
    """The function that makes the one for a kernel."""
    name = call.reference.__name__
    given = ["reference", *["result_for"] * call.result, *["work_for"] * call.work, "call"]
    given += [f"find_{each}" for each, argument in call.arguments.items() if argument.find]
    yield f"def {name}(given):"
    yield from (f'    {each} = given.get("{each}")' for each in given)
    yield ""
    yield from (f"    {line}" for line in body(call))
    yield ""
    yield f"    return {name}"


def body(call: Call) -> Iterator[str]:
    """The function that passes its arguments to C, or to NumPy where there is no library."""
    code, names = call.reference.__code__, [*call.arguments]
    plain, named = names[: code.co_argcount], names[code.co_argcount :]
    parameters = ", ".join([*plain, *(["*", *named] if named else [])])
    everything = ", ".join([*plain, *(f"{name}={name}" for name in named)])
    passages = call.arguments.items()
    idle = [f"not {name}" for name, each in passages if each.kinds[0].endswith("*const *")]
    yield f"def {call.reference.__name__}({parameters}):"
    yield f"    if {' or '.join([*idle, 'backend().library is None'])}:"
    yield f"        return reference({everything})"
    if call.result:
        yield f"    result = result_for({', '.join(names)})"
    yield from (f"    {line}" for line in answer(call))


def answer(call: Call) -> Iterator[str]:
    """The call of the function in C, and the return of what it gives."""
    several = call.returns[1:2] and call.returns[1] in ELEMENTS
    passages = call.arguments.items()
    values = [part.replace("@", name) for name, each in passages for part in each.values]
    values += ["*result" if several else "result"] * call.result
    values += [f"work_for({', '.join(call.arguments)})"] * call.work
    made = f"call({', '.join(values)})"
    if call.returns[-1] is bool:
        made = f"bool({made})"
    if not call.result:
        yield f"return {made}"
    elif call.returns[-1] in SCALARS:
        yield f"return result, {made}"
    else:
        yield made
        yield "return result"
