"""One call, five places: tensors, views, NumPy's functions, Dask and servers agree.

Each gives the same values, type and shape, or all of them refuse the call in words of this package.
"""

import warnings

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError

J = Shape.jagged
SHAPES = [
    *[J(rows) for rows in ([2, 0, 1], [2, 0], [2, 0, 1, 0], [2, 0, 0], [1, 1], [1], [0, 0], [2, 2, 2])],
    *[J(rows) for rows in ([[2, 1], [], [1]], [[2, 1], [], [1], []], [[2, 1, 0], [], [1]], [[0], [0, 0]])],
    J([], rank=2),
    J([2, 0, 1]).translate_to((5, 0)),
    J([0, 0]).translate_to((0, 3)),
    J([Shape(2, 1), Shape(0, 3)]),
    J([Shape(1, 2, origin=(3, 0)), Shape(1, 1, origin=(0, 4))]),
    Shape.triangular(2),
    Shape.nested(J([2, 0, 1]), layers=(1, 1)),
    J([2, 0, 1]).named("row", None),
    Tiling([1, 2], [2, 1]).shape,
    *[Shape(*extents) for extents in ((), (1,), (2,), (3,), (1, 1), (3, 1), (3, 2), (2, 0), (3, 0), (2, 2))],
    Shape(3, origin=(5,)),
]
DTYPES = ["?", "i1", "u1", "i8", "u8", ">i4", "f4", "f8", "c8", "m8[s]", "m8[ms]", "M8[s]", "M8[D]"]
EDGES = [-(2**63), 2**63 - 1, 2**40, 300, 128, -1, 0, 1, 2, 3]


@st.composite
def tensors(draw, shapes=SHAPES, dtypes=DTYPES):
    """Return a tensor of a small shape, with ends of types and with what is no number."""
    shape, dtype = draw(st.sampled_from(shapes)), np.dtype(draw(st.sampled_from(dtypes)))
    few = st.sampled_from([0, 1, 2, 3, 1, 2] if draw(st.booleans()) else EDGES)
    numbers = np.array(draw(st.lists(few, min_size=shape.size, max_size=shape.size)), "i8")
    if dtype.kind in "fc" and draw(st.booleans()):
        values = np.where(numbers < 0, np.nan, numbers).astype(dtype)
    else:
        values = numbers.astype(dtype)
    return tw.from_buffer(values, shape)


@st.composite
def pairs(draw, dtypes=DTYPES):
    """Return two tensors, of one shape or type more often than by chance."""
    first = draw(tensors(dtypes=dtypes))
    shapes = [first.shape] if draw(st.booleans()) else SHAPES
    types = [first.dtype.str] if draw(st.booleans()) else dtypes
    return first, draw(tensors(shapes, types))


@pytest.fixture(scope="module")
def places():
    """Return a client, and what puts tensors to its server under the names a and b."""
    start = {name: tw.as_tensor([0]) for name in "ab"}
    with tw.serve(start) as server, tw.connect(server.address) as remote, dask.config.set(scheduler="sync"):

        def put(**given):
            for name, tensor in given.items():
                server.replace(name, tensor)
            return [remote[name] for name in given]

        yield remote, put


