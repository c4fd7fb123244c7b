"""The text of shapes: what `str` writes, `Shape.parse` reads; summaries; reprs that evaluate."""

import pickle
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ParseError, SizeOverflowError, TensorWrapperError
from tensorwrapper.shape import Shape, as_shape
from tensorwrapper.testing import jagged_shapes, shapes, tiled_shapes, triangular_shapes

HUGE = 10**12
CELLS = Shape.jagged([Shape(10, 20), Shape(30, 40), Shape(50, 60)])
DEEP = Shape.jagged([[10], [20, 30], [30, 10, 20]])
APART = Shape.jagged([Shape.jagged([1, 2], origin=(5, 0)), Shape.jagged([], rank=2, origin=(7, 0))])


def nest(shape, *layers):
    return Shape.nested(shape, layers=layers)


def peak_bytes(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def numbers_in(text):
    return len(re.findall(r"\d+", text))


TEXTS = [
    (Shape(), "()"),
    (Shape(3), "(3,)"),
    (Shape(2, 3), "(2, 3)"),
    (Shape(0, 5), "(0, 5)"),
    (Shape(3, 3, origin=(-1, -1)), "(3, 3)@(-1, -1)"),
    (Shape(3, origin=(-1,)), "(3,)@(-1,)"),
    (Shape(10**30, origin=(-(10**40),)), f"({10**30},)@(-{10**40},)"),
    # Rows.
    (Shape.jagged([3, 1, 2]), "(3, 3|1|2)"),
    (Shape.jagged([5]), "(1, 5|)"),
    (Shape.jagged([2, 2]), "(2, 2|2)"),
    (Shape.jagged([0, 0]), "(2, 0|0)"),
    (Shape.jagged([], rank=2), "(0, |)"),
    (Shape.jagged([], rank=2, origin=(-3, 0)), "(0, |)@(-3, 0)"),
    (DEEP, "(3, 1|2|3, 10|20|30|30|10|20)"),
    (DEEP[1:2], "(1, 2, 20|30)@(1, 0, 0)"),
    (DEEP[1], "(2, 20|30)"),
    (Shape.jagged([[], []], rank=3), "(2, 0, |)"),
    (Shape.jagged([[4, 4], [4]]), "(2, 2|1, 4)"),
    (Shape.jagged([[4, 4], [4, 4]]), "(2, 2, 4|4|4|4)"),
    (Shape.jagged([3, 1, 2], origin=(0, 4)), "(3, 3|1|2)@(0, 4)"),
    (Shape.jagged([Shape(2, origin=(5,)), Shape(3, origin=(6,))], origin=(10, 0)), "(2, 2|3)@(10, 5|6)"),
    (APART, "(2, 2|0, 1|2)@(0, 5|7, 0)"),
    # Cells.
    (CELLS, "(3, 10x20|30x40|50x60)"),
    (CELLS[0:1], "(1, 10x20)"),
    (CELLS[1], "(30, 40)"),
    (CELLS[3:3], "(0, |x)@(3, 0, 0)"),
    (Shape.jagged([], rank=4), "(0, |xx)"),
    (Shape.from_cells((2, 2), [(1, 2)] * 4), "(2, 2, 1x2)"),
    (Shape.jagged([Shape(1, 2, origin=(4, 0)), Shape(3, 2, origin=(5, 0))]), "(2, 1x2|3x2)@(0, 4|5, 0)"),
    # Where no index leads there is no origin, but a cell keeps its extents.
    (Shape.jagged([Shape(0, 5, origin=(1, 7)), Shape(2, 3)]), "(2, 0x5|2x3)@(0, 1|0, 0)"),
    # Closed forms.
    (Shape.tiled([5, 15, 10], [5, 15, 10]), "tiled(5|15|10, 5|15|10)"),
    (Shape.tiled([5, 15, 10], [30])[1:, :], "tiled(15|10, 30)@(1, 0)"),
    (Shape.tiled([1, 2], origin=(-1, 0)), "tiled(1|2)@(-1,)"),
    (Shape.tiled([1, 2], origin=(0, 1)), "(2, 1|2)@(0, 1)"),
    (Shape.tiled([], [3]), "tiled(|, 3)"),
    (Shape.triangular(5), "triangular(5, lower)"),
    (Shape.triangular(HUGE, "upper", diagonal=False), f"triangular({HUGE}, strictly upper)"),
    # Rows that are all alike, of which there may be more than memory holds.
    (Shape.from_uniform(HUGE, 3), f"({HUGE}, 3|)"),
    (Shape(HUGE, 3, 4, origin=(5, 0, -1)).as_jagged(), f"({HUGE}, 3x4)@(5, 0, -1)"),
    (Shape.from_uniform(3, 2**62), f"(3, {2**62}|{2**62}|{2**62})"),
    (Shape.jagged([7] * 2000), "(2000, 7|)"),
    # Layers.
    (nest(Shape(10, 20, 30), 1, 2), "(10; 20, 30)"),
    (nest(Shape(10, 20, origin=(3, 4)), 1, 1), "(10; 20)@(3, 4)"),
    (nest(Shape(10, 20), 2), "(10, 20) layers (2,)"),
    (nest(Shape(10, 20, origin=(0, 1)), 2), "(10, 20)@(0, 1) layers (2,)"),
    (nest(Shape()), "() layers ()"),
    (nest(Shape(), 0), "() layers (0,)"),
    (nest(Shape(), 0, 0), "(; )"),
    (nest(Shape(10), 0, 1), "(; 10)"),
    (nest(Shape(10), 1, 0), "(10; )"),
    (nest(Shape(10, 20), 1, 0, 1), "(10; ; 20)"),
    (nest(DEEP, 2, 1), "(3, 1|2|3; 10|20|30|30|10|20)"),
    (nest(CELLS, 1, 2), "(3; 10x20|30x40|50x60)"),
    (nest(CELLS, 2, 1), "(3, 10x20|30x40|50x60) layers (2, 1)"),
    (nest(CELLS, 0, 1, 2, 0), "(; 3; 10x20|30x40|50x60; )"),
    (nest(CELLS[3:3], 1, 2), "(0; |x)@(3, 0, 0)"),
    (nest(Shape.tiled([1, 2], [3]), 2, 2), "tiled(1|2, 3) layers (2, 2)"),
    (nest(Shape.triangular(4), 1, 1), "triangular(4, lower) layers (1, 1)"),
]


@pytest.mark.parametrize(("shape", "text"), TEXTS, ids=[text[:60] for _, text in TEXTS])
def test_the_text_of_each_kind(shape, text):
    assert (str(shape), f"{shape}", f"{shape:full}") == (text, text, text)
    assert Shape.parse(text) == shape
    assert hash(Shape.parse(text)) == hash(shape)
    assert str(Shape.parse(text)) == text
    assert Shape.parse(text).layers == shape.layers


@pytest.mark.parametrize(("shape", "text"), TEXTS, ids=[text[:60] for _, text in TEXTS])
def test_the_repr_of_each_kind_evaluates(shape, text):
    if "..." not in repr(shape):
        assert eval(repr(shape), {"Shape": Shape}) == shape
    else:
        assert shape.extent_at(()) >= 2000, text


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (" ( 3 ,\t3 | 1|2\n)\r", "(3, 3|1|2)"),
        ("(3,3)@(+1,-0)", "(3, 3)@(1, 0)"),
        ("(3,3)@(0,0)", "(3, 3)"),
        ("()@()", "()"),
        ("(2,3|)", "(2, 3|3)"),
        ("(2,2|,3|1|2|0)", "(2, 2, 3|1|2|0)"),
        ("(3,10x20|)", "(3, 10x20)"),
        ("(2,1|2)@(0|,-1|-1)", "(2, 1|2)@(0, -1)"),
        ("tiled(5|,3)", "tiled(5, 3)"),
        ("tiled (3) @ (1,) layers (1,1)", "tiled(3)@(1,) layers (1, 1)"),
        ("triangular(3,strictly  upper)layers(2,)", "triangular(3, strictly upper) layers (2,)"),
        ("(10,20)layers(1,1)", "(10; 20)"),
        ("(10;20)", "(10; 20)"),
        ("(;)", "(; )"),
        ("(;;)", "(; ; )"),
    ],
)
def test_other_ways_to_write_a_shape(text, same):
    if same == "(2, 1|2)@(0, -1)":
        with pytest.raises(ParseError, match="one origin"):
            Shape.parse(text)
        text = text.replace("0|", "0")
    assert str(Shape.parse(text)) == same


