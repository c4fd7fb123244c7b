"""Collections of jagged tensors: equal to the tensor itself, part by part."""

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    ExtentMismatchError,
    IndexTypeError,
    JaggedModeError,
    LayoutError,
    SizeOverflowError,
    TensorWrapperError,
)
from tensorwrapper.interop import DaskTensor

ROWS = tw.jagged([[1, 2, 3], [], [5, 6], [7], [8, 9, 10, 11]])
CELLS = Shape.from_cells((4,), [(2, 3), (1, 1), (0, 4), (2, 3)])
PAIRS = Shape.jagged([[3, 1], [], [2, 2, 0]])


def computed(value):
    return value.compute(scheduler="sync")


def numbered(shape):
    return tw.from_buffer(np.arange(float(shape.size)), shape)


@pytest.mark.parametrize("shape", [ROWS.shape, CELLS, PAIRS, Shape.triangular(5), Shape.jagged([], rank=2)])
@pytest.mark.parametrize("most", [1, 4, 1000])
@pytest.mark.parametrize("lazy", [False, True])
def test_every_kind_of_rows_there_and_back(shape, most, lazy):
    tensor = numbered(shape)
    rows = (sel.as_view(tensor) if lazy else tensor).to_dask(max_elements=most)

    assert isinstance(rows, DaskTensor)
    assert dask.is_dask_collection(rows)
    assert rows.shape == shape
    assert sum(rows.chunks[0]) == len(rows) == len(tensor)
    assert computed(rows).array_equal(tensor)
    assert computed(rows.repartition(max_elements=2)).array_equal(tensor)
    (again,) = dask.persist(rows, scheduler="sync")
    assert computed(again).array_equal(tensor)
    assert rows.name == tensor.to_dask(max_elements=most).name or lazy


def test_as_tensor_reads_all_rows():
    with dask.config.set(scheduler="sync"):
        for shape in (ROWS.shape, CELLS, PAIRS):
            tensor = numbered(shape)
            assert tw.as_tensor(tensor.to_dask(max_elements=3)).array_equal(tensor)
            assert tw.as_tensor(tensor.to_dask(max_elements=3)).shape == shape
    with pytest.raises(ConversionError, match="copy=False"):
        tw.as_tensor(ROWS.to_dask(), copy=False)


def test_a_row_of_many_elements_is_a_part_by_itself():
    tensor = tw.jagged([[[1, 2], [3]], [[4, 5, 6], [7], [8, 9]], []])

    assert tensor.to_dask(max_elements=4).chunks == ((1, 1, 1),)
    assert tensor.flatten().to_dask(max_elements=4).chunks == ((2, 2, 1),)


@given(st.lists(st.lists(st.integers(-9, 9), max_size=5), min_size=1, max_size=9), st.integers(1, 9))
def test_ufuncs_and_reductions_are_those_of_the_tensor(lists, most):
    tensor = (
        tw.jagged(lists, dtype="i8")
        if any(lists)
        else tw.from_buffer(np.zeros(0, "i8"), Shape.jagged([0] * len(lists)))
    )
    rows = tensor.to_dask(max_elements=most)

    assert computed(rows * 2 + rows).array_equal(tensor * 3)
    assert computed(np.sqrt(abs(rows))).array_equal(np.sqrt(abs(tensor)))
    assert computed(rows - tensor).elements().tolist() == [0] * tensor.size
    assert computed(rows > 3).array_equal(tensor > 3)
    assert computed(rows.reduce_tiles(np.add)).tolist() == [sum(own) for own in lists]
    assert computed(np.add.reduce(rows, axis=-1)).tolist() == [sum(own) for own in lists]
    assert computed(rows.reduce_rows(np.add)).tolist() == [sum(own) for own in lists]
    assert computed(rows.reduce_rows(np.maximum, initial=-99)).tolist() == [max([-99, *own]) for own in lists]
    assert computed(np.add.reduce(rows, axis=None)) == sum(map(sum, lists))
    assert computed(rows.reduce_rows(lambda row: row.size)).tolist() == list(map(len, lists))
    assert computed(rows.map_tiles(lambda tiles: tiles[:, ::-1])).tolist() == [own[::-1] for own in lists]
    assert computed(rows.map_rows(lambda row: np.sort(row.to_numpy()))).tolist() == list(map(sorted, lists))
    assert computed(rows.map_rows(len, shape=Shape.jagged([1] * len(lists)))).tolist() == [
        [len(own)] for own in lists
    ]


