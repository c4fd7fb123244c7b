"""Names of modes: given, kept by parts, part of the value, and no part of what a shape holds."""

import copy
import pickle

import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, ModeNameError, OutOfBoundsError, RankError
from tensorwrapper.shape import Shape, Smooth, as_shape

SHAPES = {
    "smooth": lambda: Shape(2, 3, origin=(1, 0)),
    "view": lambda: Shape.jagged([Shape(2, 2), Shape(3, 4)])[1],
    "jagged": lambda: Shape.jagged([3, 1, 2]),
    "cells": lambda: Shape.from_cells((2,), [(1, 2), (3, 4)]),
    "tiled": lambda: Shape.tiled([1, 2], [3]),
    "triangular": lambda: Shape.triangular(3),
    "nested": lambda: Shape.nested(Shape(2, 3, 4), layers=(1, 2)),
    "nested rows": lambda: Shape.nested(Shape.jagged([3, 1]), layers=(1, 1)),
    "empty": lambda: Shape(0, 3),
}
LETTERS = "ijkl"


def named(kind):
    shape = SHAPES[kind]()
    return shape.named(*LETTERS[: shape.rank])


kinds = pytest.mark.parametrize("kind", SHAPES)


@kinds
def test_a_shape_without_names_has_none(kind):
    shape = SHAPES[kind]()
    assert shape.names == (None,) * shape.rank
    assert shape.named(*shape.names) == shape


@kinds
def test_names_stand_for_modes(kind):
    shape = named(kind)
    assert shape.names == tuple(LETTERS[: shape.rank])
    for mode, name in enumerate(shape.names):
        assert shape.mode(name) == mode
        assert shape.names[shape.mode(name)] == name
    assert shape.extent("i") == shape.extent(0)
    last = shape.names[-1]
    assert shape.is_uniform(last) == shape.is_uniform(-1)
    assert shape.dependencies(last) == shape.dependencies(-1)
    assert shape.extent_bounds(last) == shape.extent_bounds(-1)
    assert shape.split(1, "i") == shape.split(1, 0)
    if shape.kind == "jagged":
        assert shape.lengths(last).tolist() == shape.lengths(-1).tolist()
        assert shape.splits(last).tolist() == shape.splits(-1).tolist()


@kinds
def test_shapes_that_differ_in_names_alone_differ(kind):
    plain, shape = SHAPES[kind](), named(kind)
    same = plain.named(*shape.names)

    assert shape == same
    assert hash(shape) == hash(same)
    assert shape != plain
    assert plain != shape
    assert shape != plain.named(*reversed(shape.names))
    assert plain.is_congruent(shape)
    assert plain.same_elements(shape)
    assert shape.named(*[None] * shape.rank) == plain
    assert hash(shape.named(*[None] * shape.rank)) == hash(plain)
    assert len({plain, shape, same}) == 2


@kinds
def test_names_travel(kind):
    shape = named(kind)
    for twin in (
        pickle.loads(pickle.dumps(shape)),
        copy.copy(shape),
        copy.deepcopy(shape),
        shape.copy(),
        as_shape(shape),
        Shape.parse(str(shape)),
        Shape.parse(format(shape, "full")),
        Shape.from_json(shape.to_json()),
        eval(repr(shape), {"Shape": Shape}),
    ):
        assert twin == shape
        assert twin.names == shape.names
    assert tokenize(shape) == tokenize(named(kind)) != tokenize(SHAPES[kind]())
    assert "names (i, j" in shape._repr_html_()


@kinds
def test_parts_keep_the_names_of_their_modes(kind):
    shape = named(kind)
    names, zero = shape.names, (0,) * shape.rank
    whole = [
        shape[:],
        shape.translate_by(zero),
        shape.as_smooth(),
        shape.flatten(),
        shape.as_jagged(),
        shape.slice_outer(*_ends(shape)),
        *shape.split(1),
        *shape.split_by_extents(max(shape.extent(0), 1)),
        *shape.blocks(),
    ]
    assert {part.names for part in whole} == {names}
    assert shape.leading(1).names == names[:1]
    assert shape.leading(0).names == ()
    if shape.size:
        first = shape.index(0)
        assert shape[first[0]].names == shape.chip(first[0]).names == names[1:]
        assert shape.chip(*first).names == ()
        assert shape.slice(first, [i + 1 for i in first]).names == names


def _ends(shape):
    start = shape.origin_at(())
    return start, start + shape.extent(0)


