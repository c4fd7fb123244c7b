"""Symmetric tensors: packing with its check, PySCF's packings, and ufuncs of packed elements."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.buffer import Dense, Symmetric
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    ParseError,
    RankError,
    SymmetryError,
)
from tensorwrapper.shape import Symmetry
from tests.support.symmetry import extents_of, parts_of, symmetric_data, symmetries, water_integrals

S = Symmetry
S8, S4, S2, A2 = S.parse("s8"), S.parse("s4"), S.parse("s2"), S.parse("a2")
A2A2 = S.antisymmetric(0, 1, rank=4) | S.antisymmetric(2, 3, rank=4)
ANTI = A2A2 | S(4, [((2, 3, 0, 1), 1)])
DOUBLE = S(4, [((1, 0, 3, 2), 1)])


@given(symmetries(4), st.data())
def test_packing_a_tensor_and_back_changes_nothing(drawn, data):
    s = drawn[2]
    x = symmetric_data(s, extents_of(s, data), seed=8)
    t = tw.as_tensor(x).to_packed(s)
    again = tw.from_packed(t.packed_values(), s, x.shape)
    np.testing.assert_array_equal(again.to_dense(), x)
    assert again.symmetry == t.symmetry == s
    zeros = sum(s.canonical(index)[1] == 0 for index in itertools.product(*map(range, x.shape)))
    assert int(s.multiplicities(x.shape).sum()) + zeros == x.size


def test_the_packings_of_pyscf_restated_by_loops():
    n = 5
    x = symmetric_data(S8, (n,) * 4, 9, np.float64)
    t = tw.as_tensor(x)
    pairs = [(i, j) for i in range(n) for j in range(i + 1)]
    assert t.to_packed("s4").packed_values().tolist() == [x[p + q] for p in pairs for q in pairs]
    expected = [x[p + q] for number, p in enumerate(pairs) for q in pairs[: number + 1]]
    assert t.to_packed("s8").packed_values().tolist() == expected
    whole = list(itertools.product(range(n), repeat=2))
    assert t.to_packed("s2ij").packed_values().tolist() == [x[p + q] for p in pairs for q in whole]
    assert t.to_packed("s2kl").packed_values().tolist() == [x[p + q] for p in whole for q in pairs]
    assert t.to_packed("s1").packed_values().tolist() == x.reshape(-1).tolist()
    assert tw.as_tensor(x[0, 0]).to_packed("s2").packed_values().tolist() == [x[0, 0][p] for p in pairs]
    flat = np.array([x[p + q] for p in pairs for q in pairs]).reshape(len(pairs), len(pairs))
    assert tw.from_packed(flat, "s4", (n,) * 4).array_equal(t)


@given(symmetries(3), st.data())
def test_sparse_tensors_and_boxes_of_blocks_are_packed(drawn, data):
    s = drawn[2]
    x = symmetric_data(s, extents_of(s, data), seed=12, most=1)
    places = np.argwhere(x) if x.ndim else np.zeros((0, 0), np.int64)
    if x.ndim:
        sparse = tw.sparse(places, x[tuple(places.T)], x.shape)
        packed = sparse.to_packed(s)
        assert packed.symmetry == s
        np.testing.assert_array_equal(packed.to_dense(), x)
        cut = tw.Tiling(*[[n // 2, n - n // 2] for n in x.shape])
        box = tw.as_tensor(x).tiled(cut).screened().untiled()
        np.testing.assert_array_equal(box.to_packed(s).to_dense(), x)


def test_zeros_on_the_diagonal_that_others_store_are_left_out():
    n = 4
    x = symmetric_data(A2, (n, n), 10, np.float64)
    theirs = x[np.tril_indices(n)]
    ends = np.arange(1, n + 1)
    ours = np.delete(theirs, ends * (ends + 1) // 2 - 1)
    assert tw.from_packed(ours, "a2", (n, n)).to_dense().tolist() == x.tolist()


def test_packed_matrices():
    hermitian = tw.as_tensor([[1, 2 - 1j, 0], [2 + 1j, 3, 4j], [0, -4j, 5]])
    assert hermitian.to_packed("h2").packed_values().tolist() == [1, 2 + 1j, 3, 0, -4j, 5]
    antisymmetric = tw.as_tensor([[0, 1, 2], [-1, 0, 3], [-2, -3, 0]])
    assert antisymmetric.to_packed("a2").packed_values().tolist() == [-1, -2, -3]


def test_water_integrals():
    values = water_integrals()
    t = tw.from_packed(values, "s8", (7,) * 4)
    assert values[0] == pytest.approx(4.785065404706)
    assert t[1, 0, 1, 0].item() == pytest.approx(0.136873385354)
    assert values[-1] == pytest.approx(0.774605943920)
    assert t[5, 1, 2, 2].item() == t[2, 2, 1, 5].item() == values[141] == pytest.approx(0.322751509367)
    x = np.asarray(t.to_dense())
    assert x.sum() == pytest.approx(105.2058636756)
    assert values.sum() == pytest.approx(38.9851317348)
    assert np.linalg.norm(x) == pytest.approx(8.1571456564)
    found = np.unique_counts(t.symmetry.multiplicities((7,) * 4))
    assert (found.values.tolist(), found.counts.tolist()) == ([1, 2, 4, 8], [7, 21, 168, 210])
    coulomb, exchange = np.einsum("iikk", x), np.einsum("ikik", x)
    assert coulomb == pytest.approx(39.1967459585)
    assert exchange == pytest.approx(13.1532637814)
    sizes = [t.to_packed(name).packed_values().nbytes for name in ("s1", "s4", "s8")]
    assert sizes == [19208, 6272, 3248]
    anti = x.transpose(0, 2, 1, 3) - x.transpose(0, 2, 3, 1)
    packed = tw.as_tensor(anti).to_packed(ANTI, tolerance=1e-12)
    assert len(packed.packed_values()) == 231
    assert np.linalg.norm(packed.to_dense()) == pytest.approx(7.0538750740)
    assert packed.packed_values().sum() == pytest.approx(14.7823205399)


@pytest.mark.parametrize("source", ["s8", "s4", "s2ij", "s1"])
@pytest.mark.parametrize("target", ["s8", "s4", "s2ij", "s1"])
def test_one_packing_becomes_another(source, target):
    x = symmetric_data(S8, (4,) * 4, 11, np.float64)
    t = tw.as_tensor(x).to_packed(source)
    found = t.to_packed(target)
    assert found.symmetry == S.parse(target)
    assert found.packed_values().tolist() == tw.as_tensor(x).to_packed(target).packed_values().tolist()
    part = t[1:, 1:, 1:, 1:].permute(1, 0, 3, 2).to_packed(target)
    np.testing.assert_array_equal(part.to_dense(), x[1:, 1:, 1:, 1:])


def test_pairs_that_are_exchanged_with_a_sign_become_a_matrix_and_back():
    for s in (ANTI, A2A2 | S(4, [((2, 3, 0, 1), -1)]), S.parse("4: -(0 1) -(2 3) +(0 2)(1 3)*")):
        x = symmetric_data(s, (4,) * 4, 12)
        t = tw.as_tensor(x).to_packed(s)
        wide = t.to_packed(A2A2)
        np.testing.assert_array_equal(wide.to_dense(), x)
        assert wide.to_packed(s).packed_values().tolist() == t.packed_values().tolist()


@pytest.mark.parametrize("source", ["s4", "s2ij", "s1"])
def test_a_wrong_element_of_a_packed_tensor_is_found(source):
    x = symmetric_data(S.parse(source), (4,) * 4, 13, np.float64)
    t = tw.as_tensor(x)
    with pytest.raises(SymmetryError) as dense:
        t.to_packed("s8")
    with pytest.raises(SymmetryError) as packed:
        t.to_packed(source).to_packed("s8")
    assert str(dense.value) == str(packed.value)


def test_a_wrong_element_is_named_with_its_partner_and_the_difference():
    x = np.full((4,) * 4, 0.25)
    x[0, 1, 2, 3] = 1.25
    text = r"x\[0, 1, 2, 3\] is 1.25, but \+x\[{}\] is 0.25: they differ by 1.0, more than tolerance 0"
    for name, partner in (("s2ij", "1, 0, 2, 3"), ("s4", "1, 0, 3, 2"), ("s8", "3, 2, 1, 0")):
        with pytest.raises(SymmetryError, match=text.format(partner)):
            tw.as_tensor(x).to_packed(name)
    x[0, 1, 2, 3], x[3, 2, 1, 0] = 0.25, 0.5
    with pytest.raises(SymmetryError, match=r"x\[0, 1, 2, 3\] is 0.25, but \+x\[3, 2, 1, 0\] is 0.5"):
        tw.as_tensor(x).to_packed("s8", tolerance=0.1)
    assert tw.as_tensor(x).to_packed("s8", tolerance=0.25)[0, 1, 2, 3].item() == 0.5


def stored(x, s, target):
    """Return the element at a canonical index as it is stored: real, if it is to be its own conjugate."""
    value = x[target]
    for p, sign, conjugate in parts_of(s):
        if conjugate and tuple(target[mode] for mode in p) == target:
            value = value.real if sign > 0 else 1j * value.imag
    return value


@given(symmetries(3), st.data())
def test_the_first_wrong_element_is_found(drawn, data):
    s = drawn[2]
    x = symmetric_data(s, extents_of(s, data, most=3), seed=14)
    if not x.size or not x.ndim:
        return
    x[tuple(data.draw(st.integers(0, n - 1)) for n in x.shape)] += 100j
    wrong = []
    for place in itertools.product(*map(range, x.shape)):
        target, sign, conjugate = s.canonical(place)
        value = sign * stored(x, s, target)
        if x[place] != (value.conjugate() if conjugate else value):
            wrong.append(place)
    if not wrong:
        assert np.array_equal(tw.as_tensor(x).to_packed(s).to_dense(), x)
        return
    with pytest.raises(SymmetryError) as caught:
        tw.as_tensor(x).to_packed(s)
    assert str(caught.value).startswith(f"x[{', '.join(map(str, wrong[0]))}] is ")


def test_nan_equals_nan_and_nothing_else():
    x = np.array([[np.nan, 2.0], [2.0, np.inf]])
    assert np.array_equal(tw.as_tensor(x).to_packed("s2").to_dense(), x, equal_nan=True)
    x[0, 1] = np.nan
    with pytest.raises(SymmetryError, match=r"x\[0, 1\] is nan, but \+x\[1, 0\] is 2.0"):
        tw.as_tensor(x).to_packed("s2", tolerance=np.inf)


def test_rounding_is_allowed_for():
    rng = np.random.default_rng(15)
    x = rng.standard_normal((20, 20))
    x = x + x.T + 1e-15 * rng.standard_normal((20, 20))
    with pytest.raises(SymmetryError):
        tw.as_tensor(x).to_packed("s2")
    packed = tw.as_tensor(x).to_packed("s2", 1e-12)
    assert packed.packed_values().tolist() == x[np.tril_indices(20)].tolist()
    h = x + 1j * (rng.standard_normal((20, 20)))
    h = h + h.conj().T
    h[3, 3] += 1e-14j
    assert tw.as_tensor(h).to_packed("h2", tolerance=1e-12)[3, 3].item().imag == 0


def test_every_type_of_element():
    for dtype in ("i1", "u2", "f4", "c8", "?", "M8[s]", "m8[s]"):
        x = np.array([[1, 0], [0, 1]]).astype(dtype)
        t = tw.as_tensor(x).to_packed("s2")
        assert t.dtype == x.dtype
        assert np.array_equal(t.to_dense(), x)
    with pytest.raises(SymmetryError, match="differ by 1, more"):
        tw.as_tensor(np.array([[1, 0], [1, 1]], "u1")).to_packed("s2")
    minutes = tw.as_tensor(np.array([[0, 5], [-5, 0]], "m8[m]")).to_packed("a2")
    assert minutes[0, 1].item().total_seconds() == 300


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: tw.zeros((3, 4)).to_packed("s2"), ExtentMismatchError, "modes 0 and 1"),
        (lambda: tw.zeros((3, 3)).to_packed("s8"), RankError, "rank 4 does not fit a tensor of rank 2"),
        (lambda: tw.zeros((3, 3)).translate_to((0, 1)).to_packed("s2"), ExtentMismatchError, "origins"),
        (lambda: tw.zeros((3, 3)).to_packed("s5"), ParseError, "s8"),
        (lambda: tw.zeros((3, 3)).to_packed("s2", -1.0), SymmetryError, "0 or more"),
        (lambda: tw.zeros((3, 3)).to_packed("s2", np.nan), SymmetryError, "0 or more"),
        (lambda: tw.zeros((3, 3)).to_packed("s2", "a"), ConversionError, "a tolerance is a number, not 'a'"),
        (lambda: tw.jagged([[1, 2], [3]]).to_packed("s2"), ConversionError, "not of a shape"),
        (lambda: tw.sparse([(0, 1)], [1.0], (3, 3)).to_packed("s2"), SymmetryError, r"x\[0, 1\] is 1.0"),
        (lambda: tw.as_tensor([[None, 1], [1, 2]]).to_packed("s2"), ConversionError, "fill_null"),
        (lambda: tw.strings([["a", "b"], ["b", "a"]]).to_packed("s2"), DTypeError, "not supported"),
        (lambda: tw.zeros((3, 3), dtype=bool).to_packed("a2"), DTypeError, "no negatives"),
        (lambda: tw.as_tensor([[1 + 1j]]).to_packed("h2"), SymmetryError, r"x\[0, 0\] is \(1\+1j\).*real"),
        (
            lambda: tw.as_tensor([[1 + 1j]]).to_packed("ah2"),
            SymmetryError,
            r"x\[0, 0\] is \(1\+1j\).*imaginary",
        ),
        (lambda: tw.from_packed([1 + 1j], "h2", (1, 1)), SymmetryError, r"x\[0, 0\] is \(1\+1j\).*real"),
        (
            lambda: tw.from_packed([1j, 2, 1 + 1j], "ah2", (2, 2)),
            SymmetryError,
            r"x\[1, 1\] is \(1\+1j\).*imaginary",
        ),
        (lambda: tw.as_tensor([[0.5]]).to_packed("a2"), SymmetryError, "makes it 0: they differ by 0.5"),
        (
            lambda: tw.from_packed(np.zeros(405), "s8", (7,) * 4),
            BufferSizeError,
            "406 packed elements, not 405",
        ),
        (lambda: tw.from_packed(np.zeros((4, 6)).T, "s1", (2, 2, 2, 3)), ConversionError, "no gaps"),
        (
            lambda: tw.from_packed(np.zeros(6), "s2", tw.Shape.jagged([3, 3])),
            ConversionError,
            "not of a shape",
        ),
        (lambda: tw.from_packed(np.zeros(6), 2, (3, 3)), ConversionError, "Symmetry or its text"),
    ],
)
def test_what_is_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


@given(symmetries(4), st.data())
def test_packed_elements_that_are_their_own_conjugates_are_checked(drawn, data):
    s = drawn[2]
    x = symmetric_data(s, extents_of(s, data, most=3), seed=30)
    values = tw.as_tensor(x).to_packed(s).packed_values()
    assert np.array_equal(tw.from_packed(values, s, x.shape).to_dense(), x)
    if not len(values):
        return
    place = data.draw(st.integers(0, len(values) - 1))
    changed = values.copy()
    changed[place] += 1 + 1j
    index = tuple(int(own) for own in np.unravel_index(s.ordinals(x.shape)[place], x.shape)) if x.ndim else ()
    wrong = stored({index: changed[place]}, s, index) != changed[place]
    if not wrong:
        assert tw.from_packed(changed, s, x.shape)[index].item() == changed[place]
        return
    text = rf"x\[{', '.join(map(str, index))}\] is .*, but the symmetry makes it (real|imaginary)"
    with pytest.raises(SymmetryError, match=text):
        tw.from_packed(changed, s, x.shape)


def test_a_tensor_without_modes_may_equal_its_conjugate():
    real = S.parse("0: +()*")
    assert tw.as_tensor(np.array(2 + 0j)).to_packed(real).to_packed("0:").item() == 2
    for refused in (
        lambda: tw.as_tensor(np.array(1j)).to_packed(real),
        lambda: tw.from_packed([1j], "0:", ()).to_packed(real),
        lambda: tw.from_packed([1j], real, ()),
    ):
        with pytest.raises(SymmetryError, match=r"x\[\] is 1j, but the symmetry makes it real"):
            refused()


def test_the_first_packed_element_that_is_not_real_is_named():
    with pytest.raises(SymmetryError, match=r"x\[1, 1\] is \(2\+1j\), but the symmetry makes it real"):
        tw.from_packed([1, 2j, 2 + 1j, 0, 0, 3j], "h2", (3, 3))
    nan = tw.from_packed([complex(np.nan, np.nan), 2j, 2], "h2", (2, 2))
    assert np.isnan(nan[0, 0].item())
    # Only the diagonal of a large matrix is read.
    values = np.zeros(3000 * 3001 // 2, np.complex64)
    assert np.shares_memory(tw.from_packed(values, "h2", (3000, 3000)).packed_values(), values)


# Ufuncs.

UNARY = [np.negative, np.sin, np.exp, np.square, np.absolute, np.conjugate, np.isnan, np.sqrt, np.logical_not]
BINARY = [np.add, np.subtract, np.multiply, np.true_divide, np.equal, np.maximum, np.logical_and]


def packed_of(s, seed, dtype=np.complex128, n=3):
    x = symmetric_data(s, (n,) * s.rank, seed, dtype)
    return x, tw.as_tensor(x).to_packed(s)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(symmetries(3), st.sampled_from(UNARY), st.sampled_from([np.float64, np.complex128]))
def test_unary_ufuncs_equal_those_of_the_dense_tensor(drawn, ufunc, dtype):
    s = drawn[2]
    if dtype is np.float64 and s.real.is_zero:
        return
    x, t = packed_of(s, 16, dtype)
    np.testing.assert_allclose(np.asarray(ufunc(t).to_dense()), ufunc(x), atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(symmetries(3), symmetries(3), st.sampled_from(BINARY), st.data())
def test_binary_ufuncs_equal_those_of_the_dense_tensors(one, two, ufunc, data):
    if one[0] != two[0]:
        return
    dtypes = [data.draw(st.sampled_from([np.float64, np.complex128])) for _ in range(2)]
    if any(d is np.float64 and own[2].real.is_zero for d, own in zip(dtypes, (one, two), strict=True)):
        return
    (x, t), (y, u) = packed_of(one[2], 17, dtypes[0]), packed_of(two[2], 18, dtypes[1])
    if data.draw(st.booleans()) and t.size:
        t.packed_values()[:1] = np.inf
        x = np.asarray(t.to_dense())
    np.testing.assert_allclose(np.asarray(ufunc(t, u).to_dense()), ufunc(x, y), atol=1e-12)
    number = data.draw(st.sampled_from([2, -1.5, 0, 1j, np.inf]))
    if ufunc is not np.maximum:
        np.testing.assert_allclose(np.asarray(ufunc(t, number).to_dense()), ufunc(x, number), atol=1e-12)
        np.testing.assert_allclose(np.asarray(ufunc(number, t).to_dense()), ufunc(number, x), atol=1e-12)


def test_results_are_packed_where_a_symmetry_survives():
    (x, a), (_, b) = packed_of(S8, 19, np.float64), packed_of(A2A2, 20, np.float64)
    assert (a + b).symmetry == DOUBLE
    assert (a * b).symmetry == A2A2
    assert [f(b).symmetry for f in (np.sin, np.exp, np.square)] == [A2A2, DOUBLE, S4]
    assert (2 * a - 1).symmetry == S8
    assert (a > 1).symmetry == S8
    assert (a[1] + a[1]).symmetry == S.symmetric(1, 2, rank=3)
    assert (a.permute(1, 0, 2, 3) * b).symmetry == A2A2
    assert [own.symmetry for own in np.divmod(a, 3)] == [S8, S8]
    assert (a + a[0, 0, 0, 0]).symmetry == S8
    assert (a + x).symmetry is None
    assert (a + np.arange(3)).symmetry is None
    assert isinstance((a[0, 1] + 1).buffer, Symmetric)
    assert isinstance((b[0, 1] + 1).buffer, Dense)
    assert np.array_equal((a + x).to_dense(), x + x)
    assert np.array_equal((a + np.arange(3)).to_dense(), x + np.arange(3))


def test_real_tensors_beside_hermitian_ones():
    (x, a), (y, h) = packed_of(S2, 21, np.float64), packed_of(S.parse("h2"), 22)
    assert (a * h).symmetry == (a + h).symmetry == S.parse("h2")
    assert np.array_equal((a * h).to_dense(), x * y)
    assert np.absolute(h).symmetry == S2
    assert (1j * h).symmetry is None
    assert (1j * a).symmetry == S2


def test_a_forced_zero_times_infinity_is_nan():
    a = tw.from_packed([1.0], "a2", (2, 2))
    s = tw.from_packed([np.inf, 1.0, 1.0], "s2", (2, 2))
    with np.errstate(invalid="ignore"):
        product = a * s
    assert np.isnan(product[0, 0].item())
    assert product.symmetry is None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("ufunc", [*BINARY, np.less, np.floor_divide, np.divmod], ids=str)
def test_parts_that_the_symmetry_makes_zero_are_operands(ufunc):
    (x, a), (_, h) = packed_of(A2, 27, np.float64), packed_of(S.parse("h2"), 28)
    u, v, w = x[1:2, 1:2], a[1:2, 1:2], h[1:2, 1:2]
    (_, b) = packed_of(A2A2, 29, np.float64)
    pairs = [(v, v), (v, v.copy()), (v, 2.0), (2.0, v), (v, 0.0), (v, np.inf), (b[:, :, 1, 1], a)]
    pairs += [(b[:, :, 1, 1], b[:, :, 2, 2]), (v, u)]
    if ufunc not in (np.less, np.floor_divide, np.divmod):
        pairs += [(v, w), (w, v), (v.astype("c16"), v)]
    for one, two in pairs:
        expected = ufunc(*[own.to_dense() if isinstance(own, tw.Tensor) else own for own in (one, two)])
        found = ufunc(one, two)
        results = zip(found, expected, strict=True) if ufunc.nout > 1 else [(found, expected)]
        for result, wanted in results:
            np.testing.assert_array_equal(np.asarray(result.to_dense()), np.asarray(wanted))


def test_out_takes_the_elements_of_a_symmetric_result():
    x, a = packed_of(S8, 23, np.float64)
    out = tw.zeros(a.shape)
    assert np.add(a, a, out=out) is out
    assert np.array_equal(out, x + x)
    out += a
    assert np.array_equal(out, 3 * x)
    assert np.array_equal(np.add(a, a, out=out, where=a > 0), np.where(x > 0, 2 * x, 3 * x))


def test_views_and_selections_read_a_symmetric_tensor():
    x, a = packed_of(S8, 24, np.float64)
    view = tw.selection.as_view(a)
    np.testing.assert_array_equal(np.asarray(view[1:, ::-1].compute().to_dense()), x[1:, ::-1])
    np.testing.assert_array_equal(np.asarray(view[1:, ::-1].to_dense()), x[1:, ::-1])
    with pytest.raises(ConversionError, match=r"to_dense\(\)"):
        np.asarray(view[1:, ::-1])
    np.testing.assert_array_equal(np.asarray(tw.concat([a, a], mode=1).compute()), np.concatenate([x, x], 1))
    assert tw.Tensor is type(view.compute())


@pytest.mark.parametrize("text", ["s2", "a2", "h2"])
def test_symmetric_tensors_are_joined_and_chosen_from_as_views_of_them_are(text):
    x = {"s2": [[1.0, 2], [2, 3]], "a2": [[0, 2], [-2, 0]], "h2": [[1, 2j], [-2j, 3]]}[text]
    x = np.array(x)
    t = tw.as_tensor(x).to_packed(text)
    calls = [
        lambda own: np.concatenate([own, own], axis=1),
        lambda own: np.concatenate([own[:1], x], dtype=np.complex128),
        lambda own: np.stack([own, x], axis=2),
        lambda own: np.where(abs(own) > 1, own, 0),
        lambda own: np.where(x.real > 1, 0, own),
    ]
    for call in calls:
        found, wanted = call(t), call(x)
        assert type(found) is tw.Tensor
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(found), wanted)


def test_dense_tensors_take_the_elements_of_symmetric_ones():
    x, s = packed_of(S2, 25, np.float64)
    t = tw.zeros((3, 3))
    t[...] = s
    assert np.array_equal(t, x)
    t[0] = s[1]
    t[[2, 1]] = s[:2]
    t[1, 1] = s[2, 2]
    assert np.array_equal(t, [x[1], [x[1, 0], x[2, 2], x[1, 2]], x[0]])
    places = tw.zeros((4, 3)).gather(0, [3, 0, 1])
    places.assign(s)
    assert places.tolist() == x.tolist()
    rows = tw.jagged([[1.0, 2.0, 3.0], [4.0]])
    rows[0] = s[0]
    assert rows.tolist() == [x[0].tolist(), [4.0]]


@pytest.mark.parametrize("text", ["s8", "3: +(0 1 2)", "4: +(0 1)(2 3)"])
def test_elements_of_truth_values_and_times_are_read_one_by_one(text):
    s = S.parse(text)
    x, a = packed_of(s, 27, np.float64)
    for t, own in ((a > 0, x > 0), (a.astype("m8[s]"), x.astype("m8[s]"))):
        assert t.symmetry == s
        assert np.array_equal(t[::-1].to_dense(), own[::-1])
        assert t[(0, 1, 2, 1)[: s.rank]].item() == own[(0, 1, 2, 1)[: s.rank]].item()
    assert np.array_equal(tw.where(a > 0, a, x - 1).compute(), np.where(x > 0, x, x - 1))


def test_blocks_of_a_symmetric_tensor_are_put_together():
    x, s = packed_of(S8, 26, np.float64)
    blocks = [*tw.wire.split_blocks(s, "x", max_bytes=200)]
    assert len(blocks) > 1
    done = tw.wire.Assembler(10**6, 10.0).add(tw.wire.decode(tw.wire.encode(blocks)))
    assert np.array_equal(done["x"], x)
