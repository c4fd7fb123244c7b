"""What notebooks show of shapes and tilings: their text, a few facts, the picture."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tensorwrapper import Shape, Tiling


def facts_of(value):
    root = ET.fromstring(value._repr_html_())
    return {row[0].text: row[1].text for row in root.iter("tr")}


@pytest.mark.parametrize(
    ("shape", "facts"),
    [
        (Shape(2, 3), {"kind": "smooth", "rank": "2", "size": "6"}),
        (
            Shape.jagged([3, 1, 2]),
            {
                "kind": "jagged",
                "rank": "2",
                "size": "6",
                "padding": "3 (33 % of the bounding box)",
                "memory": "32 B",
            },
        ),
        (
            Shape.jagged([2, 2]),
            {"kind": "jagged", "rank": "2", "size": "4", "padding": "0", "memory": "24 B"},
        ),
        (
            Shape.tiled([5, 15], [4]),
            {
                "kind": "jagged, tiled",
                "rank": "4",
                "size": "80",
                "padding": "40 (33 % of the bounding box)",
                "memory": "40 B",
            },
        ),
        (
            Shape.nested(Shape(1000, 20, 30), layers=(1, 2)),
            {"kind": "nested", "rank": "3", "layers": "(1, 2)", "size": "600,000"},
        ),
        (
            Shape.triangular(3),
            {"kind": "jagged", "rank": "2", "size": "6", "padding": "3 (33 % of the bounding box)"},
        ),
    ],
)
def test_a_shape_tells_its_facts(shape, facts):
    assert facts_of(shape) == facts


def test_a_view_says_that_its_memory_is_shared():
    assert facts_of(Shape.jagged([3, 1, 2])[1:])["memory"] == "a view of 32 B"
    assert facts_of(Shape.jagged([3, 1, 2])[1:].copy())["memory"] == "24 B"


def test_rows_that_are_one_row_in_memory_are_counted_once():
    shape = Shape.from_cells((1000,), np.broadcast_to([2, 3], (1000, 2)))

    assert facts_of(shape)["memory"] == "16 B"


def test_a_tiling_tells_its_facts():
    assert facts_of(Tiling([5, 15, 10], [4, 8], origin=(100, 0))) == {
        "tiles": "6",
        "elements": "360",
        "mode 0": "[5, 15, 10] from 100",
        "mode 1": "[4, 8] from 0",
        "memory": "56 B",
    }


@pytest.mark.parametrize(
    "value", [Shape(2, 3), Shape.jagged([3, 1, 2]), Tiling([1, 2], [3]), Shape(), Tiling()]
)
def test_text_and_picture_stand_in_one_block(value):
    root = ET.fromstring(value._repr_html_())

    assert root.tag == "div"
    assert root.findtext("code") == (repr(value) if isinstance(value, Tiling) else str(value))
    assert value.to_svg() in value._repr_html_()
    # Light paper and dark ink of its own, so that a dark notebook does not hide it.
    assert "background:#ffffff;color:#1f2933" in root.get("style")


def test_long_text_is_cut_short():
    shape = Shape.nested(Shape.jagged([[k] * 12 for k in range(10**9, 10**9 + 12)]), layers=(1, 2))
    text = ET.fromstring(shape._repr_html_()).findtext("code")

    assert len(text) <= 100
    assert str(shape).startswith(text.removesuffix("..."))
    # No number is cut, for half of one would be another.
    assert text.endswith("|1000000000|...")
