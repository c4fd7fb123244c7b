"""Every form of a shape, there and back: what comes back differs in what the report names, and in no more."""

import dask.array.core as dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, JaggedModeError, RankError
from tensorwrapper.shape import RowPartitions, Shape, Tiling
from tensorwrapper.testing import shapes, tilings


def by_text(shape):
    return Shape.from_row_partitions(RowPartitions.parse(str(shape.to_row_partitions())))


def by_ids(shape):
    if shape.rank != 2:
        raise RankError("two modes")
    rows = shape.as_jagged().to_row_partitions().partitions[0]
    return Shape.from_row_ids(rows.value_rowids, rows.nrows)


WAYS = {
    "json": lambda s: Shape.from_json(s.to_json()),
    "row_partitions": by_text,
    "awkward": lambda s: Shape.from_awkward(*s.awkward_buffers()),
    "arrow": lambda s: Shape.from_arrow(s.arrow_lists(), s.to_row_partitions().static_lengths[0]),
    "arrow_tensors": lambda s: Shape.from_arrow_tensors(*s.arrow_tensor_sizes()),
    "torch": lambda s: Shape.from_torch_jagged(*s.torch_offsets()),
    "torch_strided": lambda s: Shape.from_cells(s.extent_bounds(0)[:1], s.cell_extents()),
    "cf": by_ids,
}


def without(shape, form, lost):
    """Return the shape without what is lost, but where it lies."""
    if "layers" in lost:
        shape = shape.flatten()
    if "names" in lost:
        shape = shape.named(
            None, *(shape.names[1:] if form == "arrow_tensors" else [None] * (shape.rank - 1))
        )
    return shape.as_jagged() if "kind" in lost else shape


@pytest.mark.parametrize("form", WAYS)
@given(shape=shapes(), names=st.permutations(["a", "b", None, "d", None, "f", "g", "h", "i"]))
def test_what_comes_back_is_what_the_report_says(form, shape, names):
    shape = shape.named(*names[: shape.rank])
    report = shape.losses(form)
    assert report.form == form
    if not report.is_possible:
        with pytest.raises((RankError, JaggedModeError)):
            WAYS[form](shape)
        return
    back = WAYS[form](shape)
    lost = set(report.lost) - {"cells"}
    # What is behind empty modes may come back by chance.
    assert (back == shape) == (not lost) or (back == shape and lost == {"behind_empty"})
    expected = without(shape, form, report.lost)
    assert back.is_congruent(expected)
    assert back.names == expected.names
    assert "origin" not in back.losses(form).lost or form == "json"
    if not {"origin", "behind_empty"} & set(report.lost):
        assert back == expected
    if form in ("row_partitions", "awkward", "arrow") and shape.kind == "jagged":
        assert (back.outer_rank == shape.outer_rank) == ("cells" not in report.lost)
    if report.is_exact:
        assert back.outer_rank == shape.outer_rank


@pytest.mark.parametrize(
    ("shape", "lost"),
    [
        (Shape(2, 3), {}),
        (Shape(2, origin=(1,)), {"awkward": ("origin",), "arrow": ("origin",), "array_api": ("origin",)}),
        (
            Shape.jagged([3, 1]).named("event", "hit"),
            {"arrow": ("names",), "arrow_tensors": ("names",), "array_api": ("names", "extents")},
        ),
        (Shape.jagged([3, 1]).named(None, "hit"), {"arrow_tensors": (), "torch_strided": ("names",)}),
        (Shape.from_cells((2,), [(1, 2), (3, 4)]), {"awkward": ("cells",), "torch_strided": (), "json": ()}),
        (Shape.from_cells((2,), [(1, 5), (3, 5)]), {"row_partitions": (), "torch": (), "arrow_tensors": ()}),
        (Shape.nested(Shape(2, 3), layers=(1, 1)), {"json": (), "arrow": ("layers",)}),
        (Shape.tiled([1, 2], [3, 4]), {"awkward": ("cells",)}),
        (
            Shape.jagged([[2]]),
            {"torch": ("cells",), "torch_strided": ("cells",), "arrow_tensors": ("cells",), "arrow": ()},
        ),
        (Shape.jagged([Shape.jagged([], rank=2)]), {"arrow": (), "awkward": ("cells",)}),
        (Shape.jagged([Shape.jagged([0]), Shape.jagged([0, 0])]), {"arrow": (), "awkward": ("cells",)}),
        (
            Shape.jagged([[], [2, 2]]),
            {"arrow": (), **dict.fromkeys(("torch", "arrow_tensors"), ("cells", "behind_empty"))},
        ),
        (
            Shape(0, 2),
            {"arrow": (), **dict.fromkeys(("torch", "torch_strided", "cf"), ("kind", "behind_empty"))},
        ),
    ],
)
def test_each_fact_is_lost_where_there_is_no_word_for_it(shape, lost):
    for form, facts in lost.items():
        assert shape.losses(form).lost == facts, form


