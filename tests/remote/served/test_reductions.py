"""A reduction behind a server gives the answer of one here, or its refusal, for elements of any type."""

import ml_dtypes
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError

TYPES = ["?", "i1", "u8", "f2", "f8", "c8", "m8[s]", "M8[D]", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]
UFUNCS = [np.add, np.multiply, np.maximum, np.bitwise_or, np.bitwise_and, np.logical_and, np.gcd]
INITIALS = [None, 0, 1, np.timedelta64(0, "s")]


def tensors_of(dtype):
    """Return rows, a box and tiles of a type, of which some are empty."""
    numbers = (np.arange(16) % 5 % 2 if dtype == "?" else np.arange(16) % 5).astype(dtype)
    return {
        "rows": tw.from_buffer(numbers[:5], tw.Shape.jagged([2, 0, 3])),
        "box": tw.as_tensor(numbers[:6].reshape(2, 3)),
        "tiles": tw.as_tensor(numbers.reshape(4, 4)).tiled(tw.Tiling([1, 0, 3], [2, 2])),
    }


HERE = {f"{name} {np.dtype(dtype)}": own for dtype in TYPES for name, own in tensors_of(dtype).items()}
CALLS = {
    "rows": [
        lambda t, ufunc, initial: t.rows().reduce(ufunc, initial=initial),
        lambda t, ufunc, initial: ufunc.reduce(t, axis=-1, initial=initial),
        lambda t, ufunc, initial: ufunc.reduce(t, axis=None, initial=initial),
    ],
    "box": [
        lambda t, ufunc, initial: t.rows().reduce(ufunc, initial=initial),
        lambda t, ufunc, initial: ufunc.reduce(t, axis=0, initial=initial),
    ],
    "tiles": [lambda t, ufunc, initial: t.reduce_tiles(ufunc, initial=initial)],
}


@pytest.fixture(scope="module")
def remote():
    with tw.serve(HERE) as server, tw.connect(server.address) as found:
        yield found


def answer(call, *given, **more):
    """Return the numbers and their type, or the error, which is one of this package."""
    try:
        found = call(*given, **more)
        array = np.asarray(found.compute() if isinstance(found, sel.View) else found)
    except TensorWrapperError as error:
        return type(error), str(error)
    return array.dtype, array.tolist()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_it_is_the_answer_of_a_tensor_here(remote, name, ufunc):
    for call in CALLS[name.split()[0]]:
        for initial in INITIALS:
            here = answer(call, HERE[name], ufunc, initial)

            assert answer(call, sel.as_view(HERE[name]), ufunc, initial) == here
            assert answer(call, remote[name].view(), ufunc, initial) == here


@pytest.mark.parametrize("name", ["rows float64", "box float64", "tiles float64", "rows complex64"])
@pytest.mark.parametrize("ufunc", [np.bitwise_or, np.bitwise_and, np.bitwise_xor])
def test_bits_of_floats_are_refused_in_our_words(remote, name, ufunc):
    for source in (HERE[name], sel.as_view(HERE[name]), remote[name].view()):
        for call in CALLS[name.split()[0]]:
            kind, text = answer(call, source, ufunc, None)
            assert issubclass(kind, tw.errors.DTypeError)
            assert ufunc.__name__ in text


@pytest.mark.parametrize("initial", INITIALS)
def test_tiles_are_reduced_where_they_are(remote, initial):
    (call,) = CALLS["tiles"]
    for name, own in HERE.items():
        if name.startswith("tiles"):
            assert answer(call, remote[name], np.add, initial) == answer(call, own, np.add, initial)


def rows_of(tensor, over):
    """Return what is reduced, and each row becomes one number."""
    return tensor.permute((1, 0)).rows() if over == 0 else tensor.rows()


OVER = {"rows": ["rows"], "tiles": ["tiles"], "box": ["rows", 0, 1, -1]}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", HERE)
def test_a_server_that_is_told_to_reduce_gives_it_for_elements_of_any_type(remote, name):
    """Complex numbers, times and small floats were refused, mostly for a reason that was none."""
    tensor = HERE[name]
    for over in OVER[name.split()[0]]:
        for ufunc in (np.add, np.multiply, np.maximum, np.fmin, np.logical_or, np.bitwise_or):
            for initial in INITIALS:
                here = tensor.reduce_tiles if over == "tiles" else rows_of(tensor, over).reduce
                expected = answer(here, ufunc, initial=initial)
                found = answer(remote.reduce, ufunc, remote[name], over, initial=initial)
                if isinstance(expected[0], np.dtype):
                    assert found == expected
                else:
                    assert issubclass(found[0], TensorWrapperError)
        stored = tensor != np.zeros((), tensor.dtype)[()]
        expected = (stored.reduce_tiles if over == "tiles" else rows_of(stored, over).reduce)(np.add)
        assert answer(remote.reduce, np.count_nonzero, remote[name], over)[1] == expected.tolist()


