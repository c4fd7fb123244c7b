"""Contractions of symmetric boxes: against NumPy's einsum, and the symmetry that results keep."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, PatternError
from tensorwrapper.shape import Symmetry
from tests.support.symmetry import parts_of, symmetric_data, symmetries, water_integrals

S = Symmetry
S8, S4, S2, A2, H2 = map(S.parse, ("s8", "s4", "s2", "a2", "h2"))
A2A2 = S.antisymmetric(0, 1, rank=4) | S.antisymmetric(2, 3, rank=4)
DTYPES = ["f8", "i8", "c16", "i1", "f4"]


def packed(symmetry, n, seed, dtype=np.float64):
    x = symmetric_data(symmetry, (n,) * symmetry.rank, seed, dtype)
    return tw.as_tensor(x).to_packed(symmetry), x


def operand(draw, symmetry, dtype, seed):
    """A symmetric tensor or a view of one, and its dense array."""
    n = draw(st.integers(1, 3))
    dtype = "c16" if symmetry.real.is_zero else dtype
    x = symmetric_data(symmetry, (n,) * symmetry.rank, seed, np.dtype(dtype).type, most=3)
    t = tw.as_tensor(x)
    if draw(st.booleans()):
        t = t.to_packed(symmetry)
    if draw(st.booleans()):
        order = draw(st.permutations(range(symmetry.rank)))
        t, x = t.permute(*order), x.transpose(order)
    if draw(st.booleans()) and n > 1 and symmetry.rank:
        t, x = t[1:], x[1:]
    return t, x


@st.composite
def cases(draw):
    one, two = draw(symmetries(4)), draw(symmetries(3))
    letters = "abcdefg"
    left = letters[: one[0]]
    right = "".join(draw(st.permutations(letters))[: two[0]])
    shared = [own for own in left if own in right]
    batches = [own for own in shared if draw(st.sampled_from([False, False, True]))]
    free = [own for own in left + right if own not in shared]
    result = "".join(draw(st.permutations([*free, *batches])))
    seeds = draw(st.integers(0, 2**31))
    (a, x), (b, y) = [
        operand(draw, own[2], draw(st.sampled_from(DTYPES)), seeds + k) for k, own in enumerate((one, two))
    ]
    extents = {}
    for label, n in zip(left + right, x.shape + y.shape, strict=True):
        assume(extents.setdefault(label, n) == n)
    assume(all(a.shape.origin[left.index(k)] == b.shape.origin[right.index(k)] for k in shared))
    assume(a.buffer.stores_orbits or b.buffer.stores_orbits)
    return f"{left},{right}->{result}", a, b, x, y


@given(cases())
def test_contractions_equal_einsum(case):
    equation, a, b, x, y = case
    made = tw.contract(equation, a, b)
    expected = np.einsum(equation, x, y)
    assert made.dtype == expected.dtype
    np.testing.assert_allclose(made.to_dense(), expected, atol=1e-4)
    if made.symmetry is not None:
        assert all(
            np.allclose(sign * (expected.conj() if c else expected).transpose(p), expected, atol=1e-4)
            for p, sign, c in parts_of(made.symmetry)
        )
    labels = equation.replace(",", "->").split("->")
    starts = dict(zip(labels[0] + labels[1], a.shape.origin + b.shape.origin, strict=True))
    assert made.shape.origin == tuple(starts[label] for label in labels[2])


@pytest.mark.parametrize(
    ("equation", "one", "two", "kept"),
    [
        ("ijkl,kl->ij", S8, S(2), S2),
        ("ijkl,kl->ij", S8, S2, S2),
        ("ijkl,jk->il", S8, S(2), S(2)),
        ("ijkl,jk->il", S8, S2, S2),
        ("ij,jk->ik", S2, S2, S(2)),
        ("ijkl,klab->ijab", A2A2, A2A2, A2A2),
        ("ijkl,klab->ijab", S4, S4, S4),
        ("ij,kl->ijkl", A2, A2, A2A2),
    ],
)
def test_what_survives(equation, one, two, kept):
    (a, x), (b, y) = packed(one, 3, 1), packed(two, 3, 2)
    made = tw.contract(equation, a, b)
    assert (made.symmetry or S(made.shape.rank)) == kept
    expected = np.einsum(equation, x, y)
    np.testing.assert_allclose(made.to_dense(), expected)
    if not kept.is_trivial:
        assert len(made.packed_values()) == kept.count(expected.shape)


def test_a_tensor_times_itself_may_be_exchanged():
    a, x = packed(A2, 4, 3)
    same = tw.contract("ik,jk->ij", a, a)
    assert same.symmetry == S2
    np.testing.assert_allclose(same.to_dense(), x @ x.T)
    square = tw.contract("ij,kl->ijkl", a, a)
    assert square.symmetry == A2A2 | S(4, [((2, 3, 0, 1), 1)])
    view = a[:]
    assert tw.contract("ik,jk->ij", a, view).symmetry == S2
    other = tw.from_packed(a.packed_values().copy(), "a2", (4, 4))
    assert tw.contract("ik,jk->ij", a, other).symmetry is None


def test_what_vanishes_stores_nothing():
    (a, _), (b, _) = packed(A2, 3, 4), packed(S2, 3, 5)
    assert tw.contract("ij,ij->", a, b).item() == 0.0
    c = tw.as_tensor(np.arange(3.0))
    zeros = tw.contract("ijkl,kl->ij", packed(S.antisymmetric(2, 3, rank=4), 3, 6)[0], b)
    assert zeros.symmetry.is_zero
    assert not len(zeros.packed_values())
    assert zeros.to_dense().tolist() == np.zeros((3, 3)).tolist()
    assert tw.wire.decode(tw.wire.encode([zeros])).tensors[0].tolist() == np.zeros((3, 3)).tolist()
    assert tw.contract("ij,j->i", zeros, c).tolist() == [0.0, 0.0, 0.0]


def test_hermitian_products_are_hermitian_in_each_bit():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(4, 4, 4)) + 1j * rng.normal(size=(4, 4, 4))
    x = x + x.conj().transpose(1, 0, 2)
    own = S.hermitian(0, 1, rank=3)
    a = tw.as_tensor(x).to_packed(own)
    weights = tw.as_tensor(rng.normal(size=4))
    made = tw.contract("ijk,k->ij", a, weights)
    assert made.symmetry == H2
    assert np.isreal(np.diagonal(np.asarray(made.to_dense()))).all()
    np.testing.assert_allclose(made.to_dense(), np.einsum("ijk,k->ij", x, weights))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("odd", [np.inf, np.nan])
def test_forced_zeros_times_infinity_are_nan(odd):
    a, x = packed(A2, 3, 8)
    y = np.array([1.0, odd, 2.0])
    made = tw.contract("ij,k->ijk", a, tw.as_tensor(y))
    np.testing.assert_array_equal(made.to_dense(), np.einsum("ij,k->ijk", x, y))
    s, z = packed(S2, 3, 9)
    z[0, 1] = z[1, 0] = odd
    s.packed_values()[1] = odd
    kept = tw.contract("ij,k->ijk", s, tw.as_tensor(np.ones(3)))
    assert kept.symmetry == S2.widen(3)
    np.testing.assert_array_equal(kept.to_dense(), np.einsum("ij,k->ijk", z, np.ones(3)))


def test_coulomb_and_exchange_of_water():
    eri = tw.from_packed(water_integrals(), "s8", (7,) * 4)
    unit = tw.as_tensor(np.eye(7)).to_packed("s2")
    coulomb, exchange = tw.contract("ijkl,kl->ij", eri, unit), tw.contract("ikjl,kl->ij", eri, unit)
    assert coulomb.symmetry == exchange.symmetry == S2
    traces = [np.trace(np.asarray(own.to_dense())) for own in (coulomb, exchange)]
    np.testing.assert_allclose(traces, [39.1967459585, 13.1532637814])


def test_all_pairs_of_cases_of_truth_values():
    x = np.array([[True, False], [False, True]])
    a = tw.as_tensor(x).to_packed("s2")
    for y in itertools.product([False, True], repeat=2):
        made = tw.contract("ij,j->i", a, tw.as_tensor(np.array(y)))
        assert made.dtype == np.bool_
        assert made.tolist() == np.einsum("ij,j->i", x, np.array(y)).tolist()


def test_refusals():
    a, _ = packed(S2, 3, 10)
    dense = tw.as_tensor(np.ones((3, 3)))
    with pytest.raises(ExtentMismatchError, match=r"'j' of 'ij,jk->ik' has 3 indices from 0 .* and 2 from 0"):
        tw.contract("ij,jk->ik", a, tw.as_tensor(np.ones((2, 3))))
    with pytest.raises(ExtentMismatchError, match="from 1"):
        tw.contract("ij,jk->ik", a, dense.translate_to((1, 0)))
    with pytest.raises(ConversionError, match="untiled"):
        tw.contract("ij,jk->ik", a, dense.tiled(tw.Tiling([3], [3])))
    with pytest.raises(ConversionError, match="to_dense"):
        tw.contract("ij,jk->ik", a, tw.sparse([[0, 0]], [1.0], (3, 3)))
    with pytest.raises(PatternError, match="thresholds"):
        tw.contract("ij,jk->ik", a, dense, threshold=0.1)
    with pytest.raises(ConversionError, match="is one"):
        tw.contract("ij,jk->ik", a, np.ones((3, 3)))
    with pytest.raises(DTypeError, match="in common"):
        tw.contract("ij,jk->ik", a, tw.as_tensor(np.zeros((3, 3), "M8[s]")))


def test_views_are_computed():
    a, x = packed(S2, 3, 11)
    view = tw.selection.as_view(a)
    np.testing.assert_allclose(tw.contract("ij,jk->ik", view, a[1:, :].permute(1, 0)).to_dense(), x @ x[1:].T)
    tiled = view.tiled(tw.Tiling([1, 2], [1, 2]))
    made = tw.contract("ij,jk->ik", tiled, tiled)
    np.testing.assert_allclose(np.asarray(made.untiled().to_dense()), x @ x)
