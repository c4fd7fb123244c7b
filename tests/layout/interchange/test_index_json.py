"""The JSON of index domains and transforms: what TensorStore reads and writes, and what is refused."""

import json

import pytest
import tensorstore as ts
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.errors import (
    ConversionError,
    OutOfBoundsError,
    ParseError,
    RankError,
    SizeOverflowError,
    TensorWrapperError,
)
from tensorwrapper.layout import IndexDomain, IndexTransform


@given(st.data(), st.integers(0, 4))
def test_domains_are_tensorstores(data, rank):
    extents = data.draw(st.lists(st.integers(0, 5), min_size=rank, max_size=rank))
    origin = data.draw(st.lists(st.integers(-5, 5), min_size=rank, max_size=rank))
    names = st.sampled_from(["", "x", "y", "z", "t"])
    labels = data.draw(st.lists(names, min_size=rank, max_size=rank))
    if len({*filter(None, labels)}) != len([*filter(None, labels)]):
        with pytest.raises(ConversionError, match="different"):
            IndexDomain(Shape(*extents, origin=origin), labels)
        return
    mine = IndexDomain(Shape(*extents, origin=origin), labels)
    theirs = ts.IndexDomain(
        [ts.Dim(n, inclusive_min=o, label=x) for n, o, x in zip(extents, origin, labels, strict=True)]
    )
    assert mine.to_dict() == theirs.to_json()
    assert IndexDomain.from_json(theirs.to_json()) == IndexDomain.from_json(mine.to_json()) == mine


@pytest.mark.parametrize(
    "document",
    [
        {"rank": 0},
        {"shape": [2, 3]},
        {"rank": 2, "shape": [2, 3]},
        {"inclusive_min": [1, -2], "shape": [2, 3]},
        {"inclusive_min": [1, -2], "exclusive_max": [3, 1]},
        {"inclusive_min": [1, -2], "inclusive_max": [2, -3]},
        {"shape": [2], "labels": ["x"]},
        {"inclusive_min": [-(2**62) + 2], "exclusive_max": [2**62 - 1]},
    ],
)
def test_every_way_to_say_a_domain(document):
    assert IndexDomain.from_json(document).to_dict() == ts.IndexDomain(json=document).to_json()
    prefixed = {f"input_{key}": value for key, value in document.items()}
    assert IndexTransform.from_json(prefixed).to_dict() == ts.IndexTransform(json=prefixed).to_json()


@pytest.mark.parametrize(
    ("document", "error", "text"),
    [
        ({"rank": 2}, ConversionError, "without shape the domain is infinite"),
        ({"inclusive_min": [0]}, ConversionError, "without shape the domain is infinite"),
        ({"exclusive_max": [4]}, ConversionError, "without inclusive_min"),
        ({"labels": ["x"]}, ConversionError, "infinite"),
        ({"inclusive_min": ["-inf"], "exclusive_max": [4]}, ConversionError, "'-inf'"),
        ({"inclusive_min": [0], "exclusive_max": ["+inf"]}, ConversionError, r"'\+inf'"),
        ({"inclusive_min": [[0]], "exclusive_max": [4]}, ConversionError, "implicit"),
        ({"inclusive_min": [0], "exclusive_max": [[4]]}, ConversionError, "implicit"),
        ({"inclusive_min": [0], "exclusive_max": [["+inf"]]}, ConversionError, "implicit"),
    ],
)
def test_bounds_that_are_infinite_or_may_change_are_refused(document, error, text):
    ts.IndexDomain(json=document)
    with pytest.raises(error, match=text):
        IndexDomain.from_json(document)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"shape": [2], "exclusive_max": [2]},
        {"shape": [2], "inclusive_min": [0, 0]},
        {"rank": 1, "shape": [2, 2]},
        {"rank": 33},
        {"rank": -1},
        {"rank": True},
        {"shape": [-1]},
        {"inclusive_min": [5], "exclusive_max": [4]},
        {"shape": [2.5]},
        {"shape": [None]},
        {"shape": 2},
        {"shape": [2], "labels": [5]},
        {"shape": [2], "labels": "x"},
        {"shape": [2], "size": [2]},
        {"inclusive_min": [-(2**62)], "shape": [1]},
        {"shape": [2, 2], "labels": ["x", "x"]},
        {"shape": [2, 2], "labels": ["x"]},
    ],
)
def test_what_tensorstore_refuses_is_refused(document):
    with pytest.raises(ValueError, match="Error parsing"):
        ts.IndexDomain(json=document)
    with pytest.raises(TensorWrapperError):
        IndexDomain.from_json(document)


