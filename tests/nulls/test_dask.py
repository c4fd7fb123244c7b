"""Nulls in collections of Dask: part by part, as in tensors; boxes are arrays of masked chunks."""

import dask.array as da
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, interop
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentError

N = tw.jagged([[3, None, 1], [], [None], [2, 2]] * 30)
BOX = tw.as_tensor([[1, None], [2, 3]])

CALLS = {
    "as it is": lambda t: t,
    "compared": lambda t: t > 1,
    "added": lambda t: np.add(t, N),
    "sorted": lambda t: np.sort(t, axis=-1),
    "summed up": lambda t: np.cumsum(t, axis=-1),
    "chosen": lambda t: np.where(t > 1, t, 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_rows_part_by_part(name):
    collection = N.to_dask(max_elements=20)
    assert collection.chunks != ((120,),)
    found = CALLS[name](collection).compute(scheduler="sync")
    assert found.array_equal(CALLS[name](N))


def test_reductions_skip_nulls():
    collection = N.to_dask(max_elements=20)
    assert np.sum(collection, axis=-1).compute(scheduler="sync").tolist() == np.sum(N, axis=-1).tolist()
    assert int(collection.reduce(np.add).compute(scheduler="sync")) == 240
    assert tw.as_tensor(collection).array_equal(N)


def test_boxes_are_masked_arrays():
    array = BOX.to_dask(chunks=(1, 2))
    found = (array + 1).compute(scheduler="sync")
    assert isinstance(found, np.ma.MaskedArray)
    assert found.tolist() == [[2, None], [3, 4]]
    assert tw.concat([BOX, BOX]).to_dask().compute(scheduler="sync").tolist() == BOX.tolist() * 2


@st.composite
def collections(draw):
    rows = draw(st.lists(st.lists(st.integers(-9, 9) | st.none(), max_size=4), min_size=1, max_size=12))
    tensor = tw.nullable(tw.jagged([[own or 0 for own in row] for row in rows], dtype=np.int64))
    for number, row in enumerate(rows):
        tensor[number] = row
    return rows, tensor.to_dask(max_elements=draw(st.integers(1, 9)))


@given(collections(), st.data())
@settings(max_examples=20, deadline=None)
def test_views_of_collections_are_nullable(made, data):
    rows, collection = made
    view = sel.as_view(collection)
    assert (view.is_nullable, view.shape) == (True, collection.shape)
    assert pa.array(rows, pa.list_(pa.int64())).equals(view.compute().to_arrow().cast(pa.list_(pa.int64())))
    key = data.draw(st.slices(len(rows)))
    some = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=4))
    assert collection[key].tolist() == rows[key]
    assert collection[np.array(some, int), ::-1].tolist() == [rows[k][::-1] for k in some]
    assert tw.concat([collection, tw.jagged([[1]])])[len(rows) - 1 :].tolist() == [rows[-1], [1]]


@given(
    st.lists(st.lists(st.integers(0, 9) | st.none(), min_size=3, max_size=3), min_size=1, max_size=6),
    st.data(),
)
@settings(max_examples=20, deadline=None)
def test_views_of_masked_arrays_are_nullable(rows, data):
    values = np.ma.masked_array(
        [[own or 0 for own in row] for row in rows], [[o is None for o in r] for r in rows]
    )
    array = da.from_array(values, chunks=(2, 2))
    view = sel.as_view(array)
    assert (view.is_nullable, view.tolist()) == (True, rows)
    key = data.draw(st.slices(len(rows)))
    assert view[key, ::-2].tolist() == [row[::-2] for row in rows[key]]
    assert view[key, ::-2].compute().to_masked().tolist() == values[key, ::-2].tolist()
    places = np.argwhere(np.ones(values.shape, bool))[::-2]
    assert view[tuple(places.T)].tolist() == values[tuple(places.T)].tolist()
    assert (view + 1).tolist() == (values + 1).tolist()


