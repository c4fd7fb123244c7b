"""Each symmetry that a rule claims, on random data with the symmetries of the operands."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import RankError
from tensorwrapper.shape import Symmetry
from tensorwrapper.shape.lowlevel import contraction_symmetry, ufunc_symmetry
from tests.support.symmetry import parts_of, symmetric_data, symmetries

S = Symmetry
S8, S4, S2, A2, NONE = S.parse("s8"), S.parse("s4"), S.parse("s2"), S.parse("a2"), S(2)
A2A2 = S.antisymmetric(0, 1, rank=4) | S.antisymmetric(2, 3, rank=4)
DOUBLE = S(4, [((1, 0, 3, 2), 1)])
ALL = slice(None)


def takes(function, dtype):
    try:
        function.resolve_dtypes((np.dtype(dtype), None))
    except TypeError:
        return False
    return True


UFUNCS = {
    name: own for name, own in vars(np).items() if isinstance(own, np.ufunc) and own.nin == own.nout == 1
}
REAL = sorted([name for name, own in UFUNCS.items() if takes(own, "f8")])
COMPLEX = sorted([name for name, own in UFUNCS.items() if takes(own, "c16")])


def has(x, s):
    """Tell whether an array has a symmetry, up to rounding."""
    zero = s.is_zero
    # A product of -1 and a complex infinity has a NaN.
    images = [image if sign > 0 else -image for image, sign in _images(x, s)]
    return all(np.allclose(image, x, atol=1e-9, equal_nan=not zero) for image in images)


def _images(x, s):
    return [((x.conj() if c else x).transpose(p), sign) for p, sign, c in parts_of(s)]


def complete(x, s):
    """Tell whether an array has no operation of its rank beyond those of a symmetry."""
    every = itertools.product(itertools.permutations(range(x.ndim)), (1, -1), (False, True))
    own = set(parts_of(s))
    found = {
        (p, sign, c)
        for p, sign, c in every
        if np.allclose(sign * (x.conj() if c else x).transpose(p), x, atol=1e-9)
    }
    return found <= own


def data_of(s, n=3, seed=0):
    return symmetric_data(s, (n,) * s.rank, seed) / 7.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(symmetries(3), st.sampled_from(COMPLEX))
def test_unary_ufuncs(drawn, name):
    s = drawn[2]
    kept = ufunc_symmetry(name, [s])
    # A zero that the symmetry does not make has the sign of neither -x nor conj(x): there is none by chance.
    x = symmetric_data(s, (3,) * s.rank, 0, most=10**6) / 1e6
    assert has(UFUNCS[name](x), kept)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(symmetries(3, conjugate=False), st.sampled_from(REAL))
def test_unary_ufuncs_of_real_tensors(drawn, name):
    s = drawn[2]
    x = data_of(s).real / 99
    assert has(UFUNCS[name](x), ufunc_symmetry(name, [s]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(
    symmetries(3),
    st.sampled_from(["add", "subtract", "multiply", "true_divide", "power", "equal"]),
    st.sampled_from([0, 2.5, -1, 1.5j, 1 + 2j, np.inf, np.nan]),
    st.booleans(),
)
def test_a_tensor_and_a_number(drawn, name, number, first):
    s = drawn[2]
    x = data_of(s)
    kept = ufunc_symmetry(name, [s, number] if first else [number, s])
    function = getattr(np, name)
    assert has(function(x, number) if first else function(number, x), kept)
    assert kept <= s


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(symmetries(3), symmetries(3), st.sampled_from(["add", "subtract", "multiply", "true_divide", "equal"]))
def test_two_tensors(one, two, name):
    if one[0] != two[0]:
        return
    kept = ufunc_symmetry(name, [one[2], two[2]])
    x, y = data_of(one[2], seed=1), data_of(two[2], seed=2)
    assert has(getattr(np, name)(x, y), kept)


@pytest.mark.parametrize("name", ["arctan", "arcsinh"])
def test_imaginary_numbers_beyond_a_branch_point_do_not_stay_imaginary(name):
    anti = S(1, [((0,), -1, True)])
    assert has(np.array([-2j, 3j]), anti)
    assert not has(UFUNCS[name](np.array([-2j, 3j])), anti)
    assert ufunc_symmetry(name, [anti]).is_trivial
    assert ufunc_symmetry(name, [S.parse("h2")]) == S.parse("h2")


def test_products_and_sums():
    assert ufunc_symmetry("add", [S8, A2A2]) == DOUBLE
    assert ufunc_symmetry("multiply", [S8, A2A2]) == A2A2
    assert [ufunc_symmetry(name, [A2A2]) for name in ("sin", "exp", "square")] == [A2A2, DOUBLE, S4]
    assert ufunc_symmetry("multiply", [A2A2, 2.0]) == A2A2
    assert ufunc_symmetry("multiply", [S.parse("h2"), 2j]).is_trivial
    assert ufunc_symmetry("add", [S.parse("h2"), 2.0]) == S.parse("h2")
    assert ufunc_symmetry("add", [A2, 1]).is_trivial
    assert ufunc_symmetry("true_divide", [A2, 4]) == A2
    assert ufunc_symmetry("true_divide", [4, A2]).is_trivial


def test_zeros_have_both_signs_of_each_operation():
    zeros = S.parse("4: -(0 1) +(2 3)").select(3, 3, slice(None), slice(None))
    assert zeros.is_zero
    assert zeros.positive == S.parse("s2")
    for name in ("add", "subtract", "multiply"):
        assert ufunc_symmetry(name, [zeros, zeros]) == zeros
    for name in ("true_divide", "maximum", "equal"):
        assert ufunc_symmetry(name, [zeros, zeros]) == S.parse("s2")
    assert ufunc_symmetry("multiply", [A2, zeros]) == zeros
    assert ufunc_symmetry("add", [A2, zeros]) == A2
    assert ufunc_symmetry("add", [zeros, 1]) == S.parse("s2")


@given(symmetries(4), st.data())
def test_parts_of_a_tensor(drawn, data):
    s = drawn[2]
    choices = [ALL, slice(0, 2), slice(1, 3), 0, 2]
    key = tuple(data.draw(st.sampled_from(choices)) for _ in range(s.rank))
    x = data_of(s)[key]
    kept = s.select(*key)
    assert kept.rank == x.ndim
    assert has(x, kept)
    assert s.select(*[ALL] * s.rank) == s


def test_parts_of_s8():
    assert S8.select(3, ALL, ALL, ALL) == S.symmetric(1, 2, rank=3)
    assert S8.select(ALL, ALL, slice(0, 2), slice(0, 2)) == S4
    assert A2.select(3, 3).is_zero
    assert not A2.select(3, 2).is_zero
    with pytest.raises(RankError, match="4 selections, not 2"):
        S8.select(ALL, ALL)


CONTRACTIONS = [
    ("ijkl", "kl", "ij"),
    ("ijkl", "jk", "il"),
    ("ijkl", "klab", "ijab"),
    ("ijkl", "ijkl", ""),
    ("ijkl", "ijab", "klab"),
    ("ijkl", "ij", "ijkl"),
    ("ij", "jk", "ik"),
    ("ij", "ij", ""),
    ("ij", "kl", "ijkl"),
    ("ij", "kl", "kilj"),
    ("ij", "ij", "ji"),
    ("ik", "jk", "ij"),
    ("ik", "kj", "ij"),
    ("ijk", "k", "ij"),
    ("ij", "jk", "i"),
]
GROUPS = [
    S8, S4, A2A2, DOUBLE, S(4), S(4, [((1, 0, 3, 2), 1, True), ((2, 3, 0, 1), 1)]), S.parse("4: -(0 1 2 3)"),
    S.antisymmetric(0, 1, rank=4) | S.antisymmetric(2, 3, rank=4) | S(4, [((2, 3, 0, 1), 1)]),
    S2, A2, S.parse("h2"), S.parse("ah2"), NONE,
    S.symmetric(0, 1, 2, rank=3), S.antisymmetric(0, 1, 2, rank=3), S.parse("3: +(0 1 2)"), S(1),
]  # fmt: skip


@pytest.mark.parametrize("labels", CONTRACTIONS, ids=lambda own: f"{own[0]},{own[1]}->{own[2]}")
def test_contractions_have_what_is_claimed_and_no_more(labels):
    ones, twos, result = labels
    for left, right in itertools.product(GROUPS, GROUPS):
        if left.rank != len(ones) or right.rank != len(twos):
            continue
        kept = contraction_symmetry(left, right, labels)
        x, y = data_of(left, seed=3), data_of(right, seed=4)
        z = np.einsum(f"{ones},{twos}->{result}", x, y)
        assert has(z, kept), (left, right)
        if z.ndim > 1 and not kept.is_zero:
            assert complete(z, kept), (left, right)


@pytest.mark.parametrize("labels", [own for own in CONTRACTIONS if len(own[0]) == len(own[1])])
@pytest.mark.parametrize("s", GROUPS, ids=str)
def test_contractions_of_a_tensor_with_itself(labels, s):
    ones, twos, result = labels
    if s.rank != len(ones):
        return
    kept = contraction_symmetry(s, s, labels, same=True)
    x = data_of(s, seed=5)
    assert has(np.einsum(f"{ones},{twos}->{result}", x, x), kept)
    assert set(contraction_symmetry(s, s, labels).operations) <= set(kept.operations)


def test_contractions_by_name():
    def kept(left, right, *labels, same=False):
        return contraction_symmetry(left, right, labels, same=same)

    assert kept(S8, NONE, "ijkl", "kl", "ij") == S2
    assert kept(S8, S2, "ijkl", "kl", "ij") == S2
    assert kept(S8, NONE, "ijkl", "jk", "il").is_trivial
    assert kept(S8, S2, "ijkl", "jk", "il") == S2
    assert kept(S2, S2, "ij", "jk", "ik").is_trivial
    assert kept(A2A2, A2A2, "ijkl", "klab", "ijab") == A2A2
    assert kept(NONE, NONE, "ik", "jk", "ij", same=True) == S2
    assert kept(S2, S2, "ik", "kj", "ij", same=True) == S2
    assert kept(A2, A2, "ik", "kj", "ij", same=True) == S2
    assert kept(S2, A2, "ij", "ij", "").is_zero
    with pytest.raises(RankError, match="left symmetry has rank 2, but 3 labels"):
        kept(S2, S2, "ijk", "kl", "il")