@given(st.integers(1, 9), st.data())
def test_views_select_of_parts(most, data):
    rows = ROWS.to_dask(max_elements=most)
    picks = data.draw(st.lists(st.integers(-5, 4), max_size=6))

    assert rows[picks].compute().tolist() == [ROWS[k].tolist() for k in picks]
    assert rows[1:4].compute().tolist() == ROWS[1:4].tolist()
    joined = tw.concat([rows[::-1], rows[3:]])
    assert computed(joined.to_dask(max_elements=3)).tolist() == joined.compute().tolist()
    assert joined.compute(scheduler="sync").tolist() == joined.compute().tolist()


def test_tiles_of_one_size_come_together():
    seen = []

    def transposed(tiles):
        seen.append(tiles.shape)
        return tiles.transpose(0, 2, 1)

    tensor = numbered(CELLS)
    made = tensor.to_dask().map_tiles(
        transposed, shape=Shape.from_cells((4,), [(3, 2), (1, 1), (4, 0), (3, 2)])
    )
    found = computed(made)

    assert [found[k].tolist() for k in range(4)] == [tensor[k].to_numpy().T.tolist() for k in range(4)]
    assert sorted(seen) == [(1, 0, 4), (1, 1, 1), (2, 2, 3)]


def test_reductions_of_rows_of_tiles():
    tensor = numbered(PAIRS)
    rows = tensor.to_dask(max_elements=3)

    assert computed(rows.reduce_tiles(np.add)).tolist() == tensor.reduce_tiles(np.add).tolist()
    assert computed(rows.reduce_rows(np.add)).tolist() == [6.0, 0.0, 22.0]
    assert isinstance(rows.reduce_rows(np.add), da.Array)


def test_what_does_not_fit_is_said_when_it_is_known():
    rows = ROWS.to_dask(max_elements=3)
    with pytest.raises(ExtentMismatchError):
        rows + tw.jagged([[1]])
    with pytest.raises(ExtentMismatchError):
        rows.map_tiles(np.cbrt, shape=Shape.jagged([1, 2]))
    with pytest.raises(ExtentError):
        rows.repartition(marks=[0, 9])
    with pytest.raises(ExtentMismatchError, match="shape="):
        computed(rows.map_tiles(lambda tiles: tiles[:, :1]))
    with pytest.raises(ExtentMismatchError, match="shape="):
        computed(rows.map_rows(lambda _: [1, 2]))
    with pytest.raises(JaggedModeError, match="axis=-1 reduces rows"):
        np.add.reduce(rows, axis=0)


def test_only_what_is_selected_is_computed():
    seen = []
    rows = ROWS.to_dask(max_elements=3).map_rows(lambda row: seen.append(row.tolist()) or row)

    assert rows[0].compute().tolist() == [1, 2, 3]
    assert [5, 6] not in seen


def test_one_number_for_each_row_stands_beside_rows():
    rows = tw.jagged([[1, 2], [], [3, 4, 5]])
    with dask.config.set(scheduler="sync"):
        made = rows.to_dask(max_elements=2)
        for numbers in (
            np.array([10, 20, 30]),
            tw.as_tensor([10, 20, 30]),
            tw.selection.as_view([10, 20, 30]),
        ):
            assert (made + numbers).compute().tolist() == (rows + np.array([10, 20, 30])).tolist()
        with pytest.raises(ExtentMismatchError, match=r"has the shape Shape\(3\), not Shape\(4\)"):
            made + np.arange(4)


@pytest.mark.parametrize("most", [1, 3, 100])
@pytest.mark.parametrize("ufunc", [np.subtract, np.divide, np.power, np.remainder, np.arctan2, np.lcm])
def test_what_depends_on_the_order_of_elements_is_refused(ufunc, most):
    rows = tw.jagged([[10, 1, 2], [3], [4, 5]])
    with pytest.raises(LayoutError, match="depends on the order"):
        ufunc.reduce(rows, axis=None)
    for reduce in (
        lambda made: made.reduce(ufunc),
        lambda made: made.reduce_tiles(ufunc),
        lambda made: made.reduce_rows(ufunc),
        lambda made: ufunc.reduce(made, axis=-1),
    ):
        with pytest.raises(LayoutError, match="depends on the order"):
            reduce(rows.to_dask(max_elements=most))


