"""What is computed in the rows of a view is a view: it reads the rows that are asked for, and no others."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, VersionChangedError
from tensorwrapper.selection.facade._computed_rows import Method

R = tw.jagged([[5, 1, 7], [], [2, 9]])
N = tw.jagged([[3, None, 1], [], [None], [2, 2]])

_METHODS = st.sampled_from(
    [
        *[(name, {}) for name in ("sort", "argsort", "cumsum", "cumprod", "rankdata", "sum", "count")],
        *[(name, {}) for name in ("any", "all", "prod", "n_unique", "count_nonzero")],
        *[
            (name, {"empty": empty})
            for name in ("max", "argmin", "first", "last", "ptp")
            for empty in (-1, None)
        ],
        *[(name, {"empty": empty}) for name in ("mean", "median", "var", "std") for empty in (0.5, None)],
        ("sort", {"descending": True}),
        ("argsort", {"descending": True}),
        ("rankdata", {"method": "ordinal"}),
        ("max", {"initial": 3}),
        ("var", {"ddof": 1, "empty": 0}),
    ]
)
_LISTS = st.lists(st.lists(st.integers(-3, 9) | st.none(), max_size=5), min_size=1, max_size=9)
_PLAIN = st.lists(st.lists(st.integers(-3, 9), max_size=5), min_size=1, max_size=9)


class Counting:
    """Rows in memory that remember which elements were asked for."""

    abilities = frozenset(["runs"])

    def __init__(self, rows):
        self._rows = sel.TensorSource(rows)
        self.shape, self.dtype, self.version, self.asked = rows.shape, rows.dtype, "1", []

    def read(self, selections, out):
        self.asked += [number for own in selections for number in own.numbers().tolist()]
        return self._rows.read(selections, out)

    def cost(self, selection):
        return self._rows.cost(selection)


@given(
    st.one_of(_PLAIN, _LISTS),
    _METHODS,
    st.data(),
    st.sampled_from(["view", "reversed", "gathered"]),
    st.booleans(),
)
def test_parts_of_what_is_computed_are_those_of_the_whole(rows, method, data, form, small):
    tensor = tw.jagged(rows, dtype=np.int64)
    view = {
        "view": lambda: sel.concat([tensor, tensor[:1]]),
        "reversed": lambda: sel.as_view(tensor)[:, ::-1],
        "gathered": lambda: sel.concat([tensor, tensor])[[0, len(tensor), 0]],
    }[form]()
    name, options = method
    expected = getattr(view.compute().rows(), name)(**options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tensorwrapper.selection.facade._computed_rows._BLOCK", 24 if small else 1 << 26)
        found = getattr(view.rows(), name)(**options)
        assert isinstance(found, sel.View)
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        assert found.compute().array_equal(expected)
        key = data.draw(st.slices(len(view)))
        assert found[key].compute().array_equal(expected[key])
        some = data.draw(st.lists(st.integers(0, len(view) - 1), max_size=4))
        assert found[np.array(some, int)].compute().array_equal(expected[np.array(some, int)])
        if expected.rank == 2:
            assert found[key, ::-2].compute().array_equal(expected[key, ::-2])
            # Rows in any order, several times, and of each of them some elements.
            turned = found[np.array(some, int)][:, :2][::-1]
            assert turned.compute().array_equal(expected[np.array(some, int)][:, :2][::-1])
            mask = tw.jagged(
                [[data.draw(st.booleans()) for _ in row] for row in expected.tolist()], dtype="?"
            )
            assert found[mask].compute().array_equal(expected[mask])
            # Beside others, the elements come as runs.
            both = tw.concat([found[mask], found[key, :1]])
            assert both.compute().array_equal(tw.concat([expected[mask], expected[key, :1]]).compute())


def test_only_the_rows_that_are_asked_for_are_read():
    source = Counting(R)
    view = sel.concat([sel.as_view(source), R])
    total, order = view.rows().sum(), np.sort(view, axis=-1)
    assert source.asked == []
    assert total[2:4].tolist() == [11, 13]
    assert source.asked == [3, 4]
    assert order[0, :1].tolist() == [1]
    assert source.asked == [3, 4, 0, 1, 2]
    events = tw.records({"t": view, "q": view.rows().cumsum()})
    del source.asked[:]
    assert events[2:3].compute().to_dict() == {"t": [[2, 9]], "q": [[2, 11]]}
    assert set(source.asked) == {3, 4}


def spied(function, seen):
    """Return a function that also notes what it is given."""

    def call(*given, **options):
        seen.append(given)
        return function(*given, **options)

    return call


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("part", ["firsts", "backwards", "gather", "mask"])
def test_selections_compute_by_rows(monkeypatch, nulls, part):
    lists = [[(7 * k + j) % 11 for j in range(k % 5)] for k in range(3000)]
    tensor = tw.jagged([[None if nulls and x == 10 else x for x in own] for own in lists])
    made = tensor.rows().sort()
    key = {
        "firsts": np.s_[:, :2],
        "backwards": np.s_[:, ::-1],
        "gather": np.arange(2999, -1, -2),
        "mask": tw.jagged([[x > 4 for x in own] for own in lists], dtype="?"),
    }[part]
    expected, view = made[key].copy(), sel.as_view(tensor).rows().sort()[key]
    searched, calls = [], []
    with monkeypatch.context() as patch:
        patch.setattr(np, "searchsorted", spied(np.searchsorted, searched))
        patch.setattr(Method, "__call__", spied(Method.__call__, calls))
        found = view.compute()
    assert found.array_equal(expected)
    assert found.is_nullable == expected.is_nullable == nulls
    # No element looks for its row, and no row is computed again for its nulls.
    assert max(np.size(own[1]) for own in searched) <= 2
    assert len(calls) == 1


def test_what_is_computed_shows_later_writes_and_notices_versions():
    tensor = tw.jagged([[3, 1], [2]])
    ordered = sel.as_view(tensor).rows().sort()
    tensor[0] = [9, 8]
    assert ordered.tolist() == [[8, 9], [2]]
    source = Counting(tensor)
    ordered = sel.as_view(source).rows().sort()
    blocks = ordered.blocks(16)
    next(blocks)
    source.version = "2"
    with pytest.raises(VersionChangedError):
        next(blocks)


@pytest.mark.parametrize(
    ("view", "right"),
    [
        (sel.concat([tw.jagged([[[3, 1, 2], []], [], [[9], [4, 4]]])] * 2), [[6, 0], [], [9, 8]] * 2),
        (sel.as_view([3, 1, 2]), 6),
        (sel.as_view([[3, 1], [2, 5]])[::-1], [7, 4]),
        (sel.as_view(np.ones((2, 0))), [0.0, 0.0]),
    ],
)
def test_rows_of_every_rank(view, right):
    assert view.rows().sum().tolist() == right
    assert view.rows().sort().compute().array_equal(view.compute().rows().sort())


def test_strings_are_ordered_when_they_are_asked_for():
    words = tw.strings([["b", "a", "é", "Z"], [], ["a", None, "b"]])
    view = tw.concat([words, words])
    assert view.rows().sort()[2:4].tolist() == [["a", "b", None], ["Z", "a", "b", "é"]]
    assert view.rows().argsort()[2].tolist() == [0, 2, 1]


def test_nulls_of_strings_stay_nulls():
    # The rows at hand when the type is found have no nulls.
    for words in (tw.strings([["b"], [], [None, "a"]]), tw.strings([["b"], []])):
        view = tw.concat([words, words])
        for name in ("first", "last"):
            for empty in (None, "x"):
                found = getattr(view.rows(), name)(empty=empty)
                assert found.tolist() == getattr(view.compute().rows(), name)(empty=empty).tolist()
                assert found.is_nullable == (empty is None or words.is_nullable)
        assert view.rows().sort().tolist() == view.compute().rows().sort().tolist()
    assert tw.strings([["b"]]).rows().first(empty=None).is_nullable


def test_json_says_no_function():
    view = tw.concat([R, R])
    ordered = view.rows().sort()
    for own in (
        ordered,
        ordered[1:],
        tw.concat([view, np.cumsum(view, axis=-1)]),
        tw.records({"t": ordered}),
    ):
        with pytest.raises(ConversionError, match=r"computed by a function, .*compute\(\)"):
            sel.to_json(own)
    with pytest.raises(ConversionError, match="sort of rows, which has no name"):
        sel.to_json(ordered, sources={"t": R})
    named = sel.to_json(ordered[3:], sources={"ordered": ordered})
    assert sel.from_json(named, sources={"ordered": ordered}).tolist() == [[1, 5, 7], [], [2, 9]]


def test_positions_that_were_computed_are_keys_and_names_stay():
    view = tw.concat([R, R]).named("event", "hit")
    assert view[view.rows().argsort()].tolist() == [[1, 5, 7], [], [2, 9]] * 2
    assert (view.rows().sort().shape.names, view.rows().count().shape.names) == (("event", "hit"), ("event",))
    assert tw.concat([Counting(R)])[sel.as_view(Counting(R)).rows().argsort()].tolist() == [
        [1, 5, 7],
        [],
        [2, 9],
    ]


def test_what_has_no_answer_is_refused_at_once():
    view = tw.concat([R, R])
    with pytest.raises(ExtentError, match=r"row \(1,\) is empty"):
        view.rows().max()
    with pytest.raises(ExtentError, match="initial="):
        np.max(view, axis=-1)
    with pytest.raises(ExtentError, match=r"row \(2,\)"):
        tw.concat([N])[[0, 3, 2]].rows().argmax()
    with pytest.raises(DTypeError):
        tw.concat([tw.jagged([[np.datetime64("2020-01-01")]])]).rows().cumsum()
    with pytest.raises(ConversionError, match="method"):
        view.rows().rankdata("best")


@pytest.mark.parametrize(
    "call", [lambda v: v.rows().mean(), lambda v: v.rows().median(), lambda v: v.rows().var()]
)
def test_warnings_number_rows_as_the_whole_does(call):
    view = call(tw.concat([R, R, tw.jagged([[1], []])]))
    parts = [(np.s_[2:], (4,)), (np.s_[6:], (7,)), ([0, 7], (7,)), (np.s_[::-3], (1,)), (np.s_[:2], (1,))]
    for key, row in parts:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            view[key].compute()
        assert [str(own.message).partition("row ")[2].partition(" is")[0] for own in told] == [str(row)]
    cells = call(tw.concat([tw.jagged([[[3, 1, 2], []], [], [[], [4, 4]]])] * 2))
    with pytest.warns(RuntimeWarning, match=r"row \(5, 0\) is empty"):
        cells[4:].compute()


def test_numpys_functions_of_rows_give_views():
    view = tw.concat([R, R])
    for call in (np.sort, np.argsort, np.cumsum, np.mean, np.sum, np.nansum, np.median, np.any):
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            found, right = call(view, axis=-1), call(view.compute(), axis=-1)
            assert isinstance(found, sel.View)
            assert np.allclose(found[2:5].compute().elements(), right[2:5].elements(), equal_nan=True)
    assert np.max(view[[0, 2]], axis=1).tolist() == [7, 9]
    assert np.max(view, axis=-1, initial=0).tolist() == [7, 0, 9] * 2
    assert np.sum(view, axis=-1, dtype="f4").dtype == np.float32
    assert np.sum(view) == 48
    # Other processes compute the same.
    assert pickle.loads(pickle.dumps(np.sort(view, axis=-1))).tolist() == [[1, 5, 7], [], [2, 9]] * 2