def test_nulls_pass_through_collections_of_views():
    collection = N.to_dask(max_elements=20)
    again = collection.repartition(max_elements=7)
    assert (again.is_nullable, len(again.chunks[0]) > len(collection.chunks[0])) == (True, True)
    assert again.compute(scheduler="sync").array_equal(N)
    assert collection.persist(scheduler="sync")[1:4].tolist() == [[], [None], [2, 2]]
    assert np.sort(collection, axis=-1)[:1].tolist() == [[1, 3, None]]
    assert (collection + 1)[:1].tolist() == [[4, None, 2]]
    assert collection[3:1:-1].to_dask().compute(scheduler="sync").tolist() == [[2, 2], [None]]
    assert collection[::-1].compute(scheduler="threads").array_equal(N[::-1])
    joined = tw.concat([BOX.to_dask(chunks=(1, 2)), np.array([[5, 6]])])
    assert joined.to_dask().compute(scheduler="sync").tolist() == [[1, None], [2, 3], [5, 6]]
    plain = tw.jagged([[1, 2], [3]]).to_dask()
    assert (plain.is_nullable, sel.as_view(plain).is_nullable) == (False, False)


def masked(value):
    """Return the list of a tensor, or of what Dask computes."""
    return (value if isinstance(value, tw.Tensor) else value.compute(scheduler="sync")).tolist()


VIEWS = {
    "a row": lambda t: t[2],
    "rows turned": lambda t: t[::-2],
    "inside rows": lambda t: t[:, ::-1],
    "joined": lambda t: tw.concat([t, N, t]),
    "chosen": lambda t: tw.where(np.arange(120) % 2 > 0, t, N + 1),
    "cast": lambda t: sel.as_view(t).astype("f4"),
    "the lesser": lambda t: sel.minimum(t, t[::-1][::-1]),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("most", [1, 20, 1000])
def test_views_of_collections_have_their_nulls(name, most):
    view, wanted = VIEWS[name](N.to_dask(max_elements=most)), sel.as_view(VIEWS[name](N)).compute()
    assert view.is_nullable
    assert view.null_count == wanted.null_count
    assert view.compute().array_equal(wanted)
    assert view.compute(scheduler="sync").array_equal(wanted)
    assert masked(view.to_dask(max_elements=7)) == wanted.tolist()


def test_parts_that_differ_are_put_together():
    one, other = N.to_dask(max_elements=20), N.to_dask(max_elements=3)
    assert (one + other).compute(scheduler="sync").array_equal(N + N)
    assert one.repartition(max_elements=7).persist(scheduler="sync").is_nullable
    assert interop.reshard(one, max_elements=7).compute(scheduler="sync").array_equal(N)
    plain = N.fill_null(0).to_dask(max_elements=20)
    assert not plain.is_nullable
    assert not (plain > 1).is_nullable
    assert (plain > one).is_nullable


def test_a_reduction_of_nulls_alone_says_that_nothing_is_reduced():
    nothing = tw.jagged([[None, None], [], [None]], dtype="i8").to_dask(max_elements=2)
    for call in (
        lambda: nothing.reduce(np.minimum).compute(scheduler="sync"),
        lambda: np.maximum.reduce(nothing, axis=None).compute(scheduler="sync"),
        lambda: np.maximum.reduce(nothing.compute(scheduler="sync"), axis=None),
    ):
        with pytest.raises(ExtentError, match="initial="):
            call()
    assert int(nothing.reduce(np.minimum, initial=7).compute(scheduler="sync")) == 7
    assert int(nothing.reduce(np.add).compute(scheduler="sync")) == 0


@pytest.mark.parametrize("values", [[1, None], [[None, 2], [3, 4]], [1.5, None]], ids=str)
def test_a_single_element_may_be_a_null(values):
    box = tw.as_tensor(values)
    for place in np.ndindex(*box.shape.extents):
        wanted = box.tolist()
        for k in place:
            wanted = wanted[k]
        for d in (box[place].to_dask(), sel.as_view(box)[place].to_dask()):
            view = sel.as_view(d)
            assert (view.is_nullable, view.shape, view.dtype) == (True, Shape(), box.dtype)
            assert view.compute().tolist() == wanted
            assert (view + 1).tolist() == (None if wanted is None else wanted + 1)
            assert tw.as_tensor(d).tolist() == wanted
            assert (N.to_dask(max_elements=20) + d).compute(scheduler="sync")[:1].tolist() == (
                [[None] * 3] if wanted is None else [[3 + wanted, None, 1 + wanted]]
            )