SPARSE = tw.sparse([(1,)], np.array([5], "i1"), Shape(3))
REFUSED = {
    "no number": (lambda r: np.add(r, None), ConversionError),
    "a number beyond the type": (lambda r: r + 300, SizeOverflowError),
    "text": (lambda r: r + "a", DTypeError),
    "objects": (lambda r: r + np.array([object()] * 3), DTypeError),
    "rows with one more": (lambda r: r + tw.jagged([[1, 2], [], [3], []]).astype("i1"), ExtentMismatchError),
    "a box of one element": (lambda r: r + np.array([[1]], "i1"), ExtentMismatchError),
    "the outermost mode": (lambda r: np.add.reduce(r, axis=0), JaggedModeError),
    "empty rows": (lambda r: np.minimum.reduce(r * 0, axis=-1).compute(), ExtentError),
    "one sparse number per row": (lambda r: r + SPARSE, ConversionError),
    "a view of sparse numbers": (lambda r: np.maximum(sel.as_view(SPARSE), r), ConversionError),
    "a sparse choice": (lambda r: np.where(r > 1, r, SPARSE), ConversionError),
    "a sparse mask": (lambda r: np.where(SPARSE > 1, r, r), ConversionError),
    "sparse rows": (lambda r: r * tw.sparse([(0, 1)], np.array([3], "i1"), r.shape), ConversionError),
}


@pytest.mark.parametrize(("call", "error"), REFUSED.values(), ids=REFUSED)
def test_what_tensors_refuse_is_refused_alike(call, error):
    rows = tw.jagged([[1, 2], [], [3]]).astype("i1")
    with dask.config.set(scheduler="sync"):
        for given in (rows, rows.to_dask(max_elements=2)):
            with pytest.raises(error):
                call(given)
        # What iterates over results goes on to its end.
        with pytest.raises(error):
            list(map(call, [rows.to_dask(max_elements=2)]))


@given(st.lists(st.lists(st.integers(0, 2), max_size=3), min_size=1, max_size=4).filter(any))
@pytest.mark.parametrize("ufunc", [np.add, np.maximum])
def test_what_is_empty_is_named_by_its_place_in_the_whole(ufunc, lengths):
    rows = tw.from_buffer(np.arange(sum(map(sum, lengths))), Shape.jagged(lengths))
    rank = rows.rank
    every = tuple(range(1, rank))
    calls = [
        (lambda: rows.reduce_tiles(ufunc), lambda d: d.reduce_tiles(ufunc)),
        (lambda: ufunc.reduce(rows, axis=-1), lambda d: ufunc.reduce(d, axis=-1)),
        (lambda: ufunc.reduce(rows, axis=every), lambda d: ufunc.reduce(d, axis=every)),
        (lambda: ufunc.reduce(rows, axis=every), lambda d: d.reduce_rows(ufunc)),
    ]
    for of_tensor, of_parts in calls:
        try:
            expected = of_tensor().tolist()
        except ExtentError as error:
            with pytest.raises(ExtentError) as caught:
                of_parts(rows.to_dask(max_elements=1))
            assert str(caught.value) == str(error)  # noqa: PT017 - of another call
        else:
            assert computed(of_parts(rows.to_dask(max_elements=1))).tolist() == expected


def test_sparse_rows_are_no_collection():
    sparse = tw.sparse([(0, 1)], [3.0], Shape.jagged([2, 1]))
    for own in (sparse, sel.as_view(sparse)[:1]):
        with pytest.raises(ConversionError, match=r"a collection holds dense rows"):
            own.to_dask(max_elements=1)
    assert computed(tw.from_buffer(sparse.elements(), sparse.shape).to_dask()).tolist() == [[0.0, 3.0], [0.0]]