# Laws.


@given(shapes())
def test_parse_is_the_inverse_of_str(shape):
    for text in (str(shape), format(shape, "full")):
        again = Shape.parse(text)
        assert again == shape
        assert hash(again) == hash(shape)
        assert (again.kind, again.layers) == (shape.kind, shape.layers)
        assert str(again) == text


@given(shapes())
def test_the_repr_of_a_small_shape_evaluates(shape):
    assert eval(repr(shape), {"Shape": Shape}) == shape


@given(st.one_of(triangular_shapes(), tiled_shapes(), jagged_shapes(min_rank=3)), st.data())
def test_layers_over_every_kind(flat, data):
    marks = sorted(data.draw(st.lists(st.integers(0, flat.rank), max_size=4)))
    ends = [0, *marks, flat.rank]
    shape = nest(flat, *[b - a for a, b in zip(ends, ends[1:], strict=False)])
    assert Shape.parse(str(shape)) == shape
    assert eval(repr(shape), {"Shape": Shape}) == shape


@given(shapes())
def test_white_space_is_free(shape):
    text = re.sub(r"([(),;|x@])", r"\t\1 \n", str(shape))
    assert Shape.parse(text) == shape


BIG = st.sampled_from([0, 1, 2, 2**31, 2**62 - 1])
SMALL_MOVES = st.sampled_from([0, 1, -1, 2**61, -(2**61)])


