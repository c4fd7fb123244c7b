"""Groups of operations against brute force over all permutations, signs and conjugations."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    ParseError,
    RankError,
    SizeOverflowError,
    SymmetryError,
)
from tensorwrapper.shape import Operation, Symmetry
from tests.support.symmetry import brute_closure, parts_of, symmetric_data, symmetries

S8 = Symmetry.parse("s8")


def test_a_symmetry_is_closed_when_it_is_made():
    pairs = Symmetry(4, [((1, 0, 3, 2), 1)])
    assert (pairs.order, S8.order, Symmetry.parse("s4").order) == (2, 8, 4)
    assert Symmetry.symmetric(0, 1, rank=2) == Symmetry.parse("s2")
    s8 = (
        Symmetry.symmetric(0, 1, rank=4) | Symmetry.symmetric(2, 3, rank=4) | Symmetry(4, [((2, 3, 0, 1), 1)])
    )
    assert s8 == S8
    assert hash(s8) == hash(S8)
    assert Symmetry.parse("s4") <= S8
    assert Symmetry.parse("s4") < S8
    assert not Symmetry.parse("s4") >= S8
    assert not s8 > S8
    assert (s8 & Symmetry.antisymmetric(0, 1, rank=4)).order == 1
    assert tw.Symmetry is Symmetry


@given(symmetries(4))
def test_the_group_is_closed_has_inverses_and_no_more_than_the_generators_make(drawn):
    rank, generators, s = drawn
    operations = set(s.operations)
    assert operations == brute_closure(rank, generators)
    assert (math.factorial(rank) * 4) % s.order == 0
    assert s.order == len(operations)
    assert list(s.operations) == sorted(
        operations, key=lambda own: (own.permutation, -own.sign, own.conjugate)
    )
    for own in operations:
        inverse = tuple(np.argsort(own.permutation).tolist())
        assert Operation(inverse, own.sign, own.conjugate) in operations


@given(symmetries(4), st.data())
def test_permute_is_undone_by_the_inverse_and_is_that_of_the_permuted_tensor(drawn, data):
    rank, _, s = drawn
    order = tuple(data.draw(st.permutations(range(rank))))
    inverse = tuple(np.argsort(order).tolist()) if rank else ()
    assert s.permute(order).permute(inverse) == s
    x = symmetric_data(s, (3,) * rank, seed=1).transpose(order)
    for p, sign, conjugate in parts_of(s.permute(*order)):
        image = sign * x.transpose(p)
        np.testing.assert_array_equal(image.conj() if conjugate else image, x)


def test_permute_of_s8():
    moved = S8.permute((0, 2, 1, 3))
    assert moved.order == 8
    found = {own.permutation for own in moved.operations}
    assert {(2, 1, 0, 3), (0, 3, 2, 1), (1, 0, 3, 2)} <= found


@given(symmetries(4), symmetries(4))
def test_the_union_is_least_and_the_intersection_greatest(one, two):
    assume(one[0] == two[0])
    s, t = one[2], two[2]
    both = set(s.operations) & set(t.operations)
    assert set((s & t).operations) == both
    assert (s & t) <= s
    closed = brute_closure(one[0], [*one[1], *two[1]])
    if Operation(tuple(range(one[0])), -1) in closed:
        with pytest.raises(SymmetryError):
            s | t
    else:
        assert set((s | t).operations) == closed
        assert s <= (s | t)


@given(symmetries(4))
def test_texts_json_and_pickles_give_it_back(drawn):
    s = drawn[2]
    assert Symmetry.parse(str(s)) == s
    assert Symmetry.from_json(s.to_json()) == s
    assert Symmetry.from_json(s.to_json().encode()) == s
    assert pickle.loads(pickle.dumps(s)) == s
    assert eval(repr(s), {"Symmetry": Symmetry}) == s
    assert Symmetry(s.rank, s.generators) == s
    assert hash(Symmetry(s.rank, s.operations)) == hash(s)


@pytest.mark.parametrize(
    ("name", "rank", "order", "text"),
    [
        ("s1", 4, 1, "4:"),
        ("s2", 2, 2, "2: +(0 1)"),
        ("s4", 4, 4, "4: +(2 3) +(0 1)"),
        ("s8", 4, 8, "4: +(2 3) +(0 1) +(0 2)(1 3)"),
        ("a2", 2, 2, "2: -(0 1)"),
        ("h2", 2, 2, "2: +(0 1)*"),
        ("ah2", 2, 2, "2: -(0 1)*"),
        ("s2ij", 4, 2, "4: +(0 1)"),
        ("s2kl", 4, 2, "4: +(2 3)"),
        ("3: +(0 1 2)", 3, 3, "3: +(0 1 2)"),
        (" 3 :+(2 0 1)  +() ", 3, 3, "3: +(0 1 2)"),
        ("2: +()*", 2, 2, "2: +()*"),
        ("0:", 0, 1, "0:"),
    ],
)
def test_names_and_texts(name, rank, order, text):
    s = Symmetry.parse(name)
    assert (s.rank, s.order, str(s)) == (rank, order, text)
    assert s.is_trivial == (order == 1)


def test_cycles_say_which_mode_comes_to_which_place():
    assert Symmetry.parse("3: +(0 1 2)") == Symmetry(3, [((1, 2, 0), 1)])


@given(symmetries(4))
def test_canonical_indices_carry_the_element(drawn):
    rank, _, s = drawn
    x = symmetric_data(s, (3,) * rank, seed=2)
    indices = np.array(list(itertools.product(range(3), repeat=rank)), np.int64).reshape(3**rank, rank)
    found = s.canonical_indices(indices)
    again = s.canonical_indices(found.indices)
    np.testing.assert_array_equal(again.indices, found.indices)
    for k, (index, target) in enumerate(zip(indices.tolist(), found.indices.tolist(), strict=True)):
        orbit = {tuple(index[mode] for mode in own.permutation) for own in s.operations}
        assert tuple(target) == max(orbit)
        one = s.canonical(index)
        assert one == (tuple(target), found.signs[k], found.conjugate[k])
        value = x[one[0]] * one[1]
        assert (value.conjugate() if one[2] else value) == x[tuple(index)]
        zero = any(
            tuple(index[mode] for mode in own.permutation) == tuple(index)
            and own.sign < 0
            and not own.conjugate
            for own in s.operations
        )
        assert (found.signs[k] == 0) == zero


def test_canonical_examples():
    assert S8.canonical((0, 1, 2, 3)) == ((3, 2, 1, 0), 1, False)
    a3 = Symmetry.antisymmetric(0, 1, 2, rank=3)
    assert a3.canonical((3, 1, 2)) == ((3, 2, 1), -1, False)
    assert a3.canonical((1, 1, 2))[1] == 0
    pairs = Symmetry.antisymmetric(0, 1, rank=4) | Symmetry.antisymmetric(2, 3, rank=4)
    assert pairs.canonical((0, 1, 2, 1)) == ((1, 0, 2, 1), -1, False)
    assert pairs.canonical((0, 1, 1, 2)) == ((1, 0, 2, 1), 1, False)
    assert Symmetry.parse("a2").canonical((-(10**30), 10**30)) == ((10**30, -(10**30)), -1, False)
    assert Symmetry(0).canonical(()) == ((), 1, False)


def test_eight_modes_close_in_time():
    s = Symmetry.symmetric(*range(8), rank=8)
    assert s.order == 40_320
    assert len(s.generators) == 7
    assert s.canonical((3, 1, 4, 1, 5, 9, 2, 6)) == ((9, 6, 5, 4, 3, 2, 1, 1), 1, False)


def test_complex_integrals():
    s = Symmetry(4, [((1, 0, 3, 2), 1, True), ((2, 3, 0, 1), 1)])
    assert s.order == 4
    assert str(s) == "4: +(0 1)(2 3)* +(0 2)(1 3)"


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Symmetry(3, [((0, 1), 1)]), RankError, "not a permutation of the modes 0 to 2"),
        (lambda: Symmetry(2, [((0, 1), 2)]), SymmetryError, "sign of a generator is 1 or -1, not 2"),
        (lambda: Symmetry(3, [((0, 0, 1), 1)]), RankError, "not a permutation"),
        (lambda: Symmetry(2, [((1, 0), True)]), ConversionError, "sign"),
        (lambda: Symmetry(2, [((1, 0), 1, 1)]), ConversionError, "conjugation"),
        (lambda: Symmetry(2, [(1, 0)]), ConversionError, "permutation"),
        (lambda: Symmetry(2, [5]), ConversionError, "generator"),
        (lambda: Symmetry(9), RankError, "at most 8 modes, not 9"),
        (
            lambda: Symmetry.symmetric(0, 1, rank=3) | Symmetry.antisymmetric(0, 2, rank=3),
            SymmetryError,
            "only the zero tensor",
        ),
        (lambda: Symmetry(3, [((1, 2, 0), -1)]), SymmetryError, "only the zero tensor"),
        (lambda: Symmetry.symmetric(0, 0, rank=2), RankError, "different modes"),
        (lambda: Symmetry.symmetric(0, 2, rank=2), RankError, "different modes"),
        (lambda: S8 | Symmetry.parse("s2"), RankError, "rank 4 and of rank 2"),
        (lambda: Symmetry.parse("s2") >= S8, RankError, "rank . and of rank ."),
        (lambda: S8.canonical((1, 2)), RankError, "2 entries"),
        (lambda: S8.canonical_indices([[1, 2]]), RankError, "rank 4"),
        (lambda: S8.canonical_indices([1, 2, 3, 4]), RankError, "extents"),
        (lambda: S8.canonical_indices([[0.5] * 4]), ConversionError, "integers"),
        (lambda: S8.permute(0, 1, 2), RankError, "permutation"),
        (
            lambda: Symmetry.symmetric(*range(8), rank=8) | Symmetry.parse("8: +()*"),
            SizeOverflowError,
            "more than 40320 operations",
        ),
        (lambda: Symmetry.parse("s3"), ParseError, "s8"),
        (lambda: Symmetry.parse("9: +(0 1)"), ParseError, "up to 8"),
        (lambda: Symmetry.parse("99999999999: +(0 1)"), ParseError, "up to 8"),
        (lambda: Symmetry.parse("2: (0 1)"), ParseError, "position 3"),
        (lambda: Symmetry.parse("2: +(0 1) x"), ParseError, "position 10"),
        (lambda: Symmetry.parse("2: +(0 2)"), ParseError, "modes from 0 to 1"),
        (lambda: Symmetry.parse("3: +(0 1)(1 2)"), ParseError, "different modes"),
        (lambda: Symmetry.parse("2:" + " +(0 1)" * 17), ParseError, "16 generators"),
        (lambda: Symmetry.parse("2:" + " +(0 1)" * 10**6), ParseError, "text of a symmetry"),
        (lambda: Symmetry.parse("2: -()"), SymmetryError, "only the zero tensor"),
        (lambda: Symmetry.parse(2), ConversionError, "text"),
        (lambda: Symmetry.from_json("{}"), ParseError, "lacks"),
        (lambda: Symmetry.from_json('{"generators":[],"rank":9}'), ParseError, "at most 8"),
        (lambda: Symmetry.from_json('{"generators":[[[1,0],0,false]],"rank":2}'), ParseError, "1 or -1"),
        (lambda: Symmetry.from_json('{"generators":[[[1,1],1,false]],"rank":2}'), ParseError, "permutation"),
        (lambda: Symmetry.from_json('{"generators":[[[1,0],1,0]],"rank":2}'), ParseError, "true or false"),
        (lambda: Symmetry.from_json('{"generators":[[[1,2],1,false]],"rank":2}'), ParseError, "from 0 to 1"),
        (
            lambda: Symmetry.from_json(f'{{"generators":[{",".join(["[[1,0],1,false]"] * 17)}],"rank":2}}'),
            ParseError,
            "at most 16",
        ),
    ],
)
def test_what_is_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()
