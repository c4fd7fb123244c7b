"""Descriptions that are wrong: of structure, of tensors, of types and of limits."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper._json_fields import Field
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.wire import Limits, decode
from tensorwrapper.wire._limits import DEFAULT_LIMITS
from tensorwrapper.wire._protocol_errors import refuse_field
from tensorwrapper.wire.codec import _plan
from tensorwrapper.wire.packings._table import known_packings
from tests.support.wire.messages import GOOD, PAYLOAD, described, message, reason_of, tensor


@pytest.mark.parametrize(
    "label",
    [
        {"TENS": 1},
        {"TENS": "tensors"},
        {"TENS": []},
        {"TENS": [GOOD]},
        {"TENS": {"tensors": None}},
        {"TENS": {"tensors": {}}},
        {"TENS": {"tensors": "x"}},
        {"TENS": {"tensors": [], "metadata": []}},
        {"TENS": {"tensors": [], "metadata": 1}},
        described(None),
        described(1),
        described("tensor"),
        described([]),
        described(GOOD, True),
    ],
)
def test_labels_with_the_wrong_structure(label):
    assert reason_of(message(label, PAYLOAD)) == "schema"


@pytest.mark.parametrize("label", [[], [1], 5, '"text"', True, "null", "", " ", {}, {"tens": 1}])
def test_labels_that_say_nothing_of_tensors(label):
    assert decode(message(label, PAYLOAD)).tensors == ()


HUGE = 10**30


FIELDS = [
    *[("shape", value, "schema") for value in (..., "23", 6, None, {}, [[2, 3]], [2, None], True)],
    *[("shape", [2, value], "schema") for value in (True, 3.0, "3", -1, -2, [3], {})],
    *[("shape", value, "schema") for value in ([-1], [-6], [-2, -3], [2, -3], [-1, 0])],
    *[("shape", [value], "limit") for value in (2**36 + 1, 2**63, 2**64, HUGE)],
    ("shape", [0, 2**40], "limit"),
    ("shape", [2**32, 2**32, 0], "limit"),
    ("shape", [2**20, 2**19 + 1, 0], "limit"),
    ("shape", [1] * 65, "limit"),
    ("shape", [1] * 100_000, "limit"),
    ("shape", [2**32, 2**32], "limit"),
    ("shape", [2**36] * 4, "limit"),
    ("shape", [2**19, 2**19], "size"),
    *[("shape", value, "size") for value in ([2, 2], [2, 4], [5], [7], [12], [3], [0], [2, 3, 0], [])],
    *[("word", value, "schema") for value in (..., None, True, 4.0, "4", [4], {})],
    *[("word", value, "unsupported") for value in (0, -4, 3, 1, 10**9, HUGE)],
    *[("dtype", value, "schema") for value in (..., None, True, 4, 1.5, ["f"], {"f": 4})],
    *[
        ("dtype", value, "unsupported")
        for value in [
            "O",
            "V",
            "S",
            "U",
            "M",
            "m",
            "?",
            "F",
            "g",
            "ff",
            "f\x00",
            "<f",
            ">f",
            "=f",
            "|f",
            "float32",
            "f4,i",
            "(2,3)f",
        ]
    ],
    *[("dtype", value, "unsupported") for value in ("", " ", "f ", "é", "f" * 64, "__class__")],
    ("dtype", "f" * 1_000_000, "limit"),
    *[("part", value, "schema") for value in (None, True, False, 0.0, 1.0, "0", [0], {})],
    *[("part", value, "layout") for value in (-1, -2, 1, 2, 2**63, 2**64, HUGE, -HUGE)],
    *[("order", value, "layout") for value in ([0], [0, 1, 2], [0, 0], [1, 2], [-1, 0], [True, False])],
    *[
        ("order", value, "layout")
        for value in ([0.0, 1.0], ["0", "1"], [HUGE, 0], None, "C", 1, {}, [[0, 1]])
    ],
    *[("ascend", value, "layout") for value in ([True], [True] * 3, [1, 0], ["true", "true"], [None, None])],
    *[("ascend", value, "layout") for value in (None, True, "true", {}, [])],
    *[("packing", value, "schema") for value in (1, True, [], {}, 0.5)],
    *[("packing", value, "unsupported") for value in ("", "gzip", "Dense", "jagged ", "x" * 100_000)],
    *[("packing", value, "schema") for value in ("jagged", "tiled")],
    *[("pointer", value, "unsupported") for value in (1, -1, "0x7fff", "", False, True, 0.0, [], {}, HUGE)],
    *[("origin", value, "schema") for value in ("0", 0, {}, [0], [0, 0, 0], [0, True], [0.0, 0], [None, 0])],
    *[("origin", [0, value], "limit") for value in (2**62 + 1, -(2**62) - 1, HUGE)],
]


@pytest.mark.parametrize(("key", "value", "reason"), FIELDS)
def test_tensors_that_are_described_badly(key, value, reason):
    assert reason_of(tensor(**{key: value})) == reason


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("b", 2),
        ("b", 4),
        ("b", 8),
        ("c", 4),
        ("c", 2),
        ("c", 32),
        ("f", 1),
        ("f", 3),
        ("f", 16),
        ("i", 16),
        ("u", 3),
    ],
)
def test_element_types_that_do_not_exist(kind, word):
    frames = message(described({"dtype": kind, "word": word, "shape": [1], "part": 0}), bytes(word))
    assert reason_of(frames) == "unsupported"


@pytest.mark.parametrize(
    ("frames", "limits"),
    [
        ([*message({}), b"", b"", b""], Limits(parts=2)),
        ([*message({}), *[b""] * 1_000_000], Limits()),
        (message({}, bytes(50), bytes(50)), Limits(total_bytes=120)),
        (message(described(GOOD, GOOD, GOOD), PAYLOAD), Limits(tensors=2)),
        (message(described(*[{}] * 65_537)), Limits()),
        (message(described(GOOD), PAYLOAD), Limits(rank=1)),
        (message(described(GOOD), PAYLOAD), Limits(extent=2)),
        (message({"a": 10**5}), Limits(digits=5)),
    ],
    ids=["parts", "1M parts", "bytes", "tensors", "65537 tensors", "rank", "extent", "digits"],
)
def test_limits(frames, limits):
    assert reason_of(frames, limits=limits) == "limit"


FIELDS = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["f", "i", "u", "c", "b", "?", "x", 3]),
        "word": st.sampled_from([1, 2, 4, 8, 16, 0, -1, True, "8"]),
        "part": st.sampled_from([0, 1, -1, 2**70, True, None]),
        "shape": st.one_of(
            st.lists(st.sampled_from([1, 2, 3, 0, -1, 2**40, True, "1"]), max_size=3),
            st.just((2,)),
            st.none(),
        ),
    }
)


@given(FIELDS, st.booleans())
def test_the_short_plan_is_that_of_the_general_way(description, long):
    field = Field(description, "tensors[0]", refuse_field)

    def general():
        try:
            return _plan._plan_tensor(field, 0, DEFAULT_LIMITS, known_packings(), long)
        except TensorWrapperError as error:
            return type(error)

    short = _plan._plan_plain(field, DEFAULT_LIMITS)
    if short is not None:
        assert attrs.astuple(short, recurse=False) == attrs.astuple(general(), recurse=False)
    elif description == {"dtype": "f", "word": 8, "part": 0, "shape": [2, 3]}:
        raise AssertionError("the most usual one")
