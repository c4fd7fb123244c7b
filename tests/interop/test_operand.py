"""What is handed over: tensors as they are, views computed, nothing made dense that was not requested."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xarray as xr

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError, SizeOverflowError, TensorWrapperError


@pytest.mark.parametrize("call", ["to_arrow", "to_awkward"])
def test_sparse_tensors_and_views_of_them_are_not_made_dense(call):
    tensor = tw.sparse([(0, 1)], [1.0], tw.Shape(2, 2))

    for given in (tensor, sel.as_view(tensor)):
        with pytest.raises(ConversionError, match="to_dense"):
            getattr(given, call)()


def test_elements_of_another_byte_order_are_turned():
    x = np.arange(6, dtype=">i4")

    assert tw.as_tensor(x).to_awkward().to_list() == x.tolist()
    assert tw.as_tensor(x).to_arrow().to_pylist() == x.tolist()


PARTS = {
    "sparse": tw.sparse([(0, 1)], [5.0], tw.Shape(2, 3)),
    "symmetric": tw.as_tensor(np.array([[1.0, 2.0], [2.0, 3.0]])).to_packed("s2"),
    "orbits": tw.as_tensor(np.array([[1.0, 2.0], [2.0, 3.0]])).to_packed("s2")[0],
    "blocks": tw.as_tensor(np.diag([1.0, 2.0])).tiled(tw.Tiling([1, 1], [1, 1])).screened(),
    "box": tw.as_tensor(np.arange(6.0).reshape(2, 3)),
}
WAYS = {
    "np.asarray": np.asarray,
    "to_numpy": lambda t: t.to_numpy(),
    "to_dask": lambda t: t.to_dask(),
    "to_xarray": lambda t: t.to_xarray(),
    "to_pandas": lambda t: t.to_pandas(),
    "to_arrow": lambda t: t.to_arrow(),
    "as_duck": lambda t: t.as_duck(),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", PARTS)
def test_a_view_of_one_tensor_is_taken_or_refused_as_the_tensor(kind, way):
    def answer(t):
        try:
            return type(WAYS[way](t)).__name__
        except ConversionError as error:
            return str(error)

    if (kind, way) == ("orbits", "to_numpy"):
        pytest.skip("an array over memory, of a tensor, and a new one, of a view")
    t = PARTS[kind]
    assert answer(sel.as_view(t)) == answer(t)


def test_joined_sparse_tensors_are_refused_before_they_are_computed():
    joined = tw.concat([PARTS["sparse"], PARTS["sparse"]])
    for way in ("to_dask", "to_xarray", "as_duck"):
        with pytest.raises(ConversionError, match=r"to_dense\(\)"):
            WAYS[way](joined)


def test_a_view_of_a_symmetric_tensor_stays_packed():
    s = PARTS["symmetric"]
    view = sel.as_view(s)
    assert view.compute().symmetry == view.permute((1, 0)).compute().symmetry == s.symmetry
    assert view.compute().packed_values().tolist() == s.packed_values().tolist()
    assert np.shares_memory(sel.as_view(PARTS["box"]).to_pandas().to_numpy(), PARTS["box"].buffer.memory)


@pytest.mark.parametrize("way", ["to_pandas", "to_xarray"])
@pytest.mark.parametrize("dtype", ["M8[ps]", "m8[ps]", "m8[as]", "M8[25s]"])
def test_times_that_would_be_cut_to_nanoseconds_are_refused(way, dtype):
    t = tw.as_tensor(np.array([1000, 0], dtype))
    for given in (t, sel.as_view(t), tw.concat([t, t])):
        with pytest.raises(DTypeError, match=r"astype\('[mM]8\[ns\]'\)"):
            WAYS[way](given)
    assert WAYS[way](t.astype(f"{dtype[0]}8[ns]")).dtype == f"{dtype[0]}8[ns]"


def test_scipy_gets_numbers_in_native_byte_order():
    sparse = tw.sparse([(0, 0)], np.array([1.5], ">f8"), (1, 1))
    assert sparse.to_scipy().toarray().tolist() == [[1.5]]
    with pytest.raises(DTypeError, match="float16"):
        tw.sparse([(0, 0)], np.array([1.5], "f2"), (1, 1)).to_scipy()


def test_a_line_goes_to_scipy_as_coordinates_and_back():
    line = tw.sparse([(1,), (3,)], [5.0, 7.0], tw.Shape(4)).translate_to((2,))
    for given in (line, sel.as_view(line)):
        found = given.to_scipy("coo")
        assert (found.shape, found.toarray().tolist()) == ((4,), [0.0, 5.0, 0.0, 7.0])
        assert tw.as_tensor(found).tolist() == [0.0, 5.0, 0.0, 7.0]


@pytest.mark.parametrize("way", ["to_pandas", "to_xarray"])
@pytest.mark.parametrize("dtype", ["M8[D]", "M8[Y]", "m8[D]", "m8[h]"])
def test_times_beyond_those_of_pandas_are_refused_in_our_words(way, dtype):
    t = tw.as_tensor(np.array([2**62, 0], dtype))
    for given in (t, sel.as_view(t)):
        with pytest.raises(SizeOverflowError, match="counts seconds"):
            WAYS[way](given)


@pytest.mark.parametrize("length", [1, 12, 13, 40])
def test_text_of_any_length_is_handed_over_as_views(length):
    text = ["a" * length, None, ""]
    for given in (tw.strings(text), sel.as_view(tw.strings(text))):
        assert pa.array(given, pa.string_view()).to_pylist() == text
    number = 10 ** (length % 18)
    assert pa.array(tw.as_tensor([number]), pa.string_view()).to_pylist() == [str(number)]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float64(), pa.list_(pa.int16())])
def test_floats_of_16_bits_are_handed_over_as_what_holds_them(kind):
    whole, half = np.array([3.0, 0.0], np.float16), np.array([0.5, 1.0], np.float16)
    of = tw.jagged if pa.types.is_list(kind) else tw.as_tensor
    given = [[whole], [half]] if pa.types.is_list(kind) else [whole, half]
    assert pa.array(of(given[0]), kind).to_pylist() == of(given[0]).tolist()
    if kind == pa.float64():
        assert pa.array(of(given[1]), kind).to_pylist() == [0.5, 1.0]
    else:
        with pytest.raises(ConversionError, match="handed over"):
            pa.array(of(given[1]), kind)


COLUMNS = {
    "numbers": lambda: pd.Series([1, 3], index=pd.RangeIndex(5, 7)),
    "nulls": lambda: pd.Series([1, None], dtype="Int64", index=pd.RangeIndex(5, 7)),
    "rows": lambda: pd.Series([[1], [3, 4]], index=pd.RangeIndex(5, 7)),
    "frame": lambda: pd.DataFrame([[1, 2], [3, 4]], index=pd.RangeIndex(5, 7)),
    "labelled": lambda: xr.DataArray([1, 3], coords={"x": [5, 6]}, dims="x"),
}
JOINS = {
    "+": lambda a, b: a + b,
    "np.minimum": np.minimum,
    "sel.minimum": sel.minimum,
    "np.where": lambda a, b: np.where(a > 1, a, b),
    "tw.where": lambda a, b: tw.where(a > 1, a, b),
    "np.stack": lambda a, b: np.stack([a, b]),
    "tw.stack": lambda a, b: tw.stack([a, b]),
    "np.concatenate": lambda a, b: np.concatenate([a, b]),
    "tw.concat": lambda a, b: tw.concat([a, b]),
    "sel.interleave": lambda a, b: sel.interleave([a, b]),
}


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("start", [0, 5, 7])
def test_what_other_libraries_count_from_elsewhere_goes_by_position(kind, join, start):
    given = COLUMNS[kind]()
    if kind == "labelled" and join in {"+", "np.minimum"}:
        pytest.skip("an array of xarray goes by its names there, and is refused")
    placed = tw.as_tensor(given)
    plain = placed.translate_to([0] * placed.shape.rank)
    own = plain.translate_to([start] + [0] * (plain.shape.rank - 1))
    try:
        right = JOINS[join](plain, plain)
    except TensorWrapperError as error:
        for beside in (own, sel.as_view(own)):
            with pytest.raises(type(error)):
                JOINS[join](beside, given)
        return

    for beside in (own, sel.as_view(own)):
        found = JOINS[join](beside, given)
        assert found.tolist() == right.tolist()
        mode = 1 if join.endswith("stack") else 0
        assert found.shape.origin[mode] == start
