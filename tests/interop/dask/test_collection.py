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
from tensorwrapper.errors import ConversionError, ExtentError, ExtentMismatchError, JaggedModeError
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
