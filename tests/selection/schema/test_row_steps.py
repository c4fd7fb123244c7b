"""Texts of views of rows: as they were when version 2 was made, and what strangers may not write."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import SelectionError, TensorWrapperError
from tests.selection.expressions.test_unary import calls_counted
from tests.support.selection.counting_source import CountingSource

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "selections.json").read_text("utf-8"))["rows"]
A = tw.jagged([[1, 2], [3], [], [4, 5, 6]])
B = tw.jagged([[7], [], [8, 9, 10]])
FOUR = np.arange(1, 5)
CELLS = tw.from_buffer(FOUR, tw.Shape.jagged([tw.Shape(1, 2), tw.Shape(2, 1)]))
NAMES: dict[str, Any] = {"a": sel.as_view(A), "b": sel.as_view(B), "sel": sel, "mask": A > 2}
NAMES["cells"] = sel.as_view(CELLS)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["view"])
def test_views_are_written_and_read_as_when_version_2_was_made(case):
    view = eval(case["view"], dict(NAMES))
    assert sel.to_json(view) == case["json"]
    # `older` has a step that changes nothing, which is no longer written.
    for text in (case["json"], case.get("older", case["json"])):
        read = sel.from_json(text, sources=sel.sources(view))
        assert read.shape == view.shape
        assert read.compute().tolist() == case["elements"]


TEXT = sel.to_json(sel.concat([A, B])[1:, ::-1])
HOSTILE = {
    "an index outside": ('["index",[1,null,null],', '["index",9,'),
    "half a slice": ("[1,null,null]", "[1,null]"),
    "a step of 0": ("[null,null,-1]", "[null,null,0]"),
    "an end of 10^40": ("[1,null,null]", f"[1,null,{10**40}]"),
    "another step": ('"index"', '"rotate"'),
    "more elements": ('"size":8', '"size":9'),
    "another kind": ('"kind":"jagged"', '"kind":"smooth"'),
    "a fact more": ('"size":8', '"more":1,"size":8'),
    "another type": ('"<i8"', '"<f8"'),
    "version 1": ('"view":2', '"view":1'),
    "a mode that is none": ('"concat":0', '"concat":2'),
    "a range": ('"shape":{', '"range":{'),
}


@pytest.mark.parametrize(("old", "new"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_refused(old, new):
    assert old in TEXT
    with pytest.raises(SelectionError):
        sel.from_json(TEXT.replace(old, new), sources={"0": A, "1": B})


LAYERS = tw.from_buffer(FOUR, tw.Shape.nested(tw.Shape(2, 2), layers=(1, 1)))
STEPS = {
    "mask": sel.as_view(A)[A > 2],
    "positions": sel.as_view(A)[tw.jagged([[-1], [0, 0], [], [2]])],
    "rows of rows": sel.as_view(A).unflatten([3, 1])[::-1],
    "rows of each": sel.as_view(A).unflatten(tw.jagged([[1, 1], [1], [], [2, 1]]), 1),
    "rows of a box": sel.as_view([[1, 2], [3, 4], [5, 6]]).unflatten([1, 0, 2]),
    "even rows": sel.as_view(A).unflatten(1, 1),
    "tiles": sel.as_view([[1, 2, 3, 4], [5, 6, 7, 8]]).tiled(tw.Tiling([1, 1], [1, 3]))[::-1, 1:],
    "tiles of a box again": sel.as_view([[1, 2, 3]]).tiled(tw.Tiling([1], [1, 2])).untiled()[:, 1:],
    "moved": sel.as_view(A).rotate((1, 0)).repeat((2, 1)).repeat_each(0, 2).reverse(-1).reverse(),
    "cells": sel.as_view(tw.jagged([[[1, 2], [3, 4]], [[5, 6]]])).permute((0, 1, 2))[:, 0],
    "cells made longer": sel.as_view(CELLS).pad_rows(3, mode=1),
    "one for each row": sel.as_view([10, 20, 30, 40]).broadcast(A.shape)[::-1],
    "one for each row of rows": sel.as_view([7, 8]).broadcast(tw.Shape.jagged([[2, 1], [0, 3]])),
    "layers": sel.as_view(LAYERS).reverse(0),
    "no layers": sel.as_view(LAYERS).flatten(),
}


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("view", STEPS.values(), ids=STEPS)
def test_every_step_of_rows_is_written_and_read(view, framed, monkeypatch):
    monkeypatch.setattr("tensorwrapper.selection.schema._write._FRAMED", 1 if framed else 1000)
    frames: list[bytes] = []
    text = sel.to_json(view, frames=frames)
    read = sel.from_json(text, sources=sel.sources(view), frames=frames)
    assert (read.shape, read.shape.outer_rank, read.dtype) == (view.shape, view.shape.outer_rank, view.dtype)
    assert read.compute().tolist() == view.compute().tolist()
    # Of a mask positions are left when it was read.
    assert "keep" in text or sel.to_json(read, frames=[]) == text


HOSTILE_STEPS = {
    "a mask beyond": ("mask", '["keep",[2,3,4,5]]', '["keep",[2,3,4,6]]'),
    "a mask that falls": ("mask", '["keep",[2,3,4,5]]', '["keep",[2,4,3,5]]'),
    "a mask before": ("mask", '["keep",[2,3,4,5]]', '["keep",[-1,3,4,5]]'),
    "a mask as an object": ("mask", '["keep",[2,3,4,5]]', '["keep",{"frame":7}]'),
    "positions outside": ("positions", '"elements":[-1,0,0,2]', '"elements":[-1,0,0,3]'),
    "positions before": ("positions", '"elements":[-1,0,0,2]', '"elements":[-3,0,0,2]'),
    "positions of fewer rows": ("positions", '"splits":[[0,1,3,3,4]]', '"splits":[[0,1,3,4]]'),
    "splits that fall": ("positions", '"splits":[[0,1,3,3,4]]', '"splits":[[0,3,1,3,4]]'),
    "splits that begin late": ("positions", '"splits":[[0,1,3,3,4]]', '"splits":[[1,1,3,3,4]]'),
    "splits of more": ("positions", '"splits":[[0,1,3,3,4]]', '"splits":[[0,1,3,3,5]]'),
    "no splits": ("positions", '"splits":[[0,1,3,3,4]]', '"splits":[]'),
    "a field more": ("positions", '"splits":[[0,1,3,3,4]]', '"more":1,"splits":[[0,1,3,3,4]]'),
    "counts of more rows": ("rows of rows", "[3,1]", "[3,2]"),
    "negative counts": ("rows of rows", "[3,1]", "[5,-1]"),
    "counts of 2^62": ("rows of rows", "[3,1]", f"[{2**62},{2**62}]"),
    "counts in words": ("rows of rows", "[3,1]", '"3,1"'),
    "rows of none": ("even rows", '["unflatten",1,1]', '["unflatten",1,0]'),
    "rows of a mode that is none": ("even rows", '["unflatten",1,1]', '["unflatten",5,1]'),
    "negative tiles": ("tiles", "[1,3]", "[5,-1]"),
    "tiles outside": ("tiles", "[1,3]", "[1,4]"),
    "tiles of one mode": ("tiles", ",[1,3]]", "]"),
    "repeats beyond": ("moved", '["repeat",[2,1]]', f'["repeat",[{2**40},1]]'),
    "repeats inside rows": ("moved", '["repeat",[2,1]]', '["repeat",[2,2]]'),
    "each beyond": ("moved", '["repeat_each",0,2]', f'["repeat_each",0,{2**50}]'),
    "a turn inside rows": ("moved", '["rotate",[1,0]]', '["rotate",[1,1]]'),
    "an order that is none": ("cells", '["permute",[0,1,2]]', '["permute",[0,1,1]]'),
    "cells longer by far": ("cells made longer", '"pad_cells":3', f'"pad_cells":{2**50}'),
    "cells of no mode": ("cells made longer", '"mode":1', '"mode":3'),
    "cells of the rows": ("cells made longer", '"mode":1', '"mode":0'),
    "one row too many": ("one for each row", "[2,1,0,3]", "[2,1,0,2,1]"),
    "a step of no name": ("one for each row", '["unflatten"', '[["unflatten"]'),
}


@pytest.mark.parametrize(("name", "old", "new"), HOSTILE_STEPS.values(), ids=HOSTILE_STEPS)
def test_hostile_steps_of_rows_are_refused(name, old, new):
    view = STEPS[name]
    text = sel.to_json(view)
    assert old in text
    with pytest.raises(SelectionError):
        sel.from_json(text.replace(old, new), sources=sel.sources(view))


def test_rows_that_are_padded_beyond_the_limit_are_refused_before_they_are_made():
    text = sel.to_json(sel.as_view(A).pad_rows(3)).replace('"pad_rows":3', f'"pad_rows":{2**44}')
    with pytest.raises(SelectionError, match="bytes"):
        sel.from_json(text, sources={"0": A})


SHAPES = {
    "rows": tw.Shape.jagged([2, 1, 0, 3]),
    "rows of rows": tw.Shape.from_offsets([0, 1, 2, 4, 4], [0, 2, 3, 3, 6]),
    "cells": tw.Shape.jagged([tw.Shape(2, 2), tw.Shape(1, 3), tw.Shape(3, 1), tw.Shape(0, 2)]),
    "tiles": tw.Shape.tiled([1, 3], [2, 2]),
    "layers": tw.Shape.nested(tw.Shape(4, 3), layers=(1, 1)),
    "layers of rows": tw.Shape.nested(tw.Shape.jagged([2, 1, 0, 3]), layers=(1, 1)),
    "triangle": tw.Shape.triangular(4),
    "elsewhere": tw.Shape.jagged([2, 1, 0, 3]).translate_to((5, -1)),
}


def back(view):
    frames: list[bytes] = []
    text = sel.to_json(view, frames=frames)
    read = sel.from_json(text, sources=sel.sources(view), frames=frames)
    assert read.shape == view.shape
    assert read.compute().tolist() == view.compute().tolist()
    return json.loads(text)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_one_number_for_each_row_of_any_shape_comes_back(shape):
    back(sel.as_view(np.arange(shape.extent(0))).broadcast(shape))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_windows_of_rows_come_back_where_they_lie(shape):
    view = sel.as_view(tw.from_buffer(np.arange(shape.size), shape))
    first, count = shape.origin_at(()), shape.extent(0)
    for low in range(first, first + count):
        window = view.window(shape.slice_outer(low, first + count))
        assert window.shape.origin_at(()) == low
        back(window)


def test_a_window_inside_one_row_comes_back():
    shape = tw.Shape.jagged([2, 9, 3])
    view = sel.as_view(tw.from_buffer(np.arange(14), shape))
    regions = [region for region, _ in view.blocks(24)]
    assert any(region.extent(0) == 1 and region.extent_at((1,)) == 3 for region in regions[1:3])
    for region in regions:
        back(view.window(region))


SPREAD = sel.to_json(sel.as_view(np.arange(2)).broadcast(tw.Shape.tiled([1, 3], [2, 2])))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"spread_over":{', '"spread_over":{"more":1,'),
        ('"spread_over":{', '"spread_over":[{'),
        ("[2,2]", "[2,2,2]"),
        ("[2,2]", f"[{2**62},{2**62}]"),
        ("[1,3]", "[1,1,2]"),
        ("[1,3]", "[1,-3]"),
    ],
)
def test_shapes_that_strangers_spread_over_are_looked_at(old, new):
    assert old in SPREAD
    text = SPREAD.replace(old, new, 1)
    with pytest.raises(SelectionError):
        sel.from_json(text.replace("}}", "}]}", 1) if "[{" in new else text, sources={"0": np.arange(2)})


def test_rows_that_were_padded_to_a_box_are_written():
    view = sel.as_view(A).pad_rows(2, fill_value=9, clip=True)
    for made in (view, view[1:, ::-1], sel.concat([view, view])):
        text = sel.to_json(made)
        assert json.loads(text)["view"] == 2
        read = sel.from_json(text, sources=sel.sources(made))
        assert (read.shape, read.tolist()) == (made.shape, made.tolist())


def test_more_tiles_than_modes_are_written_and_read():
    box = sel.as_view(np.arange(400).reshape(100, 4))
    view = box.tiled(tw.Tiling([1] * 100, [3, 1]))[::-1]
    for frames in (None, []):
        text = sel.to_json(view, frames=frames)
        read = sel.from_json(text, sources=sel.sources(view), frames=frames or ())
        assert (read.shape, read.tolist()) == (view.shape, view.tolist())


# Rows without elements take no bytes of elements, and memory all the same.
EMPTY = tw.from_buffer(np.zeros(0), tw.Shape.from_offsets([0, 100], [0] * 101))
FEW = sel.SchemaLimits(positions=1 << 12)
GROWING = {
    "repeat": [["repeat", [100, 1, 1]]],
    "repeat a little, often": [["repeat", [30, 1, 1]], ["repeat", [3, 1, 1]]],
    "repeat each": [["repeat_each", 0, 100]],
    "repeat 2^61": [["repeat", [1 << 61, 1, 1]]],
    "gather": [["gather", 0, [0] * 100]],
    "gather inside": [["gather", 1, [5, 5, 7] * 1000]],
    "new modes": [["repeat", [20, 1, 1]], ["index", "new"], ["index", "new"]],
}


@pytest.mark.parametrize("ops", GROWING.values(), ids=GROWING)
def test_rows_without_elements_are_not_made_without_end(ops):
    shape = {"kind": "jagged", "rank": 3, "outer": 2, "extent": 1, "size": 0}
    text = json.dumps({"view": 2, "dtype": "<f8", "of": {"source": "0"}, "ops": ops, "shape": shape})
    with pytest.raises(SelectionError) as caught:
        sel.from_json(text, sources={"0": EMPTY}, limits=FEW)
    assert caught.value.reason == "limit"


def test_grids_of_tiles_without_elements_are_counted_before_they_are_made():
    ops = [["tiled", [[0] * 100, [0] * 100]], ["reverse", [0]]]
    shape = {"kind": "jagged", "rank": 4, "outer": 2, "extent": 100, "size": 0}
    text = json.dumps({"view": 2, "dtype": "<f8", "of": {"source": "0"}, "ops": ops, "shape": shape})
    with pytest.raises(SelectionError) as caught:
        sel.from_json(text, sources={"0": np.zeros((0, 0))}, limits=FEW)
    assert caught.value.reason == "limit"


@pytest.mark.parametrize("kind", ["concat", "stack", "interleave"])
@pytest.mark.parametrize("mode", [0, 1])
def test_nodes_that_use_the_one_before_twice_do_not_double_rows_without_end(kind, mode):
    nodes = [{"of": {"source": "0"}}]
    nodes += [{"of": {kind: mode, "parts": [{"of": {"number": k}}] * 2}} for k in range(20)]
    shape = {"kind": "jagged", "rank": 3, "outer": 2, "extent": 1, "size": 0}
    text = json.dumps({"view": 2, "dtype": "<f8", "of": {"number": 20}, "nodes": nodes, "shape": shape})
    with pytest.raises(SelectionError) as caught:
        sel.from_json(text, sources={"0": EMPTY}, limits=FEW)
    assert caught.value.reason == ("bounds" if (kind, mode) == ("interleave", 1) else "limit")


def test_views_of_more_elements_than_positions_are_read():
    rows = tw.from_buffer(np.zeros(10_000, "i1"), tw.Shape.jagged([5000, 5000]))
    view = sel.where(rows == 0, sel.concat([rows, rows])[:2], rows)
    sources = sel.sources(view)
    assert sel.from_json(sel.to_json(view), sources=sources, limits=FEW).shape == view.shape


def test_boxes_of_all_elements_of_rows_elsewhere_are_not_the_rows():
    source = CountingSource(tw.jagged([[1, 2], [3], []]))
    flat = sel.as_view(source).flatten()
    read = sel.from_json(sel.to_json(flat, form="normal"), sources={"0": source})
    for view in (flat, read, read[:, None], sel.stack([read, read[::-1]], mode=1), read.optimize()[1:]):
        again = sel.from_json(sel.to_json(view), sources=sel.sources(view))
        assert (again.shape, again.tolist()) == (view.shape, view.tolist())


@pytest.mark.parametrize(
    ("make", "version"),
    [
        (lambda a: a[3], 1),
        (lambda a: a.flatten()[1:], 1),
        (lambda a: a[:, :1][[0, 1, 3], 0], 1),
        (lambda a: sel.concat([a, a])[3], 2),
        (lambda a: a.pad_rows(2, clip=True)[:, -1], 2),
    ],
)
def test_a_box_left_of_rows_is_read_as_either_version(make, version):
    view = make(sel.as_view(A))
    text = sel.to_json(view)
    assert f'"view":{version}' in text
    other = text.replace(f'"view":{version}', f'"view":{3 - version}')
    for own in (text, other):
        assert sel.from_json(own, sources=sel.sources(view)).compute().tolist() == view.compute().tolist()


def test_reading_many_steps_takes_as_long_for_each():
    counts = []
    for n in (50, 100):
        view = sel.as_view(A)
        for k in range(n):
            view = view[::-1] if k % 2 else view[:, ::-1]
        text = sel.to_json(view)
        assert sel.from_json(text, sources={"0": A}).compute().tolist() == view.compute().tolist()
        with calls_counted() as calls:
            sel.from_json(text, sources={"0": A})
        counts.append(calls[0])
    assert counts[1] < 2.2 * counts[0]


@pytest.mark.parametrize("modes", [(), ((),), ([0],), (np.array([0, 1]),), (range(1),)], ids=repr)
def test_steps_say_modes_and_numbers_however_they_were_given(modes):
    """An array of them ended with an error of Python, and a sequence of none became all."""
    steps = [sel.as_view(A).reverse(*modes), sel.as_view(A).rotate(np.array([1, 0]))]
    for view in [*steps, sel.concat([A, B]).repeat(np.array([2, 1]))]:
        read = sel.from_json(sel.to_json(view), sources=sel.sources(view))
        assert read.shape == view.shape
        assert read.compute().tolist() == view.compute().tolist()


@pytest.mark.parametrize(
    "view", [A, sel.as_view(A)[::-1], sel.concat([A, B]), CELLS, sel.as_view(CELLS)[::-1]]
)
@pytest.mark.parametrize("first", [-3, 0, 5])
def test_rows_that_were_read_to_begin_elsewhere_are_written_again(view, first):
    """They were the elements in order, under other rows, which no text can say."""
    moved = sel.as_view(view).translate_to([first] * view.shape.rank)
    text = sel.to_json(moved)
    read = sel.from_json(text, sources=sel.sources(moved))
    assert read.shape == moved.shape
    assert read.compute().tolist() == view.tolist()
    assert sel.to_json(read) == text


FAR = st.sampled_from([None, 0, 1, -1, *[sign * end for sign in (1, -1) for end in (2**62, 2**63, 10**30)]])
SLICES = st.builds(slice, FAR, FAR, FAR.filter(lambda step: step != 0))
OF_EVERY_KIND = [
    A,
    tw.jagged([[1, 2], [3, 4]]),
    CELLS,
    LAYERS,
    tw.as_tensor([[1, 2, 3], [4, 5, 6]]),
    tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [2, 1])),
    tw.strings([["a"], ["b", "a"]]),
    tw.jagged([[[1], [2, 3]], [[4]]]),
]


@pytest.mark.parametrize("tensor", OF_EVERY_KIND, ids=repr)
@given(data=st.data())
def test_far_ends_and_turns_are_written_so_that_they_are_read(tensor, data):
    view = sel.as_view(tensor)
    try:
        if data.draw(st.booleans()):
            view = view[tuple(data.draw(st.lists(SLICES, min_size=1, max_size=tensor.rank)))]
        else:
            view = view.rotate(data.draw(st.tuples(*[FAR.map(lambda n: n or 0)] * tensor.rank)))
        found = view.compute()
    except (TensorWrapperError, IndexError):
        return
    read = sel.from_json(sel.to_json(view), sources=sel.sources(view))
    assert read.shape == view.shape
    assert read.compute().tolist() == found.tolist()