def test_numbers_that_travel_are_reduced_there_and_what_cannot_be_told_is_read():
    many = np.arange(4000).reshape(2, 2000)
    given = {"c": many.astype("c16"), "t": many.astype("m8[s]"), "b": many.astype(ml_dtypes.bfloat16)}
    with tw.serve(given) as server, tw.connect(server.address) as remote:
        for name, more, is_there in (
            ("c", {}, True),
            ("c", {"initial": 1j}, False),
            ("t", {}, True),
            ("t", {"initial": np.timedelta64(1, "s")}, False),
            ("b", {}, False),
            ("b", {"initial": 2}, False),
        ):
            before = remote.counters.bytes_received
            found = remote.reduce(np.add, remote[name], 1, **more)
            moved = remote.counters.bytes_received - before
            assert found.tolist() == np.add.reduce(tw.as_tensor(given[name]), axis=1, **more).tolist()
            assert (moved < 1000) == is_there


KINDS = {
    "box": tw.as_tensor(np.arange(24.0).reshape(4, 6)),
    "moved": tw.as_tensor(np.arange(6).reshape(2, 3)).translate_to((5, -1)),
    "named": tw.as_tensor(np.arange(6).reshape(2, 3)).named("x", "y"),
    "number": tw.as_tensor(7),
    "rows": tw.jagged([[1, 2], [], [3, 4, 5]]),
    "rows in rows": tw.jagged([[[1, 2], [3]], [], [[4], [5, 6, 7], []]]),
    "deeper": tw.jagged([[[[1, 2], [3]], []], [], [[[4]], [[5, 6, 7], []]]]),
    "tiles": tw.as_tensor(np.arange(24).reshape(4, 6)).tiled(tw.Tiling([1, 3], [2, 4])),
    "cells": tw.jagged([np.ones((2, 3)), np.arange(4.0).reshape(2, 2)]),
    "layers": tw.from_buffer(np.arange(5), tw.Shape.nested(tw.Shape.jagged([2, 0, 3]), layers=(1, 1))),
    "boxes in layers": tw.from_buffer(np.arange(24), tw.Shape.nested(tw.Shape(2, 3, 4), layers=(1, 2))),
    "triangle": tw.from_buffer(np.arange(6), tw.Shape.triangular(3)),
    "sparse": tw.sparse([(0, 1), (2, 2)], [5.0, 7.0], (3, 4), fill_value=1.0),
    "sparse rows": tw.sparse([(0, 1), (2, 2)], [5.0, 7.0], tw.Shape.jagged([2, 0, 3]), fill_value=1.0),
}
STEPS = {
    "whole": lambda t: t,
    "a view": lambda t: sel.as_view(t)[...],
    "some": lambda t: t[1:],
    "cast": lambda t: sel.as_view(t).astype("f4"),
    "backwards": lambda t: sel.as_view(t)[::-1],
    "cast there": lambda t: t.astype("f4"),
}


@pytest.fixture(scope="module")
def kinds():
    with tw.serve(KINDS) as server, tw.connect(server.address) as found:
        yield found


def shape_and_numbers(call):
    try:
        found = tw.as_tensor(call())
    except TensorWrapperError as error:
        return error
    return found.shape, found.dtype, found.tolist()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_reduced_here_is_reduced_there_whatever_the_kind(kinds, name, step):
    """Rows in rows, cells, and casts were refused as what is no array, or as no whole tensors."""
    here = KINDS[name]
    if step in {"some", "backwards"} and not here.rank:
        return
    if step == "cast there" and here.is_sparse:
        return  # The server casts no sparse tensor, which is told when it is asked for.
    for over in ("rows", "tiles", *range(-here.rank, here.rank)):
        view = sel.as_view(STEPS[step](here))
        expected = shape_and_numbers(
            lambda view=view, over=over: (
                view.rows().reduce(np.add)
                if over == "rows"
                else view.reduce_tiles(np.add)
                if over == "tiles"
                else np.add.reduce(view, axis=over)
            )
        )
        found = shape_and_numbers(lambda over=over: kinds.reduce(np.add, STEPS[step](kinds[name]), over))
        if isinstance(expected, TensorWrapperError):
            assert type(found) is type(expected) or here.is_sparse, (over, found)
        else:
            assert found == expected, over
