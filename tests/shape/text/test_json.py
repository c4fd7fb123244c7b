"""Shapes as JSON: what is written is canonical, what is read is strict."""

import copy
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ParseError, SizeOverflowError
from tensorwrapper.shape import Jagged, JaggedCommon, Nested, Shape, Smooth, Tiled, Triangular, as_shape
from tensorwrapper.testing import shapes

HUGE = 10**12

TEXTS = [
    (Shape(), '{"extents":[],"kind":"smooth","origin":[]}'),
    (Shape(2, 3, origin=(0, -1)), '{"extents":[2,3],"kind":"smooth","origin":[0,-1]}'),
    (Shape(2**100), f'{{"extents":[{2**100}],"kind":"smooth","origin":[0]}}'),
    (
        Shape.jagged([3, 1, 2]),
        '{"extents":[3,[3,1,2]],"kind":"jagged","origin":[0,0],"outer_rank":1}',
    ),
    (
        Shape.jagged([[10], [20, 30]])[1:],
        '{"extents":[1,2,[20,30]],"kind":"jagged","origin":[1,0,0],"outer_rank":2}',
    ),
    (Shape.jagged([], rank=3), '{"extents":[0,[],[]],"kind":"jagged","origin":[0,0,0],"outer_rank":1}'),
    (
        Shape.jagged([Shape(1, 2, origin=(5, 0)), Shape(3, 2, origin=(6, 0))]),
        '{"extents":[2,[1,3],2],"kind":"jagged","origin":[0,[5,6],0],"outer_rank":1}',
    ),
    (
        Shape.from_uniform(HUGE, 3),
        f'{{"extents":[{HUGE},3],"kind":"jagged","origin":[0,0],"outer_rank":1}}',
    ),
    (
        Shape.tiled([5, 15, 10], [30])[1:, :],
        '{"grid_origin":[1,0],"kind":"tiled","sizes":[[15,10],[30]]}',
    ),
    (
        Shape.triangular(HUGE, "upper", diagonal=False),
        f'{{"diagonal":false,"half":"upper","kind":"triangular","n":{HUGE}}}',
    ),
    (
        Shape.nested(Shape(2, 3), layers=(1, 0, 1)),
        '{"kind":"nested","layers":[1,0,1],"shape":{"extents":[2,3],"kind":"smooth","origin":[0,0]}}',
    ),
]


@pytest.mark.parametrize(("shape", "text"), TEXTS)
def test_the_json_of_each_kind(shape, text):
    assert shape.to_json() == text
    assert Shape.from_json(text) == Shape.from_json(text.encode()) == shape
    assert Shape.from_json(text).to_json() == text


@given(shapes())
def test_from_json_is_the_inverse_of_to_json(shape):
    text = shape.to_json()
    again = Shape.from_json(text)
    assert again == shape
    assert hash(again) == hash(shape)
    assert (again.kind, again.layers) == (shape.kind, shape.layers)
    assert again.to_json() == text
    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) == text


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        (Shape(2, 3), Smooth),
        (Shape.jagged([3, 1])[0], Smooth),
        (Shape.jagged([3, 1])[1:], Jagged),
        (Shape.tiled([1, 2]), Tiled),
        (Shape.triangular(3), Triangular),
        (Shape.nested(Shape.tiled([1, 2]), layers=(1, 1)), Nested),
    ],
)
def test_a_shape_is_read_as_it_was_stored(shape, kind):
    assert type(Shape.from_json(shape.to_json()).implementation) is kind


def test_a_representation_of_a_stranger_is_written_by_its_rows():
    class Stairs(JaggedCommon):
        __slots__ = ()

        @property
        def rows(self):
            return Shape.jagged([1, 2, 3]).implementation.rows

    assert as_shape(Stairs()).to_json() == Shape.jagged([1, 2, 3]).to_json()


def test_a_million_rows_go_through_json():
    rng = np.random.default_rng(6)
    for shape in (
        Shape.jagged(rng.integers(0, 10, 10**6)),
        Shape.from_cells((10**5, 2), rng.integers(0, 10, (2 * 10**5, 3)), origins=(1, 2, 3)),
    ):
        assert Shape.from_json(shape.to_json()) == shape


def test_numbers_beyond_what_readers_take_are_not_written():
    longest = Shape(10**640 - 1, origin=(1 - 10**640,))
    assert Shape.from_json(longest.to_json()) == longest
    with pytest.raises(SizeOverflowError, match="640 digits"):
        Shape(10**640).to_json()


def test_white_space_is_free():
    text = json.dumps(json.loads(TEXTS[3][1]), indent=2)
    assert Shape.from_json(f"\n {text}\t\r\n") == Shape.jagged([3, 1, 2])