@given(st.data())
def test_extents_and_origins_up_to_64_bits(data):
    rank = data.draw(st.integers(2, 3))
    rows = data.draw(st.lists(st.tuples(*[BIG] * rank), min_size=1, max_size=3))
    starts = [data.draw(st.tuples(*[SMALL_MOVES] * rank)) for _ in rows]
    shape = Shape.from_cells((len(rows),), rows, origins=starts)
    moved = shape.translate_by([data.draw(SMALL_MOVES) for _ in range(rank + 1)])
    for s in (shape, moved):
        assert Shape.parse(str(s)) == s
        assert eval(repr(s), {"Shape": Shape}) == s


@given(st.lists(st.tuples(st.integers(0, 2**200), st.integers(-(2**200), 2**200)), max_size=4))
def test_boxes_have_numbers_of_any_size(modes):
    box = Shape.smooth([n for n, _ in modes], origin=[o for _, o in modes])
    assert Shape.parse(str(box)) == box
    assert eval(repr(box), {"Shape": Shape}) == box


def test_the_origin_of_what_is_not_there_does_not_bind_its_extent():
    # No index leads to the last mode, so that nothing would end beyond 64 bits.
    shape = Shape(3, 0, 2**62).as_jagged().translate_by((0, 0, 2**62))
    cells = Shape.jagged([Shape(0, 2**62), Shape(1, 5)]).translate_by((0, 0, 2**62))
    assert Shape.parse(str(shape)) == shape
    assert Shape.parse(str(cells)) == cells


def test_a_view_has_the_text_of_the_value():
    for view, value in [
        (CELLS[1], Shape(30, 40)),
        (CELLS.as_smooth(), Shape(3, 50, 60)),
        (DEEP[1:], Shape.jagged([[20, 30], [30, 10, 20]], origin=(1, 0, 0))),
        (nest(DEEP, 1, 2)[1:], nest(Shape.jagged([[20, 30], [30, 10, 20]], origin=(1, 0, 0)), 1, 2)),
    ]:
        assert (str(view), repr(view)) == (str(value), repr(value))


# Summaries.


@pytest.mark.parametrize(
    "make",
    [
        lambda n: Shape.jagged(np.arange(n) % 3),
        lambda n: Shape.from_cells((n,), np.arange(2 * n).reshape(n, 2)),
        lambda n: Shape.from_cells((2, n), np.arange(2 * n).reshape(2 * n, 1)),
        lambda n: Shape.tiled(range(n), [1]),
        lambda n: Shape(*range(n), origin=range(n)),
        lambda n: Shape.smooth(range(n)),
        lambda n: nest(Shape.smooth(range(n)), *[1] * n),
        lambda n: nest(Shape.jagged(np.arange(n) % 3), 1, 1),
        lambda n: Shape.jagged([Shape(k, origin=(k,)) for k in range(n)]),
        lambda n: Shape.jagged([Shape.jagged([k, 1], origin=(k, 0)) for k in range(n)]),
    ],
)
def test_above_1000_numbers_text_is_summarised(make):
    summarised = 0
    for n in (100, 249, 251, 330, 334, 498, 500, 501, 996, 1000, 1001, 3000):
        shape = make(n)
        text, full = str(shape), format(shape, "full")
        assert ("..." in text) == (numbers_in(full) > 1000)
        assert "..." not in full
        assert Shape.parse(full) == shape
        if "..." in text:
            summarised += 1
            assert numbers_in(text) < 200
            with pytest.raises(ParseError, match=r'is a summary.*format\(shape, "full"\)'):
                Shape.parse(text)
        else:
            assert text == full
        if "..." in repr(shape):
            assert len(repr(shape)) < 1000
        else:
            assert numbers_in(repr(shape)) <= 1000
            assert eval(repr(shape), {"Shape": Shape}) == shape
    assert summarised


