"""What files of arrays say of ragged shapes is the shape that it was, or refused."""

import numpy as np
import pytest
from hypothesis import given

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, LocalProtocolError, ParseError
from tensorwrapper.store.formats._ragged import Ragged, ragged_of
from tensorwrapper.testing import shapes
from tests.support.store.saved import ROWS


@pytest.mark.parametrize("name", ROWS)
def test_shapes_go_both_ways(name):
    shape = ROWS[name].shape
    ragged, sizes = ragged_of(shape, name)
    again = Ragged.from_fields(ragged.to_fields())
    assert again.shape_of(sizes) == shape
    assert again.to_fields() == ragged.to_fields()


def test_the_form_is_that_of_zarr_extensions():
    fields = {"shape": [5, {"variable": [0]}, {"variable": [0]}, 3]}
    sizes = {1: [1, 0, 2, 3, 1], 2: [2, 2, 0, 1, 1]}
    shape = Ragged.from_fields(fields).shape_of(sizes)
    assert shape.as_smooth() == tw.Shape(5, 3, 2, 3)
    assert shape.size == 3 * (2 + 0 + 0 + 3 + 1)
    deep = Ragged.from_fields({"shape": [2, {"variable": [0]}, {"variable": [0, 1]}]})
    assert deep.shape_of({1: [2, 1], 2: [4, 5, 6]}) == tw.Shape.jagged([[4, 5], [6]])


@pytest.mark.parametrize(
    ("entries", "closures", "sizes", "rows"),
    [
        (
            [2, {"variable": [0]}, {"variable": [1]}, {"variable": [1, 2]}],
            [2, (0,), (0, 1), (0, 1, 2)],
            {1: [1, 2], 2: [2, 0, 1], 3: [1, 2, 3]},
            [[[[0], [1, 2]]], [[], [[3, 4, 5]]]],
        ),
        (
            [2, {"variable": [0]}, {"variable": [0]}, {"variable": [1, 2]}],
            [2, (0,), (0,), (0, 1, 2)],
            {1: [1, 2], 2: [2, 1], 3: [1, 0, 2, 1]},
            [[[[0], []]], [[[1, 2]], [[3]]]],
        ),
        (
            [2, 2, {"variable": [0]}, {"variable": [0, 1, 2]}],
            [2, 2, (0,), (0, 1, 2)],
            {2: [1, 0], 3: [3, 1]},
            [[[[0, 1, 2]], [[3]]], [[], []]],
        ),
    ],
)
def test_modes_depend_on_the_modes_of_those_that_they_name(entries, closures, sizes, rows):
    ragged = Ragged.from_fields({"shape": entries})
    assert list(ragged.extents) == closures
    shape = ragged.shape_of(sizes)
    assert tw.from_buffer(np.arange(shape.size), shape).tolist() == rows


@pytest.mark.parametrize(
    "entries",
    [
        [5, {"variable": [0]}, {"variable": [0]}, 3, {"variable": [1, 2]}],
        [2, {"variable": [0]}, {"variable": [0]}, {"variable": [2]}],
        [3, 2, {"variable": [1]}],
        [3, {"variable": [0]}, {"variable": [1, 0]}],
        [3, {"variable": [0]}, {"variable": [1, 1]}],
        [3, {"variable": [0]}, {"variable": [2]}],
        [3, {"variable": [0]}, {"variable": [True]}],
        [3, {"variable": [0]}, {"variable": []}],
    ],
)
def test_other_dependencies_are_refused(entries):
    with pytest.raises(ParseError, match="varies with"):
        Ragged.from_fields({"shape": entries})


@pytest.mark.parametrize("counts", [[2, 1, 1], [1], [1, 2, 3]])
def test_sizes_are_as_many_as_their_modes_have_indices(counts):
    entries = [2, {"variable": [0]}, {"variable": [0]}, {"variable": [1, 2]}]
    with pytest.raises(ParseError):
        Ragged.from_fields({"shape": entries}).shape_of({1: [1, 2], 2: counts, 3: [1, 0, 2, 1]})


def test_a_number_of_rows_takes_no_memory_before_their_sizes_are_there():
    fields = {"shape": [2**35, 1, {"variable": [0, 1]}]}
    with pytest.raises(ParseError):
        Ragged.from_fields(fields).shape_of({2: [1]})


@given(shapes())
def test_any_shape_comes_back_or_is_refused(shape):
    if shape.is_box:
        return
    try:
        ragged, sizes = ragged_of(shape, "it")
    except ConversionError as error:
        assert "it" in str(error)  # noqa: PT017
        return
    assert Ragged.from_fields(ragged.to_fields()).shape_of(sizes) == shape


@pytest.mark.parametrize(
    "fields",
    [
        None,
        {},
        {"shape": []},
        {"shape": [{"variable": []}]},
        {"shape": [3, {"variable": [1]}]},
        {"shape": [3, {"variable": [0], "more": 1}]},
        {"shape": [3, True]},
        {"shape": [2**60]},
        {"shape": [1] * 100},
        {"shape": [3, 2], "index_origin": [0]},
        {"shape": [3, 2], "index_origin": [0, 2**80]},
        {"shape": [3, 2], "dimension_names": [1, 2]},
        {"shape": [3, 2], "other": 1},
    ],
)
def test_what_is_no_ragged_shape_is_refused(fields):
    with pytest.raises(ParseError):
        Ragged.from_fields(fields)


@pytest.mark.parametrize(
    "sizes", [[1, 2], [1, 2, 3, 4], [-1, 2, 3], [1.0, 2.0, 3.0], [[1, 2, 3]], np.array([2**63, 1, 1], "u8")]
)
def test_sizes_that_do_not_fit_are_refused(sizes):
    with pytest.raises(ParseError):
        Ragged.from_fields({"shape": [3, {"variable": [0]}]}).shape_of({1: sizes})


@pytest.mark.parametrize("kind", ["h5", "zarr", "parquet", "feather"])
def test_cells_with_starts_of_their_own_are_refused_and_what_is_advised_is_saved(tmp_path, kind):
    t = tw.full(tw.Shape.from_cells((2,), [(2, 2), (1, 2)], origins=[(0, 0), (1, 1)]), 1.5)
    with pytest.raises(ConversionError, match=r"use `t\[\.\.\.\]` to start each at zero, or a .tens file"):
        tw.save(tmp_path / f"a.{kind}", {"t": t})
    tw.save(tmp_path / f"a.{kind}", {"t": t[...]})
    assert tw.open(tmp_path / f"a.{kind}")["t"].tolist() == t.tolist()
    tw.save(tmp_path / "a.tens", {"t": t})
    with tw.open(tmp_path / "a.tens") as file:
        assert file["t"].shape == t.shape


def test_long_doubles_are_refused_by_what_a_caller_of_save_can_do(tmp_path):
    if np.dtype(np.longdouble).itemsize == 8:
        pytest.skip("long doubles are doubles here")
    t = tw.as_tensor(np.ones(2, np.longdouble))
    with pytest.raises(LocalProtocolError, match=r"astype\('f8'\) has doubles"):
        tw.save(tmp_path / "a.tens", {"t": t})
    tw.save(tmp_path / "b.tens", {"t": t.astype("f8")})
