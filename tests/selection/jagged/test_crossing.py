"""Views that go from rows to boxes and back, shared by others, against lists; small ones and longer ones."""

import random

import pytest

from tests.support.long_runs import IS_LONG
from tests.support.selection.trees.crossing import crossing, same_elements

_SEEDS, _BLOCK = (20_000, 500) if IS_LONG else (480, 120)


@pytest.mark.parametrize("first", range(0, _SEEDS, _BLOCK))
def test_views_that_cross_between_rows_and_boxes_are_what_lists_are(first):
    for seed in range(first, first + _BLOCK):
        rng = random.Random(seed)
        known = crossing(rng, 600 if seed % 20 == 7 else 5, rng.randint(2, 9))
        try:
            same_elements(known[-1].view, known[-1].lists, rng)
        except Exception as error:
            error.add_note(f"seed {seed}: " + ", ".join([own.said for own in known]))
            raise
