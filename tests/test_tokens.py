"""What Dask names values by: equal values have equal tokens, however they were made and are stored."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.buffer import StringData
from tensorwrapper.layout import Swizzle
from tensorwrapper.selection import as_view
from tensorwrapper.shape import Mask
from tensorwrapper.testing import jagged_shapes, shapes, smooth_shapes, tilings

dask_base = pytest.importorskip("dask.base")
token = dask_base.tokenize


def others(shape):
    """The same shape, stored in other ways."""
    yield shape.copy()
    yield pickle.loads(pickle.dumps(shape))
    yield Shape.from_json(shape.to_json())
    if shape.kind == "jagged":
        rows = Shape.concat([shape[: shape.origin_at(()) + k] for k in (0,)] + [shape])
        yield rows
        yield Shape.concat([shape, shape])[: shape.origin_at(()) + shape.extent_at(())]


def check(made):
    """Compare all pairs of values: equal exactly if their tokens are."""
    for one in made:
        for other in made:
            assert (one == other) == (token(one) == token(other)), (one, other)


@settings(max_examples=20)
@given(shapes(), st.data())
def test_layouts(shape, data):
    same = [s for s in others(shape) if s == shape]
    made = [Layout(s) for s in [shape, *same]]
    made += [pickle.loads(pickle.dumps(made[0])), Layout(shape, offset=3)]
    if shape.kind == "jagged":
        order = data.draw(st.permutations(range(shape.extent_at(()))))
        made += [layout.gather(0, order) for layout in made[:3]] + [Layout.padded(s) for s in [shape, *same]]
    check(made)


@settings(max_examples=20)
@given(smooth_shapes(min_rank=1, max_rank=3), st.data())
def test_layouts_of_boxes(shape, data):
    picks = data.draw(st.lists(st.integers(0, max(shape.extent(0) - 1, 0)), max_size=5)) if shape.size else []
    layout = Layout(shape)
    wide = np.array([[k, 0] for k in picks], dtype=np.int64).reshape(-1, 2)[:, 0]
    made = [
        layout.gather(0, picks),
        layout.gather(0, wide),
        pickle.loads(pickle.dumps(layout.gather(0, picks))),
    ]
    made += [layout, layout.repeat_each(0, 2), layout.rotate((1,) * shape.rank)]
    check([*made, *[m.permute(*range(shape.rank)) for m in made]])


@settings(max_examples=20)
@given(tilings())
def test_tilings(tiling):
    marks = [np.repeat(p.marks, 2)[::2] for p in tiling.partitions]
    made = [
        tiling,
        Tiling.from_marks(*marks),
        Tiling.from_marks(*[list(m) for m in marks]),
        Tiling.from_marks(*marks[:1]),
    ]
    check([*made, pickle.loads(pickle.dumps(tiling)), Tiling.from_marks(*[m[:1] for m in marks])])
    under = [Layout(t.elements).as_tiled(t) for t in made[:3]] + [Layout.tiled(t) for t in made[:3]]
    check(under)


@settings(max_examples=20)
@given(shapes(), st.data())
def test_masks(shape, data):
    size = min(shape.size, 2**10)
    chosen = data.draw(st.lists(st.integers(0, max(size - 1, 0)), unique=True)) if size else []
    made = [Mask.of_ordinals(s, chosen) for s in [shape, *others(shape)]]
    if shape.kind == "smooth" and shape.rank:
        n = shape.extent(0)
        start = shape.origin[0]
        made += [
            Mask(shape, range(start, start + n)),
            Mask(shape, list(range(start, start + n))),
            Mask(shape),
        ]
    check([*made, *[pickle.loads(pickle.dumps(m)) for m in made[:1]]])


@settings(max_examples=20)
@given(st.one_of(smooth_shapes(max_rank=3, max_extent=3), jagged_shapes(max_rank=3, max_extent=3)), st.data())
def test_indices(shape, data):
    made = [s.indices(order=order) for s in [shape, *others(shape)] for order in ("C", "F")]
    step = data.draw(st.sampled_from([1, 2, -1]))
    made += [m[::step] for m in made[:4]] + [m[1:3] for m in made[:4]]
    made.append(shape.as_smooth().indices())
    check(made)


def test_indices_of_any_size_have_a_token():
    wide, again = Shape(2**40, 2**40).indices(), Shape(2**40, 2**40).indices()
    check([wide, again, wide[1:], again[1:], wide[::-1], Shape(2**40, 2**40).indices(order="F")])
    check([Swizzle(2, 0, 2), Swizzle(2, 0, 2), Swizzle(2, 1, 2)])


def test_views_of_different_elements_have_different_tokens():
    tensor = tw.zeros(Shape(6))
    view, wide = as_view(tensor), as_view(tw.zeros(Shape(40)))
    made = [
        view[0:3],
        view[3:6],
        view[0:6:2],
        wide[0:3],
        wide.gather(0, [*range(20), 30]),
        wide.gather(0, [*range(20), 31]),
    ]
    assert len({token(v) for v in made}) == len(made)
    assert token(as_view(tensor)[0:3]) == token(view[0:3])


def test_long_strings_have_different_tokens():
    words = [str(k) for k in range(5000)]
    one, other = (StringData.from_list(w) for w in (words, [*words[:2500], "xxxx", *words[2501:]]))
    assert token(one) != token(other)
    assert token(one) == token(StringData.from_list(words))