@pytest.mark.parametrize(
    ("shape", "form", "refused"),
    [
        (Shape(), "awkward", ("rank",)),
        (Shape(), "arrow", ("rank",)),
        (Shape(3), "torch", ("rank",)),
        (Shape(3), "arrow_tensors", ("rank",)),
        (Shape(2, 3, 4), "cf", ("rank",)),
        (Shape.jagged([[3], [1, 2]]), "torch", ("extents", "dependencies")),
        (Shape.jagged([[3], [1, 2]]), "torch_strided", ("dependencies",)),
        (Shape.from_cells((2,), [(1, 2), (3, 4)]), "torch", ("extents",)),
        (Shape.tiled([1, 2], [3, 4]), "arrow_tensors", ("dependencies",)),
    ],
)
def test_what_a_form_cannot_be_made_for_is_told(shape, form, refused):
    report = shape.losses(form)
    assert report.refused == refused
    assert not report.is_possible
    assert str(report).startswith(f"{form} cannot say: {refused[0]} (")


def test_an_unknown_form_is_refused():
    with pytest.raises(ConversionError, match=r"a form is one of json, row_partitions.*not 'numpy'"):
        Shape(2).losses("numpy")
    with pytest.raises(ConversionError, match=r"a form is one of marks, dask, zarr, not \[\]"):
        Tiling([2]).losses([])


@given(shapes())
def test_the_array_api_knows_the_extents_that_are_alike(shape):
    expected = tuple(shape.extent(m) if shape.is_uniform(m) else None for m in range(shape.rank))
    assert shape.array_api_extents() == expected
    assert ("extents" in shape.losses("array_api").lost) == (None in expected)


# Tilings.


@given(tilings())
def test_marks_say_all_of_a_tiling(tiling):
    assert tiling.losses("marks").is_exact
    assert Tiling.from_marks(*tiling.marks) == tiling


@given(tilings())
def test_chunks_say_all_but_the_origin(tiling):
    report = tiling.losses("dask")
    assert report.is_possible == all(tiling.grid.extents)
    back = Tiling.from_chunks(tiling.chunks)
    if report.is_possible:
        assert (back == tiling) == report.is_exact
    assert back == tiling.translate_to((0,) * tiling.rank)


def test_dask_keeps_empty_chunks_and_refuses_a_mode_without_any():
    assert dask.normalize_chunks(Tiling([2, 0, 3]).chunks, shape=(5,)) == ((2, 0, 3),)
    assert Tiling([]).losses("dask").refused == ("no_tiles",)
    with pytest.raises(ValueError, match="Empty tuples"):
        dask.normalize_chunks(Tiling([]).chunks, shape=(0,))


@given(tilings())
def test_a_chunk_grid_says_all_but_origin_and_empty_tiles(tiling):
    grid = tiling.zarr_grid()
    assert grid.lost == tiling.losses("zarr")
    bare = Tiling.from_zarr(grid.to_json(), grid.extents)
    assert (bare == tiling) == grid.lost.is_exact
    assert (
        Tiling.from_zarr(grid.to_dict(), grid.extents, origin=tiling.origin, empty_tiles=grid.empty_tiles)
        == tiling
    )
    for kept, ours, theirs in zip(grid.kept_tiles, tiling.sizes, bare.sizes, strict=True):
        assert ours[kept].tolist() == theirs.tolist()


@pytest.mark.parametrize("count", [10**6])
def test_many_rows_go_there_and_back(count):
    lengths = np.arange(count) % 7
    shape = Shape.jagged(lengths)
    for form in ("awkward", "arrow", "arrow_tensors", "torch", "torch_strided", "cf"):
        assert WAYS[form](shape) == shape