@kinds
def test_cells_have_the_names_of_their_modes(kind):
    shape = named(kind)
    if shape.kind == "smooth":
        return
    outer = shape.outer_rank
    assert shape.outer().names == shape.names[:outer]
    for index, cell in shape.cells():
        assert cell.names == shape.element(index).names == shape.names[outer:]


def test_what_no_name_is_left_of_equals_what_never_had_one():
    shape = Shape(2, 3).named("i", None)
    assert shape[0] == Shape(3)
    assert shape.chip(1) == Shape(3)
    assert shape.leading(0) == Shape()
    assert hash(shape[0]) == hash(Shape(3))


def test_permute_by_name_and_number():
    shape = Shape(2, 3, 4).named("i", "j", "k")
    assert shape.permute(("k", "i", "j")) == Shape(4, 2, 3).named("k", "i", "j")
    assert shape.permute((2, "i", 1)) == shape.permute((2, 0, 1))
    assert shape.permute(iter("kij")) == shape.permute((2, 0, 1))


@given(st.permutations(range(4)))
def test_a_permutation_is_given_by_the_names_it_leads_to(order):
    shape = Shape(2, 3, 4, 5).named(*LETTERS)
    there = shape.permute(order)

    assert there.names == tuple(LETTERS[m] for m in order)
    assert shape.permute(there.names) == there
    assert there.permute(shape.names) == shape


@pytest.mark.parametrize(
    ("order", "error", "text"),
    [
        (("i", "x"), ModeNameError, "no mode has the name 'x'; there are 'i', 'j'"),
        (("i", "i"), RankError, "not a permutation"),
        (("i",), RankError, "not a permutation"),
        (("i", "j", "i"), RankError, "not a permutation"),
    ],
)
def test_every_mode_is_named_once(order, error, text):
    with pytest.raises(error, match=text):
        Shape(2, 3).named("i", "j").permute(order)


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (("i",), RankError, "1 name for a shape of rank 2"),
        (("i", "j", "k"), RankError, "3 names"),
        (("i", "i"), ModeNameError, "the modes 0 and 1 would both have the name 'i'"),
        (("i", "1a"), ModeNameError, "name of mode 1 .* identifier .* '1a'"),
        (("i", ""), ModeNameError, "identifier"),
        (("i", "a b"), ModeNameError, "identifier"),
        (("i", "a,b"), ModeNameError, "identifier"),
        (("i", "_"), ModeNameError, "identifier"),
        (("i", 1), ConversionError, "name of mode 1 must be text, not 1"),
    ],
)
def test_what_is_no_name(names, error, text):
    with pytest.raises(error, match=text):
        Shape(2, 3).named(*names)


@pytest.mark.parametrize("name", ["a", "a1", "_a", "AO", "\u03bc", "very_long_name"])
def test_a_name_is_an_identifier(name):
    shape = Shape(2).named(name)
    assert Shape.parse(str(shape)).names == Shape.from_json(shape.to_json()).names == (name,)


def test_a_shape_without_names_takes_numbers_and_says_so():
    for call in (
        lambda: Shape(2, 3).mode("i"),
        lambda: Shape(2, 3).extent("i"),
        lambda: Shape(2, 3)[{"i": 0}],
        lambda: Shape(2, 3).permute(("i", "j")),
    ):
        with pytest.raises(ConversionError, match="integer"):
            call()


def test_an_unknown_name_is_a_key_error_too():
    with pytest.raises(KeyError) as caught:
        Shape(2, 3).named("atom", None).extent("shell")
    assert str(caught.value) == "no mode has the name 'shell'; there are 'atom'"


# Keys by name.


def test_a_key_by_name():
    shape = Shape(4, 5, 6).named("i", "j", "k")
    assert shape[{"k": slice(1, 3), "i": 2}] == shape[2, :, 1:3]
    assert shape[{}] == shape
    assert shape[{"j": slice(2, None)}].names == ("i", "j", "k")
    rows = Shape.jagged([3, 1, 2]).named("row", "column")
    assert rows[{"row": 2}] == rows[2]
    assert rows[{"row": slice(1, 3)}] == rows[1:3]


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        ({"x": 1}, ModeNameError, "no mode has the name 'x'; there are 'i', 'j'"),
        ({0: 1}, ConversionError, "name of a mode must be text"),
        ({"i": 4}, OutOfBoundsError, "index 4 is outside"),
        ({"i": ...}, ConversionError, "mode 'i' .* ellipsis"),
        ({"i": 1.0}, ConversionError, "mode 0"),
        ({"j": [0, 1]}, ConversionError, "mode 1"),
    ],
)
def test_keys_by_name_that_are_refused(key, error, text):
    with pytest.raises(error, match=text):
        Shape(4, 5).named("i", "j")[key]