SMOOTH = '{{"extents":{0},"kind":"smooth","origin":[0,0]}}'.format
JAGGED = '{{"extents":{0},"kind":"jagged","origin":[0,0],"outer_rank":1}}'.format
CELLS = '{{"extents":[2,[1,2],[3,4]],"kind":"jagged","origin":{0},"outer_rank":{1}}}'.format
TILED = '{{"grid_origin":{0},"kind":"tiled","sizes":{1}}}'.format
TRIANGLE = '{{"diagonal":{0},"half":{1},"kind":"triangular","n":{2}}}'.format
NESTED = '{{"kind":"nested","layers":{0},"shape":{1}}}'.format


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "is not JSON.* at 0"),
        ("(2, 3)", "is not JSON"),
        (SMOOTH("[2,3]") + "x", "goes on after"),
        (SMOOTH("[2,3]")[:-1], "is not JSON"),
        ("\ufeff" + SMOOTH("[2,3]"), "is not JSON"),
        (b"\xff" + SMOOTH("[2,3]").encode(), "not UTF-8"),
        ("[2,3]", r"the JSON of a shape must be an object, not \[2,3\]"),
        ("3", "must be an object, not 3"),
        ("null", "must be an object, not null"),
        ("{}", 'kind must be one of "smooth", .*"nested", not null'),
        ('{"kind":"round"}', 'kind must be one of .*, not "round"'),
        ('{"kind":["smooth"]}', "kind must be one of"),
        ('{"kind":"smooth","extents":[2]}', "the JSON of a shape lacks the key 'origin'"),
        ('{"kind":"smooth","extents":[2],"origin":[0],"size":2}', "has the unknown key 'size'"),
        ('{"kind":"smooth","kind":"smooth","extents":[2],"origin":[0]}', "has the key 'kind' twice"),
        (SMOOTH("[NaN,3]"), "has NaN"),
        (SMOOTH("[Infinity,3]"), "has Infinity"),
        (SMOOTH("[1e999,3]"), "beyond any double"),
        (SMOOTH('["\\ud800",3]'), "surrogate"),
        (SMOOTH("[2.0,3]"), r"^extents\[0\] must be an integer, not 2.0"),
        (SMOOTH("[2,true]"), r"^extents\[1\] must be an integer, not true"),
        (SMOOTH('[2,"3"]'), r'extents\[1\] must be an integer, not "3"'),
        (SMOOTH("[2,null]"), r"extents\[1\] must be an integer, not null"),
        (SMOOTH("[2,[3]]"), r"extents\[1\] must be an integer, not \[3\]"),
        (SMOOTH("[2,-3]"), r"extents\[1\] must be 0 or more, not -3"),
        (SMOOTH("3"), "extents must be a list of integers, not 3"),
        (SMOOTH("[2,3,4]"), "origin must be a list of 3 integers"),
        (SMOOTH(f"[{'9' * 641},3]"), "more than 640 digits"),
        (SMOOTH(f"[{'[' * 100}{']' * 100},3]"), "nests over 4 deep"),
        ("[" * 10**5, "nests over 4 deep"),
        (JAGGED("[3,[3,1]]"), "there are 2 extents of mode 1, but 3 prefixes"),
        (JAGGED("[3,[3,1,true]]"), r"extents\[1\]\[2\] must be an integer, not true"),
        (JAGGED("[3,[3,1,2.5]]"), r"extents\[1\]\[2\] must be an integer, not 2.5"),
        (JAGGED("[3,[3,1,[]]]"), r"extents\[1\]\[2\] must be an integer, not \[\]"),
        (JAGGED("[3,[3,1,-2]]"), "negative.* -2"),
        (JAGGED(f"[3,[3,1,{2**63}]]"), r"extents\[1\] has a number that does not fit into 64 bits"),
        (JAGGED(f"[2,[{2**62},{2**62 + 1}]]"), "64 bits"),
        (JAGGED("[[3],[3,1,2]]"), r"extents\[0\] must be an integer.*not \[3\]"),
        (JAGGED("[-1,5]"), "negative"),
        (JAGGED(f"[{2**63},5]"), "64 bits"),
        (JAGGED("[3]"), "outer_rank must be at least 1 and less than the rank, 1, not 1"),
        (JAGGED("[]"), "outer_rank must be"),
        (JAGGED("[3,true]"), r"extents\[1\] must be an integer, not true"),
        (CELLS("[0,0,0]", 0), "outer_rank must be at least 1 and less than the rank, 3, not 0"),
        (CELLS("[0,0,0]", 3), "outer_rank must be"),
        (CELLS("[0,0,0]", "true"), "outer_rank must be an integer, not true"),
        (CELLS("[0,0]", 1), "a shape of rank 3 has 3 origins, not 2"),
        (CELLS("[0,[0],0]", 1), "there are 1 origins of mode 1, but 2 prefixes"),
        (CELLS("[[0],0,0]", 1), "mode 0 has one origin"),
        (CELLS("[0,0,[0,1.5]]", 1), r"origin\[2\]\[1\] must be an integer, not 1.5"),
        (CELLS(f"[0,0,{2**63 - 2}]", 1), "64 bits"),
        (CELLS(f"[{-(2**63)},0,0]", 1), "64 bits"),
        (TILED("[0]", "[[5,-1]]"), "negative"),
        (TILED("[0]", "[5]"), "sizes must be a list of one list per mode"),
        (TILED("[]", "[]"), "sizes must be a list of one list per mode, at least one"),
        (TILED("[0,0]", "[[5]]"), "grid_origin must be a list of 1 integers"),
        (TILED(f"[{2**63}]", "[[5]]"), "64 bits"),
        (TILED("[0]", f"[[{2**62},{2**62}]]"), "64 bits"),
        (TRIANGLE("1", '"lower"', 3), "diagonal must be true or false, not 1"),
        (TRIANGLE("true", '"left"', 3), 'half must be one of "upper", "lower", not "left"'),
        (TRIANGLE("true", "null", 3), "half must be"),
        (TRIANGLE("true", '"lower"', "3.0"), "n must be an integer, not 3.0"),
        (TRIANGLE("true", '"lower"', -3), "negative"),
        (TRIANGLE("true", '"lower"', 2**63), "64 bits"),
        (NESTED("[1,2]", SMOOTH("[2,3]")), "layers"),
        (NESTED("[3,-1]", SMOOTH("[2,3]")), "layers"),
        (NESTED("[1,true]", SMOOTH("[2,3]")), r"layers\[1\] must be an integer, not true"),
        (NESTED("[1,1]", SMOOTH("[2,3.0]")), r"shape\.extents\[1\] must be an integer, not 3.0"),
        (NESTED("[1,1]", '{"kind":"smooth"}'), "shape lacks the key 'extents', lacks the key 'origin'"),
        (NESTED("[1,1]", "[2,3]"), r"shape must be an object, not \[2,3\]"),
        (NESTED("[2]", NESTED("[2]", SMOOTH("[2,3]"))), "shape.kind must be one of"),
    ],
)
def test_what_is_no_json_of_a_shape(text, match):
    with pytest.raises(ParseError, match=match) as caught:
        Shape.from_json(text)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("thing", [None, 3, {"kind": "smooth"}, bytearray(b"{}"), Shape(2)])
