"""What an outside look at operators and writes turned up: each a specimen that must not come back."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    JaggedModeError,
    OutOfBoundsError,
    SizeOverflowError,
    TensorWrapperError,
)

SPARSE = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], Shape(3, 4))


@pytest.mark.parametrize(
    ("dtype", "rows"), [("f8", [[0, 0], [0]]), ("i8", [[True], [False]]), ("c16", [[1], [2, 3]])]
)
def test_rows_have_the_type_that_was_asked_for(dtype, rows):
    assert tw.jagged(rows, dtype=dtype).dtype == np.dtype(dtype)


@pytest.mark.parametrize("step", [slice(0, 8, 2), slice(1, 8, 2), slice(7, None, -2), slice(4, 8)])
@pytest.mark.parametrize(
    "make", [tw.as_tensor, lambda x: sel.as_view(tw.as_tensor(x))], ids=["tensor", "view"]
)
def test_what_overlaps_is_read_first(make, step):
    x = np.arange(8.0)
    expected = x.copy()
    expected[step] = x[0:4].copy()
    t = make(x)
    t[step] = x[0:4]
    assert x.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (0.5, "?", DTypeError),
        (2, "?", SizeOverflowError),
        (np.complex128(1 + 1j), "f8", DTypeError),
        (70000, "f2", SizeOverflowError),
        (np.datetime64("9999", "Y"), "M8[ns]", SizeOverflowError),
        (np.timedelta64(1500, "ms"), "m8[s]", SizeOverflowError),
    ],
)
def test_fill_values_do_not_go_round_the_rule(value, dtype, error):
    with pytest.raises(error):
        tw.full(Shape(2), value, dtype=dtype)


def test_times_out_of_range_are_refused():
    for dtype, value in (("M8[ns]", np.array(["9999"], "M8[Y]")), ("m8[ns]", np.array([2**62], "m8[s]"))):
        t = tw.as_tensor(np.zeros(1, dtype))
        with pytest.raises(SizeOverflowError):
            t.assign(value)
        assert t.to_numpy().view("i8").tolist() == [0]


def test_views_are_compared_with_views_and_tensors():
    v = sel.as_view(tw.as_tensor([1.0, 2.0]))
    for other in (np.array([1.0, 2.0]), [1.0, 2.0], None):
        with pytest.raises(ConversionError):
            v.array_equal(other)


@pytest.mark.parametrize(
    ("value", "dtype", "error"), [(1e300, "f4", SizeOverflowError), (1j, "f8", DTypeError)]
)
def test_astype_loses_nothing_but_fractions(value, dtype, error):
    with pytest.raises(error):
        tw.as_tensor(np.array([value])).astype(dtype)
    assert tw.as_tensor(np.array([2.0 + 0j])).astype("f8").tolist() == [2.0]


def test_a_sparse_number_is_a_number():
    one = SPARSE[0, 1]
    assert (one + 1).item() == 6.0
    assert (SPARSE - one).fill_value == -5.0
    assert bool(one == 5)
    assert np.sqrt(SPARSE[0, 0]).item() == 0.0


def test_indices_of_methods_are_checked():
    t = tw.as_tensor([1.0, 2.0])
    for call in (
        lambda: np.add.at(t, [7], 1),
        lambda: np.add.at(t, "x", 1),
        lambda: np.add.reduceat(t, [0, 9]),
    ):
        with pytest.raises(OutOfBoundsError):
            call()
    v = sel.as_view(t)[::-1]
    np.add.at(v, [0, 0], 1.0)
    assert t.tolist() == [1.0, 4.0]


def test_one_number_is_reduced():
    assert np.add.reduce(tw.as_tensor(3), axis=None).item() == 3
    assert np.maximum.reduce(tw.as_tensor(2.5)).item() == 2.5


@pytest.mark.parametrize("t", [tw.as_tensor([1.0, 2.0]), sel.as_view(tw.as_tensor([1.0])), SPARSE])
def test_in_says_no_or_refuses(t):
    assert 10**400 not in t
    assert None not in t
    for value in ([1, 2], np.void(b"abc")):
        with pytest.raises(TensorWrapperError):
            value in t  # noqa: B015 - it raises


def test_tensors_add_into_views():
    t = tw.as_tensor([0.0, 0.0])
    tw.as_tensor([1.0, 2.0]).accumulate_into(sel.as_view(t)[::-1])
    assert t.tolist() == [2.0, 1.0]


def test_no_type_is_refused_alike():
    t = tw.as_tensor([1.0])
    for each in (t, sel.as_view(t)):
        with pytest.raises(DTypeError):
            each.astype("junk")


def test_casting_is_heard_on_every_path():
    t, h = tw.as_tensor([1.5]), tw.jagged([[1.5], [2.0]])
    for call in (
        lambda: np.concatenate([t, t], dtype="i4"),
        lambda: np.concatenate([sel.as_view(t), t], dtype="i4"),
        lambda: np.concatenate([h, h], axis=1, dtype="i4"),
        lambda: np.stack([sel.as_view(t), t], dtype="i4"),
    ):
        with pytest.raises(DTypeError):
            call()


@pytest.mark.parametrize("make", [sel.as_view, lambda t: t.gather(0, [2, 0, 1])], ids=["view", "gathered"])
def test_functions_never_lose_what_they_write(make):
    t = tw.as_tensor([1.0, 2.0, 3.0])
    target = make(t)
    for call in (lambda: np.copyto(target, 5), lambda: np.fill_diagonal(target, 1)):
        with pytest.raises(ConversionError, match="assign"):
            call()
    for call in (np.cumsum, np.clip):
        wanted = call(t.tolist(), *((0, 1) if call is np.clip else ()))
        call(t, *((0, 1) if call is np.clip else ()), out=target)
        assert target.tolist() == wanted.tolist()
    np.matmul(np.eye(3), np.ones(3), out=target)
    assert t.tolist() == [1.0, 1.0, 1.0]


TEXT = tw.strings(["a", None])
KINDS = {
    "box": (tw.as_tensor(np.zeros((3, 4))), (3, 4)),
    "rows": (tw.jagged([[1, 2], [3]]), None),
    "cells": (tw.jagged([np.zeros((2, 2)), np.zeros((1, 1))]), None),
    "sparse": (SPARSE, (3, 4)),
    "text": (TEXT, (2,)),
    "nested": (tw.as_tensor(np.zeros((2, 3))).nested((1, 1)), (2, 3))
    if hasattr(tw.Tensor, "nested")
    else (tw.as_tensor(2.5), ()),
}


@pytest.mark.parametrize("make", [lambda t: t, sel.as_view], ids=["tensor", "view"])
@pytest.mark.parametrize("kind", KINDS)
def test_attack_23_questions_of_extents_read_no_element(kind, make):
    tensor, extents = KINDS[kind]
    t = make(tensor)
    assert np.ndim(t) == tensor.shape.rank
    assert np.size(t) == tensor.shape.size
    if extents is None:
        with pytest.raises(JaggedModeError, match="as_smooth"):
            np.shape(t)
        with pytest.raises(JaggedModeError):
            np.size(t, axis=1)
    else:
        assert np.shape(t) == extents
        for mode, extent in enumerate(extents):
            assert np.size(t, axis=mode) == np.size(t, mode - len(extents)) == extent
    if kind == "rows":
        assert np.size(t, axis=0) == 2


def test_attack_23_a_null_is_no_text():
    assert (TEXT + "!").tolist() == ["a!", None]
    assert (TEXT.fill_null("") + "!").tolist() == ["a!", "!"]


@pytest.mark.parametrize("make", [tw.as_tensor, lambda x: sel.as_view(tw.as_tensor(x))])
def test_s2_comparisons_are_elementwise_and_choose_elements(make):
    x = np.arange(24.0).reshape(4, 6)
    t = make(x.copy())
    assert (t == 1.0).tolist() == (x == 1.0).tolist()
    assert (t != 0).tolist() == (x != 0).tolist()
    assert t[t == 5.0].tolist() == [5.0]
    t[t == 5.0] = -1.0
    assert np.array_equal(np.asarray(t), np.where(x == 5.0, -1.0, x))
    for key in (True, False, np.True_):
        with pytest.raises(IndexError, match="bool"):
            t[key]
    if isinstance(t, tw.Tensor):
        with pytest.raises(TypeError):
            hash(t)


SEEN_OTHERWISE = {
    "rotated": lambda t: t.rotate((1, 1)),
    "repeated none times": lambda t: t.repeat((0, 3)),
    "gathered": lambda t: t.gather(1, [0, 0][: t.shape.extents[1]]),
    "of no positions": lambda t: t.gather(0, []),
    "reversed": lambda t: t.reverse(0),
    "of no columns": lambda t: t.oindex[:, []],
}


@pytest.mark.parametrize("extents", [(0, 3), (2, 0), (1, 1), (1, 3), (2, 1)])
@pytest.mark.parametrize("see", SEEN_OTHERWISE.values(), ids=SEEN_OTHERWISE)
def test_results_go_into_what_lies_otherwise_also_without_elements(see, extents):
    """`t += 1` where nothing is stored, and where no strides say how, was refused for its extents."""
    t = see(tw.zeros(extents))
    if t.is_readonly:
        pytest.skip("indices share elements")
    expected = np.asarray(t) + 1
    t += np.ones(t.shape.extents)
    assert np.array_equal(np.asarray(t), expected)
    np.add(expected, 1, out=t)
    assert np.array_equal(np.asarray(t), expected + 1)


@pytest.mark.parametrize("make", [lambda t: t.gather(0, [1, 0]), sel.as_view, lambda t: sel.as_view(t)[::-1]])
def test_a_result_of_arrays_alone_goes_into_a_tensor(make):
    """Where no operand is a tensor, `out=` says how a result is made: StopIteration left before."""
    out, other = make(tw.zeros((2, 2))), tw.zeros((2, 2))
    assert np.add(np.eye(2), [1, 2], out=out) is out
    assert out.tolist() == [[2, 2], [1, 3]]
    whole, rest = np.divmod(np.eye(2), 1, out=(make(other), None))
    assert (whole.tolist(), rest.tolist()) == (np.eye(2).tolist(), [[0, 0], [0, 0]])


COMPARISONS = [np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal]


@pytest.mark.parametrize(
    "number", [300, -1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 2**70, -(2**70)]
)
@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8", "f4"])
@pytest.mark.parametrize("ufunc", COMPARISONS)
def test_comparisons_with_any_integer_where_a_mask_says_so(ufunc, dtype, number):
    """By NumPy's rule of its own for integers out of range the process ended beside a mask."""
    x = np.array([0, 1, 1], dtype)
    if dtype != "f4":
        x[1:] = np.iinfo(dtype).max, np.iinfo(dtype).min
    mask = np.array([True, True, False])
    expected = np.array([*map(bool, ufunc(x, number))]) & mask
    for t, m in (
        (tw.as_tensor(x), tw.as_tensor(mask)),
        (tw.jagged([x[:2], x[2:]]), tw.jagged([mask[:2], mask[2:]])),
    ):
        out = tw.from_buffer(np.zeros(3, bool), t.shape)
        assert ufunc(t, number, out=out, where=m).elements().tolist() == expected.tolist()
        assert ufunc(number, t, out=out, where=m).elements()[2] == 0