# Shapes together.


def test_shapes_together_agree_on_names():
    left, right = Shape(2, 3).named("i", None), Shape(2, 3).named(None, "j")
    both = Shape(2, 3).named("i", "j")
    assert left.intersect(right) == left.hull(right) == both
    assert left.intersect(Shape(2, 3)) == left
    assert left.hull(both, Shape(2, 3)) == both
    assert Shape(4, 3).named("i", None).difference(right) == (Shape(2, 3, origin=(2, 0)).named("i", "j"),)
    assert Shape.concat([left, right], mode="i") == Shape(4, 3).named("i", "j")
    assert Shape.stack([left, right], mode=1) == Shape(2, 2, 3).named("i", None, "j")
    assert Shape.stack([left, right], mode=-1) == Shape(2, 3, 2).named("i", "j", None)
    assert Shape.product([left, Shape(4).named("k")]) == Shape(2, 3, 4).named("i", None, "k")
    assert Shape.from_layers(left, Shape(4).named("k")).names == ("i", None, "k")
    assert Shape.nested(both, layers=(1, 1)).names == ("i", "j")


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: a.intersect(b),
        lambda a, b: a.hull(b),
        lambda a, b: a.difference(b),
        lambda a, b: Shape.concat([a, b]),
        lambda a, b: Shape.stack([a, b]),
    ],
)
def test_names_that_disagree_are_refused(call):
    with pytest.raises(ModeNameError, match="mode 0 has different names: 'i' and, in shape 1, 'j'"):
        call(Shape(2).named("i"), Shape(2).named("j"))


def test_one_name_for_two_modes_is_refused():
    with pytest.raises(ModeNameError, match="modes 0 and 1"):
        Shape.product([Shape(2).named("i"), Shape(3).named("i")])
    with pytest.raises(ModeNameError, match="modes 0 and 1"):
        Shape(2, 3).named("i", None).intersect(Shape(2, 3).named(None, "i"))


@pytest.mark.parametrize(
    "call",
    [
        lambda s: tw.Layout(s).shape,
        lambda s: tw.Layout(s).window(s[1:]).shape,
        lambda s: tw.Layout(Shape(1, 3)).broadcast(s).shape,
        lambda s: tw.zeros(s).shape,
    ],
)
def test_what_keeps_modes_keeps_their_names(call):
    assert call(Shape(2, 3).named("i", "j")).names == ("i", "j")


def test_what_has_modes_of_its_own_has_no_names():
    assert Shape(2, 3).named("i", "j").reshape((6,)).names == (None,)


def test_names_are_a_part_of_layouts_and_none_of_elements():
    for shape in (Shape(2, 3), Shape.jagged([2, 1])):
        assert tw.Layout(shape.named("i", "j")) != tw.Layout(shape)
        named = tw.zeros(shape.named("i", "j"))
        assert not named.array_equal(tw.zeros(shape))
        assert named.named(None, None).array_equal(tw.zeros(shape))


def test_a_facade_over_what_a_named_shape_holds_has_no_names():
    assert as_shape(Shape(2).named("i").implementation) == Shape(2)
    assert as_shape(Smooth((2,))).names == (None,)


@pytest.mark.parametrize("shape", [Shape(2, 3), Shape.jagged([3, 1]), Shape.nested((2, 3), layers=(1, 1))])
def test_a_key_by_name_needs_a_shape_with_names(shape):
    with pytest.raises(ConversionError, match=r"\{'atom': 0\} gives modes by name; `s.named"):
        shape[{"atom": 0}]


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("make", [lambda t: t, tw.selection.as_view])
def test_a_mask_without_modes_makes_one_that_has_no_name(flag, make):
    t = make(tw.as_tensor([[1, 2], [3, 4]]).named("a", "b"))
    mask = tw.as_tensor(flag)

    assert t[mask].shape == Shape(int(flag), 2, 2).named(None, "a", "b")
    assert t[0, mask].shape == t.vindex[mask, 0].shape == Shape(int(flag), 2).named(None, "b")
    assert t[mask, [1]].shape == Shape(int(flag), 2).named("a", "b")
