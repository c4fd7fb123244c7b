"""517 recorded rows of CuTe's own tests: same functions and sizes; and what is written is read."""

import json
from pathlib import Path

import numpy as np
import pytest

from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout import (
    Layout,
    blocked_product,
    coalesce,
    complement,
    compose,
    flat_divide,
    flat_product,
    flatten,
    left_inverse,
    logical_divide,
    logical_product,
    make_layout,
    make_ordered_layout,
    parse_tiler,
    raked_product,
    right_inverse,
    tile_to_shape,
    tiled_divide,
    tiled_product,
    tiler_text,
    zipped_divide,
    zipped_product,
)
from tensorwrapper.layout.algebra._operand import as_modes
from tensorwrapper.layout.boxes._hierarchy import size_of, tree_text
from tensorwrapper.layout.pictures._text import parse_tree
from tests.support.cases import case
from tests.support.layout.layouts import extended, leaves, table

FILE = Path(__file__).parents[1] / "golden" / "layout-static.json"
ROWS = json.loads(FILE.read_text(encoding="utf-8"))
TREES = {"shape", "stride", "coord", "int_tuple"}
DIVISIONS = {
    "logical_divide": logical_divide,
    "zipped_divide": zipped_divide,
    "tiled_divide": tiled_divide,
    "flat_divide": flat_divide,
}
PRODUCTS = {
    "logical_product": logical_product,
    "zipped_product": zipped_product,
    "tiled_product": tiled_product,
    "flat_product": flat_product,
    "blocked_product": blocked_product,
    "raked_product": raked_product,
}
# Arithmetic of tuples of integers is no part of the library: of these rows only the text is tested.
TUPLES_ONLY = {"tuple_add", "tuple_sub", "shape_div", "ceil_div", "elem_less"}


def read(kind, text):
    """The value of an operand or a result."""
    if kind in TREES:
        return parse_tree(text.replace("_", "0"))
    if kind == "tile":
        return parse_tiler(text, order="colex")
    if kind == "layout":
        return Layout.parse(text, order="colex")
    # The inner layout leaves the ordinals of the outer one in most rows: that must be asked for.
    outer, offset, inner = text.split(" o ")
    inner = Layout.parse(f"{inner}+{offset}", order="colex")
    return compose(Layout.parse(outer, order="colex"), inner, outside="extend")


def rows(*names):
    return [row for row in ROWS if row[0] in names]


def name(row):
    return f"{row[0]}-" + "-".join(text for _, text in row[2])


def values(row):
    return [read(*operand) for operand in row[2]], [read(*result) for result in row[3]]


def check(made, expected):
    ours, theirs = table(made), table(expected)
    assert ours.tolist() == theirs.tolist()


def test_every_row_is_tested():
    assert len(ROWS) == 517
    tested = {
        *DIVISIONS,
        *PRODUCTS,
        *TUPLES_ONLY,
        *(["coalesce", "composition", "complement", "left_inverse", "right_inverse", "tile_to_shape"]),
        *(["make_ordered_layout", "make_layout", "make_composed_layout", "make_tile", "flatten", "equal"]),
        *(["make_shape", "make_stride", "make_coord", "make_int_tuple", "size", "cosize", "layout_eval"]),
        *(["crd2idx", "idx2crd", "increment_coord", "tuple_product", "tuple_product_each"]),
    }
    assert {row[0] for row in ROWS} == tested


def test_what_is_written_is_read_and_written_back():
    for row in ROWS:
        with case(name(row)):
            check_texts(row)


def check_texts(row):
    for kind, text in [*row[2], *row[3]]:
        if kind in TREES:
            # An underscore in a coordinate asks for a slice: here a slice of the shape does that.
            plain = text.replace("_", "0")
            assert tree_text(parse_tree(plain)) == plain
        elif kind == "tile" and text.startswith("["):
            assert tiler_text(parse_tiler(text)) == text
        elif kind != "composed_layout":
            assert str(Layout.parse(text)) == text
            assert str(Layout.parse(text, order="colex")) == text


@pytest.mark.parametrize("row", rows("coalesce", "flatten"), ids=name)
def test_coalesce_and_flatten(row):
    operands, (expected,) = values(row)
    if isinstance(operands[0], Layout):
        check((coalesce if row[0] == "coalesce" else flatten)(*operands), expected)
        if row[0] == "flatten":
            assert flatten(operands[0]).nested_extents == expected.nested_extents
    elif row[2][0][0] in TREES:
        assert tuple(leaves(operands[0])) == expected


@pytest.mark.parametrize("row", rows("composition"), ids=name)
def test_composition(row):
    (outer, inner), (expected,) = values(row)
    check(compose(outer, inner, outside="extend"), expected)


@pytest.mark.parametrize("row", rows("complement"), ids=name)
def test_complement(row):
    (layout, *size), (expected,) = values(row)
    up_to = None
    if size:
        up_to = size[0].bounds()[1] + 1 if isinstance(size[0], Layout) else size_of(size[0])
    check(complement(layout, up_to), expected)