def test_ufuncs_of_several_results_have_none_of_strings():
    for t in (tw.strings(["a"]), tw.strings([["a"], []])):
        for f in (lambda t=t: divmod(t, np.array([0.5])), lambda t=t: np.modf(t), lambda t=t: divmod(t, "a")):
            with pytest.raises(DTypeError):
                f()


def test_a_view_of_what_is_sparse_is_computed_in_place():
    """Whether `out=` can take on the fill was asked of tensors alone, so that views always refused."""
    s = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], Shape(3, 4))
    v = sel.as_view(s)
    v *= 2
    v += tw.sparse([(0, 0)], [1.0], Shape(3, 4))
    assert s.stored()[1].tolist() == [1, 10, 14]
    with pytest.raises(ConversionError, match="fill"):
        v += 1
    assert s.stored()[1].tolist() == [1, 10, 14]


FUNCTIONS = {
    "sum": (lambda t, out: np.sum(t, out=out), ()),
    "sum, by position": (lambda t, out: np.sum(t, None, None, out), ()),
    "cumsum": (lambda t, out: np.cumsum(t, out=out), (2,)),
    "clip": (lambda t, out: np.clip(t, 0, 1000, out=out), (2,)),
    "take": (lambda t, out: np.take(t, [1, 0], out=out), (2,)),
    "outer": (lambda t, out: np.multiply.outer(t, t, out=out), (2, 2)),
    "dot": (lambda t, out: np.dot(t, t, out=out), ()),
    "copyto": (lambda t, out: np.copyto(out, t), (2,)),
    "putmask": (lambda t, out: np.putmask(out, [True, True], t), (2,)),
    "put": (lambda t, out: np.put(out, [0, 1], t), (2,)),
    "at": (lambda t, out: np.add.at(out, [0, 1], t), (2,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_functions_write_follows_the_rule_of_assign(name):
    call, extents = FUNCTIONS[name]
    t = tw.as_tensor([300, 200])
    for narrow in ("i1", "u1"):
        out = tw.zeros(extents, dtype=narrow)
        with pytest.raises(SizeOverflowError if narrow == "i1" else DTypeError):
            call(t, out)
        assert not np.asarray(out).any()
    with pytest.raises(DTypeError):
        call(tw.as_tensor([1.5, 2.5]), tw.zeros(extents, dtype="i8"))
    same, wide = np.zeros(extents, "i8"), tw.zeros(extents, dtype="f8")
    call(np.array([300, 200]), same)
    call(t, wide)
    np.testing.assert_array_equal(wide, same)


def test_results_go_where_nulls_are():
    t = tw.as_tensor([1.0, 2.0])
    for call in (
        lambda out: np.add(t, 1, out=out),
        lambda out: np.cumsum(t * 2 - [0, 1], out=out),
        lambda out: sel.as_view(t + 1).compute(out=out),
        lambda out: tw.concat([t[:1] + 1, t[1:] + 1]).compute(out=out),
        lambda out: out.assign(t + 1),
    ):
        out = tw.nullable(np.zeros(2), [True, False])
        call(out)
        assert out.null_count == 0
        assert out[0].item() == 2.0
