"""Laws of work within rows: what NumPy gives for each row alone, whatever the lengths, types and layouts."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    ExtentMismatchError,
    SizeOverflowError,
)
from tensorwrapper.tensor.within import _groups, _order

KINDS = ["f8", "f4", "f2", "i8", "i4", "i2", "u8", "u1", "?", "m8[s]", "M8[s]", "c16"]
ODD = [np.nan, np.inf, -np.inf, -0.0, 0.0]


@st.composite
def rows(draw, kinds=KINDS):
    """Rows as arrays, and the tensor that has them: packed, reversed, gathered, or a view of two parts."""
    dtype = np.dtype(draw(st.sampled_from(kinds)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = draw(
        st.lists(st.integers(0, 12), max_size=12)
        | st.lists(st.sampled_from([0, 1, 7, 8, 9, 63, 64, 65, 70, 1023, 1024, 1030]), max_size=4)
    )
    lengths += draw(st.sampled_from([[], [66] * 9, [5] * 3]))
    given = []
    for length in lengths:
        own = rng.integers(0, draw(st.sampled_from([2, 5, 200])), length)
        if dtype.kind in "fc":
            own = own.astype("f8") - 2
            odd = rng.random(length) < draw(st.sampled_from([0, 0.3]))
            own[odd] = rng.choice(ODD, odd.sum())
        own = own.astype("i8").astype(dtype) if dtype.kind in "mM" else own.astype(dtype)
        if dtype.kind in "mM" and length and draw(st.booleans()):
            own[rng.integers(length)] = np.array("NaT", dtype)
        given.append(own)
    flat = np.concatenate([np.empty(0, dtype), *given])
    packed = tw.from_buffer(flat, tw.Shape.jagged(lengths, rank=2))
    form = draw(st.sampled_from(["packed", "reversed", "turned", "gathered", "view"]))
    if form == "reversed":
        return given[::-1], packed[::-1]
    if form == "turned":
        return [own[::-1] for own in given], packed[:, ::-1]
    if form == "gathered" and given:
        order = rng.integers(0, len(given), len(given) + 1)
        return [given[k] for k in order], packed[order]
    if form == "view":
        return given * 2, sel.concat([packed, packed])
    return given, packed


def lists(tensor):
    return [np.asarray(own) for own in tensor.rows()]


def same(found, wanted, **options):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other, **options)


def is_lost(row):
    """Tell which elements are NaN or NaT."""
    if row.dtype.kind in "mM":
        return np.isnat(row)
    return np.isnan(row) if row.dtype.kind in "fc" else np.zeros(row.shape, bool)


def descending(row):
    """The positions of a row in descending order, equal ones in theirs, not-a-number last."""
    lost = is_lost(row)
    order = np.argsort(row[::-1], kind="stable")[::-1]
    order = len(row) - 1 - order
    return np.concatenate([order[~lost[order]], np.flatnonzero(lost)]).astype(np.int64)


@given(rows())
@settings(deadline=None)
def test_sorted_rows_are_those_of_numpy(case):
    arrays, tensor = case
    found = tensor.rows()
    same(lists(found.sort()), [np.sort(own) for own in arrays])
    same(lists(found.argsort()), [np.argsort(own, kind="stable") for own in arrays])
    if found.sort().dtype.kind != "c":
        same(lists(found.argsort(descending=True)), [descending(own) for own in arrays])
        same(lists(found.sort(descending=True)), [own[descending(own)] for own in arrays])
        for k in (0, 1, 3, 2000):
            same(lists(found.top_k(k)), [descending(own)[:k] for own in arrays])


@given(rows())
@settings(deadline=None)
def test_positions_lead_back(case):
    _, tensor = case
    here = tensor.compute() if isinstance(tensor, sel.View) else tensor
    assert here[here.rows().argsort()].array_equal(here.rows().sort(), equal_nan=here.dtype.kind != "?")
    best = here.rows().argmax(keepdims=True)
    lengths = np.array([len(own) for own in here.rows()])
    assert best.row_lengths().tolist() == np.minimum(lengths, 1).tolist()
    ordinal = here.rows().rankdata("ordinal") - 1
    assert here.rows().argsort().rows().argsort().array_equal(ordinal)


@given(rows())
@settings(deadline=None)
def test_extremes_and_their_places_are_those_of_numpy(case):
    arrays, tensor = case
    filled = [own for own in arrays if len(own)]
    here = tensor[np.array([len(own) > 0 for own in arrays], dtype=bool)]
    for name in ("argmax", "argmin"):
        found = getattr(here.rows(), name)()
        same(found.tolist(), [int(getattr(np, name)(own)) for own in filled])
    same(here.rows().first().elements(), [own[0] for own in filled])
    same(here.rows().last().elements(), [own[-1] for own in filled])
    for name in ("max", "min"):
        same(getattr(here.rows(), name)().elements(), [getattr(np, name)(own) for own in filled])


@given(rows(["f8", "f4", "f2", "i8", "i4", "i2", "u8", "u1", "?", "c16"]))
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_running_results_have_the_bits_of_numpy(case):
    arrays, tensor = case
    found = tensor.rows()
    same(lists(found.cumsum()), [np.cumsum(own) for own in arrays])
    same(lists(found.cumprod()), [np.cumprod(own) for own in arrays])
    same(lists(found.diff()), [np.diff(own) for own in arrays])


@given(rows(["f8", "f4", "f2", "i8", "i4", "u8", "u1", "?"]))
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_of_rows_are_those_of_numpy(case):
    arrays, tensor = case
    found = tensor.rows()
    close = {"f2": 2e-2, "f4": 1e-4}
    for name in ("sum", "prod", "mean", "var", "std", "median"):
        mine = getattr(found, name)().elements()
        theirs = np.array([getattr(np, name)(own) for own in arrays], dtype=mine.dtype)
        wanted = [getattr(np, name)(own).dtype for own in arrays]
        assert all(own == mine.dtype for own in wanted)
        tolerance = close.get(mine.dtype.str[1:], 1e-9)
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)
    for name in ("any", "all", "count_nonzero"):
        same(getattr(found, name)().tolist(), [np.asarray(getattr(np, name)(own)).item() for own in arrays])


@given(rows(["f8", "f4", "i8", "u1"]), st.floats(0, 1))
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quantiles_are_those_of_numpy(case, share):
    arrays, tensor = case
    mine = tensor.rows().quantile(share).elements()
    theirs = np.array([np.quantile(own, share) if len(own) else np.nan for own in arrays], dtype=mine.dtype)
    # Between two equal infinities NumPy finds NaN.
    kept = ~np.isnan(theirs) | np.isnan(mine) | np.isfinite(mine)
    np.testing.assert_allclose(mine[kept], theirs[kept], rtol=1e-5, atol=1e-6)


@given(rows())
@settings(deadline=None)
def test_distinct_elements_are_those_of_numpy(case):
    arrays, tensor = case
    values, counts = tensor.rows().unique_counts()
    pairs = [np.unique(own, return_counts=True) for own in arrays]
    if values.dtype.kind != "c":
        same(lists(values), [own for own, _ in pairs])
        same(lists(counts), [own.astype(np.int64) for _, own in pairs])
    assert [int(own.sum()) for own in lists(counts)] == [len(own) for own in arrays]
    assert tensor.rows().n_unique().tolist() == values.row_lengths().tolist()


@given(rows(["f8", "i4", "u1"]), st.sampled_from(["average", "min", "max", "dense", "ordinal"]))
@settings(deadline=None)
def test_ranks_are_those_of_a_count(case, method):
    arrays, tensor = case
    for mine, own in zip(lists(tensor.rows().rankdata(method)), arrays, strict=True):
        lost = is_lost(own)
        key = np.where(lost, np.inf, own)
        less = np.array(
            [
                np.sum((key < x) & ~lost) + (np.sum(~lost & (key == np.inf)) if w else 0)
                for x, w in zip(key, lost, strict=True)
            ]
        )
        tied = np.array([np.sum((key == x) & (lost == w)) for x, w in zip(key, lost, strict=True)])
        match method:
            case "min":
                wanted = less + 1
            case "max":
                wanted = less + tied
            case "average":
                wanted = less + (tied + 1) / 2
            case "ordinal":
                wanted = np.argsort(np.argsort(own, kind="stable"), kind="stable") + 1
            case _:
                wanted = np.unique(own, return_inverse=True)[1] + 1
        np.testing.assert_array_equal(mine, wanted if len(own) else [])


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 4), st.booleans())
@settings(deadline=None)
def test_combinations_are_those_of_itertools(lengths, count, replacement):
    shape = tw.Shape.jagged(lengths, rank=2)
    tensor = tw.from_buffer(np.zeros(sum(lengths)), shape)
    found = tensor.rows().combinations(count, replacement=replacement)
    ways = itertools.combinations_with_replacement if replacement else itertools.combinations
    for row, length in enumerate(lengths):
        wanted = list(ways(range(length), count))
        assert list(zip(*[own[row].tolist() for own in found], strict=True)) == wanted
    first, second = tensor.rows().product(tensor)
    for row, length in enumerate(lengths):
        wanted = list(itertools.product(range(length), repeat=2))
        assert list(zip(first[row].tolist(), second[row].tolist(), strict=True)) == wanted


@given(rows(["f8", "i4", "u1"]), st.sampled_from(["left", "right"]), st.integers(0, 2**32))
@settings(deadline=None)
def test_places_among_sorted_elements_are_those_of_numpy(case, side, seed):
    arrays, tensor = case
    ordered = tensor.rows().sort()
    rng = np.random.default_rng(seed)
    wanted = [rng.choice(own, len(own)) if len(own) else own for own in arrays]
    asked = tw.from_buffer(np.concatenate([np.empty(0, ordered.dtype), *wanted]), ordered.shape)
    found = lists(ordered.rows().searchsorted(asked, side=side))
    same(
        found,
        [
            np.searchsorted(np.sort(own), some, side).astype(np.int64)
            for own, some in zip(arrays, wanted, strict=True)
        ],
    )
    edges = np.array([0, 1, 3, 5.5])
    counts = ordered.rows().histogram(edges)
    assert counts.tolist() == [np.histogram(own[~is_lost(own)], edges)[0].tolist() for own in arrays]


@given(rows(["f8", "i4"]))
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_names_of_numpy_are_methods_of_rows(case):
    _, tensor = case
    for name in (
        "sort",
        "argsort",
        "cumsum",
        "cumprod",
        "diff",
        "sum",
        "prod",
        "mean",
        "var",
        "std",
        "median",
        "any",
        "all",
    ):
        mine, theirs = getattr(np, name)(tensor, axis=-1), getattr(tensor.rows(), name)()
        assert mine.array_equal(theirs, equal_nan=theirs.dtype.kind == "f")
    flat = tensor.elements()
    if len(flat):
        np.testing.assert_equal(np.sum(tensor), np.sum(flat))
        np.testing.assert_equal(np.median(tensor), np.median(flat))


def test_results_that_keep_the_rows_have_their_shape():
    tensor = tw.jagged([[3, 1], [], [2]])
    for name in ("sort", "argsort", "rankdata", "cumsum", "cumprod"):
        assert getattr(tensor.rows(), name)().shape is tensor.shape


def test_results_of_other_lengths_keep_the_names_of_the_prefixes():
    for tensor in (R.named("event", "hit"), tw.as_tensor([[3, 1], [2, 2]]).named("event", "hit")):
        rows = tensor.rows()
        found = [rows.unique(), *rows.unique_counts(), rows.diff(), rows.top_k(1), *rows.combinations()]
        found += [*rows.product(tensor), rows.argmax(keepdims=True), rows.histogram([0, 5])]
        assert [own.shape.names for own in found] == [("event", None)] * len(found)
    nested = tw.jagged([[[1, 2], [3]], [[4]]]).named("e", "c", "h").rows()
    assert nested.unique().shape.names == nested.histogram([0, 5]).shape.names == ("e", "c", None)


@pytest.mark.parametrize(
    "names",
    [("SHORT", 0), ("_LONG", 4), ("_MIDDLE", 2), ("_FEW", 99), ("BLOCK", 5), ("_COLUMNS", 2), ("_NEAR", 2)],
)
@given(rows(["f8", "i4"]))
@settings(deadline=None, max_examples=30)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_way_to_group_rows_gives_the_same(names, case):
    _, tensor = case
    calls = ("sort", "argsort", "rankdata", "cumsum", "var", "median", "unique", "max", "argmin")
    empty = {"max": {"empty": 0}, "argmin": {"empty": -1}}
    wanted = [getattr(tensor.rows(), name)(**empty.get(name, {})) for name in calls]
    name, value = names
    before = getattr(_groups, name)
    setattr(_groups, name, value)
    try:
        found = [getattr(tensor.rows(), own)(**empty.get(own, {})) for own in calls]
    finally:
        setattr(_groups, name, before)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.elements(), other.elements(), rtol=1e-12)
        assert one.shape == other.shape


def test_networks_sort_every_row_of_truth_values():
    for length, pairs in _order._PAIRS.items():
        for bits in itertools.product([False, True], repeat=length):
            row = list(bits)
            for a, b in pairs:
                row[a], row[b] = min(row[a], row[b]), max(row[a], row[b])
            assert row == sorted(bits)


R = tw.jagged([[5, 1, 7], [], [2, 9]])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: R.rows().argmax(), ExtentError, ["(1,)", "empty="]),
        (lambda: R.rows().max(), ExtentError, ["(1,)", "empty=", "initial="]),
        (lambda: R.rows().first(), ExtentError, ["(1,)", "empty="]),
        (lambda: np.max(R, axis=-1), ExtentError, ["(1,)", "initial="]),
        (lambda: np.argmax(R, axis=-1), ExtentError, ["(1,)", "r.rows().argmax(empty=-1)"]),
        (lambda: np.ptp(R, axis=-1), ExtentError, ["(1,)", "r.rows().ptp(empty=-1)"]),
        (lambda: np.sort(R, axis=0), ConversionError, ["axis=-1"]),
        (lambda: np.mean(R, axis=0), ConversionError, ["axis=-1"]),
        (lambda: R.rows().rankdata("best"), ConversionError, ["average", "dense"]),
        (lambda: R.rows().top_k(-1), ExtentError, ["-1"]),
        (lambda: R.rows().combinations(0), ExtentError, ["0"]),
        (lambda: R.rows().quantile(1.5), ExtentError, ["1.5"]),
        (lambda: R.rows().max(empty=0.5), Exception, ["0.5"]),
        (lambda: R.rows().product(R[:2]), ExtentMismatchError, ["rows"]),
        (lambda: R.rows().searchsorted(tw.jagged([[1], [2]])), ExtentMismatchError, ["rows"]),
        (lambda: R.rows().searchsorted([1]), ConversionError, ["as_tensor"]),
        (lambda: R.rows().histogram([3, 1]), ExtentError, ["ascending"]),
        (lambda: np.sum(R, axis=-1, keepdims=True), ConversionError, ["keepdims"]),
        (lambda: np.quantile(R, [0.1, 0.2], axis=-1), ConversionError, ["one q="]),
        (lambda: np.quantile(R, 0.1, axis=-1, method="nearest"), ConversionError, ["method="]),
        (lambda: tw.strings([["a"]]).rows().cumsum(), DTypeError, []),
        (lambda: tw.strings([["a"]]).rows().mean(), DTypeError, []),
    ],
)
def test_what_rows_refuse(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_combinations_are_counted_before_they_are_made():
    many = tw.from_buffer(np.zeros(3_000_000, np.int8), tw.Shape.jagged([3_000_000]))
    with pytest.raises(SizeOverflowError, match=str(math.comb(3_000_000, 3))):
        many.rows().combinations(3)
    with pytest.raises(SizeOverflowError, match="1000000000"):
        R.rows().combinations(10**9)


def test_an_empty_row_has_no_mean_and_a_warning_tells_it():
    with pytest.warns(RuntimeWarning, match=r"row \(1,\) is empty") as caught:
        found = R.rows().mean()
    assert np.isnan(found.elements()[1])
    assert len(caught) == 1
    # NumPy's functions have no empty=; the warning says which method has.
    with pytest.warns(RuntimeWarning, match=r"empty= of r\.rows\(\)\.quantile\(\) sets its result"):
        np.percentile(R, 50, axis=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert R.rows().mean(empty=0).tolist()[1] == 0