def test_calls_without_a_meaning_part_by_part_say_so():
    rows = tw.jagged([[1, 2], [], [3]]).to_dask(max_elements=2)
    for call in (
        lambda: np.add(rows, 1, out=tw.zeros((3,))),
        lambda: np.divmod(rows, 2),
        lambda: rows @ rows,
        lambda: np.add.outer(rows, rows),
        lambda: np.unique(rows),
        lambda: np.where(rows > 1),
    ):
        with pytest.raises(ConversionError, match=r"of a collection.* is not known: compute\(\)"):
            call()


def test_reductions_and_choices_work_part_by_part():
    deep = tw.jagged([[[1, 2], [3]], [], [[4]]])
    with dask.config.set(scheduler="sync"):
        rows = deep.to_dask(max_elements=2)
        for axis in (-1, (1, 2), None, (0, 1, 2)):
            assert (
                np.add.reduce(rows, axis=axis).compute().tolist() == np.add.reduce(deep, axis=axis).tolist()
            )
        assert np.add.accumulate(rows, axis=-1).compute().tolist() == [[[1, 3], [3]], [], [[4]]]
        assert np.where(rows > 2, rows, 0).compute().tolist() == [[[0, 0], [3]], [], [[4]]]
        assert (rows * tw.jagged([[10, 20], [], [30]])).compute().tolist() == [[[10, 20], [60]], [], [[120]]]
        assert (rows * [1, 2, 3]).compute().tolist() == [[[1, 2], [3]], [], [[12]]]


def test_collections_without_rows_or_elements():
    hollow = tw.jagged([[], []], dtype="i8").to_dask(max_elements=3)
    empty = tw.from_buffer(np.zeros(0, "i8"), Shape.jagged([], rank=2)).to_dask(max_elements=3)
    with dask.config.set(scheduler="sync"):
        assert empty.reduce_tiles(np.add).compute().tolist() == []
        assert hollow.reduce_tiles(np.add).compute().tolist() == [0, 0]
        assert empty.reduce(np.add).compute() == hollow.reduce(np.add).compute() == 0
        for rows in (empty, hollow):
            with pytest.raises(ExtentError, match="no identity"):
                rows.reduce(np.minimum)


def test_a_collection_has_no_truth():
    rows = tw.jagged([[1, 2], [3]]).to_dask(max_elements=2)
    with pytest.raises(ConversionError, match="the truth of 3 elements"):
        bool(rows > 1)


def test_a_collection_is_no_array_and_no_key():
    rows = tw.jagged([[1, 2], [3]])
    d = rows.to_dask()
    for call in (
        lambda: np.asarray(d),
        lambda: rows[d > 1],
    ):
        with pytest.raises(ConversionError, match=r"`d\.compute\(\)` has them as a tensor"):
            call()
    for target in (tw.zeros(rows.shape), tw.selection.as_view(tw.zeros(rows.shape))):
        target.assign(d)
        assert target.tolist() == rows.tolist()
    with pytest.raises(IndexTypeError, match=r"`d\[\(d > 1\)\.compute\(\)\]`"):
        d[d > 1]
    assert d[(d > 1).compute()].compute().tolist() == [[2], [3]]
    assert d.compute().to_padded().tolist() == [[1, 2], [3, 0]]
    with pytest.raises(DTypeError, match="initial"):
        np.add.reduce(d, axis=None, initial=np.timedelta64(1, "s"))


@pytest.mark.parametrize("most", [1, 3, 100])
def test_an_array_of_dask_is_one_number_for_each_row(most):
    t = tw.jagged([[1.0, 2.0], [], [4.0, 5.0, 9.0], [7.0]])
    d, means = t.to_dask(max_elements=most), np.array([1.5, np.nan, 6.0, 7.0])
    array = da.from_array(means, chunks=3)
    for call in (
        lambda own, beside: own - beside,
        lambda own, beside: beside - own,
        np.maximum,
        lambda own, beside: np.less(beside, own),
        lambda own, beside: own == beside,
        lambda own, beside: np.where(own > 1, own, beside),
        lambda own, beside: own + beside[2],
        lambda own, beside: own * beside.reshape(4, 1),
    ):
        found = call(d, array).compute(scheduler="sync")
        assert found.array_equal(call(t, means), equal_nan=True)
    sums = np.sum(d, axis=-1)
    assert (d / sums).compute(scheduler="sync").array_equal(t / np.sum(t, axis=-1))
    assert (d / d.reduce(np.add)).compute(scheduler="sync").array_equal(t / 28)
    with pytest.raises(ExtentMismatchError):
        d + array[:3]
    with pytest.raises(ExtentMismatchError):
        d + array[:1]
    nulls = tw.nullable([1, 2, None, 4])
    assert (d + nulls.to_dask(chunks=2)).compute(scheduler="sync").tolist() == (t + nulls).tolist()