def test_reprs_of_1000_numbers_evaluate_and_of_1001_do_not():
    assert repr(Shape.jagged([1] * 1000)) == f"Shape.jagged({[1] * 1000})"
    assert repr(Shape.jagged([1] * 1001)) == f"Shape.jagged([{'1, ' * 12}...])"
    assert repr(Shape.tiled([1] * 1000)) == f"Shape.tiled({[1] * 1000})"
    assert "..." in repr(Shape.tiled([1] * 1001))
    assert "..." in repr(Shape.jagged([[]] * 1001))


@pytest.mark.parametrize(
    ("shape", "text", "call"),
    [
        (
            Shape.jagged(np.arange(2000)),
            "(2000, 0|1|2|3|4|5|6|7|8|9|10|11|...)",
            "Shape.jagged([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...])",
        ),
        (
            Shape.from_cells((1000, 3), np.arange(3000).reshape(3000, 1))[5:],
            "(995, 3, 15|16|17|18|19|20|21|22|23|24|25|26|...)@(5, 0, 0)",
            "Shape.jagged([[15, 16, 17], [18, 19, 20], [21, 22, 23], [24, 25, 26], [27, 28, 29], "
            "[30, 31, 32], ...], origin=(5, 0, 0))",
        ),
        (
            nest(Shape.tiled(range(2000)), 1, 1),
            "tiled(0|1|2|3|4|5|6|7|8|9|10|11|...) layers (1, 1)",
            "Shape.nested(Shape.tiled([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...]), layers=(1, 1))",
        ),
        (Shape(10**700, 2), "(..., 2)", "Shape(..., 2)"),
    ],
)
def test_what_a_summary_shows(shape, text, call):
    assert (str(shape), repr(shape)) == (text, call)


def test_a_summary_reads_only_what_it_shows():
    n = 10**7
    rows = Shape.jagged(np.arange(n) % 7)
    cells = Shape.from_cells((n,), np.arange(2 * n).reshape(n, 2) % 7)
    for shape in (rows, cells, rows[5:], nest(rows, 1, 1), Shape.from_uniform(HUGE, 5)):
        assert peak_bytes(lambda s=shape: (str(s), repr(s))) < 200_000
    # Where all rows agree, that takes a look at all of them, but no memory.
    assert peak_bytes(lambda: str(Shape.jagged(np.full(n, 7)))) < 2 * 8 * n + 20_000_000
    even = Shape.jagged(np.full(n, 7))
    assert peak_bytes(lambda: str(even)) < 10_000_000


def test_a_million_rows_go_through_text():
    rng = np.random.default_rng(5)
    for shape in (
        Shape.jagged(rng.integers(0, 10, 10**6)),
        Shape.from_cells((10**5, 2), rng.integers(0, 10, (2 * 10**5, 3)), origins=(1, 2, 3)),
    ):
        assert Shape.parse(format(shape, "full")) == shape


def test_numbers_are_as_long_as_every_python_reads():
    longest = Shape(10**640 - 1, origin=(1 - 10**640,))
    assert Shape.parse(str(longest)) == longest
    for shape in (Shape(10**640), Shape(1, origin=(-(10**640),)), Shape(1 << 100_000)):
        assert "..." in str(shape)
        assert "..." in repr(shape)
        with pytest.raises(SizeOverflowError, match="640 digits"):
            format(shape, "full")


@pytest.mark.parametrize("spec", ["d", ">20", "Full", "full ", "r"])
def test_formats_that_there_are_not(spec):
    with pytest.raises(ConversionError, match=f'"full".*{re.escape(repr(spec))}'):
        format(Shape(2, 3), spec)


