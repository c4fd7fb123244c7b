"""Casts on every path: each gives what the rule of casts gives, or refuses what it refuses."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.buffer.lowlevel import check_write, convert_elements
from tensorwrapper.errors import SizeOverflowError, TensorWrapperError

DTYPES = [
    "?",
    "i1",
    "u1",
    "i4",
    "i8",
    "u8",
    ">i2",
    "f2",
    "f4",
    "f8",
    "c8",
    "c16",
    "m8[s]",
    "m8[ms]",
    "M8[s]",
    "M8[D]",
]
NUMBERS = [-(2**63), 2**63 - 1, -(2**40), 2**31, 70000, 300, 128, -1, 0, 1, 2, 1500]
FLOATS = [np.nan, np.inf, 1e300, 1e-300, 1e39, 65520.0, -0.5, 2.5]


@st.composite
def arrays(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    count = draw(st.integers(1, 3))
    with np.errstate(all="ignore"):
        if dtype.kind in "fc" and draw(st.booleans()):
            return np.array([draw(st.sampled_from(FLOATS)) for _ in range(count)]).astype(dtype)
        return np.array([draw(st.sampled_from(NUMBERS)) for _ in range(count)], "i8").astype(dtype)


@pytest.fixture(scope="module")
def served():
    with (
        tw.serve({"t": tw.as_tensor([0])}, writable=True) as server,
        tw.connect(server.address) as remote,
    ):

        def put(tensor):
            server.replace("t", tensor)
            return remote["t"]

        yield put


def outcome(call):
    """Return the type and the bytes of what a call gives, or that it is refused."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = call()
        except TensorWrapperError:
            return "refused"
    array = np.asarray(found)
    dtype = array.dtype.newbyteorder("=")
    if dtype.kind not in "fc":
        return dtype, array.astype(dtype).tobytes()
    # Of NaN there are many, which are one here.
    nowhere = np.isnan(array)
    return dtype, np.where(nowhere, np.zeros(1, dtype), array).astype(dtype).tobytes(), nowhere.tolist()


def agree(expected, ways):
    wanted = outcome(expected)
    for name, way in ways.items():
        assert outcome(way) == wanted, name


@given(array=arrays(), dtype=st.sampled_from(DTYPES))
def test_conversions(served, array, dtype):
    tensor = tw.as_tensor(array)
    rows = tw.from_buffer(array, Shape.jagged([len(array), 0]))
    ways = {
        "tensor": lambda: tensor.astype(dtype),
        "view": lambda: sel.as_view(array).astype(dtype).compute(),
        "reversed view": lambda: sel.as_view(array)[::-1].astype(dtype).compute()[::-1],
        "rows": lambda: rows.astype(dtype).elements(),
        "view of rows": lambda: sel.as_view(rows).astype(dtype).compute().elements(),
        "remote": lambda: served(tensor).astype(dtype).view().compute(),
        "remote view": lambda: served(tensor).view().astype(dtype).compute(),
    }
    agree(lambda: convert_elements(array, np.dtype(dtype)), ways)


def written(target, write):
    write(target)
    return target


@given(array=arrays(), dtype=st.sampled_from(DTYPES))
def test_writes(served, array, dtype):
    count = len(array)
    back = list(range(count))[::-1]
    tensor, rows = tw.as_tensor(array), tw.from_buffer(array, Shape.jagged([count, 0]))

    def new():
        return tw.zeros((count,), dtype=dtype)

    def at_a_server():
        remote = served(new())
        remote[...] = array
        return remote.view().compute()

    ways = {
        "assign": lambda: written(new(), lambda t: t.assign(array)),
        "key": lambda: written(new(), lambda t: t.__setitem__(slice(None), array)),
        "of a tensor": lambda: written(new(), lambda t: t.assign(tw.as_tensor(array))),
        "of a view": lambda: written(new(), lambda t: t.assign(sel.as_view(array))),
        "through a view": lambda: written(new(), lambda t: sel.as_view(t).assign(array)),
        "gathered": lambda: written(new(), lambda t: t.gather(0, back).assign(array[::-1])),
        "rows": lambda: written(
            tw.zeros(Shape.jagged([count, 0]), dtype=dtype),
            lambda t: t.assign(tw.from_buffer(array, Shape.jagged([count, 0]))),
        ).elements(),
        "remote": at_a_server,
        "computed": lambda: written(new(), sel.as_view(array).compute),
        "computed of two": lambda: written(new(), tw.concat([array[:1], array[1:]]).compute),
        "computed into an array": lambda: written(
            np.zeros(2 * count, dtype)[::-2], sel.as_view(array).compute
        ),
        "a ufunc": lambda: written(new(), lambda t: np.maximum(tensor, tensor, out=t)),
        "a ufunc into an array": lambda: written(
            np.zeros(count, dtype), lambda t: np.maximum(tensor, tensor, out=t)
        ),
        "a ufunc where": lambda: written(
            new(), lambda t: np.maximum(tensor, tensor, out=t, where=np.ones(count, bool))
        ),
        "a ufunc of rows": lambda: written(
            tw.zeros(Shape.jagged([count, 0]), dtype=dtype),
            lambda t: np.maximum(rows, rows, out=t),
        ).elements(),
        "all of them reduced": lambda: written(
            new(), lambda t: np.maximum.reduce(tw.as_tensor(np.stack([array, array])), axis=0, out=t)
        ),
    }
    agree(lambda: np.array(check_write(array, np.dtype(dtype)), dtype), ways)


