"""Packed order and its counts, against the rule spelled out over all indices."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ExtentMismatchError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape import Symmetry
from tensorwrapper.shape.symmetry._blocks import block_of
from tests.support.symmetry import extents_of, parts_of, symmetric_data, symmetries

S = Symmetry
A2A2 = S.antisymmetric(0, 1, rank=4) | S.antisymmetric(2, 3, rank=4)
SWAPPED = A2A2 | S(4, [((2, 3, 0, 1), 1)])
COMPLEX = S(4, [((1, 0, 3, 2), 1, True), ((2, 3, 0, 1), 1)])


def packed_by_the_rule(s, extents):
    """Return the canonical indices that are stored: greatest of their orbits and no forced zeros."""
    found = []
    for index in itertools.product(*map(range, extents)):
        images = [(tuple(index[mode] for mode in p), sign, c) for p, sign, c in parts_of(s)]
        zero = any(image == index and sign < 0 and not c for image, sign, c in images)
        if not zero and max(image for image, *_ in images) == index:
            found.append(index)
    return found


@given(symmetries(4), st.data())
def test_packed_order_is_that_of_the_rule(drawn, data):
    s = drawn[2]
    extents = extents_of(s, data)
    stored = packed_by_the_rule(s, extents)
    ordinals = s.ordinals(extents)
    assert s.count(extents) == len(ordinals) == len(stored)
    assert [
        tuple(int(n) for n in np.unravel_index(o, extents)) if extents else () for o in ordinals
    ] == stored
    orbits = [len({tuple(i[m] for m in own.permutation) for own in s.operations}) for i in stored]
    assert s.multiplicities(extents).tolist() == orbits
    indices = list(itertools.product(*map(range, extents)))
    found = s.offsets(np.array(indices, np.int64).reshape(len(indices), s.rank), extents)
    for index, offset, sign, conjugate in zip(
        indices, found.offsets.tolist(), found.signs.tolist(), found.conjugate.tolist(), strict=True
    ):
        target, right_sign, right_conjugate = s.canonical(index)
        assert (sign, offset) == ((right_sign, stored.index(target)) if right_sign else (0, -1))
        if sign:
            x = symmetric_data(s, extents, seed=3)
            value = sign * x[target]
            assert x[index] == (value.conjugate() if conjugate else value)
            assert right_conjugate == conjugate or x[target] == x[target].conjugate() * (
                1 if s.offset_of(index, extents)[1] == sign else -1
            )


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("4: +(0 1)* -(2 3)*", {1: 0, 2: 5}),
        ("4: -(2 3)* -(0 1)* +(0 2)(1 3)*", {2: 4}),
        ("4: +(2 3)* +(0 1)* -(0 2)(1 3)*", {3: 18}),
        ("5: -(3 4)* +(1 2)* +(0 1)*", {2: 4}),
    ],
)
def test_what_is_real_and_imaginary_is_not_stored(text, counts):
    s = S.parse(text)
    for n, count in counts.items():
        extents = (n,) * s.rank
        assert s.count(extents) == len(s.ordinals(extents)) == len(packed_by_the_rule(s, extents)) == count
        x = symmetric_data(s, extents, seed=n)
        packed = tw.as_tensor(x).to_packed(s)
        assert np.array_equal(packed.to_dense(), x)
        assert tw.from_packed(packed.packed_values(), s, extents).array_equal(packed)


@pytest.mark.parametrize("name", ["s2", "s4", "s8", "s2ij", "s2kl", "a2", "h2", "ah2"])
def test_groups_with_a_name_have_a_closed_form(name):
    s = S.parse(name)
    assert block_of(s._codes, s.rank) is not None


@pytest.mark.parametrize(
    ("n", "counts"),
    [(7, [28, 21, 784, 406, 84, 35, 210, 441]), (13, [91, 78, 8281, 4186, 455, 286, 1820, 6084])],
)
def test_counts(n, counts):
    whole = [S.symmetric(*range(r), rank=r) for r in (3, 4)]
    groups = [S.parse("s2"), S.parse("a2"), S.parse("s4"), S.parse("s8"), whole[0]]
    groups += [S.antisymmetric(0, 1, 2, rank=3), whole[1], A2A2]
    assert [s.count((n,) * s.rank) for s in groups] == counts
    trees = [block_of(s._codes, s.rank) for s in groups]
    assert [tree.count((n,) * s.rank) for tree, s in zip(trees, groups, strict=True)] == counts


def test_counts_of_a_real_basis():
    groups = [S.parse("s2"), S.parse("s4"), S.parse("s8"), S.symmetric(0, 1, 2, rank=3)]
    groups += [S.antisymmetric(0, 1, 2, rank=3)]
    assert [s.count((114,) * s.rank) for s in groups] == [6555, 42968025, 21487290, 253460, 240464]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("3: +(0 1 2)", {2: 4, 3: 11, 4: 24}),
        ("4: +(0 1 2 3)", {2: 6, 3: 24}),
        ("4: -(0 1 2 3)", {2: 4, 3: 21}),
        ("4: +(0 1)(2 3)", {3: 45}),
        ("4: -(2 3) -(0 1) +(0 2)(1 3)", {3: 6, 4: 21, 7: 231}),
        ("4: +(0 1)(2 3)* +(0 2)(1 3)", {3: 27}),
    ],
)
def test_counts_of_other_groups(text, counts):
    s = S.parse(text)
    assert {n: s.count((n,) * s.rank) for n in counts} == counts


def test_orders_of_other_groups():
    assert (SWAPPED.order, COMPLEX.order) == (8, 4)


def test_offsets_of_s8_and_s4():
    s8, s4 = S.parse("s8"), S.parse("s4")
    places = [(0, 1, 2, 3), (1, 1, 0, 2), (2, 0, 2, 1)]
    assert s8.offsets(places, (4,) * 4).offsets.tolist() == [37, 8, 13]
    assert s4.offsets([(0, 1, 2, 3), (3, 2, 1, 0)], (4,) * 4).offsets.tolist() == [18, 81]
    assert s8.offset_of((5, 1, 2, 2), (7,) * 4) == s8.offset_of((2, 2, 1, 5), (7,) * 4) == (141, 1, False)


def test_offsets_of_antisymmetric_groups():
    a3 = S.antisymmetric(0, 1, 2, rank=3)
    places = [(0, 1, 2), (1, 0, 2), (2, 0, 3), (3, 1, 2), (1, 1, 2)]
    found = [a3.offset_of(place, (4, 4, 4))[:2] for place in places]
    assert found == [(0, -1), (0, 1), (2, 1), (3, -1), (-1, 0)]


def test_multiplicities_of_s8():
    found = np.unique_counts(S.parse("s8").multiplicities((7,) * 4))
    assert dict(zip(found.values.tolist(), found.counts.tolist(), strict=True)) == {
        1: 7,
        2: 21,
        4: 168,
        8: 210,
    }
    total = A2A2.multiplicities((5,) * 4).sum()
    assert total == (5 * 4) ** 2


@pytest.mark.parametrize("s", [S.symmetric(*range(8), rank=8), S.antisymmetric(*range(8), rank=8)])
def test_whole_sets_of_eight_modes(s):
    n = 10
    stored = math.comb(n + 7, 8) if s.operations[1].sign > 0 else math.comb(n, 8)
    assert s.count((n,) * 8) == stored == len(s.ordinals((n,) * 8))
    offset, sign, _ = s.offset_of((1, 0, 3, 2, 5, 4, 7, 6), (n,) * 8)
    assert sign == 1
    assert s.ordinals((n,) * 8)[offset] == int("76543210")


def test_counts_are_exact_beyond_64_bits():
    n = 10**30
    assert S.parse("s2").count((n, n)) == n * (n + 1) // 2
    assert S.parse("4: +(0 1)(2 3)").count((n, n, n, n)) == (n**4 + n**2) // 2


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (
            lambda: S.parse("s2").count((3, 4)),
            ExtentMismatchError,
            "modes 0 and 1, whose extents are 3 and 4",
        ),
        (lambda: S.parse("s2").ordinals((3, 4)), ExtentMismatchError, "modes 0 and 1"),
        (lambda: S.parse("s2").multiplicities((3, 4)), ExtentMismatchError, "modes 0 and 1"),
        (lambda: S.parse("s2").offset_of((0, 0), (3, 4)), ExtentMismatchError, "modes 0 and 1"),
        (lambda: S.parse("s8").count((7, 7)), RankError, "rank 4 does not fit 2 extents"),
        (
            lambda: S.parse("s2").offset_of((0, 3), (3, 3)),
            OutOfBoundsError,
            "index 3 of mode 1 is not from 0 to 2",
        ),
        (lambda: S.parse("s2").offset_of((-1, 0), (3, 3)), OutOfBoundsError, "index -1 of mode 0"),
        (lambda: S.parse("s2").ordinals((2**32, 2**32)), SizeOverflowError, "64 bits"),
        (lambda: S.parse("s2").offset_of((0, 0), (2**32, 2**32)), SizeOverflowError, "64 bits"),
    ],
)
def test_what_is_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()
