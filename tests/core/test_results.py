"""Caches of a release go on in the next one as long as its bakes have the same bits."""

import pytest

from tests.same.__main__ import Hashes, has_moved, read
from verlet_addon.core.results import RESULTS
from verlet_addon.core.self_test import kernels

BEFORE: Hashes = {"flag": {"compiled": ["a", "b"], "numpy": ["c", "d"]}}


def test_the_recorded_bits_are_those_of_the_number_that_caches_carry() -> None:
    """Whoever raises one of them alone is told."""
    assert read()[0] == RESULTS
    assert kernels().split()[-1] == str(RESULTS)


@pytest.mark.parametrize("words", [{"compiled": ["a", "x"]}, {"compiled": ["a"]}, {"numpy": []}])
def test_other_bits_of_either_kernels_are_a_move(words: dict[str, list[str]]) -> None:
    assert has_moved(BEFORE, {"flag": words})


def test_a_new_scene_and_one_that_is_left_out_move_nothing() -> None:
    flag = {"flag": {"compiled": ["a", "b"]}}
    assert not has_moved(BEFORE, flag | {"new": {"compiled": ["e"]}})
    assert not has_moved(BEFORE | {"new": {"compiled": []}}, flag | {"new": {"compiled": ["e"]}})
    assert not has_moved(BEFORE, {})
