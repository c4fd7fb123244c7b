"""Functions of arrays neither invent text, times and numbers, nor lose nulls, NULs and digits."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    OutOfBoundsError,
    SizeOverflowError,
    TensorWrapperError,
)

OF = pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["tensor", "view"])
MASK = [[True, False]]
CALLS = {
    "append": np.append,
    "hstack": lambda t, own: np.hstack([t, own]),
    "insert": lambda t, own: np.insert(t, 0, own),
    "full_like": np.full_like,
    "select": lambda t, own: np.select(MASK, [t], own),
    "piecewise": lambda t, own: np.piecewise(t, MASK, [own]),
    "pad": lambda t, own: np.pad(t, 1, constant_values=own),
    "choose": lambda t, own: np.choose([0, 1], [t, own]),
    "intersect1d": np.intersect1d,
    "union1d": np.union1d,
    "setxor1d": np.setxor1d,
    "searchsorted": np.searchsorted,
    "clip": lambda t, own: np.clip(t, own, None),
    "max": lambda t, own: np.max(t, initial=own),
}
KINDS = {"text": ["b", "c\0"], "bytes": [b"b", b"c\0"], "numbers": [1, 2]}


def made(kind, of=lambda t: t):
    return of(tw.as_tensor(KINDS[kind]) if kind == "numbers" else tw.strings(KINDS[kind]))


def listed(found):
    return found.tolist() if hasattr(found, "tolist") else found


@OF
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("other", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_text_bytes_and_numbers_are_of_three_kinds(of, kind, other, call):
    t, beside = made(kind, of), KINDS[other][1]
    if kind == other:
        assert isinstance(listed(CALLS[call](t, beside)), str | bytes | int | list)
    else:
        with pytest.raises((DTypeError, ConversionError)):
            CALLS[call](t, beside)


@OF
@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_nuls_are_kept_whatever_the_value_is_given_as(of, kind):
    t = made(kind, of)
    one, other = KINDS[kind]
    for value in (other, np.array(other, "T" if kind == "text" else object), tw.strings(other)):
        assert listed(np.append(t, value)) == [one, other, other]
        assert listed(np.insert(t, 0, value)) == [other, one, other]
        assert listed(np.full_like(t, value)) == [other, other]
        assert listed(np.select(MASK, [t], value)) == [one, other]
        assert listed(np.pad(t, (1, 0), constant_values=value)) == [other, one, other]
    for value in ([other], [tw.strings(other)], (other,)):
        assert listed(np.setdiff1d(t, value)) == [one]
        assert listed(np.union1d(t, value)) == [one, other]
        assert listed(np.isin(t, value)) == [False, True]
        assert np.array_equal(t, [one, *value])


@OF
def test_there_is_no_zero_among_strings(of):
    for kind in ("text", "bytes"):
        with pytest.raises(ConversionError, match="constant_values=''"):
            np.pad(made(kind, of), 1)
        with pytest.raises(ConversionError, match="default=''"):
            np.select(MASK, [made(kind, of)])
        assert listed(np.pad(made(kind, of), 1, mode="edge"))[0] == KINDS[kind][0]


NULLS = {
    "list": lambda item: [item, None],
    "Arrow": lambda item: pa.array([item, None]),
    "pandas": lambda item: pd.Series([item, None], dtype="Int64" if item == 3 else "string"),
    "tensor": lambda item: (tw.as_tensor if item == 3 else tw.strings)([item, None]),
}


@OF
@pytest.mark.parametrize("way", NULLS)
@pytest.mark.parametrize("item", [3, "c"])
def test_no_null_becomes_a_number_or_a_text(of, item, way):
    t, beside = made("numbers" if item == 3 else "text", of), NULLS[way](item)
    first = KINDS["numbers" if item == 3 else "text"]
    for call in ("full_like", "insert"):
        with pytest.raises(ConversionError, match="cannot store nulls"):
            CALLS[call](t, beside)
    assert listed(np.hstack([t, beside])) == [*first, item, None]
    assert listed(np.vstack([t, beside])) == [first, [item, None]]
    assert listed(np.clip(t, beside, None)) == [max(first[0], item), None]
    if item == 3:
        for call in ("append", "select", "piecewise"):
            with pytest.raises(ConversionError, match=r"cannot store nulls|does not make an array"):
                CALLS[call](t, beside)
    else:
        assert listed(np.append(t, beside)) == [*first, item, None]


@OF
def test_clip_follows_the_rule_of_operands(of):
    t = of(tw.as_tensor([1, 2]))
    assert type(np.clip(t, pd.Series([3, 4]), None)).__name__ == "Tensor"
    assert listed(np.clip(np.array([3, 9]), tw.as_tensor([4, None]), None)) == [4, None]
    out = tw.nullable([0, 0], [True, True])
    np.clip(t, tw.as_tensor([2, None]), 3, out=out)
    assert out.tolist() == [2, None]
    np.clip(of(tw.as_tensor([1, None])), None, None, out=out)
    assert out.tolist() == [1, None]
    x, y = tw.strings(["a\0\0", "x"]), tw.strings(["a\0b", "b"])
    assert listed(np.clip(of(x), y, None)) == listed(np.maximum(x, y)) == ["a\0b", "x"]
    with pytest.raises(ConversionError, match="does not make an array"):
        np.clip(of(tw.jagged([[1, 5], [], [7]])), [[2, 2], [], [2]], None)


@OF
def test_values_that_do_not_fit_are_refused_as_by_assign(of):
    t, spans = of(tw.as_tensor([1, 2])), of(tw.as_tensor(np.array([1, 5], "m8[s]")))
    for call in ("full_like", "insert", "pad", "piecewise"):
        for value in (1.5, float("nan"), np.float64(2)):
            with pytest.raises(DTypeError):
                CALLS[call](t, value)
        with pytest.raises(SizeOverflowError):
            CALLS[call](t, 2**63)
        with pytest.raises((SizeOverflowError, DTypeError)):
            CALLS[call](spans, -(2**63))
    with pytest.raises(SizeOverflowError):
        np.select(MASK, [t], 2**63)
    assert listed(np.full_like(t, 1.5, dtype="f8")) == [1.5, 1.5]
    assert listed(np.insert(t, [0, 1], [5, 6])) == [5, 1, 6, 2]
    assert listed(np.piecewise(t, MASK, [lambda own: own + 5, 0])) == [6, 0]


@OF
def test_integers_of_lists_are_not_rounded(of):
    t = of(tw.as_tensor([-1, 2**63 - 1]))
    for call in (np.array_equal, np.setdiff1d, np.intersect1d, np.union1d, np.setxor1d):
        with pytest.raises(DTypeError, match="integers from"):
            call(t, [-1, 2**63])
    assert not np.array_equal(t, [-1, 2**63 - 2])


@OF
def test_times_are_not_wrapped_where_units_meet(of):
    days, fine = of(tw.as_tensor(np.array([2**40], "M8[D]"))), np.array([5692549928996306944], "M8[ns]")
    for call in (np.append, np.maximum, np.isin, np.equal, np.union1d, np.searchsorted, np.subtract):
        with pytest.raises(SizeOverflowError):
            call(days, fine)
    with pytest.raises(SizeOverflowError):
        days + np.array([1], "m8[ns]")
    with pytest.raises(SizeOverflowError):
        of(tw.as_tensor(fine)) < days  # noqa: B015 - the comparison raises
    with pytest.raises(SizeOverflowError):
        np.clip(of(tw.as_tensor(fine)), None, days)
    for call in (np.equal, np.minimum, np.subtract):
        with pytest.raises(DTypeError, match="no unit in common"):
            call(of(tw.as_tensor(np.array([1], "m8[W]"))), tw.as_tensor(np.array([1], "m8[ps]")))
    near = of(tw.as_tensor(np.array([2], "M8[D]")))
    assert listed(np.maximum(near, np.array([1], "M8[ns]"))) == [2 * 86_400_000_000_000]
    assert listed(near == np.array([2 * 86400], "M8[s]")) == [True]


@OF
def test_one_element_loses_its_modes_with_nulls_as_without(of):
    for t in (tw.nullable([7], [True]), tw.nullable([[7]], [[False]])):
        assert np.squeeze(of(t)).shape == t.squeeze().shape == tw.Shape()


@OF
def test_a_null_in_a_condition_selects_nothing(of):
    mask, t = of(tw.nullable([True, True, False], [True, False, True])), of(tw.as_tensor([1, None, 3]))
    assert listed(np.compress(mask, t)) == listed(np.extract(mask, t)) == listed(t[mask]) == [1]
    assert listed(np.compress(mask, of(tw.as_tensor([[1, 2], [3, 4], [5, 6]])), axis=0)) == [[1, 2]]
    assert listed(np.compress([False, True, True], t)) == [None, 3]


@OF
def test_a_value_under_the_null_of_a_mask_is_not_cast(of):
    mask = of(tw.nullable([True, False], [True, False]))
    found = tw.where(mask, of(tw.as_tensor([1.0, 2.0])), float("nan"))
    assert listed(found.astype("i8").compute()) == listed(found.compute().astype("i8")) == [1, None]
    rows = of(tw.nullable([True, False, True], [True, False, True]).unflatten([1, 2]))
    found = tw.where(rows, of(tw.jagged([[1.0], [2.0, 3.0]])), float("nan"))
    assert listed(tw.concat([found, found]).astype("i8").compute()) == [[1], [None, 3]] * 2


@OF
def test_nulls_among_strings_are_moved_as_those_among_numbers(of):
    for t in (tw.strings([[b"a", None], [b"b", b"c\0"]]), tw.strings([["a", None], ["b", "c\0"]])):
        rows = t.tolist()
        assert listed(np.flip(of(t))) == [own[::-1] for own in rows[::-1]]
        assert listed(np.hstack([of(t), of(t)])) == [own * 2 for own in rows]
        assert listed(np.moveaxis(of(t), 0, 1)) == [list(own) for own in zip(*rows, strict=True)]


def test_writes_among_strings_are_refused_by_the_call_that_works():
    t = tw.strings(["b", "d"])
    for call in (
        lambda: np.copyto(t, tw.strings(["c", "e"])),
        lambda: np.put(t, [0], ["q"]),
        lambda: np.place(t, [True, False], ["q"]),
    ):
        with pytest.raises(ConversionError, match=r"assign\(\) writes"):
            call()
    with pytest.raises(ConversionError, match="cannot store nulls"):
        np.piecewise(t, [[True, True]], [pa.array(["q", None])])
    t.assign(["c", "e"])
    assert t.tolist() == ["c", "e"]


TIMES = st.sampled_from([-(2**63) + 1, -(2**40), -7, 0, 1, 50, 2**40, 2**62, 2**63 - 1])
UNITS = st.sampled_from(["W", "D", "h", "m", "s", "ms", "us", "ns", "ps"])
NANO = {"W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1}
PICO = {unit: 10**12 * own for unit, own in NANO.items()} | {"ms": 10**9, "us": 10**6, "ns": 1000, "ps": 1}


@given(one=TIMES, other=TIMES, units=st.tuples(UNITS, UNITS), kind=st.sampled_from("mM"))
@OF
@pytest.mark.parametrize("rows", [False, True])
def test_times_of_two_units_are_compared_exactly_or_refused(of, rows, one, other, units, kind):
    times = [
        tw.as_tensor(np.array([own], "i8").view(f"{kind}8[{unit}]"))
        for own, unit in zip((one, other), units, strict=True)
    ]
    a, b = (of(own.unflatten([1]) if rows else own) for own in times)
    exact = [own * PICO[unit] for own, unit in zip((one, other), units, strict=True)]
    for beside in (b, np.asarray(times[1])):
        if rows and beside is not b:
            continue
        try:
            found = a < beside, np.minimum(a, beside) == (a if exact[0] <= exact[1] else b)
        except (SizeOverflowError, DTypeError):
            continue
        assert [np.ravel(listed(own)).tolist() for own in found] == [[exact[0] < exact[1]], [True]]


@OF
def test_views_with_a_null_in_a_mask_have_plans_and_routes(of):
    mask = of(tw.nullable([True, False], [True, False]))
    for one, other in (([1.0, 2.0], 0.0), (["a", "b"], "c")):
        x = tw.strings(one) if other == "c" else tw.as_tensor(one)
        v = tw.where(mask, of(x), other)
        for view in (v, v[::-1], tw.concat([v, v])):
            assert str(view.plan())
            assert view.explain()
            assert None in listed(view.compute())
        assert [v.route((place,)).index for place in range(2)] == [(0,), v.route((1,)).index]
        assert sum(len(own.rows) for own in v.route_many([(0,), (1,)])) == 2


@OF
def test_the_initial_element_of_a_reduction_fits_its_result(of):
    for t in (tw.as_tensor([1, 2]), tw.jagged([[1], [2]])):
        for call in (np.sum, np.prod, np.max, np.min):
            for value in (1.5, np.timedelta64(5, "s"), tw.as_tensor(2.5)):
                with pytest.raises(DTypeError, match="initial"):
                    call(of(t), initial=value)
        assert (np.sum(of(t), initial=5), np.prod(of(t), initial=5)) == (8, 10)
        assert (np.max(of(t), initial=5), np.min(of(t), initial=0)) == (5, 0)
    small = of(tw.as_tensor(np.array([1, 2], "i1")))
    with pytest.raises(SizeOverflowError):
        np.max(small, initial=tw.as_tensor(300))
    assert np.sum(small, initial=300) == 303
    assert np.sum(of(tw.as_tensor([1.0, 2.0])), initial=1.5) == 4.5


@OF
def test_elements_fit_the_type_that_is_computed_in(of):
    t, rows = of(tw.as_tensor([1000, 1])), of(tw.jagged([[1000, 1], []]))
    for call in (
        lambda: np.add(t, 1, dtype="i1"),
        lambda: np.add(rows, 1, dtype="i1"),
        lambda: np.sum(t, dtype="i1"),
        lambda: np.sum(rows, dtype="i1"),
        lambda: np.cumsum(t, dtype="i1"),
        lambda: np.add.reduce(rows, axis=-1, dtype="i1"),
        lambda: np.hstack([t, t], dtype="i1", casting="same_kind"),
    ):
        with pytest.raises(SizeOverflowError, match="1000"):
            call()
    assert listed(np.add(t, 1, dtype="i2")) == [1001, 2]
    assert listed(np.equal(t, 1, dtype=bool)) == [False, True]
    assert np.sum(t, dtype="f4") == 1001
    if hasattr(np, "astype"):
        assert listed(np.astype(rows, "f4")) == [[1000, 1], []]
        for given, dtype in (
            (t, "i1"),
            (of(tw.as_tensor([-(2**63)])), "m8[s]"),
            (of(tw.as_tensor([np.nan])), "i8"),
        ):
            with pytest.raises(SizeOverflowError):
                np.astype(given, dtype)


@OF
def test_numbers_and_times_as_text_are_not_cut(of):
    for values, cut, whole in (([1000, 2], "U2", "U4"), ([1.5, 2], "S2", "S3"), ([True], "U3", "U4")):
        t = of(tw.as_tensor(values))
        with pytest.raises(SizeOverflowError, match="would cut it"):
            np.asarray(t, dtype=cut)
        assert np.asarray(t, dtype=whole).tolist() == np.array(values).astype(whole).tolist()
    day = of(tw.as_tensor(np.array([1], "M8[s]")))
    with pytest.raises(SizeOverflowError, match="needs U19"):
        np.asarray(day, dtype="U5")
    assert np.asarray(day, dtype="U19").tolist() == ["1970-01-01T00:00:01"]


@pytest.mark.parametrize("kind", ["box", "rows"])
def test_a_power_that_is_refused_writes_nothing(kind):
    t, powers = tw.as_tensor([-5, -2, 2, -9]), tw.as_tensor([6, -6, -7, 7])
    if kind == "rows":
        t, powers = t.unflatten([1, 3]), powers.unflatten([1, 3])
    before = t.tolist()
    with pytest.raises(DTypeError):
        t **= powers
    assert t.tolist() == before
    t **= 2
    assert t.elements().tolist() == [25, 4, 4, 81]


@OF
def test_bytes_and_text_are_clipped_by_the_rule_of_operands(of):
    for make in (str, str.encode):
        c, a, z, d, e = map(make, "cazde")
        rows, bounds = of(tw.strings([[c, c], [], [c]])), tw.strings([a, z, d])
        for given_bounds in (bounds, [a, z, d]):
            assert listed(np.clip(rows, given_bounds, None)) == [[c, c], [], [d]]
            assert listed(np.clip(rows, None, given_bounds)) == [[a, a], [], [c]]
            assert listed(np.clip(rows, given_bounds, c)) == [[c, c], [], [c]]
        assert listed(np.clip(of(tw.strings([a, None])), [d, e], None)) == [d, None]
        assert listed(np.clip(of(tw.strings([a, c])), tw.strings([d, None]), None)) == [d, None]
    texts = of(tw.strings(["a\0b", "b"]))
    for first in (["a\0\0", "b"], pa.array(["a\0\0", "b"]), np.array(["a\0\0", "b"], "T")):
        assert listed(np.clip(first, texts, None)) == ["a\0b", "b"]
    assert listed(np.clip(["a", "c"], texts, None)) == ["a\0b", "c"]


@OF
def test_one_text_among_joined_ones_is_exact(of):
    for one, other in (("a\0", "b"), (b"a\0", b"b")):
        t = of(tw.strings(one))
        assert listed(np.hstack([t, t])) == listed(np.block([t, t])) == [one, one]
        assert listed(np.vstack([t, other])) == [[one], [other]]
        assert listed(np.column_stack([t, t])) == [[one, one]]
        assert listed(np.select([True], [t], other)) == one
        assert listed(np.max(of(tw.strings([one])), initial=t)) == one
    assert listed(np.setdiff1d(np.array(["a", "é"], object), of(tw.strings(["é\0"])))) == ["a", "é"]


def test_a_null_is_no_text_beside_nuls_either():
    with pytest.raises(ConversionError, match="a null is not text"):
        np.strings.encode(tw.strings(["a\0", None]))


@OF
def test_unsafe_casts_are_those_of_numpy(of):
    t = of(tw.as_tensor([1000, 1]))
    unsafe = {"dtype": "i1", "casting": "unsafe"}
    assert listed(np.hstack([t, t], **unsafe)) == [-24, 1] * 2
    assert listed(np.add(t, 1, **unsafe)) == listed(np.add(np.array([1000, 1]), 1, **unsafe)) == [-23, 2]
    assert listed(np.add(of(tw.as_tensor([1.5])), 1, dtype=int, casting="unsafe")) == [2]
    out = tw.zeros((2,), dtype="i1")
    np.clip(t, 0, None, out=out, casting="unsafe")
    assert out.tolist() == [-24, 1]


@OF
def test_a_number_is_clipped_by_tensors(of):
    t = of(tw.as_tensor([1, 5]))
    assert listed(np.clip(3, t, None)) == [3, 5]
    assert listed(np.clip(3.5, t, 4)) == [3.5, 4]
    assert listed(np.clip("b", of(tw.strings(["a", "c\0"])), None)) == ["b", "c\0"]
    assert listed(np.clip(3, of(tw.jagged([[1, 5], []])), None)) == [[3, 5], []]


@pytest.mark.parametrize("call", [np.real, np.imag, np.conj, np.angle, np.round])
def test_results_for_rows_have_memory_without_gaps(call):
    for shape in ([2, 1, 0], [[2, 2], [1, 3]]):
        flat = np.arange(3 if shape == [2, 1, 0] else 7) * (1 + 2j)
        cells = tw.Shape.jagged(shape if shape == [2, 1, 0] else [tw.Shape(*own) for own in shape])
        found = call(tw.from_buffer(flat, cells))
        assert found.buffer.flat.flags.c_contiguous
        assert listed(tw.concat([found, found]))[: len(found)] == listed(found)
        assert found.elements().tolist() == call(flat).tolist()


@given(rows=st.lists(st.lists(st.none() | st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=4))
@OF
@pytest.mark.parametrize("kind", ["numbers", "text"])
def test_boxes_with_nulls_are_sorted_along_every_axis(of, kind, rows):
    if kind == "text":
        rows = [[None if own is None else "abcd"[own] for own in row] for row in rows]
        t = tw.strings(rows, nullable=True, kind="utf8")
    else:
        valid = [[own is not None for own in row] for row in rows]
        t = tw.nullable([[own or 0 for own in row] for row in rows], valid)

    def ordered(row):
        there = sorted(own for own in row if own is not None)
        return there + [None] * (len(row) - len(there))

    columns = [ordered(column) for column in zip(*rows, strict=True)]
    assert listed(np.sort(of(t), axis=0)) == [list(row) for row in zip(*columns, strict=True)]
    assert listed(np.sort(of(t), axis=-1)) == [ordered(row) for row in rows]
    places = listed(np.argsort(of(t), axis=-2))
    taken = [[rows[place][number] for number, place in enumerate(row)] for row in places]
    assert [ordered(column) for column in zip(*taken, strict=True)] == columns


@given(one=TIMES, other=TIMES, units=st.tuples(UNITS, UNITS), kind=st.sampled_from("mM"))
@pytest.mark.parametrize("nullable", [False, True])
def test_tensors_of_times_of_two_units_are_equal_if_their_times_are(nullable, one, other, units, kind):
    a, b = (
        tw.as_tensor(np.array([own], "i8").view(f"{kind}8[{unit}]"))
        for own, unit in zip((one, other), units, strict=True)
    )
    exact = one * PICO[units[0]] == other * PICO[units[1]]
    if nullable:
        a, b = tw.nullable(a, [True]), tw.nullable(b, [True])
    try:
        found = a.array_equal(b)
    except DTypeError:
        return  # of units like weeks and picoseconds
    assert not found or exact
    assert found == b.array_equal(a) == sel.as_view(a).array_equal(b)


def test_months_are_no_weeks():
    months, weeks = (tw.as_tensor(np.array([own], kind)) for own, kind in ((-10, "M8[M]"), (-44, "M8[W]")))
    assert not months.array_equal(weeks)


@OF
def test_sums_of_dates_are_refused_in_our_words(of):
    for call in (np.sum, np.prod):
        with pytest.raises(DTypeError):
            call(of(tw.as_tensor(np.array([1, 2], "M8[s]"))), initial=0)


@given(
    items=st.lists(
        st.tuples(st.none() | st.text("ab\0", max_size=2), st.integers(0, 2)), min_size=2, max_size=3
    )
)
@OF
@pytest.mark.parametrize("nested", [False, True])
def test_lists_of_one_text_each_keep_nulls(of, nested, items):
    """An element is given as it is, or as a tensor or view of rank 0."""
    values = [own for own, _ in items]
    known = tw.strings(values, kind="utf8", nullable=True)
    forms = [lambda k: values[k], lambda k: known[k], lambda k: sel.as_view(known)[k]]
    given_list = [forms[form](k) for k, (_, form) in enumerate(items)]
    is_typed = any(own is not None or form for own, form in items)
    if not is_typed:
        return
    words = ["z"] * len(items)
    t = of(tw.strings([words] if nested else words))
    beside, row = ([given_list], [values]) if nested else (given_list, values)

    def expected(call):
        found = [None if own is None else call("z", own) for own in values]
        return [found] if nested else found

    assert tw.strings(beside, kind="utf8").tolist() == row
    assert (t + beside).tolist() == expected(lambda a, b: a + b)
    assert (t == beside).tolist() == expected(lambda a, b: a == b)
    assert tw.as_tensor(np.maximum(t, beside)).tolist() == expected(max)
    assert listed(np.where(np.zeros(len(items), bool), t, beside)) == row
    assert tw.as_tensor(np.concatenate([t, beside])).tolist() == [*t.tolist(), *row]


REDUCED = {
    **{
        own.__name__: own
        for own in (np.sum, np.prod, np.max, np.min, np.any, np.all, np.ptp, np.count_nonzero)
    },
    **{own.__name__: own for own in (np.mean, np.std, np.var, np.median, np.nanmax, np.nanmean, np.nansum)},
    "quantile": lambda a, **named: np.quantile(a, 0.5, **named),
}


@OF
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("call", REDUCED)
def test_boxes_with_room_for_nulls_are_reduced_as_others(of, call, keepdims):
    for extents in ((3,), (2, 3), (2, 2, 2)):
        box = np.arange(8.0)[: np.prod(extents)].reshape(extents)
        t = of(tw.nullable(box))
        for axis in (None, (), 0, -1, (0,), (-1, 0), (0, len(extents) - 1), tuple(range(len(extents)))):
            try:
                expected = np.asarray(REDUCED[call](box, axis=axis, keepdims=keepdims))
            except ValueError:
                with pytest.raises(TensorWrapperError):
                    REDUCED[call](t, axis=axis, keepdims=keepdims)
                continue
            found = np.asarray(REDUCED[call](t, axis=axis, keepdims=keepdims))
            assert found.shape == expected.shape, axis
            np.testing.assert_allclose(found, expected)
    box = np.arange(6.0).reshape(2, 3)
    found = np.quantile(of(tw.nullable(box)), [0.25, 0.5], keepdims=keepdims)
    np.testing.assert_array_equal(found, np.quantile(box, [0.25, 0.5], keepdims=keepdims))
    for axis in (None, 0, 1):
        box = np.array([[1, 5], [7, 2]])
        found = np.asarray(np.argmax(of(tw.nullable(box)), axis=axis, keepdims=keepdims))
        np.testing.assert_array_equal(found, np.argmax(box, axis=axis, keepdims=keepdims))


@OF
def test_masks_of_reductions_are_truth_values_of_the_same_shape(of):
    n = of(tw.as_tensor([1, None, 3]))
    assert np.sum(n, where=[True, True, False]) == 1
    assert np.sum(n, where=tw.as_tensor([True, None, None])) == 1
    for where in (["q", "", "x"], [0.5, 0.0, 1.0], [2, 3, 0], tw.jagged([[True], [False], [True]])):
        for call in (np.sum, np.mean, np.any):
            with pytest.raises((DTypeError, TensorWrapperError)):
                call(n, where=where)


WITH_A_NULL = [
    [7, None],
    pa.array([7, None]),
    pd.array([7, None], dtype="Int64"),
    pd.Series([7, None], dtype="Int64"),
    tw.as_tensor([7, None]),
    np.ma.masked_array([7, 8], [False, True]),
]


@pytest.mark.parametrize("values", WITH_A_NULL, ids=lambda own: type(own).__module__ + type(own).__name__)
@pytest.mark.parametrize("dtype", ["f8", "c16", "i8"])
def test_no_function_that_writes_makes_numbers_of_nulls(dtype, values):
    calls = (
        lambda t: np.copyto(t, values),
        lambda t: np.put(t, [0, 1], values),
        lambda t: np.place(t, [True, True], values),
        lambda t: np.putmask(t, [True, True], values),
        lambda t: np.histogram(tw.nullable(t), bins=values),
    )
    for call in calls:
        t = tw.zeros((2,), dtype=dtype)
        with pytest.raises((ConversionError, DTypeError)):
            call(t)
        assert t.tolist() == [0, 0]
    square = tw.zeros((2, 2), dtype=dtype)
    with pytest.raises((ConversionError, DTypeError)):
        np.fill_diagonal(square, values)
    assert square.tolist() == [[0, 0], [0, 0]]


@OF
def test_what_is_moved_into_out_is_whole_or_nothing(of):
    n = of(tw.as_tensor([3, None, 7]))
    for call in (
        lambda own, out: np.take(own, [0, 2], out=out),
        lambda own, out: np.take(own, [0, 2], 0, out),
        lambda own, out: np.compress([True, False, True], own, out=out),
    ):
        for out in (tw.zeros((2,), dtype="i8"), tw.nullable(np.zeros(2, "i8")), np.zeros(2, "i8")):
            call(n, out)
            assert out.tolist() == [3, 7]
    for out in (tw.zeros((2,), dtype="i8"), np.zeros(2, "?"), np.zeros(2)):
        with pytest.raises((ConversionError, DTypeError)):
            np.take(n, [0, 1], out=out)
        assert out.tolist() == [0, 0]
    room = tw.nullable(np.zeros(2, "i8"))
    np.take(n, [0, 1], out=room)
    assert room.tolist() == [3, None]


@OF
def test_numbers_are_not_written_among_text(of):
    words = tw.strings(["zz", "zz"])
    for call in (np.negative, np.isfinite, lambda t, out: np.add(t, 1, out=out)):
        with pytest.raises((ConversionError, DTypeError)):
            call(tw.as_tensor([3, -1]), out=of(words))
    assert words.tolist() == ["zz", "zz"]


@pytest.mark.parametrize("given_as", [str, np.str_])
@OF
def test_one_text_of_numpy_keeps_the_nuls_at_its_end(of, given_as):
    t, one = of(tw.strings(["a", "b"])), given_as("a\0")
    assert (t == one).tolist() == (one == t).tolist() == np.isin(t, one).tolist() == [False, False]
    assert (t + one).tolist() == ["aa\0", "ba\0"]
    assert np.maximum(t, one).tolist() == ["a\0", "b"]
    assert listed(np.where([True, False], t, one)) == ["a", "a\0"]
    assert listed(np.append(t, one)) == ["a", "b", "a\0"]
    assert (of(tw.strings([b"a\0"])) == np.bytes_(b"a\0")).tolist() == [True]


@OF
@pytest.mark.parametrize("initial", [["q"], np.array(["q", "a"]), tw.strings([None, "q"])[0], True, 0])
def test_what_begins_a_sum_of_text_is_one_text(of, initial):
    for words in (["a", "b"], ["a", None]):
        for call in (np.sum, np.max):
            with pytest.raises((ConversionError, DTypeError)):
                call(of(tw.strings(words)), initial=initial)
    assert np.sum(of(tw.strings(["a", "b"])), initial="q") == "qab"


@pytest.mark.parametrize(
    "operand",
    [
        [10, 20],
        range(10, 30, 10),
        pa.array([10, 20]),
        pd.Series([10, 20]),
        np.array([10, 20]),
        tw.as_tensor([10, 20]),
    ],
    ids=lambda own: type(own).__module__ + type(own).__name__,
)
def test_operators_in_place_write_whatever_the_operand_is(operand):
    t = tw.as_tensor([5, 6])
    same = t
    t += operand
    assert t is same
    assert t.tolist() == [15, 26]
    t |= operand
    t -= operand
    assert same.tolist() == t.tolist()
    assert t is same


def test_operators_in_place_keep_the_type():
    t = tw.as_tensor([5, 6])
    with pytest.raises(DTypeError):
        t += pa.array([1.5, 2.5])
    with pytest.raises(ConversionError, match="cannot store nulls"):
        t += pa.array([1, None])
    assert t.tolist() == [5, 6]


@OF
@pytest.mark.parametrize("kind", ["list", "tensor", "array", "arrow", "pandas", "range"])
def test_nulls_are_filled_by_operands_of_every_kind(of, kind):
    forms = {
        "list": lambda own: own,
        "tensor": lambda own: tw.strings(own) if isinstance(own[0], str) else tw.as_tensor(own),
        "array": np.array,
        "arrow": pa.array,
        "pandas": pd.Series,
        "range": lambda own: own if isinstance(own[0], str) else range(own[0], own[0] + 2),
    }
    numbers, texts = forms[kind]([7, 8]), forms[kind](["p", "q"])
    assert of(tw.as_tensor([1, None])).fill_null(numbers).tolist() == [1, 8]
    assert of(tw.jagged([[1, None], [None]])).fill_null(numbers).tolist() == [[1, 7], [8]]
    assert of(tw.strings(["a", None])).fill_null(texts).tolist() == ["a", "q"]
    assert of(tw.strings([["a", None], [None]])).fill_null(texts).tolist() == [["a", "p"], ["q"]]
    if kind != "tensor":  # Others have no origin.
        assert of(tw.as_tensor([1, None]).translate_to((5,))).fill_null(numbers).tolist() == [1, 8]
        assert of(tw.strings(["a", None]).translate_to((5,))).fill_null(texts).tolist() == ["a", "q"]
        assert of(tw.jagged([[1, None], [None]]).translate_to((5, 0))).fill_null(numbers).tolist() == [
            [1, 7],
            [8],
        ]
    with pytest.raises(TensorWrapperError):
        of(tw.strings(["a", None])).fill_null(numbers)
    with pytest.raises(ConversionError):
        of(tw.as_tensor([1, None])).fill_null([2, None])


def test_empty_boxes_with_room_for_nulls_have_differences_along_every_axis():
    for extents in ((3, 0), (0, 3, 2), (0, 4)):
        for axis in range(len(extents)):
            empty = np.zeros(extents)
            assert np.diff(tw.nullable(empty), axis=axis).shape == tw.Shape(*np.diff(empty, axis=axis).shape)


def test_one_time_or_number_of_another_library_fills_nulls():
    times = tw.nullable(np.array([1, 5], "M8[s]"), [True, False])
    assert (
        times.fill_null(pd.Timestamp(3, unit="s")).tolist() == times.fill_null(np.datetime64(3, "s")).tolist()
    )
    assert tw.as_tensor([1, None]).fill_null(pa.scalar(7)).tolist() == [1, 7]


@OF
@pytest.mark.parametrize("kind", ["utf8", "binary"])
def test_nulls_alone_and_nothing_are_of_the_kind_that_they_were(of, kind):
    for words in ([None, None], []):
        t = of(tw.strings(words, kind=kind, nullable=True))
        found = np.unique(t)
        assert found.tolist() == ([None] if words else [])
        assert found.dtype == t.dtype
        assert tw.concat([t, found]).null_count == len(words) + found.null_count


@pytest.mark.parametrize("kind", ["utf8", "binary"])
def test_rows_of_strings_are_no_collection_of_dask(kind):
    rows = tw.strings(["a", "b"] if kind == "utf8" else [b"a", b"b"]).unflatten([1, 0, 1])
    with pytest.raises(ConversionError, match="a collection holds rows of numbers"):
        rows.to_dask(max_elements=1)


@OF
@pytest.mark.parametrize("call", [np.compress, np.extract])
def test_a_mask_longer_than_a_list_is_refused_in_our_words(of, call):
    mask = of(tw.as_tensor([True, False, True]))
    for short in ([1, 2], np.array([1, 2]), tw.as_tensor([1, 2])):
        with pytest.raises(OutOfBoundsError):
            call(mask, short)


@OF
@pytest.mark.parametrize("call", [np.nansum, np.nanprod, np.nanmax, np.nanmin])
def test_the_initial_element_of_a_reduction_without_nan_fits_its_result(of, call):
    small = of(tw.as_tensor(np.array([1, 2], "i1")))
    for wrong in (1.5, "a", [1, 2], np.timedelta64(5, "s"), tw.as_tensor([1, None])[1]):
        with pytest.raises(TensorWrapperError):
            call(small, initial=wrong)
    assert call(small, initial=1) == call(np.array([1, 2], "i1"), initial=1)
    floats = of(tw.as_tensor([1.0, np.nan]))
    assert call(floats, initial=2.5) == call(np.array([1.0, np.nan]), initial=2.5)


@OF
@pytest.mark.parametrize("values", [[[1, 2], [3, 4]], [[1], [2, 3]], [[1, None], [3, 4]]])
@pytest.mark.parametrize("where", [1, "a", b"a", 0.0, np.int64(1), [1, 0], [["a", ""]], np.array([2, 3])])
def test_masks_of_reductions_are_truth_values(of, values, where):
    t = of(tw.jagged(values)) if len(values[0]) == 1 else of(tw.as_tensor(values))
    for call in (np.sum, np.max, np.any, np.mean):
        options = {"initial": 0} if call is np.max else {}
        with pytest.raises(DTypeError, match="where="):
            call(t, where=where, **options)
        assert call(t, where=True, **options) == call(t, where=np.True_, **options)


@OF
@pytest.mark.parametrize("call", [np.cumulative_sum, np.cumulative_prod, np.cumsum, np.cumprod])
def test_running_results_are_computed_in_types_that_have_the_elements(of, call):
    for values, dtype in (([1.5, 2.5], "i8"), ([300, 1], "i1"), ([1, 2], "?"), ([-1, 2], "u1")):
        with pytest.raises(TensorWrapperError):
            call(of(tw.as_tensor(values)), dtype=dtype)
    found = call(of(tw.as_tensor(np.array([100, 100], "i1"))), dtype="i8")
    assert np.asarray(found).tolist() == call(np.array([100, 100]), dtype="i8").tolist()


@OF
def test_blocks_of_nested_lists_of_text_keep_nulls_and_nuls(of):
    one, other = of(tw.strings(["a", None])), of(tw.strings(["b", "c\0"]))
    assert np.block([[one], [other]]).tolist() == [["a", None], ["b", "c\0"]]
    assert np.block([[other, "x\0"], [["y"], other]]).tolist() == [["b", "c\0", "x\0"], ["y", "b", "c\0"]]


PARTS = {
    "replace": (str.replace, ("b", "x\0")),
    "partition": (str.partition, ("b\0",)),
    "rpartition": (str.rpartition, ("b",)),
}


@OF
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("kind", [str, np.str_])
def test_parts_of_text_are_those_of_python(of, name, kind):
    by_hand, arguments = PARTS[name]
    texts = ["ab\0", "a", "bab"]
    for t in (tw.strings(texts), tw.strings([texts[:1], texts[1:]])):
        found = getattr(np.strings, name)(of(t), *map(kind, arguments))
        parts = found if isinstance(found, tuple) else (found,)
        flat = [np.asarray(own.elements() if hasattr(own, "elements") else own).tolist() for own in parts]
        wanted = [by_hand(text, *arguments) for text in texts]
        assert flat == [list(own) for own in zip(*wanted, strict=True)] if len(flat) > 1 else [wanted]


RESULTS = [1.5, 300, None, "a", 1j, np.ma.masked, pd.NA, np.datetime64(1, "D"), pa.scalar(None, pa.int64())]


@OF
@pytest.mark.parametrize("wrong", RESULTS, ids=repr)
def test_what_a_function_returns_is_held_or_refused(of, wrong):
    small = np.array([[1, 2], [3, 4]], "i1")
    for call in (
        lambda t: np.piecewise(t, [small < 3, small > 2], [lambda own: own, lambda _: wrong]),
        lambda t: np.apply_along_axis(lambda row: row[0] if row[0] < 3 else wrong, 1, t),
    ):
        with pytest.raises(TensorWrapperError):
            call(of(tw.as_tensor(small)))


@OF
def test_results_of_functions_that_fit_are_those_of_numpy(of):
    values = np.array([[1, 2], [3, 4]], "i2")
    t = of(tw.as_tensor(values))
    pieces = [values < 3, values > 2], [lambda own: own * 2, lambda _: np.int8(7)]
    assert np.piecewise(t, *pieces).tolist() == np.piecewise(values, *pieces).tolist()
    for function in (np.sum, lambda row: row[::-1], lambda row: np.int8(row[0] % 2)):
        wanted = np.apply_along_axis(function, 0, values)
        found = np.asarray(np.apply_along_axis(function, 0, t))
        assert found.dtype == wanted.dtype
        assert found.tolist() == wanted.tolist()
    with pytest.raises(DTypeError):
        np.apply_along_axis(lambda row: "a" * row[0], 0, t)


@OF
def test_positions_along_an_axis_may_be_a_list(of):
    values, positions = np.arange(6).reshape(2, 3), [[2, 0], [1, 1]]
    wanted = np.take_along_axis(values, np.array(positions), 1).tolist()
    assert np.take_along_axis(of(tw.as_tensor(values)), positions, 1).tolist() == wanted
    assert np.take_along_axis(of(tw.as_tensor(values)), indices=positions, axis=1).tolist() == wanted
    nulls = np.take_along_axis(of(tw.as_tensor([[1, None], [2, 3]])), [[1, 0], [0, 1]], 1)
    assert tw.as_tensor(nulls).tolist() == [[None, 1], [2, 3]]
    for wrong in ([[0.5], [1.0]], [[0], [None]], [["a"], ["b"]], [0, 1], [[9], [0]]):
        with pytest.raises(TensorWrapperError):
            np.take_along_axis(of(tw.as_tensor(values)), wrong, 1)