@pytest.mark.parametrize("row", rows("left_inverse"), ids=name)
def test_left_inverse(row):
    (layout,), (expected,) = values(row)
    made = left_inverse(layout, outside="extend")
    if layout.shape.size > 100_000 or made.shape.size > 100_000:
        assert str(coalesce(made)) == str(coalesce(expected))
    else:
        check(made, expected)
    places = table(layout)
    assert (extended(layout, extended(made, places)) == places).all()


@pytest.mark.parametrize("row", rows("right_inverse"), ids=name)
def test_right_inverse(row):
    (layout,), (expected,) = values(row)
    check(right_inverse(layout), expected)


@pytest.mark.parametrize("row", rows(*DIVISIONS), ids=name)
def test_division(row):
    (layout, tiler), (expected,) = values(row)
    made = DIVISIONS[row[0]](layout, tiler, outside="extend")
    check(made, expected)
    assert size_of(made.nested_extents) == size_of(expected.nested_extents)
    assert len(as_modes(made.nested_extents)) == len(as_modes(expected.nested_extents))


@pytest.mark.parametrize("row", rows(*PRODUCTS), ids=name)
def test_product(row):
    (block, tiler), (expected,) = values(row)
    if row[2][0][0] == "composed_layout":
        # The product is that of the inner layout, whose copies leave the ordinals of the outer one.
        outer, offset, inner = row[2][0][1].split(" o ")
        made = PRODUCTS[row[0]](Layout.parse(f"{inner}+{offset}", order="colex"), tiler)
        check(compose(Layout.parse(outer, order="colex"), made, outside="extend"), expected)
        return
    made = PRODUCTS[row[0]](block, tiler)
    check(made, expected)
    sizes = [size_of(mode) for mode in as_modes(made.nested_extents)]
    assert sizes == [size_of(mode) for mode in as_modes(expected.nested_extents)]


@pytest.mark.parametrize("row", rows("tile_to_shape"), ids=name)
def test_tile_to_shape(row):
    operands, (expected,) = values(row)
    made = tile_to_shape(*operands, outside="extend")
    check(made, expected)
    assert made.nested_extents == expected.nested_extents


@pytest.mark.parametrize("row", rows("make_ordered_layout", "make_layout"), ids=name)
def test_makers(row):
    operands, _ = values(row)
    made = (make_layout if row[0] == "make_layout" else make_ordered_layout)(*operands, order="colex")
    assert str(made) == row[3][0][1]


@pytest.mark.parametrize("row", rows("make_composed_layout"), ids=name)
def test_composites_are_made_of_their_text(row):
    outer, offset, inner = (text for _, text in row[2])
    made = Layout.parse(row[3][0][1], order="colex")
    assert made == Layout.parse(f"{outer} o {offset} o {inner}", order="colex")
    assert str(made) == row[3][0][1]
    assert table(made).tolist() == table(read("composed_layout", row[3][0][1])).tolist()


@pytest.mark.parametrize("row", rows("layout_eval"), ids=name)
def test_evaluation(row):
    (coordinate, layout), (expected,) = values(row)
    if min(leaves(coordinate)) < 0:
        with pytest.raises(OutOfBoundsError, match="-1 is outside"):
            layout.offset_of_ordinal(coordinate)
        return
    assert layout.offset_of_ordinal(coordinate) == expected


@pytest.mark.parametrize("row", rows("crd2idx", "idx2crd", "increment_coord"), ids=name)
def test_coordinates(row):
    (first, extents), (expected,) = values(row)
    box = make_layout(extents, order="colex")
    if row[0] == "increment_coord":
        if max(leaves(expected)) < 3 or extents == (4, 8):
            assert box.offset_of_ordinal(expected) == box.offset_of_ordinal(first) + 1
        else:
            # What comes after the last coordinate is none.
            with pytest.raises(OutOfBoundsError, match="3 is outside 0 to 2 at mode 2"):
                box.offset_of_ordinal(expected)
    elif row[0] == "crd2idx":
        assert box.offset_of_ordinal(first) == expected
    else:
        assert box.offset_of_ordinal(expected) == box.offset_of_ordinal(first)


@pytest.mark.parametrize("row", rows("size", "cosize", "tuple_product", "tuple_product_each"), ids=name)
def test_sizes(row):
    (value,), (expected,) = values(row)
    if row[0] == "cosize":
        assert value.bounds()[1] + 1 == expected
    elif isinstance(value, Layout):
        assert value.shape.size == np.prod(value.shape.extents) == expected
    elif row[0] == "tuple_product_each":
        assert tuple(size_of(mode) for mode in as_modes(value)) == expected
    else:
        assert size_of(value) == expected


@pytest.mark.parametrize("row", rows("equal"), ids=name)
def test_values_are_equal_if_their_text_is(row):
    (first, second), _ = values(row)
    assert (first == second) == (row[2][0][1] == row[2][1][1])