@pytest.mark.parametrize(
    "output",
    [
        [{}],
        [{"offset": 5}],
        [{"input_dimension": 1}],
        [{"input_dimension": 0, "offset": -3, "stride": -2}],
        [{"index_array": [[1, 2, 3]]}, {"index_array": [[5], [7]], "stride": 2}],
        [{"index_array": [[1, 2, 3], [4, 5, 6]], "offset": 3}],
        [{"index_array": [[1]]}],
        [{"index_array": [[1, 2, 3]], "index_array_bounds": [1, 3]}],
        [],
        [{"input_dimension": 0}, {"input_dimension": 1}],
    ],
)
def test_outputs_are_tensorstores(output):
    document = {"input_shape": [2, 3], "output": output}
    theirs, mine = ts.IndexTransform(json=document), IndexTransform.from_json(document)
    for index in mine.domain.shape.indices():
        assert mine.index_of(index) == tuple(theirs(index))
    assert ts.IndexTransform(json=mine.to_dict()).to_json() == theirs.to_json() == mine.to_dict()
    assert IndexTransform.from_json(mine.to_json()) == mine


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ([{"stride": 3}], ParseError),
        ([{"input_dimension": -1}], RankError),
        ([{"input_dimension": 2}], RankError),
        ([{"input_dimension": 0, "index_array": [[1]]}], ParseError),
        ([{"input_dimension": 0, "index_array_bounds": [0, 1]}], ParseError),
        ([{"input_dimension": 0, "scale": 1}], ParseError),
        ([{"index_array": 3}], RankError),
        ([{"index_array": [1, 2]}], RankError),
        ([{"index_array": [[1, 2]]}], RankError),
        ([{"index_array": [[1, 2, 3], [4, 5]]}], ConversionError),
        ([{"index_array": [[1, 2, 2.5]]}], ConversionError),
        ([{"index_array": [["x", 2, 3]]}], ConversionError),
        ([{"index_array": [[2**63]], "stride": 2}], TensorWrapperError),
        ([{"index_array": [[1, 2, 9]], "index_array_bounds": [1]}], ParseError),
        ([{"offset": "x"}], ParseError),
        ({"offset": 1}, ParseError),
        ([3], ParseError),
    ],
)
def test_outputs_that_tensorstore_refuses_are_refused(output, error):
    document = {"input_shape": [2, 3], "output": output}
    with pytest.raises(ValueError, match="Error parsing"):
        ts.IndexTransform(json=document)
    with pytest.raises(error):
        IndexTransform.from_json(document)


def test_an_array_beyond_its_own_bounds_is_refused_at_once():
    document = {"input_shape": [2], "output": [{"index_array": [1, 9], "index_array_bounds": [0, 5]}]}
    with pytest.raises(OutOfBoundsError, match="leaves its bounds 0 to 5"):
        IndexTransform.from_json(document)


@pytest.mark.parametrize(
    "text",
    [
        '{"input_shape":[2],"input_shape":[3]}',
        "[]",
        "{",
        '{"input_shape":[1e400]}',
        "[" * 100_000,
        "null",
        '{"input_shape":[2.0]}',
    ],
)
def test_texts_are_read_strictly(text):
    with pytest.raises(ParseError):
        IndexTransform.from_json(text)


def test_too_many_outputs_are_refused():
    with pytest.raises(ParseError, match="32 output maps"):
        IndexTransform.from_json({"input_shape": [2], "output": [{}] * 33})


def test_a_domain_is_a_box_of_at_most_32_modes():
    with pytest.raises(ConversionError, match="jagged"):
        IndexDomain(Shape.jagged([1, 2]))
    with pytest.raises(RankError, match="32 modes"):
        IndexDomain(Shape(*[1] * 33))
    with pytest.raises(RankError, match="2 labels"):
        IndexDomain(Shape(3), ["x", "y"])
    for labels in ("x", [5], [None]):
        with pytest.raises(ConversionError, match="texts"):
            IndexDomain(Shape(3), labels)
    with pytest.raises(SizeOverflowError, match="either way"):
        IndexDomain(Shape(1, origin=(2**62 - 1,)))


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["-inf", "+inf", "x", ""])
TREES = st.recursive(
    LEAVES, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=3), part, max_size=2)
)
KEYS = ["input_rank", "input_shape", "input_inclusive_min", "input_exclusive_max", "input_labels", "output"]


@given(st.dictionaries(st.sampled_from(KEYS), TREES, max_size=4))
def test_only_our_errors_come_out(document):
    try:
        found = IndexTransform.from_json(document)
    except TensorWrapperError:
        return
    assert ts.IndexTransform(json=document).to_json() == json.loads(found.to_json())


def test_the_labels_of_a_domain_are_the_names_of_its_shape():
    shape = Shape(2, 3).named("x", None)
    assert IndexDomain(shape) == IndexDomain(Shape(2, 3), ["x", ""])
    assert IndexDomain(shape, ["a", "b"]).labels == ("a", "b")
