"""The structs by which C reads objects."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import sleep

from verlet_addon.core.kernel import STRUCTS, Struct


@dataclass(eq=False)
class Search:
    """An object that several threads pass to C at once."""


def slow_number(_: Search) -> float:
    """A number that takes so long that other threads begin meanwhile."""
    sleep(0.02)
    return 1.0


def test_threads_that_pack_an_object_at_once_share_its_struct() -> None:
    """C reads the struct of one while others pack it: replaced, its memory would be freed."""
    struct = Struct("search", Search, slow=(float, slow_number))
    STRUCTS.pop("search")
    search = Search()
    with ThreadPoolExecutor(4) as pool:
        packs = list(pool.map(struct.pack, [search] * 4))
    assert len({id(each) for each in packs}) == 1
    assert struct.address(search) == packs[0].address