@given(array=arrays(), dtype=st.sampled_from(DTYPES))
def test_rows_that_are_appended(tmp_path_factory, array, dtype):
    path = str(tmp_path_factory.mktemp("rows") / "a.tens")
    first = tw.zeros((1,), dtype=dtype)

    def extended():
        tw.save(path, {"x": first})
        with tw.open(path, "a") as file:
            file.extend("x", array)
            return np.asarray(file["x"])[1:]

    agree(lambda: np.array(check_write(array, np.dtype(dtype)), dtype), {"extend": extended})


@given(array=arrays(), dtype=st.sampled_from(DTYPES))
def test_numbers_that_fill(array, dtype):
    one = array[0]
    made = np.array(array[:1])
    try:
        filled = np.asarray(tw.full((1,), one, dtype=dtype))
    except TensorWrapperError:
        filled = None
    padded = outcome(lambda: tw.jagged([[]], dtype=dtype).pad_rows(1, fill_value=one).elements())
    constant = outcome(lambda: sel.full((1,), one, dtype=dtype).compute())
    assert padded == constant == ("refused" if filled is None else outcome(lambda: filled))
    if filled is not None:
        # What fills is no more than what a conversion allows.
        assert outcome(lambda: filled) == outcome(lambda: convert_elements(made, np.dtype(dtype)))


@pytest.mark.parametrize("unit", ["M8[10ms]", "m8[7s]", "m8[999999999as]"])
def test_times_in_several_units_are_cast_and_written_at_a_server(unit):
    """They were served, and neither written to nor cast to: a request could not name them."""
    times = np.array([0, 70, -140]).astype(unit)
    coarse = np.array([0, 7, 14]).astype(f"{unit[0]}8[s]")
    with (
        tw.serve({"x": times.copy(), "y": coarse}, writable=True) as server,
        tw.connect(server.address) as remote,
    ):
        remote["x"][0] = times[1]
        assert remote["x"].compute().tolist() == times[[1, 1, 2]].tolist()
        expected = outcome(lambda: tw.as_tensor(coarse).astype(unit))
        assert outcome(lambda: sel.as_view(coarse).astype(unit).compute()) == expected
        assert outcome(lambda: remote["y"].astype(unit).compute()) == expected
        assert outcome(lambda: remote["y"].view().astype(unit).compute()) == expected


TARGETS = [*DTYPES, "M8", "m8", "T", "U3", "O", "V2", float, np.dtypes.StringDType()]


@given(st.data())
def test_astype_refuses_the_same_types_on_every_path(served, data):
    array = data.draw(arrays())
    target = data.draw(st.sampled_from(TARGETS))
    options = data.draw(st.sampled_from([{}, {"casting": "unsafe"}]))
    local = tw.as_tensor(array)
    there = served(local)
    paths = {
        "view": lambda: sel.as_view(local).astype(target, **options).compute(),
        "of two": lambda: tw.concat([local, local[:0]]).astype(target, **options).compute(),
        "remote": lambda: there.astype(target, **options).compute(),
        "remote part": lambda: there[:].astype(target, **options).compute(),
        "sparse": lambda: (
            sel.as_view(tw.sparse(np.arange(len(array))[:, None], array, (len(array),)))
            .astype(target, **options)
            .compute()
            .to_dense()
        ),
    }
    wanted = outcome(lambda: local.astype(target, **options))
    for path, call in paths.items():
        assert outcome(call) == wanted, path


def test_a_ufunc_writes_all_of_its_results_or_none():
    given = tw.as_tensor([7, 600])
    whole, rest = tw.zeros((2,), dtype="i1"), tw.zeros((2,), dtype="i1")
    with pytest.raises(SizeOverflowError, match="200"):
        np.divmod(given, 3, out=(whole, rest))
    assert whole.tolist() == rest.tolist() == [0, 0]
    np.divmod(given, 3, out=(whole, rest), casting="unsafe")
    assert (whole.tolist(), rest.tolist()) == ([2, -56], [1, 0])
    np.divmod(given, 3, out=(whole, rest), where=np.array([True, False]))
    assert (whole.tolist(), rest.tolist()) == ([2, -56], [1, 0])
    small = tw.as_tensor(np.array([100, 100], "i1"))
    small += tw.as_tensor(np.array([100, 1], "i1"))  # within a type integers wrap round, as in NumPy
    with pytest.raises(SizeOverflowError):
        small += given
    assert small.tolist() == [-56, 101]
