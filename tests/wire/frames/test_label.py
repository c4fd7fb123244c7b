"""Labels of strangers: strict JSON, of limited depth and length, with the structure of the format."""

import json
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.wire import Limits, decode
from tensorwrapper.wire.frames._label import dump_label
from tests.support.wire.messages import message, reason_of


@given(st.floats(allow_nan=False, allow_infinity=False) | st.floats(1e14, 1e17), st.text(max_size=4))
@example(1586966400000000.0, "1586966400000000.0")
@example(-1e15, '\\"1000000000000000.0')
@example(1234567890123456.8, "")
def test_floats_are_spelled_as_the_reference_does(number, text):
    """With an exponent from 1e15 on, as the JSON of the C++ library is; texts are left alone."""
    written = dump_label({"a": number, "b": text})
    digits, after = written.removeprefix('{"a":').split(",", 1)

    assert json.loads(written) == {"a": number, "b": text}
    assert after == f'"b":{json.dumps(text, ensure_ascii=False)}}}'
    assert ("e" in digits) == ("e" in repr(number) or abs(number) >= 1e15)
    assert re.search(r"[0-9]{16}\.", digits) is None


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


@pytest.mark.parametrize("value", [tw.Tiling([1, 2]), tw.Shape(2, 3)])
def test_metadata_says_how_a_shape_becomes_a_text(value):
    with pytest.raises(LocalProtocolError, match=r"its `to_json\(\)` is a text"):
        wire.encode([np.zeros(2)], metadata={"over": value})
    wire.encode([np.zeros(2)], metadata={"over": value.to_json()})
