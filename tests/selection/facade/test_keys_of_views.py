"""What a key selects of a tensor it selects of a view of it: values, shapes, names of modes and origins."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import OutOfBoundsError


def as_it_is(t):
    return t


def joined(t):
    return sel.concat([t[:1], t[1:]])


VIEWS = [sel.as_view, joined]
BOX = tw.as_tensor(np.arange(6).reshape(2, 3)).named("event", "hit")
ROWS = tw.jagged([[1, 2, 3], [4, 5]]).named("event", "hit")
STRINGS = tw.strings([["a", "b", "c"], ["d", "e", "f"]])
SPARSE = tw.sparse([(0, 1), (1, 2)], [5, 7], (2, 3))
MASK = tw.from_buffer(np.array([True, False, True, False, True]), Shape.jagged([3, 2]))
WHOLE = tw.from_buffer(np.array([True, False, True, False, False, True]), Shape.jagged([3, 3]))
PLACES = tw.jagged([[2, 0, -1], [1]])

KEYS = {
    "rows": (lambda t: t.oindex[[1, 0]], [BOX, ROWS, STRINGS, SPARSE]),
    "rows by a tensor": (lambda t: t.oindex[tw.as_tensor([1])], [BOX, ROWS, STRINGS, SPARSE]),
    "rows by a view": (lambda t: t.oindex[sel.as_view([1])], [BOX, ROWS, STRINGS, SPARSE]),
    "rows and a part of each": (lambda t: t.oindex[[1, 0, 1], :1], [BOX, ROWS]),
    "a mask of rows": (lambda t: t[MASK], [ROWS]),
    "a view as mask": (lambda t: t[sel.as_view(MASK)], [ROWS]),
    "oindex by a mask of rows": (lambda t: t.oindex[MASK], [ROWS]),
    "a mask of rows of a box": (lambda t: t[WHOLE], [BOX, STRINGS, SPARSE]),
    "places in rows": (lambda t: t[PLACES], [BOX, ROWS, STRINGS, SPARSE]),
    "a view of places": (lambda t: t[sel.as_view(PLACES)], [BOX, ROWS, STRINGS, SPARSE]),
    "oindex by places": (lambda t: t.oindex[PLACES], [BOX, ROWS, STRINGS, SPARSE]),
    "gathered by a tensor": (lambda t: t.gather(0, tw.as_tensor([1, 0])), [BOX, ROWS, STRINGS, SPARSE]),
    "gathered by a view": (lambda t: t.gather(0, sel.as_view([1, 0])), [BOX, ROWS, STRINGS, SPARSE]),
    "flattened": (lambda t: t.flatten(), [BOX, ROWS]),
    "flattened from elsewhere": (lambda t: t.translate_to((4, 7)).flatten(1), [BOX]),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("select", "tensor"), [(f, t) for f, ts in KEYS.values() for t in ts])
def test_a_view_selects_what_its_tensor_selects(select, tensor, view):
    expected, found = select(tensor), select(view(tensor))
    assert found.shape == expected.shape
    assert found.shape.names == expected.shape.names
    assert found.tolist() == expected.tolist()
    assert sel.from_json(sel.to_json(found), sources=sel.sources(found)).tolist() == expected.tolist()


def test_flatten_of_a_mode_further_in_starts_at_zero():
    t = tw.as_tensor(np.arange(12).reshape(2, 3, 2)).translate_to((2, 3, 4))
    for mode in (1, 2):
        assert sel.as_view(t).flatten(mode).shape == t.flatten(mode).shape


@given(
    st.lists(st.lists(st.integers(-4, 3), max_size=4), min_size=3, max_size=3),
    st.sampled_from([as_it_is, sel.as_view, joined]),
)
def test_places_in_the_rows_of_a_box_are_those_of_lists(places, see):
    """Against lists: a box has rows as well, and what is selected of them is written to."""
    x = np.arange(12).reshape(3, 4)
    key = tw.from_buffer(
        np.array([p for row in places for p in row], dtype=np.int64),
        Shape.jagged([len(row) for row in places]),
    )
    rows, expected = x.tolist(), [[row[p] for p in own] for row, own in zip(x.tolist(), places, strict=True)]
    t = tw.as_tensor(x)
    assert see(t)[key].tolist() == expected
    if all(len({p % 4 for p in own}) == len(own) for own in places):
        see(t)[key] = -1
        for row, own in zip(rows, places, strict=True):
            for p in own:
                row[p] = -1
        assert x.tolist() == rows


@pytest.mark.parametrize("shape", [Shape(3), Shape(0), Shape(3, origin=(2,)), Shape()], ids=str)
@pytest.mark.parametrize("layers", [(0, None), (None, 0), (0, None, 0)], ids=str)
def test_layers_over_a_vector_or_a_number_are_no_rows(shape, layers):
    """They were asked for row splits, which a shape of rank 2 has: neither `interleave` nor JSON worked."""
    nested = Shape.nested(shape, layers=tuple(shape.rank if n is None else n for n in layers))
    t = tw.from_buffer(np.arange(shape.size), nested)
    views = [sel.as_view(t), *([sel.interleave([t, t]), sel.as_view(t)[::-1]] if shape.rank else [])]
    for v in views:
        back = sel.from_json(sel.to_json(v), sources=sel.sources(v))
        assert (back.shape, back.tolist()) == (v.shape, v.tolist())
    if shape.rank:
        assert views[1].tolist() == [k for k in range(shape.size) for _ in range(2)]
    expected = np.add(np.arange(shape.size), 1).tolist()
    t += 1
    assert (t + 0).shape == nested
    assert t.elements().tolist() == expected


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("rest", [slice(None), slice(3, None, 2), slice(None, None, -1)])
def test_positions_of_one_mode_of_many_elements_are_those_of_numpy(mode, rest):
    array = np.arange(20 * 24 * 22).reshape(20, 24, 22)
    positions = np.random.default_rng(0).integers(-20, 20, 37)
    key = tuple(positions if m == mode else rest for m in range(3))
    view = sel.as_view(array)
    assert np.array_equal(view[key].compute(), array[key])
    assert np.array_equal(view[key[: mode + 1]].compute(), array[key[: mode + 1]])
    assert np.array_equal(view.named("a", "b", "c")[key].compute(), array[key])
    with pytest.raises(OutOfBoundsError):
        view[(slice(None),) * mode + (np.append(positions, 24),)]


def test_a_permutation_of_rows_takes_no_place_for_each_element():
    array = np.zeros((500, 2000))
    view = sel.as_view(array)
    order = np.random.default_rng(0).permutation(500)
    tracemalloc.start()
    picked = view[order]
    picked.plan()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < array.nbytes / 8