# Refusals.


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", r"position 0 stands nothing"),
        ("garbage", r"position 0 stands 'g'.*'\('"),
        ("Shape(2, 3)", r"position 0 stands 'S'"),
        ("[2, 3]", r"position 0 stands '\['"),
        ("(2, 3", r"position 5 stands nothing.*'\)'"),
        ("(3)", r"position 2 stands '\)'.*'\(3,\)'"),
        ("(3, 4,)", r"position 6 stands '\)'.*a number"),
        ("(3,, 4)", r"position 3 stands ','.*a number"),
        ("(,)", "position 1"),
        ("(3 4)", r"position 3 stands '4'"),
        ("((3, 4))", r"position 1 stands '\('"),
        ("(3, 4) 5", r"position 7 stands '5'.*'@\('.*'layers \('"),
        ("(3, -4)", r"position 4 stands '-'"),
        ("(3, +4)", r"position 4 stands '\+'"),
        ("(3.0, 4)", r"position 2 stands '\.'"),
        ("(1_000, 4)", r"position 2 stands '_'"),
        ("(0x10, 0b1, 4)", "position"),
        ("(007, 1)", r"position 2 stands '0'"),
        ("(\u0663,)", "position 1 stands '\u0663'"),
        ("(3\u00a0, 1)", "position 2"),
        ("(\u00b2,)", "position 1"),
        ("(3, ...)", "is a summary"),
        ("(3, 1|2|...)", "is a summary"),
        (f"({'1' * 641},)", "at most 640 digits"),
        # Lists.
        ("(3, 3|1)", "position 4, there are 2 extents of mode 1, but 3 prefixes"),
        ("(2, 1|2, 3|4)", "position 9, there are 2 extents of mode 2, but 3 prefixes"),
        ("(2, 1|2, 3|4, 1|1|1)", "position 9.*mode 2, but 3"),
        ("(3, 3||1)", r"position 6 stands '\|'.*a number"),
        ("(3, |1|2)", "position 5 stands '1'"),
        ("(3, 3|1|)", r"position 8 stands '\)'.*a number"),
        ("(3, 3|1|y)", "position 8 stands 'y'"),
        ("(3|1, 2)", "position 1 stands '3'.*mode 0"),
        ("(3|, 2)", "position 1 stands '3'.*mode 0"),
        ("(5|6,)", "position 1.*mode 0"),
        ("(0, 5|)", "position 4, no prefix leads to mode 1"),
        ("(2, 0, 7, |)", "position 7, no prefix leads to mode 2"),
        (f"(2, 1|{2**63})", "position 4.*64 bits"),
        (f"(2, {2**62}|{2**62 + 1})", "position 4.*64 bits"),
        (f"({2**63}, 1|)", "position 1.*64 bits"),
        (f"(2, {2**63}|)", "position 4.*64 bits"),
        # Cells.
        ("(10x20,)", "position 1.*mode 0"),
        ("(2, 1x2|3)", r"position 7 stands '\|'.*cells of rank 2"),
        ("(3, 1x2|3x4x5|6)", "position 11 stands 'x'.*cells of rank 2"),
        ("(2, 1x|3x4)", r"position 5 stands 'x'"),
        ("(2, 1x2|3x4, 5)", "position 4.*cells stand last"),
        ("(2, 1x2)@(0, 0)", "position 10, a shape of rank 3 has 3 origins, not 2"),
        # Origins.
        ("(3, 4)@(1,)", "position 8, the origin has 1 entries for 2"),
        ("(3, 4)@(1|2, 4)", "position 8 stands '1'.*one number"),
        ("(3, 4)@(1x2, 4)", "position 9 stands 'x'"),
        ("(2, 4|4)@(0, |x)", "position 14 stands 'x'"),
        ("(3, 3|1|2)@(0|1, 0)", "mode 0 has one origin"),
        ("(3, 3|1|2)@(0, 1|2)", "position 12, there are 2 origins of mode 1, but 3 prefixes"),
        (f"(3, 3|1|2)@(0, {2**63 - 2})", "64 bits"),
        (f"(3, 3|1|2)@(0, 0|0|{2**63 - 2})", "64 bits"),
        (f"(3, 3|1|2)@({-(2**63)}, 0)", "64 bits"),
        ("(3, 4)@(1; 2)", "position 9 stands ';'"),
        # Closed forms.
        ("tiled()", "position 6.*the sizes of tiles"),
        ("tiled(5; 5)", "position 7 stands ';'"),
        ("tiled(5, 1x2)", "position 9.*without 'x'"),
        ("tiled(5, 5)@(0, 0, 0, 0)", "4 entries for 2"),
        (f"tiled({2**63})", "position 6.*64 bits"),
        (f"tiled({2**62}|{2**62})", "64 bits"),
        (f"tiled(1|1)@({2**63 - 2},)", "64 bits"),
        ("triangular(5)", "a side and a half"),
        ("triangular(5, left)", "position 14 stands 'l'.*'strictly upper'"),
        ("triangular(5, strictlyupper)", "position 14"),
        ("triangular(5|6, upper)", "position 11"),
        (f"triangular({2**63}, upper)", "64 bits"),
        ("triangular(5, upper)@(1, 1)", "position 20.*starts at 0"),
        # Layers.
        ("(3, 4) layers (1,)", r"position 15, the layers \(1,\)"),
        ("(3, 4) layers (2)", "position 16"),
        ("(3, 4) layers (3, -1)", "position 18 stands '-'"),
        ("(3; 4) layers (1, 1)", "position 15.*semicolons"),
        ("(3; 4,)", "position 6"),
        ("(3; , 4)", "position 4"),
    ],
)
def test_what_is_no_text_of_a_shape(text, match):
    with pytest.raises(ParseError, match=match) as caught:
        Shape.parse(text)
    assert isinstance(caught.value, ValueError)
    # What was given is shown, at least the part around the place.
    assert repr(text[:3])[1:-1] in str(caught.value)
    assert len(str(caught.value)) < 400
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("thing", [None, 3, b"(2, 3)", (2, 3), Shape(2, 3)])
def test_only_text_is_parsed(thing):
    with pytest.raises(ConversionError, match=type(thing).__name__):
        Shape.parse(thing)


