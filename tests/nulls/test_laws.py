"""Laws of nulls, against lists of Python with None."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper import wire
from tensorwrapper.errors import ConversionError
from tests.nulls.test_table import ROWS

DTYPES = ["f8", "f4", "i8", "i2", "u1", "?"]


def numbers(dtype):
    if dtype == "?":
        return st.booleans()
    if dtype[0] == "f":
        return st.sampled_from([0.0, -0.0, 1.5, -2.0, float("nan"), float("inf"), 7.0])
    return st.integers(0 if dtype[0] == "u" else -9, 9)


@st.composite
def rows_with_nulls(draw, dtypes=tuple(DTYPES)):
    """Rows, some elements of which are nulls, over which any number stands; and their lists."""
    dtype = draw(st.sampled_from(dtypes))
    lists = draw(
        st.lists(st.lists(st.tuples(numbers(dtype), st.booleans()), max_size=5), min_size=1, max_size=6)
    )
    flat = [pair for row in lists for pair in row]
    values = tw.from_buffer(
        np.array([x for x, _ in flat], dtype), tw.Shape.jagged([len(row) for row in lists])
    )
    tensor = tw.nullable(values, np.array([ok for _, ok in flat], np.bool_))
    return tensor, [[np.dtype(dtype).type(x).item() if ok else None for x, ok in row] for row in lists]


def alike(found, wanted):
    if isinstance(found, list) or isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(alike, found, wanted))
    if found is None or wanted is None:
        return found is wanted
    return bool(np.array_equal(found, wanted, equal_nan=True))


def quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


@given(rows_with_nulls())
def test_lists_come_back(case):
    tensor, lists = case
    assert alike(tensor.tolist(), lists)
    assert tensor.null_count == sum(x is None for row in lists for x in row)
    assert tensor.is_valid().tolist() == [[x is not None for x in row] for row in lists]


@given(rows_with_nulls())
def test_a_reduction_is_that_of_the_rows_without_nulls(case):
    tensor, _ = case
    dropped = tensor.drop_null()
    assert not dropped.is_nullable
    assert dropped.size + tensor.null_count == tensor.size
    for name in ("sum", "prod", "max", "min", "argmax", "mean", "var", "median", "first", "any", "count"):
        if tensor.dtype == np.bool_ and name in ("median", "mean", "var"):
            continue
        options = {"empty": None} if name not in ("any", "count") else {}
        if name in ("argmax", "first"):
            continue  # Their places, and what is null, count among all elements.
        found = quietly(lambda: getattr(tensor.rows(), name)(**options)).tolist()  # noqa: B023
        assert alike(found, quietly(lambda: getattr(dropped.rows(), name)(**options)).tolist())  # noqa: B023
    assert tensor.fill_null(0).is_nullable is False
    assert tensor.fill_null(0).null_count == 0


@given(rows_with_nulls())
def test_sorting_is_that_of_lists_with_nulls_last(case):
    tensor, lists = case
    for descending in (False, True):
        order = tensor.rows().argsort(descending=descending)
        placed = [[row[k] for k in own] for row, own in zip(lists, order.tolist(), strict=True)]
        assert alike(tensor.rows().sort(descending=descending).tolist(), placed)
        assert alike(tensor[order].tolist(), placed)
        for row in placed:
            valid = [x for x in row if x is not None]
            assert row == valid + [None] * (len(row) - len(valid)) or any(np.isnan(x) for x in valid)
        without = tensor.drop_null().rows().sort(descending=descending).tolist()
        assert alike([[x for x in row if x is not None] for row in placed], without)
    assert tensor.rows().top_k(2).tolist() == [
        own[:2] for own in tensor.rows().argsort(descending=True).tolist()
    ]


@given(rows_with_nulls())
def test_places_of_extremes_lead_back_to_them(case):
    tensor, _ = case
    for name, best in (("argmax", "max"), ("argmin", "min")):
        places = getattr(tensor.rows(), name)(keepdims=True)
        found = [row[0] if row else None for row in tensor[places].tolist()]
        assert alike(found, getattr(tensor.rows(), best)(empty=None).tolist())


@given(rows_with_nulls(("f8", "i8", "i2")), st.data())
def test_valid_is_what_is_valid_in_both(case, data):
    tensor, lists = case
    other = tensor[:, ::-1]
    for ufunc in (np.add, np.multiply, np.less, np.equal, np.maximum):
        found = quietly(lambda: ufunc(tensor, other))  # noqa: B023
        both = tensor.is_valid().elements() & other.is_valid().elements()
        assert found.is_valid().elements().tolist() == both.tolist()
        plain = quietly(lambda: ufunc(tensor.fill_null(1), other.fill_null(1))).elements()  # noqa: B023
        assert np.array_equal(
            found.fill_null(0).elements()[both], plain[both], equal_nan=plain.dtype.kind == "f"
        )
    number = data.draw(st.integers(-3, 3))
    assert alike(
        quietly(lambda: tensor + number).tolist(),
        [[None if x is None else x + number for x in row] for row in lists],
    )


@given(rows_with_nulls(("?",)), rows_with_nulls(("?",)), st.booleans())
def test_truth_values_are_those_of_kleene(one, other, flag):
    (_, rows), (_, more) = one, other
    pairs = [
        (x, y) for first, second in zip(rows, more, strict=False) for x, y in zip(first, second, strict=False)
    ]
    if not pairs:
        return
    x = tw.nullable([bool(p) for p, _ in pairs], [p is not None for p, _ in pairs])
    y = tw.nullable([bool(q) for _, q in pairs], [q is not None for _, q in pairs])

    def both(p, q):
        return False if p is False or q is False else None if p is None or q is None else True

    assert (x & y).tolist() == [both(p, q) for p, q in pairs]
    opposite = {True: False, False: True, None: None}
    either = [opposite[both(opposite[p], opposite[q])] for p, q in pairs]
    assert (x | y).tolist() == np.logical_or(x, y).tolist() == either
    assert (x & flag).tolist() == [both(p, flag) for p, _ in pairs]
    assert (~x).tolist() == [opposite[p] for p, _ in pairs]


@pytest.mark.parametrize("name", ROWS)
@given(st.integers(-(2**40), 2**40), st.integers(0, 3))
@settings(max_examples=15, deadline=None)
def test_what_stands_under_a_null_changes_nothing(name, anything, place):
    call, _ = ROWS[name]
    valid = np.array([True, False, True, False, True, True])
    values = np.array([3, 0, 1, 0, 2, 2])
    shape = tw.Shape.jagged([3, 0, 1, 2])
    others = values.copy()
    others[~valid] = [anything, -anything]
    one, other = (tw.nullable(tw.from_buffer(own.copy(), shape), valid) for own in (values, others))
    assert call(one).tolist() == call(other).tolist()
    for way in (lambda t: t, lambda t: tw.concat([t, t]), lambda t: t[[place, 0]]):
        assert way(one).tolist() == way(other).tolist()
        first, second = (wire.encode([way(own).copy()]) for own in (one, other))
        assert list(map(bytes, first)) == list(map(bytes, second))
        assert one.array_equal(other)


def picked(draw, lists):
    extent = len(lists)
    key = draw(
        st.one_of(
            st.builds(
                slice,
                st.none() | st.integers(-3, 5),
                st.none() | st.integers(-3, 5),
                st.sampled_from([1, 2, -1]),
            ),
            st.lists(st.integers(-extent, extent - 1), max_size=4) if extent else st.just([]),
        )
    )
    return key, [lists[k] for k in key] if isinstance(key, list) else lists[key]


def joined(draw, view, items, more):  # noqa: ARG001
    other, others = more()
    return tw.concat([view, other]), items + others


def chosen(draw, view, items, more):  # noqa: ARG001
    key, some = picked(draw, items)
    return view[key], some


def padded(draw, view, items, more):  # noqa: ARG001
    fill = draw(st.sampled_from([None, 5]))
    return view[...].pad([(1, 2)], fill_value=fill)[...], [fill, *items, fill, fill]


def masked(draw, view, items, more):  # noqa: ARG001
    marks = draw(st.lists(st.none() | st.booleans(), min_size=len(items), max_size=len(items)))
    valid = np.array([own is not None for own in marks], np.bool_)
    mask = tw.nullable(np.array([bool(own) for own in marks], np.bool_), valid)
    pairs = zip(marks, items, strict=True)
    return tw.where(mask, view, 0), [None if own is None else x if own else 0 for own, x in pairs]


STEPS = {
    "cast": lambda _draw, view, items, _: (view.astype("i4").astype("i8"), items),
    "choose": chosen,
    "join": joined,
    "least": lambda _draw, view, items, _: (
        sel.minimum(view, 1),
        [None if x is None else min(x, 1) for x in items],
    ),
    "mask": masked,
    "pad": padded,
    "stack": lambda _draw, view, items, _: (
        sel.stack([view, view], mode=1).reshape((-1,)),
        [x for x in items for _ in range(2)],
    ),
}


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_views_of_nulls_are_those_of_lists(data):
    """Trees of boxes of one mode, with nullable leaves beside plain ones."""

    def leaf():
        length = data.draw(st.integers(0, 5))
        items = data.draw(st.lists(st.none() | st.integers(-4, 4), min_size=length, max_size=length))
        if None not in items and data.draw(st.booleans()):
            return sel.as_view(np.array(items, np.int64)), items
        values = np.array([9 if x is None else x for x in items], np.int64)
        return sel.as_view(tw.nullable(values, np.array([x is not None for x in items], np.bool_))), items

    def tree(depth):
        if not depth:
            return leaf()
        view, items = tree(depth - 1)
        step = data.draw(st.sampled_from(sorted(STEPS)))
        return STEPS[step](data.draw, view, items, lambda: tree(depth - 1))

    view, items = tree(data.draw(st.integers(0, 4)))
    assert view.tolist() == items
    assert view.compute().tolist() == items
    assert view.null_count == items.count(None)
    assert view.is_valid().tolist() == [x is not None for x in items]
    assert view.normal_form() is not None


@given(rows_with_nulls(), st.sampled_from([None, "zlib"]))
@settings(max_examples=60, deadline=None)
def test_messages_and_files_keep_nulls(tmp_path_factory, case, compress):
    tensor, lists = case
    box = tw.nullable(np.arange(6).reshape(2, 3), [[True, False, True], [True, True, False]])
    message = wire.decode(wire.encode([tensor, box, tensor[::-1]], compress=compress), strict=True)
    assert alike(message.tensors[0].tolist(), lists)
    assert message.tensors[1].tolist() == box.tolist()
    assert alike(message.tensors[2].tolist(), lists[::-1])
    path = tmp_path_factory.mktemp("nulls") / "t.tens"
    with tw.open(path, "w") as file:
        file["t"] = tensor
        file.extend("t", tensor)
        file["box"] = box
    with tw.open(path) as file:
        assert file["t"].is_nullable
        assert alike(file["t"].tolist(), lists + lists)
        assert file["box"].array_equal(box)


HOSTILE = {
    "no validity": (lambda f: f.pop("validity"), "schema"),
    "no such part": (lambda f: f.update(validity=7), "layout"),
    "part of the elements": (lambda f: f.update(validity=0), "size"),
    "a negative part": (lambda f: f.update(validity=-1), "layout"),
    "no number": (lambda f: f.update(validity="1"), "schema"),
    "another version": (lambda f: f.update(version=2), "unsupported"),
    "no version": (lambda f: f.pop("version"), "schema"),
    "around itself": (lambda f: f.update(packing="nullable"), "schema"),
    "around what is not known": (lambda f: f.update(packing="nobody"), "unsupported"),
    "around rows that are not there": (lambda f: f.update(packing="jagged"), "schema"),
    "no object": (None, "schema"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_label_is_refused(name):
    import json

    change, reason = HOSTILE[name]
    frames = [bytes(own) for own in wire.encode([tw.as_tensor([5, None, 7, 8])])]
    head, label = frames[0][:8], json.loads(frames[0][8:])
    entry = label["TENS"]["tensors"][0]
    if change is None:
        entry["nullable"] = [1]
    else:
        change(entry["nullable"])
    text = json.dumps(label).encode()
    with pytest.raises(tw.errors.RemoteProtocolError) as refused:
        wire.decode([head + text, *frames[1:]], strict=True)
    assert refused.value.reason == reason


def test_strings_and_sparse_elements_are_not_wrapped():
    import json

    for tensor in (tw.strings(["a", "b"]), tw.sparse([(1,)], [5], (4,))):
        frames = [bytes(own) for own in wire.encode([tensor])]
        head, label = frames[0][:8], json.loads(frames[0][8:])
        entry = label["TENS"]["tensors"][0]
        entry["nullable"] = {"version": 1, "validity": 0, "packing": entry["packing"]}
        entry["packing"] = "nullable"
        with pytest.raises(tw.errors.RemoteProtocolError) as refused:
            wire.decode([head + json.dumps(label).encode(), *frames[1:]], strict=True)
        assert refused.value.reason == "schema"


def test_what_strict_readers_would_get_wrong_is_refused():
    with pytest.raises(tw.errors.LocalProtocolError, match="nullable"):
        wire.encode([tw.as_tensor([5, None])], compat="strict")
    assert len(wire.encode([tw.nullable([5, 6])], compat="strict")) == 3


@given(rows_with_nulls(("f8", "i8", "i2")))
def test_plain_tensors_become_nullable_by_none_alone(case):
    plain = case[0].fill_null(1)
    other = plain[:, ::-1]
    for name in (
        "sort",
        "argsort",
        "cumsum",
        "cumprod",
        "rankdata",
        "unique",
        "n_unique",
        "count",
        "sum",
        "diff",
    ):
        assert not quietly(getattr(plain.rows(), name)).is_nullable
    for name in ("max", "mean", "argmin", "first", "median"):
        found = getattr(plain.rows(), name)
        assert (quietly(lambda: found(empty=0)).is_nullable, found(empty=None).is_nullable) == (False, True)  # noqa: B023
    results = quietly(
        lambda: [plain + other, plain > other, tw.where(plain > 1, plain, other), plain[plain > 1]]
    )
    views = [
        tw.concat([plain, other]),
        tw.concat([plain, other]).rows().sort(),
        plain.pad_rows(3, fill_value=0),
    ]
    assert not any(own.is_nullable for own in (*results, *views))
    assert plain.pad_rows(3, fill_value=None).is_nullable


@pytest.mark.parametrize(
    "view",
    [
        lambda: sel.as_view(tw.zeros((3,))),
        lambda: sel.as_view(tw.zeros((3,)))[::-1],
        lambda: tw.concat([tw.zeros((1,)), tw.zeros((2,))]),
        lambda: tw.concat([tw.zeros((3,)), tw.zeros((0,))]),
        lambda: sel.as_view(tw.nullable(np.zeros(3))),
        lambda: tw.zeros((3,)),
    ],
)
def test_room_for_nulls_is_no_null_where_it_is_written(view):
    """Views of one plain tensor refused what the tensor itself, and views of two, take."""
    target = view()
    target[...] = tw.nullable(np.array([1.0, 2.0, 3.0]))
    assert target.tolist() == [1.0, 2.0, 3.0]
    target.assign(tw.nullable(np.array([4.0, 5.0, 6.0])))
    assert target.tolist() == [4.0, 5.0, 6.0]
    if not target.is_nullable:
        with pytest.raises(ConversionError, match=r"cannot store|cannot be null"):
            target.assign(tw.nullable(np.array([7.0, 8.0, 9.0]), [True, False, True]))
        assert target.tolist() == [4.0, 5.0, 6.0]


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "f4"])
def test_a_list_fills_nulls_as_it_is_assigned(dtype):
    some = tw.nullable(np.array([1, 2], dtype), [True, False])
    assert some.fill_null([3, 4]).tolist() == [1, 4]
    with pytest.raises(tw.errors.TensorWrapperError):
        some.fill_null(np.array([3, 4], "c8"))
    with pytest.raises(tw.errors.SizeOverflowError):
        some.fill_null([3, 1e300 if dtype == "f4" else 2**40])
