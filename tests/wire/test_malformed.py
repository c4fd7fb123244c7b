"""What others may send: each kind of bad message is refused, for its reason."""

import tracemalloc

import numpy as np
import pytest
from support.messages import COORDINATES, GOOD, PAYLOAD, described, message, reason_of, tensor

from tensorwrapper.wire import Limits, decode, encode


def test_the_message_that_the_tables_spoil_is_good():
    assert decode(tensor()).tensors[0].tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [b"ZIO0TENS"],
        [b"", COORDINATES],
        [b"ZIO0TEN", COORDINATES],
        [b"zio0TENS", COORDINATES],
        [b"ZIP0TENS", COORDINATES],
        [b"\0\0\0\0\0\0\0\0", COORDINATES],
        [b"ZIO9TENS", COORDINATES],
        [b"ZIO-TENS", COORDINATES],
        [b"ZIO TENS", COORDINATES],
        [b"ZIO\x00TENS", COORDINATES],
        [b"ZIO\xb2TENS", COORDINATES],
        [b"ZIOaTENS", COORDINATES],
        [b"ZIO0\xff\xfe\xfd\xfc", COORDINATES],
        [b"ZIO0TE\xc3\xa9", COORDINATES],
        *[[b"ZIO0TENS", bytes(n)] for n in (0, 12, 23, 25, 48)],
        [COORDINATES, b"ZIO0TENS"],
    ],
)
def test_frames_that_are_no_message(frames):
    assert reason_of(frames) == "frame"


@pytest.mark.parametrize(
    "label",
    [
        b"\xff",
        b'{"a":"\xc3"}',
        b'{"a":"\xed\xa0\x80"}',
        b'{"a":"\xc0\x80"}',
        '{"TENS":{}}'.encode("utf-16"),
        b"\xef\xbb\xbf" + b'{"TENS":{"tensors":[]}}',
        b'{"TENS":{"tensors":[]}}\0',
        b'{"TENS":{"tensors":[]}',
        b'{"TENS"',
        b"{}{}",
        b"{} x",
        b"{'a':1}",
        b'{"a":1,}',
        b"[1,]",
        b'{"a":01}',
        b'{"a":+1}',
        b'{"a":.5}',
        b'{"a":0x10}',
        b'{"a":True}',
        b'{"a":"\n"}',
        b'{"a\0b":1}',
        b'{"a":"\\q"}',
        b'{"a":"\\u12"}',
        b"not JSON",
        b"// comment\n{}",
        b'{"a":1,"a":1}',
        b'{"TENS":{"tensors":[],"tensors":[]}}',
        b'{"TENS":{"tensors":[{"part":0,"part":1}]}}',
        b'{"TENS":{"tensors":[],"metadata":{"k":1,"k":2}}}',
        b'{"a":{"\\u0062":1,"b":2}}',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":[-Infinity]}',
        b'{"a":1e400}',
        b'{"a":-1e400}',
        b'{"a":"\\ud800"}',
        b'{"a":"\\udc00\\ud800"}',
        b'{"\\udfff":1}',
        b'{"a":' + b"1" * 5000 + b"}",
        b'{"a":-' + b"1" * 5000 + b"}",
        b'{"a":' + b"1" * 5000 + b".5e400}",
    ],
)
def test_labels_that_are_no_strict_json(label):
    assert reason_of(message(label)) == "header"
    # TENS is found by its key, so what may be meant for it is refused in every form.
    if label.startswith(b"{"):
        assert reason_of(message(label, form="TEXT")) == "header"


@pytest.mark.parametrize(
    "label",
    [
        "[" * 100_000 + "]" * 100_000,
        "[" * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
    ],
)
def test_labels_that_nest_deeply(label):
    assert reason_of(message(label)) == "header"
    assert reason_of(message(label), limits=Limits(depth=10**9)) == "header"


@pytest.mark.parametrize("label", ['{"a":' + "[" * 64 + "]" * 64 + "}", '{"a":[[1]]}'])
def test_the_depth_is_limited_exactly(label):
    depth = label.count("[") + 1
    assert reason_of(message(label), limits=Limits(depth=depth - 1)) == "header"
    assert decode(message(label), limits=Limits(depth=depth)).tensors == ()


@pytest.mark.parametrize(
    ("label", "limits"),
    [
        ("[" + "[]," * 3_300_000 + "1]", Limits()),
        ("{" + ",".join(f'"{k}":1' for k in range(11)) + "}", Limits(label_items=10)),
        ('{"a":"' + "x" * 100 + '"}', Limits(label_bytes=100)),
        ('{"a":"' + "x" * 17 * 2**20 + '"}', Limits()),
    ],
    ids=["3.3M arrays", "11 items", "101 bytes", "17 MiB"],
)
def test_long_labels(label, limits):
    assert reason_of(message(label), limits=limits) == "limit"


@pytest.mark.slow
@pytest.mark.parametrize(
    "label",
    [
        '{"a":' + "[" * 70 + '"' + "x" * (15 * 2**20) + '"',
        '{"a":' + "[" * 70 + '"' + "\\n" * (7 * 2**20) + '"',
        "[" * 64 + "]" * (15 * 2**20),
        "{" + ",".join(f'"{k}":1' for k in range(400_000)) + ',"399999":1}',
        '{"a":' + "1" * (15 * 2**20) + "}",
        '{"a":"' + "x" * (15 * 2**20),
    ],
    ids=["long string", "escapes", "closing brackets", "late duplicate", "digits", "open string"],
)
def test_refusing_a_label_costs_little_memory(label):
    frames = message(label)
    tracemalloc.start()
    try:
        assert reason_of(frames) in {"header", "limit"}
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Python's objects take this much more room than their text; what must not grow is the factor.
    assert peak < 30 * len(frames[0])


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


@pytest.mark.parametrize("wrong", [0, 4, 23, 25, 48, 2**16])
def test_parts_of_the_wrong_size(wrong):
    assert reason_of([*tensor()[:2], bytes(wrong)]) == "size"
    scalar = {"dtype": "f", "word": 4, "shape": []}
    assert reason_of(message(described(scalar), bytes(wrong if wrong != 4 else 8))) == "size"
    empty = {"dtype": "f", "word": 4, "shape": [0, 3]}
    assert reason_of(message(described(empty), bytes(wrong or 1))) == "size"


def test_tensors_without_a_part():
    assert reason_of(message(described(GOOD))) == "layout"
    second = {key: value for key, value in GOOD.items() if key != "part"}
    assert reason_of(message(described(GOOD, second), PAYLOAD)) == "layout"


@pytest.mark.parametrize("extra", [{"order": [0]}, {"ascend": [True]}])
def test_a_scalar_has_no_order(extra):
    assert (
        reason_of(message(described({"dtype": "f", "word": 4, "shape": [], **extra}), bytes(4))) == "layout"
    )


@pytest.mark.parametrize("byte", [2, 127, 128, 255])
def test_bools_are_0_or_1(byte):
    frames = message(described({"dtype": "b", "word": 1, "shape": [3]}), bytes([0, byte, 1]))
    assert reason_of(frames) == "integrity"


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


def test_a_message_of_ours_is_refused_after_any_cut():
    frames = encode([np.arange(6.0), np.ones(3, np.uint8)], metadata={"a": 1})
    prefix = bytes(frames[0])
    for end in range(8, len(prefix)):
        read = [prefix[:end], *frames[1:]]
        if end == 8:
            assert decode(read).tensors == ()
        else:
            assert reason_of(read) == "header"
