"""Nulls in collections of Dask: part by part, as in tensors; boxes are arrays of masked chunks."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import interop
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ExtentError

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


def test_a_view_of_masked_chunks_is_refused_when_it_is_made():
    array = BOX.to_dask(chunks=(1, 2))
    with pytest.raises(ConversionError, match=r"as_tensor\(\) of it"):
        sel.as_view(array)
    assert tw.as_tensor(array).array_equal(BOX)


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
