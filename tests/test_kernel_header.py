"""C knows structs, prototypes and constants from Python."""

from kernels.header import HEADER, header


def test_the_header_of_the_kernels_is_what_python_says() -> None:
    assert header() == HEADER.read_text("utf-8")