def test_an_error_in_a_long_text_shows_its_surroundings():
    text = f"(1000, {'1|' * 600}oops|{'1|' * 398}1)"
    with pytest.raises(ParseError, match="position 1207 stands 'o'") as caught:
        Shape.parse(text)
    assert "1|1|oops|1|1|1" in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "text",
    [
        "(1000000000, 5|5)",
        "(1000000000, 2, 5x5)",
        "(1000, 1000, 1000, 1000, 1x1|2x2)",
        "(1000000, " + "1, " * 1000 + "1|2)",
        "(9223372036854775807, 5|)",
        "(1000000000, 5|)@(0, 1|2)",
    ],
)
def test_numbers_of_strangers_take_no_memory(text):
    def refuse():
        with pytest.raises(ParseError):
            Shape.parse(text)

    assert peak_bytes(refuse) < 20_000_000


def test_one_number_may_stand_for_many_rows_but_not_for_all():
    # As many as single numbers may stand for are written as such, and others in full.
    for count in (2**20, 2**20 + 1):
        shape = Shape.from_cells((count, 2), np.ones((2 * count, 2), dtype=np.int64))
        full = format(shape, "full")
        assert (len(full) < 100) == (count == 2**20)
        assert Shape.parse(full) == shape


@given(shapes(), st.data())
def test_a_damaged_text_is_refused_or_is_another_shape(shape, data):
    text = str(shape)
    place = data.draw(st.integers(0, len(text)))
    removed = data.draw(st.integers(0, 3))
    inserted = data.draw(st.text(st.sampled_from("0123456789(),;|x@-+ .tiledlayers\u0663_"), max_size=4))
    damaged = text[:place] + inserted + text[place + removed :]
    try:
        again = Shape.parse(damaged)
    except ParseError:
        return
    assert Shape.parse(format(again, "full")) == again


@given(st.text(st.sampled_from("0123(),;|x@-. \n"), max_size=20))
def test_garbage_is_refused_by_one_error(text):
    try:
        Shape.parse(text)
    except TensorWrapperError as error:
        assert type(error) is ParseError


def test_a_shape_does_not_equal_its_text():
    assert Shape(2, 3) != "(2, 3)"
    assert Shape(2, 3) != (2, 3)
    assert as_shape((2, 3)) == Shape(2, 3)
