"""C knows structs, prototypes and constants from Python, and Python passes what C asks for."""

from kernels.calls import MODULE, calls
from kernels.header import HEADER, header, import_core


def test_the_header_of_the_kernels_is_what_python_says() -> None:
    assert header() == HEADER.read_text("utf-8")


def test_the_calls_of_kernels_are_those_of_their_annotations() -> None:
    import_core()
    assert calls() == MODULE.read_text("utf-8")
