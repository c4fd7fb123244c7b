"""The type of several: what NumPy gives when it joins arrays, and no type where it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, SizeOverflowError
from tensorwrapper.tensor.operators._promotion import promoted

NAMES = [
    "?",
    "i1",
    "u1",
    "i4",
    "u4",
    "i8",
    "u8",
    ">i8",
    "f2",
    "f4",
    "f8",
    "g",
    "c8",
    "c16",
    "m8[s]",
    "m8[D]",
    "M8[s]",
    "M8[D]",
]
TYPES = [np.dtype(name) for name in NAMES]


@pytest.mark.parametrize("one", TYPES, ids=str)
def test_types_are_promoted_as_numpy_joins_arrays(one):
    for other in TYPES:
        x, y = np.ones(1, "i1").astype(one), np.ones(1, "i1").astype(other)
        try:
            expected = np.concatenate([x, y]).dtype
        except TypeError:
            with pytest.raises(DTypeError, match="have no type in common"):
                promoted([one, other], "concat")
        else:
            assert promoted([one, other], "concat") == expected


@pytest.mark.parametrize(
    ("types", "numbers"), [(["i2", "u1"], []), (["i1", "f4"], [2]), (["u1"], [1.5]), (["f4"], [1j])]
)
def test_numbers_of_python_take_on_a_type(types, numbers):
    dtypes = [np.dtype(name) for name in types]
    assert promoted(dtypes, "a test", numbers) == np.result_type(*dtypes, *numbers)


def test_types_without_a_common_one_are_named():
    with pytest.raises(DTypeError, match=r"a test: float64, datetime64\[s\] have no type in common"):
        promoted([np.dtype("f8"), np.dtype("M8[s]")], "a test")


@pytest.mark.parametrize(
    ("dtype", "number"), [("i1", 300), ("u8", -1), ("f4", 1e300), ("f4", 1e-300), ("m8[s]", -(2**63))]
)
def test_np_where_loses_no_number_of_python(dtype, number):
    for typed in (tw.as_tensor([1]), tw.jagged([[1]])):
        with pytest.raises(SizeOverflowError, match="a constant="):
            np.where(typed < 1, typed.astype(dtype), number)


TIMES = [
    np.datetime64("2020-01-01"),
    np.datetime64("NaT", "D"),
    np.timedelta64(1, "s"),
    np.timedelta64("NaT", "D"),
]


@given(st.lists(st.sampled_from(TIMES), min_size=1, max_size=4), st.randoms())
def test_lists_of_times_have_the_type_that_their_items_joined_have(items, random):
    def written(item):
        return random.choice([item, np.asarray(item), tw.as_tensor(item)])

    forms = [
        [written(item) for item in items],
        tuple(written(item) for item in items),
        [[item] for item in items],
        [np.array([item]) for item in items],
        [items, items],
    ]
    try:
        expected = np.concatenate([np.array([item]) for item in items])
    except TypeError:
        for form in forms:
            with pytest.raises(DTypeError, match="dates and durations"):
                tw.as_tensor(form)
    else:
        for form in forms:
            assert tw.as_tensor(form).dtype == expected.dtype
            np.testing.assert_array_equal(tw.as_tensor(form).elements()[: len(items)], expected)


def _written(items, write):
    target = tw.as_tensor(np.array(["2020-01-01", "NaT"], "M8[D]"))
    write(target, items)


@pytest.mark.parametrize(
    "call",
    [
        lambda items: tw.jagged([items, []]),
        lambda items: tw.jagged([[items], []]),
        lambda items: tw.jagged([items], dtype="M8[s]"),
        lambda items: tw.sparse([(0,), (1,)], items, Shape(2)),
        lambda items: tw.stack([np.zeros(2, "M8[D]"), items]),
        lambda items: tw.where([True, False], np.zeros(2, "M8[D]"), items),
        lambda items: np.where(tw.as_tensor([True, False]), np.zeros(2, "M8[D]"), items),
        lambda items: tw.as_tensor(np.zeros(2, "M8[D]")) == items,
        sel.as_view,
        lambda items: _written(items, lambda t, own: t.assign(own)),
        lambda items: _written(items, lambda t, own: t.__setitem__(slice(None), own)),
        lambda items: _written(items, lambda t, own: t.__setitem__(np.array([True, True]), own)),
        lambda items: _written(items, lambda t, own: t.__setitem__([1, 0], own)),
        lambda items: _written(items, lambda t, own: sel.as_view(t).__setitem__(slice(None), own)),
    ],
)
@pytest.mark.parametrize("turn", [1, -1])
def test_no_path_makes_a_date_of_a_duration_in_a_list(call, turn):
    with pytest.raises(DTypeError, match="dates and durations"):
        call([np.datetime64("2020-01-01"), np.timedelta64(1, "D")][::turn])


def test_rows_of_a_collection_make_no_date_of_a_duration():
    rows = tw.jagged([[1, 2], [3]]).to_dask(max_elements=1)
    made = [np.datetime64("2020-01-01"), np.timedelta64(1, "D")]
    with pytest.raises(DTypeError, match="dates and durations"):
        rows.map_rows(lambda row: made[: len(row)], dtype="M8[D]").compute(scheduler="synchronous")


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "uint4", "int4"])
@pytest.mark.parametrize("number", [1, 1.5])
def test_a_number_beside_types_of_ml_dtypes_has_one_meaning(name, number):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    t, mask = tw.as_tensor(np.array([1, 2], getattr(ml_dtypes, name))), np.array([True, False])
    types = {
        *(np.minimum(t, number).dtype, sel.minimum(t, number).dtype),
        *(tw.where(mask, t, number).dtype, np.where(mask, t, number).dtype),
    }
    assert len(types) == 1
    # Since ml_dtypes 0.7 sums of the small integers stay small.
    assert (t + number).dtype == (np.asarray(t) + number).dtype


@pytest.mark.parametrize("name", ["uint4", "int4"])
def test_small_integers_of_ml_dtypes_do_not_wrap_a_number(name):
    """Sums stay small since ml_dtypes 0.7, which wraps the number; before, their type had it."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1, 2], getattr(ml_dtypes, name))
    for t in (tw.as_tensor(array), tw.jagged([array[:1], array[1:]])):
        for call in (np.add, np.multiply, np.subtract):
            assert np.asarray(call(t, 1).elements(), int).tolist() == call([1, 2], 1).tolist()
            try:
                found = call(t, 20)
            except SizeOverflowError as error:
                assert "20" in str(error)  # noqa: PT017 - either is right
            else:
                assert np.asarray(found.elements(), int).tolist() == call([1, 2], 20).tolist()
        assert (t == 20).elements().tolist() == [False, False]
