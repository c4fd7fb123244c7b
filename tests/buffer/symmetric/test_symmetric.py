"""The buffer of symmetric elements, against dense arrays that have the symmetry."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.buffer import BufferCommon, Symmetric, count_copies
from tensorwrapper.buffer.copies._symmetric_copy import pack_box, unpack_box
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    RankError,
    ReadOnlyError,
    SizeOverflowError,
    SymmetryError,
)
from tensorwrapper.shape import Symmetry
from tensorwrapper.testing import BufferContract
from tests.support.symmetry import extents_of, parts_of, symmetric_data, symmetries

S = Symmetry
S2 = S.parse("s2")
ALL = slice(None)
NAMES = ["s1", "s2", "s4", "s8", "s2ij", "s2kl", "a2", "h2", "ah2"]
A2A2 = S.antisymmetric(0, 1, rank=4) | S.antisymmetric(2, 3, rank=4)
OTHERS = [
    S(0), S(1), S(3), A2A2, A2A2 | S(4, [((2, 3, 0, 1), 1)]), A2A2 | S(4, [((2, 3, 0, 1), -1)]),
    S.symmetric(0, 1, 2, rank=3), S.antisymmetric(0, 1, 2, rank=3), S.hermitian(0, 1, 2, rank=3),
    S.antisymmetric(0, 1, 2, 3, rank=4), S.parse("3: +(0 2)"), S.parse("3: +(0 1 2)"),
    S.parse("4: -(0 1 2 3)"),
    S(4, [((1, 0, 3, 2), 1)]), S(4, [((1, 0, 3, 2), 1, True), ((2, 3, 0, 1), 1)]), S.parse("2: +()*"),
    S.parse("4: -(0 1)* -(2 3)* -(0 2)(1 3)"),
]  # fmt: skip


class TestSymmetric(BufferContract):
    def buffer(self):
        return Symmetric(pack_box(self._box(), S.parse("s8")), S.parse("s8"), (3, 3, 3, 3))

    def expected(self):
        return self._box().reshape(-1)

    def _box(self):
        return symmetric_data(S.parse("s8"), (3, 3, 3, 3), 1, np.float64)


class TestAntisymmetric(BufferContract):
    def buffer(self):
        return Symmetric(np.array([1.5, -2.5, 7.0]), S.parse("a2"), (3, 3))

    def expected(self):
        return np.array([0, -1.5, 2.5, 1.5, 0, -7.0, -2.5, 7.0, 0])


class TestHermitian(BufferContract):
    def buffer(self):
        return Symmetric(np.array([1, 2 + 1j, 3, 0, -4j, 5]), S.parse("h2"), (3, 3))

    def expected(self):
        return np.array([1, 2 - 1j, 0, 2 + 1j, 3, 4j, 0, -4j, 5])


@pytest.mark.parametrize("s", [*map(S.parse, NAMES), *OTHERS], ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_packing_and_unpacking_are_inverse(s, n):
    x = symmetric_data(s, (n,) * s.rank, seed=n)
    values = pack_box(x, s)
    assert len(values) == s.count(x.shape)
    assert not np.may_share_memory(values, x)
    np.testing.assert_array_equal(values, x.reshape(-1)[s.ordinals(x.shape)])
    y = unpack_box(values, s, x.shape)
    assert not np.may_share_memory(values, y)
    np.testing.assert_array_equal(y, x)
    buffer = Symmetric(values, s, x.shape)
    np.testing.assert_array_equal(buffer.read(np.arange(x.size)).reshape(x.shape), x)


def test_more_rows_than_a_strip_are_mirrored():
    n = 300
    for name in ("s2", "a2", "h2", "ah2"):
        s = S.parse(name)
        x = symmetric_data(s, (n, n), seed=4)
        np.testing.assert_array_equal(unpack_box(pack_box(x, s), s, (n, n)), x)
    s8 = S.parse("s8")
    x = symmetric_data(s8, (13,) * 4, 5, np.float64)
    np.testing.assert_array_equal(unpack_box(pack_box(x, s8), s8, x.shape), x)


def step_of(extents, data):
    """Draw an operation on tensors of these extents."""
    mode = data.draw(st.integers(0, len(extents) - 1))
    n = extents[mode]
    places = data.draw(st.lists(st.integers(0, n - 1), max_size=4)) if n else []
    order = data.draw(st.permutations(range(len(extents))))
    part = data.draw(st.integers(0, n - 1)) if n and data.draw(st.booleans()) else slice(0, n, 2)
    key = tuple(part if own == mode else ALL for own in range(len(extents)))
    steps = [
        lambda t: t.permute(order),
        lambda t: t.reverse(mode),
        lambda t: t.gather(mode, places),
        lambda t: t.rotate([1] * len(extents)),
        lambda t: t[key],
        *[lambda t: t.diagonal(0, 1)] * (len(extents) > 1 and extents[0] == extents[-1] == extents[1]),
    ]
    return data.draw(st.sampled_from(steps))


@given(symmetries(4), st.data())
def test_parts_of_any_layout_have_the_elements_and_the_symmetry_of_the_dense_one(drawn, data):
    s = drawn[2]
    x = symmetric_data(s, extents_of(s, data), seed=6)
    dense, packed = tw.as_tensor(x), tw.from_packed(pack_box(x, s), s, x.shape)
    for _ in range(data.draw(st.integers(1, 3))):
        if dense.rank:
            step = step_of(dense.shape.extents, data)
            dense, packed = step(dense), step(packed)
    with count_copies() as count:
        kept = packed.symmetry
    assert count.nbytes == 0
    y = np.asarray(dense)
    np.testing.assert_array_equal(packed.elements().reshape(y.shape), y)
    np.testing.assert_array_equal(packed.copy().to_dense(), y)
    for p, sign, conjugate in () if kept is None else parts_of(kept):
        image = sign * y.transpose(p)
        np.testing.assert_array_equal(image.conj() if conjugate else image, y)
    if kept is not None and not kept.is_trivial and not kept.is_zero:
        assert packed.copy().symmetry == kept


def test_parts_of_s8_keep_what_the_rules_say():
    s8 = S.parse("s8")
    t = tw.from_packed(np.arange(406.0), s8, (7,) * 4)
    assert t.symmetry == s8
    assert t[3].symmetry == S.symmetric(1, 2, rank=3)
    assert t[:, :, 0:2, 0:2].symmetry == S.parse("s4")
    assert t[2:5, 2:5, 2:5, 2:5].symmetry == s8
    assert t[::-1, ::-1].symmetry == S.parse("s4")
    assert t.gather(0, [4, 1]).symmetry == S.parse("s2kl")
    assert t.permute(0, 2, 1, 3).symmetry == s8.permute(0, 2, 1, 3)
    assert t[1, :, 2].symmetry == S(2)
    assert t[1, 2].symmetry == S.parse("s2")
    assert t.unsqueeze(1).symmetry.order == 8
    assert t.diagonal(0, 1).symmetry is None
    assert t.translate_to((1, 1, 0, 0)).symmetry == S.parse("s4")
    assert t.translate_to((2, 2, 2, 2)).symmetry == s8
    assert t.tiled(tw.Tiling(*[[3, 4]] * 4)).tile((0, 1, 1, 1)).symmetry == S.parse("s2kl")


def test_memory_is_shared_and_written_through_the_values():
    values = np.arange(6.0)
    t = tw.from_packed(values, "s2", (3, 3))
    assert t.packed_values() is t.buffer.values
    assert np.shares_memory(t.packed_values(), values)
    view = t[1:, :2]
    t.packed_values()[4] = -1
    assert view.tolist() == [[1.0, 2.0], [3.0, -1.0]]
    assert t.nbytes == 72
    assert t.packed_values().nbytes == 48
    closed = Symmetric(values, S.parse("s2"), (3, 3)).as_readonly()
    assert not closed.values.flags.writeable


def test_copies_pickles_and_casts_stay_packed():
    values = np.array([1, 2 + 1j, 3, 0, -4j, 5])
    t = tw.from_packed(values, "h2", (3, 3))
    for other in (t.copy(), pickle.loads(pickle.dumps(t)), t.astype("c8"), t.named("i", "j").copy()):
        assert other.symmetry == S.parse("h2")
        assert not np.shares_memory(other.packed_values(), values)
        assert np.array_equal(other.to_dense(), t.to_dense())
    part = pickle.loads(pickle.dumps(t[1:, 1:]))
    assert part.packed_values().tolist() == [3, -4j, 5]
    real = tw.from_packed([1.5, -2.0, 3.0], "a2", (3, 3))
    assert real.astype("i4").packed_values().tolist() == [1, -2, 3]
    assert real.astype("c16").symmetry == S.parse("a2")
    assert real.astype(bool).symmetry is None
    assert real[1:, 1:].astype("f4").symmetry == S.parse("a2")
    assert tw.from_packed([2.0, 0.0, 3.0], "s2", (2, 2)).astype(bool).symmetry == S.parse("s2")


def test_conjugation_means_nothing_to_real_elements():
    t = tw.from_packed([1, 2, 3], "h2", (2, 2))
    assert t.symmetry == S.parse("s2")
    with pytest.raises(BufferSizeError, match="has 1 packed elements"):
        tw.from_packed([1, 2, 3], "ah2", (2, 2))


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Symmetric(np.arange(5.0), S2, (3, 3)), BufferSizeError, "has 6 packed elements"),
        (lambda: Symmetric(np.arange(12.0)[::2], S2, (3, 3)), BufferSizeError, "without gaps"),
        (lambda: Symmetric(np.arange(6.0).reshape(2, 3), S2, (3, 3)), BufferSizeError, "flat array"),
        (lambda: Symmetric(np.arange(6.0), S2, (3, 4)), ExtentMismatchError, "modes 0 and 1"),
        (lambda: Symmetric(np.arange(6.0), S2, (3, 3, 1)), RankError, "rank 2"),
        (lambda: Symmetric(np.zeros(1), S(2), (2**40, 2**40)), SizeOverflowError, "64 bits"),
        (lambda: Symmetric(np.array(["a"] * 6), S2, (3, 3)), DTypeError, "not supported"),
        (lambda: Symmetric(np.zeros(3, bool), S.parse("a2"), (3, 3)), DTypeError, "no negatives"),
        (lambda: Symmetric(np.zeros(3, "u1"), S.parse("a2"), (3, 3)), DTypeError, "no negatives"),
        (lambda: Symmetric(np.zeros(3), S.parse("2: -()*"), (3, 3)), SymmetryError, "only zeros"),
    ],
)
def test_buffers_that_do_not_fit_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_what_a_symmetric_tensor_refuses():
    t = tw.from_packed([1.0, 2.0, 3.0], "s2", (2, 2))
    for write in (
        lambda: t.__setitem__((0, 0), 1.0),
        lambda: t[0].assign([1.0, 2.0]),
        lambda: np.add(t, t, out=t),
        lambda: t.buffer.write(np.array([0]), np.array([1.0])),
    ):
        with pytest.raises(ReadOnlyError, match=r"packed_values\(\)"):
            write()
    for read in (
        lambda: np.asarray(t),
        t.to_numpy,
        lambda: np.std(t, axis=0),
        lambda: np.add.accumulate(t),
        lambda: np.from_dlpack(t),
        lambda: t @ t,
    ):
        with pytest.raises(ConversionError, match=r"to_dense\(\)"):
            read()
    for part, wanted in ((t[0], [1.0, 2.0]), (t[1:], [[2.0, 3.0]])):
        assert np.asarray(part).tolist() == np.flip(np.flip(part)).tolist() == wanted
    with pytest.raises(ConversionError, match=r"t\.copy\(\)"):
        t[1:].packed_values()
    with pytest.raises(ConversionError, match="to_packed"):
        t.to_dense().packed_values()


def test_questions_about_elements():
    t = tw.from_packed([1.0, 2.0, 3.0], "s2", (2, 2))
    assert 2.0 in t
    assert 5.0 not in t
    assert float(t[0, 1]) == 2.0
    assert t.tolist() == [[1.0, 2.0], [2.0, 3.0]]
    assert str(t) == "[[1. 2.]\n [2. 3.]]"
    assert "symmetry 2: +(0 1)" in repr(t.buffer)
    assert t.array_equal(t.to_dense())
    assert t.to_dense().array_equal(t)
    assert t.array_equal(t.copy())
    assert not t.array_equal(tw.from_packed([1.0, 2.0, 4.0], "s2", (2, 2)))
    assert t[t > 1].tolist() == [2.0, 2.0, 3.0]
    assert BufferCommon.symmetry_of(t.buffer, t.layout.implementation) is None


@pytest.mark.parametrize("key", list(itertools.product([ALL, 2, slice(None, None, -1)], repeat=4)))
def test_slices_of_many_elements_are_read_in_chunks(key, monkeypatch):
    import tensorwrapper.buffer.symmetric._symmetric as module

    monkeypatch.setattr(module, "_CHUNK", 7)
    x = symmetric_data(S.parse("s8"), (3,) * 4, 7, np.float64)
    t = tw.from_packed(pack_box(x, S.parse("s8")), "s8", x.shape)[key]
    np.testing.assert_array_equal(t.elements().reshape(t.shape.extents), x[key])
