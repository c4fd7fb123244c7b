"""Laws of records, over shapes of all kinds, types and layouts: each field is what it would be alone."""

import operator
import pickle
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel

KINDS = ["f8", "f4", "f2", "i8", "i4", "u1", "?", "m8[s]"]


@st.composite
def elements(draw, size):
    """So many elements of some type."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.integers(0, draw(st.sampled_from([2, 100])), size).astype(draw(st.sampled_from(KINDS)))


@st.composite
def fields(draw, shape, rows):
    """A tensor, or a view, of the elements of a shape that begins with `rows` entries."""
    flat = draw(elements(shape.size))
    tensor = tw.from_buffer(flat, shape)
    form = draw(st.sampled_from(["packed", "reversed", "gathered", "view"]))
    if form == "reversed":
        return tensor[::-1].copy()[::-1]  # places of its own, and the same shape
    if form == "gathered" and rows:
        order = np.arange(rows)
        return tensor.gather(0, order[::-1]).copy().gather(0, order[::-1])
    return sel.as_view(tensor) if form == "view" else tensor


@st.composite
def records(draw):
    """Records of one to three modes with prefix fields, fields of more modes, strings and views."""
    lengths = draw(st.lists(st.integers(0, 4) | st.sampled_from([0, 40]), min_size=1, max_size=6))
    kind = draw(st.sampled_from(["box", "matrix", "rows", "deep"]))
    inner = draw(st.lists(st.integers(0, 3), min_size=sum(lengths), max_size=sum(lengths)))
    n = len(lengths)
    shape = {
        "box": lambda: tw.Shape(n),
        "matrix": lambda: tw.Shape(n, 3),
        "rows": lambda: tw.Shape.jagged(lengths),
        "deep": lambda: (
            tw.from_buffer(np.zeros(sum(inner)), tw.Shape(sum(inner)))
            .unflatten(inner)
            .unflatten(lengths)
            .shape
        ),
    }[kind]()
    made = {f"f{k}": draw(fields(shape, n)) for k in range(draw(st.integers(1, 3)))}
    made["run"] = draw(fields(tw.Shape(n), n))
    if draw(st.booleans()):
        more = {
            "box": tw.Shape(n, 2),
            "matrix": tw.Shape(n, 3, 2),
            "rows": tw.Shape.from_cells((n,), [(length, 2) for length in lengths]),
            "deep": shape,
        }[kind]
        made["more"] = draw(fields(more, n))
    if draw(st.booleans()):
        made["text"] = tw.strings([f"row {k}" for k in range(n)])
    return tw.records(made, shape=shape)


@st.composite
def keys(draw, r):
    """A key for the modes of records; and how many of these each part of it takes, or None of rows."""
    n = len(r)
    positions = st.integers(-n, n - 1)
    first = draw(
        st.sampled_from(["int", "slice", "list", "mask", "rows", "mask of rows"])
        if r.rank > 1
        else st.sampled_from(["int", "slice", "list", "mask"])
    )
    if first in ("rows", "mask of rows") and not r.shape.is_box:
        part = r.shape.leading(2)
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        if first == "mask of rows":
            return tw.from_buffer(rng.random(part.size) < 0.5, part)
        counts = part.lengths(1)
        wanted = np.where(counts > 0, rng.integers(0, 4, n), 0)
        flat = rng.integers(0, np.repeat(counts, wanted)) if wanted.sum() else np.zeros(0, "i8")
        return tw.from_buffer(flat, tw.Shape.jagged(wanted))
    own = {
        "int": positions,
        "slice": st.slices(n),
        "list": st.lists(positions, max_size=5).map(lambda given: np.array(given, "i8")),
        "mask": st.lists(st.booleans(), min_size=n, max_size=n).map(np.array),
    }
    item = draw(own.get(first, own["slice"]))
    form = draw(st.sampled_from(["alone", "tuple", "dots", "second"]))
    if form == "second" and r.rank > 1:
        return (item, draw(st.sampled_from([slice(None, None, -1), slice(0, 2), slice(1, None)])))
    return {"tuple": (item,), "dots": (item, ...), "second": (item,), "alone": item}[form]


def first_parts(key, modes):
    """Return the parts of a key for the first modes: a key of rows leaves a field of one mode alone."""
    if isinstance(key, tw.Tensor):
        return key if modes >= key.rank else ()
    items = key if isinstance(key, tuple) else (key,)
    return tuple(item for item in items if item is not ...)[:modes]


@given(st.data())
def test_a_key_selects_of_each_field_what_it_selects_of_it_alone(data):
    r = data.draw(records())
    key = data.draw(keys(r))

    found = r[key]

    for name, field in r.items():
        alone = field[first_parts(key, field.rank)] if field.rank < r.rank else field[key]
        assert found[name].shape == alone.shape
        assert found[name].tolist() == alone.tolist()
        assert found[name].dtype == alone.dtype
    assert_shared(found)
    assert found.names == r.names


def assert_shared(r):
    """Fields of equal shapes have one object for it, which is that of the records if it is theirs."""
    for one in r.values():
        for two in r.values():
            if not one.shape.is_box and one.shape == two.shape:
                assert one.shape is two.shape
        if not one.shape.is_box and one.shape == r.shape:
            assert one.shape is r.shape
        modes = min(one.rank, r.rank)
        assert one.shape.leading(modes) == r.shape.leading(modes)


@given(records())
def test_what_is_made_of_records_shares_its_shape(r):
    made = [
        r[::-1],
        r.compute(),
        r.copy(),
        pickle.loads(pickle.dumps(r)),
        tw.concat([r, r]),
        tw.stack([r, r]),
    ]
    made += [tw.concat([r, r]).compute(), r.with_field("f0", r["f0"]), r.rename({"f0": "a"})]
    if r.rank > 1:
        made.append(r.flatten())
    if r["f0"].dtype.kind != "m":
        made += [r.sort_by("f0"), r.top_k("f0", 2)]
    for own in made:
        assert_shared(own)


@given(st.data())
def test_rows_of_rows_are_rows(data):
    r = data.draw(records())
    n = len(r)
    first = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=5)))
    second = np.array(data.draw(st.lists(st.integers(0, len(first) - 1), max_size=5)), "i8")

    assert r[first][second].array_equal(r[first[second]])
    assert r[first][::-1].array_equal(r[first[::-1]])


@given(st.data())
def test_a_slice_of_a_concat_is_a_concat_of_slices(data):
    r = data.draw(records())
    cut = data.draw(st.integers(0, len(r)))

    joined = tw.concat([r[:cut], r[cut:]])

    assert joined.compute().array_equal(r)
    low, high = sorted(data.draw(st.tuples(*[st.integers(0, len(r))] * 2)))
    parts = tw.concat([r[low : max(cut, low)][: high - low], r[max(cut, low) : high]])
    assert joined[low:high].compute().array_equal(parts.compute())


@given(records())
def test_fields_and_names_there_and_back_are_the_same(r):
    assert r.with_field("f0", r["f0"]).array_equal(r)
    assert r.rename({"f0": "other"}).rename({"other": "f0"}).array_equal(r)
    assert tw.records(dict(r), shape=r.shape).array_equal(r)
    assert pickle.loads(pickle.dumps(r)).array_equal(r)
    assert r.compute().array_equal(r)
    assert r[list(r.names[::-1])][list(r.names)].array_equal(r)


@given(records())
def test_lists_of_rows_are_what_rows_are(r):
    assert r.tolist() == [row.to_dict() for row in r]


@given(st.data())
def test_a_row_is_sorted_with_all_fields(data):
    r = data.draw(records())
    if r["f0"].dtype.kind == "m":
        return
    found, down = r.sort_by("f0"), data.draw(st.booleans())
    assert r["f0"].rows().sort().array_equal(found["f0"])
    places = r.with_field("at", tw.from_buffer(np.arange(r.size), r.shape))
    order = places.sort_by("f0", descending=down)["at"]
    flat = r["f0"].elements()
    assert np.array_equal(flat[order.elements()], r["f0"].rows().sort(descending=down).elements())
    assert np.array_equal(r["run"].elements(), places.sort_by("f0")["run"].elements()) or r.rank == 1
    k = data.draw(st.integers(0, 5))
    best = places.top_k("f0", k)["at"]
    assert best.tolist() == (places.sort_by("f0", descending=True)[..., :k]["at"].tolist())


@given(st.data())
def test_groups_have_all_rows_of_their_key_in_order(data):
    n = data.draw(st.integers(0, 20))
    key = data.draw(elements(n))
    r = tw.records({"at": np.arange(n), "key": key, "row": tw.from_buffer(np.arange(n), (n, 1))}, shape=(n,))

    found = r.group_by("key")

    wanted = sorted(set(key.tolist()))
    assert found["key"].tolist() == wanted
    assert found["at"].tolist() == [[k for k in range(n) if key.tolist()[k] == own] for own in wanted]
    assert found["row"].tolist() == [[r["row"].tolist()[k] for k in own] for own in found["at"].tolist()]
    assert found.names == r.names


@given(records())
def test_flatten_repeats_what_has_one_element_for_each_row(r):
    if r.rank < 2:
        return
    found = r.flatten()

    assert found["f0"].tolist() == reduce(operator.add, r["f0"].tolist(), [])
    lengths = [len(row) for row in r["f0"].tolist()]
    assert found["run"].tolist() == np.repeat(r["run"].elements(), lengths).tolist()
    assert found.rank == r.rank - 1


@given(records(), st.data())
def test_a_mask_of_rows_chooses_whole_rows(r, data):
    if any(own.dtype.kind == "T" for own in r.values()):
        return
    mask = data.draw(st.lists(st.booleans(), min_size=len(r), max_size=len(r)))
    other = tw.records(
        {name: tw.from_buffer(own.elements()[::-1].copy(), own.shape) for name, own in r.items()},
        shape=r.shape,
    )

    found = tw.where(mask, r, other).compute()

    rows = zip(mask, r.tolist(), other.tolist(), strict=True)
    assert found.tolist() == [one if chosen else two for chosen, one, two in rows]


def test_views_of_the_same_elements_are_computed_once():
    reads = []

    class Counting:
        shape, dtype = (4,), np.dtype("i8")

        def __getitem__(self, key):
            reads.append(key)
            return np.arange(4)[key]

    source = sel.as_view(Counting())
    r = tw.records({"a": source, "b": source, "c": source[::-1]})

    found = r.compute()

    assert found.to_dict() == {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3], "c": [3, 2, 1, 0]}
    assert len(reads) == 2
    found["a"][0] = 9
    assert found["b"].tolist() == [0, 1, 2, 3]
    assert r.plan().nbytes == 96
    assert r.plan().bytes_read == 64
    assert len(r.plan().reads) == 1


@pytest.mark.parametrize("n", [1, 2])
def test_rows_long_and_short_are_gathered_alike(n):
    rng = np.random.default_rng(0)
    for lengths in ([3] * 20, [600] * 5, [513, 511, 0, 513], [0, 0], [5000, 1]):
        shape = tw.Shape.jagged(lengths)
        r = tw.records({f"f{k}": tw.from_buffer(rng.random(shape.size), shape) for k in range(n)})
        order = rng.integers(0, len(lengths), 2 * len(lengths))
        assert all(r[order][name].array_equal(own[order]) for name, own in r.items())


@pytest.mark.parametrize(
    "key", [slice(1, 3), [2, 0], (slice(None), slice(0, 1)), [True, False, True], "rows"], ids=str
)
def test_views_of_one_layout_are_selected_from_once(key):
    one, two = tw.jagged([[5, 1, 7], [], [2, 9]]), tw.jagged([[1.5, 2.5, 3.5], [], [4.5, 5.5]])
    key = tw.jagged([[True, False, True], [], [True, True]]) if key == "rows" else key
    views = {
        "a": sel.as_view(one),
        "b": sel.as_view(two),
        "c": sel.as_view(one)[::-1][::-1],
        "d": sel.where(two > 2, two, 0.0),
        "e": -two,
    }
    r = tw.records(views)

    found = r[key]

    assert found["a"].expression.layout is found["b"].expression.layout
    assert all(own.shape is found.shape for own in found.values())
    assert found["e"].array_equal(views.pop("e")[key])
    for name, view in views.items():
        assert found[name].compute().array_equal(view[key].compute())
        assert str(found[name].explain()) == str(r[name][key].explain())
        assert pickle.loads(pickle.dumps(found[name])).compute().array_equal(view[key].compute())
    again = found[:1]
    assert again["a"].expression.layout is again["b"].expression.layout
    wanted = {name: view[key][:1].compute().tolist() for name, view in views.items()}
    assert again.drop("e").compute().to_dict() == wanted


@given(records())
def test_a_pickle_has_elements_and_each_shape_once(r):
    large = tw.concat([r] * 50).compute()
    fields = {f"{name}{k}": own for k in range(3) for name, own in large.items()}
    r = tw.records(fields, shape=large.shape)

    for made in (r, r[::-1].copy(), r[np.arange(len(r))[::2]], r[: len(r) // 2]):
        shapes = {id(own.shape): own.shape for own in made.values() if not own.shape.is_box}.values()
        elements = sum(own.copy().elements().nbytes for own in made.values() if own.dtype.kind != "T")
        texts = sum(own.nbytes for own in made.values() if own.dtype.kind == "T")
        rows = sum(len(pickle.dumps(shape)) for shape in shapes)
        assert len(pickle.dumps(made, protocol=5)) <= elements + texts + rows + 400 * len(fields) + 2000
