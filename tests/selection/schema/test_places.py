"""Views lie where they lay once they are read again, also where rows begin at different indices."""

import json

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import SelectionError

TRIANGLE = tw.from_buffer(np.arange(6), tw.Shape.triangular(3, "upper"))
ROWS = tw.jagged([[4], [5, 6]])
FAR = tw.jagged([[1, 2], [3]]).translate_to((5, -1))
BOX = tw.as_tensor(np.arange(6).reshape(2, 3)).translate_to((5, -1))

VIEWS = {
    "triangle": sel.as_view(TRIANGLE),
    "minimum of a triangle": sel.minimum(TRIANGLE, 3),
    "cast of a triangle": sel.as_view(TRIANGLE).astype("f4"),
    "where of a triangle": sel.where(sel.as_view(TRIANGLE) > 2, TRIANGLE, 0),
    "rows of a triangle": sel.minimum(TRIANGLE, 3)[1:],
    "joined from afar": sel.concat([FAR, ROWS]),
    "in turns from afar": sel.interleave([FAR, ROWS]),
    "rows joined from afar": sel.concat([FAR, ROWS])[1:3],
    "stacked": sel.stack([FAR, FAR]),
    "window": sel.as_view(FAR).window(FAR.shape.slice_outer(5, 6)),
    "minimum of rows": sel.minimum(FAR, 2),
    "named": sel.minimum(TRIANGLE, 3).named("i", "j"),
    "box": sel.minimum(BOX, 2),
    "boxes joined": sel.concat([BOX, BOX]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_that_is_read_again_lies_where_it_lay(name):
    view = VIEWS[name]
    text = sel.to_json(view)
    read = sel.from_json(text, sources=sel.sources(view))
    assert read.shape == view.shape
    assert read.compute().array_equal(view.compute())
    assert sel.to_json(read) == text


@pytest.mark.parametrize(
    "over",
    [
        None,
        3,
        {},
        {"kind": "triangular", "n": 2**62, "half": "upper", "diagonal": True},
        {"kind": "triangular", "n": 3, "half": "lower", "diagonal": True},
        {"kind": "triangular", "n": 3, "half": "upper", "diagonal": True, "names": ["i", "j"]},
        {"kind": "jagged", "extents": [3, [1, 2, 3]], "origin": [0, 0], "outer_rank": 1},
        {"kind": "smooth", "extents": [2, 3], "origin": [0, 0]},
    ],
)
def test_a_place_for_other_rows_is_refused(over):
    view = sel.minimum(TRIANGLE, 3)
    document = json.loads(sel.to_json(view))
    document["shape"]["over"] = over
    with pytest.raises(SelectionError):
        sel.from_json(json.dumps(document), sources=sel.sources(view))


def test_rows_of_what_repeats_are_bounded_before_they_are_made():
    """Where elements have no places of their own, a short text asks for as many as the box has."""
    rows, limits = tw.Shape.triangular(300), sel.SchemaLimits(positions=1000)
    repeated = sel.as_view(tw.as_tensor(7)).broadcast((300, 300)).window(rows)
    sources = sel.sources(repeated)
    assert sel.from_json(sel.to_json(repeated), sources=sources).shape == rows
    with pytest.raises(SelectionError, match="positions are allowed"):
        sel.from_json(sel.to_json(repeated), sources=sources, limits=limits)
    assert sel.from_json(sel.to_json(sel.iota(rows)), sources={}, limits=limits).shape == rows


@pytest.mark.parametrize("boundary", ["edge", "reflect", "wrap"])
def test_tiles_of_what_was_padded_and_moved_are_read_where_they_are(boundary):
    for count in (1, 3):
        padded = sel.pad(np.arange(2 * count).reshape(2, count), [(0, 0), (6 - count, 0)], boundary=boundary)
        view = padded.translate_to((0, 0)).tiled(tw.Tiling([2], [3, 3]))
        read = sel.from_json(sel.to_json(view), sources=sel.sources(view))
        assert read.shape == view.shape
        assert read.tolist() == view.tolist()
