"""Random trees of up to eight steps, each compared with what NumPy makes of the same steps."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.long_runs import IS_LONG
from tests.support.selection.checks import CHECKS
from tests.support.selection.trees.random_trees import Grower, tree_of

# By night 20 000 trees, by day a sample; blocks of seeds, so that a failure names few.
_SEEDS, _BLOCK = (20_000, 500) if IS_LONG else (300, 50)


def _check(tree, rng):
    for name, check in CHECKS.items():
        try:
            check(tree, rng)
        except Exception as error:
            error.add_note(f"the check {name} of the tree\n  " + "\n  ".join(tree.steps))
            raise


@pytest.mark.parametrize("first", range(0, _SEEDS, _BLOCK))
def test_trees_have_the_elements_that_numpy_gives_them(first):
    for seed in range(first, first + _BLOCK):
        try:
            _check(tree_of(seed, texts=not seed % 9), random.Random(seed))
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


@given(st.randoms(use_true_random=False), st.integers(1, 4), st.booleans())
def test_trees_that_hypothesis_draws_have_the_elements_that_numpy_gives_them(rng, steps, texts):
    _check(Grower(rng, texts=texts).grow(steps), rng)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_the_same_steps_on_one_source_have_one_normal_form(seed, steps):
    start = Grower(random.Random(seed)).leaf()
    found = []
    for _ in range(2):
        grower = Grower(random.Random(seed + 1))
        view, array = start
        for _ in range(steps):
            view, array = grower.step(view, array)
        found.append(view.normal_form())
    assert found[0] == found[1]
    assert hash(found[0]) == hash(found[1])