def outcome(call):
    """Return what a call gives: type, shape and elements, or that it was refused by this package."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = call()
            found = found.compute() if hasattr(found, "compute") else found
        except TensorWrapperError as error:
            return "refused", error
    lies_nowhere = isinstance(found, np.ndarray) and found.ndim > 0
    found = tw.as_tensor(found)
    elements = found.elements()
    return (
        found.dtype.newbyteorder("="),
        found.shape.extents if lies_nowhere else found.shape,
        elements.astype(found.dtype.newbyteorder("=")).tobytes(),
    )


def is_refused(one):
    return isinstance(one[0], str)


def check(calls):
    """Raise unless all places agree."""
    found = {place: outcome(call) for place, call in calls.items()}
    (first, expected), *others = found.items()
    for place, own in others:
        assert is_refused(own) == is_refused(expected), (first, expected, place, own)
        if not is_refused(own):
            # Arrays, as Dask's are, lie nowhere.
            wanted = (
                expected if isinstance(own[1], Shape) else (expected[0], expected[1].extents, expected[2])
            )
            assert own == wanted, (first, place)


def collection(tensor):
    """Return rows as a collection of Dask, of which parts have two elements at most; None of boxes."""
    if tensor.shape.flatten().is_box or tensor.shape.has_layers:
        return None
    made = tensor.to_dask(max_elements=2)
    return made if type(made).__name__ == "DaskTensor" else None


UFUNCS = [np.add, np.subtract, np.multiply, np.equal, np.less, np.minimum, np.maximum, np.bitwise_and]


@given(pair=pairs(), ufunc=st.sampled_from(UFUNCS))
def test_ufuncs(places, pair, ufunc):
    _, put = places
    a, b = pair
    calls = {
        "tensors": lambda: ufunc(a, b),
        "views": lambda: ufunc(sel.as_view(a), sel.as_view(b)),
        "remote": lambda: ufunc(*[own.view() for own in put(a=a, b=b)]),
    }
    if ufunc in (np.minimum, np.maximum):
        lazy = sel.minimum if ufunc is np.minimum else sel.maximum
        calls["lazy"] = lambda: lazy(a, b)
        calls["lazy remote"] = lambda: lazy(*put(a=a, b=b))
        calls["pushed"] = lambda: places[0].pushed(lazy(*put(a=a, b=b)))
    rows = collection(a)
    if rows is not None:
        calls["dask"] = lambda: ufunc(rows, b)
    check(calls)


@given(pair=pairs(), ufunc=st.sampled_from(UFUNCS))
def test_arrays_lie_nowhere(pair, ufunc):
    a, b = pair
    if not b.shape.is_box:
        return
    array = np.asarray(b.flatten() if b.shape.has_layers else b)
    calls = {"tensor": lambda: ufunc(a, array), "view": lambda: ufunc(sel.as_view(a), array)}
    if ufunc in (np.minimum, np.maximum):
        calls["lazy"] = lambda: (sel.minimum if ufunc is np.minimum else sel.maximum)(a, array)
    rows = collection(a)
    if rows is not None:
        calls["dask"] = lambda: ufunc(rows, array)
    check(calls)


@given(mask=tensors(dtypes=["?"]), pair=pairs())
def test_where(places, mask, pair):
    _, put = places
    a, b = pair
    calls = {
        "numpy": lambda: np.where(mask, a, b),
        "lazy": lambda: tw.where(mask, a, b),
        "remote": lambda: tw.where(mask, *put(a=a, b=b)),
        "pushed": lambda: places[0].pushed(tw.where(mask, *put(a=a, b=b))),
    }
    rows = collection(a)
    if rows is not None:
        calls["dask"] = lambda: np.where(mask, rows, b)
    check(calls)


@given(pair=pairs(), mode=st.sampled_from([0, 0, -1, 1]))
def test_joins(places, pair, mode):
    _, put = places
    a, b = pair
    check(
        {
            "numpy": lambda: np.concatenate([a, b], axis=mode),
            "lazy": lambda: tw.concat([a, b], mode=mode),
            "remote": lambda: tw.concat(put(a=a, b=b), mode=mode),
        }
    )
    check(
        {
            "numpy": lambda: np.stack([a, b], axis=mode),
            "lazy": lambda: tw.stack([a, b], mode=mode),
            "remote": lambda: tw.stack(put(a=a, b=b), mode=mode),
        }
    )


@given(tensor=tensors(), dtype=st.sampled_from(DTYPES))
def test_conversions(places, tensor, dtype):
    _, put = places
    check(
        {
            "tensor": lambda: tensor.astype(dtype),
            "view": lambda: sel.as_view(tensor).astype(dtype),
            "remote view": lambda: put(a=tensor)[0].view().astype(dtype),
            "remote": lambda: put(a=tensor)[0].astype(dtype).view(),
            "pushed": lambda: places[0].pushed(put(a=tensor)[0].view().astype(dtype)),
        }
    )


REDUCTIONS = [np.add, np.maximum, np.minimum, np.subtract, np.bitwise_and, np.logical_or, np.gcd, np.multiply]


@given(
    tensor=tensors(), ufunc=st.sampled_from(REDUCTIONS), axis=st.sampled_from([-1, None, 0, (1, 2), (-2, -1)])
)
def test_reductions(places, tensor, ufunc, axis):
    _, put = places
    calls = {
        "tensor": lambda: ufunc.reduce(tensor, axis=axis),
        "view": lambda: ufunc.reduce(sel.as_view(tensor), axis=axis),
        "remote": lambda: ufunc.reduce(put(a=tensor)[0].view(), axis=axis),
    }
    rows = collection(tensor)
    if rows is not None:
        calls["dask"] = lambda: ufunc.reduce(rows, axis=axis)
    check(calls)


@given(tensor=tensors(), ufunc=st.sampled_from(REDUCTIONS))
def test_reductions_of_tiles(tensor, ufunc):
    calls = {
        "tensor": lambda: tensor.reduce_tiles(ufunc),
        "view": lambda: sel.as_view(tensor).reduce_tiles(ufunc),
    }
    rows = collection(tensor)
    if rows is not None:
        calls["dask"] = lambda: rows.reduce_tiles(ufunc)
    check(calls)


@given(pair=pairs())
def test_writes(pair):
    a, b = pair

    def written(assign):
        target = a.copy()
        assign(target)
        return target

    def computed(target):
        sel.as_view(b).compute(out=target)

    calls = {
        "tensor": lambda: written(lambda t: t.assign(b)),
        "view": lambda: written(lambda t: sel.as_view(t).assign(b)),
        "of a view": lambda: written(lambda t: t.assign(sel.as_view(b))),
        "by key": lambda: written(lambda t: t.__setitem__(..., b)),
    }
    check(calls)
    if not is_refused(outcome(lambda: written(computed))):
        # The same types go into the same, wherever elements come from.
        assert a.dtype == b.dtype or np.can_cast(b.dtype, a.dtype, "same_kind")