def test_only_text_and_bytes_are_read(thing):
    with pytest.raises(ConversionError, match=type(thing).__name__):
        Shape.from_json(thing)


@pytest.mark.parametrize(
    "text",
    [
        JAGGED("[1000000000,[5,5]]"),
        '{"extents":[1000000000,2,5],"kind":"jagged","origin":[0,0,0],"outer_rank":2}',
        # A list of some rows, and single numbers in so many modes that a table of them would fill memory.
        json.dumps(
            {
                "extents": [20_000, list(range(20_000)), *[1] * 20_000],
                "kind": "jagged",
                "origin": [0] * 20_002,
                "outer_rank": 1,
            }
        ),
    ],
)
def test_numbers_of_strangers_take_no_memory(text):
    tracemalloc.start()
    with pytest.raises(ParseError):
        Shape.from_json(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000


def test_one_number_may_stand_for_many_rows_but_not_for_all():
    for count in (2**20, 2**20 + 1):
        shape = Shape.from_cells((count, 2), np.ones((2 * count, 2), dtype=np.int64))
        text = shape.to_json()
        assert (len(text) < 200) == (count == 2**20)
        assert Shape.from_json(text) == shape


JUNK = st.sampled_from([None, True, -1, 1.5, "", "smooth", [], {}, [0], [[1]], 2**63, {"kind": "smooth"}])


def places_in(value):
    """Every place in a tree of lists and objects, as (container, key)."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places_in(value[key])


@given(shapes(), st.data())
def test_changed_json_is_refused_or_is_another_shape(shape, data):
    tree = copy.deepcopy(json.loads(shape.to_json()))
    container, key = data.draw(st.sampled_from(list(places_in(tree))))
    container[key] = data.draw(st.one_of(JUNK, st.integers(-3, 5)))
    try:
        again = Shape.from_json(json.dumps(tree))
    except ParseError:
        return
    assert Shape.from_json(again.to_json()) == again
