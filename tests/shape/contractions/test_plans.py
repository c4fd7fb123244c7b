"""Plans of contractions: what meets, what the result has, what it costs, and what is refused."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    LabelError,
    PatternError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import Contraction
from tensorwrapper.shape.contractions._join import joined, order_of
from tests.support.tiles.block_tensors import P, Q, T
from tests.support.tiles.contractions import contractions


def brute(equation, left, right):
    """The tiles that meet, by a loop over all pairs: (left, right, result) tile numbers and their flops."""
    inputs, _, result = equation.partition("->")
    ours, theirs = inputs.split(",")
    found = []
    for one, other in itertools.product(left, right):
        at = dict(zip(ours, one, strict=True))
        if all(at.get(label, k) == k for label, k in zip(theirs, other, strict=True)):
            at |= dict(zip(theirs, other, strict=True))
            sizes = {
                label: int(pattern.tiling.sizes[mode][at[label]])
                for labels, pattern in ((ours, left), (theirs, right))
                for mode, label in enumerate(labels)
            }
            found.append((tuple([at[label] for label in result]), one, other, 2 * math.prod(sizes.values())))
    return sorted(found)


@given(contractions())
def test_a_plan_is_that_of_a_loop_over_all_pairs(case):
    equation, left, right, _ = case
    plan = tw.contraction(equation, left, right)
    found = brute(equation, left, right)

    assert plan.equation == equation
    assert list(plan.pattern) == sorted({tile for tile, *_ in found})
    assert plan.triples().tolist() == [
        [left.slot(one), right.slot(other), plan.pattern.slot(tile)] for tile, one, other, _ in found
    ]
    assert (plan.count, plan.flops) == (len(found), sum(flops for *_, flops in found))
    assert plan.nbytes == 8 * plan.pattern.elements
    assert not plan.triples().flags.writeable


@given(contractions())
def test_the_pattern_is_the_product_of_the_masks(case):
    equation, left, right, sizes = case
    plan = tw.contraction(equation, left, right)
    if plan.left.count and plan.right.count:
        product = np.einsum(equation, left.mask().astype(int), right.mask().astype(int))
        assert np.array_equal(plan.pattern.mask(), product > 0)
        assert plan.count == product.sum()
    assert plan.dense_flops == 2 * math.prod(map(sum, sizes.values()))
    assert plan.flops <= plan.dense_flops
    origins = {
        label: own
        for labels, p in zip(equation.partition("->")[0].split(","), (left, right), strict=True)
        for label, own in zip(labels, p.tiling.origin, strict=True)
    }
    assert plan.pattern.tiling.origin == tuple([origins[label] for label in equation.partition("->")[2]])


@given(contractions(), st.randoms())
def test_labels_of_the_result_in_another_order_permute_the_pattern(case, random):
    equation, left, right, _ = case
    inputs, _, result = equation.partition("->")
    order = random.sample(range(len(result)), len(result))
    other = tw.contraction(f"{inputs}->{''.join([result[k] for k in order])}", left, right)
    assert other.pattern == tw.contraction(equation, left, right).pattern.permute(order)
    ours, theirs = inputs.split(",")
    swapped = tw.contraction(f"{theirs},{ours}->{result}", right, left)
    assert swapped.pattern == tw.contraction(equation, left, right).pattern


@given(contractions(), st.floats(0, 2), st.integers(0, 2**32 - 1))
def test_screening_drops_what_is_below(case, threshold, seed):
    equation, left, right, _ = case
    rng = np.random.default_rng(seed)
    norms = [rng.random(pattern.grid.extents) * 2 for pattern in (left, right)]
    slots = [own.reshape(-1)[p.ordinals()] for own, p in zip(norms, (left, right), strict=True)]
    plan = tw.contraction(equation, left, right)
    kept = plan.screen(*norms, threshold)
    triples = plan.triples()
    products = slots[0][triples[:, 0]] * slots[1][triples[:, 1]]
    right_ones = triples[~(products < threshold)]

    assert kept == plan.screen(*slots, threshold) == pickle.loads(pickle.dumps(kept))
    assert hash(kept) == hash(plan.screen(*slots, threshold))
    assert (kept == plan) == (kept.count == plan.count)
    assert np.array_equal(kept.triples()[:, :2], right_ones[:, :2])
    tiles = plan.pattern.tiles()[right_ones[:, 2]]
    assert np.array_equal(kept.pattern.tiles()[kept.triples()[:, 2]], tiles)
    assert kept.pattern.count == len(set(map(tuple, tiles.tolist())))
    assert np.isclose(kept.error_bound, products[products < threshold].sum())
    assert kept.screen(*norms, 2 * threshold) == plan.screen(*norms, 2 * threshold) or threshold


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)), st.sampled_from([10, 2**40]))
def test_a_join_has_all_pairs_of_equal_keys(left, right, size):
    ours, theirs = np.array(left, np.int64), np.array(right, np.int64)
    if size > 10:  # far apart, so that they are searched
        ours, theirs = ours * 2**36, theirs * 2**36
    found = joined(ours, theirs, size)
    pairs = [(k, n) for k, one in enumerate(left) for n, other in enumerate(right) if one == other]
    assert list(zip(*[own.tolist() for own in found], strict=True)) == pairs


@given(st.lists(st.integers(0, 9)), st.sampled_from([10, 2**63 - 1]))
def test_an_order_is_stable(numbers, size):
    array = np.array(numbers, np.int64)
    order = order_of(array, size)
    right = np.argsort(array, kind="stable")
    assert np.array_equal(np.arange(len(array)) if order is None else order, right)


def test_powers_of_a_band():
    cut = Tiling([1] * 8, [1] * 8)
    band = BlockPattern.from_predicate(cut, lambda i, j: abs(i - j) <= 1)
    counts, plan = [band.count], tw.contraction("ij,jk->ik", band, band)
    assert plan.count == 62
    counts.append(plan.pattern.count)
    for _ in range(2):
        plan = tw.contraction("ij,jk->ik", plan, band)  # a plan stands for its result
        counts.append(plan.pattern.count)
    assert counts == [22, 34, 44, 52]


def test_the_plan_of_two_patterns():
    plan = tw.contraction("ij,ik->jk", P, Q)
    assert (plan.count, list(plan.pattern), plan.flops) == (4, [(0, 1), (1, 0), (1, 1)], 240)
    assert plan.dense_flops == 2 * 6 * 6 * 6
    assert repr(plan) == "<Contraction 'ij,ik->jk': 4 products of blocks to 3 tiles, 240 flops>"
    assert plan == tw.contraction("i,j * i,k -> j,k", P, Q) == tw.contraction("ij,ik", P, Q)
    assert plan != tw.contraction("ij,ik->kj", P, Q)
    assert plan != tw.contraction("ij,ik->jk", P, Q - Q)
    assert plan != 3
    assert plan == copy.deepcopy(plan)
    named = tw.contraction("atom,x * atom,y -> x,y", P, Q)
    assert named.equation == "atom,x * atom,y -> x,y"
    assert tw.contraction(named.equation, P, Q) == named
    dots = tw.contraction("...j,...k->jk...", P, Q)
    assert tw.contraction(dots.equation, P, Q) == dots
    assert dots.pattern == tw.contraction("ij,ik->jki", P, Q).pattern


def test_tensors_and_their_boxes_stand_for_their_patterns():
    t, u = tw.zeros(P), tw.zeros(Q)
    plan = tw.contraction("ij,ik->jk", P, Q)
    assert plan == tw.contraction("ij,ik->jk", t, u) == tw.contraction("ij,ik->jk", t.untiled(), u.untiled())
    whole = tw.zeros(T.elements).tiled(T)
    assert tw.contraction("ij,ik->jk", whole, u).left == BlockPattern(T)
    turned = t.permute(1, 0, 3, 2)
    assert tw.contraction("ji,ik->jk", turned, u).pattern == plan.pattern


def test_a_result_without_modes_has_one_tile_or_none():
    plan = tw.contraction("ij,ij->", P, Q)
    assert (plan.count, plan.pattern.rank, list(plan.pattern), plan.flops) == (2, 0, [()], 40)
    assert list(tw.contraction("ij,ij->", P, ~P).pattern) == []


def test_advice_weighs_products_against_arithmetic():
    small, large = Tiling([4] * 60, [4] * 60), Tiling([24] * 60, [24] * 60)
    rng = np.random.default_rng(0)
    masks = [rng.random((60, 60)) < 0.1 for _ in range(2)]
    for tiling, advice in ((small, "dense"), (large, "blocks")):
        pair = [BlockPattern.from_mask(tiling, mask) for mask in masks]
        assert tw.contraction("ij,jk->ik", *pair).advice == advice
    every = BlockPattern(large)
    assert tw.contraction("ij,jk->ik", every, every).advice == "dense"
    assert tw.contraction("ij,jk->ik", every - every, every).advice == "blocks"


def test_counts_are_integers_of_any_size():
    huge = Tiling([2**40], [2**40])
    plan = tw.contraction("ij,jk->ik", BlockPattern(huge), BlockPattern(huge))
    assert plan.flops == plan.dense_flops == 2 * 2**120
    assert plan.nbytes == 8 * 2**80
    assert plan.advice == "dense"


def test_what_does_not_fit_into_memory_is_counted_and_refused():
    wide = Tiling(np.ones(2**20, np.int64), [1])
    column = BlockPattern(wide)
    with pytest.raises(SizeOverflowError, match=str(3 * 2**40)):
        tw.contraction("ij,kj->ik", column, column)
    cube = BlockPattern(Tiling(*[np.ones(2**16, np.int64)] * 3), [(0, 0, 0)])
    with pytest.raises(SizeOverflowError, match="2\\^63"):
        tw.contraction("ijk,abc->ijkabc", cube, cube)


def test_infinite_norms_stay():
    plan = tw.contraction("ij,ik->jk", P, Q)
    nan = np.full(T.grid.extents, np.nan)
    assert plan.screen(nan, np.zeros(T.grid.extents), 1.0) == plan
    assert plan.screen(np.full(P.count, np.inf), np.zeros(Q.count), 1.0) == plan
    none = plan.screen(np.zeros(P.count), np.ones(T.grid.extents), 1e-300)
    assert (none.count, none.pattern.count, none.flops, none.error_bound) == (0, 0, 0, 0.0)
    assert none != plan
    assert "error at most 750>" in repr(plan.screen(np.full(P.count, 1500.0), [1, 1, 1 / 4], 400))


@pytest.mark.parametrize(
    ("equation", "error", "text"),
    [
        ("ii,ij->j", LabelError, "the left operand of 'ii,ij->j' has the label 'i' twice"),
        ("ij,kk->ij", LabelError, "the right operand of 'ij,kk->ij' has the label 'k' twice"),
        ("ij,ik->jj", LabelError, "the result of 'ij,ik->jj' has the label 'j' twice"),
        ("ij,ik->j", LabelError, "'k' of 'ij,ik->j' is in one operand alone.*`np.add.reduce"),
        ("ij,ik->jkz", LabelError, "'z' of the result of .* is in no operand"),
        ("ij,ik;->jk", LabelError, "';'"),
        ("i;j * i,k -> j,k", LabelError, "the labels 'i;j' of the left operand are in layers"),
        (
            "ij,jk->ik",
            ExtentMismatchError,
            "label 'j' of .* boundary 1 is 2 in the left .* and 1 in the right",
        ),
        ("i...,...k->ik...", ExtentMismatchError, r"label '...\[-1\]' of .* differ"),
        ("ij->ij", RankError, "2 shapes are given for the 1 operands of 'ij->ij'"),
        ("abij,bcjk->acik", RankError, "labels 'abij' .* for 2 modes: labels name the modes of two boxes"),
        ("a,b,i,j * i,k -> a,b,j,k", RankError, "left operand has 2 modes, not 4.*not those of their tiles"),
        ("ij,1k->jk", LabelError, "'1'"),
        (7, ConversionError, "an equation is text"),
    ],
)
def test_what_is_no_contraction_is_refused(equation, error, text):
    with pytest.raises(error, match=text):
        tw.contraction(equation, P, Q)


def test_operands_without_tiles_are_refused():
    for odd in (3, tw.zeros((6, 6)), np.zeros((6, 6)), T):
        with pytest.raises(ConversionError, match="block patterns, or of tensors in tiles"):
            tw.contraction("ij,ik->jk", P, odd)
    moved = Q.translate_to((1, 0))
    with pytest.raises(ExtentMismatchError, match=r"label 'i' .* boundary 0 is 0 in the left operand and 1"):
        tw.contraction("ij,ik->jk", P, moved)
    with pytest.raises(ExtentMismatchError, match="boundary 3 is 6 in the left operand and none"):
        tw.contraction("i,i->", BlockPattern(Tiling([1, 2, 3])), BlockPattern(Tiling([1, 2])))


@pytest.mark.parametrize(
    ("norms", "threshold", "error", "text"),
    [
        ([1.0] * 4, -1.0, PatternError, "0 or more"),
        ([1.0] * 4, float("nan"), PatternError, "0 or more"),
        (
            [1.0] * 3,
            1.0,
            RankError,
            r"left operand are one for each of 4 present tiles, or of the extents \(3, 2\) of the grid",
        ),
        ([1j] * 4, 1.0, ConversionError, "real numbers"),
    ],
)
def test_norms_that_do_not_fit_are_refused(norms, threshold, error, text):
    with pytest.raises(error, match=text):
        tw.contraction("ij,ik->jk", P, Q).screen(norms, [1.0] * 3, threshold)


def test_the_class_is_exported_where_plans_are():
    assert isinstance(tw.contraction("ij,ik->jk", P, Q), Contraction)
    assert tw.shape.contraction is tw.contraction