@pytest.mark.parametrize("most", [1, 3, 100])
@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda row: row + 1, [[2, None], [], [None], [5, 6]]),
        (lambda row: row[::-1], [[None, 1], [], [None], [5, 4]]),
        (lambda row: row.fill_null(9), [[1, 9], [], [9], [4, 5]]),
        (lambda row: row.to_masked() * 2, [[2, None], [], [None], [8, 10]]),
        (lambda row: row.tolist(), [[1, None], [], [None], [4, 5]]),
    ],
)
def test_rows_with_nulls_are_mapped_to_rows_with_nulls(most, function, wanted):
    rows = tw.jagged([[1, None], [], [None], [4, 5]])
    found = rows.to_dask(max_elements=most).map_rows(function)
    made = computed(found)
    assert (made.tolist(), made.shape, made.dtype) == (wanted, rows.shape, rows.dtype)
    assert made.is_nullable
    assert computed(found + 1).tolist() == [[None if x is None else x + 1 for x in row] for row in wanted]


def test_tiles_with_nulls_are_no_arrays():
    with pytest.raises(ConversionError, match="fill_null"):
        computed(tw.jagged([[1, None], [2]]).to_dask().map_tiles(lambda tiles: tiles))


@pytest.mark.parametrize("given", [[7, None, 2], np.ma.array([7, 0, 2], mask=[False, True, False])])
def test_nulls_of_lists_and_masks_are_those_of_the_local_call(given):
    rows = tw.jagged([[1, 2], [5], [3]])
    with dask.config.set(scheduler="sync"):
        for call in (np.add, np.minimum):
            found = call(rows.to_dask(max_elements=2), given).compute()
            assert found.tolist() == call(rows, given).tolist()
            assert found.tolist()[1] == [None]


MADE = {
    "a fraction": (1, 2.5, "f8"),
    "a larger number": (np.int8(1), 300, "i8"),
    "a number beside truth": (True, 2, "i8"),
    "a complex number": (1.0, 1j, "c16"),
    "a number beside a date": (np.datetime64(1, "D"), 5, None),
    "a null": (1, None, None),
    "a text": (1, "a", None),
    "two numbers": (1, [1, 2], None),
}


@pytest.mark.parametrize(("first", "other", "dtype"), MADE.values(), ids=MADE)
def test_what_a_function_makes_of_later_rows_is_held_or_refused(first, other, dtype):
    """The first row that is seen has the type of a row of ones."""

    def made(row):
        return first if row.size < 2 else other

    rows = tw.jagged([[1], [3, 4], [5]]).to_dask(max_elements=2)
    with pytest.raises(TensorWrapperError):
        computed(rows.reduce_rows(made))
    if dtype is not None:
        found = computed(rows.reduce_rows(made, dtype=dtype))
        assert found.tolist() == [first, other, first]
        assert found.dtype == dtype


def test_texts_that_a_function_makes_of_rows_are_whole():
    rows = tw.jagged([[1], [3, 4], [5]]).to_dask(max_elements=2)
    found = computed(rows.reduce_rows(lambda row: "a" if row.size < 2 else "bcd\0"))
    assert found.tolist() == ["a", "bcd\0", "a"]


def test_what_a_function_makes_of_later_tiles_is_held_or_refused():
    tensor = tw.jagged([[1], [300, 4], [5]])
    rows = tensor.to_dask(max_elements=2)

    def smallest(tiles, axis):
        return tiles.max(axis=axis).astype("i1" if tiles.max() < 100 else "i8")

    with pytest.raises(TensorWrapperError, match="300"):
        computed(rows.reduce_tiles(smallest))


def test_the_type_of_a_reduction_by_a_ufunc_is_its_own():
    rows = tw.jagged([[1], [3, 4]]).to_dask(max_elements=2)
    with pytest.raises(ConversionError, match="dtype= is for functions"):
        rows.reduce_rows(np.add, dtype="f8")
